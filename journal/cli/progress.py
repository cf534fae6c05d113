"""A progress bar on the standard error, for what takes longer than a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from journal.progress import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

PATIENCE = 1.0
"""Seconds that pass before a bar is shown."""

PAUSE = 0.1
"""Seconds between two updates."""


@contextmanager
def progress_bar(label: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Give a function that is told how much is done.

    Nothing is shown where the standard error is no terminal, nor within the first second.

    Args:
        label: what is counted.
        total: how much there is to do, when known.
    """
    if not sys.stderr.isatty():
        yield lambda _done: None
        return
    bar = _Bar(label, total)
    try:
        yield bar.at
    finally:
        bar.close()


@contextmanager
def phases() -> Iterator[Progress]:
    """Give a function that shows a bar for each thing that is being done, one after the other."""
    with ExitStack() as bars:
        doing = ""
        at: Callable[[int], None]

        def tell(what: str, done: int, total: int | None) -> None:
            nonlocal doing, at
            if what != doing:
                bars.close()
                at = bars.enter_context(progress_bar(what, total))
                doing = what
            at(done)

        yield tell


class _Bar:
    def __init__(self, label: str, total: int | None) -> None:
        self._label = label
        self._total = total
        self._next = time.monotonic() + PATIENCE
        self._shown: tuple[RichProgress, TaskID] | None = None

    def at(self, done: int) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + PAUSE
        if self._shown is None:
            self._shown = self._start()
        progress, task = self._shown
        progress.update(task, completed=done)

    def _start(self) -> tuple[RichProgress, TaskID]:
        from rich.console import Console  # noqa: PLC0415 - short commands never need it
        from rich.progress import (  # noqa: PLC0415
            MofNCompleteColumn,
            Progress,
            TaskProgressColumn,
            TimeElapsedColumn,
        )

        known = TaskProgressColumn() if self._total else MofNCompleteColumn()
        columns = [*Progress.get_default_columns()[:2], known, TimeElapsedColumn()]
        progress = Progress(
            *columns,
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        task = progress.add_task(self._label, total=self._total)
        progress.start()
        return progress, task

    def close(self) -> None:
        if self._shown is not None:
            self._shown[0].stop()
