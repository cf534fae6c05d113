"""How a run stands while its events are taken in: what becomes `RunFacts`, and what goes on."""

from __future__ import annotations

from typing import Any, Final, Self

from journal.codec import RecordedEvent
from journal.json_door import dumps, loads
from journal.lineage import Bound
from journal.records import TERMINAL
from journal.stores.audit import LARGEST, RunFacts
from projections.audit.cells import count, told
from projections.audit.remembered import Responses
from projections.audit.sequences import Sequences
from projections.order import BEFORE_RECORDS, text, whole

PREVIEW: Final = 500
"""Characters of the last text of the model."""

Trace = tuple[str | None, str | None]
"""A trace id and a span id."""

Account = tuple[int, dict[str, int], dict[str, int]]
"""The anchor that amounts are as of, the amounts by model as told last, and those that were
larger once."""

NO_TRACE: Final[Trace] = (None, None)

_FIRST: Final[Bound] = (BEFORE_RECORDS - 1, 0, 0)
"""A place before every other."""


class RunState:
    """A run as far as its events were taken in, in order of position."""

    __slots__ = (
        "agent",
        "anchor",
        "archived",
        "conversation_id",
        "costs",
        "ended_at",
        "error",
        "error_kind",
        "forked_from",
        "last_call_anchor",
        "last_call_id",
        "last_text",
        "last_text_anchor",
        "last_tool",
        "messages",
        "opened_at",
        "parent_run_id",
        "position",
        "prompts",
        "records",
        "responses",
        "run_id",
        "said",
        "seen",
        "sequences",
        "session_id",
        "status",
        "status_at",
        "trace",
        "trace_ids",
        "updated_at",
        "version",
    )

    def __init__(self, run_id: str, opened_at: int) -> None:
        self.run_id = run_id
        self.session_id: str | None = None
        self.conversation_id: str | None = None
        self.parent_run_id: str | None = None
        self.agent: str | None = None
        self.forked_from: str | None = None
        self.status: str | None = None
        self.status_at: Bound = _FIRST
        """Where the event stands that told the status: one before it, in logical order, that
        arrives later does not change it."""
        self.opened_at = self.updated_at = opened_at
        self.ended_at: int | None = None
        self.version = 0
        self.position = 0
        self.anchor = BEFORE_RECORDS
        """The largest so far, exact."""
        self.records = 0
        """Own stream records that tell what checkpoints tell, too."""
        self.sequences = Sequences()
        self.error_kind: str | None = None
        self.error: str | None = None
        self.last_tool: str | None = None
        self.last_call_id: str | None = None
        self.last_call_anchor: int | None = None
        self.last_text: str | None = None
        self.last_text_anchor: int | None = None
        self.trace: Trace = NO_TRACE
        """As told last."""
        self.trace_ids: list[str] = []
        self.archived = False
        self.responses = Responses()
        self.prompts: dict[str, int] = {}
        """Digests of the last prompts, each with its highest place in the history."""
        self.seen: dict[str, int] = {}
        """Digests of the last messages of checkpoints that gave rows, likewise."""
        self.messages = 0
        """Length of the history of the last checkpoint or exported context."""
        self.costs: dict[str, Account] = {}
        """What was spent so far, by the digest of the account."""
        self.said: str | None = None
        """Digest of what the run record said last."""

    @classmethod
    def of(cls, facts: RunFacts) -> Self:
        """Go on from facts."""
        run = cls(facts.run_id, facts.opened_at)
        for name in _ALIKE:
            setattr(run, name, getattr(facts, name))
        run.sequences = Sequences(facts.sequences)
        run.trace_ids = loads(facts.trace_ids.encode())
        state: dict[str, Any] = loads(facts.state.encode())
        run.responses = Responses(state.pop("responses", None))
        if "status_at" in state:
            anchor, rank, version = state.pop("status_at")
            run.status_at = (anchor, rank, version)
        if "trace" in state:
            trace_id, span_id = state.pop("trace")
            run.trace = (trace_id, span_id)
        for name, value in state.items():
            setattr(run, name, value)
        return run

    @classmethod
    def dropped(cls, event: RecordedEvent) -> Self:
        """Say what `run.archived` does: the events before it are no longer here.

        Raises:
            KeyError, TypeError: its JSON has another shape.
        """
        data = event.data
        run = cls(text(data["run_id"]), whole(data["opened_at"]))
        run.session_id = text(data["session_id"])
        run.conversation_id = told(data.get("conversation_id"))
        run.parent_run_id = told(data.get("parent_run_id"))
        run.forked_from = told(data.get("forked_from"))
        run.status = text(data["status"])
        run.updated_at = whole(data["updated_at"])
        run.ended_at = run.updated_at if run.status in TERMINAL else None
        run.version = event.version
        run.position = event.position
        run.archived = True
        return run

    def facts(self) -> RunFacts:
        """Tell how it stands."""
        state: dict[str, Any] = {name: value for name in _KEPT if (value := getattr(self, name))}
        if self.status_at != _FIRST:
            state["status_at"] = self.status_at
        if self.trace != NO_TRACE:
            state["trace"] = self.trace
        if self.responses.known:
            state["responses"] = self.responses.known
        if self.anchor > LARGEST:
            state.update({name: at for name in _ANCHORS if (at := getattr(self, name)) is not None})
        values = (
            self.run_id,
            self.session_id,
            self.conversation_id,
            self.parent_run_id,
            self.agent,
            self.forked_from,
            self.status,
            self.opened_at,
            self.updated_at,
            self.ended_at,
            self.version,
            self.position,
            min(self.anchor, LARGEST),
            self.records,
            str(self.sequences),
            self.error_kind,
            self.error,
            self.last_tool,
            self.last_call_id,
            count(self.last_call_anchor),
            self.last_text,
            count(self.last_text_anchor),
            dumps(self.trace_ids).decode() if self.trace_ids else "[]",
            self.archived,
            dumps(state).decode() if state else "{}",
        )
        return tuple.__new__(RunFacts, values)

    def set_status(
        self,
        status: str,
        place: Bound,
        at: int,
        *,
        error: tuple[str | None, str | None] = (None, None),
    ) -> None:
        """Take a status, unless one is known that stands later in logical order.

        Args:
            at: when it was recorded.
            error: kind and message of why it failed or was cancelled.
        """
        if place > self.status_at:
            self.status_at = place
            if status != self.status:
                self.status = status
                self.error_kind = self.error = None
                self.ended_at = at if status in TERMINAL else None
        elif status != self.status:
            return
        if error != (None, None) and self.error_kind is None and status in TERMINAL:
            self.error_kind, self.error = error

    def tell_trace(self, trace: Trace | None) -> None:
        """Take a trace that the run itself is on from here on."""
        if trace is not None:
            self.trace = trace
            self.note_trace(trace)

    def note_trace(self, trace: Trace | None) -> None:
        """Take a trace that something of the run is on."""
        if trace is not None and trace[0] is not None and trace[0] not in self.trace_ids:
            self.trace_ids.append(trace[0])

    def tell_call(self, tool: str, call_id: str, anchor: int) -> None:
        """Take a tool call; the one of the largest anchor, an exact one, is the last."""
        if self.last_call_anchor is None or anchor >= self.last_call_anchor:
            self.last_tool, self.last_call_id, self.last_call_anchor = tool, call_id, anchor

    def tell_text(self, answer: str, anchor: int) -> None:
        """Take a text of the model; the one of the largest anchor, an exact one, is the last."""
        if self.last_text_anchor is None or anchor >= self.last_text_anchor:
            self.last_text, self.last_text_anchor = answer[:PREVIEW], anchor

    def first_record(self) -> None:
        """Forget what only checkpoints told: it no longer counts."""
        self.seen = {}
        self.last_tool = self.last_call_id = self.last_call_anchor = None
        self.last_text = self.last_text_anchor = None


_ALIKE = tuple(name for name in RunFacts._fields if name not in ("sequences", "trace_ids", "state"))
"""What stands in the facts as it stands here."""

_KEPT = ("prompts", "seen", "messages", "costs", "said")
"""What stands in their `state`, where there is something."""

_ANCHORS = ("anchor", "last_call_anchor", "last_text_anchor")
"""What stands there, too, where it is too large for the facts."""
