"""Values come back from their chunks exactly, share what they share, and damage is noticed."""

from __future__ import annotations

import copy
import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from journal.json_door import dumps, loads
from projections.chunks import BrokenChunks, join, split


class Rows:
    """Chunks by key, equal ones once."""

    def __init__(self) -> None:
        self.keys: dict[bytes, int] = {}
        self.data: dict[int, bytes] = {}
        self.gets = 0

    def put(self, data: bytes) -> int:
        key = self.keys.setdefault(data, len(self.keys) + 1)
        self.data[key] = data
        return key

    def get(self, keys: Sequence[int]) -> Mapping[int, bytes]:
        self.gets += 1
        assert keys
        assert len(set(keys)) == len(keys)
        return {key: self.data[key] for key in keys if key in self.data}

    @property
    def size(self) -> int:
        return sum(map(len, self.data.values()))


def words(seed: int, size: int) -> str:
    dice = random.Random(seed)
    return "".join(dice.choices("abcdefghijklmnop é\n", k=size))


def messages(first: int, count: int, size: int) -> list[Any]:
    """Messages with texts around a size, some of them many times as long."""
    return [
        {
            "kind": "request",
            "parts": [{"kind": "text", "text": words(n, size * (20 if n % 17 == 0 else 1))}],
        }
        for n in range(first, first + count)
    ]


def nested(depth: int, beside: Any) -> Any:
    value: Any = words(depth, 50_000)
    for at in range(depth):
        value = [beside, value] if at % 2 else {"beside": beside, "in": value}
    return value


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.sampled_from([0, 0.0, -0.0, 1, 1.0, True, 2**64 - 1, -(2**63), 1e300])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
    | st.builds(lambda text, times: text * times, st.text(min_size=1), st.integers(1, 9000))
)


def _boxes(inside: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    lists = st.lists(inside, max_size=5)
    return (
        lists
        | st.dictionaries(st.text(max_size=8), inside, max_size=5)
        | st.builds(lambda items, times: items * times, lists, st.integers(2, 200))
        | st.builds(
            lambda item, count: {f"key {at}": item for at in range(count)},
            inside,
            st.integers(2, 200),
        )
        | st.builds(lambda item, size: {"k" * size: item}, inside, st.integers(2, 40_000))
        | st.builds(messages, st.integers(0, 99), st.integers(0, 60), st.integers(0, 900))
    )


values = st.recursive(scalars, _boxes, max_leaves=6).filter(lambda value: len(dumps(value)) < 10**6)


@settings(max_examples=60)
@given(values)
@example(None)
@example("\0" * 20_000)
@example([[0] * 40_000, {"k" * 30_000: ["v" * 30_000]}])
@example({str(at): [at] * 2_000 for at in range(100)})
@example({"a": [words(1, 40_000)], "": {"": messages(0, 400, 90)}, "b": 2**64 - 1})
def test_a_value_comes_back_exactly_and_twice_gives_the_same_root(value):
    rows = Rows()
    as_it_was = copy.deepcopy(value)
    root = split(value, rows.put)
    assert dumps(value) == dumps(as_it_was)
    assert dumps(join(root, rows.get)) == dumps(value)
    stored = dict(rows.data)
    assert split(as_it_was, rows.put) == root
    assert rows.data == stored


@pytest.mark.parametrize("beside", [1, words(1, 20_000)])
def test_the_deepest_value_comes_back(beside):
    value = nested(200, beside)
    rows = Rows()
    assert dumps(join(split(value, rows.put), rows.get)) == dumps(value)


def test_chunks_and_roots_stay_small_and_levels_are_fetched_at_once():
    rows = Rows()
    value = {
        "usage": {"requests": 1},
        "messages": messages(0, 12_000, 150),
        "text": words(7, 60_000),
        "files": {f"file {at}": words(at, 300) for at in range(500)},
    }
    root = split(value, rows.put)
    assert len(dumps(value)) > 4_000_000
    assert len(root) < 4_096
    assert max(map(len, rows.data.values())) < 70_000
    assert rows.size < 1.1 * len(dumps(value))
    assert dumps(join(root, rows.get)) == dumps(value)
    assert rows.gets <= 4


def test_what_is_small_stays_in_the_root():
    rows = Rows()
    value = {"messages": messages(1, 8, 250), "text": "x" * 900}
    assert split(value, rows.put) == dumps([value])
    assert not rows.data


@settings(max_examples=60)
@given(
    st.integers(0, 1500),
    st.integers(1, 40),
    st.integers(20, 400),
    st.sampled_from(["append", "shift", "cut", "rewrite"]),
    st.integers(0, 10**6),
)
def test_an_edited_list_shares_what_is_away_from_the_edit(first, edit, size, how, seed):
    history = messages(first, 900, size)
    changed = list(history)
    place = seed % 860
    if how == "append":
        changed += messages(first + 900, edit, size)
    elif how == "shift":
        del changed[:edit]
    elif how == "cut":
        del changed[place:]
    else:
        changed[place : place + edit] = messages(5000, edit // 2, size)
    rows = Rows()
    split({"messages": history}, rows.put)
    before = rows.size
    value = {"messages": changed, "status": "running"}
    assert dumps(join(split(value, rows.put), rows.get)) == dumps(value)
    # What is new, and the groups at both ends of it, which are cut at the latest after 48 KB.
    assert rows.size - before < edit * size * 3 + 3 * 48 * 1024 + 2048


@settings(max_examples=30)
@given(st.integers(0, 60_000), st.integers(0, 9_000))
def test_a_growing_text_shares_all_but_its_end(length, more):
    text = words(3, 70_000)
    rows = Rows()
    split(text[:length], rows.put)
    before = rows.size
    value = text[: length + more]
    assert join(split(value, rows.put), rows.get) == value
    # Two bytes a character at most, and the first time also what stood in the root.
    assert rows.size - before < 2 * (more + 8192 + 4096) + 100


BROKEN = [
    b"",
    b"7",
    b"{}",
    b"[]",
    b"[1,2,3]",
    b"[\xff]",
    b"[1,2]",
    b"[null,[1]]",
    b'[null,[[[],"list",0]]]',
    b'[null,[["","list",0,[1]]]]',
    b'[null,[[[],["list"],0,[1]]]]',
    b'[null,[[[],"tuple",0,[1]]]]',
    b'[null,[[[],"list",0.0,[1]]]]',
    b'[null,[[[],"list",-1,[1]]]]',
    b'[null,[[[],"list",1,[1]]]]',
    b'[null,[[[],"list",0,1]]]',
    b'[null,[[[],"list",0,[]]]]',
    b'[null,[[[],"list",0,[true]]]]',
    b'[null,[[[],"list",0,["1"]]]]',
    b'[null,[[[],"list",0,[18446744073709551615]]]]',
    b'[null,[[[],"list",0,[99]]]]',
    b'[null,[[[0],"list",0,[1]]]]',
    b'[[null],[[[1],"list",0,[1]]]]',
    b'[[null],[[[-1],"list",0,[1]]]]',
    b'[[null],[[["0"],"list",0,[1]]]]',
    b'[{"a":null},[[["b"],"list",0,[1]]]]',
    b'[{"a":null},[[[0],"list",0,[1]]]]',
    b'[[null],[[[[]],"list",0,[1]]]]',
    b'[7,[[[],"list",0,[1]]]]',
    b'[null,[[[],"list",0,[1]],[[],"list",0,[1]]]]',
    b'[null,[[[],"text",0,[1]]]]',
    b'[null,[[[],"list",0,[2]]]]',
    b'[null,[[[],"object",0,[1]]]]',
    b'[null,[[[],"object",0,[3,3]]]]',
    b'[null,[[[],"object",0,[4]]]]',
    b'[null,[[[],"object",0,[5]]]]',
    b'[null,[[[],"list",0,[6]]]]',
    b'[null,[[[],"list",1,[7]]]]',
    b'[null,[[[],"list",2,[8]]]]',
    b'[null,[[[],"list",0,[9]]]]',
]
CHUNKS = {
    1: b"[[1]]",
    2: b'["text"]',
    3: b'[[["key",1]]]',
    4: b'[["ab"]]',
    5: b"[[[1,2]]]",
    6: b'[[null],[[[0],"list",0,[6]]]]',
    7: b'[[1],[[[0],"list",0,[1]]]]',
    8: b"[[8]]",
    9: b"[[",
}


@pytest.mark.parametrize("root", BROKEN)
def test_nodes_that_are_none_are_refused(root):
    with pytest.raises(BrokenChunks):
        join(root, lambda keys: {key: CHUNKS[key] for key in keys if key in CHUNKS})


def _split_value() -> tuple[bytes, Rows]:
    rows = Rows()
    value = {"messages": messages(0, 200, 300), "text": words(1, 30_000), "one": {"x": 2}}
    value |= {"deep": [{"in": words(2, 20_000), "list": [words(3, 90)] * 900}, 5, 6]}
    value |= {f"key {at}": words(at, 90) for at in range(60)}
    return split(value, rows.put), rows


ROOT, ROWS = _split_value()


@settings(max_examples=100)
@given(st.data())
def test_damage_raises_broken_chunks_or_nothing(data):
    chunks = {0: ROOT, **ROWS.data}
    key = data.draw(st.sampled_from(sorted(chunks)))
    raw = chunks[key]
    # Half of the time near an end, where most of what is not text stands.
    near = st.integers(0, min(400, len(raw) - 1))
    at = data.draw(near | near.map(lambda back: len(raw) - 1 - back))
    how = data.draw(st.sampled_from(["drop", "cut", "flip", "swap", "digit"]))
    if how == "drop" and key:
        del chunks[key]
    elif how == "cut":
        chunks[key] = raw[:at]
    elif how == "flip":
        chunks[key] = raw[:at] + bytes([data.draw(st.integers(0, 255))]) + raw[at + 1 :]
    elif how == "swap":
        chunks[key] = chunks[data.draw(st.sampled_from(sorted(chunks)))]
    else:
        chunks[key] = raw.replace(b"%d" % data.draw(st.integers(0, 30)), b"%d" % at)
    try:
        joined = join(chunks[0], lambda keys: {one: chunks[one] for one in keys if one in chunks})
    except BrokenChunks:
        return
    assert loads(dumps(joined)) == joined


def test_a_missing_or_shortened_chunk_is_always_noticed():
    for key, raw in ROWS.data.items():
        for damaged in ({}, {key: raw[:-1]}, {key: b""}):
            chunks = {one: data for one, data in ROWS.data.items() if one != key} | damaged
            with pytest.raises(BrokenChunks):
                join(ROOT, lambda keys, chunks=chunks: chunks)
