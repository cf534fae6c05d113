"""What a run holds, as whole lists: checkpoints, stream records, approvals, deferred tools."""

from __future__ import annotations

from typing import Any

from journal.codec import RecordedEvent
from journal.errors import CorruptEvent, InvalidRecord, brief
from journal.events import CheckpointTaken
from journal.lineage import Bound
from projections.blame import blamed_on
from projections.named_places import checkpoint_name
from projections.order import FACT_RANK, PAST_RANK, RECORD_RANK, shaped, whole
from projections.places import place_of
from projections.reach import Reach
from projections.reading import HasReader
from projections.run_at import RunAt, documents_of
from projections.run_index import RunIndex


def checkpoints(journal: HasReader, run_id: str) -> list[dict[str, Any]]:
    """Give a run's checkpoints, as handed in, in logical order.

    Those that a fork inherits belong to the run it was made of. Treat them as frozen: each
    shares with the others what is the same in them.

    Raises:
        RunNotFound: nothing of this run was ever recorded.
        CorruptEvent, BrokenBase: the run, or one it is based on, is damaged.
    """
    index = RunIndex(journal, run_id)
    with blamed_on(index.stream):
        events = checkpoint_events(index, index.whole)
        documents = documents_of(journal)
        taken = {
            event.version: documents.of(event) or {}
            for event in sorted(events, key=lambda event: event.version)
        }
    return [taken[event.version] for event in events]


def latest_checkpoint(journal: HasReader, run_id: str) -> dict[str, Any] | None:
    """Give a run's last checkpoint in logical order, as handed in; see `checkpoints`."""
    index = RunIndex(journal, run_id)
    with blamed_on(index.stream):
        events = checkpoint_events(index, index.whole)
        return documents_of(journal).of(events[-1]) if events else None


def checkpoint_events(index: RunIndex, reach: Reach) -> list[RecordedEvent]:
    """Read a run's own checkpoints within a reach, in logical order; documents are not built."""
    found = index.reader.run_events(index.run_id, upto=reach.version, names=(CheckpointTaken.NAME,))
    events = [event for event in found if reach.takes(event.version, event.recorded_at)]
    places = _places(index, events)
    ordered = sorted(zip(places, events, strict=True), key=lambda each: each[0])
    return [event for place, event in ordered if reach.before is None or place < reach.before]


def _places(index: RunIndex, events: list[RecordedEvent]) -> list[Bound]:
    """Tell where checkpoints stand; one that does not tell its anchor is looked up."""
    unsaid = [event for event in events if event.data.get("stream_cursor") is None]
    names = {checkpoint_name(event.data.get("checkpoint_id")) for event in unsaid}
    known = index.ask(
        lambda rows: {
            version: place_of(key)
            for name in names
            for version, key in rows.returns(index.stream, name)
        }
    )
    places = []
    for event in events:
        anchor = event.data.get("stream_cursor")
        if anchor is None:
            if event.version not in known:
                raise CorruptEvent(index.stream, event.version, "its place is not known")
            places.append(known[event.version])
            continue
        with shaped(event):
            places.append((whole(anchor), FACT_RANK, event.version))
    return places


def stream_records(
    journal: HasReader, run_id: str, after_sequence: int | None = None
) -> list[dict[str, Any]]:
    """Give a run's own stream records by sequence, also those of children merged into it.

    Args:
        after_sequence: only those above this sequence; None for all.

    Raises:
        InvalidRecord: `after_sequence` is no number from 0.
        RunNotFound: nothing of this run was ever recorded.
        CorruptEvent: the run is damaged.
    """
    after = None
    if after_sequence is not None:
        if type(after_sequence) is not int or after_sequence < 0:
            reason = f"expected a sequence from 0, found {brief(after_sequence)}"
            raise InvalidRecord("stream records", "$.after_sequence", reason)
        after = after_sequence, PAST_RANK, 0
    index = RunIndex(journal, run_id)
    found = []
    for entry in index.entries(index.whole, after):
        if entry.rank == RECORD_RANK:
            with shaped(entry.event):
                found.append(entry.event.data["record"])
    return found


def approvals(journal: HasReader, run_id: str) -> list[dict[str, Any]]:
    """Give each approval of a run as it is now, in the order of the requests.

    Raises:
        RunNotFound: nothing of this run was ever recorded.
        CorruptEvent, BrokenBase: the run, or one it is based on, is damaged.
    """
    return _run(journal, run_id).records("approvals")


def deferred_tools(journal: HasReader, run_id: str) -> list[dict[str, Any]]:
    """Give each deferred tool call of a run as it is now; see `approvals`."""
    return _run(journal, run_id).records("deferred_tools")


def _run(journal: HasReader, run_id: str) -> RunAt:
    index = RunIndex(journal, run_id)
    with blamed_on(index.stream):
        return RunAt.upto(index, None)
