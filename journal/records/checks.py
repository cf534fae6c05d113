"""Fast checks of accepted JSON, which name the first wrong place.

A check takes a JSON value and returns nothing, or raises `Wrong`. Checks never copy and
never build anything: they stand at the write door, once for every record. Each model of
this package is compiled into one (see `journal.records.base`), which first asks the quick
test that belongs to it (see `journal.records.quick`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from typing import Any, NoReturn, TypeAlias

from journal.errors import InvalidRecord, brief
from journal.json_door import JSON
from journal.json_text import MAX_INT, MIN_INT, member
from journal.records import quick
from journal.records.quick import ANYTHING, Test

Check: TypeAlias = Callable[[JSON], None]
Rule: TypeAlias = Callable[[Any], None]

_TESTS: dict[Check, Test] = {}
"""The quick tests of checks; they belong to models, which live as long as the program."""

MISSING: Any = object()
"""Stands for the value of a key that is not there."""


class Wrong(Exception):
    """A place in a record that does not hold what it must; steps lead to it, last first."""

    def __init__(self, reason: str, *steps: str | int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.steps: list[str | int] = list(steps)

    def invalid(self, what: str) -> InvalidRecord:
        """Give the error a caller sees: the path in the JSON, and what is wrong there."""
        path = "$"
        for step in reversed(self.steps):
            path = member(path, step) if isinstance(step, str) else f"{path}[{step}]"
        return InvalidRecord(what, path, self.reason)


def shown(value: Any) -> str:
    """Describe a JSON value in a few words, for a reason."""
    if value is MISSING:
        return "nothing"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return brief(str(value)) if isinstance(value, str) else json.dumps(value)


def refuse(needed: str, found: Any) -> NoReturn:
    """Raise the error for a value that is not what its place needs."""
    raise Wrong(f"{needed} is needed, found {shown(found)}")


def _tested(test: Test) -> Callable[[Check], Check]:
    def note(check: Check) -> Check:
        _TESTS[check] = test
        return check

    return note


def test_of(check: Check) -> Test:
    """Give the quick test of a check; of one that has none, running it."""
    return _TESTS.get(check) or Test.by(_passing(check))


def _passing(check: Check) -> quick.Quick:
    def passes(value: JSON) -> bool:
        try:
            check(value)
        except Wrong:
            return False
        return True

    return passes


@_tested(ANYTHING)
def anything(value: JSON) -> None:
    """Accept any JSON value, null too; only a missing key is wrong."""
    if value is MISSING:
        refuse("a JSON value", value)


@_tested(Test("type(x) is str"))
def text(value: JSON) -> None:
    """Accept a string."""
    if type(value) is not str:
        refuse("a string", value)


@_tested(Test("type(x) is str and x"))
def ident(value: JSON) -> None:
    """Accept an id: any string but the empty one."""
    if type(value) is not str or not value:
        refuse("a non-empty string", value)


@_tested(Test("type(x) is int and 0 <= x <= {largest}", largest=MAX_INT))
def counter(value: JSON) -> None:
    """Accept an integer from 0 to 2^64-1; 1.0 and true are none."""
    if type(value) is not int or not 0 <= value <= MAX_INT:
        refuse("an integer from 0 to 2^64-1", value)


@_tested(Test("type(x) is int and {smallest} <= x <= {largest}", smallest=MIN_INT, largest=MAX_INT))
def integer(value: JSON) -> None:
    """Accept an integer of 64 bits, signed or unsigned."""
    if type(value) is not int or not MIN_INT <= value <= MAX_INT:
        refuse("an integer of 64 bits", value)


@_tested(Test("x is True or x is False"))
def flag(value: JSON) -> None:
    """Accept true and false."""
    if value is not True and value is not False:
        refuse("true or false", value)


@_tested(Test("type(x) is dict"))
def json_object(value: JSON) -> None:
    """Accept an object of any keys."""
    if type(value) is not dict:
        refuse("an object", value)


def one_of(words: Collection[str]) -> Check:
    """Make the check for a closed vocabulary."""
    known = frozenset(words)
    needed = f"one of {', '.join(words)}" if len(words) > 1 else repr(next(iter(words)))

    @_tested(Test("type(x) is str and x in {known}", known=known))
    def check(value: JSON) -> None:
        if type(value) is not str or value not in known:
            refuse(needed, value)

    return check


def list_of(test: Check) -> Check:
    """Make the check for a list whose items all pass `test`."""
    right = quick.list_of(test_of(test))

    @_tested(Test.by(right))
    def check(value: JSON) -> None:
        if right(value):
            return
        if type(value) is not list:
            refuse("a list", value)
        at = -1
        try:
            for at, item in enumerate(value):  # noqa: B007 - read when an item is wrong
                test(item)
        except Wrong as wrong:
            wrong.steps.append(at)
            raise

    return check


def object_of(
    required: Mapping[str, Check], optional: Mapping[str, Check], rule: Rule | None = None
) -> Check:
    """Make the check for an object with these fields; unknown keys are accepted.

    Args:
        required: must be there and pass.
        optional: may be absent, and null reads as absent; must pass otherwise.
        rule: looks at the whole object once every field has passed.
    """
    needed = tuple(required)
    both = {**required, **optional}
    # What accepts any value need not be called for one.
    find = {name: test for name, test in both.items() if test is not anything}.get
    right = quick.object_of(
        {name: test_of(test) for name, test in required.items()},
        {name: test_of(test) for name, test in optional.items()},
        None if rule is None else _passing(rule),
    )

    @_tested(Test.by(right))
    def check(value: JSON) -> None:
        if right(value):
            return
        if type(value) is not dict:
            refuse("an object", value)
        name = ""
        try:
            for name, item in value.items():
                test = find(name)
                if test is not None and (item is not None or name in required):
                    test(item)
            for name in needed:
                if name not in value:
                    required[name](MISSING)
        except Wrong as wrong:
            wrong.steps.append(name)
            raise
        if rule is not None:
            rule(value)

    return check


def by_kind(tag: str, known: Mapping[str, Check], other: Check) -> Check:
    """Make the check for an object whose string field `tag` says which check it must pass.

    Args:
        tag: the field's name.
        known: the check of each kind.
        other: the check of every other kind.
    """
    find = known.get
    tests = {check: test_of(check).function() for check in (*known.values(), other)}
    right = quick.by_kind(tag, {kind: tests[check] for kind, check in known.items()}, tests[other])

    @_tested(Test.by(right))
    def check(value: JSON) -> None:
        if type(value) is not dict:
            refuse("an object", value)
        kind = value.get(tag, MISSING)
        if type(kind) is not str:
            raise Wrong(f"a string is needed, found {shown(kind)}", tag)
        find(kind, other)(value)

    return check
