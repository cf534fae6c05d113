"""Events with large values, and the rows a journal file holds of them."""

import json
import random
import struct
from zlib import crc32

from journal.ids import StreamId, Version
from journal.stores import NewEvent
from journal.values import fingerprints
from tests.unit.sqlite_files import connect

RUN = "run:1"


def text(seed, size=2000):
    """Words nobody else has."""
    return " ".join(
        f"{number:08x}" for number in random.Random(seed).choices(range(2**32), k=size)
    )[:size]


def holding(version, *values, stream=RUN, **fields):
    """An event that holds values."""
    value = {"number": version, "values": list(values), **fields}
    data = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
    marks = fingerprints(value)
    return NewEvent(StreamId(stream), Version(version), "noted.v1", data, version, marks)


def data_of(events):
    return [event.data for event in events]


def codecs(path, stream=RUN):
    """The codec of each row, and the bytes it takes."""
    with connect(path) as connection:
        return connection.execute(
            "SELECT codec, length(data) FROM events JOIN streams ON key = stream "
            "WHERE streams.name = ? ORDER BY version",
            (stream,),
        ).fetchall()


def numbers(path, stream=RUN):
    return [codec for codec, _ in codecs(path, stream)]


def must_hold(store, events, stream=RUN):
    """Read the events back in every way."""
    expected = data_of(events)
    assert data_of(store.read_stream(stream)) == expected
    assert data_of(store.read_stream(stream, newest_first=True)) == expected[::-1]
    for at, one in enumerate(expected, 1):
        assert store.read_stream(stream, after=at - 1, limit=1)[0].data == one
        assert store.find(stream, at).data == one
    assert [e.data for e in store.read_all() if e.stream == stream] == expected


def rewrite(path, version, codec, data, stream=RUN):
    """Store another codec and other bytes in a row, its checksum with them."""
    with connect(path) as connection:
        guards = connection.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
        ).fetchall()
        for name, _ in guards:
            connection.execute(f"DROP TRIGGER {name}")
        [(position, recorded_at, identity)] = connection.execute(
            "SELECT position, recorded_at, identity FROM events "
            "JOIN streams ON key = stream WHERE streams.name = ? AND version = ?",
            (stream, version),
        ).fetchall()
        numbers = struct.pack(">5q", position, version, codec, recorded_at, identity)
        crc = crc32(f"{stream}\0noted.v1".encode() + numbers + data)
        connection.execute(
            "UPDATE events SET codec = ?, data = ?, checksum = ? WHERE position = ?",
            (codec, data, crc if crc < 2**31 else crc - 2**32, position),
        )
        for _, sql in guards:
            connection.execute(sql)


def blob_of(path, version, stream=RUN):
    """The packed bytes of a row."""
    with connect(path) as connection:
        return connection.execute(
            "SELECT data FROM events JOIN streams ON key = stream "
            "WHERE streams.name = ? AND version = ?",
            (stream, version),
        ).fetchone()[0]
