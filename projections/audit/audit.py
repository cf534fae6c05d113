"""Questions across all runs, of a journal and of what was archived of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from journal.errors import StorageFailed
from journal.ids import Position
from journal.stores.audit import Selected
from journal.stores.interface import NameSize
from journal.stores.views import ViewsUnusable
from projections.audit.approvals import Approval, list_approvals
from projections.audit.calls import ToolCall, list_calls
from projections.audit.catching_up import catch_up
from projections.audit.failures import Failure, list_failures
from projections.audit.filters import EVERYTHING, AuditFilter, check_text
from projections.audit.gaps import Gap, list_gaps
from projections.audit.known_runs import KnownRuns, limited
from projections.audit.phrase import Phrase
from projections.audit.searching import Hit, find_phrase
from projections.audit.selecting import ATTEMPTS
from projections.audit.sources import Archived, must_be_of, reading, whole
from projections.audit.sql_process import select_apart
from projections.audit.stats import Stats, make_stats
from projections.audit.term import TermPlace, find_term, narrowed, term_pattern
from projections.audit.timeline import Happened, on_trace, run_timeline
from projections.audit.usage import Usage, check_keys, sum_usage
from projections.reading import HasReader

Answer = TypeVar("Answer")


class Audit:
    """Answers questions across all runs; nothing is counted twice.

    What was recorded before a question is asked is in the answer. A merged record of a child run
    counts where the child has no stream of its own; a response or a call that was recorded
    again counts once. Answers are iterators, and little of them is held at a time.

    Every question may raise `InvalidFilter`, and while it is answered, the errors of reading a
    journal or an archive; `StorageFailed` where the rows changed under it, after a part of the
    answer was given.

    Args:
        journal: the journal; None to ask the archive alone, which does not know who is at a run.
        archive: what was archived of the journal; answered as if it still stood in it.

    Raises:
        ArchiveOfAnotherJournal: the archive is of another journal.
    """

    def __init__(self, journal: HasReader | None, archive: Archived | None = None) -> None:
        if journal is None and archive is None:
            raise ValueError("nothing to ask: neither a journal nor an archive")
        if journal is not None and archive is not None:
            must_be_of(journal, archive)
        self._journal = journal
        self._archive = archive

    def tools(
        self, asked: AuditFilter = EVERYTHING, *, tool: str | None = None, failed: bool = False
    ) -> Iterator[ToolCall]:
        """Yield tool calls, each with what it returned, newest first by the time of the call.

        A return of which no call was recorded stands for its call.

        Args:
            tool: only calls of this tool.
            failed: only calls that returned an error, by the time of their return. One that
                asked for approval, or was deferred, did not fail; one of which no return was
                recorded is not known to have failed.
        """
        return self._answer(lambda known: list_calls(known, asked, tool, failed=failed), asked)

    def usage(
        self, asked: AuditFilter = EVERYTHING, *, by: Sequence[str] = ("session",)
    ) -> Iterator[Usage]:
        """Yield what was used: by days in order, else the costliest first.

        Args:
            by: one or more of `projections.audit.usage.KEYS`. With `tool`, calls are counted,
                else what models used.
        """
        check_keys(by)
        return self._answer(lambda known: sum_usage(known, asked, by), asked)

    def trace(self, trace_id: str, asked: AuditFilter = EVERYTHING) -> Iterator[Happened]:
        """Yield what happened on a trace, over all runs that were on it, in time order.

        Also what happened in these runs and tells no trace. Each run's rows keep its logical
        order: what was recorded late stands with what it followed.
        """
        return self._answer(lambda known: on_trace(known, trace_id, asked), asked)

    def failures(
        self, asked: AuditFilter = EVERYTHING, *, cancelled: bool = False
    ) -> Iterator[Failure]:
        """Yield runs that stand failed, the last changed first, with the last thing they did.

        Args:
            asked: `since` and `until` are of when they ended.
            cancelled: also runs that stand cancelled.
        """
        return self._answer(lambda known: list_failures(known, asked, cancelled=cancelled), asked)

    def approvals(
        self, asked: AuditFilter = EVERYTHING, *, pending: bool | None = None
    ) -> Iterator[Approval]:
        """Yield approvals, newest first by when they were asked for.

        Args:
            pending: True for those that wait for a decision only, False for all others.
        """
        return self._answer(lambda known: list_approvals(known, asked, pending=pending), asked)

    def search(self, phrase: str, asked: AuditFilter = EVERYTHING) -> Iterator[Hit]:
        """Yield the texts that hold a phrase, best first.

        Its words stand in them one after the other, whatever their case and what is between
        them; see `journal.words`. The best hold it most often; of those the shortest, and of
        those the newest, comes first. Only the newest `projections.audit.searching.RANKED` are
        ranked.

        Args:
            phrase: data; nothing in it is syntax. It has 1 to 200 words.
        """
        words = Phrase(phrase)
        return self._answer(lambda known: find_phrase(known, asked, words), asked)

    def timeline(self, run_id: str, asked: AuditFilter = EVERYTHING) -> Iterator[Happened]:
        """Yield what happened in a run, in logical order.

        Raises:
            RunNotFound: nothing of this run was ever recorded.
        """
        return self._answer(lambda known: run_timeline(known, run_id, asked))

    def gaps(self, asked: AuditFilter = EVERYTHING) -> Iterator[Gap]:
        """Yield what is missing: damaged events, then by run, then calls without returns.

        Damaged events are listed only where nothing narrows the question: it is not known which
        run they are of.
        """
        return self._answer(lambda known: list_gaps(known, asked, self._damage()), asked)

    def term(
        self, run_id: str, term: str, asked: AuditFilter = EVERYTHING, *, exact: bool = False
    ) -> Iterator[TermPlace]:
        """Yield where a term entered a run, and everywhere it went, in logical order.

        It reads the run's events themselves, those that a fork inherits too: stream records and
        deltas (also where the term is split across them), what each checkpoint and exported
        state has that the one before had not, and all other facts. Strings, keys and numbers
        are looked through, not what a child run has in a stream of its own.

        Args:
            term: one to a thousand characters, anywhere in a text.
            exact: tell upper from lower case.

        Raises:
            RunNotFound: nothing of this run was ever recorded.
            RunIsArchived: its events are in an archive only.
            CorruptEvent, BrokenBase: the run is damaged.
        """
        pattern = term_pattern(term, exact=exact)
        check_text("run", run_id)

        def find() -> Iterator[TermPlace]:
            return self._term(run_id, term, pattern)

        if not asked.is_narrow:
            return limited(find(), asked)
        return self._answer(lambda known: limited(narrowed(known, run_id, asked, find()), asked))

    def _term(self, run_id: str, term: str, pattern: re.Pattern[str]) -> Iterator[TermPlace]:
        with whole(self._journal, self._archive) as events:
            yield from find_term(events, run_id, term, pattern)

    def stats(self, asked: AuditFilter = EVERYTHING) -> Stats:
        """Count runs, events, tokens and calls.

        Args:
            asked: `since` and `until` are of when runs ended, or changed last, and of when calls
                and responses were recorded; `limit` is of tools.
        """

        def ask(known: KnownRuns) -> Iterator[Stats]:
            yield make_stats(known, asked, None if asked.is_narrow else self._sizes())

        [stats] = self._answer(ask)
        return stats

    def sql(
        self, statement: str, *, rows: int = 10_000, seconds: float = 10.0, megabytes: int = 256
    ) -> Selected:
        """Run one SELECT over the views `rows`, `runs` and `calls`.

        SQLite answers; where there is an archive, DuckDB does.

        Args:
            rows: that are given at most.
            seconds: that it may take.
            megabytes: of memory that it may take.

        Raises:
            SQLRefused: it is no SELECT, or reads or calls something else.
            LimitReached: it takes more; that there are more rows is told after the last.
        """
        return select_apart(
            self._journal,
            self._archive,
            statement,
            rows=rows,
            seconds=seconds,
            megabytes=megabytes,
        )

    def _sizes(self) -> list[NameSize]:
        archive, upto = self._archive, Position(0)
        found: list[NameSize] = []
        if archive is not None:
            upto = archive.last_position
            found += archive.reader.store.sizes()
        if self._journal is not None:
            found += self._journal.reader.store.sizes(after=upto)
        return found

    def _damage(self) -> Sequence[tuple[Position, str]]:
        """List what of the journal could not be read; an archive is verified for itself."""
        if self._journal is None:
            return ()
        upto = 0 if self._archive is None else self._archive.last_position
        return [each for each in catch_up(self._journal).damage() if each[0] > upto]

    def left_out(self) -> int:
        """Count the runs that no answer tells of: dropped ones, where no archive is given."""
        if self._journal is None or self._archive is not None:
            return 0
        return catch_up(self._journal).dropped()

    def _answer(
        self, ask: Callable[[KnownRuns], Iterator[Answer]], asked: AuditFilter = EVERYTHING
    ) -> Iterator[Answer]:
        """Ask again in memory where the rows turn out to be unusable, while none was given.

        Raises:
            RunIsArchived: the run asked for is in an archive only, and none is given.
        """
        for _ in range(ATTEMPTS):
            begun = False
            try:
                with reading(self._journal, self._archive) as reader:
                    known = KnownRuns(reader, self._journal)
                    self._must_be_here(known, asked.run)
                    for answer in ask(known):
                        begun = True
                        yield answer
            except ViewsUnusable as problem:
                lasting = problem
                if self._journal is not None:
                    self._journal.views.distrust(problem)
                if begun:
                    break
            else:
                return
        raise StorageFailed(
            "what is derived from the journal", "look at", lasting.reason
        ) from lasting

    def _must_be_here(self, known: KnownRuns, run_id: str | None) -> None:
        if run_id is not None and self._archive is None:
            facts = known.facts(run_id)
            if facts is not None:
                known.must_be_here(facts)
