"""The write side of runjournal: an event-sourced journal for AI agent runs.

Names are loaded when first used, so that `runjournal --help` answers at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from journal.lazily import lazy

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

__getattr__, __dir__ = lazy(
    __name__,
    {
        "executor": "AgentExecutor Continue JournalExecutor Suspend",
        "errors": "AgentExecutorError JournalError",
        "aio": "AsyncJournal AsyncRun",
        "async_subscription": "AsyncSubscription",
        "policies": "AtNodes CostBudget Deadline FirstOf HumanDecision TokenBudget first_of",
        "journal": "Journal",
        "receipt": "Receipt",
        "run": "Run",
        "subscription": "Subscription",
        "boundary": "SuspendRequest suspend_requested",
    },
)
