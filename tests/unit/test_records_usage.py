"""Usage adds up and saturates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journal.errors import InvalidRecord
from journal.records import Usage, add_usage

LIMIT = 2**64 - 1
REQUIRED = ("requests", "input_tokens", "output_tokens", "total_tokens")
OPTIONAL = ("cache_write_tokens", "cache_read_tokens", "tool_calls")
ONE_HOUR = "cache_write_1h_tokens"

COUNTS = st.integers(0, 100) | st.integers(0, LIMIT)
USAGES = st.fixed_dictionaries(
    dict.fromkeys(REQUIRED, COUNTS),
    optional=dict.fromkeys((*OPTIONAL, ONE_HOUR), COUNTS | st.none()),
)


@given(USAGES, USAGES)
def test_every_counter_adds_up_and_saturates(left, right):
    total = add_usage(left, right)
    for name in (*REQUIRED, *OPTIONAL):
        assert total[name] == min((left.get(name) or 0) + (right.get(name) or 0), LIMIT)
    one_hour = [usage[ONE_HOUR] for usage in (left, right) if usage.get(ONE_HOUR) is not None]
    assert total.get(ONE_HOUR) == (min(sum(one_hour), LIMIT) if one_hour else None)
    assert (ONE_HOUR in total) == bool(one_hour)
    assert add_usage(right, left) == total
    Usage.check(total)


@given(USAGES, USAGES)
def test_models_add_up_like_their_json(left, right):
    total = Usage.from_json(left) + Usage.from_json(right)
    assert total.to_json() == add_usage(left, right)


def test_a_sum_stops_at_the_largest_counter():
    full = dict.fromkeys((*REQUIRED, *OPTIONAL, ONE_HOUR), LIMIT)
    one = dict.fromkeys((*REQUIRED, *OPTIONAL, ONE_HOUR), 1)
    assert add_usage(full, one) == full


def test_adding_leaves_both_sides_alone():
    left = dict.fromkeys(REQUIRED, 1) | {"other": 1}
    assert "other" not in add_usage(left, left)
    assert left == dict.fromkeys(REQUIRED, 1) | {"other": 1}


@pytest.mark.parametrize("name", [*REQUIRED, *OPTIONAL, ONE_HOUR])
@pytest.mark.parametrize("value", ["5", 1.0, True, -1])
def test_a_counter_is_a_whole_number(name, value):
    with pytest.raises(InvalidRecord) as refused:
        Usage.from_json(dict.fromkeys(REQUIRED, 1) | {name: value})
    assert refused.value.path == f"$.{name}"
