"""Single values of an answer, as JSON and as text: numbers, texts, bytes and None."""

from __future__ import annotations

from math import isfinite, isnan
from typing import Any

import orjson

_SMALLEST, _LARGEST = -(2**63), 2**64 - 1
"""Integers that `orjson` writes; larger ones, sums of a query, are written here."""


def as_json(value: Any) -> Any:
    """Make a value that `orjson` writes, and none that it would write as null.

    Floats that JSON has no number for become `NaN`, `Infinity`, `-Infinity`, and bytes
    hexadecimal digits.
    """
    match value:
        case int() if not _SMALLEST <= value <= _LARGEST:
            return orjson.Fragment(str(value))
        case float() if not isfinite(value):
            if isnan(value):
                return "NaN"
            return "Infinity" if value > 0 else "-Infinity"
        case bytes():
            return value.hex()
        case _:
            return value


def as_text(value: Any) -> str:
    """Write a value as text: a string as it is, anything else as JSON."""
    plain = as_json(value)
    return plain if isinstance(plain, str) else orjson.dumps(plain).decode()
