"""An archive opened for reading: its runs are replayed and its audit rows are asked."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Self

from journal.ids import Position
from journal.reader import Reader
from journal.stores import open_audit, open_views
from journal.stores.audit import AuditReader, Selected
from journal.views import Views
from projections.archive.catalogue import Catalogue
from projections.archive.chain import Chain, read_chain
from projections.archive.duck import Duck
from projections.archive.files import SegmentFiles
from projections.archive.filesystem import Place, find_place
from projections.archive.manifest import ArchiveSegment
from projections.archive.parts import Part, parts_of
from projections.archive.query import select
from projections.archive.rows import ArchiveRows
from projections.archive.store import ArchiveStore
from projections.reading import HasReader


class Archive:
    """The archive of a journal, as it was when it was opened; safe for threads.

    It is a `projections.reading.HasReader`: runs are read and replayed from it as from a
    journal. A segment that is damaged, or of a newer runjournal, is an error of the answers
    that need it only. Use it as a context manager or call `close`.
    """

    def __init__(self, place: Place, chain: Chain) -> None:
        if not chain.segments:
            raise chain.faults[0]
        self.location = place.location
        self.journal_id = chain.segments[0].journal
        """Id of the journal that it is of."""
        self.last_position = Position(chain.last_position)
        """Of the last event in it: it has all of the journal up to here."""
        self.segments: tuple[ArchiveSegment, ...] = chain.segments
        """The manifests that can be read."""
        self.faults = chain.faults
        """What is wrong with manifests; see `Chain`."""
        self._parts: list[Part] = parts_of(place, chain)
        directories = [] if place.directory is None else [str(place.directory)]
        duck = Duck(place.location, directories=directories, near_sqlite=False)
        try:
            self._files = SegmentFiles(place, duck)
            self._catalogue = Catalogue(self._files, self._parts)
        except BaseException:
            duck.close()
            raise
        self.store = ArchiveStore(
            self._files,
            self._catalogue,
            journal_id=self.journal_id,
            last_position=self.last_position,
        )
        """Its events."""
        self.reader = Reader(self.store)
        """The read side: events and documents."""
        self.views = Views(
            lambda revision, _: open_views(self.store, revision, in_memory=True),
            lambda revision, _: open_audit(self.store, revision, in_memory=True),
        )
        """Where projections keep what they derived: in memory."""
        self._rows = ArchiveRows(self._files, self._catalogue)

    def reading(self) -> AuditReader:
        """Give its audit rows; nothing is held open."""
        return self._rows

    def query(
        self, journal: HasReader | None, sql: str, *, rows: int, seconds: float, megabytes: int
    ) -> Selected:
        """Run one SELECT of people, with what a journal has after it; see `Audit.sql`."""
        return select(self, journal, sql, rows=rows, seconds=seconds, megabytes=megabytes)

    @property
    def files(self) -> SegmentFiles:
        """Its files, for questions in SQL."""
        return self._files

    @property
    def catalogue(self) -> Catalogue:
        """Which segments hold what."""
        return self._catalogue

    def close(self) -> None:
        """Release everything; twice does nothing."""
        self.views.close()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def open_archive(location: str | os.PathLike[str]) -> Archive:
    """Open the archive at a location for reading.

    Args:
        location: a directory, a file:// URL, or another that pyarrow knows, such as s3://.

    Raises:
        InvalidArchiveLocation: it names no place.
        ArchiveNotFound: there is no archive.
        DamagedArchive, NewerArchive: no manifest can be read. Anything else that is damaged
            is an error of the answers that need it.
        StorageFailed: the archive cannot be read.
        ImportError: pyarrow or duckdb is missing; the error says how to get them.
    """
    place = find_place(location)
    return Archive(place, read_chain(place))
