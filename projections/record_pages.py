"""Lists of run and session records, whole, filtered and page by page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from journal.errors import InvalidRecord, SessionNotFound, brief
from journal.times import format_time, parse_time
from projections.reading import HasReader
from projections.session_at import SessionAt
from projections.session_records import session_record_of, updated_at

MOST = 200
"""Records in one page, at most."""

MOST_SEQUENCE = 2**64 - 1


def list_session_records(
    journal: HasReader,
    *,
    status: str | None = None,
    profile: str | None = None,
    workspace: str | None = None,
    limit: int | None = None,
) -> list[dict[str, Any]]:
    """Give the records of sessions, those with the latest change first.

    Args:
        status: only sessions in this status.
        profile: only those of this profile.
        workspace: only those of this workspace, by its id or its label.
        limit: at most this many, from 0.

    Raises:
        InvalidRecord: the limit is no number from 0.
        CorruptEvent, BrokenBase: see `projections.session_record`.
    """
    if limit is not None:
        _check(limit, 0, None, "session filter", "$.limit")
    asked = {"status": status, "profile": profile, "workspace": workspace}
    wanted = {key: value for key, value in asked.items() if value is not None}
    found: list[dict[str, Any]] = []
    for _, session in _latest_first(journal):
        if len(found) == limit:
            break
        record = session_record_of(session)
        if all(_is_of(record.get(key), value) for key, value in wanted.items()):
            found.append(record)
    return found


def _is_of(held: Any, wanted: str) -> bool:
    """Tell whether a member of a record is what is asked for; a workspace has two names."""
    if isinstance(held, dict):
        return wanted in (held.get("workspace_id"), held.get("display_label"))
    return bool(held == wanted)


def session_page(
    journal: HasReader, limit: int, after: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Give one page of session records, those with the latest change first.

    Sessions that change meanwhile move to the front: a walk through the pages may miss them.

    Args:
        limit: at most this many, 1 to 200.
        after: the `nextKey` of the page before, `{"updatedAt", "sessionId"}`; None begins.

    Returns:
        `sessions`, `nextKey` (None where there is no session at all) and `hasMore`.

    Raises:
        InvalidRecord: the limit or the key is wrong.
        CorruptEvent, BrokenBase: see `projections.session_record`.
    """
    _check(limit, 1, MOST, "session page", "$.limit")
    bound = None if after is None else _session_key(after)
    sessions: list[dict[str, Any]] = []
    key = None if after is None else {name: after[name] for name in ("updatedAt", "sessionId")}
    for at, session in _latest_first(journal):
        if bound is not None and (at, session.session_id) >= bound:
            continue
        if len(sessions) == limit:
            return {"sessions": sessions, "nextKey": key, "hasMore": True}
        sessions.append(session_record_of(session))
        key = {"updatedAt": format_time(at), "sessionId": session.session_id}
    return {"sessions": sessions, "nextKey": key, "hasMore": False}


def list_run_records(journal: HasReader, session_id: str) -> list[dict[str, Any]]:
    """Give the records of a session's runs by `sequence_no`; none of an unknown session.

    Raises:
        CorruptEvent, BrokenBase: one of them is damaged.
    """
    session = _session(journal, session_id)
    return [] if session is None else [*_records(session, _by_number(session))]


def recent_run_records(journal: HasReader, session_id: str, limit: int) -> list[dict[str, Any]]:
    """Give the last records of a session's runs by `sequence_no`, rising.

    Args:
        limit: at most this many, from 0.

    Raises:
        InvalidRecord: the limit is no number from 0.
        CorruptEvent, BrokenBase: see `list_run_records`.
    """
    _check(limit, 0, None, "run list", "$.limit")
    session = _session(journal, session_id)
    if session is None or not limit:
        return []
    return [*_records(session, _by_number(session)[-limit:])]


def run_page(
    journal: HasReader, session_id: str, limit: int, before: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Give one page of the records of a session's runs, those with the highest number first.

    Args:
        limit: at most this many, 1 to 200.
        before: the `nextKey` of the page before, `{"sequenceNo"}`; None begins.

    Returns:
        `runs`, `nextKey` (None where the session has no run at all) and `hasMore`.

    Raises:
        InvalidRecord: the limit or the key is wrong.
        CorruptEvent, BrokenBase: see `list_run_records`.
    """
    _check(limit, 1, MOST, "run page", "$.limit")
    bound = MOST_SEQUENCE + 1
    if before is not None:
        bound = _member(before, "sequenceNo", "run page", "$.before")
        _check(bound, 1, None, "run page", "$.before.sequenceNo")
    session = _session(journal, session_id)
    numbers = {} if session is None else session.numbers
    wanted = [run_id for run_id in numbers if numbers[run_id] < bound]
    wanted.sort(key=lambda run_id: numbers[run_id], reverse=True)
    shown = wanted[:limit]
    last = numbers[shown[-1]] if shown else None if before is None else bound
    return {
        "runs": [] if session is None else [*_records(session, shown)],
        "nextKey": None if last is None else {"sequenceNo": last},
        "hasMore": len(wanted) > limit,
    }


def _session(journal: HasReader, session_id: str) -> SessionAt | None:
    try:
        return SessionAt(journal, session_id)
    except SessionNotFound:
        return None


def _by_number(session: SessionAt) -> list[str]:
    return sorted(session.numbers, key=lambda run_id: session.numbers[run_id])


def _records(session: SessionAt, run_ids: list[str]) -> Iterator[dict[str, Any]]:
    for run_id in run_ids:
        yield session.record(run_id)


def _latest_first(journal: HasReader) -> list[tuple[int, SessionAt]]:
    """List all sessions with the time of their latest change, by that and their id."""
    found = []
    for session_id in journal.reader.session_ids():
        session = SessionAt(journal, session_id)
        found.append((updated_at(session), session))
    return sorted(found, key=lambda each: (each[0], each[1].session_id), reverse=True)


def _session_key(after: Mapping[str, Any]) -> tuple[int, str]:
    session_id = _member(after, "sessionId", "session page", "$.after")
    at = _member(after, "updatedAt", "session page", "$.after")
    if type(session_id) is not str or type(at) is not str:
        reason = "expected a time and a session id, as the page before told them in nextKey"
        raise InvalidRecord("session page", "$.after", reason)
    try:
        return parse_time(at), session_id
    except ValueError as error:
        raise InvalidRecord("session page", "$.after.updatedAt", str(error)) from error


def _member(key: Mapping[str, Any], name: str, what: str, path: str) -> Any:
    if not isinstance(key, Mapping) or name not in key:
        reason = f"expected an object with {name}, the nextKey of the page before"
        raise InvalidRecord(what, path, reason)
    return key[name]


def _check(value: Any, least: int, most: int | None, what: str, path: str) -> None:
    """Take a number of a caller.

    Raises:
        InvalidRecord: it is none, or outside.
    """
    if type(value) is int and value >= least and (most is None or value <= most):
        return
    to = "" if most is None else f" to {most}"
    raise InvalidRecord(
        what, path, f"expected a whole number from {least}{to}, found {brief(value)}"
    )
