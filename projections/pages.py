"""Pages: stretches of a run's logical order, each with the fold of all that comes before.

A page holds the places of its events. It is closed after the first checkpoint from which on
it has enough of them, so that what follows a checkpoint mostly stands in one page with it,
or when it is full. Late arrivals may fill it further, until it is cut in two.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from itertools import accumulate, pairwise, repeat
from typing import NamedTuple, Self

import orjson

from journal.events import CheckpointTaken
from journal.lineage import Bound
from journal.stores.views import Page
from projections.order import BEFORE_RECORDS, Entry
from projections.places import key_of, place_of

ENOUGH = 48
"""Events after which a page ends at a checkpoint."""

FULL = 128
"""Events after which a page ends."""

MOST = 256
"""Events that late arrivals may fill it up to."""

MOST_BYTES = 256 * 1024
"""Bytes of events, as JSON, after which a page ends."""


class BrokenPage(ValueError):
    """Bytes that are no entries of a page."""


class Entries(NamedTuple):
    """What stands in a page."""

    oldest: int
    """The lowest version in this page and in all after it."""
    places: list[Bound]
    """In logical order."""


def pack_entries(entries: Entries) -> bytes:
    """Encode entries: JSON `[oldest, unanchored, anchors, codes]`.

    `unanchored` is how many of them stand before the first record; the anchors of the others
    follow. A code is twice the version plus the rank. Both lists hold the first number and
    then the steps from one to the next.
    """
    anchors = [place[0] for place in entries.places if place[0] != BEFORE_RECORDS]
    codes = [version << 1 | rank for _, rank, version in entries.places]
    unanchored = len(codes) - len(anchors)
    return orjson.dumps([entries.oldest, unanchored, _steps(anchors), _steps(codes)])


def unpack_entries(data: bytes) -> Entries:
    """Decode entries.

    Raises:
        BrokenPage: they are none.
    """
    try:
        oldest, unanchored, steps, codes = orjson.loads(data)
        anchors = [*repeat(BEFORE_RECORDS, unanchored), *accumulate(steps)]
        places = [
            (anchor, code & 1, code >> 1)
            for anchor, code in zip(anchors, accumulate(codes), strict=True)
        ]
    except (TypeError, ValueError) as error:
        raise BrokenPage(str(error)) from error
    return Entries(oldest, places)


class Stretch(NamedTuple):
    """What a page holds, and where the next one begins."""

    oldest: int
    """The lowest version in this page and in all after it."""
    places: list[Bound]
    """In logical order."""
    following: Bound | None
    """None where it is the last page."""

    @classmethod
    def of(cls, page: Page, following: Sequence[Page]) -> Self:
        """Read a page, given the one after it, if any.

        Raises:
            BrokenPage: it is none.
        """
        oldest, places = unpack_entries(page.entries)
        return cls(oldest, places, place_of(following[0].first) if following else None)

    def holds(self, place: Bound | None) -> bool:
        """Tell whether what follows a place begins in this page."""
        if place is None or place < self.places[0]:
            return False
        return self.following is None or place < self.following


def _steps(numbers: list[int]) -> list[int]:
    return [*numbers[:1], *(after - before for before, after in pairwise(numbers))]


def is_full(count: int, size: int, last: Entry) -> bool:
    """Tell whether a page ends after its last entry.

    Args:
        count: entries in it.
        size: bytes of their events.
    """
    if count >= FULL or size >= MOST_BYTES:
        return True
    return count >= ENOUGH and last.event.name == CheckpointTaken.NAME


def insert(page: Page, place: Bound) -> list[Page]:
    """Put a late arrival where it belongs.

    Returns:
        The page, or the two that it was cut into; the second one's fold is not known.
    """
    entries = unpack_entries(page.entries)
    places = entries.places
    insort(places, place)
    oldest = min(entries.oldest, place[2])
    if len(places) <= MOST:
        return [page._replace(entries=pack_entries(Entries(oldest, places)))]
    # The later half keeps the bound of the whole: it may be too low, which costs a look.
    half = len(places) // 2
    return [
        page._replace(entries=pack_entries(Entries(oldest, places[:half]))),
        Page(key_of(places[half]), pack_entries(Entries(entries.oldest, places[half:])), b""),
    ]


def upto(places: list[Bound], before: Bound | None) -> list[Bound]:
    """Give the places before a bound, of places in order."""
    return places if before is None else places[: bisect_left(places, before)]
