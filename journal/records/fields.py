"""The types of the records' fields, and the fast check that stands for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

from pydantic import Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from journal.json_door import JSON
from journal.json_text import MAX_INT, MIN_INT
from journal.records import checks
from journal.records.checks import Check


@dataclass(frozen=True, slots=True)
class Checked:
    """Says in an annotation which check stands for the type."""

    check: Check


JsonObject: TypeAlias = dict[str, JSON]
"""A JSON object of any keys."""

Id: TypeAlias = Annotated[str, Field(min_length=1), Checked(checks.ident)]
"""An opaque id: any string but the empty one."""

Counter: TypeAlias = Annotated[int, Field(ge=0, le=MAX_INT), Checked(checks.counter)]
"""An integer from 0 to 2^64-1."""

Integer: TypeAlias = Annotated[int, Field(ge=MIN_INT, le=MAX_INT), Checked(checks.integer)]
"""An integer of 64 bits, signed or unsigned."""


@dataclass(frozen=True, slots=True)
class ByKind:
    """Says in the annotation of a union which string field picks the member.

    Each member names its kinds in a Literal; the one whose field is a plain `str` takes
    every other kind. A member may be such a union itself, by another field.
    """

    tag: str

    def compile(self, union: Any, decided: frozenset[str]) -> Check:
        """Make the check of the union."""
        decided |= {self.tag}
        known: dict[str, Check] = {}
        other: Check = checks.json_object
        for kinds, choice in self._choices(union):
            check = check_of(choice, decided=decided)
            if kinds:
                known.update(dict.fromkeys(kinds, check))
            else:
                other = check
        return checks.by_kind(self.tag, known, other)

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Tell pydantic the same."""
        schemas: dict[str | int, CoreSchema] = {}
        for kinds, choice in self._choices(source):
            schema = handler.generate_schema(choice)
            # 0 can be no kind in JSON, so it is free to name all others.
            schemas.update(dict.fromkeys(kinds or (0,), schema))

        def pick(value: Any) -> str | int | None:
            kind = (
                value.get(self.tag) if isinstance(value, dict) else getattr(value, self.tag, None)
            )
            if not isinstance(kind, str):
                return None
            return kind if kind in schemas else 0

        return core_schema.tagged_union_schema(
            schemas,
            discriminator=pick,
            custom_error_type="kind_needed",
            custom_error_message=f"an object with a string `{self.tag}` is needed",
        )

    def _choices(self, union: Any) -> list[tuple[tuple[str, ...], Any]]:
        return [(self._kinds(choice), choice) for choice in get_args(union)]

    def _kinds(self, choice: Any) -> tuple[str, ...]:
        if get_origin(choice) is Annotated:
            return self._kinds(get_args(get_args(choice)[0])[0])
        kind = choice.model_fields[self.tag].annotation
        return get_args(kind) if get_origin(kind) is Literal else ()


def check_of(  # noqa: PLR0911 - one return a form of type
    kind: Any, marks: Sequence[Any] = (), *, decided: frozenset[str] = frozenset()
) -> Check:
    """Compile an annotation of a field into its check.

    Args:
        kind: the type, such as `list[ToolCall] | None`.
        marks: what else the annotation says of it.
        decided: the fields that picked this type from a union, known to be right.
    """
    for mark in marks:
        if isinstance(mark, Checked):
            return mark.check
        if isinstance(mark, ByKind):
            return mark.compile(kind, decided)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return check_of(inner[0], inner[1:], decided=decided)
    if origin in (Union, UnionType):
        (one,) = [choice for choice in inner if choice is not NoneType]
        return check_of(one)
    if origin is Literal:
        return checks.one_of(inner)
    if origin is list:
        return checks.list_of(check_of(inner[0]))
    if origin is dict:
        return checks.json_object
    return _check_of_class(kind, decided)


def _check_of_class(kind: Any, decided: frozenset[str]) -> Check:
    if kind in _SCALARS:
        return _SCALARS[kind]
    if issubclass(kind, StrEnum):
        return checks.one_of(list(kind))
    check: Check = kind.compile_check(decided)  # a record
    return check


_SCALARS: dict[Any, Check] = {Any: checks.anything, str: checks.text, bool: checks.flag}
