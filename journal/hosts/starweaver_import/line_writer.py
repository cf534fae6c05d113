"""Writing lines that come from a database: many in one transaction, each once."""

from __future__ import annotations

from collections.abc import Iterator

from journal.codec import RecordedEvent
from journal.errors import FixInput, NotFound, ReadAgain, StateConflict
from journal.events import (
    RUN_NOTES,
    ContextExported,
    EnvironmentExported,
    EnvironmentReferenced,
    RunCommitted,
    RunSaved,
    SessionSaved,
    SessionStatusChanged,
)
from journal.hosts.starweaver_import.mapping import OPENING, Item
from journal.hosts.starweaver_import.result import ImportResult
from journal.ids import RUN_PREFIX, SESSION_PREFIX
from journal.journal import Journal
from journal.json_door import equal
from journal.lines import offers_of
from journal.offers import STATUS_FACTS, Offer
from journal.times import parse_time
from journal.written_here import must_not_reopen

MOST_LINES = 200
"""Lines written in one transaction."""
MOST_BYTES = 4 * 1024 * 1024
"""Bytes of records after which a transaction takes no more."""

_RUN_RECORDS = (RunSaved.NAME, RunCommitted.NAME)
"""Events that hold a run record."""

_SAID_OF_SESSIONS = (
    SessionSaved.NAME,
    SessionStatusChanged.NAME,
    ContextExported.NAME,
    EnvironmentExported.NAME,
    EnvironmentReferenced.NAME,
)
"""Events of a session's own stream that say what a session record says, too."""


class LineWriter:
    """Writes the lines of one run or session after those of the other."""

    def __init__(self, journal: Journal, result: ImportResult) -> None:
        """Write into `journal`, or with `result.dry_run` only look into it."""
        self._journal = journal
        self._result = result
        self.looks_back = True
        """Whether something may have been imported before to the stream that is written."""
        self._batch: list[Item] = []
        self._bytes = 0

    def put(self, item: Item) -> None:
        """Take a line; it is written with the next `flush` at the latest."""
        if item.alone or self._result.dry_run:
            self.flush()
            self._by_itself(item)
            return
        self._batch.append(item)
        self._bytes += len(item.row.raw)
        if len(self._batch) == MOST_LINES or self._bytes >= MOST_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what was taken: together, or each by itself where one of them is bad.

        Raises:
            JournalError: the journal takes nothing at present, as when somebody writes the run.
        """
        batch, self._batch, self._bytes = self._batch, [], 0
        if batch and not self._together(batch):
            for item in batch:
                self._by_itself(item)

    def _together(self, batch: list[Item]) -> bool:
        """Write lines in one transaction; False when one of them is bad."""
        every: list[Offer] = []
        ends: list[int] = []
        try:
            for item in batch:
                every += self._new(item, ahead=len(every))
                ends.append(len(every))
            receipts = self._journal.write_offers(every) if every else []
        except (FixInput, ReadAgain):
            return False
        begin = 0
        for item, end in zip(batch, ends, strict=True):
            self._count(item, repeated=begin == end or receipts[end - 1].repeated)
            begin = end
        return True

    def _by_itself(self, item: Item) -> None:
        try:
            made = self._new(item)
            if not made:
                repeated = True
            elif self._result.dry_run:
                repeated = self._journal.held(_event(made)) is not None
            else:
                repeated = self._journal.write_offers(made)[-1].repeated
        except (FixInput, ReadAgain) as error:
            self._result.refuse(item.row.table, item.row.key, str(error))
            return
        self._count(item, repeated=repeated)

    def _new(self, item: Item, *, ahead: int = 0) -> list[Offer]:
        """Make a line's offers; none when an import brought it before."""
        looked_up = item.once and self.looks_back
        made = offers_of(self._journal, item.line, ahead=ahead, may_be_there=looked_up)
        if not looked_up:
            return made
        offer = _event(made)
        same = self._was_last(offer) or any(
            self._is_same(item, offer, event) for event in self._imported(offer)
        )
        if same:
            return []
        self._must_not_have_gone_on(offer)
        for each in made:
            must_not_reopen(self._journal.reader, each)
        return made

    def _was_last(self, offer: Offer) -> bool:
        """Tell whether a session record is the one imported last, at whatever time."""
        if offer.name != SessionSaved.NAME:
            return False
        last = None
        for event in self._imported(offer):
            last = event
        return last is not None and self._journal.is_same(offer, last)

    def _must_not_have_gone_on(self, offer: Offer) -> None:
        """Refuse a changed record of a run or session of which something was said here since."""
        reader = self._journal.reader
        try:
            if offer.name in _RUN_RECORDS:
                run_id = offer.stream.removeprefix(RUN_PREFIX)
                what, last = f"run {run_id!r}", reader.last_run_event(run_id, STATUS_FACTS)
            elif offer.name == SessionSaved.NAME:
                session_id = offer.stream.removeprefix(SESSION_PREFIX)
                what = f"session {session_id!r}"
                last = reader.last_session_event(session_id, _SAID_OF_SESSIONS)
            else:
                return
        except NotFound:
            return
        if last is not None and not last.imported:
            reason = "went on in this journal since, and changed in the database as well"
            remedy = "what the journal says stays; import into another journal to see the other"
            raise StateConflict(what, reason, remedy)

    def _imported(self, offer: Offer) -> Iterator[RecordedEvent]:
        """Yield what was imported as the offer may have been.

        The stream may have gone on since, so that its last event does not tell.
        """
        reader = self._journal.reader
        names = _RUN_RECORDS if offer.name in _RUN_RECORDS else (offer.name,)
        try:
            if offer.stream.startswith(SESSION_PREFIX):
                session_id = offer.stream.removeprefix(SESSION_PREFIX)
                events = reader.session_events(session_id, names=names)
            else:
                events = reader.run_events(offer.stream.removeprefix(RUN_PREFIX), names=names)
            yield from (event for event in events if event.imported)
        except NotFound:
            return

    def _is_same(self, item: Item, offer: Offer, event: RecordedEvent) -> bool:
        if offer.name in _RUN_RECORDS:
            record = offer.value if offer.name == RunSaved.NAME else offer.value["run"]
            return equal(event.data["run"], record)
        time = item.line.get("recorded_at")
        if time is not None and parse_time(time) != event.recorded_at:
            return False
        return self._journal.is_same(offer, event)

    def _count(self, item: Item, *, repeated: bool) -> None:
        if item.kind != OPENING:
            counts = self._result.repeated if repeated else self._result.recorded
            counts[item.kind] += 1


def _event(made: list[Offer]) -> Offer:
    """Give the offer that a line stands for, among those that go with it."""
    return next(offer for offer in reversed(made) if offer.name not in RUN_NOTES)
