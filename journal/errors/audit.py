"""What can be wrong with a question about all runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from journal.errors.base import FixInput, brief


@dataclass(eq=False)
class InvalidFilter(FixInput):
    """A filter, a time or a phrase that no question can be asked with."""

    name: str
    """Of what is wrong, such as `since`."""
    value: Any
    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return f"invalid {self.name} {brief(self.value)}: {self.reason}"


@dataclass(eq=False)
class SQLRefused(FixInput):
    """SQL that asks for more than to read the rows of the audit, or that is none."""

    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"the SQL is refused: {self.reason}; give one SELECT of the views rows, runs and calls"
        )


@dataclass(eq=False)
class LimitReached(FixInput):
    """An answer to SQL that would take more than it may."""

    limit: str
    """`rows`, `seconds` or `megabytes`."""
    value: float
    """What it may take at most."""

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        option = "memory" if self.limit == "megabytes" else self.limit
        verb = "gives" if self.limit == "rows" else "takes"
        return (
            f"the SQL {verb} more than {self.value:g} {self.limit}; ask for less, or raise the "
            f"limit with --{option}"
        )
