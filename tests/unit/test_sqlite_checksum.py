"""Whatever bit of a stored row is damaged, reading says so or gives the same answer."""

import sqlite3
import struct
from contextlib import closing

import pytest

from journal.errors import CorruptEvent, DamagedFile
from journal.ids import StreamId, Version
from journal.stores import NewEvent, open_store

LONG = b'{"text":"%s","more":[1,2,3]}' % (b"word " * 40)
INTEGERS = ("position", "stream", "version", "name", "codec", "recorded_at", "checksum")

EVENTS = [
    NewEvent(StreamId("run:a"), Version(1), "one.v1", b'{"n":1}'),
    NewEvent(StreamId("run:b"), Version(1), "one.v1", b'{"n":2}', 7),
    NewEvent(StreamId("run:a"), Version(2), "two.v1", LONG, "checkpoint:1"),
    NewEvent(StreamId("run:a"), Version(3), "two.v1", b'{"n":3}', 2**64 - 1),
    NewEvent(StreamId("run:b"), Version(2), "three.v1", LONG + b" ", 8),
    NewEvent(StreamId("run:a"), Version(4), "one.v1", b"[]", 300),
]
ROWS = range(1, len(EVENTS) + 1)
IDENTITIES = [(event.stream, event.identity) for event in EVENTS if event.identity is not None]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "runs.db"
    with closing(open_store(path, create=True)) as store:
        store.append(EVENTS, now=1_764_000_000_000_001)
    return path


def answers(store):
    """What each way of reading gives: a list of events, or the error."""
    found = []
    for read in (
        store.read_all,
        lambda: store.read_stream("run:a"),
        lambda: store.read_stream("run:b"),
        lambda: store.read_stream("run:a", newest_first=True, names=["two.v1"]),
        *(lambda place=place: [store.find(*place)] for place in IDENTITIES),
    ):
        try:
            found.append(read())
        except (CorruptEvent, DamagedFile) as error:
            found.append(error)
    return found


def flipped(value):
    """Every value that differs from this one by a bit."""
    if isinstance(value, int):
        for bit in range(64):
            yield struct.unpack(">q", struct.pack(">Q", (value ^ (1 << bit)) % 2**64))[0]
    elif value is not None:
        for bit in range(8 * len(value)):
            damaged = bytearray(value)
            damaged[bit // 8] ^= 1 << bit % 8
            yield bytes(damaged)


@pytest.mark.parametrize("column", [*INTEGERS, "identity", "data"])
@pytest.mark.parametrize("position", ROWS)
def test_a_flipped_bit_of_a_value_is_noticed(path, position, column):
    with (
        closing(open_store(path, create=False)) as store,
        closing(sqlite3.connect(path, isolation_level=None)) as connection,
    ):
        connection.execute("DROP TRIGGER events_update_guard")
        connection.execute("PRAGMA synchronous = OFF")
        before = answers(store)
        [(value,)] = connection.execute(
            f"SELECT {column} FROM events WHERE position = ?", (position,)
        )
        for damaged in flipped(value):
            change = f"UPDATE OR IGNORE events SET {column} = ? WHERE position = ?"
            if not connection.execute(change, (damaged, position)).rowcount:
                continue  # the file refuses two events in one place
            after = answers(store)
            assert any(isinstance(answer, CorruptEvent) for answer in after[:3])
            for good, answer in zip(before, after, strict=True):
                if isinstance(answer, CorruptEvent):
                    continue
                # An event that was moved away may be missed, never altered.
                missed = [event for event in good if event.position != position]
                if column in {"data", "codec", "recorded_at", "checksum"}:
                    assert answer == good
                else:
                    assert [event for event in answer if event] in (good, missed)
            now_at = damaged if column == "position" else position
            connection.execute(
                f"UPDATE events SET {column} = ? WHERE position = ?", (value, now_at)
            )
        assert answers(store) == before


def stored_row(path, position):
    """Where the row lies in the file: its first byte, that of its values, and the next row."""
    with closing(sqlite3.connect(path)) as connection:
        [(size,)] = connection.execute("PRAGMA page_size")
        [(root,)] = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'events'")
        [(blob,)] = connection.execute("SELECT data FROM events WHERE position = ?", (position,))
    content = path.read_bytes()
    page = (root - 1) * size
    assert content[page] == 13, "all rows are in one leaf page"
    [cell] = struct.unpack_from(">H", content, page + 8 + 2 * (position - 1))
    first = page + cell
    # Length and position in a byte or two, then the header, which begins with its own length.
    header = first + (2 if content[first] < 128 else 3)
    return first, header + content[header], content.index(blob, header) + len(blob)


@pytest.mark.parametrize("position", ROWS)
def test_a_flipped_bit_in_the_file_is_noticed(path, position):
    with closing(open_store(path, create=False)) as store:
        before = answers(store)
    first, values, end = stored_row(path, position)
    with path.open("r+b", buffering=0) as file:
        for place in range(first, end):
            file.seek(place)
            [good] = file.read(1)
            for bit in (place % 8, (place + 3) % 8):
                file.seek(place)
                file.write(bytes([good ^ 1 << bit]))
                with closing(open_store(path, create=False)) as store:
                    after = answers(store)
                for was, answer in zip(before, after, strict=True):
                    # Before the values stand SQLite's own lengths: it may refuse the page.
                    wrong = CorruptEvent if place >= values else (CorruptEvent, DamagedFile)
                    assert isinstance(answer, wrong) or answer == was
            file.seek(place)
            file.write(bytes([good]))
