"""Signals that wait while the main thread holds what other threads need.

Ctrl-C raises KeyboardInterrupt between any two steps of the main thread, also between taking
a lock and the `try` that gives it back. A commit is short, and others wait for it: signals
that arrive meanwhile are delivered when it is over.
"""

from __future__ import annotations

import signal as signals
import threading

# What signal.signal and signal.getsignal call, at a tenth of their cost.
from _signal import getsignal, signal  # type: ignore[import-not-found]
from collections.abc import Callable
from signal import SIGINT, SIGTERM
from types import FrameType, TracebackType
from typing import Any

WAITING = (SIGINT, SIGTERM, *([signals.SIGALRM] if hasattr(signals, "SIGALRM") else []))
"""Signals whose handlers raise: Ctrl-C, what hosts are ended with, and time limits."""

_main = threading.main_thread()


class InterruptsWait:
    """Context in which the signals of `WAITING` are put off; without effect in other threads."""

    __slots__ = ("_before", "_seen")

    def __enter__(self) -> None:
        self._before: dict[int, Callable[[int, FrameType | None], Any]] = {}
        self._seen: list[int] = []
        if threading.current_thread() is not _main:
            return
        for number in WAITING:
            if not callable(getsignal(number)):
                continue  # it raises nothing: ignored, or the system's to handle
            try:
                self._before[number] = signal(number, self._note)
            except ValueError:
                return  # a subinterpreter, which gets no signals

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal(number, handler)
        self._deliver()

    def _deliver(self) -> None:
        while self._seen:
            number = self._seen.pop(0)
            try:
                self._before[number](number, None)
            except BaseException:
                self._deliver()  # the others, too; the last one that raises is what is raised
                raise

    def _note(self, number: int, _: FrameType | None) -> None:
        self._seen.append(number)
