"""The outbox: what evidence wants published, and no target has acknowledged yet."""

from __future__ import annotations

from typing import Any

from journal.codec import RecordedEvent
from journal.errors import CorruptEvent, SessionNotFound
from journal.events import (
    PublicationAcknowledged,
    RunArchived,
    RunCommitted,
    SessionRunChanged,
)
from journal.publications import publication_id
from journal.reader import Reader
from journal.records import PublicationTarget
from projections.order import shaped
from projections.past_damage import openings_of
from projections.reading import HasReader
from projections.run_contents import stream_records


def pending_publications(journal: HasReader, session_id: str) -> list[dict[str, Any]]:
    """List the runs of a session whose evidence is to be published, in order of their commits.

    Returns:
        One object a run: `publication_id`, what is to be published, and for each target
        whether it is still waited for. None of an unknown session. Source of the form: the
        session store of the Starweaver runtime, 0.15.

    Raises:
        CorruptEvent, BrokenBase: the session's stream, or one of the runs, is damaged.
    """
    found = []
    for run_id, wanted in _wanted(journal.reader, session_id).items():
        if journal.reader.dropped(run_id) is not None:
            continue  # nothing of it was left to be published
        committed = journal.reader.last_run_event(run_id, (RunCommitted.NAME,))
        if committed is None:
            continue
        pending = wanted - _acknowledged(journal.reader, run_id, committed)
        if pending:
            found.append(
                (committed.position, _publication(journal, session_id, committed, pending))
            )
    return [publication for _, publication in sorted(found, key=lambda each: each[0])]


def awaits_publication(reader: Reader, run_id: str) -> bool:
    """Tell whether a run's evidence is to be published where nobody acknowledged it yet.

    Raises:
        CorruptEvent: the run is damaged.
    """
    committed = reader.last_run_event(run_id, (RunCommitted.NAME,))
    if committed is None:
        return False
    return bool(_targets(committed) - _acknowledged(reader, run_id, committed))


def _targets(committed: RecordedEvent) -> set[str]:
    with shaped(committed):
        targets = committed.data["rest"].get("publication_targets") or {}
    return {target for target, wanted in targets.items() if wanted}


def _wanted(reader: Reader, session_id: str) -> dict[str, set[str]]:
    """Tell which runs want to be published, and where."""
    found = {}
    try:
        for note in reader.session_events(session_id, names=(SessionRunChanged.NAME,)):
            if note.data.get("publishes"):
                with shaped(note):
                    found[note.data["run_id"]] = set(note.data["publishes"])
    except SessionNotFound:
        return {}
    except CorruptEvent:
        return _told_by_runs(reader, session_id)
    return found


def _told_by_runs(reader: Reader, session_id: str) -> dict[str, set[str]]:
    """Tell the same of a session whose notes are damaged, by the evidence itself."""
    found = {}
    for opened in openings_of(reader, session_id):
        run_id = str(opened.run_id)
        if opened.name == RunArchived.NAME:
            continue
        committed = reader.last_run_event(run_id, (RunCommitted.NAME,))
        if committed is not None:
            found[run_id] = _targets(committed)
    return found


def _acknowledged(reader: Reader, run_id: str, committed: RecordedEvent) -> set[str]:
    names = (PublicationAcknowledged.NAME,)
    found = set()
    for event in reader.run_events(run_id, after=committed.version, names=names):
        with shaped(event):
            found.add(event.data["target"])
    return found


def _publication(
    journal: HasReader, session_id: str, committed: RecordedEvent, pending: set[str]
) -> dict[str, Any]:
    run_id = str(committed.run_id)
    with shaped(committed):
        rest, run = committed.data["rest"], committed.data["run"]
        publication = {
            "publication_id": publication_id(session_id, run_id),
            "session_id": session_id,
            "run_id": run_id,
            "stream_records": stream_records(journal, run_id),
            "display_messages": rest.get("display_messages") or [],
            "replay_events": rest.get("replay_events") or [],
            **{f"{target}_pending": target in pending for target in PublicationTarget},
            "created_at": run["updated_at"],
        }
    if rest.get("display_snapshot") is not None:
        publication["display_snapshot"] = rest["display_snapshot"]
    return publication
