"""`apply(a, diff(a, b))` is b for any two JSON values, and small enough always."""

from __future__ import annotations

import copy
from itertools import pairwise
from typing import Any

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from journal.difference import DifferenceError, Sources, apply, diff, sources

EDGES = [
    *(None, True, False, 0, 1, -1, 0.0, -0.0, 1.0, -1.0, 2**63, 2**64 - 1, -(2**63)),
    *(2**53, float(2**53), 1e308, -1e308, 5e-324, 0.1, 1e22, "", "a", "1", "null"),
]
LONG = [
    "x" * 80,
    "The quick brown fox jumps over the lazy dog. " * 4,
    '{"looks":"like JSON","and":[1,2,3],"is":"text of a tool that printed some JSON"}',
    'naïve 漢字 😀 \u0000 \\ " \u2028 ' * 6,
]
KEYS = ["", "a", "b", "kind", "parts", "ключ", "0", "a/b", "~", '"', "\u0000", LONG[0]]


def text() -> st.SearchStrategy[str]:
    # Lone surrogates are no JSON text; everything else is.
    return st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def scalars() -> st.SearchStrategy[Any]:
    return st.one_of(
        st.sampled_from(EDGES),
        st.sampled_from(LONG),
        st.integers(-(2**63), 2**64 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        text(),
    )


def objects(items: st.SearchStrategy[Any], size: int = 6) -> st.SearchStrategy[Any]:
    return st.dictionaries(st.sampled_from(KEYS) | text(), items, max_size=size)


def values(leaves: int = 15) -> st.SearchStrategy[Any]:
    return st.recursive(
        scalars(), lambda inner: st.lists(inner, max_size=6) | objects(inner), max_leaves=leaves
    )


def exactly(value: Any) -> bytes:
    """The JSON text with sorted keys tells 1, 1.0 and true apart, and 0.0 and -0.0."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container with every key in it."""
    found: list[tuple[Any, Any]] = []
    todo = [value]
    while todo:
        node = todo.pop()
        if isinstance(node, dict | list):
            keys = list(node) if isinstance(node, dict) else range(len(node))
            found += [(node, key) for key in keys]
            todo += [node[key] for key in keys]
    return found


def retyped(value: Any) -> Any:
    """A value Python finds equal and JSON does not, where there is one."""
    match value:
        case bool():
            return int(value)
        case 0 | 1:
            return bool(value)
        case int() if float(value) == value and abs(value) < 2**53:
            return float(value)
        case float() if value == 0:
            return -value
        case _:
            return value


@st.composite
def edited(draw: st.DrawFn, before: Any, *, most: int = 4) -> Any:
    """The same value after some edits: what agents do to their state, and worse."""
    top = [copy.deepcopy(before)]
    for _ in range(draw(st.integers(1, most))):
        spots = [(top, 0), *places(top[0])]
        holder, key = draw(st.sampled_from(spots))
        edit = draw(st.sampled_from(EDITS))
        other_holder, other_key = draw(st.sampled_from(spots))
        edit(draw, holder, key, copy.deepcopy(other_holder[other_key]))
    return top[0]


def replace(draw: st.DrawFn, holder: Any, key: Any, _: Any) -> None:
    holder[key] = draw(values(4))


def copy_from_elsewhere(_: st.DrawFn, holder: Any, key: Any, other: Any) -> None:
    holder[key] = other


def retype(_: st.DrawFn, holder: Any, key: Any, __: Any) -> None:
    holder[key] = retyped(holder[key])


def grow(draw: st.DrawFn, holder: Any, key: Any, other: Any) -> None:
    match holder[key]:
        case list() as items:
            at = draw(st.integers(0, len(items)))
            items[at:at] = draw(st.lists(scalars() | st.just(other), max_size=2))
        case dict() as members:
            new = {draw(st.sampled_from(KEYS) | text()): draw(scalars() | st.just(other))}
            holder[key] = new | members if draw(st.booleans()) else members | new
        case str() as words:
            holder[key] = words + draw(text())


def shrink(draw: st.DrawFn, holder: Any, key: Any, _: Any) -> None:
    match holder[key]:
        case list() as items if items:
            at = draw(st.integers(0, len(items) - 1))
            del items[at : at + draw(st.integers(1, len(items)))]
        case dict() as members if members:
            members.pop(draw(st.sampled_from(list(members))))
        case str() as words:
            holder[key] = words[: len(words) // 2]


def reorder(draw: st.DrawFn, holder: Any, key: Any, _: Any) -> None:
    match holder[key]:
        case list() as items:
            holder[key] = draw(st.permutations(items))
        case dict() as members:
            holder[key] = dict(draw(st.permutations(list(members.items()))))


def wrap(draw: st.DrawFn, holder: Any, key: Any, other: Any) -> None:
    inner = holder[key]
    holder[key] = draw(st.sampled_from([[inner], {"a": inner}, {"kind": other, "parts": [inner]}]))


def compact(draw: st.DrawFn, holder: Any, key: Any, _: Any) -> None:
    if isinstance(holder[key], list):
        items = holder[key]
        stop = draw(st.integers(0, len(items)))
        holder[key] = [{"kind": "request", "parts": [draw(scalars())]}, *items[stop:]]


EDITS = [replace, copy_from_elsewhere, retype, grow, grow, shrink, reorder, wrap, compact]


def messages() -> st.SearchStrategy[Any]:
    part = st.fixed_dictionaries(
        {"content": st.sampled_from(LONG) | scalars(), "kind": st.sampled_from(["text", "x"])}
    )
    usage = st.fixed_dictionaries({"requests": st.integers(0, 2), "total": st.just(0)})
    return st.fixed_dictionaries(
        {
            "conversation_id": st.just("conv_316e030d-22c6-4bef-95c5-379892469dac"),
            "kind": st.sampled_from(["request", "response"]),
            "parts": st.lists(part, max_size=2),
            "timestamp": text(),
        },
        optional={"metadata": objects(scalars()), "usage": usage},
    )


def states() -> st.SearchStrategy[Any]:
    history = st.lists(messages(), max_size=4)
    return st.fixed_dictionaries(
        {
            "state": st.fixed_dictionaries(
                {"message_history": history, "run_step": st.integers(0, 3)},
                optional={"latest_response": messages(), "pending_tool_returns": history},
            )
        },
        optional={"metadata": scalars(), "message_history": history},
    )


def check(before: Any, after: Any) -> list[Any]:
    was, then = orjson.dumps(before), orjson.dumps(after)
    delta = orjson.loads(orjson.dumps(diff(before, after)))
    stored = orjson.dumps(delta)
    result = apply(before, delta)
    assert exactly(result) == exactly(after)
    assert (delta == []) == (exactly(before) == exactly(after))
    assert len(stored) <= len(orjson.dumps([["=", [], after]]))
    assert orjson.dumps(before) == was
    assert orjson.dumps(after) == then
    assert orjson.dumps(delta) == stored
    return delta


@given(values(), values())
@example(1, True)
@example(0.0, -0.0)
@example([1, [1.0, {"a": True}]], [True, [1, {"a": 1.0}]])
@example({"a": {}, "b": 1}, {"a": {}, "b": 2})
@example({"": 0}, {"": {"": 0}})
def test_any_value_becomes_any_other(before: Any, after: Any) -> None:
    check(before, after)


@given(st.data())
def test_an_edited_value_comes_back_exactly(data: st.DataObject) -> None:
    before = data.draw(values(15))
    check(before, data.draw(edited(before)))


@given(st.data())
def test_an_edited_agent_state_comes_back_exactly(data: st.DataObject) -> None:
    before = data.draw(states())
    check(before, data.draw(edited(before)))


@given(states(), states())
def test_states_with_common_parts_at_other_paths_come_back_exactly(one: Any, two: Any) -> None:
    check(one, {"metadata": one["state"], **two})


@given(st.data())
def test_a_chain_of_deltas_leads_to_the_last_value(data: st.DataObject) -> None:
    chain = [data.draw(states())]
    for _ in range(data.draw(st.integers(1, 3))):
        chain.append(data.draw(edited(chain[-1], most=2)))
    deltas = [check(before, after) for before, after in pairwise(chain)]
    rebuilt = chain[0]
    first = orjson.dumps(rebuilt)
    seen = []
    for delta in deltas:
        rebuilt = apply(rebuilt, delta)
        seen.append((rebuilt, orjson.dumps(rebuilt)))
    assert [exactly(value) for value, _ in seen] == [exactly(value) for value in chain[1:]]
    # Values share their unchanged parts; building a later one must not reach into an earlier.
    assert all(orjson.dumps(value) == text for value, text in seen)
    assert orjson.dumps(chain[0]) == first


@settings(max_examples=150)
@given(st.data(), st.sampled_from([0, 4096]))
def test_what_was_learned_of_earlier_values_leads_nowhere_else(
    data: st.DataObject, spare: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "SPARE", spare)
        patch.setattr(sources, "WORTH", 8)
        known = Sources()
        value = data.draw(states())
        for _ in range(4):
            after = data.draw(edited(value, most=2))
            delta = diff(value, after, known)
            rebuilt = apply(value, delta)
            assert exactly(rebuilt) == exactly(after)
            assert len(orjson.dumps(delta)) <= len(orjson.dumps([["=", [], after]]))
            # The next value shares its parts with this one, or with none.
            value = data.draw(st.sampled_from([rebuilt, after]))


@given(st.data())
def test_keys_come_back_in_order_where_common_keys_keep_theirs(data: st.DataObject) -> None:
    before = orjson.loads(exactly(data.draw(values(15))))
    after = orjson.loads(exactly(data.draw(edited(before, most=3))))
    assert orjson.dumps(apply(before, diff(before, after))) == orjson.dumps(after)


@given(values(10))
def test_equal_values_have_an_empty_delta(value: Any) -> None:
    assert diff(value, orjson.loads(orjson.dumps(value))) == []
    assert diff(value, value) == []


def operations() -> st.SearchStrategy[Any]:
    step = st.sampled_from(["a", "kind", "parts", 0, 1, -1, True, None, 1.0, []])
    path = st.lists(step, max_size=3)
    number = st.integers(-1, 4) | st.sampled_from([True, 0.0, None, "0"])
    return st.one_of(
        st.tuples(st.just("="), path, values(3)),
        st.tuples(st.just("="), path, values(3), number),
        st.tuples(st.just("<"), path, path),
        st.tuples(st.just("<"), path, path, number),
        st.tuples(st.just("-"), path),
        st.tuples(st.just("@"), path, number, number, st.lists(scalars(), max_size=2)),
        st.tuples(st.just("~"), path, number, number, text()),
    ).map(list)


@given(
    objects(values(6)) | st.lists(values(6)) | values(6),
    st.lists(operations() | values(4), max_size=4) | values(4),
)
def test_a_delta_that_does_not_fit_is_refused_with_its_operation(before: Any, delta: Any) -> None:
    was = orjson.dumps(before)
    refused = 0
    try:
        orjson.dumps(apply(before, delta))
    except DifferenceError as error:
        refused = error.operation
    assert refused in range(max(len(delta), 1) if isinstance(delta, list) else 1)
    assert orjson.dumps(before) == was


@given(st.integers(100, 199), st.integers(0, 2**200 - 1), scalars(), scalars())
def test_deeply_nested_values_come_back_exactly(
    depth: int, shape: int, before: Any, after: Any
) -> None:
    def nested(core: Any) -> Any:
        for level in range(depth):
            core = {"a": core, "b": LONG[1]} if shape >> level & 1 else [LONG[0], core, 1]
        return core

    assert len(check(nested(before), nested(after))) <= 1


@pytest.mark.parametrize("before", EDGES)
def test_edge_values_become_each_other(before: Any) -> None:
    for after in EDGES:
        check(before, after)
        check([before, {"a": before}], [after, {"a": after}])
