"""Errors carry their facts, survive pickling, and say what to do next."""

import pickle
from dataclasses import MISSING, fields

import pytest

from journal import errors
from journal.errors import FixInput, JournalError, ReadAgain, RetryUnchanged, Stop, brief

LEAVES = sorted(
    (
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, JournalError) and "message" in vars(kind)
    ),
    key=lambda kind: kind.__name__,
)
LEAVES.remove(JournalError)


def example(kind):
    samples = {
        "int": 7,
        "float": 2.5,
        "str": "x\ny",
        "str | None": None,
        "Any": {"a": 1},
        "int | str": "k",
        "tuple[str, ...]": ("append of run 1",),
        "tuple[int, ...]": (2, 3),
    }
    return kind(*(samples[str(f.type)] for f in fields(kind) if f.default is MISSING))


@pytest.mark.parametrize("kind", LEAVES)
def test_every_error_survives_pickling_with_its_fields(kind):
    error = example(kind)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == str(error)
    assert [getattr(again, f.name) for f in fields(kind)] == [
        getattr(error, f.name) for f in fields(kind)
    ]


@pytest.mark.parametrize("kind", LEAVES)
def test_every_error_says_in_its_group_what_the_caller_does_next(kind):
    groups = [g for g in (RetryUnchanged, ReadAgain, FixInput, Stop) if issubclass(kind, g)]
    assert len(groups) == 1
    assert f" {kind.__name__}\n" in errors.__doc__


def test_long_values_are_shortened_and_printable():
    assert brief("a" * 100) == "'" + "a" * 56 + "..."
    assert brief("\x1b[31m") == "'\\x1b[31m'"
