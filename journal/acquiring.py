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
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def acquired(made: Future[T], give_back: Callable[[T], None]) -> T:
    """Wait for what a thread makes; it is given back when nobody waits for it any more.

    Args:
        made: of `in_thread`, or of a pool.
        give_back: begins to, elsewhere: it is called in any thread, also the event loop's.

    Raises:
        Exception: what making it raised.
    """

    def abandoned(done: Future[T]) -> None:
        if not done.cancelled() and done.exception() is None:
            give_back(done.result())

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
    spawn(_work, done, context, do)
    return done


def spawn(do: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
    """Do something in a thread for which nobody waits but the process; an error is printed."""
    threading.Thread(target=do, args=args, kwargs=kwargs).start()


def _work(done: Future[T], context: contextvars.Context, do: Callable[[], T]) -> None:
    try:
        done.set_result(context.run(do))
    except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
        done.set_exception(error)
    finally:
        del done  # as above
