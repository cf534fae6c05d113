"""Runs whose events are in an archive: what is left of them here."""

from __future__ import annotations

from journal.codec import RecordedEvent, decode
from journal.errors import RunIsArchived
from journal.events import RunArchived
from journal.ids import RUN_PREFIX, StreamId, Version
from journal.stores.interface import Store

_NAMES = (RunArchived.NAME,)


def archived(store: Store, stream: StreamId) -> RecordedEvent | None:
    """Give the event that says that a run is in an archive: it takes no more events.

    None for other runs, and for streams that are no runs.
    """
    if not stream.startswith(RUN_PREFIX):
        return None
    head = store.head(stream)
    if not head:
        return None
    # It is always the last: found by the index alone.
    page = store.read_stream(stream, after=Version(head - 1), names=_NAMES, limit=1)
    return decode(page[0]) if page else None


def dropped(store: Store, stream: StreamId) -> RecordedEvent | None:
    """Give the same event of a run that cannot be read here any more.

    Its last events go first, so that the others alone are not the run. Where they are still
    there, or the store has them from the archive, it is read as every run.
    """
    event = archived(store, stream)
    if event is None:
        return None
    below = Version(event.version - 1)
    here = store.read_stream(stream, after=Version(below - 1), upto=below, limit=1)
    return None if here else event


def refusal(event: RecordedEvent) -> RunIsArchived:
    """Make the error that says where an archived run is.

    Args:
        event: a `run.archived` event.
    """
    data = event.data
    segments = tuple(each["segment"] for each in data["segments"])
    return RunIsArchived(data["run_id"], data["archive"], segments)


def must_be_here(store: Store, stream: StreamId) -> None:
    """Check that a stream can be read here.

    Raises:
        RunIsArchived: it is a run's, whose events are in an archive only.
    """
    event = dropped(store, stream)
    if event is not None:
        raise refusal(event)
