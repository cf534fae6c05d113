"""The command that tells a journal in numbers."""
# ruff: noqa: PLC0415 - what a command needs is imported when it runs: --help answers at once

from __future__ import annotations

from dataclasses import replace
from functools import partial

from journal.cli.audit_options import Asked, filtered

TOOLS = 10
"""Tools that are shown where nobody says how many."""


@partial(filtered, without={"csv"})
def stats(asked: Asked) -> None:
    """Show runs by status, events and bytes by name, tokens and costs, and the top tools.

    Events are counted only where nothing narrows the question: there are no rows of most.
    --limit is of tools.
    """
    from journal.cli.dashboard import show_stats

    of = replace(asked.filter, limit=asked.filter.limit or TOOLS)
    with asked.audit() as questions:
        asked.one(questions.stats(of), show_stats)
