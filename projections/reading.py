"""What every projection reads from."""

from __future__ import annotations

from typing import Protocol

from journal.reader import Reader
from journal.views import Views


class HasReader(Protocol):
    """Something with a read side: a `journal.Journal`."""

    @property
    def reader(self) -> Reader:
        """Its events and documents."""
        ...

    @property
    def views(self) -> Views:
        """Where projections keep what they derived."""
        ...
