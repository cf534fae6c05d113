"""Work in a process of its own, which is ended when it takes too long or too much memory."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple

from memory import resident_bytes

LOOK_SECONDS = 0.05
"""How often a process is looked at."""


class Limits(NamedTuple):
    """What one process may take."""

    seconds: float
    megabytes: float
    """Resident memory; not held to where the system does not tell it."""


class NotDone(Exception):
    """The work was ended, or failed; the text says why."""


def bounded(limits: Limits, work: Callable[..., Any], *args: Any) -> Any:
    """Call a function in a new process, and give what it returns.

    Args:
        work: a function of a module, not of the script that was started.

    Raises:
        NotDone: it took too much, or it failed; then the process has printed why.
    """
    fresh = multiprocessing.get_context("spawn")
    ours, theirs = fresh.Pipe(duplex=False)
    process = fresh.Process(target=_work, args=(theirs, work, args))
    process.start()
    theirs.close()
    try:
        _wait(process, ours, limits)
        found = ours.recv()
        process.join()  # at its end it closes what is still open
    except EOFError:
        process.join()
        raise NotDone(f"failed with exit code {process.exitcode}") from None
    finally:
        process.kill()
        process.join()
        ours.close()
    return found


def _work(answer: Connection, work: Callable[..., Any], args: tuple[Any, ...]) -> None:
    answer.send(work(*args))
    answer.close()


def _wait(process: BaseProcess, answer: Connection, limits: Limits) -> None:
    end = time.monotonic() + limits.seconds
    while not answer.poll(LOOK_SECONDS):
        if time.monotonic() > end:
            raise NotDone(f"over {limits.seconds:g} s")
        if resident_bytes(process.pid) > limits.megabytes * 1e6:
            raise NotDone(f"over {limits.megabytes:g} MB")
