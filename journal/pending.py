"""A write on its way: what one call wants written, and how its caller waits for it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeAlias

from journal.ids import StreamId
from journal.offers import Offer
from journal.receipt import Receipt
from journal.stores.interface import NO_FENCES, Lease, NewEvent

Decide: TypeAlias = Callable[[], Sequence[Offer] | Receipt]
"""Looks at what is recorded and says what to record now: offers, none for nothing, or the
receipt of what is recorded already."""


class Write:
    """What one call wants written: all of it or none.

    It is settled once, with receipts or with an error. Its caller waits in a thread
    (`wait`) or awaits `future`, which must then be given before it is queued.
    """

    __slots__ = (
        "_signal",
        "attempts",
        "decide",
        "error",
        "fences",
        "future",
        "inside",
        "leads",
        "leases",
        "lingers",
        "offers",
        "planned",
        "queued_at",
        "receipts",
        "repeats",
        "same",
        "settled",
        "size",
        "streams",
        "taken",
        "told",
    )

    def __init__(  # noqa: PLR0913 - what is written, under which conditions
        self,
        offers: Sequence[Offer],
        fences: Mapping[StreamId, int] = NO_FENCES,
        leases: Sequence[Lease] = (),
        *,
        lingers: bool = False,
        decide: Decide | None = None,
        streams: Collection[StreamId] = (),
    ) -> None:
        """Ask for `offers` to be written.

        Args:
            offers: in order; at least one, or none with `decide`.
            fences: see `Store.append`.
            leases: see `Store.append`.
            lingers: it may wait a little for company.
            decide: gives the offers anew for each attempt. What it read of `streams` still
                holds when they are stored, also when other processes write.
            streams: what `decide` reads, and all that it offers to.
        """
        self.offers = offers
        self.decide = decide
        self.fences = fences
        self.leases = leases
        self.lingers = lingers
        self.streams = frozenset([*[offer.stream for offer in offers], *streams])
        self.size = sum([len(offer.data) or offer.size for offer in offers])
        """Bytes of JSON, about."""
        self.queued_at = time.monotonic()
        self.taken = False
        """Whether it left the queue, so that it can no longer be withdrawn."""
        self.inside = False
        """Whether it is, or was, in the queue and not outside it."""
        self.told = False
        """Whether its event loop was told that it is settled."""
        self.attempts = 0
        self.receipts: dict[int, Receipt] = {}
        """By place in `offers`, what is known so far."""
        self.repeats: dict[int, int] = {}
        """Places that hold the same as an earlier place."""
        self.same: Receipt | None = None
        """What `decide` said is recorded already, in place of any offers."""
        self.planned: list[tuple[int, NewEvent]] = []
        """The events of the transaction under way, with their places."""
        self.error: BaseException | None = None
        self.settled = False
        self.leads = False
        """Whether its caller is to commit the next group itself."""
        self.future: asyncio.Future[list[Receipt]] | None = None
        self._signal: threading.Lock | None = None

    def will_wait(self) -> None:
        """Prepare `wait`; called before another thread can see it."""
        self._signal = threading.Lock()
        self._signal.acquire()

    def wait(self) -> None:
        """Sleep until it is settled, or until its caller is to lead."""
        assert self._signal is not None  # noqa: S101 - will_wait went before
        self._signal.acquire()

    def wake(self) -> None:
        """Wake the caller that waits in a thread."""
        if self._signal is not None:
            self._signal.release()

    def settle(self) -> None:
        """Say that it is done: every place has its receipt, or there is an error."""
        self.planned = []
        self.settled = True
        self.wake()

    def result(self) -> list[Receipt]:
        """Give the receipts, in order; for a repeat the first one's.

        Raises:
            JournalError: what it was refused with.
        """
        if self.error is not None:
            raise self.error
        if self.same is not None:
            return [self.same]
        return [self.receipts[at] for at in range(len(self.offers))]

    def redecide(self) -> None:
        """Take the offers of `decide`, where there is one, in place of those before.

        Raises:
            JournalError: what is asked for may not be done any more.
        """
        if self.decide is None:
            return
        decided = self.decide()
        self.same = decided if isinstance(decided, Receipt) else None
        self.offers = () if isinstance(decided, Receipt) else decided
        self.receipts, self.repeats = {}, {}

    @property
    def what(self) -> str:
        """Say what it is, for messages."""
        if not self.offers:
            return f"a decision about {', '.join(sorted(self.streams))}"
        first = self.offers[0]
        more = f" and {len(self.offers) - 1} more" if len(self.offers) > 1 else ""
        return f"{first.what} of {first.stream}{more}"


def may_linger(made: Sequence[Offer]) -> bool:
    """Tell whether offers are nothing but deltas of a model's stream, which have some time."""
    return all(offer.is_delta for offer in made)
