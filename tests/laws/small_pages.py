"""Snapshots of runs of a few events: with the limits that are meant for long ones made small."""

from contextlib import ExitStack
from unittest.mock import patch

LIMITS = {
    "projections.pages.ENOUGH": 2,
    "projections.pages.FULL": 3,
    "projections.pages.MOST": 4,
    "projections.indexing.BATCH": 3,
    "projections.indexing.EVERY": 2,
    "projections.indexing.REFOLDED": 1,
    "projections.run_index.PAGES": 2,
    "projections.tail.HELD": 1,
}


def small_pages():
    """Cut pages after two or three events, while the context lasts."""
    with ExitStack() as limits:
        for name, limit in LIMITS.items():
            limits.enter_context(patch(name, limit))
        return limits.pop_all()
