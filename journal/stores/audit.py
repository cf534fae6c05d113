"""What the audit asks of a store of its rows, live or archived: the rows, and how to find them.

One `AuditRow` tells one thing that happened; `RunFacts` tell how a run stands. Both are made
from events alone (`projections.audit`), in order of position, so that they can be made again at
any time. They live in the views file beside the journal, and in the segments of an archive,
under the same names of columns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from journal.ids import Position

LARGEST = 2**63 - 1
"""Counters and places in rows saturate here."""


class AuditRow(NamedTuple):
    """One thing that happened in a run; most events give one, some none, few several."""

    position: int
    """Of the event in the whole journal."""
    part: int
    """Counts the rows of one event from 0; `position` and `part` make a row unique."""
    version: int
    """Of the event in its run."""
    run_id: str
    session_id: str | None
    conversation_id: str | None
    """This, `parent_run_id` and `agent` as far as they were told by then; `RunFacts` has them
    as they were told last."""
    parent_run_id: str | None
    agent: str | None
    child_run_id: str | None
    """The child run that a merged record belongs to; then `agent` is the child's."""
    anchor: int
    """Place in the run's logical order (`projections.order`): a record's sequence. -1 before
    the first; above `LARGEST` it is `LARGEST`."""
    rank: int
    """0 for a stream record, 1 for anything else; the order is anchor, rank, version, part."""
    recorded_at: int
    """When the event was first recorded, in microseconds since the epoch."""
    host_at: int | None
    """The time the host gave in it, likewise."""
    kind: str
    """A record's kind, such as `tool_call`; `custom:KIND` for custom records; the stored name
    without its version for other events, such as `approval.decided`; and `prompt`."""
    node: str | None
    step: int | None
    tool: str | None
    """Name of the tool, or of the action that waits for approval."""
    call_id: str | None
    item_id: str | None
    """Id of the approval, deferred tool, checkpoint or claim."""
    status: str | None
    """Of a return `ok`, `error`, `approval_required` or `deferred`; of a decision or a change of
    the run's status what it says; of a response `repeated` when it was recorded before."""
    error_kind: str | None
    actor: str | None
    """Who decided."""
    trace_id: str | None
    span_id: str | None
    model: str | None
    requests: int | None
    """This and the tokens: what the model response used; None where it is none."""
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    total_tokens: int | None
    cost_micros: int | None
    """Micro-dollars that came with it, where the host gave an estimate."""
    duration_ms: int | None
    """Of a tool return, where the host gave it."""
    from_state: bool
    """Made from a checkpoint's new messages; counts only in a run whose `records` are 0."""
    text: str | None
    """What people search: prompts, answers, arguments and results of tools, errors, reasons."""


class RunFacts(NamedTuple):
    """A run as it stands after its last event that was taken in."""

    run_id: str
    session_id: str | None
    conversation_id: str | None
    parent_run_id: str | None
    agent: str | None
    forked_from: str | None
    status: str | None
    """As recorded last; None until something tells it."""
    opened_at: int
    updated_at: int
    """Of its last event; both in microseconds since the epoch."""
    ended_at: int | None
    """When it reached the terminal status it has now."""
    version: int
    """Of its last event: how many events it has."""
    position: int
    """Of its last event."""
    anchor: int
    """The largest so far; exact up to `LARGEST`."""
    records: int
    """Own stream records that tell what the messages of a checkpoint tell, too: model responses,
    tool calls and returns. Where there are none, rows with `from_state` count."""
    sequences: str
    """Those of all stream records, of children too, as ranges: `0-52 54 60-61`."""
    error_kind: str | None
    error: str | None
    """Why it failed or was cancelled."""
    last_tool: str | None
    """The tool called last, in logical order, with the id of the call and its anchor."""
    last_call_id: str | None
    last_call_anchor: int | None
    last_text: str | None
    """The start of the last text of the model, at most 500 characters, and its anchor."""
    last_text_anchor: int | None
    trace_ids: str
    """Every trace it was on, as a JSON array in order of first mention."""
    archived: bool
    """Its events up to `version` - 1 are in an archive only: nothing else here is whole."""
    state: str
    """What the maker of rows needs to go on, as JSON; means nothing to others."""


APART = frozenset({"run_id", "day", "session_id", "agent", "model"})
"""Columns of `UsagePart` that sums can be kept apart by."""


class UsagePart(NamedTuple):
    """What was used; sums of rows that are alike in the columns that are kept apart.

    Other columns are None. Sums of merged child runs, and those with `from_state`, always keep
    everything apart: whether they count depends on what else is known of the run.
    """

    run_id: str | None
    child_run_id: str | None
    day: int | None
    """Days since 1970-01-01, UTC, of `recorded_at`."""
    session_id: str | None
    agent: str | None
    """As in the rows."""
    from_state: bool
    model: str | None
    responses: int
    """Model responses, without repeated ones."""
    requests: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    total_tokens: int
    cost_micros: int


class Wanted(NamedTuple):
    """Which rows; each that is given must hold. Values are always bound, never spliced."""

    since: int | None = None
    """Recorded at or after; microseconds since the epoch."""
    until: int | None = None
    """Recorded before."""
    session_id: str | None = None
    run_id: str | None = None
    kinds: Collection[str] | None = None
    statuses: Collection[str] | None = None
    """Of the row, not of the run."""
    tool: str | None = None


class Selected(NamedTuple):
    """What a SELECT of people gives."""

    columns: tuple[str, ...]
    rows: Iterator[tuple[Any, ...]]
    """Numbers, texts, bytes and None; raises `LimitReached` after as many as may be given."""


class AuditReader(Protocol):
    """One state of the rows. Everything is read in pages: nothing stays open."""

    def rows(self, wanted: Wanted, *, limit: int | None = None) -> Iterator[AuditRow]:
        """Yield rows, newest first: by falling `recorded_at`, `position`, `part`."""
        ...

    def timeline(self, run_id: str) -> Iterator[AuditRow]:
        """Yield a run's rows in logical order."""
        ...

    def calls(
        self, calls: Collection[tuple[str, str]], *, held: Collection[AuditRow] = ()
    ) -> Sequence[AuditRow]:
        """Give all rows with a `call_id`, each a run id and a call id; in any order.

        That is calls, their returns, and the approvals and deferred tools asked for by them.

        Args:
            held: rows of this reader that are at hand: those of the calls are given again
                without being read.
        """
        ...

    def items(self, items: Collection[tuple[str, str]]) -> Sequence[AuditRow]:
        """Give the rows with an `item_id`, each a run id and an item id; in any order."""
        ...

    def open_calls(self, wanted: Wanted) -> Iterator[AuditRow]:
        """Yield `tool_call` rows without a `tool_return` row in this store, newest first.

        One of the same run, child run, call id and step.
        """
        ...

    def usage(self, wanted: Wanted, *, apart: Collection[str] = APART) -> Iterator[UsagePart]:
        """Yield sums of model responses and costs, in any order.

        Args:
            apart: columns to keep apart, of `APART`. More than one sum may be alike in them.
        """
        ...

    def matching(self, phrase: str, wanted: Wanted) -> Iterator[AuditRow]:
        """Yield rows whose text may hold a phrase's words one after the other, newest first.

        All that do, and perhaps others: see `projections.audit.phrase`.
        """
        ...

    def runs(
        self,
        *,
        statuses: Collection[str] | None = None,
        session_id: str | None = None,
        since: int | None = None,
        until: int | None = None,
    ) -> Iterator[RunFacts]:
        """Yield runs, the last changed first.

        Args:
            statuses: only runs that stand in one of these.
            since: whose `ended_at` (else `updated_at`) is at or after; `until`: before.
        """
        ...

    def facts(self, run_ids: Collection[str]) -> Mapping[str, RunFacts]:
        """Give the facts of those of these runs that are known."""
        ...

    def on_trace(self, trace_id: str) -> Sequence[str]:
        """Give the ids of the runs that were ever on a trace."""
        ...


class AuditWriter(Protocol):
    """A transaction that takes in rows; it is all or nothing."""

    def tracked(self) -> Position:
        """Tell the position up to which the rows take the journal in; 0 where they do not."""
        ...

    def facts(self, run_ids: Collection[str]) -> Mapping[str, RunFacts]:
        """Give the facts of those of these runs that are known."""
        ...

    def last_run(self) -> RunFacts | None:
        """Give the facts of the run whose event was taken in last; None where there is none."""
        ...

    def put(self, rows: Iterable[AuditRow], facts: Iterable[RunFacts], upto: Position) -> None:
        """Store new rows and the facts of runs, in place of those before; and the position."""
        ...

    def note_damage(self, position: Position, reason: str) -> None:
        """Remember that an event could not be read, and was passed over."""
        ...

    def remove(self, run_id: str, upto: int) -> None:
        """Remove a run's rows up to a version: its events were dropped."""
        ...

    def clear(self) -> None:
        """Remove everything: it is made again from the first event."""
        ...


class AuditStore(Protocol):
    """The audit rows of one journal, in the views file or in memory; safe for threads."""

    @property
    def location(self) -> str:
        """Where the rows are, for messages: a path, or `memory`."""
        ...

    def reading(self, *, after: Position = Position(0)) -> AbstractContextManager[AuditReader]:
        """Look at one state of the rows.

        Args:
            after: only rows of events after this position; facts are whole in any case.

        Raises:
            ViewsUnusable: see `journal.stores.views`; also from within.
        """
        ...

    def writing(self) -> AbstractContextManager[AuditWriter]:
        """Change rows in one transaction, which is undone when the block raises.

        Raises:
            ViewsUnusable: also from within, and when the disk is full.
        """
        ...

    def dropped(self) -> int:
        """Count the runs whose events are in an archive only: no row tells of them."""
        ...

    def damage(self) -> Sequence[tuple[Position, str]]:
        """List the events that could not be read, by position, and why."""
        ...

    def query(self, sql: str, *, rows: int, seconds: float, megabytes: int) -> Selected:
        """Run one SELECT of people over the views `rows`, `runs` and `calls` (`VIEWS.md`).

        Args:
            rows: that are given at most.
            seconds: that it may take.
            megabytes: of memory that it may take.

        Raises:
            SQLRefused: it is no SELECT, or reads or calls something else.
            LimitReached: it takes more time or memory.
            ViewsUnusable: see `journal.stores.views`.
        """
        ...

    def close(self) -> None:
        """Release everything; twice does nothing."""
        ...
