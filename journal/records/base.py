"""What every record has in common: a typed view of the host's JSON that gives it back.

A record model is written once, as a pydantic class. From its fields comes also the fast
check that the write door runs on plain JSON (`Record.check`), so the two cannot disagree.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar, Literal, Self, get_origin

from pydantic import (
    BaseModel,
    ConfigDict,
    PrivateAttr,
    ValidationError,
    model_validator,
)
from pydantic.functional_validators import ModelWrapValidatorHandler

from journal import json_door
from journal.json_door import JSON
from journal.records import checks
from journal.records.checks import Check, Rule, Wrong
from journal.records.envelope import unwrap
from journal.records.fields import JsonObject, check_of


class Record(BaseModel):
    """A frozen, typed view of one JSON object of a host.

    Unknown keys are kept (`model_extra`). Types are strict: "5", 5.0 and true are no
    integers. A null where the field may be absent reads as absent, that is, as the field's
    default. `to_json` gives back exactly what came in; of a record built by keyword it
    gives what was passed, and nothing for what was not. Frozen is not deep: leave the lists
    and dicts inside alone.

    Building a record, in whichever way, raises `InvalidRecord` where a field is wrong.
    """

    model_config = ConfigDict(
        frozen=True, extra="allow", strict=True, protected_namespaces=(), defer_build=True
    )

    NOUN: ClassVar[str] = "record"
    """What the record is called in errors."""

    SCHEMA: ClassVar[str] = ""
    """The schema of the envelope it may travel in; empty where it always travels bare."""

    RULE: ClassVar[Rule | None] = None
    """Raises `Wrong` for what no single field shows; gets a record or plain JSON (`peek`)."""

    _check: ClassVar[Check] = checks.json_object
    _optional: ClassVar[frozenset[str]] = frozenset()
    _tags: ClassVar[frozenset[str]] = frozenset()
    """Fields of one fixed value; always written, so no need to pass them."""

    _keys: tuple[str, ...] = PrivateAttr(default=())
    """The keys in the order they came, those whose null reads as absent included."""

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        """Tell apart the fields of a new model."""
        fields = cls.model_fields
        cls._tags = frozenset(
            name
            for name, field in fields.items()
            if get_origin(field.annotation) is Literal and not field.is_required()
        )
        cls._optional = frozenset(
            name for name, field in fields.items() if not field.is_required()
        ).difference(cls._tags)
        cls._check = cls._first_check

    @classmethod
    def _first_check(cls, value: JSON) -> None:
        """Compile the check when it is first needed: most programs need a few of them."""
        cls._check = cls.compile_check()
        cls._check(value)

    @classmethod
    def compile_check(cls, decided: frozenset[str] = frozenset()) -> Check:
        """Compile the fields into the check of plain JSON, but for those already decided."""
        tests = {
            name: check_of(field.annotation, field.metadata)
            for name, field in cls.model_fields.items()
            if name not in decided
        }
        return checks.object_of(
            {name: test for name, test in tests.items() if name not in cls._optional},
            {name: test for name, test in tests.items() if name in cls._optional},
            cls.RULE,
        )

    @classmethod
    def check(cls, value: JSON) -> None:
        """Check accepted JSON, a bare payload, without building anything.

        Raises:
            InvalidRecord: with the path of the first wrong field, in the order of the
                JSON; what is missing comes after what is wrong.
        """
        try:
            cls._check(value)
        except Wrong as wrong:
            raise wrong.invalid(cls.NOUN) from None

    @classmethod
    def from_json(cls, value: Mapping[str, JSON] | bytes) -> Self:
        """Read a record from a mapping or from JSON text, bare or in its envelope.

        Raises:
            InvalidJSON: a value JSON does not allow, or one beyond the journal's limits.
            InvalidEnvelope: an envelope of another schema or of an unknown version.
            InvalidRecord: with the path of the first wrong field of the payload.
        """
        accepted, _ = json_door.accept(value)
        if cls.SCHEMA:
            accepted, _ = unwrap(accepted, cls.SCHEMA)
        cls.check(accepted)
        return cls.model_validate(accepted)

    def to_json(self) -> JsonObject:
        """Give the record as a JSON object of the caller's own, without envelope."""
        extra = self.model_extra or {}
        # `model_fields_set` names the unknown keys too.
        given = [
            name
            for name in type(self).model_fields
            if name in self.model_fields_set or name in self._tags
        ]
        # A record built by keyword, or copied with changes, has more than its keys. A key
        # that is neither given nor unknown came as a null that reads as absent.
        found: JsonObject = dict.fromkeys(self._keys)
        found.update((name, plain(getattr(self, name))) for name in given)
        found.update((name, plain(item)) for name, item in extra.items())
        return found

    @model_validator(mode="wrap")
    @classmethod
    def _view(cls, value: Any, build: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(value, dict):
            return build(value)
        absent = {name for name in cls._optional if value.get(name, cls) is None}
        given = {k: v for k, v in value.items() if k not in absent} if absent else value
        try:
            record = build(given)
            if cls.RULE is not None:
                cls.RULE(record)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            raise Wrong(first["msg"], *_steps(first["loc"])).invalid(cls.NOUN) from None
        except Wrong as wrong:
            raise wrong.invalid(cls.NOUN) from None
        record._keys = tuple(value)  # noqa: SLF001 - our own
        return record


def _steps(place: tuple[str | int, ...]) -> list[str | int]:
    # Past the field and its place in a list come names of pydantic's own.
    field, *inner = place
    return [*[step for step in inner[:1] if isinstance(step, int)], field]


def plain(value: Any) -> JSON:
    """Copy the value of a field as plain JSON."""
    if isinstance(value, Record):
        return value.to_json()
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value.value if isinstance(value, StrEnum) else value


def peek(holder: Any, *names: str) -> Any:
    """Follow names into a record or a JSON object; None where a key is absent."""
    for name in names:
        holder = holder.get(name) if isinstance(holder, dict) else getattr(holder, name)
    return holder
