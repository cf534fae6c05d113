"""The parts of the audit's benchmark; each is for a process of its own."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from audit_duckdb import Lines
from audit_journal import ClockedStore, Recording, Shape
from audit_peers import write_lines, write_table
from audit_questions import Asked, Question, questions
from audit_sqlite import Table, index_table
from memory import peak_bytes

from journal import Journal
from journal.stores import open_store
from projections.audit import Audit, AuditFilter
from projections.audit.catching_up import catch_up

SECONDS = 10.0
"""A question is not asked again after these."""

FOREVER = 4_000_000_000_000_000
"""Later than anything that is recorded, in microseconds since the epoch."""


class Places(NamedTuple):
    """Where everything is."""

    journal: Path
    archive: Path
    table: Path
    indexed: Path
    lines: Path

    @property
    def views(self) -> Path:
        """Where the journal's live rows are."""
        return self.journal.with_name(self.journal.name + ".views")


def places(folder: Path) -> Places:
    """Say where everything is."""
    names = ("runs.db", "archive", "plain.db", "indexed.db", "lines")
    return Places(*(folder / name for name in names))


class Built(NamedTuple):
    """Something that was made."""

    events: int
    seconds: float
    peak: int
    """Bytes of memory."""


class Answered(NamedTuple):
    """How one question was answered."""

    opening: float
    """Seconds to open what answers it."""
    first: float
    """Seconds of the first answer, with nothing in the system's cache of files."""
    warm: list[float]
    """Seconds of the others."""
    found: int
    """Things in the answers, all together."""
    digest: str
    """Of what was answered; of the audit only."""
    peak: int
    """Bytes of memory."""


class Lag(NamedTuple):
    """How long an answer took after so many new events; seconds."""

    events: int
    seconds: float


def catch_up_first(where: Places) -> Built:
    """Take in a whole journal."""
    for old in where.views.parent.glob(where.views.name + "*"):
        old.unlink()
    with Journal.open(where.journal) as journal:
        began = time.perf_counter()
        catch_up(journal)
        seconds = time.perf_counter() - began
        return Built(journal.reader.last_position(), seconds, peak_bytes())


def write_archive(where: Places, before: int) -> Built:
    """Archive everything before a time."""
    from projections.archive.writing import write_archive as write  # noqa: PLC0415

    with Journal.open(where.journal) as journal:
        began = time.perf_counter()
        written = write(journal, where.archive, before=before)
        return Built(written.events, time.perf_counter() - began, peak_bytes())


def middle(where: Places) -> int:
    """Tell the time in the middle of a journal, in microseconds since the epoch."""
    with Journal.open(where.journal, create=False) as journal:
        events = journal.reader.stored_events
        first = next(iter(events()))
        half = next(iter(events(after=journal.reader.last_position() // 2)))
        return half.recorded_at if half.recorded_at > first.recorded_at else FOREVER


def lag(where: Places, counts: tuple[int, ...]) -> list[Lag]:
    """Record so many events and ask; the first is without any new events.

    The journal grows by them.
    """
    found = []
    store = ClockedStore(open_store(where.journal, create=False, durability="relaxed"), 0)
    with Journal(store) as journal:  # type: ignore[arg-type] # it is one by its methods
        audit, newest = Audit(journal), AuditFilter(limit=1)
        list(audit.tools(newest))
        for number, count in enumerate((0, *counts)):
            store.events = 0
            if count:
                shape = Shape(count, max(1, count // 50), 1, seed=1000 + number)
                Recording(store, journal, shape).record()
            began = time.perf_counter()
            list(audit.tools(newest))
            found.append(Lag(store.events, time.perf_counter() - began))
    return found


def write_plain(where: Places) -> Built:
    """Write the library's table."""
    return _built(lambda: write_table(where.journal, where.table))


def write_indexed(where: Places) -> Built:
    """Index a copy of the library's table."""
    where.indexed.write_bytes(where.table.read_bytes())
    return _built(lambda: index_table(where.indexed))


def write_json_lines(where: Places) -> Built:
    """Write the JSON lines."""
    where.lines.mkdir()
    return _built(lambda: write_lines(where.journal, where.lines))


def _built(work: Callable[[], None]) -> Built:
    began = time.perf_counter()
    work()
    return Built(0, time.perf_counter() - began, peak_bytes())


@contextmanager
def _audit(where: Places, *, live: bool, archived: bool) -> Iterator[Audit]:
    with ExitStack() as stack:
        journal = stack.enter_context(Journal.open(where.journal)) if live else None
        archive = None
        if archived:
            from projections.archive.opened import open_archive  # noqa: PLC0415

            archive = stack.enter_context(open_archive(where.archive))
        yield Audit(journal, archive)


def ask_audit(  # noqa: PLR0913 - what, of whom, how often
    where: Places, name: str, asked: Asked, repeat: int, *, live: bool, archived: bool
) -> Answered:
    """Ask the audit a question about everything, again and again."""
    _forget(where)
    began = time.perf_counter()
    with _audit(where, live=live, archived=archived) as audit:
        opening = time.perf_counter() - began
        asking = questions(name, asked)

        def ask(question: Question) -> int:
            return sum(1 for _ in question.of_audit(audit))

        first, warm, found = _timed(asking, ask, repeat)
        peak = peak_bytes()
        digest = hashlib.sha256()
        for question in asking:
            for answer in question.of_audit(audit):
                digest.update(json.dumps(answer.to_json()).encode())
        return Answered(opening, first, warm, found, digest.hexdigest(), peak)


def ask_live(where: Places, name: str, asked: Asked, repeat: int) -> Answered:
    """Ask the journal."""
    return ask_audit(where, name, asked, repeat, live=True, archived=False)


def ask_archived(where: Places, name: str, asked: Asked, repeat: int) -> Answered:
    """Ask the archive alone."""
    return ask_audit(where, name, asked, repeat, live=False, archived=True)


def ask_mixed(where: Places, name: str, asked: Asked, repeat: int) -> Answered:
    """Ask the journal and the archive of its first half."""
    return ask_audit(where, name, asked, repeat, live=True, archived=True)


def ask_table(where: Places, name: str, asked: Asked, repeat: int) -> Answered:
    """Ask the library's table."""
    return _ask_peer(where, lambda: Table(where.table), name, asked, repeat)


def ask_indexed(where: Places, name: str, asked: Asked, repeat: int) -> Answered:
    """Ask the table with indexes."""
    return _ask_peer(where, lambda: Table(where.indexed), name, asked, repeat)


def ask_lines(where: Places, name: str, asked: Asked, repeat: int) -> Answered:
    """Ask the JSON lines."""
    return _ask_peer(where, lambda: Lines(where.lines), name, asked, repeat)


def _ask_peer(
    where: Places, make: Callable[[], Any], name: str, asked: Asked, repeat: int
) -> Answered:
    _forget(where)
    began = time.perf_counter()
    peer = make()
    opening = time.perf_counter() - began
    first, warm, found = _timed(
        questions(name, asked), lambda question: question.of_peer(peer), repeat
    )
    return Answered(opening, first, warm, found, "", peak_bytes())


def _timed(
    asking: list[Question], ask: Callable[[Question], int], repeat: int
) -> tuple[float, list[float], int]:
    """Ask everything, then all again; gives the first time, the others, and what was found.

    It ends after `SECONDS`, but not before everything was asked once, and something again.
    """
    found, first, warm = 0, 0.0, []
    end = time.perf_counter() + SECONDS
    for number in range(repeat + 1):
        for at, question in enumerate(asking):
            began = time.perf_counter()
            if began > end and number and warm:
                return first, warm, found
            count = ask(question)
            taken = time.perf_counter() - began
            if number == at == 0:
                first = taken
            else:
                warm.append(taken)
            found += count * (number == 0)
    return first, warm, found


def _forget(where: Places) -> None:
    """Take all files out of the system's cache, where it lets one."""
    if not hasattr(os, "posix_fadvise"):
        return
    for path in where.journal.parent.rglob("*"):
        if path.is_file():
            handle = os.open(path, os.O_RDONLY)
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(handle)
