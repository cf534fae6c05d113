"""Where a replay starts folding."""

from __future__ import annotations

from typing import NamedTuple

from journal.lineage import Bound
from projections.fold import RunFold


class Start(NamedTuple):
    """Where folding starts: a fold, and the places that follow in its page."""

    fold: RunFold
    newest: int
    """The highest version in the fold, of the run's own."""
    places: list[Bound]
    """The rest of its page."""
    following: Bound | None
    """Where the next page begins; None where it is the last one."""
