"""The rows that one event gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from journal.lineage import Bound
from journal.stores.audit import LARGEST, AuditRow
from projections.audit.cells import count, saturated, told
from projections.audit.run_state import RunState, Trace

Usage = tuple[int | None, int | None, int | None, int | None, int | None, int | None]
"""Requests, then tokens: input, output, read from a cache, written to one, all."""

NO_USAGE: Final[Usage] = (None,) * 6

_TEXTS = frozenset((str, type(None)))


class EventCells:
    """Writes the rows of one event after the other; `at` begins those of an event."""

    __slots__ = (
        "_exact",
        "_part",
        "_position",
        "_version",
        "account",
        "agent",
        "anchor",
        "child_run_id",
        "own",
        "rank",
        "recorded_at",
        "rows",
        "run",
    )

    def __init__(self, run: RunState) -> None:
        self.rows: list[AuditRow] = []
        self.run = run
        self.child_run_id: str | None = None
        self.agent: str | None = None
        self.own = True
        """Whether it is not a record of a child."""
        self.account = ""
        """Tells children apart: the child's run id, else its agent's; empty for the run itself."""
        self.anchor = self.rank = self.recorded_at = 0
        self._position = self._version = self._part = self._exact = 0

    def at(self, run: RunState, anchor: int, rank: int) -> EventCells:
        """Go to a run's last event.

        Args:
            anchor: its own.
        """
        self.run = run
        self.child_run_id = None
        self.own = True
        self.account = ""
        self.agent = run.agent
        self._exact = anchor
        self.anchor = anchor if anchor <= LARGEST else LARGEST  # noqa: FURB136 - min() takes longer
        self.rank = rank
        self.recorded_at = run.updated_at
        self._position = run.position
        self._version = run.version
        self._part = 0
        return self

    @property
    def place(self) -> Bound:
        """Where the event stands in its run's logical order."""
        return self._exact, self.rank, self._version

    def undo(self, position: int) -> None:
        """Take back the rows of the event at a position, the last one."""
        while self.rows and self.rows[-1].position == position:
            del self.rows[-1]

    def put(  # noqa: PLR0913 - the cells of a row that is not the same for the whole event
        self,
        kind: str,
        *,
        text: str | None = None,
        host_at: int | None = None,
        node: str | None = None,
        step: Any = None,
        tool: str | None = None,
        call_id: str | None = None,
        item_id: str | None = None,
        status: str | None = None,
        error_kind: str | None = None,
        actor: str | None = None,
        trace: Trace | None = None,
        model: str | None = None,
        usage: Usage = NO_USAGE,
        cost: int | None = None,
        duration: int | None = None,
        from_state: bool = False,
    ) -> None:
        """Write a row.

        Args:
            step: as it stands in the JSON.
            trace: the event's own; else the run's stands in the row.

        Raises:
            TypeError: a cell of text holds something else, or `step` no whole number.
        """
        run = self.run
        trace_id, span_id = run.trace if trace is None else trace
        named = (node, tool, call_id, item_id, status, error_kind, actor, model, text)
        if not _TEXTS.issuperset(map(type, named)):
            _refuse(named)
        values = (
            self._position,
            self._part,
            self._version,
            run.run_id,
            run.session_id,
            run.conversation_id,
            run.parent_run_id,
            self.agent,
            self.child_run_id,
            self.anchor,
            self.rank,
            self.recorded_at,
            host_at,
            kind,
            node,
            None if step is None else saturated(step),
            tool,
            call_id,
            item_id,
            status,
            error_kind,
            actor,
            trace_id,
            span_id,
            model,
            *usage,
            cost,
            duration,
            from_state,
            text,
        )
        self.rows.append(tuple.__new__(AuditRow, values))
        self._part += 1


def usage_of(usage: Mapping[str, Any]) -> Usage:
    """Take what a model response used; counters that are left out are 0.

    Raises:
        AttributeError, TypeError: it has another shape.
    """
    get = usage.get
    return (
        count(get("requests", 0)),
        count(get("input_tokens", 0)),
        count(get("output_tokens", 0)),
        count(get("cache_read_tokens", 0)),
        count(get("cache_write_tokens", 0)),
        count(get("total_tokens", 0)),
    )


def trace_of(context: Any) -> Trace | None:
    """Take a trace context; None where it names no trace."""
    if type(context) is not dict:
        return None
    trace_id = told(context.get("trace_id"))
    return None if trace_id is None else (trace_id, told(context.get("span_id")))


def _refuse(named: tuple[Any, ...]) -> None:
    wrong = next(value for value in named if type(value) not in _TEXTS)
    raise TypeError(f"{wrong!r} is no text")
