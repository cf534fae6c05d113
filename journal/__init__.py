"""The write side of runjournal: an event-sourced journal for AI agent runs.

Names are loaded when first used, so that `runjournal --help` answers at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from journal.aio import AsyncJournal, AsyncRun
    from journal.async_subscription import AsyncSubscription
    from journal.boundary import SuspendRequest, suspend_requested
    from journal.errors import AgentExecutorError, JournalError
    from journal.executor import AgentExecutor, Continue, JournalExecutor, Suspend
    from journal.journal import Journal
    from journal.policies import (
        AtNodes,
        CostBudget,
        Deadline,
        FirstOf,
        HumanDecision,
        TokenBudget,
        first_of,
    )
    from journal.receipt import Receipt
    from journal.run import Run
    from journal.subscription import Subscription

_HOMES = {
    "AgentExecutor": "executor",
    "AgentExecutorError": "errors",
    "AsyncJournal": "aio",
    "AsyncRun": "aio",
    "AsyncSubscription": "async_subscription",
    "AtNodes": "policies",
    "Continue": "executor",
    "CostBudget": "policies",
    "Deadline": "policies",
    "FirstOf": "policies",
    "HumanDecision": "policies",
    "Journal": "journal",
    "JournalError": "errors",
    "JournalExecutor": "executor",
    "Receipt": "receipt",
    "Run": "run",
    "Subscription": "subscription",
    "Suspend": "executor",
    "SuspendRequest": "boundary",
    "TokenBudget": "policies",
    "first_of": "policies",
    "suspend_requested": "boundary",
}

__all__ = [
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
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
