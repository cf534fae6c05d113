"""The checks at the write door, one for each durable record.

Each takes accepted JSON, a bare payload (see `unwrap`), returns nothing, and raises
`InvalidRecord` with the path of the first wrong field. Nothing is copied or built.
"""

from __future__ import annotations

from journal.records.approval import ApprovalRecord
from journal.records.checkpoint import AgentCheckpoint
from journal.records.context import ResumableState
from journal.records.deferred_tool import DeferredToolRecord
from journal.records.environment import EnvironmentState, EnvironmentStateRef
from journal.records.evidence_commit import RunEvidenceCommit
from journal.records.resume_claim import ResumeClaim
from journal.records.run import RunRecord
from journal.records.session import SessionRecord
from journal.records.stream import AgentStreamRecord
from journal.records.stream_cursor import StreamCursorRef

validate_approval = ApprovalRecord.check
validate_checkpoint = AgentCheckpoint.check
validate_context_state = ResumableState.check
validate_deferred_tool = DeferredToolRecord.check
validate_environment_ref = EnvironmentStateRef.check
validate_environment_state = EnvironmentState.check
validate_evidence_commit = RunEvidenceCommit.check
validate_resume_claim = ResumeClaim.check
validate_run = RunRecord.check
validate_session = SessionRecord.check
validate_stream_cursor = StreamCursorRef.check
validate_stream_record = AgentStreamRecord.check
