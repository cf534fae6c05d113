"""Only JSON that can come back equal passes the door."""

import math
import tracemalloc
import uuid
from collections import OrderedDict
from datetime import UTC, datetime
from enum import Enum, IntEnum, StrEnum
from types import MappingProxyType

import pytest

from journal.errors import InvalidJSON
from journal.json_door import MAX_BYTES, accept, canonical, equal


class Colour(Enum):
    RED = "red"


class Word(StrEnum):
    RUN = "run"


class Number(IntEnum):
    ONE = 1


def nested(depth):
    value = 0
    for _ in range(depth):
        value = [value]
    return value


REFUSED_VALUES = [
    ({"a": [math.nan]}, "$.a[0]", "nan"),
    ({"a": math.inf}, "$.a", "inf"),
    ([1, -math.inf], "$[1]", "inf"),
    ({"a": {1: 2}}, "$.a", "not a string"),
    ({"a": {None: 2}}, "$.a", "not a string"),
    ({"a b": 2**64}, '$["a b"]', "64 bits"),
    ({"a": -(2**63) - 1}, "$.a", "64 bits"),
    ({"a": 10**400}, "$.a", "64 bits"),
    ({"a": (1, 2)}, "$.a", "tuple"),
    ({"a": {1, 2}}, "$.a", "set"),
    ({"a": b"x"}, "$.a", "bytes"),
    ({"a": uuid.uuid4()}, "$.a", "UUID"),
    ({"a": datetime.now(UTC)}, "$.a", "datetime"),
    ({"a": Colour.RED}, "$.a", "Colour"),
    ({"a": "\ud800"}, "$.a", "surrogate"),
    ({"\udfff": 1}, "$", "surrogate"),
    (nested(201), "$[0][0]", "nested"),
]


@pytest.mark.parametrize(("value", "path", "reason"), REFUSED_VALUES)
def test_a_value_json_cannot_hold_is_refused_with_its_path(value, path, reason):
    with pytest.raises(InvalidJSON) as error:
        accept(value)
    assert error.value.path.startswith(path)
    assert reason in error.value.reason


REFUSED_TEXT = [
    (b'{"a": NaN}', "$.a", "NaN"),
    (b'{"a": [1, Infinity]}', "$.a[1]", "Infinity"),
    (b'{"a": 1e400}', "$.a", "too large"),
    (b'{"a": {"b": 18446744073709551616}}', "$.a.b", "64 bits"),
    (b'{"a": -9223372036854775809}', "$.a", "64 bits"),
    (b"9" * 5000, "$", "64 bits"),
    (b'["\\ud800"]', "$[0]", "surrogate"),
    (b"[" * 201 + b"]" * 201, "$[0][0]", "nested"),
    (b"[" * 100_000 + b"]" * 100_000, "$", "nested"),
    (b"[" * 1000 + b"1" * 19 + b"]" * 1000, "$", "nested"),
    (b'{"a": [{"b": 1, "\\ud83d": 1}]}', "$.a[0]", "surrogate"),
    (b'{"a": 1, "b": ["x", {"c": [1, 2, 99999999999999999999]}]}', "$.b[1].c[2]", "64 bits"),
    (b'{"a": 1', "$", "not JSON"),
    (b"", "$", "not JSON"),
    (b"\xff", "$", "not JSON"),
    (b'{"a": 01}', "$", "not JSON"),
]


@pytest.mark.parametrize(("text", "path", "reason"), REFUSED_TEXT)
def test_text_the_parser_would_alter_is_refused_with_its_path(text, path, reason):
    with pytest.raises(InvalidJSON) as error:
        accept(text)
    assert error.value.path.startswith(path)
    assert reason in error.value.reason


def test_a_line_of_escapes_is_looked_at_in_the_memory_it_has():
    text = b'{"a":"' + b"\\n" * 2_000_000 + b'"}'
    tracemalloc.start()
    value, _ = accept(text, unique_keys=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(value["a"]) == 2_000_000
    assert peak < 20 * len(text)


def test_the_stack_of_the_caller_does_not_matter():
    text = b"[" * 150 + b"1" * 19 + b"]" * 150

    def deep(frames):
        return deep(frames - 1) if frames else accept(text)

    _, raw = deep(800)
    assert raw == text
    with pytest.raises(InvalidJSON, match="int, not a string"):
        accept({10**5000: 1})


def test_a_key_named_twice_is_refused_in_lines():
    assert accept(b'{"a": {"b": 1, "b": 2}}')[0] == {"a": {"b": 2}}
    with pytest.raises(InvalidJSON, match="'b' is there twice"):
        accept(b'{"a": {"b": 1, "b": 2}}', unique_keys=True)


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        [],
        "",
        0,
        -0.0,
        2**64 - 1,
        -(2**63),
        1e308,
        5e-324,
        {"": {"\u2028": "\x00\x7f\U0001f600"}},
        nested(200),
        {"big": 18446744073709551615, "text": "18446744073709551616"},
    ],
)
def test_accepted_values_come_back_equal_from_python_and_from_text(value):
    taken, raw = accept(value)
    assert equal(taken, value)
    again, same = accept(raw)
    assert equal(again, value)
    assert raw == same


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ({"a": Word.RUN}, {"a": "run"}),
        ({Word.RUN: 1}, {"run": 1}),
        ({"a": Number.ONE}, {"a": 1}),
        (OrderedDict(a=1), {"a": 1}),
        (MappingProxyType({"a": [True]}), {"a": [True]}),
    ],
)
def test_subclasses_of_json_types_are_taken_as_the_plain_type(given, plain):
    taken, _ = accept(given)
    assert equal(taken, plain)
    assert {type(v) for v in taken.values()} <= {str, int, list}


def test_what_is_accepted_is_private_to_the_journal():
    source = {"a": [1]}
    taken, _ = accept(source)
    source["a"].append(2)
    assert taken == {"a": [1]}


def test_equality_is_by_json_type_and_ignores_key_order():
    assert equal({"a": 1, "b": 2}, {"b": 2, "a": 1})
    for left, right in [(1, 1.0), (1, True), (0, False), (0.0, -0.0), (None, False), ("1", 1)]:
        assert not equal({"a": left}, {"a": right})
    assert canonical({"b": 1, "a": 2}) == b'{"a":2,"b":1}'


def test_a_document_over_the_limit_is_refused_before_parsing():
    with pytest.raises(InvalidJSON, match="over the limit"):
        accept(b'"' + b"x" * MAX_BYTES + b'"')
    with pytest.raises(InvalidJSON, match="over the limit"):
        accept("x" * MAX_BYTES)


def test_depth_counts_from_the_record_and_not_from_its_wrapping():
    assert accept({"record": nested(200)}, wrapped=1)
    with pytest.raises(InvalidJSON):
        accept({"record": nested(200)})
