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


@dataclass(eq=False)
class RunIsLeased(RetryUnchanged):
    """Another owner is writing the run; its lease is live."""

    run_id: str
    owner: str
    generation: int
    seconds_left: float

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"run {self.run_id!r} is being written by {self.owner} (generation "
            f"{self.generation}), whose lease lasts {self.seconds_left:.0f} s more unless it is "
            "renewed; try again later, or take the run over with takeover=True"
        )


@dataclass(eq=False)
class DiskFull(RetryUnchanged):
    """There is no room: the disk is full, or a quota or a limit on file sizes is reached."""

    location: str
    operation: str
    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"cannot {self.operation} {self.location}: {self.reason}; nothing was written, make "
            "room and try again"
        )


@dataclass(eq=False)
class CommitInterrupted(RetryUnchanged):
    """The commit that this call shared with others was broken off in another caller's thread."""

    location: str
    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"a commit to {self.location} was broken off ({self.reason}); what was asked for is "
            "written or not, asking again tells"
        )


@dataclass(eq=False)
class SourceBusy(RetryUnchanged):
    """A database to be imported was locked, or changed, while it was read."""

    source: str
    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"cannot read {self.source} on: {self.reason}; what was imported stays, import it "
            "again to go on"
        )
