"""The read side of runjournal: runs replayed to any cursor, and what follows from that.

Names are loaded when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from journal.lazily import lazy

if TYPE_CHECKING:
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
    from projections.comparing import compared
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
    from projections.family import FamilyMember, families
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
    from projections.resumable import Decisions, InterruptedToolCall, ResumeState, resume_state
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
    from projections.session_snapshot import SessionResumeSnapshot, resume_snapshot
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

__getattr__, __dir__ = lazy(
    __name__,
    {
        "audit": """
            Approval Audit AuditFilter EventStats Excerpt Failure Gap Happened Hit LastCall Stats
            TermPlace ToolCall ToolStats Usage
        """,
        "children": "Child",
        "comparing": "compared",
        "cursors": """
            LATEST CheckpointCursor Cursor LatestCursor MessageCursor StepCursor StreamCursor
            TimeCursor VersionCursor parse_cursor
        """,
        "deciding": "Decided decide_approval resolve_deferred_tool",
        "diff": "RunDiff StateKeys ValueChange run_diff",
        "divergence": "Branch Divergence NextStep",
        "environment": "arestore_environment restore_environment",
        "family": "FamilyMember families",
        "json_patch": "PatchOperation",
        "listing": "RunSummary SessionSummary list_runs list_sessions",
        "live": "Live OpenToolCall",
        "message_changes": "MessageChange",
        "outlook": "ResumeOutlook allow_resume resume_outlook",
        "publications": "pending_publications",
        "record_pages": """
            list_run_records list_session_records recent_run_records run_page session_page
        """,
        "records": "run_record",
        "redaction": "Redaction",
        "replaying": "areplay replay",
        "session_snapshot": "SessionResumeSnapshot resume_snapshot",
        "resumable": "Decisions InterruptedToolCall ResumeState resume_state",
        "resuming": "Resumption aresume resume",
        "run_comparison": "diff_runs",
        "run_contents": "approvals checkpoints deferred_tools latest_checkpoint stream_records",
        "run_history": "HistoryEntry history",
        "run_log": "LogEntry Shrunk log",
        "session_records": "session_record",
        "standing": "derived_status",
        "streamed": "PartialToolCall",
        "summary": "summarize_record",
        "suspending": "SuspendRequested request_suspend",
        "tool_calls": "ToolCallChange ToolCallMade ToolCalls",
        "traces": "compact_run_trace compact_session_trace",
        "view": "CursorReached RunView",
        "waiting": "pending_approvals pending_deferred_tools",
        "waiting_item": "WaitingItem",
    },
)
