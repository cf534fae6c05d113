"""Saying quickly that accepted JSON is right; what is wrong with it, the checks say.

The checks of `journal.records.checks` name the first wrong place, and so look at every
member in order. Nearly every record is right, and that is told three times faster: each
object's check is also compiled into one Python function that tests its fields in a row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Quick: TypeAlias = Callable[[Any], bool]
"""Tells that a value is right; of one it calls wrong the check has the last word."""


class Test:
    """How a value is tested: a Python expression on `x`, and the things it names in braces."""

    def __init__(self, expression: str, **things: Any) -> None:
        """Test by an expression such as `x in {known}`; an empty one accepts any value."""
        self.expression = expression
        self.things = things

    @classmethod
    def by(cls, quick: Quick) -> Test:
        """Test by a function."""
        return cls("{quick}(x)", quick=quick)

    def function(self) -> Quick:
        """Give the test as a function."""
        if self.expression == "{quick}(x)":
            function: Quick = self.things["quick"]
            return function
        things: dict[str, Any] = {}
        test = self.numbered(0, things) or "True"
        return _function(["x = value", f"return bool({test})"], things)

    def numbered(self, number: int, things: dict[str, Any]) -> str:
        """Give the expression with names of its own, which are added to `things`."""
        names = {name: f"{name}{number}" for name in self.things}
        things.update({names[name]: thing for name, thing in self.things.items()})
        return self.expression.format(**names)


ANYTHING = Test("")


def list_of(item: Test) -> Quick:
    """Make the test of a list."""
    things: dict[str, Any] = {}
    test = item.numbered(0, things) or "True"
    lines = ["if type(value) is not list: return False", "for x in value:"]
    return _function([*lines, f"    if not ({test}): return False", "return True"], things)


def object_of(
    required: Mapping[str, Test], optional: Mapping[str, Test], rule: Quick | None
) -> Quick:
    """Make the test of an object with these fields; unknown keys are accepted.

    Args:
        required: must be there and pass.
        optional: may be absent or null; must pass otherwise.
        rule: tests the whole object once every field has passed.
    """
    lines = ["if type(value) is not dict: return False"]
    things: dict[str, Any] = {"rule": rule}
    for number, (key, test) in enumerate([*required.items(), *optional.items()]):
        expression = test.numbered(number, things)
        if key in required:
            lines.append(f"if {key!r} not in value: return False")
            lines.append(f"x = value[{key!r}]")
            lines.append(f"if not ({expression or True}): return False")
        elif expression:
            lines.append(f"x = value.get({key!r})")
            lines.append(f"if x is not None and not ({expression}): return False")
    lines.append("return True" if rule is None else "return rule(value)")
    return _function(lines, things)


def by_kind(tag: str, known: Mapping[str, Quick], other: Quick) -> Quick:
    """Make the test of an object whose string field `tag` says which test it must pass."""
    things = {"find": known.get, "other": other}
    return _function(
        [
            "if type(value) is not dict: return False",
            f"kind = value.get({tag!r})",
            "return type(kind) is str and find(kind, other)(value)",
        ],
        things,
    )


def _function(lines: list[str], things: dict[str, Any]) -> Quick:
    made = dict(things)
    exec("\n    ".join(["def right(value):", *lines]), made)  # noqa: S102 - names our own fields
    right: Quick = made["right"]
    return right
