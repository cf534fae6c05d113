"""Neither a retry nor other input helps by itself."""

from __future__ import annotations

from dataclasses import dataclass

from journal.errors.base import RESTORE, Stop


@dataclass(eq=False)
class JournalClosed(Stop):
    """The journal, or the run taken from it, was closed."""

    location: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return f"the journal {self.location} is closed; open it again"


@dataclass(eq=False)
class JournalForked(JournalClosed):
    """The process was forked, and the child uses what the parent opened."""

    opened_by: int

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"the journal {self.location} was opened by process {self.opened_by} and cannot be "
            "used after a fork; open it again in this process"
        )


@dataclass(eq=False)
class CorruptEvent(Stop):
    """A stored row that no longer decodes."""

    stream: str
    version: int
    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"event {self.version} of {self.stream!r} is damaged ({self.reason}); this run cannot "
            f"be read past it, the others can: {RESTORE}"
        )


@dataclass(eq=False)
class BrokenBase(Stop):
    """A run whose first state builds on another run that cannot be read."""

    stream: str
    version: int
    base_stream: str
    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"event {self.version} of {self.stream!r} builds on {self.base_stream!r}, which cannot "
            f"be read ({self.reason}): {RESTORE}"
        )


@dataclass(eq=False)
class NotAJournal(Stop):
    """The file exists and is not a journal."""

    location: str
    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return f"{self.location} is not a journal: {self.reason}; name another file"


@dataclass(eq=False)
class NewerFormat(Stop):
    """The journal was written by a newer runjournal."""

    location: str
    found: int
    known: int

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"{self.location} has format {self.found}, this runjournal reads up to {self.known}; "
            "upgrade runjournal"
        )


@dataclass(eq=False)
class GuardsMissing(Stop):
    """The rules that keep the events append-only were removed from the file."""

    location: str
    missing: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"{self.location} lacks or changed the guards {self.missing}: its events may have been "
            f"altered; {RESTORE}"
        )


@dataclass(eq=False)
class StorageFailed(Stop):
    """The storage engine refused: permission, disk full, file gone."""

    location: str
    operation: str
    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return f"cannot {self.operation} {self.location}: {self.reason}"


@dataclass(eq=False)
class FileMoved(Stop):
    """The file was removed or replaced while it was open."""

    location: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"the file {self.location} was removed or replaced while it was open; nothing was "
            "written, put it back or open the journal again"
        )


@dataclass(eq=False)
class ReadOnly(Stop):
    """The file, its directory or its file system cannot be written."""

    location: str
    operation: str
    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"cannot {self.operation} {self.location}: {self.reason}; make it writable, or only "
            "read it"
        )


@dataclass(eq=False)
class DamagedFile(Stop):
    """Pages of the file are damaged, below the events."""

    location: str
    operation: str
    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"cannot {self.operation} {self.location}: {self.reason}; run `runjournal doctor`, "
            f"then {RESTORE}"
        )


@dataclass(eq=False)
class StaleWriter(Stop):
    """Another owner took the run over; what this one still writes is refused."""

    run_id: str
    generation: int
    current: int

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"run {self.run_id!r} was taken over: this writer has generation {self.generation}, "
            f"the run's is {self.current}; nothing was written, stop writing or open the run again"
        )


@dataclass(eq=False)
class NotWritten(Stop):
    """The journal was closed and some of what waited could not be written."""

    location: str
    lost: tuple[str, ...]
    """What was not written, one text each."""
    reason: str
    """Why the first of them failed."""

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        some = ", ".join(self.lost[:3]) + (", ..." if len(self.lost) > 3 else "")
        return (
            f"{self.location} was closed, but {len(self.lost)} writes were not done ({some}): "
            f"{self.reason}; open it again and repeat them"
        )


@dataclass(eq=False)
class AgentExecutorError(Stop):
    """An executor failed; the host must not go past the checkpoint it handed in.

    The cause, when the journal refused, is the `JournalError` in `__cause__`.
    """

    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return f"the executor failed, stop the run at this checkpoint: {self.reason}"


@dataclass(eq=False)
class Suspended(Stop):
    """A run that was being recorded stopped at a boundary, as somebody wanted, and waits."""

    run_id: str
    checkpoint_id: str
    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"run {self.run_id!r} was suspended at checkpoint {self.checkpoint_id!r} "
            f"({self.reason}); it waits until it is resumed"
        )


@dataclass(eq=False)
class DamagedSource(Stop):
    """A database to be imported is damaged."""

    source: str
    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"{self.source} is damaged ({self.reason}); what was imported before stays: recover it "
            "with `sqlite3 FILE .recover`, or import a backup of it"
        )
