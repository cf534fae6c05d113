"""A document accepted beside the last one is what it would be without it, or is refused alike."""

from __future__ import annotations

import copy
import json
import math
import uuid
from collections import OrderedDict
from enum import Enum, StrEnum
from types import MappingProxyType
from typing import Any

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from journal import last_document
from journal.errors import InvalidJSON
from journal.json_door import accept
from journal.last_document import LastDocuments
from tests.property.test_difference_is_exact import edited, messages, places, states, values


class Word(StrEnum):
    KIND = "request"


class Colour(Enum):
    RED = "request"


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


ODD = [
    math.nan,
    math.inf,
    (1, 2),
    (),
    uuid.UUID(int=7),
    Colour.RED,
    Word.KIND,
    {1: 2},
    {"\ud800": 1},
    "\udfff",
    b"[]",
    2**64,
    -(2**63) - 1,
    10**30,
    MappingProxyType({"kind": "request"}),
    OrderedDict(kind="request"),
    nested(196),
    nested(198),
    nested(203),
    nested(300),
    orjson.Fragment(b'{"kind":"request"}'),
]


@pytest.fixture(autouse=True, scope="module")
def everything_is_large():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(last_document, "LARGE", 3)
        yield


def documents() -> st.SearchStrategy[Any]:
    history = st.fixed_dictionaries(
        {"state": st.fixed_dictionaries({"message_history": st.lists(messages(), min_size=1)})},
        optional={"metadata": values(3), "list": st.lists(values(3), max_size=3)},
    )
    return st.one_of(history, states())


@st.composite
def chains(draw: st.DrawFn) -> list[Any]:
    """Documents, each the one before after some edits."""
    chain = [draw(documents())]
    for _ in range(draw(st.integers(1, 3))):
        chain.append(draw(edited(chain[-1], most=draw(st.integers(1, 3)))))
    return chain


def spoiled(draw: st.DrawFn, document: Any) -> Any:
    """The document with something in it that JSON cannot hold, or holds in another way."""
    top = [copy.deepcopy(document)]
    holder, key = draw(st.sampled_from([(top, 0), *places(top[0])]))
    odd = draw(st.sampled_from(ODD))
    was = holder[key]
    holder[key] = draw(st.sampled_from([odd, tuple(was) if isinstance(was, list) else odd]))
    return top[0]


def as_text(draw: st.DrawFn, document: Any) -> bytes:
    form = draw(st.integers(0, 4))
    if form == 0:
        return json.dumps(document).encode()
    text = orjson.dumps(document)
    if form == 1:
        return text[: draw(st.integers(0, len(text)))]
    if form == 2 and text:
        at = draw(st.integers(0, len(text) - 1))
        text = text[:at] + draw(st.sampled_from([b"]", b"}", b"9" * 25, b" ", b'"'])) + text[at:]
    return text


def outcome(accepted: Any, *given: Any) -> Any:
    try:
        value, size = accepted(*given)
    except InvalidJSON as error:
        return error.path, error.reason
    return orjson.dumps(value), size


@settings(max_examples=60)
@given(st.data())
def test_it_is_accepted_or_refused_as_if_it_stood_alone(data: st.DataObject) -> None:
    memory = LastDocuments()
    kept = []
    for document in data.draw(chains()):
        for source in (document, data.draw(sources(document))):
            assert outcome(beside, memory, kept, source) == outcome(alone, source)
    # What was accepted stays as it is, whatever is accepted later.
    assert all(orjson.dumps(value) == text for value, text in kept)


def alone(source: Any) -> tuple[Any, int]:
    value, raw = accept(source, wrapped=1)
    return value, len(raw)


def beside(memory: LastDocuments, kept: list[Any], source: Any) -> tuple[Any, int]:
    found = memory.accept("checkpoint", source, wrapped=1)
    kept.append((found.value, orjson.dumps(found.value)))
    memory.keep("checkpoint", found)
    return found.value, found.size


@st.composite
def sources(draw: st.DrawFn, document: Any) -> Any:
    form = draw(st.integers(0, 3))
    if form == 0:
        return copy.deepcopy(document)
    if form == 1:
        return spoiled(draw, document)
    return as_text(draw, document)


@settings(max_examples=60)
@given(st.data())
def test_what_the_host_does_afterwards_changes_nothing(data: st.DataObject) -> None:
    memory = LastDocuments()
    for document in data.draw(chains()):
        given_ = copy.deepcopy(document)
        found = memory.accept("checkpoint", given_, wrapped=0)
        memory.keep("checkpoint", found)
        text = orjson.dumps(found.value)
        for holder, _ in places(given_):
            holder.clear()
        assert orjson.dumps(found.value) == text


@settings(max_examples=60)
@given(st.lists(values(4), max_size=8), st.lists(values(4), max_size=8), st.booleans())
@example([1], [12], True)
@example([1, 2], [1, 23], True)
@example([1, True, 1.0], [1, 1, 1], False)
@example([0.0], [-0.0], False)
@example([None], [math.nan], False)
@example(["a", "b"], ["b"], True)
@example(['"message_history":[1'], [1], True)
def test_items_are_told_apart_by_their_json_type(old: Any, new: Any, as_bytes: bool) -> None:
    memory = LastDocuments()
    for items in (old, [*old, *new], new, [*new, *old], [*new[:1], *old[1:]]):
        document = {"text": '"message_history":[1,', "state": {"message_history": items}}
        source = orjson.dumps(document) if as_bytes else document
        try:
            value, raw = accept(source)
        except InvalidJSON:
            with pytest.raises(InvalidJSON):
                memory.accept("checkpoint", source, wrapped=0)
            continue
        found = memory.accept("checkpoint", source, wrapped=0)
        memory.keep("checkpoint", found)
        assert orjson.dumps(found.value) == orjson.dumps(value) == raw
        assert found.size == len(raw)
