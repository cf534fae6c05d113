"""Interchange lines (the other direction is `journal.export`): what each type must hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from journal import offers
from journal.commit import MAX_BUNDLE_BYTES
from journal.copies import copy_of_line, is_copy
from journal.errors import InvalidRecord, RecordConflict, brief
from journal.event_lines import event_line
from journal.events import (
    OPENINGS,
    RUN_NOTES,
    CheckpointTaken,
    RunForked,
    RunOpened,
)
from journal.facts import noted, notes_of_opening
from journal.ids import RUN_PREFIX, SESSION_PREFIX, Version
from journal.journal import Journal
from journal.json_door import accept
from journal.lineage import Lineage
from journal.offers import Offer
from journal.redact import MAX_PATH, MAX_PATHS, Redactor
from journal.session_lines import SessionLines
from journal.times import parse_time
from journal.written_here import must_not_reopen

Line = dict[str, Any]

WRAPPED = offers.WRAPPED + 1
"""Levels of JSON around a record in the deepest line, a run_evidence."""

_KEEPING = ("type", "recorded_at", "version", "redacted")


MOST_PATHS = 2 * MAX_PATHS
"""Paths that a line may tell as redacted: a run's commit has two redacted parts."""


COUNTED = 2
"""The least revision of a session that tells of changes; 1 may stand for not counted."""


@dataclass(frozen=True, slots=True)
class _Shape:
    body: str
    """The member that holds the record."""
    ids: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    """Optional members that are no ids."""


SHAPES = {
    "session": _Shape("session", others=("revision",)),
    "run": _Shape("run", others=("revision",)),
    "stream_record": _Shape("record", ("session_id", "run_id")),
    "checkpoint": _Shape("checkpoint", ("session_id",)),
    "context_state": _Shape("state", ("session_id",), ("run_id",)),
    "environment_state": _Shape("state", ("session_id",), ("run_id",), ("stream_cursor",)),
    "approval": _Shape("record"),
    "deferred_tool": _Shape("record"),
    "stream_cursor": _Shape("cursor", ("session_id", "run_id")),
    "run_evidence": _Shape("commit"),
    "event": _Shape("data", ("name",), ("run_id", "session_id")),
}
"""The line types and their members."""


def parse_line(raw: bytes) -> Line:
    """Read a line and check its frame.

    Raises:
        InvalidJSON: not JSON, a key twice, or a value the journal does not allow.
        InvalidRecord: not an object, an unknown type, or a member missing or unknown.
    """
    line, _ = accept(raw.strip(), unique_keys=True, max_bytes=MAX_BUNDLE_BYTES, wrapped=WRAPPED)
    if type(line) is not dict:
        raise InvalidRecord("line", "$", f"expected an object, found {type(line).__name__}")
    kind = line.get("type")
    if not isinstance(kind, str) or kind not in SHAPES:
        known = ", ".join(SHAPES)
        raise InvalidRecord("line", "$.type", f"{brief(kind)} is none of {known}")
    shape = SHAPES[kind]
    for key in (*shape.ids, shape.body):
        if key not in line:
            raise InvalidRecord(f"{line['type']} line", f"$.{key}", "missing")
    for key in line:
        if key not in (*_KEEPING, *shape.ids, *shape.optional, *shape.others, shape.body):
            raise InvalidRecord(f"{line['type']} line", f"$.{key}", "not a member of this line")
    if kind == "event" and ("run_id" in line) == ("session_id" in line):
        raise InvalidRecord("event line", "$", "needs run_id or session_id, one of the two")
    _check_redacted(line)
    for key in (*shape.ids, *shape.optional):
        if key in shape.ids or line.get(key) is not None:
            offers.check_id(line[key], key)
    return line


def _check_redacted(line: Line) -> None:
    """Check what another journal tells of what it redacted."""
    paths = line.get("redacted")
    if paths is None:
        return
    what = f"{line['type']} line"
    if line["type"] == "run_evidence":
        raise InvalidRecord(what, "$.redacted", "not a member of this line")
    if type(paths) is not list or len(paths) > MOST_PATHS:
        raise InvalidRecord(what, "$.redacted", f"not a list of at most {MOST_PATHS} paths")
    for at, path in enumerate(paths):
        if type(path) is not str or not path.startswith("$") or len(path) > MAX_PATH:
            raise InvalidRecord(what, f"$.redacted[{at}]", "not a path such as $.event.call")


def offers_of(
    journal: Journal,
    line: Line,
    *,
    ahead: int = 0,
    sessions: SessionLines | None = None,
    may_be_there: bool = False,
) -> list[Offer]:
    """Turn a line into what is to be written, with the events that open its run.

    Args:
        journal: where it will be written.
        line: a parsed line of any type but run_evidence.
        ahead: offers for the same run that will be written before these.
        sessions: what this reading of lines found of them in sessions' own streams.
        may_be_there: whether the caller finds out if the line was written before, and calls
            `must_not_reopen` where it was not.

    Returns:
        The offers, marked as imported; empty when the line's event is there already.

    Raises:
        InvalidRecord: the record is wrong, or its version leaves a gap.
        RecordConflict: the journal holds something else at its version.
        StateConflict: it would reopen a run that ended in this journal.
    """
    if is_copy(line):
        return copy_of_line(journal.reader, line, recorded_at(line))
    redactor = journal.redactor
    if line.get("redacted"):
        redactor = (redactor or Redactor(None)).knowing(line["redacted"])
    made = _made(journal, line, redactor) if not ahead else [_last(line, redactor)]
    at = recorded_at(line)
    made = [offers.imported(offer, at) for offer in made]
    versioned = line.get("version") is not None
    if versioned and _is_there(journal, line, made, ahead, sessions or SessionLines(journal)):
        return []
    if not may_be_there:
        for offer in made:
            must_not_reopen(journal.reader, offer)
    if not versioned:
        return made
    # It has a place of its own, also where the last one before it is equal.
    return [offer._replace(last_of=()) for offer in made]


def _made(journal: Journal, line: Line, redactor: Redactor | None) -> list[Offer]:
    offer = _last(line, redactor)
    if offer.stream.startswith(SESSION_PREFIX):
        return [offer]
    if offer.name in OPENINGS:
        return _opened(journal, offer)
    session_id = line.get("session_id") or offer.value.get("session_id")
    run_id = offer.stream.removeprefix(RUN_PREFIX)
    begins = offer.fields["status"] if offer.name == CheckpointTaken.NAME else "running"
    opening = journal.opening(run_id, session_id, begins)
    if offer.name not in offers.STATUS_FACTS:
        return [*opening, offer]
    if session_id is None:
        session_id = journal.session_of(run_id)
    return [*opening, *noted(offer, session_id)]


def _opened(journal: Journal, offer: Offer) -> list[Offer]:
    value = offer.value
    if not journal.opening(value["run_id"], value["session_id"]):
        return [offer]
    if offer.name == RunForked.NAME:
        _must_hold_source(journal, Lineage.of(offer.stream, value))
    return [offer, *notes_of_opening(offer)]


def _must_hold_source(journal: Journal, lineage: Lineage) -> None:
    head = journal.reader.head(lineage.source)
    if head < lineage.version:
        has = f"has {head} of them" if head else "is not there"
        reason = (
            f"it inherits {lineage.version} events of run {lineage.source!r}, which {has}: lines "
            "of that run must come first; `runjournal export` prints them before a fork's"
        )
        raise InvalidRecord("event line", "$.data.source", reason)


def _last(line: Line, redactor: Redactor | None) -> Offer:
    return _BUILDERS[line["type"]](line, redactor)


def _session(line: Line, redactor: Redactor | None) -> Offer:
    offer = offers.session(line["session"], redactor, revision=line.get("revision"))
    counted = offer.value.get("revision", 0)
    if "version" in line or "revision" in line or counted < COUNTED:
        return offer
    # It comes from another store, which counted what changed the session.
    return offer._replace(fields={**offer.fields, "revision": counted})


def _owner(line: Line) -> tuple[str, str | None]:
    return line["session_id"], line.get("run_id")


_BUILDERS: dict[str, Callable[[Line, Redactor | None], Offer]] = {
    "session": _session,
    "run": lambda line, hook: offers.run(line["run"], hook, revision=line.get("revision")),
    "stream_record": lambda line, hook: offers.record(line["run_id"], line["record"], hook),
    "checkpoint": lambda line, hook: offers.checkpoint(line["checkpoint"], redactor=hook),
    "context_state": lambda line, hook: offers.context(*_owner(line), line["state"], redactor=hook),
    "environment_state": lambda line, hook: offers.environment(
        *_owner(line), line["state"], stream_cursor=line.get("stream_cursor"), redactor=hook
    ),
    "approval": lambda line, hook: offers.approval(line["record"], hook),
    "deferred_tool": lambda line, hook: offers.deferred_tool(line["record"], hook),
    "stream_cursor": lambda line, hook: offers.stream_cursor(line["run_id"], line["cursor"], hook),
    "event": event_line,
}


def recorded_at(line: Line) -> int | None:
    """Tell when another journal recorded a line, in microseconds since the epoch.

    Raises:
        InvalidRecord: it is no time.
    """
    text = line.get("recorded_at")
    if text is None:
        return None
    try:
        return parse_time(text)
    except (TypeError, ValueError) as error:
        raise InvalidRecord(f"{line['type']} line", "$.recorded_at", str(error)) from error


def _is_there(
    journal: Journal, line: Line, made: Sequence[Offer], ahead: int, sessions: SessionLines
) -> bool:
    """Tell whether the event at the line's version is the line's."""
    version = line["version"]
    what = f"{line['type']} line"
    if type(version) is not int or version < 1:
        raise InvalidRecord(what, "$.version", f"{version!r} is not a version, 1 or more")
    offer = next(one for one in reversed(made) if one.name not in RUN_NOTES)
    if offer.stream.startswith(SESSION_PREFIX):
        return sessions.has(offer, recorded_at(line))
    held = journal.reader.event(offer.stream, Version(version))
    if held is None:
        _must_be_next(journal, offer, version, ahead + _before(made, offer))
        if made[0].name == RunOpened.NAME and version > 1:
            _opening_is_missing(made[0].value["run_id"], version)
        return False
    if journal.is_same(offer, held):
        return True
    raise RecordConflict(str(held.run_id), offer.what, version, "$", held.name, offer.name)


def _before(made: Sequence[Offer], offer: Offer) -> int:
    return sum(1 for one in made if one.stream == offer.stream) - 1


def _opening_is_missing(run_id: str, version: int) -> None:
    """Refuse a numbered line that would open its run: the one that did may have been a fork's."""
    reason = (
        f"{version}, but there is no run {run_id!r} yet: the line that opens it, version 1, is "
        "missing; add it, or remove version from every line to number them anew"
    )
    raise InvalidRecord("line", "$.version", reason)


def _must_be_next(journal: Journal, offer: Offer, version: int, ahead: int) -> None:
    run_id = offer.stream.removeprefix(RUN_PREFIX)
    following = journal.reader.head(run_id) + ahead + 1
    if version > following:
        reason = (
            f"{version}, but run {run_id!r} goes on with {following}: lines before this one are "
            "missing; add them, or remove version from every line to number them anew"
        )
        raise InvalidRecord("line", "$.version", reason)
    if version < following:
        raise InvalidRecord("line", "$.version", f"{version} belongs to a line before this one")
