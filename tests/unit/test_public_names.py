"""The public names are exactly these; a change here is a change for every user."""

import importlib
import pkgutil
import subprocess
import sys

import pytest

import journal

NAMES = {
    "journal": [
        "AgentExecutor",
        "AgentExecutorError",
        "AsyncJournal",
        "AsyncRun",
        "AsyncSubscription",
        "AtNodes",
        "Continue",
        "CostBudget",
        "Deadline",
        "FirstOf",
        "HumanDecision",
        "Journal",
        "JournalError",
        "JournalExecutor",
        "Receipt",
        "Run",
        "Subscription",
        "Suspend",
        "SuspendRequest",
        "TokenBudget",
        "first_of",
        "suspend_requested",
    ],
    "projections": [
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
    ],
    "projections.audit": [
        "REVISION",
        "Approval",
        "Audit",
        "AuditFilter",
        "EventStats",
        "Excerpt",
        "Failure",
        "Gap",
        "Happened",
        "Hit",
        "LastCall",
        "RowMaker",
        "Stats",
        "TermPlace",
        "ToolCall",
        "ToolStats",
        "Usage",
        "catch_up",
        "parse_when",
    ],
    "journal.difference": [
        "Delta",
        "DifferenceError",
        "Sources",
        "apply",
        "diff",
    ],
    "journal.stores": [
        "AuditStore",
        "Identity",
        "NewEvent",
        "Store",
        "StoredEvent",
        "open_audit",
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


LAZY = ("journal", "journal.offers", "journal.records", "projections", "projections.audit")
"""Packages whose names are loaded when first used."""


@pytest.mark.parametrize("package", LAZY)
def test_every_name_is_loadable_in_any_order(package):
    """No name is that of a submodule, which would take its place once it is loaded."""
    module = importlib.import_module(package)
    submodules = {each.name for each in pkgutil.iter_modules(module.__path__)}
    assert submodules.isdisjoint(module.__all__)
    for name in module.__all__:
        assert getattr(module, name) is not None
        assert name in dir(module)


def test_who_only_reads_loads_no_models_of_whole_runs():
    """A command that only asks answers sooner for it."""
    code = "import projections, projections.audit, journal.records, sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout
    assert {"pydantic", "projections.view"}.isdisjoint(loaded.decode().split())


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nothing"):
        _ = journal.nothing
