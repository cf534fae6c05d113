"""The read side of runjournal: runs replayed to any cursor, and what follows from that."""

from projections.children import Child
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
from projections.diff import MessageChange, RunDiff, StateKeys, ValueChange, run_diff
from projections.listing import RunSummary, SessionSummary, list_runs, list_sessions
from projections.live import Live, OpenToolCall
from projections.redaction import Redaction
from projections.replaying import areplay, replay
from projections.run_log import LogEntry, log
from projections.streamed import PartialToolCall
from projections.summary import summarize_record
from projections.view import CursorReached, RunView

__all__ = [
    "LATEST",
    "CheckpointCursor",
    "Child",
    "Cursor",
    "CursorReached",
    "LatestCursor",
    "Live",
    "LogEntry",
    "MessageChange",
    "MessageCursor",
    "OpenToolCall",
    "PartialToolCall",
    "Redaction",
    "RunDiff",
    "RunSummary",
    "RunView",
    "SessionSummary",
    "StateKeys",
    "StepCursor",
    "StreamCursor",
    "TimeCursor",
    "ValueChange",
    "VersionCursor",
    "areplay",
    "list_runs",
    "list_sessions",
    "log",
    "parse_cursor",
    "replay",
    "run_diff",
    "summarize_record",
]
