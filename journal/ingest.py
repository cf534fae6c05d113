"""Reading interchange lines into a journal.

Lines are kept in order. A bad line stops the reading and nothing of it is kept; what came
before it stays. Reading exported lines again adds nothing: they carry their versions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from journal.errors import FixInput, InvalidLine, InvalidRecord, ReadAgain
from journal.events import RUN_NOTES, RunForked, RunOpened
from journal.ids import SESSION_PREFIX
from journal.journal import Journal
from journal.lines import Line, offers_of, parse_line, recorded_at
from journal.offers import Offer, imported
from journal.session_lines import SessionLines
from journal.written_here import must_not_reopen

BATCH = 500
"""Stream records of one run written in one transaction."""


@dataclass(slots=True)
class IngestCounts:
    """What an ingest did."""

    lines: int = 0
    """Lines read, blank ones left out."""
    recorded: Counter[str] = field(default_factory=Counter)
    """Lines that became events, by type."""
    repeated: Counter[str] = field(default_factory=Counter)
    """Lines whose events were recorded before, by type."""
    refused: list[InvalidLine] = field(default_factory=list)
    """Bad lines passed over, with `keep_going`."""


class Ingest:
    """Reads interchange lines into a journal."""

    def __init__(self, journal: Journal, *, keep_going: bool = False) -> None:
        """Read into `journal`; with `keep_going` pass over bad lines and report them."""
        self._journal = journal
        self._keep_going = keep_going
        self._batch: list[tuple[int, Line]] = []
        self._sessions = SessionLines(journal)
        self._lost_forks: set[str] = set()
        """Runs whose `run.forked` line was passed over: they must not begin without it."""
        self.counts = IngestCounts()

    def read(
        self, lines: Iterable[bytes], progress: Callable[[int], None] | None = None
    ) -> IngestCounts:
        """Read lines to the end.

        Args:
            lines: UTF-8 JSON, one object a line; blank lines are passed over.
            progress: called with the number of lines read so far.

        Raises:
            InvalidLine: a line is bad; it names the number, from 1, and the reason.
        """
        self._sessions = SessionLines(self._journal)
        for number, raw in enumerate(lines, 1):
            if raw.strip():
                self.counts.lines += 1
                self._take(number, raw)
            if progress is not None:
                progress(number)
        self._flush()
        return self.counts

    def _take(self, number: int, raw: bytes) -> None:
        try:
            line = parse_line(raw)
        except FixInput as error:
            self._flush()
            self._refuse(number, error)
            return
        # Only stream records of one run are worth a common transaction.
        record = line["type"] == "stream_record"
        if self._batch and not (
            record
            and len(self._batch) < BATCH
            and all(line[key] == self._batch[0][1].get(key) for key in ("run_id", "session_id"))
        ):
            self._flush()
        self._batch.append((number, line))
        if not record:
            self._flush()

    def _flush(self) -> None:
        batch, self._batch = self._batch, []
        if len(batch) > 1 and self._together([line for _, line in batch]):
            return
        for number, line in batch:
            try:
                self._alone(line)
            except (FixInput, ReadAgain) as error:
                if line.get("name") == RunForked.NAME:
                    self._lost_forks.add(line["run_id"])
                self._refuse(number, error)

    def _together(self, lines: list[Line]) -> bool:
        """Write lines in one transaction; False when one of them is bad."""
        made: list[list[Offer]] = []
        ahead = 0
        try:
            for line in lines:
                made.append(self._offers(line, ahead))
                ahead += sum(1 for offer in made[-1] if offer.name not in RUN_NOTES)
            receipts = self._journal.write_offers([offer for some in made for offer in some])
        except (FixInput, ReadAgain):
            return False
        done = 0
        for line, some in zip(lines, made, strict=True):
            done += len(some)
            self._count(line, repeated=not some or receipts[done - 1].repeated)
        return True

    def _alone(self, line: Line) -> None:
        if line["type"] == "run_evidence":
            at = recorded_at(line)

            def mark(offer: Offer) -> Offer:
                must_not_reopen(self._journal.reader, offer)
                return imported(offer, at)

            receipt = self._journal.commit_bundle(line["commit"], mark=mark)
            self._count(line, repeated=receipt.repeated)
            return
        made = self._offers(line)
        repeated = not made or self._journal.write_offers(made)[-1].repeated
        if made and "version" in line and made[0].stream.startswith(SESSION_PREFIX):
            self._sessions.take(made[0], recorded_at(line))
        self._count(line, repeated=repeated)

    def _offers(self, line: Line, ahead: int = 0) -> list[Offer]:
        made = offers_of(self._journal, line, ahead=ahead, sessions=self._sessions)
        for offer in made:
            if offer.name == RunForked.NAME and self.counts.refused and "version" not in line:
                reason = (
                    "lines before it were bad: without version nobody can tell which events "
                    "of its source it inherits"
                )
                raise InvalidRecord("event line", "$", reason)
            if offer.name == RunOpened.NAME and offer.value["run_id"] in self._lost_forks:
                what = f"{line['type']} line"
                raise InvalidRecord(what, "$", "its run is a fork, whose run.forked line was bad")
        return made

    def _refuse(self, number: int, error: FixInput | ReadAgain) -> None:
        refused = InvalidLine(number, str(error))
        if not self._keep_going:
            raise refused from error
        self.counts.refused.append(refused)

    def _count(self, line: Line, *, repeated: bool) -> None:
        (self.counts.repeated if repeated else self.counts.recorded)[line["type"]] += 1
