"""What each row becomes: the one place that knows how Starweaver's tables map to the journal.

Every row becomes an interchange line (`journal.lines`), so that it comes in by the door that
`ingest` uses, is checked as there, and is marked as imported. A record is taken as
Starweaver's load methods give it: out of its envelope. An environment state, which they do
not give, stays in its envelope, as the runtime hands it to a store.

- A run is opened with its number in the session. A run whose evidence was committed ends with
  `run.committed`, any other with its run record. The evidence's digest is Starweaver's, of the
  bundle in a form of its own: whatever is committed for such a run again is refused.
- The stream cursors of a run record become events, too, as those of a bundle do.
- An approval or a deferred tool call is imported as it stands: a decided one has no request of
  its own in the database.
- What has no time of its own in the database has that of the run's commit, where there was
  one: the runtime hands a run's stream records over with it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from journal.errors import InvalidRecord, brief
from journal.events import ResumeClaimed, ResumeStarted, RunCommitted, RunOpened
from journal.hosts.starweaver_import.source import Row, rfc3339
from journal.json_door import accept
from journal.lines import Line
from journal.records import (
    APPROVAL_RECORD,
    CHECKPOINT,
    DEFERRED_TOOL_RECORD,
    RESUMABLE_STATE,
    RUN_RECORD,
    SESSION_RECORD,
    STREAM_RECORD,
    unwrap,
)

OPENING = "opening"
"""The kind of the line that opens a run, which no row is counted for."""

CLAIM = "starweaver.session.hitl_resume_claim"
REPLAY_EVENT = "starweaver.stream.replay_event"
REPLAY_SNAPSHOT = "starweaver.stream.replay_snapshot"

_OWN_SCHEMAS = {CLAIM: 1, REPLAY_EVENT: 1, REPLAY_SNAPSHOT: 1}
"""Schemas of records that travel bare everywhere else, and their newest version."""

_SHA256 = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Item:
    """A line, and where it is from."""

    kind: str
    """What is counted: a type of lines, or what became part of one."""
    row: Row
    line: Line
    alone: bool = False
    """Whether the line says more than one event, and is written by itself."""
    once: bool = False
    """Whether nothing but its content tells it: it is looked up among what was imported before."""


def session(row: Row) -> Item:
    """Map a session record."""
    payload = _payload(row, SESSION_RECORD)
    _must_be(payload, session_id=row.identity)
    line = {"type": "session", **_counted(payload), "session": payload}
    return Item("session", row, _dated(line, row.written_at), alone=True, once=True)


@dataclass(frozen=True, slots=True)
class RunMapping:
    """Maps the rows of one run."""

    session_id: str
    run_id: str
    row: Row
    record: dict[str, Any] | None
    """Its run record; None where that is no record."""
    opened_at: str | None
    seal: tuple[str, str | None] | None
    """The digest of its evidence and when that was committed, where it was."""

    @property
    def ids(self) -> dict[str, str]:
        """Give the ids that lines name."""
        return {"session_id": self.session_id, "run_id": self.run_id}

    @property
    def sha256(self) -> str | None:
        """Give what the journal calls the seal."""
        if self.seal is None:
            return None
        digest = self.seal[0]
        if _SHA256.fullmatch(digest):
            return digest
        # Of evidence that Starweaver took over from a version without seals.
        return hashlib.sha256(digest.encode(errors="replace")).hexdigest()

    def opening(self) -> Item:
        """Map the run's place in its session."""
        record = self.record or {}
        data: dict[str, Any] = dict(self.ids)
        if isinstance(record.get("conversation_id"), str):
            data["conversation_id"] = record["conversation_id"]
        number = record.get("sequence_no")
        if type(number) is int and number > 0:
            data["sequence_no"] = number
        line = {"type": "event", **self.ids, "name": RunOpened.NAME, "data": data}
        return Item(OPENING, self.row, _dated(line, self.opened_at))

    def stream_record(self, row: Row) -> Item:
        """Map a stream record."""
        payload = _payload(row, STREAM_RECORD)
        _must_be(payload, sequence=row.identity)
        line = {"type": "stream_record", **self.ids, "record": payload}
        sealed_at = None if self.seal is None else self.seal[1]
        return Item("stream_record", row, _dated(line, sealed_at))

    def checkpoint(self, row: Row) -> Item:
        """Map a checkpoint."""
        payload = _payload(row, CHECKPOINT)
        _must_be(payload, run_id=self.run_id, checkpoint_id=row.identity)
        line = {"type": "checkpoint", "session_id": self.session_id, "checkpoint": payload}
        return Item("checkpoint", row, _dated(line, row.written_at))

    def context_state(self, row: Row) -> Item:
        """Map the context state that the run was committed with."""
        payload = _payload(row, RESUMABLE_STATE)
        line = {"type": "context_state", **self.ids, "state": payload}
        return Item("context_state", row, _dated(line, row.written_at), once=True)

    def environment_state(self, row: Row) -> Item:
        """Map the environment state that the run was committed with."""
        line = {"type": "environment_state", **self.ids, "state": _value(row)}
        return Item("environment_state", row, _dated(line, row.written_at), once=True)

    def approval(self, row: Row) -> Item:
        """Map an approval, as it stands."""
        payload = _payload(row, APPROVAL_RECORD)
        _must_be(payload, **self.ids, approval_id=row.identity)
        line = {"type": "approval", "record": payload}
        return Item("approval", row, _dated(line, row.written_at))

    def deferred_tool(self, row: Row) -> Item:
        """Map a deferred tool call, as it stands."""
        payload = _payload(row, DEFERRED_TOOL_RECORD)
        _must_be(payload, **self.ids, deferred_id=row.identity)
        line = {"type": "deferred_tool", "record": payload}
        return Item("deferred_tool", row, _dated(line, row.written_at))

    def stream_cursors(self) -> Iterator[Item]:
        """Map the cursors of the run record."""
        cursors = (self.record or {}).get("stream_cursors")
        for cursor in cursors if type(cursors) is list else []:
            at = cursor.get("created_at") if type(cursor) is dict else None
            line = {"type": "stream_cursor", **self.ids, "cursor": cursor}
            yield Item("stream_cursor", self.row, _dated(line, rfc3339(at)), once=True)

    def claim(self, row: Row) -> list[Item]:
        """Map a claim to resume the run, and its start where it was started."""
        payload = _payload(row, CLAIM)
        _must_be(payload, **self.ids, claim_id=row.identity)
        made = [self._fact("resume_claim", row, ResumeClaimed.NAME, {"claim": payload})]
        if payload.get("state") == "started":
            data = {"claim_id": row.identity}
            made.append(self._fact("resume_start", row, ResumeStarted.NAME, data))
        return made

    def end(self, rest: dict[str, Any], *, sealed: bool) -> Item:
        """Map the run record, with the seal of the evidence where there is one.

        Args:
            rest: what the bundle held besides records of kinds of their own.
            sealed: whether the seal was imported before, and the run changed since.
        """
        record = run_record(self.row)
        if self.seal is None or sealed:
            line = {"type": "run", **_counted(record), "run": record}
            return Item("run", self.row, _dated(line, self.row.written_at), alone=True, once=True)
        data = {"run": record, "rest": rest, "sha256": self.sha256, **_counted(record)}
        line = self._fact("run", self.row, RunCommitted.NAME, data).line
        return Item("run", self.row, line, alone=True, once=True)

    def _fact(self, kind: str, row: Row, name: str, data: dict[str, Any]) -> Item:
        line = {"type": "event", **self.ids, "name": name, "data": data}
        return Item(kind, row, _dated(line, row.written_at), once=True)


def run_record(row: Row) -> dict[str, Any]:
    """Read a run record for what the mapping of its run needs.

    Raises:
        InvalidJSON, InvalidRecord, InvalidEnvelope: it is none.
    """
    record = _payload(row, RUN_RECORD)
    _must_be(record, session_id=row.owner[0], run_id=row.identity)
    return record


def replay_event(row: Row) -> dict[str, Any]:
    """Give a replay event as a bundle holds it."""
    return _payload(row, REPLAY_EVENT)


def display_message(row: Row) -> dict[str, Any]:
    """Give a display message as a bundle holds it: the table wraps it as a replay event."""
    event = _payload(row, REPLAY_EVENT).get("event")
    if type(event) is not dict or event.get("kind") != "display_message":
        raise InvalidRecord("display message", "$.event", "not of the kind display_message")
    return {key: value for key, value in event.items() if key != "kind"}


def display_snapshot(row: Row) -> dict[str, Any]:
    """Give a display snapshot as a bundle holds it."""
    return _payload(row, REPLAY_SNAPSHOT)


def sequence_of(row: Row) -> int:
    """Tell the sequence that a row's column says; -1 for one that is no number."""
    try:
        return int(row.identity)
    except ValueError:
        return -1


def stream_cursor_of(checkpoint: Item) -> int | None:
    """Tell the sequence after which a checkpoint was taken, where it tells."""
    at: Any = checkpoint.line["checkpoint"]
    for key in ("resume", "cursor", "stream_cursor"):
        at = at.get(key) if type(at) is dict else None
    return at if type(at) is int else None


def _value(row: Row) -> dict[str, Any]:
    if row.problem is not None:
        raise InvalidRecord("row", "$", row.problem)
    value, _ = accept(row.raw, unique_keys=True, wrapped=1)
    if type(value) is not dict:
        raise InvalidRecord("row", "$", f"expected an object, found {type(value).__name__}")
    return value


def _payload(row: Row, schema: str) -> dict[str, Any]:
    if schema in _OWN_SCHEMAS:
        return _own(_value(row), schema)
    payload, _ = unwrap(_value(row), schema)
    return payload if type(payload) is dict else {}


def _own(value: dict[str, Any], schema: str) -> dict[str, Any]:
    """Take a record out of an envelope that only this database has."""
    if "schema" not in value:
        return value
    payload, version = value.get("payload"), value.get("version")
    newest = _OWN_SCHEMAS[schema]
    known = type(version) is int and 1 <= version <= newest
    if value["schema"] != schema or not known or type(payload) is not dict:
        reason = f"expected {schema} version 1 to {newest} with an object as payload"
        raise InvalidRecord("row", "$", reason)
    return payload


def _must_be(record: dict[str, Any], **columns: str) -> None:
    """Check that a record says of itself what the columns of its row say."""
    for key, value in columns.items():
        found = record.get(key)
        if type(found) not in (str, int) or str(found) != value:
            reason = f"{brief(found)}, but the row's own column says {brief(value)}"
            raise InvalidRecord("row", f"$.{key}", reason)


def _counted(record: dict[str, Any]) -> dict[str, int]:
    """Give the revision that Starweaver's store had counted."""
    revision = record.get("revision")
    return {"revision": revision} if type(revision) is int else {}


def _dated(line: Line, time: str | None) -> Line:
    return line if time is None else {**line, "recorded_at": time}
