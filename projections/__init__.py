"""The read side of runjournal: runs replayed to any cursor, and what follows from that."""

from projections.audit import (
    Approval,
    Audit,
    AuditFilter,
    EventStats,
    Excerpt,
    Failure,
    Gap,
    Happened,
    Hit,
    LastCall,
    Stats,
    TermPlace,
    ToolCall,
    ToolStats,
    Usage,
)
from projections.children import Child
from projections.compared import compared
from projections.cursors import (
    LATEST,
    CheckpointCursor,
    Cursor,
    LatestCursor,
    MessageCursor,
    StepCursor,
    StreamCursor,
    TimeCursor,
    VersionCursor,
    parse_cursor,
)
from projections.deciding import Decided, decide_approval, resolve_deferred_tool
from projections.diff import RunDiff, StateKeys, ValueChange, run_diff
from projections.divergence import Branch, Divergence, NextStep
from projections.environment import arestore_environment, restore_environment
from projections.families import FamilyMember, families
from projections.json_patch import PatchOperation
from projections.listing import RunSummary, SessionSummary, list_runs, list_sessions
from projections.live import Live, OpenToolCall
from projections.message_changes import MessageChange
from projections.outlook import ResumeOutlook, allow_resume, resume_outlook
from projections.publications import pending_publications
from projections.record_pages import (
    list_run_records,
    list_session_records,
    recent_run_records,
    run_page,
    session_page,
)
from projections.records import run_record
from projections.redaction import Redaction
from projections.replaying import areplay, replay
from projections.resume_snapshot import SessionResumeSnapshot, resume_snapshot
from projections.resume_state import Decisions, InterruptedToolCall, ResumeState, resume_state
from projections.resuming import Resumption, aresume, resume
from projections.run_comparison import diff_runs
from projections.run_contents import (
    approvals,
    checkpoints,
    deferred_tools,
    latest_checkpoint,
    stream_records,
)
from projections.run_history import HistoryEntry, history
from projections.run_log import LogEntry, Shrunk, log
from projections.session_records import session_record
from projections.standing import derived_status
from projections.streamed import PartialToolCall
from projections.summary import summarize_record
from projections.suspending import SuspendRequested, request_suspend
from projections.tool_calls import ToolCallChange, ToolCallMade, ToolCalls
from projections.traces import compact_run_trace, compact_session_trace
from projections.view import CursorReached, RunView
from projections.waiting import pending_approvals, pending_deferred_tools
from projections.waiting_item import WaitingItem

__all__ = [
    "LATEST",
    "Approval",
    "Audit",
    "AuditFilter",
    "Branch",
    "CheckpointCursor",
    "Child",
    "Cursor",
    "CursorReached",
    "Decided",
    "Decisions",
    "Divergence",
    "EventStats",
    "Excerpt",
    "Failure",
    "FamilyMember",
    "Gap",
    "Happened",
    "HistoryEntry",
    "Hit",
    "InterruptedToolCall",
    "LastCall",
    "LatestCursor",
    "Live",
    "LogEntry",
    "MessageChange",
    "MessageCursor",
    "NextStep",
    "OpenToolCall",
    "PartialToolCall",
    "PatchOperation",
    "Redaction",
    "ResumeOutlook",
    "ResumeState",
    "Resumption",
    "RunDiff",
    "RunSummary",
    "RunView",
    "SessionResumeSnapshot",
    "SessionSummary",
    "Shrunk",
    "StateKeys",
    "Stats",
    "StepCursor",
    "StreamCursor",
    "SuspendRequested",
    "TermPlace",
    "TimeCursor",
    "ToolCall",
    "ToolCallChange",
    "ToolCallMade",
    "ToolCalls",
    "ToolStats",
    "Usage",
    "ValueChange",
    "VersionCursor",
    "WaitingItem",
    "allow_resume",
    "approvals",
    "areplay",
    "arestore_environment",
    "aresume",
    "checkpoints",
    "compact_run_trace",
    "compact_session_trace",
    "compared",
    "decide_approval",
    "deferred_tools",
    "derived_status",
    "diff_runs",
    "families",
    "history",
    "latest_checkpoint",
    "list_run_records",
    "list_runs",
    "list_session_records",
    "list_sessions",
    "log",
    "parse_cursor",
    "pending_approvals",
    "pending_deferred_tools",
    "pending_publications",
    "recent_run_records",
    "replay",
    "request_suspend",
    "resolve_deferred_tool",
    "restore_environment",
    "resume",
    "resume_outlook",
    "resume_snapshot",
    "resume_state",
    "run_diff",
    "run_page",
    "run_record",
    "session_page",
    "session_record",
    "stream_records",
    "summarize_record",
]
