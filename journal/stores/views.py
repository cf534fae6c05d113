"""What projections ask of the views file: rows that can be made again from events.

A `ViewStore` keeps what was derived from runs, so that it need not be derived again. It
knows nothing of folds: only streams, keys, numbers and bytes. Everything in it may be
dropped at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from journal.ids import Position, StreamId, Version

AUDIT = StreamId("audit")
"""What `ViewsUnusable` names in the place of a stream, where rows of the audit are damaged."""


class ViewsUnusable(Exception):
    """Rows of the views cannot be used: damaged, locked by others for too long, or gone.

    Whoever gets it makes what was asked for again, from events, and leaves the rows alone.

    Attributes:
        stream: the stream whose rows are damaged; None where none of the file can be used.
        reason: what is the matter.
    """

    def __init__(self, stream: StreamId | None, reason: str) -> None:
        super().__init__(stream, reason)
        self.stream = stream
        self.reason = reason


class Tracked(NamedTuple):
    """How far a stream was read: the tracking position of its rows."""

    stream: StreamId
    version: Version
    """Of the last event that the stream's rows take in."""
    position: Position
    """Of the same event."""
    state: bytes
    """What the projection needs to go on from there."""


class Page(NamedTuple):
    """A stretch of a stream's logical order, and the fold of everything before it."""

    first: bytes
    """Where it begins: keys compare, as bytes, in logical order."""
    entries: bytes
    """What stands in it."""
    fold: bytes
    """The fold of what comes before; empty where it is not known."""
    epoch: int = 0
    messages: int = 0
    step: int = 0
    """What that fold counts. Epoch and messages together, and the step, never fall from one
    page to the next."""
    newest: int = 0
    """The highest version that comes before."""
    latest: int = 0
    """The latest time recorded before, in microseconds since the epoch."""


class ViewReader(Protocol):
    """One state of a revision's rows. Every method may raise `ViewsUnusable`."""

    def tracked(self, stream: StreamId) -> Tracked | None:
        """Tell how far a stream was read; None where it never was."""
        ...

    def page_at(self, stream: StreamId, key: bytes) -> Page | None:
        """Give the last page that begins at or before a key."""
        ...

    def pages_after(self, stream: StreamId, key: bytes, *, limit: int) -> Sequence[Page]:
        """Give the pages that begin after a key, in order."""
        ...

    def page_within(
        self, stream: StreamId, key: bytes, *, newest: int | None, latest: int | None
    ) -> Page | None:
        """Give the last page at or before a key that has a fold and is within limits.

        Args:
            newest: its `newest` is at most this.
            latest: its `latest` is at most this.
        """
        ...

    def page_by_messages(self, stream: StreamId, epoch: int, messages: int) -> Page | None:
        """Give the last page with a fold whose epoch and messages, in this order, are not above."""
        ...

    def page_by_step(self, stream: StreamId, step: int) -> Page | None:
        """Give the last page with a fold whose step is at most this."""
        ...

    def chunks(self, stream: StreamId, keys: Sequence[int]) -> Mapping[int, bytes]:
        """Give chunks by their keys; all of them, or it raises."""
        ...

    def document(self, stream: StreamId, version: Version) -> tuple[Version, bytes] | None:
        """Give the last stored document at or below a version, and its version."""
        ...

    def returns(self, stream: StreamId, call: bytes) -> Sequence[tuple[Version, bytes]]:
        """Give version and place of every stored return of a tool call."""
        ...


class ViewWriter(ViewReader, Protocol):
    """A transaction of changes; it is all or nothing."""

    def track(self, tracked: Tracked) -> None:
        """Store how far a stream was read, in place of what was stored."""
        ...

    def put_page(self, stream: StreamId, page: Page) -> None:
        """Store a page, in place of one that begins at the same key."""
        ...

    def raise_limits(self, stream: StreamId, key: bytes, *, newest: int, latest: int) -> None:
        """Raise `newest` and `latest` of every page that begins after a key to at least these."""
        ...

    def put_chunk(self, stream: StreamId, data: bytes) -> int:
        """Store a chunk and give its key; that of an equal one the stream has already."""
        ...

    def put_document(self, stream: StreamId, version: Version, root: bytes) -> None:
        """Store the document of an event."""
        ...

    def put_return(self, stream: StreamId, call: bytes, version: Version, place: bytes) -> None:
        """Store that a tool call returned.

        Args:
            call: 16 bytes that stand for the call's id.
            version: of the event.
            place: its key in logical order.
        """
        ...

    def forget(self, stream: StreamId) -> None:
        """Drop every row of a stream."""
        ...


class ViewStore(Protocol):
    """The rows of one revision of the fold, in one file or in memory; safe for threads."""

    @property
    def location(self) -> str:
        """Where the rows are, for messages: a path, or `memory`."""
        ...

    def reading(self) -> AbstractContextManager[ViewReader]:
        """Look at one state of the rows; short, because other threads wait.

        Raises:
            ViewsUnusable: see there; also from within.
        """
        ...

    def writing(self) -> AbstractContextManager[ViewWriter]:
        """Change rows in one transaction, which is undone when the block raises.

        Raises:
            ViewsUnusable: see there; also from within, and when the disk is full.
        """
        ...

    def close(self) -> None:
        """Release everything; twice does nothing."""
        ...
