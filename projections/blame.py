"""Whose damage it is, when a run that others build on cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from journal.errors import BrokenBase, CorruptEvent
from journal.ids import StreamId, Version

OPENING = Version(1)


@contextmanager
def blamed_on(stream: StreamId) -> Iterator[None]:
    """Read a run, also what it inherits.

    Raises:
        BrokenBase: in place of `CorruptEvent` where another run is damaged; it names both.
    """
    try:
        yield
    except CorruptEvent as error:
        if error.stream == stream:
            raise
        raise BrokenBase(stream, OPENING, error.stream, error.reason) from error
