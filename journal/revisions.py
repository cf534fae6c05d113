"""How often the record of a run changed, as its commit tells it (see `RunCommitted`)."""

from __future__ import annotations

from collections.abc import Collection

from journal.events import CheckpointTaken, CursorSaved, RunSaved
from journal.ids import run_stream
from journal.offers import STATUS_FACTS
from journal.reader import Reader

SAVES = (CheckpointTaken.NAME, *STATUS_FACTS)
"""Names of the events that raise the revision of a run, and that of its session."""

CHANGES = (*SAVES, CursorSaved.NAME)
"""The same with those that raise only the run's."""


def next_revision(reader: Reader, run_id: str) -> int:
    """Tell the revision of a run that exists with the next change.

    It counts the changes, from 1 for a run that was opened. A record that the host saved
    with a higher revision than that raises it, and one of another store tells it.
    """
    counted = _next(reader, run_id, CHANGES)
    told = [
        (event.data["run"].get("revision", 0), event.data.get("revision"))
        for event in reader.run_events(run_id, names=(RunSaved.NAME,))
    ]
    if any(elsewhere is not None for _, elsewhere in told):
        return _followed(reader, run_id) + 1
    highest = max((revision for revision, _ in told), default=0)
    return counted if highest <= 1 else max(counted, _followed(reader, run_id) + 1)


def next_saves(reader: Reader, run_id: str) -> int:
    """Tell what a run that exists adds to the revision of its session with the next change."""
    return _next(reader, run_id, SAVES)


def _next(reader: Reader, run_id: str, names: Collection[str]) -> int:
    return max(1, reader.count(run_stream(run_id), names)) + 1


def _followed(reader: Reader, run_id: str) -> int:
    revision = 0
    for event in reader.run_events(run_id, names=CHANGES):
        revision += 1
        if event.name == RunSaved.NAME:
            elsewhere = event.data.get("revision")
            told = event.data["run"].get("revision", 0)
            revision = max(revision, told) if elsewhere is None else elsewhere
    return revision
