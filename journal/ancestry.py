"""The ancestors of a fork: the runs that it inherits events from."""

from __future__ import annotations

from journal.codec import RecordedEvent
from journal.errors import BrokenBase, CorruptEvent, RunNotFound
from journal.events import OPENINGS, RunForked
from journal.ids import Version, run_stream
from journal.lineage import Lineage
from journal.reader import Reader


def opening(reader: Reader, run_id: str) -> RecordedEvent:
    """Give the event that opened a run.

    Raises:
        RunNotFound: nothing of it was ever recorded.
        CorruptEvent: its first event is missing, or opens no run.
    """
    stream = run_stream(run_id)
    first = reader.event(stream, Version(1))
    if first is None and not reader.has_run(run_id):
        raise RunNotFound(run_id)
    if first is None or first.name not in OPENINGS:
        raise CorruptEvent(stream, 1, "missing, or not the opening of a run")
    return first


def source_opening(reader: Reader, fork: RecordedEvent) -> RecordedEvent:
    """Give the event that opened the source of a fork.

    Args:
        fork: a run.forked event.

    Raises:
        BrokenBase: it is missing or damaged, or the source ends before what is inherited.
    """
    lineage = Lineage.of(fork.stream, fork.data)
    stream = run_stream(lineage.source)
    try:
        first = opening(reader, lineage.source)
    except RunNotFound:
        raise BrokenBase(fork.stream, fork.version, stream, "there is no such run") from None
    except CorruptEvent as error:
        raise BrokenBase(fork.stream, fork.version, stream, error.reason) from error
    if first.position >= fork.position:
        raise BrokenBase(fork.stream, fork.version, stream, "it begins after its fork")
    head = reader.head(lineage.source)
    if head < lineage.version:
        reason = f"it has {head} events, its fork inherits {lineage.version}"
        raise BrokenBase(fork.stream, fork.version, stream, reason)
    return first


def ancestry(reader: Reader, run_id: str) -> list[Lineage]:
    """Give what a run inherits, from its own source to the oldest ancestor; empty for no fork.

    Raises:
        CorruptEvent: its opening is damaged.
        BrokenBase: that of an ancestor is, or one ends before what is inherited.
    """
    found = []
    fork = reader.event(run_stream(run_id), Version(1))
    while fork is not None and fork.name == RunForked.NAME:
        found.append(Lineage.of(fork.stream, fork.data))
        fork = source_opening(reader, fork)
    return found
