"""Events that no host record stands for, ready to be written.

A fact is made here only, so that each kind has its identity from one place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from journal.codec import RecordedEvent, validate
from journal.events import (
    EnvironmentReferenced,
    EventData,
    PublicationAcknowledged,
    ResumeAllowed,
    ResumeClaimed,
    ResumeReleased,
    ResumeStarted,
    RunCommitted,
    RunForked,
    RunLeaseTaken,
    RunOpened,
    RunResumed,
    RunSaved,
    RunSealed,
    RunStatusChanged,
    RunSuspended,
    RunSuspendRequested,
    SessionRunAdded,
    SessionRunChanged,
    SessionStatusChanged,
)
from journal.ids import RUN_PREFIX, StreamId, run_stream, session_stream
from journal.json_door import accept
from journal.lineage import Lineage
from journal.offers import WRAPPED, Offer, Source, read, redacted
from journal.records import validate_resume_claim
from journal.redact import Redactor

FACTS: dict[str, Callable[[EventData], str | None]] = {
    RunOpened.NAME: lambda _: "opened",
    RunForked.NAME: lambda _: "opened",
    RunStatusChanged.NAME: lambda _: None,
    RunSuspended.NAME: lambda _: None,
    RunResumed.NAME: lambda _: None,
    RunLeaseTaken.NAME: lambda _: None,
    RunSuspendRequested.NAME: lambda _: None,
    RunSealed.NAME: lambda _: None,
    PublicationAcknowledged.NAME: lambda fact: f"publication.acknowledged:{fact['target']}",
    ResumeAllowed.NAME: lambda _: None,
    RunCommitted.NAME: lambda _: "committed",
    ResumeClaimed.NAME: lambda _: None,
    ResumeStarted.NAME: lambda _: None,
    ResumeReleased.NAME: lambda _: None,
    SessionRunAdded.NAME: lambda _: None,
    SessionRunChanged.NAME: lambda _: None,
    SessionStatusChanged.NAME: lambda _: None,
    EnvironmentReferenced.NAME: lambda _: None,
}
"""Events that no host record stands for, and the identity of each.

A session's note of a run is there exactly when the run's event is, with which it is written.
A claim that was given back can be made again, and is another event then.
"""

CHECKPOINT_DIAGNOSTICS: Mapping[str, Mapping[str, str]] = {
    "failed": {"code": "checkpoint_run_failed", "message": "run failed while checkpointing"},
    "cancelled": {
        "code": "checkpoint_run_cancelled",
        "message": "run was cancelled while checkpointing",
    },
}
"""By status, what is said of a run that begins with a checkpoint of this status."""

STATUS_DIAGNOSTICS: Mapping[str, Mapping[str, str]] = {
    "failed": {"code": "legacy_status_update_failed", "message": "run failed"},
    "cancelled": {"code": "legacy_status_update_cancelled", "message": "run cancelled"},
}
"""By status, what is said of a run that was given it without evidence.

Source: the session stores of the Starweaver runtime, 0.15.
"""


def opening(  # noqa: PLR0913 - all that a run may begin with
    run_id: str,
    session_id: str,
    conversation_id: str | None,
    lineage: Lineage | None = None,
    *,
    sequence_no: int | None = None,
    status: str | None = None,
) -> list[Offer]:
    """Offer the events that open a run: in its own stream and in its session's.

    Args:
        lineage: of a fork.
        sequence_no: its number in the session, where it has one already.
        status: of a run that begins otherwise than `running`.
    """
    name = RunOpened.NAME if lineage is None else RunForked.NAME
    fields: dict[str, Any] = {
        "run_id": run_id,
        "session_id": session_id,
        "conversation_id": conversation_id,
    }
    if lineage is not None:
        fields |= lineage.fields()
    else:
        fields |= {"sequence_no": sequence_no, "status": status}
        fields["terminal_error"] = CHECKPOINT_DIAGNOSTICS.get(status or "")
    opened = fact(run_stream(run_id), name, fields)
    return [opened, *notes_of_opening(opened)]


def notes_of_opening(opened: Offer) -> list[Offer]:
    """Offer the session's notes of a run that is opened: that it is there, and its status."""
    value = opened.value
    stream, run_id = session_stream(value["session_id"]), value["run_id"]
    note = {"run_id": run_id, "sequence_no": value.get("sequence_no")}
    notes = [fact(stream, SessionRunAdded.NAME, note)]
    if "status" in value:
        changed = {"run_id": run_id, "status": value["status"]}
        notes.append(fact(stream, SessionRunChanged.NAME, changed))
    return notes


def noted(change: Offer, session_id: str) -> list[Offer]:
    """Add the session's note to an event that says what status a run is in.

    Args:
        change: of one of `offers.STATUS_FACTS`.
    """
    value = change.value
    run = value if change.name == RunSaved.NAME else value.get("run", {})
    targets = value.get("rest", {}).get("publication_targets") or {}
    fields = {
        "run_id": change.stream.removeprefix(RUN_PREFIX),
        "status": status_of(change.name, value),
        "sequence_no": run.get("sequence_no") or None,
        "committed": True if change.name == RunCommitted.NAME else None,
        "saves": value.get("saves"),
        "publishes": sorted(target for target, wanted in targets.items() if wanted) or None,
    }
    return [change, fact(session_stream(session_id), SessionRunChanged.NAME, fields)]


def status_of(name: str, value: Mapping[str, Any]) -> str:
    """Tell the run status that an event of `offers.STATUS_FACTS` sets.

    Args:
        value: what was handed in for it: the run record of a saved run, else the event's data.
    """
    match name:
        case RunSuspended.NAME:
            return "waiting"
        case RunResumed.NAME:
            return "running"
        case RunCommitted.NAME:
            return str(value["run"]["status"])
        case _:
            return str(value["status"])


def told_status(event: RecordedEvent) -> str:
    """Tell the run status that a recorded event of `offers.STATUS_FACTS` set."""
    saved = event.name == RunSaved.NAME
    return status_of(event.name, event.data["run"] if saved else event.data)


def fact(stream: StreamId, name: str, fields: Mapping[str, Any]) -> Offer:
    """Offer one of `FACTS`; fields that are None are left out.

    Raises:
        InvalidJSON, InvalidRecord: a field is wrong.
    """
    value, raw = accept(
        {key: item for key, item in fields.items() if item is not None}, wrapped=WRAPPED
    )
    validate(name, value)
    return Offer(stream, name, value, raw, FACTS[name](value))


def claim(source: Source, redactor: Redactor | None = None) -> Offer:
    """Offer a claim to resume a run; each state of a claim is an event of its own."""
    value, _ = read(source, "resume claim")
    validate_resume_claim(value)
    made = fact(run_stream(value["run_id"]), ResumeClaimed.NAME, {"claim": value})
    return redacted(
        redactor, "resume_claim", made, lambda left: claim(left["claim"]), below=("claim",)
    )
