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
        "Continue",
        "Journal",
        "JournalError",
        "JournalExecutor",
        "Receipt",
        "Run",
        "Suspend",
    ],
    "projections": [
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
