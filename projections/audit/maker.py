"""The maker of audit rows: events in, rows and facts out.

It is pure but for two look-ups, of facts and of documents, and takes events by rising position.
However they are cut into batches, the rows and the facts come out the same.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final

from journal.codec import RecordedEvent
from journal.events import (
    CheckpointTaken,
    ContextExported,
    DocumentCopied,
    EnvironmentExported,
    RunArchived,
    StreamRecorded,
)
from journal.ids import RUN_PREFIX
from journal.json_door import JSON
from journal.stores.audit import AuditRow, RunFacts
from projections.audit.event_cells import EventCells
from projections.audit.event_rows import EVENT_ROWS, unknown_event
from projections.audit.record_rows import AS_CHECKPOINTS, RECORDS, record_rows, unknown_record
from projections.audit.run_state import RunState
from projections.audit.state_rows import checkpoint_taken, context_exported
from projections.order import FACT_RANK, RECORD_RANK, misshapen, whole

HELD: Final = 4096
"""Runs that are remembered from one batch to the next; of others the facts are looked up."""

UNREADABLE: Final = "unreadable"
"""Kind of the row of an event whose JSON has another shape than its name promises."""

FactsOf = Callable[[Collection[str]], Mapping[str, RunFacts]]
"""Gives the facts of those of these runs that are known."""

DocumentOf = Callable[[RecordedEvent], JSON]
"""Rebuilds the document of an event; None where it cannot be."""

_SAYING_WHERE: Final = (CheckpointTaken.NAME, EnvironmentExported.NAME)
"""Events that may tell their anchor, whenever they arrive."""


def _no_document(_: RecordedEvent) -> JSON:
    return None


class RowMaker:
    """Makes the audit rows of a journal's events, and the facts of its runs.

    Only events of runs give rows, not those in the streams of sessions.

    Args:
        facts: looks up how the runs stood after the events before.
        documents: rebuilds the document of a checkpoint or an exported context, where its
            difference does not show what is new in it; None where it cannot be rebuilt.
    """

    def __init__(self, facts: FactsOf, documents: DocumentOf = _no_document) -> None:
        self._facts = facts
        self._documents = documents
        self._held: OrderedDict[str, RunState] = OrderedDict()

    def take(  # noqa: C901, PLR0912 - the hot path, in one piece
        self, events: Iterable[RecordedEvent], streams: Iterable[str] | None = None
    ) -> tuple[list[AuditRow], list[RunFacts]]:
        """Take in the next events.

        Args:
            events: in order of position.
            streams: of all events; then each event is taken only once it has its turn, so
                that they need not be decoded before.

        Returns:
            Their rows in order, and the facts of the runs they belong to as after them.
        """
        if streams is None:
            events = list(events)
            streams = [event.stream for event in events]
        runs = self._load(streams)
        cells = EventCells(RunState("", 0))
        recorded, copied = StreamRecorded.NAME, DocumentCopied.NAME
        for event in events:
            position, stream, version, name, at, data = event
            run = runs[stream]
            if run is None:
                if not stream.startswith(RUN_PREFIX):
                    continue
                run = runs[stream] = RunState(stream[len(RUN_PREFIX) :], event.recorded_at)
            run.position = position
            run.version = version
            if name != copied:  # it tells nothing of the run
                run.updated_at = at if "imported" not in data else event.recorded_at
            try:
                if name == recorded:
                    record = data["record"]
                    kind = record["event"]["kind"]
                    tell = RECORDS.get(kind, unknown_record)
                    sequence = record["sequence"]
                    if sequence == run.sequences.high + 1 and type(sequence) is int:
                        run.sequences.high = sequence
                    else:
                        run.sequences.add(_sequence(sequence))
                    if kind in AS_CHECKPOINTS and record.get("source") is None:
                        if not run.records:
                            run.first_record()
                        run.records += 1
                    if sequence > run.anchor:  # noqa: PLR1730 - max() takes longer
                        run.anchor = sequence
                    if tell is not None:
                        record_rows(cells.at(run, sequence, RECORD_RANK), record, tell)
                elif name == RunArchived.NAME:
                    runs[stream] = RunState.dropped(event)
                else:
                    self._fact(cells, run, event)
            except (AttributeError, LookupError, TypeError) as error:
                cells.undo(position)
                reason = misshapen(event, error).reason
                cells.at(run, run.anchor, FACT_RANK).put(UNREADABLE, text=reason)
        touched = {stream: run for stream, run in runs.items() if run is not None}
        self._hold(touched)
        return cells.rows, [run.facts() for run in touched.values()]

    def _fact(self, cells: EventCells, run: RunState, event: RecordedEvent) -> None:
        """Take an event that is no stream record."""
        name, data = event.name, event.data
        anchor = run.anchor
        if name in _SAYING_WHERE:
            cursor = data.get("stream_cursor")
            if cursor is not None:
                anchor = whole(cursor)
                run.anchor = max(run.anchor, anchor)
        cells.at(run, anchor, FACT_RANK)
        if name == CheckpointTaken.NAME:
            checkpoint_taken(cells, event, self._documents)
        elif name == ContextExported.NAME:
            context_exported(cells, event, self._documents)
        elif name in EVENT_ROWS:
            tell = EVENT_ROWS[name]
            if tell is not None:
                tell(cells, data)
        else:
            unknown_event(cells, name, data)

    def _load(self, streams: Iterable[str]) -> dict[str, RunState | None]:
        """Give what is known of streams, in order of first mention."""
        held = self._held
        found = {stream: held.get(stream) for stream in dict.fromkeys(streams)}
        missing = [
            stream[len(RUN_PREFIX) :]
            for stream, run in found.items()
            if run is None and stream.startswith(RUN_PREFIX)
        ]
        if missing:
            for run_id, facts in self._facts(missing).items():
                found[RUN_PREFIX + run_id] = RunState.of(facts)
        return found

    def _hold(self, runs: Mapping[str, RunState]) -> None:
        held = self._held
        for stream, run in runs.items():
            held[stream] = run
            held.move_to_end(stream)
        while len(held) > HELD:
            held.popitem(last=False)


def _sequence(value: Any) -> int:
    if whole(value) < 0:
        raise TypeError(f"{value} is no sequence")
    return int(value)
