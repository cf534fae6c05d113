"""What every projection reads from."""

from __future__ import annotations

from typing import Protocol

from journal.reader import Reader


class HasReader(Protocol):
    """Something with a read side: a `journal.Journal`."""

    @property
    def reader(self) -> Reader:
        """Its events and documents."""
        ...
