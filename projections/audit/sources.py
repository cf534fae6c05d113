"""Where the rows come from: a journal, its archive, or both as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Protocol

from journal.errors import ArchiveOfAnotherJournal, DamagedArchive, NewerArchive
from journal.ids import Position
from journal.reader import Reader
from journal.stores.audit import AuditReader, Selected
from journal.views import Views
from projections.audit.catching_up import catch_up
from projections.audit.merged import Merged
from projections.reading import HasReader


class Archived(Protocol):
    """An archive of a journal: the events up to a position, and their rows."""

    @property
    def reader(self) -> Reader:
        """Its events and documents."""
        ...

    @property
    def views(self) -> Views:
        """Where projections of its events keep what they derived."""
        ...

    @property
    def last_position(self) -> Position:
        """The position it reaches to."""
        ...

    @property
    def location(self) -> str:
        """Where it is."""
        ...

    @property
    def faults(self) -> Sequence[DamagedArchive | NewerArchive]:
        """What is wrong with its manifests."""
        ...

    def reading(self) -> AuditReader:
        """Give its rows."""
        ...

    def query(
        self, journal: HasReader | None, sql: str, *, rows: int, seconds: float, megabytes: int
    ) -> Selected:
        """Run one SELECT of people, with what a journal has after it."""
        ...


@contextmanager
def reading(journal: HasReader | None, archive: Archived | None) -> Iterator[AuditReader]:
    """Look at the rows of a journal that is taken in to its end, of an archive, or of both.

    Raises:
        ViewsUnusable: see `journal.stores.views`; also from within.
    """
    archived = None if archive is None else archive.reading()
    if journal is None:
        assert archived is not None  # noqa: S101 - one of the two is there
        yield archived
        return
    upto = Position(0) if archive is None else archive.last_position
    with catch_up(journal).reading(after=upto) as live:
        yield live if archived is None else Merged(live, archived, upto)


@contextmanager
def whole(journal: HasReader | None, archive: Archived | None) -> Iterator[HasReader]:
    """Give the events of a journal, of an archive, or of both as one."""
    if archive is None:
        assert journal is not None  # noqa: S101 - one of the two is there
        yield journal
    elif journal is None:
        yield archive
    else:
        from projections.archive.union import with_archive  # noqa: PLC0415 - needs an extra

        with closing(with_archive(journal, archive)) as both:
            yield both


def must_be_of(journal: HasReader, archive: Archived) -> None:
    """Check that an archive is of a journal.

    Raises:
        ArchiveOfAnotherJournal: it is of another one.
    """
    ours, theirs = journal.reader.journal_id, archive.reader.journal_id
    if ours != theirs:
        raise ArchiveOfAnotherJournal(archive.location, theirs, ours)
