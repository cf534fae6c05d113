"""What can be wrong with an archive."""

from __future__ import annotations

from dataclasses import dataclass

from journal.errors.base import FixInput, RetryUnchanged, Stop
from journal.errors.fix_input import NotFound


@dataclass(eq=False)
class ArchiveNotFound(NotFound):
    """There is no archive at a location."""

    location: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"there is no archive at {self.location}; name another place, or make one with "
            "`runjournal archive --before DATE --to PLACE`"
        )


@dataclass(eq=False)
class ArchiveBusy(RetryUnchanged):
    """Another process is writing the archive."""

    location: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"another process is writing the archive {self.location}; nothing was written, try "
            "again when it is done"
        )


@dataclass(eq=False)
class ArchiveOfAnotherJournal(FixInput):
    """An archive holds the events of one journal, and this one is of another."""

    location: str
    archived: str
    """Id of the journal that the archive is of."""
    journal: str
    """Id of the journal it was used with."""

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"the archive {self.location} is of the journal {self.archived}, and this is the "
            f"journal {self.journal}; name the archive of this journal, or an empty directory"
        )


@dataclass(eq=False)
class ArchiveIncomplete(FixInput):
    """Events were dropped from the journal that this archive does not hold: another one does."""

    location: str
    first_position: int
    """Of the events that are neither in the archive nor in the journal."""
    last_position: int
    held_by: str
    """What is known of the archive that holds them."""

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"the archive {self.location} lacks the events {self.first_position} to "
            f"{self.last_position}, which are no longer in the journal; go on with the archive "
            f"that holds them: {self.held_by}"
        )


@dataclass(eq=False)
class ArchiveDiffers(Stop):
    """An archive and the journal it is of do not fit each other."""

    location: str
    position: int
    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"the archive {self.location} and the journal differ at event {self.position} "
            f"({self.reason}): one of them is an older copy, or was altered; archive to another "
            "place, or put the right copy in place"
        )


@dataclass(eq=False)
class DamagedArchive(Stop):
    """A file of an archive is missing or damaged; the other segments can be read."""

    location: str
    segment: int
    """Its number; 0 where the damage belongs to no segment."""
    file: str
    """Its path in the archive."""
    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"segment {self.segment} of the archive {self.location} is damaged: {self.file} "
            f"{self.reason}; put a copy of the file in its place, and run "
            "`runjournal archive verify`"
        )


@dataclass(eq=False)
class NewerArchive(Stop):
    """A segment was written by a newer runjournal."""

    location: str
    segment: int
    found: int
    known: int

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"segment {self.segment} of the archive {self.location} has schema version "
            f"{self.found}, this runjournal reads up to {self.known}; upgrade runjournal"
        )


@dataclass(eq=False)
class InvalidArchiveLocation(FixInput):
    """A path or URL that cannot name an archive."""

    location: str
    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return f"cannot use {self.location!r} as an archive: {self.reason}"


@dataclass(eq=False)
class RunIsArchived(FixInput):
    """The run's events were moved to an archive: it is read there, and takes no more."""

    run_id: str
    archive: str
    """Id of the journal whose archive has them: this journal's, or that it is a copy of."""
    segments: tuple[int, ...]

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        several = f"segments {self.segments[0]} to {self.segments[-1]}"
        where = several if len(self.segments) > 1 else f"segment {self.segments[0]}"
        return (
            f"run {self.run_id!r} is archived, in {where} of the archive of journal "
            f"{self.archive}, and takes no more events; read it with --archive PLACE (or "
            "`projections.archive.open_archive`), go on in a new run"
        )
