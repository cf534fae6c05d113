"""The same call may succeed later, unchanged."""

from __future__ import annotations

from dataclasses import dataclass

from journal.errors.base import RetryUnchanged


@dataclass(eq=False)
class JournalBusy(RetryUnchanged):
    """Another process kept the journal locked for longer than the wait."""

    location: str
    waited_seconds: float

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"the journal {self.location} stayed locked by another writer for "
            f"{self.waited_seconds:g} s; nothing was written, try again"
        )
