"""Whatever is stored comes back, whatever it repeats, in whichever batches and order."""

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from journal.compress import Compressor
from journal.errors import VersionConflict
from journal.ids import StreamId, Version
from journal.json_door import dumps
from journal.stores import NewEvent, open_store
from journal.stores.repeated import Copy, Repeated, decode, encode, join, literals_of
from journal.values import LARGE, fingerprints, large_strings
from tests.unit.dictionary import DICTIONARY_2

STREAMS = ("run:1", "run:2")
VALUES = [
    "The quick brown fox jumps over the lazy dog. " * 6,
    "The quick brown fox jumps over the lazy cat. " * 6,
    "x" * LARGE,
    "x" * (LARGE - 1),
    '{"path":"a\\\\b","lines":["one","two"]}' * 8,
    'naïve 漢字 😀 \u0000 \\ " \u2028 ' * 15,
    '"' * 250,
    "\\" * 251,
    "A" * 70_000,
]


def values() -> st.SearchStrategy[Any]:
    leaves = st.one_of(st.sampled_from(VALUES), st.text(max_size=5), st.integers(0, 9), st.none())
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4),
            st.dictionaries(st.sampled_from(["a", "b", '"', VALUES[0]]), inner, max_size=3),
        ),
        max_leaves=6,
    )


class Batches:
    """Appends batches and remembers what must be there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stored: dict[str, list[bytes]] = {stream: [] for stream in STREAMS}
        self.all: list[bytes] = []

    def events(self, batch: list[tuple[str, Any]]) -> list[NewEvent]:
        heads = {stream: len(stored) for stream, stored in self.stored.items()}
        events = []
        for stream, value in batch:
            heads[stream] += 1
            version = Version(heads[stream])
            marks = fingerprints(value)
            data = dumps({"v": value})
            events.append(NewEvent(StreamId(stream), version, "noted.v1", data, version, marks))
        return events

    def write(self, store, batch: list[tuple[str, Any]], *, refused: bool) -> None:
        events = self.events(batch)
        if refused:
            last = events[-1]
            events.append(last._replace(version=Version(last.version + 7), identity=None))
            with pytest.raises(VersionConflict):
                store.append(events, now=1)
            return
        store.append(events, now=1)
        for event in events:
            self.stored[event.stream].append(event.data)
            self.all.append(event.data)

    def check(self, store) -> None:
        assert [event.data for event in store.read_all()] == self.all
        for stream, expected in self.stored.items():
            found = [event.data for event in store.read_stream(StreamId(stream))]
            assert found == expected
            backwards = store.read_stream(StreamId(stream), newest_first=True)
            assert [event.data for event in backwards] == expected[::-1]
            for at, data in enumerate(expected, 1):
                assert store.find(StreamId(stream), at).data == data


def batches():
    event = st.tuples(st.sampled_from(STREAMS), values())
    batch = st.tuples(st.lists(event, min_size=1, max_size=5), st.booleans(), st.booleans())
    return st.lists(batch, min_size=1, max_size=5)


@settings(max_examples=60)
@given(batches())
@example([([("run:1", VALUES[0])], False, True), ([("run:1", [VALUES[0]] * 2)], False, False)])
@example([([("run:1", VALUES[0])], True, False), ([("run:1", [VALUES[0]])], False, False)])
def test_any_batches_come_back(written):
    with tempfile.TemporaryDirectory() as folder:
        batches = Batches(Path(folder) / "runs.db")
        store = open_store(batches.path, create=True)
        try:
            for batch, refused, reopen in written:
                batches.write(store, batch, refused=refused)
                if reopen:
                    store.close()
                    store = open_store(batches.path, create=True)
            batches.check(store)
        finally:
            store.close()
        with closing(open_store(batches.path, create=False)) as store:
            batches.check(store)


@given(values())
def test_the_large_strings_of_json_are_those_of_the_value(value):
    data = dumps({"v": value})
    found = list(large_strings(data))
    assert sorted(mark for _, _, mark in found) == sorted(fingerprints(value))
    for start, end, _ in found:
        assert data[start - 1 : start] == data[end : end + 1] == b'"'


@given(st.binary(max_size=600) | st.binary(max_size=30).map(lambda part: (b'"%b' % part) * 40))
def test_bytes_that_are_no_json_have_large_strings_or_none(data):
    for start, end, _ in large_strings(data):
        assert LARGE <= end - start <= len(data)


@given(st.binary(max_size=5000), st.booleans())
def test_any_bytes_are_packed_and_come_back(data, long):
    data *= 1 if not long else 20
    compressor = Compressor(DICTIONARY_2)
    assert compressor.decompress(compressor.compress(data)) == data


@given(st.data())
def test_any_copies_of_any_bases_are_put_together(draw):
    bases = draw.draw(st.lists(st.binary(min_size=1, max_size=300), min_size=1, max_size=64))
    pieces, copies, at = [], [], 0
    for literal in draw.draw(st.lists(st.binary(max_size=200), max_size=8)):
        base = draw.draw(st.integers(0, len(bases) - 1))
        start = draw.draw(st.integers(0, len(bases[base])))
        copied = bases[base][start : draw.draw(st.integers(start, len(bases[base])))]
        copies.append(Copy(at + len(literal), base, start, len(copied)))
        pieces += [literal, copied]
        at += len(literal) + len(copied)
    pieces.append(draw.draw(st.binary(max_size=50)))
    data = b"".join(pieces)
    distances = draw.draw(st.lists(st.integers(1, 2**62), min_size=len(bases), max_size=len(bases)))
    literals = literals_of(data, copies)
    row = Repeated(crc32(data), distances, copies, b"frame")
    assert decode(encode(row)) == row
    assert join(row, literals, bases) == data
    with pytest.raises(ValueError, match="not what was stored"):
        join(row._replace(crc=row.crc ^ 1), literals, bases)


@given(st.binary(max_size=60))
def test_any_bytes_taken_for_a_row_are_refused_or_taken_apart(blob):
    try:
        row = decode(blob)
    except ValueError:
        return
    assert decode(encode(row)) == row
