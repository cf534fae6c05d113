"""Opening in a thread what must be given back, for callers that may be cancelled meanwhile."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


async def acquired(make: Callable[[], T], give_back: Callable[[T], None]) -> T:
    """Make something in a thread; it is given back there when nobody waits for it any more.

    A thread cannot be cancelled: what it makes for a task that was would be lost, and a run
    stay leased, or a journal open, as long as the process lives.

    Raises:
        Exception: what `make` raised.
    """
    made: Future[T] = Future()
    made.set_running_or_notify_cancel()  # it cannot be cancelled from here on

    def work() -> None:
        try:
            made.set_result(make())
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            made.set_exception(error)

    def abandoned(done: Future[T]) -> None:
        if done.exception() is None:
            threading.Thread(target=give_back, args=(done.result(),)).start()

    context = contextvars.copy_context()
    asyncio.get_running_loop().run_in_executor(None, context.run, work)
    try:
        return await asyncio.wrap_future(made)
    except asyncio.CancelledError:
        made.add_done_callback(abandoned)
        raise
