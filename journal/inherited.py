"""The last document that a fork inherits: what its own first one is compared with."""

from __future__ import annotations

from collections.abc import Collection

from journal.codec import RecordedEvent, decode
from journal.events import CheckpointTaken, RunForked
from journal.ids import StreamId, Version, run_stream
from journal.lineage import Lineage
from journal.stores.interface import Store

CHECKPOINT_RANK = 1
"""Rank of a checkpoint in a run's logical order."""


def inherited_document(
    store: Store, stream: StreamId, names: Collection[str]
) -> RecordedEvent | None:
    """Find the last document that a run inherits, of the nearest ancestor that has one.

    Any document serves to hold the next one as a difference; one near the fork keeps that
    small. Where a source's documents did not arrive in logical order, another one is found.

    Args:
        names: stored names of the documents.

    Raises:
        CorruptEvent: a row on the way no longer decodes.
    """
    fork = _first(store, stream)
    while fork is not None and fork.name == RunForked.NAME:
        lineage = Lineage.of(fork.stream, fork.data)
        found = _last_within(store, lineage, names)
        if found is not None:
            return found
        source = _first(store, run_stream(lineage.source))
        if source is None or source.position >= fork.position:
            return None  # what comes next is held whole: it does not share the damage
        fork = source
    return None


def _first(store: Store, stream: StreamId) -> RecordedEvent | None:
    page = store.read_stream(stream, limit=1)
    return decode(page[0]) if page else None


def _last_within(store: Store, lineage: Lineage, names: Collection[str]) -> RecordedEvent | None:
    """Search by halves: the next document after a version is within what is inherited or not."""
    if lineage.before is not None and CheckpointTaken.NAME in names:
        names = (CheckpointTaken.NAME,)  # only these tell their place
    found: RecordedEvent | None = None
    low, high = Version(0), lineage.version
    while low < high:
        middle = Version((low + high) // 2)
        page = store.read_stream(
            run_stream(lineage.source), after=middle, upto=high, names=names, limit=1
        )
        event = decode(page[0]) if page else None
        if event is not None and _is_within(event, lineage):
            found, low = event, event.version
        else:
            high = middle
    return found


def _is_within(event: RecordedEvent, lineage: Lineage) -> bool:
    if lineage.until is not None and event.recorded_at > lineage.until:
        return False
    anchor = event.data.get("stream_cursor")
    if lineage.before is None or type(anchor) is not int:
        return True
    return (anchor, CHECKPOINT_RANK, event.version) < lineage.before
