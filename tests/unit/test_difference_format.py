"""Stored differences mean what their format says, and what does not fit is refused."""

import pickle

import orjson
import pytest

from journal.difference import DifferenceError, apply

BEFORE = {"a": [1, 2, 3], "t": "naïve 😀!", "o": {"x": 1, "y": 2}, "deep": {"list": [{"k": "v"}]}}


@pytest.mark.parametrize(
    ("operations", "after"),
    [
        ([], BEFORE),
        ([["=", [], 5]], 5),
        ([["=", ["o", "x"], None]], BEFORE | {"o": {"x": None, "y": 2}}),
        ([["=", ["a", 1], [0]]], BEFORE | {"a": [1, [0], 3]}),
        ([["=", ["z"], 0]], BEFORE | {"z": 0}),
        ([["=", ["z"], 0, 0]], {"z": 0} | BEFORE),
        ([["=", ["o", "w"], 0, 1]], BEFORE | {"o": {"x": 1, "w": 0, "y": 2}}),
        ([["=", ["o", "w"], 0, 2]], BEFORE | {"o": {"x": 1, "y": 2, "w": 0}}),
        ([["-", ["o", "x"]]], BEFORE | {"o": {"y": 2}}),
        ([["@", ["a"], 1, 1, []]], BEFORE | {"a": [1, 3]}),
        ([["@", ["a"], 3, 0, [4, 5]]], BEFORE | {"a": [1, 2, 3, 4, 5]}),
        ([["@", ["a"], 0, 3, [None]]], BEFORE | {"a": [None]}),
        ([["~", ["t"], 6, 1, "😎😎"]], BEFORE | {"t": "naïve 😎😎!"}),
        ([["~", ["t"], 0, 6, ""]], BEFORE | {"t": "😀!"}),
        ([["<", ["o", "x"], ["deep", "list", 0]]], BEFORE | {"o": {"x": {"k": "v"}, "y": 2}}),
        ([["<", ["o", "w"], ["t"], 0]], BEFORE | {"o": {"w": "naïve 😀!", "x": 1, "y": 2}}),
        ([["<", [], ["a"]]], [1, 2, 3]),
        ([["<", ["o"], []]], BEFORE | {"o": BEFORE}),
        # Paths follow the document, sources stay with the value before.
        (
            [
                ["-", ["a"]],
                ["@", ["deep", "list"], 0, 0, [None]],
                ["<", ["deep", "list", 0], ["a"]],
            ],
            {key: BEFORE[key] for key in ("t", "o")} | {"deep": {"list": [[1, 2, 3], {"k": "v"}]}},
        ),
        # A copy can be changed, and the original stays.
        (
            [["<", ["o"], ["a"]], ["@", ["o"], 0, 2, []]],
            BEFORE | {"o": [3]},
        ),
    ],
)
def test_stored_operations_mean_what_the_format_says(operations, after):
    was = orjson.dumps(BEFORE)
    assert orjson.dumps(apply(BEFORE, operations)) == orjson.dumps(after)
    assert orjson.dumps(BEFORE) == was


@pytest.mark.parametrize(
    "operation",
    [
        None,
        "=",
        {},
        [],
        ["="],
        ["?", [], 1],
        ["=", "a", 1],
        ["=", ["a"], 1, 0, 0],
        ["=", ["a", 3], 0],
        ["=", ["a", -1], 0],
        ["=", ["a", True], 0],
        ["=", ["a", "x"], 0],
        ["=", ["o", 0], 0],
        ["=", ["o", ["x"]], 0],
        ["=", ["t", 0], "x"],
        ["=", ["gone", "x"], 0],
        ["=", ["o", "x"], 0, 0],
        ["=", ["o", "w"], 0, 3],
        ["=", ["o", "w"], 0, -1],
        ["=", ["o", "w"], 0, True],
        ["=", ["a", 0], 0, 0],
        ["=", [], 0, 0],
        ["-", []],
        ["-", ["gone"]],
        ["-", ["a", 0]],
        ["@", ["a"], 0, 4, []],
        ["@", ["a"], -1, 1, []],
        ["@", ["a"], 0, -1, []],
        ["@", ["a"], 1.0, 0, []],
        ["@", ["a"], True, 0, []],
        ["@", ["a"], 0, 0, "no list"],
        ["@", ["o"], 0, 0, []],
        ["~", ["t"], 0, 9, ""],
        ["~", ["t"], 0, 0, 1],
        ["~", ["a"], 0, 0, ""],
        ["<", ["o"], ["gone"]],
        ["<", ["o"], ["a", 3]],
        ["<", ["o"], ["t", 0]],
        ["<", ["o"], 0],
    ],
)
def test_an_operation_that_does_not_fit_is_refused_by_number(operation):
    was = orjson.dumps(BEFORE)
    with pytest.raises(DifferenceError) as caught:
        apply(BEFORE, [["=", ["a", 0], 7], operation])
    assert caught.value.operation == 1
    assert str(caught.value).startswith("operation 1 of the difference does not fit: ")
    assert orjson.dumps(BEFORE) == was


def test_a_delta_that_is_no_list_is_refused():
    with pytest.raises(DifferenceError, match="a difference is a list, not a dict"):
        apply({}, {})


def test_the_error_names_what_is_missing_in_brief_and_can_be_pickled():
    with pytest.raises(ValueError, match=r"nothing at 'x{59}\.\.\.") as caught:
        apply({"a": {}}, [["-", ["a", "x" * 1000]]])
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.operation, again.reason, str(again)) == (
        caught.value.operation,
        caught.value.reason,
        str(caught.value),
    )
