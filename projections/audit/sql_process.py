"""SQL of people in a process of its own, which is killed when it takes too much.

What an engine looks at while a statement runs does not bound everything: within one function,
neither SQLite nor DuckDB looks at the time, nor counts all the memory. The system does.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, NamedTuple

from journal.errors import LimitReached
from journal.journal import Journal
from journal.stores.audit import Selected
from projections.audit.catching_up import catch_up
from projections.audit.selecting import select
from projections.audit.sources import Archived
from projections.reading import HasReader

if sys.platform != "win32":
    import resource

GRACE = 0.5
"""Seconds beyond the limit in which the engine may say itself that it is reached."""

SLACK = 512 * 1024 * 1024
"""Bytes of addresses beyond the limit that threads and allocators may reserve and not use."""

_FEW_ARENAS = {"MALLOC_ARENA_MAX": "2"}
"""What keeps glibc from reserving 64 MiB of addresses for each thread."""

LOOK_EVERY = 0.01
"""Seconds between two looks at the memory of the process."""

_NO_THREAD = "can't start new thread"
"""What Python says when the system has no addresses left for the stack of one."""

_MEGABYTE = 1024 * 1024
_READY = b"ready\n"
_MAIN = "from projections.audit.sql_process import main; main()"


class Question(NamedTuple):
    """What the process is asked."""

    journal: str | None
    """Its file; None for the archive alone."""
    archive: str | None
    """Its location, where there is one."""
    sql: str
    rows: int
    seconds: float
    megabytes: int


def select_apart(  # noqa: PLR0913 - where, what, and its limits
    journal: HasReader | None,
    archive: Archived | None,
    sql: str,
    *,
    rows: int,
    seconds: float,
    megabytes: int,
) -> Selected:
    """Run a SELECT over the rows of a journal, of an archive, or of both; see `Audit.sql`.

    A journal that is in this process's memory only is asked here.

    Raises:
        SQLRefused, LimitReached: see `Audit.sql`.
        RuntimeError: the process cannot be started.
    """
    file = None
    if journal is not None:
        file = journal.reader.store.file
        if file is None:
            return select(journal, archive, sql, rows=rows, seconds=seconds, megabytes=megabytes)
    return _asked(
        Question(
            None if file is None else str(file),
            None if archive is None else archive.location,
            sql,
            rows,
            seconds,
            megabytes,
        )
    )


def _asked(question: Question) -> Selected:
    process = subprocess.Popen(  # noqa: S603 - this very Python, and no text of anybody
        [sys.executable, "-P", "-c", _MAIN],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **_FEW_ARENAS, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    with process:
        try:
            answer, said = _watched(process, question)
        finally:
            process.kill()
    if answer is None:
        raise RuntimeError(f"the process that runs SQL ended at its start: {said}")
    columns, found, error = answer
    if error is not None and not columns:
        raise error
    return Selected(columns, _given(found, error))


def _given(found: list[tuple[Any, ...]], error: BaseException | None) -> Iterator[tuple[Any, ...]]:
    yield from found
    if error is not None:
        raise error


def _watched(process: subprocess.Popen[bytes], question: Question) -> tuple[Any, str]:
    """Ask, and wait for the answer or a limit; None where the process never was ready."""
    assert process.stdin and process.stdout and process.stderr  # noqa: S101, PT018 - pipes
    said = _Reading(process.stderr)
    try:
        process.stdin.write(pickle.dumps(question))
        process.stdin.close()
    except BrokenPipeError:
        pass  # it ended before; what it said tells why
    if process.stdout.readline() != _READY:
        return None, said.content().decode(errors="replace").strip()
    until = time.monotonic() + question.seconds + GRACE
    most = _memory(process.pid) + question.megabytes * _MEGABYTE
    answer = _Reading(process.stdout)
    while not answer.ended(LOOK_EVERY):
        if time.monotonic() > until:
            raise LimitReached("seconds", question.seconds)
        if _memory(process.pid) > most:
            raise LimitReached("megabytes", question.megabytes)
    content = answer.content()
    if not content:  # the system refused it memory, in a place that cannot say so
        raise LimitReached("megabytes", question.megabytes)
    return pickle.loads(content), ""  # noqa: S301 - of our own process


class _Reading:
    """Reads a pipe to its end in a thread."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._content = b""
        self._thread = threading.Thread(target=self._read, args=(pipe,), daemon=True)
        self._thread.start()

    def _read(self, pipe: IO[bytes]) -> None:
        self._content = pipe.read()

    def ended(self, timeout: float) -> bool:
        """Wait for the end for so many seconds; tell whether it came."""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def content(self) -> bytes:
        """Give everything, when it has ended."""
        self._thread.join()
        return self._content


def _memory(process: int) -> int:
    """Tell what a process holds, in bytes; 0 where the system does not tell or it ended."""
    return _pages(process, 1)


def _pages(process: int | str, field: int) -> int:
    try:
        held = Path(f"/proc/{process}/statm").read_text("ascii").split()
    except OSError:
        return 0
    return int(held[field]) * os.sysconf("SC_PAGE_SIZE") if held else 0


def main() -> None:
    """Answer the question that stands on the standard input."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asked is told, and ends this
    question = pickle.load(sys.stdin.buffer)  # noqa: S301 - of our own process
    out = sys.stdout.buffer
    with ExitStack() as stack:
        columns: tuple[str, ...] = ()
        found: list[tuple[Any, ...]] = []
        error: BaseException | None = None
        try:
            query = _opened(stack, question)
            out.write(_READY)
            out.flush()
            _bound(question.megabytes)
            columns, rows = query()
            found.extend(rows)
        except _no_memory(question):
            error = LimitReached("megabytes", question.megabytes)
        except Exception as problem:  # noqa: BLE001 - who asked raises it
            no_thread = isinstance(problem, RuntimeError) and _NO_THREAD in str(problem)
            error = LimitReached("megabytes", question.megabytes) if no_thread else problem
        answer = pickle.dumps((columns, found, error))
        if not out.closed:
            out.write(answer)
            out.flush()


def _no_memory(question: Question) -> tuple[type[Exception], ...]:
    """List the errors that say that the system gave no more memory."""
    if question.archive is None:
        return (MemoryError,)
    import duckdb  # noqa: PLC0415 - of an extra

    return (MemoryError, duckdb.OutOfMemoryException)


def _bound(megabytes: int) -> None:
    """Let the system refuse what is far beyond the limit, also at once."""
    if sys.platform == "win32":
        return
    held = _pages("self", 0)
    if held:
        most = held + megabytes * _MEGABYTE + SLACK
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _opened(stack: ExitStack, question: Question) -> Callable[[], Selected]:
    """Open what is asked, and give what runs the statement."""
    sql, rows, seconds, megabytes = question[2:]
    journal = archive = None
    if question.journal is not None:
        journal = stack.enter_context(Journal.open(Path(question.journal), create=False))
        catch_up(journal)
    if question.archive is not None:
        from projections.archive.opened import open_archive  # noqa: PLC0415 - needs an extra

        archive = stack.enter_context(open_archive(question.archive))
    return lambda: select(journal, archive, sql, rows=rows, seconds=seconds, megabytes=megabytes)
