"""Events that no host record stands for, ready to be written.

A fact is made here only, so that each kind has its identity from one place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from journal.codec import validate
from journal.events import (
    EventData,
    ResumeClaimed,
    ResumeReleased,
    ResumeStarted,
    RunCommitted,
    RunForked,
    RunLeaseTaken,
    RunOpened,
    RunResumed,
    RunSealed,
    RunStatusChanged,
    RunSuspended,
    SessionRunAdded,
)
from journal.ids import StreamId, run_stream, session_stream
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
    RunSealed.NAME: lambda _: None,
    RunCommitted.NAME: lambda _: "committed",
    ResumeClaimed.NAME: lambda fact: (
        f"resume.claimed:{fact['claim'].get('claim_id')}:{fact['claim'].get('state')}"
    ),
    ResumeStarted.NAME: lambda fact: f"resume.started:{fact['claim_id']}",
    ResumeReleased.NAME: lambda fact: f"resume.released:{fact['claim_id']}",
    SessionRunAdded.NAME: lambda _: None,
}
"""Events that no host record stands for, and the identity of each.

A session's note of a run is there exactly when the run's opening is, with which it is written.
"""


def opening(
    run_id: str, session_id: str, conversation_id: str | None, lineage: Lineage | None = None
) -> list[Offer]:
    """Offer the two events that open a run: in its own stream and in its session's.

    Args:
        lineage: of a fork.
    """
    name = RunOpened.NAME if lineage is None else RunForked.NAME
    fields = {"run_id": run_id, "session_id": session_id, "conversation_id": conversation_id}
    if lineage is not None:
        fields |= lineage.fields()
    return [
        fact(run_stream(run_id), name, fields),
        fact(session_stream(session_id), SessionRunAdded.NAME, {"run_id": run_id}),
    ]


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
