"""What is taken and given back in threads, for tasks that may be cancelled meanwhile.

A thread cannot be cancelled: what it makes for a task that was would be lost, and a run stay
leased, or a journal open, as long as the process lives. Nor may a task that is cancelled keep
from being given back what it has: some frameworks cancel a task again wherever it awaits. So
each of these has a thread of its own, which waits for no pool, and for no event loop.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


async def acquired(make: Callable[[], T], give_back: Callable[[T], None]) -> T:
    """Make something in a thread; it is given back in one when nobody waits for it any more.

    Raises:
        Exception: what `make` raised.
    """
    made = in_thread(make)

    def abandoned(done: Future[T]) -> None:
        if done.exception() is None:
            in_thread(lambda: give_back(done.result()))

    try:
        return await asyncio.wrap_future(made)
    except BaseException:
        made.add_done_callback(abandoned)
        raise
    finally:
        del made  # an error in it would keep this frame, and this frame the error


async def carried_out(do: Callable[[], None]) -> None:
    """Do in a thread what must be done, also where the task is cancelled that waits for it.

    Raises:
        Exception: what `do` raised.
    """
    await asyncio.wrap_future(in_thread(do))


def in_thread(do: Callable[[], T]) -> Future[T]:
    """Begin to do something in a thread of its own; nobody can cancel it any more."""
    done: Future[T] = Future()
    done.set_running_or_notify_cancel()
    context = contextvars.copy_context()
    threading.Thread(target=_work, args=(done, context, do)).start()
    return done


def _work(done: Future[T], context: contextvars.Context, do: Callable[[], T]) -> None:
    try:
        done.set_result(context.run(do))
    except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
        done.set_exception(error)
    finally:
        del done  # as above
