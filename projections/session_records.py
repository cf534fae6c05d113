"""A session's durable record, as its own events and those of its runs leave it.

The record that the host saved last is told as it was handed in, and what became of the session
since is laid over: its status, its state, its environment, which runs it names, its stream
cursors. A session that nobody saved has the record that its first run makes. Source of the
form, and of what is laid over: the session store of the Starweaver runtime, 0.15.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from journal.errors import InvalidRecord, brief
from journal.ids import Position
from journal.records import RESUMABLE_STATE, unwrap
from journal.records.stream_cursor import position_of
from journal.times import format_time
from projections.order import shaped
from projections.reading import HasReader
from projections.session_at import SessionAt
from projections.session_fold import Saved

AGENT_ID = "main"
"""The agent of a session that nobody saved."""


def session_record(
    journal: HasReader, session_id: str, *, until: int | None = None
) -> dict[str, Any]:
    """Give a session's record, bare.

    Args:
        until: as of this position of the journal, inclusive; None for now.

    Returns:
        `state` is what was saved, exported or committed last, whole. Treat it as frozen.

    Raises:
        SessionNotFound: nothing of this session was recorded by then.
        InvalidRecord: an id or the position is of another type.
        CorruptEvent, BrokenBase: its stream, or a document that the record shows, is damaged.
    """
    if until is not None and type(until) is not int:
        raise InvalidRecord("position", "$", f"expected a whole number, found {brief(until)}")
    return session_record_of(
        SessionAt(journal, session_id, None if until is None else Position(until))
    )


def session_record_of(session: SessionAt) -> dict[str, Any]:
    """Make the record of a session at a point; errors as those of `session_record`."""
    fold = session.fold
    if fold.damage is not None:
        raise fold.damage
    created_at = format_time(fold.created_at)
    record = {**session.saved} or {
        "session_id": session.session_id,
        "namespace_id": "local",
        "status": "active",
        "deletion_fence": {"state": "stable"},
        "created_at": created_at,
    }
    if fold.status is not None:
        record["status"] = fold.status
    record["state"] = _state(session) or {"agent_id": AGENT_ID, "started_at": created_at}
    heads = session.heads
    for key, value in (
        ("environment_state", _environment(session)),
        ("head_run_id", heads.head),
        ("head_success_run_id", heads.success),
        ("active_run_id", heads.active),
        ("stream_cursors", _cursors(session) or None),
    ):
        if value is None:
            record.pop(key, None)
        else:
            record[key] = value
    record["revision"] = _revision(session)
    if not _is_untouched(session):
        record["updated_at"] = format_time(updated_at(session))
    return record


def updated_at(session: SessionAt) -> int:
    """Tell when the last event of a session, or of one of its runs, was recorded.

    Returns:
        Microseconds since the epoch.
    """
    last = session.last
    own = session.fold.updated_at
    return own if last is None else max(own, last[1])


def _state(session: SessionAt) -> dict[str, Any] | None:
    """Find the context state that was saved, exported or committed last."""
    context, commit = session.fold.context, session.commit
    exported_at = 0 if context is None else context.position
    found: dict[str, Any] | None
    if commit is not None and commit.position > max(exported_at, session.saved_at):
        exported_at = exported_at if commit.context is None else commit.position
        context = commit.context or context
    if context is not None and exported_at > session.saved_at:
        with shaped(context):
            found, _ = unwrap(session.documents.of(context), RESUMABLE_STATE)
            return found
    found = session.saved.get("state")
    return found


def _environment(session: SessionAt) -> dict[str, Any] | None:
    """Find the reference to an environment state that was saved or committed last."""
    settings: list[tuple[int, dict[str, Any] | None]] = [
        (event.position, event.data["environment_state"]) for event in session.fold.environments
    ]
    if session.commit is not None:
        settings.append((session.commit.position, session.commit.environment_state))
    if session.is_current or session.saved.get("environment_state") is not None:
        settings.append((session.saved_at, session.saved.get("environment_state")))
    return max(settings, key=lambda setting: setting[0], default=(0, None))[1]


def _cursors(session: SessionAt) -> list[dict[str, Any]]:
    """Find the stream cursors: those saved or committed last, and what runs saved since."""
    since = Position(0)
    cursors: list[dict[str, Any]] = []
    if session.commit is not None:
        since, cursors = session.commit.position, session.commit.cursors
    told = session.saved.get("stream_cursors") or []
    if session.saved_at > since and (session.is_current or told):
        since, cursors = session.saved_at, told
    return latest_cursors([*cursors, *session.cursors_since(since)], moved=True)


def latest_cursors(cursors: Iterable[dict[str, Any]], *, moved: bool) -> list[dict[str, Any]]:
    """Keep the last stream cursor of each family and scope.

    Args:
        moved: put it where the last one is, not the first.
    """
    found: dict[tuple[Any, Any], dict[str, Any]] = {}
    for cursor in cursors:
        at = position_of(cursor)
        key = at["family"], at["scope"]
        if moved:
            found.pop(key, None)
        found[key] = cursor
    return list(found.values())


def _revision(session: SessionAt) -> int:
    """Count what changed the record: by its own events, and by those of its runs."""
    fold, saved, elsewhere = session.fold, session.fold.saved, session.fold.counted
    shift = 0
    if elsewhere is not None and elsewhere.counted is not None:
        # Another store counted until then.
        shift = elsewhere.counted - _changes(session, elsewhere)
    if saved is not None and saved.counted is None and session.is_current:
        # It came with a revision of the host's own, which a later save raises.
        raised = session.told_revision + (not saved.first)
        shift = max(shift, raised - _changes(session, saved))
    return max(1, fold.own + session.run_saves(session.until) + shift)


def _changes(session: SessionAt, saved: Saved) -> int:
    """Count the changes up to a record that was saved."""
    return saved.own + session.run_saves(saved.event.position)


def _is_untouched(session: SessionAt) -> bool:
    """Tell whether nothing happened since the session was saved for the first time."""
    saved, last = session.fold.saved, session.last
    if saved is None or not saved.first or session.fold.last > saved.event.position:
        return False
    return last is None or last[0] < saved.event.position
