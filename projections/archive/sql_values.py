"""Values of DuckDB as SQLite would give them: numbers, texts, bytes and None."""

from __future__ import annotations

from decimal import Decimal
from typing import Any


def plain(value: Any) -> Any:
    """Give a value as a number, a text, bytes or None."""
    if value is None or type(value) in {int, float, str, bytes}:
        return value
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, Decimal):
        return float(value)
    return str(value)
