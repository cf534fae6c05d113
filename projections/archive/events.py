"""The files of events of an archive: which are opened for what, and how much is read at once."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence

from journal.ids import RUN_PREFIX, SESSION_PREFIX, Position, StreamId, Version
from journal.stores.audit import LARGEST
from journal.stores.interface import Identity, NameSize, StoredEvent
from projections.archive.catalogue import Span
from projections.archive.files import Rows, SegmentFiles
from projections.archive.identities import holds, name_of, text_of
from projections.archive.layout import EVENTS
from projections.archive.parts import Part
from projections.archive.stretches import BYTES_AT_ONCE, Piece, Pieces, Stretch, stretches_of

TOGETHER = 64
"""Events fetched at a time where some are picked out of many."""

AHEAD = 8192
"""Positions read at a time when the whole journal is."""

MOST = 2**31
"""Of a limit, which must fit into 64 bits."""

FEW = 2
"""Stretches that are read whole where only some of their events are wanted."""

_COLUMNS = "position, version, name, stored_at, data"
_OF_RUN = "run_id = ?"
_OF_SESSION = "run_id IS NULL AND session_id = ?"
_STREAM = f"coalesce('{RUN_PREFIX}' || run_id, '{SESSION_PREFIX}' || session_id)"


class EventFiles:
    """Reads events of streams, whose segments are told by the catalogue; safe for threads."""

    def __init__(self, files: SegmentFiles) -> None:
        self._files = files
        self._streams = Pieces()
        self._everything = Pieces()
        """Of the whole journal, by position."""

    def page(  # noqa: PLR0913 - a range, a filter and a direction
        self,
        stream: StreamId,
        spans: Sequence[Span],
        *,
        low: int,
        high: int,
        names: Collection[str] | None,
        newest_first: bool,
        limit: int,
    ) -> list[StoredEvent]:
        """Read a page of a stream: some versions within bounds, both inclusive."""
        stretches = [each for each in stretches_of(spans) if low <= each.high and each.low <= high]
        if names is not None and len(stretches) > FEW:
            chosen = self._named(stream, spans, low, high, names, newest_first, limit)
            return self.picked(stream, spans, chosen, newest_first=newest_first)
        for piece in self._pieces_of(stream, stretches, low, high, newest_first=newest_first):
            found = [
                event
                for event in (reversed(piece.events) if newest_first else piece.events)
                if low <= event.version <= high and (names is None or event.name in names)
            ]
            if found:
                return found[:limit]
        return []

    def count(self, stream: StreamId, spans: Sequence[Span], names: Collection[str]) -> int:
        """Count the events of some names."""
        where, key = _of(stream)
        select = f"SELECT count(*) FROM source WHERE {where} AND name IN (SELECT unnest(?))"
        parts = [span.part for span in spans]
        found: int = self._files.ask(EVENTS, parts, select, key, sorted(names))[0][0]
        return found

    def sizes(self, parts: Sequence[Part], after: Position) -> list[NameSize]:
        """Sum up the events after a position by stored name."""
        parts = [part for part in parts if part.last_position > after]
        if not parts:
            return []
        select = (
            "SELECT name, count(*), sum(strlen(data))::BIGINT FROM source WHERE position > ? "
            "GROUP BY name"
        )
        return [NameSize(*row) for row in self._files.ask(EVENTS, parts, select, max(after, 0))]

    def find(
        self, stream: StreamId, spans: Sequence[Span], identity: Identity
    ) -> StoredEvent | None:
        """Find the event of an identity."""
        name = name_of(identity)
        if name is None:
            return None
        where, key = _of(stream)
        select = f"SELECT {_COLUMNS} FROM source WHERE {where} AND name = ? AND contains(data, ?)"
        values: list[str | int] = [key, name, text_of(identity)]
        if isinstance(identity, int):
            select += " AND anchor = ?"
            values.append(min(identity, LARGEST))
        rows = self._files.ask(EVENTS, [span.part for span in spans], select, *values)
        return next((event for event in _events(stream, rows) if holds(event, identity)), None)

    def after(self, parts: Sequence[Part], after: Position, limit: int) -> list[StoredEvent]:
        """Read a page of the whole archive by position."""
        for part in parts:
            if part.last_position <= after:
                continue
            # Pieces begin at fixed places, so that the next page finds what was read ahead.
            low = part.first_position
            low += max(0, after + 1 - low) // AHEAD * AHEAD
            while low <= part.last_position:
                high = min(low + AHEAD - 1, part.last_position)
                piece = self._everything.get(None, low) or self._read_positions(part, low, high)
                found = [event for event in piece.events if event.position > after]
                if found:
                    return found[:limit]
                low = piece.high + 1
        return []

    def _pieces_of(
        self,
        stream: StreamId,
        stretches: Sequence[Stretch],
        low: int,
        high: int,
        *,
        newest_first: bool,
    ) -> Iterator[Piece]:
        """Read the pieces of stretches that have versions within bounds, in order."""
        if not newest_first:
            for stretch in stretches:
                yield from self._pieces(stream, stretch, low, high)
            return
        for stretch in reversed(stretches):
            yield from reversed(list(self._pieces(stream, stretch, low, high)))

    def _pieces(self, stream: StreamId, stretch: Stretch, low: int, high: int) -> Iterator[Piece]:
        at = stretch.low
        while at <= min(stretch.high, high):
            piece = self._streams.get(stream, at) or self._read_piece(stream, stretch, at)
            if piece.high >= low:
                yield piece
            at = piece.high + 1

    def _read_piece(self, stream: StreamId, stretch: Stretch, low: int) -> Piece:
        where, key = _of(stream)
        select = (
            f"SELECT {_COLUMNS} FROM source WHERE {where} AND version BETWEEN ? AND ? "
            "ORDER BY version"
        )
        values = key, low, stretch.high
        with self._files.pages(EVENTS, stretch.parts, select, *values, size=TOGETHER) as pages:
            events, whole = _within_bytes(_events(stream, rows) for rows in pages)
        high = stretch.high if whole else events[-1].version
        piece = Piece(low, high, events)
        self._streams.put(stream, piece)
        return piece

    def _read_positions(self, part: Part, low: int, high: int) -> Piece:
        select = (
            f"SELECT {_COLUMNS}, {_STREAM} FROM source WHERE position BETWEEN ? AND ? "
            "ORDER BY position"
        )
        with self._files.pages(EVENTS, [part], select, low, high, size=TOGETHER) as pages:
            events, whole = _within_bytes(_events(None, rows) for rows in pages)
        piece = Piece(low, high if whole else events[-1].position, events)
        self._everything.put(None, piece)
        return piece

    def _named(  # noqa: PLR0913, PLR0917 - a range, a filter and a direction
        self,
        stream: StreamId,
        spans: Sequence[Span],
        low: int,
        high: int,
        names: Collection[str],
        newest_first: bool,  # noqa: FBT001 - as its caller has it
        limit: int,
    ) -> list[int]:
        """Find the versions of events of some names, rising."""
        where, key = _of(stream)
        select = (
            f"SELECT version FROM source WHERE {where} AND version BETWEEN ? AND ? "
            "AND name IN (SELECT unnest(?)) "
            f"ORDER BY version {'DESC' if newest_first else ''} LIMIT ?"
        )
        parts = _parts(spans, [low, high])
        values = key, low, high, sorted(names), min(limit, MOST)
        rows = self._files.ask(EVENTS, parts, select, *values)
        return sorted(version for (version,) in rows)

    def picked(
        self,
        stream: StreamId,
        spans: Sequence[Span],
        versions: Sequence[int],
        *,
        newest_first: bool = False,
    ) -> list[StoredEvent]:
        """Read events of versions, which rise; as many as a page holds, from one end."""
        stretches = [each for each in stretches_of(spans) if _any_within(versions, each)]
        wanted = set(versions)
        pages: Iterator[list[StoredEvent]]
        if len(stretches) <= FEW:
            low, high = (versions[0], versions[-1]) if versions else (1, 0)
            pieces = self._pieces_of(stream, stretches, low, high, newest_first=newest_first)
            pages = (
                [event for event in piece.events if event.version in wanted] for piece in pieces
            )
        else:
            batches = list(_batches(versions))
            pages = (
                self._of_versions(stream, spans, some)
                for some in (reversed(batches) if newest_first else batches)
            )
        return _within_bytes(page[::-1] if newest_first else page for page in pages)[0]

    def _of_versions(
        self, stream: StreamId, spans: Sequence[Span], versions: list[int]
    ) -> list[StoredEvent]:
        where, key = _of(stream)
        select = (
            f"SELECT {_COLUMNS} FROM source WHERE {where} AND version IN (SELECT unnest(?)) "
            "ORDER BY version"
        )
        parts = _parts(spans, versions)
        return _events(stream, self._files.ask(EVENTS, parts, select, key, versions))


def _of(stream: StreamId) -> tuple[str, str]:
    """Say which rows are of a stream, and give the value to bind."""
    if stream.startswith(RUN_PREFIX):
        return _OF_RUN, stream[len(RUN_PREFIX) :]
    return _OF_SESSION, stream.removeprefix(SESSION_PREFIX)


def _parts(spans: Sequence[Span], versions: Sequence[int]) -> list[Part]:
    """Give the segments that may hold versions between the first and the last of these."""
    low, high = versions[0], versions[-1]
    return [each.part for each in spans if low <= each.last_version and each.first_version <= high]


def _any_within(versions: Sequence[int], stretch: Stretch) -> bool:
    at = bisect_left(versions, stretch.low)
    return at < len(versions) and versions[at] <= stretch.high


def _batches(versions: Sequence[int]) -> Iterator[list[int]]:
    for at in range(0, len(versions), TOGETHER):
        yield list(versions[at : at + TOGETHER])


def _events(stream: StreamId | None, rows: Rows) -> list[StoredEvent]:
    return [
        StoredEvent(
            Position(row[0]),
            StreamId(row[5]) if stream is None else stream,
            Version(row[1]),
            row[2],
            row[3],
            row[4].encode(),
        )
        for row in rows
    ]


def _within_bytes(pages: Iterable[list[StoredEvent]]) -> tuple[list[StoredEvent], bool]:
    """Take events until they are too many bytes, and tell whether those are all."""
    events: list[StoredEvent] = []
    size = 0
    for page in pages:
        if size > BYTES_AT_ONCE:
            return events, False
        events += page
        size += sum(len(event.data) for event in page)
    return events, True
