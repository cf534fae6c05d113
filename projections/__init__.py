"""The read side of runjournal: runs replayed to any cursor, and what follows from that."""

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
from projections.diff import RunDiff, StateKeys, ValueChange, run_diff
from projections.divergence import Branch, Divergence, NextStep
from projections.families import FamilyMember, families
from projections.json_patch import PatchOperation
from projections.listing import RunSummary, SessionSummary, list_runs, list_sessions
from projections.live import Live, OpenToolCall
from projections.message_changes import MessageChange
from projections.redaction import Redaction
from projections.replaying import areplay, replay
from projections.run_comparison import diff_runs
from projections.run_history import HistoryEntry, history
from projections.run_log import LogEntry, Shrunk, log
from projections.streamed import PartialToolCall
from projections.summary import summarize_record
from projections.tool_calls import ToolCallChange, ToolCallMade, ToolCalls
from projections.view import CursorReached, RunView

__all__ = [
    "LATEST",
    "Branch",
    "CheckpointCursor",
    "Child",
    "Cursor",
    "CursorReached",
    "Divergence",
    "FamilyMember",
    "HistoryEntry",
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
    "RunDiff",
    "RunSummary",
    "RunView",
    "SessionSummary",
    "Shrunk",
    "StateKeys",
    "StepCursor",
    "StreamCursor",
    "TimeCursor",
    "ToolCallChange",
    "ToolCallMade",
    "ToolCalls",
    "ValueChange",
    "VersionCursor",
    "areplay",
    "compared",
    "diff_runs",
    "families",
    "history",
    "list_runs",
    "list_sessions",
    "log",
    "parse_cursor",
    "replay",
    "run_diff",
    "summarize_record",
]
