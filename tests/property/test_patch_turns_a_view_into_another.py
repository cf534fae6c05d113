"""A patch is RFC 6902, and turns what is compared of one view into that of the other."""

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from journal import Journal
from journal.json_door import equal
from projections import compared, replay, run_diff
from projections.json_patch import operations
from tests import samples

SCALARS = st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from([0.0, -0.0, 1.0, "", "a"])
KEYS = st.sampled_from(["a", "a/b", "~", "~1", "", "kind", "0", "-"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


def apply(document, patch):
    """Carry out operations as RFC 6902 says; each `remove` and `replace` needs its target."""
    document = {"": copy.deepcopy(document)}
    for operation in patch:
        *way, last = [
            token.replace("~1", "/").replace("~0", "~")
            for token in ("" + operation["path"]).split("/")
        ]
        at = document
        for token in way:
            at = at[int(token)] if isinstance(at, list) else at[token]
        value = copy.deepcopy(operation.get("value"))
        match operation["op"]:
            case "add" if isinstance(at, list):
                assert 0 <= int(last) <= len(at)
                at.insert(int(last), value)
            case "add":
                at[last] = value
            case "remove":
                del at[int(last) if isinstance(at, list) else last]
            case "replace":
                key = int(last) if isinstance(at, list) else last
                assert isinstance(at, list) or key in at
                at[key] = value
    return document[""]


@given(VALUES, VALUES)
def test_operations_turn_any_value_into_any_other(a, b):
    patch = [operation.to_json() for operation in operations("", a, b)]
    assert equal(apply(a, patch), b)
    assert (patch == []) is equal(a, b)


IDS = st.sampled_from(["1", "2", "3"])
CALLS = st.fixed_dictionaries(
    {"kind": st.just("tool_call"), "id": IDS, "name": st.sampled_from("fg"), "arguments": SCALARS}
)
RETURNS = st.fixed_dictionaries(
    {
        "kind": st.just("tool_return"),
        "tool_call_id": IDS,
        "name": st.just("f"),
        "content": SCALARS,
        "is_error": st.booleans(),
        "metadata": st.dictionaries(st.sampled_from(["duration_ms", "x"]), SCALARS),
    }
)
TEXTS = st.sampled_from("abc")
MESSAGES = st.one_of(
    TEXTS.map(samples.user),
    TEXTS.map(samples.answer),
    st.lists(RETURNS, max_size=2).map(lambda parts: {"kind": "request", "parts": parts}),
    st.lists(CALLS, max_size=2).map(
        lambda parts: {"kind": "response", "parts": parts, "usage": samples.ZERO}
    ),
)
STATES = st.fixed_dictionaries(
    {},
    optional={
        "status": st.sampled_from(["running", "waiting", "completed"]),
        "output": TEXTS,
        "usage": st.integers(0, 2).map(lambda count: {**samples.ZERO, "requests": count}),
        "metadata": st.dictionaries(KEYS, VALUES, max_size=3),
        "pending_tool_calls": st.lists(
            CALLS.map(lambda call: {key: call[key] for key in ("id", "name", "arguments")}),
            max_size=3,
            unique_by=lambda call: call["id"],
        ),
        "a/b~c": VALUES,
    },
)
VIEWS = st.none() | st.tuples(st.lists(MESSAGES, max_size=6), STATES)


def record(journal, run_id, number, made):
    with journal.run(run_id, session_id=run_id) as run:
        run.append(samples.record(number))
        if made is not None:
            messages, state = made
            run.checkpoint(
                samples.checkpoint(
                    f"k{number}", run_id, stream_cursor=number, messages=messages, **state
                )
            )


@pytest.mark.parametrize("runs", ["rr", "ab"], ids=["one run", "two runs"])
@settings(max_examples=150)
@given(first=VIEWS, second=VIEWS)
def test_the_patch_of_a_diff_turns_one_view_into_the_other(runs, first, second):
    with Journal.open("memory://") as journal:
        for number, (run_id, made) in enumerate(zip(runs, (first, second), strict=True)):
            record(journal, run_id, number, made)
        a = replay(journal, runs[0], "stream:0")
        b = replay(journal, runs[1], "stream:1")
    diff = run_diff(a, b)
    patch = diff.to_json()["patch"]
    assert equal(apply(compared(a, b), patch), compared(b, a))
    assert diff.same is (not patch) is equal(compared(a, b), compared(b, a))
    # The paths are those of the view's own JSON: nothing stands elsewhere there.
    patched = apply(a.to_json(), patch)
    assert len(patched["messages"]) == len(b.messages)
    assert patched["live"]["status"] == b.live.status
    if runs == "rr":
        assert equal(patched["messages"], list(b.messages))
