"""Equal items of two sequences are paired, in an amount of work that stays bounded."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections import alignment
from projections.alignment import COMPARED, align

FEW = st.lists(st.integers(0, 3), max_size=30)


def longest(a, b):
    row = [0] * (len(b) + 1)
    for item in a:
        above = row
        row = [0]
        for j, other in enumerate(b):
            row.append(above[j] + 1 if item == other else max(above[j + 1], row[j]))
    return row[-1]


def assert_rises(pairs, a, b):
    assert all(a[i] == b[j] for i, j in pairs)
    assert all(i < k and j < m for (i, j), (k, m) in pairwise(pairs))


@given(FEW, FEW)
def test_as_many_equal_items_as_possible_are_paired_in_order(a, b):
    pairs = align(a, b)
    assert_rises(pairs, a, b)
    assert len(pairs) == longest(a, b)


@given(FEW, FEW, FEW, FEW)
def test_of_long_sequences_the_common_ends_are_always_paired(start, a, b, end):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alignment, "COMPARED", 0)
        pairs = align(start + a + end, start + b + end)
    assert_rises(pairs, start + a + end, start + b + end)
    assert len(pairs) >= len(start) + len(end)


@given(FEW, FEW)
def test_of_long_sequences_distinct_equal_items_are_paired_in_order(a, b):
    distinct = [(item, a[:at].count(item)) for at, item in enumerate(a)]
    others = [(item, b[:at].count(item)) for at, item in enumerate(b)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alignment, "COMPARED", 0)
        pairs = align(distinct, others)
    assert_rises(pairs, distinct, others)
    assert len(pairs) == longest(distinct, others)


class Counted:
    """An item that counts how often it is compared."""

    compared = 0

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        Counted.compared += 1
        return self.value == other.value

    def __hash__(self):
        return hash(self.value)


@pytest.mark.parametrize("length", [400, 5000])
def test_repeated_items_cost_no_more_than_the_bound(length):
    a = [Counted("same") for _ in range(length)]
    b = [Counted("first")]
    b += [Counted("same") if at % 2 else Counted("b") for at in range(length)]
    Counted.compared = 0
    pairs = align(a, b)
    assert len(pairs) == length // 2
    assert Counted.compared <= COMPARED + 10 * length
