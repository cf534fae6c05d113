"""Following a journal from asyncio."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import TYPE_CHECKING, Self

from journal.arrival_watch import ArrivalWatch
from journal.codec import RecordedEvent
from journal.ids import Position
from journal.subscription import Subscription

if TYPE_CHECKING:
    from journal.aio import AsyncJournal

AT_ONCE = 1e-6
"""A time to wait, in seconds, in which only what is known or due to be looked up is found."""


class AsyncSubscription:
    """A `journal.Subscription` for asyncio: an asynchronous iterator and context manager.

    One task iterates. Waiting takes no thread of its own, and one that is cancelled loses no
    event: the next `anext` gives it. What is wrong with the arguments is raised on entering,
    or with the first event.
    """

    def __init__(
        self,
        journal: AsyncJournal,
        watch: ArrivalWatch,
        *,
        after: int,
        run_id: str | None,
        must_exist: bool,
    ) -> None:
        self._journal = journal
        self._watch = watch
        self._after = after
        self._run_id = run_id
        self._must_exist = must_exist
        self._sync: Subscription | None = None
        self._closed = False
        self._woken: asyncio.Future[None] | None = None

    @property
    def position(self) -> Position:
        """How far it got: of the last event given, for `after` of another subscription."""
        return Position(self._after) if self._sync is None else self._sync.position

    async def close(self) -> None:
        """End the iteration, also one that waits in another task; twice does nothing."""
        self._closed = True
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(None)

    async def _opened(self) -> Subscription:
        if self._sync is None:
            self._sync = await self._journal.call(
                self._journal.sync.subscribe,
                after=self._after,
                run_id=self._run_id,
                must_exist=self._must_exist,
            )
        return self._sync

    async def _arrival(self, after: Position) -> None:
        self._woken = asyncio.get_running_loop().create_future()
        with self._watch.waking(self._woken, after):
            await self._woken

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> RecordedEvent:
        while not self._closed:
            subscription = await self._opened()
            feed = subscription.feed
            if not feed.ready:
                await self._journal.call(feed.advance, AT_ONCE)
            if feed.ready:
                return subscription.take()
            if not self._closed:
                await self._arrival(feed.awaited)
        raise StopAsyncIteration

    async def __aenter__(self) -> Self:
        await self._opened()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
