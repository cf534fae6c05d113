"""Event lines: events that no host handed in, as they travel between journals."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from journal import offers
from journal.commit import redact_rest
from journal.errors import InvalidRecord, brief
from journal.events import (
    OPENINGS,
    RUN_NOTES,
    EnvironmentReferenced,
    EventData,
    PublicationAcknowledged,
    ResumeAllowed,
    ResumeClaimed,
    RunCommitted,
    RunForked,
    RunLeaseTaken,
    RunStatusChanged,
    RunSuspended,
    RunSuspendRequested,
    SessionStatusChanged,
)
from journal.facts import FACTS, fact
from journal.ids import run_stream, session_stream
from journal.lineage import MAX_RANK
from journal.offers import Offer
from journal.records import validate_environment_ref, validate_resume_claim, validate_run
from journal.redact import Redactor
from journal.times import EARLIEST, LATEST

_SHA256 = re.compile("[0-9a-f]{64}")

TRAVELLING = frozenset(FACTS) - set(RUN_NOTES)
"""Events that travel as `event` lines; those of a run imply the session's notes of them."""

_SESSIONS = (EnvironmentReferenced.NAME, SessionStatusChanged.NAME)
"""Those of them that stand in a session's own stream."""


_HOSTS_PARTS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    ResumeClaimed.NAME: (("resume_claim", ("claim",)),),
    RunCommitted.NAME: (("run", ("run",)), ("run_evidence", ("rest",))),
    EnvironmentReferenced.NAME: (("environment_state", ("environment_state",)),),
    ResumeAllowed.NAME: (("event", ()),),
    RunStatusChanged.NAME: (("event", ()),),
    RunSuspendRequested.NAME: (("event", ()),),
    RunSuspended.NAME: (("event", ()),),
}
"""By name, what in an event line the hook is shown: the kind, and the keys that lead there."""


def event_line(line: dict[str, Any], redactor: Redactor | None) -> Offer:
    """Make an event line's offer; the hook sees the parts that are a host's."""
    offer = _fact(line)
    if redactor is None:
        return offer
    value, told = offer.value, list(redactor.known)
    for kind, below in _HOSTS_PARTS.get(offer.name, ()):
        if kind == "run_evidence":
            rest, paths = redact_rest(value["rest"], redactor)
            value = {**value, "rest": rest}
        else:
            value, paths = redactor.redact(value, kind, below)
        # Two parts of one event are told apart as in the bundle they came in.
        inside = ".run" if below == ("run",) else ""
        told += [f"${inside}{path[1:]}" for path in paths if path not in redactor.known]
    with redactor.blamed("event"):
        return offers.marked(_fact({**line, "data": value}), sorted(set(told)))


def _fact(line: dict[str, Any]) -> Offer:
    name, data = line["name"], line["data"]
    if name not in TRAVELLING:
        raise InvalidRecord("event line", "$.name", f"{name!r} does not travel as an event")
    if type(data) is not dict:
        raise InvalidRecord("event line", "$.data", f"expected an object, found {brief(data)}")
    owner = "session_id" if name in _SESSIONS else "run_id"
    if owner not in line:
        raise InvalidRecord("event line", f"$.{owner}", f"missing: {name} needs it")
    stream = session_stream(line[owner]) if name in _SESSIONS else run_stream(line[owner])
    try:
        offer = fact(stream, name, data)
    except InvalidRecord as error:
        raise replace(error, path="$.data" + error.path[1:]) from error
    for key in ("imported", "redacted"):
        if key in offer.value:
            raise InvalidRecord("event line", f"$.data.{key}", "not a member of a travelling event")
    named = _check_fact(name, offer.value)
    if named not in (None, line.get("run_id")):
        raise InvalidRecord("event line", "$.data", f"it is of run {named!r}, not the line's")
    return offer


_CHECKS: dict[str, Callable[[EventData], object]] = {
    RunStatusChanged.NAME: lambda data: offers.check_status(data["status"]),
    SessionStatusChanged.NAME: lambda data: offers.check_session_status(data["status"]),
    EnvironmentReferenced.NAME: lambda data: validate_environment_ref(data["environment_state"]),
    PublicationAcknowledged.NAME: lambda data: offers.check_target(data["target"]),
}
"""What the models of events leave open, where it takes one check."""


def _check_fact(name: str, data: EventData) -> str | None:
    """Check what the event's model leaves open; gives the run that its record names."""
    if name in OPENINGS:
        _check_opening(name, data)
        return str(data["run_id"])
    if name == RunCommitted.NAME:
        validate_run(data["run"])
        if not _SHA256.fullmatch(data["sha256"]):
            raise InvalidRecord("event line", "$.data.sha256", "not 64 hexadecimal digits")
        return str(data["run"]["run_id"])
    if name == ResumeClaimed.NAME:
        validate_resume_claim(data["claim"])
        return str(data["claim"]["run_id"])
    check = _CHECKS.get(name)
    if check is not None:
        check(data)
    if name == RunLeaseTaken.NAME and not 0 < data["generation"] < 2**63:
        raise InvalidRecord("event line", "$.data.generation", "not a generation, 1 or more")
    return None


def _check_opening(name: str, data: EventData) -> None:
    for key in ("run_id", "session_id", "conversation_id", "source", "forked"):
        if key in data:
            offers.check_id(data[key], f"{key} of {name.removesuffix('.v1')}")
    if name == RunForked.NAME:
        _check_lineage(data)
    elif "status" in data:
        offers.check_status(data["status"])


def _check_lineage(data: EventData) -> None:
    """Check what the event's model leaves open of where a fork comes from."""
    for key in ("source", "forked"):
        if data.get(key) == data["run_id"]:
            raise InvalidRecord("event line", f"$.data.{key}", "a run is no fork of itself")
    if not data["source_version"] < 2**63:
        raise InvalidRecord("event line", "$.data.source_version", "not a version")
    anchor, rank, version = data.get("before") or (0, 0, 0)
    if not (-1 <= anchor < 2**64 and 0 <= rank <= MAX_RANK and 0 <= version < 2**63):
        reason = "not a place in the logical order: anchor, rank and version"
        raise InvalidRecord("event line", "$.data.before", reason)
    if not EARLIEST <= data.get("until", 0) <= LATEST:
        raise InvalidRecord("event line", "$.data.until", "not in the years 1 to 9999")
    offers.check_id(data["cursor"], "cursor of run.forked")
