"""The public names are exactly these; a change here is a change for every user."""

import importlib

import pytest

import journal

NAMES = {
    "journal": [
        "AgentExecutor",
        "AgentExecutorError",
        "AsyncJournal",
        "AsyncRun",
        "AsyncSubscription",
        "Continue",
        "Journal",
        "JournalError",
        "JournalExecutor",
        "Receipt",
        "Run",
        "Subscription",
        "Suspend",
    ],
    "projections": [
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
    ],
    "journal.difference": [
        "Delta",
        "DifferenceError",
        "Sources",
        "apply",
        "diff",
    ],
    "journal.stores": [
        "Identity",
        "NewEvent",
        "Store",
        "StoredEvent",
        "open_store",
        "open_views",
    ],
}


@pytest.mark.parametrize("package", NAMES)
def test_public_names_are_pinned_and_loadable(package):
    module = importlib.import_module(package)
    assert module.__all__ == NAMES[package]
    for name in module.__all__:
        assert hasattr(module, name)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nothing"):
        _ = journal.nothing
