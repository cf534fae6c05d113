"""The audit: one row for each thing that happened in any run, and questions across all runs.

Names are loaded when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from journal.lazily import lazy

if TYPE_CHECKING:
    from projections.audit.approvals import Approval
    from projections.audit.audit import Audit
    from projections.audit.calls import ToolCall
    from projections.audit.catching_up import REVISION, catch_up
    from projections.audit.excerpts import Excerpt
    from projections.audit.failures import Failure, LastCall
    from projections.audit.filters import AuditFilter
    from projections.audit.gaps import Gap
    from projections.audit.maker import RowMaker
    from projections.audit.searching import Hit
    from projections.audit.stats import EventStats, Stats, ToolStats
    from projections.audit.term import TermPlace
    from projections.audit.timeline import Happened
    from projections.audit.times import parse_when
    from projections.audit.usage import Usage

__all__ = [
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
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "approvals": "Approval",
        "audit": "Audit",
        "calls": "ToolCall",
        "catching_up": "REVISION catch_up",
        "excerpts": "Excerpt",
        "failures": "Failure LastCall",
        "filters": "AuditFilter",
        "gaps": "Gap",
        "maker": "RowMaker",
        "searching": "Hit",
        "stats": "EventStats Stats ToolStats",
        "term": "TermPlace",
        "timeline": "Happened",
        "times": "parse_when",
        "usage": "Usage",
    },
)
