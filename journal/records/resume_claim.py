"""The claim of one host to resume a run that waits."""

from __future__ import annotations

from typing import ClassVar

from journal.records.base import Record
from journal.records.fields import Id
from journal.records.vocabulary import ClaimState


class ResumeClaim(Record):
    """Who resumes a run, and how far they have come."""

    NOUN: ClassVar[str] = "resume claim"

    claim_id: Id
    session_id: Id
    run_id: Id
    state: ClaimState
    created_at: str
