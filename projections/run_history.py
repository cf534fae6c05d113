"""Every checkpoint of a run, one after the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from journal.ancestry import ancestry
from journal.codec import RecordedEvent
from journal.documents import Walk
from journal.errors import CorruptEvent, RunNotFound
from journal.events import STATE_DOCUMENTS, CheckpointTaken
from journal.ids import Version
from journal.reader import Reader
from projections.order import anchored, shaped
from projections.reach import Reach
from projections.reading import HasReader


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A checkpoint of a run, with its place in the logical order."""

    anchor: int
    """A sequence, or -1 before the first record."""
    event: RecordedEvent
    """What was recorded of it; of an inherited one, in the run that it was taken in."""
    checkpoint: dict[str, Any]
    """The checkpoint (`AgentCheckpoint`), as handed in. Treat it as frozen: the checkpoints
    of one history share what is unchanged."""

    @property
    def checkpoint_id(self) -> str:
        """The id that `CheckpointCursor` takes."""
        with shaped(self.event):
            found: str = self.event.data["checkpoint_id"]
        return found


def history(journal: HasReader, run_id: str) -> Iterator[HistoryEntry]:
    """Read every checkpoint of a run, in logical order; a fork's inherited ones come first.

    Each is rebuilt with one difference from the one before, of which it shares what is
    unchanged: the whole history costs about one reading of its events, and the memory of one
    checkpoint. Of those that are kept each takes what is new in it, and the list of its
    messages. One that arrived before its turn in the order is held until then. What is
    appended meanwhile is left out.

    Raises:
        RunNotFound: nothing of this run was ever recorded.
        CorruptEvent, BrokenBase: the run, or one it is based on, is damaged.
    """
    reader = journal.reader
    head = reader.head(run_id)
    if not head:
        raise RunNotFound(run_id)
    walk = Walk()
    inherited = map(Reach.inherited, ancestry(reader, run_id))
    stretches = [Reach(run_id, head), *inherited][::-1]
    return chain.from_iterable(_stretch(reader, reach, walk) for reach in stretches)


def _stretch(reader: Reader, reach: Reach, walk: Walk) -> Iterator[HistoryEntry]:
    anchors = _anchors(reader, reach)
    turns = deque(sorted(anchors, key=lambda version: (anchors[version], version)))
    early: dict[Version, HistoryEntry] = {}
    # Exported contexts are part of the chain: left out, a checkpoint would be further away.
    documents = reader.run_events(reach.run_id, upto=reach.version, names=STATE_DOCUMENTS)
    while turns:
        event = next(documents)
        document = reader.document(event, walk)
        if event.version in anchors:
            if type(document) is not dict:
                raise CorruptEvent(event.stream, event.version, "its document is no object")
            early[event.version] = HistoryEntry(anchors[event.version], event, document)
        while turns and turns[0] in early:
            yield early.pop(turns.popleft())


def _anchors(reader: Reader, reach: Reach) -> dict[Version, int]:
    """Find the anchors of the checkpoints within reach, by version."""
    return {
        event.version: anchor
        for anchor, rank, version, event in anchored(
            reader.run_events(reach.run_id, upto=reach.version)
        )
        if event.name == CheckpointTaken.NAME
        and (reach.before is None or (anchor, rank, version) < reach.before)
        and reach.takes(version, event.recorded_at)
    }
