"""Reading an iterator some at a time, so that much can be looked up at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")

FIRST = 32
MOST = 512


def chunked(items: Iterable[Item], most: int = MOST, *, first: int = FIRST) -> Iterator[list[Item]]:
    """Yield lists of items in order: a few at first, for who wants no more, then longer ones."""
    source = iter(items)
    size = min(first, most)
    while some := list(islice(source, size)):
        yield some
        size = min(size * 2, most)
