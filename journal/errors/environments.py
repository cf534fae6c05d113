"""An environment cannot be restored as the call asks, or does not let it reach a path."""

from __future__ import annotations

from dataclasses import dataclass

from journal.errors.base import FixInput, brief
from journal.errors.fix_input import NotFound


@dataclass(eq=False)
class NoRestoreFactory(FixInput):
    """No factory is registered for the kind of an environment, or of one of its resources."""

    what: str
    kind: str
    known: tuple[str, ...]

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        known = ", ".join(brief(kind) for kind in self.known) or "none"
        return (
            f"{self.what} is of kind {brief(self.kind)}, which no registered factory restores "
            f"(there are: {known}); register one for that kind"
        )


@dataclass(eq=False)
class EnvironmentNotFound(NotFound):
    """The run has no environment state at the cursor."""

    run_id: str
    cursor: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"run {self.run_id!r} has no environment state at {self.cursor}; "
            f"`runjournal log {self.run_id} --kind environment.exported` lists where it has one"
        )


@dataclass(eq=False)
class FileNotInEnvironment(NotFound):
    """The environment has nothing at the path."""

    provider_id: str
    path: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"environment {brief(self.provider_id)} has nothing at {brief(self.path)}; list what "
            "it has"
        )


@dataclass(eq=False)
class PathRefused(FixInput):
    """A path that an environment does not let anybody reach, or not in this way."""

    path: str
    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return f"path {brief(self.path)} is refused: {self.reason}"
