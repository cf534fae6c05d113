"""A run's logical order, looked into without reading the run."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

from journal.ancestry import ancestry
from journal.codec import RecordedEvent
from journal.errors import BrokenBase
from journal.ids import Version, run_stream
from journal.lineage import Bound, Lineage
from journal.progress import Progress, unseen
from journal.stores.views import Page, ViewReader
from projections.fold import RunFold, evolve
from projections.order import Entry
from projections.pages import Stretch, upto
from projections.places import FIRST, LAST, key_of
from projections.reach import Reach
from projections.reading import HasReader
from projections.run_rows import RunRows
from projections.start import Start
from projections.stored_values import stored_fold
from projections.tracking import Tracking

Answer = TypeVar("Answer")

PAGES = 16
"""Pages looked up at a time on a walk."""

BEGINNING: Bound = (-1, 0, 0)
"""Before the first place of a run."""


class Crossing(NamedTuple):
    """The entry with which something that only grows gets too large."""

    of: RunIndex
    """The run it is an entry of."""
    reach: Reach
    """What was looked through of that run."""
    entry: Entry
    before: tuple[int, int]
    """Epoch and number of messages before it."""
    epoch: int
    """The epoch it is in."""


class RunIndex:
    """Looks into one run's order, up to what was there at the first look."""

    def __init__(self, journal: HasReader, run_id: str, progress: Progress = unseen) -> None:
        self.journal = journal
        self._progress = progress
        self.reader = journal.reader
        self.run_id = run_id
        self.stream = run_stream(run_id)
        self._rows = RunRows(journal, run_id, self._inherit, progress)
        self._parent: tuple[RunIndex, Reach] | None = None
        self._page: Stretch | None = None
        """The one looked at last."""
        self._held: dict[int, RecordedEvent] = {}
        """The events read last, by version: a look does not read a page twice."""

    @property
    def tracking(self) -> Tracking:
        """How far the run goes."""
        return self._rows.tracking

    @property
    def whole(self) -> Reach:
        """All of the run.

        Raises:
            CorruptEvent: an event of it is damaged.
        """
        version = self.tracking.version
        if self._rows.damage is not None:
            raise self._rows.damage
        return Reach(self.run_id, version)

    def first(self, version: Version) -> Reach:
        """The first events by arrival, also of a run that is damaged later."""
        return Reach(self.run_id, version) if version <= self.tracking.version else self.whole

    @property
    def parent(self) -> tuple[RunIndex, Reach] | None:
        """The run that this one is a fork of, and what it inherits of it."""
        lineage = self.tracking.lineage
        if self._parent is None and lineage is not None:
            self._parent = self._source(lineage)
        return self._parent

    def ask(self, question: Callable[[ViewReader], Answer]) -> Answer:
        """Look at one state of the run's rows."""
        return self._rows.ask(question)

    def _inherit(self, lineage: Lineage) -> RunFold:
        # Each of them is taken in before the next one asks for it.
        for ancestor in reversed(ancestry(self.reader, self.run_id)):
            RunIndex(self.journal, ancestor.source, self._progress).ask(lambda _: None)
        source, reach = self._source(lineage)
        return source.fold_to(reach)

    def _source(self, lineage: Lineage) -> tuple[RunIndex, Reach]:
        source = RunIndex(self.journal, lineage.source, self._progress)
        source.must_reach(lineage.version, of=self)
        return source, Reach.inherited(lineage)

    def must_reach(self, version: Version, *, of: RunIndex) -> None:
        """Check that all is readable of what a fork inherits of this run.

        Raises:
            BrokenBase: an event up to this version is damaged.
        """
        if version <= self.tracking.version:
            return
        damage = self._rows.damage
        reason = f"it ends with {self.tracking.version}" if damage is None else damage.reason
        raise BrokenBase(of.stream, Version(1), self.stream, reason) from damage

    def fold_to(self, reach: Reach) -> RunFold:
        """Fold a reach of this run, and what the run inherits."""
        return self.folded(reach, lambda _: None)[0]

    def folded(self, reach: Reach, see: Callable[[Entry], None]) -> tuple[RunFold, int]:
        """Fold a reach of this run, and tell the highest of its own versions in it.

        Args:
            see: gets the entries that were read for it, in order: the last ones.
        """
        reach = self.by_version(reach)
        start = self.start(reach)
        fold, newest = start.fold, start.newest
        for entry in self.following(reach, start):
            see(entry)
            evolve(fold, entry)
            newest = max(newest, entry.version)
        return fold, newest

    def start(self, reach: Reach) -> Start:
        """Find the last known fold within a reach."""

        def look(rows: ViewReader) -> Start | None:
            key = LAST if reach.before is None else key_of(reach.before)
            page = rows.page_within(self.stream, key, newest=reach.version, latest=reach.until)
            return None if page is None else self._start(rows, page)

        return self.ask(look) or self._nothing(reach)

    def _start(self, rows: ViewReader, page: Page) -> Start:
        fold = stored_fold(rows, self.stream, page)
        self._page = Stretch.of(page, rows.pages_after(self.stream, page.first, limit=1))
        return Start(fold, page.newest, self._page.places, self._page.following)

    def _nothing(self, reach: Reach) -> Start:
        """Start with what the run inherits, within the same time."""
        parent = self.parent
        fold = RunFold()
        if parent is not None:
            source, inherited = parent
            fold = source.fold_to(inherited.upto(reach.until))
        return Start(fold, 0, [], BEGINNING)

    def following(self, reach: Reach, start: Start) -> Iterator[Entry]:
        """Read what of a reach follows a start."""
        places = upto(start.places, reach.before)
        yield from self.read(reach, places)
        following = start.following
        if following is None or (reach.before is not None and following >= reach.before):
            return
        yield from self.entries(reach, start.places[-1] if start.places else None)

    def entries(self, reach: Reach, after: Bound | None = None) -> Iterator[Entry]:
        """Read the run's own entries of a reach in logical order, page by page.

        Args:
            after: exclusive; None starts with the first.
        """
        for places in self.places(reach, after):
            yield from self.read(reach, places)

    def read(self, reach: Reach, places: list[Bound]) -> Iterator[Entry]:
        """Read the events at places, and leave out what is not in the reach."""
        wanted = [place for place in places if place[2] <= reach.version]
        events = self._events([place[2] for place in wanted])
        make = tuple.__new__
        for place, event in zip(wanted, events, strict=True):
            if reach.until is None or reach.takes(event.version, event.recorded_at):
                yield make(Entry, (*place, event))

    def _events(self, versions: list[int]) -> list[RecordedEvent]:
        """Read events; those that were asked for last are not read again."""
        held = self._held
        missing = [version for version in versions if version not in held]
        if missing:
            read = {event.version: event for event in self.reader.events(self.stream, missing)}
            held = {version: held[version] for version in versions if version in held} | read
            self._held = held
        return [held[version] for version in versions]

    def places(self, reach: Reach, after: Bound | None) -> Iterator[list[Bound]]:
        """Give the places of the run before the bound of a reach, page by page.

        Some of them may be of higher versions.
        """
        pages = [self._page] if self._page is not None and self._page.holds(after) else []
        limit = 1
        while True:
            if not pages:
                key = FIRST if after is None else key_of(after)
                pages = self.ask(lambda rows: self._pages(rows, key, limit))  # noqa: B023 - at once
                limit = PAGES
            for page in pages:
                if page.oldest > reach.version:
                    return
                places = page.places
                if after is not None:
                    places = places[bisect_right(places, after) :]
                within = upto(places, reach.before)
                if within:
                    yield within
                after = page.places[-1]
                if len(within) < len(places):
                    return
            following = pages[-1].following if pages else None
            if following is None or (reach.before is not None and following >= reach.before):
                return
            pages = []

    def _pages(self, rows: ViewReader, key: bytes, limit: int) -> list[Stretch]:
        """Give the page that holds a key and some after it."""
        page = rows.page_at(self.stream, key)
        first = [] if page is None else [page]
        after = key if page is None else page.first
        pages = [*first, *rows.pages_after(self.stream, after, limit=limit + 1)]
        shown = pages[: max(1, limit)]
        return [Stretch.of(page, pages[at + 1 : at + 2]) for at, page in enumerate(shown)]

    def by_version(self, reach: Reach) -> Reach:
        """Say a time as a version, where both rise together: that is found at once."""
        if reach.until is None or not self.tracking.rising:
            return reach
        version = min(reach.version, self._recorded_by(reach.until))
        parent = self.parent
        if parent is None or parent[0].latest_of(parent[1]) <= reach.until:
            return Reach(self.run_id, Version(version), reach.before)
        return Reach(self.run_id, Version(version), reach.before, reach.until)

    def _recorded_by(self, until: int) -> int:
        """Find the last version recorded at or before a time, the opening at least."""

        def look(rows: ViewReader) -> tuple[int, int]:
            page = rows.page_within(self.stream, LAST, newest=None, latest=until)
            if page is None:
                return 1, self.tracking.version
            found = Stretch.of(page, rows.pages_after(self.stream, page.first, limit=1))
            highest = max(place[2] for place in found.places)
            return max(1, page.newest), highest if found.following else self.tracking.version

        low, high = self.ask(look)
        while low < high:
            middle = (low + high + 1) // 2
            [event] = self._events([middle])
            if event.recorded_at <= until:
                low = middle
            else:
                high = middle - 1
        return low

    def latest_of(self, reach: Reach) -> int:
        """Tell a time at or after which nothing of a reach was recorded."""
        return max(index.latest_own(part) for index, part in self.inheriting(reach))

    def latest_own(self, reach: Reach) -> int:
        """Tell the same of the run's own events."""
        if not self.tracking.rising:
            return self.tracking.latest
        [event] = self.reader.events(self.stream, [reach.version])
        return event.recorded_at

    def earliest(self) -> int:
        """Tell when the first of the run's events, inherited ones too, was recorded."""
        return min(of.tracking.earliest or 0 for of, _ in self.inheriting(self.whole))

    def inheriting(self, reach: Reach) -> Iterator[tuple[RunIndex, Reach]]:
        """Give the runs that a reach takes in, this one first, and what it takes of each."""
        index = self
        while True:
            yield index, reach
            parent = index.parent
            if parent is None:
                return
            index, inherited = parent
            reach = inherited.upto(reach.until)

    def crossing(
        self,
        reach: Reach,
        beyond: Callable[[RunFold], bool],
        nearest: Callable[[RunIndex, ViewReader], Page | None],
    ) -> Crossing | None:
        """Find the first entry of a reach with which something that only grows gets too large.

        Args:
            beyond: tells whether it is too large in a fold.
            nearest: gives a page, if any, in whose fold it is not.

        Returns:
            None where it never does.
        """
        reach = self.by_version(reach)

        def look(rows: ViewReader) -> Start | None:
            pages = (
                nearest(self, rows),
                rows.page_within(self.stream, LAST, newest=reach.version, latest=reach.until),
            )
            first = min((page.first for page in pages if page is not None), default=None)
            page = None if first is None or None in pages else rows.page_at(self.stream, first)
            return None if page is None else self._start(rows, page)

        start = self.ask(look) or self._nothing(reach)
        if beyond(start.fold):
            # It came to be so before the first page.
            parent = self.parent
            if parent is None:
                return None
            source, inherited = parent
            return source.crossing(inherited.upto(reach.until), beyond, nearest)
        for entry in self.following(reach, start):
            before = start.fold.messages.reached
            evolve(start.fold, entry)
            if beyond(start.fold):
                return Crossing(self, reach, entry, before, start.fold.messages.epoch)
        return None

    def levels(self, reach: Reach) -> list[tuple[RunIndex, Reach]]:
        """List the runs that a reach takes in, the oldest first, and what it takes of each."""
        levels = [(index, index.by_version(part)) for index, part in self.inheriting(reach)]
        return levels[::-1]
