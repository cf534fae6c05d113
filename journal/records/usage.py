"""Token counts of model use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from journal.json_door import JSON
from journal.json_text import MAX_INT
from journal.records.base import Record
from journal.records.fields import Counter, JsonObject

_COUNTERS = (
    "requests",
    "input_tokens",
    "cache_write_tokens",
    "cache_read_tokens",
    "output_tokens",
    "total_tokens",
    "tool_calls",
)
_ONE_HOUR = "cache_write_1h_tokens"


class Usage(Record):
    """What some model requests used. Sums saturate at 2^64-1."""

    NOUN: ClassVar[str] = "usage"

    requests: Counter
    input_tokens: Counter
    output_tokens: Counter
    total_tokens: Counter
    cache_write_tokens: Counter = 0
    cache_read_tokens: Counter = 0
    tool_calls: Counter = 0
    cache_write_1h_tokens: Counter | None = None

    def __add__(self, other: Usage) -> Usage:
        return Usage.model_validate(add_usage(self.to_json(), other.to_json()))


def add_usage(left: Mapping[str, JSON], right: Mapping[str, JSON]) -> JsonObject:
    """Add two usages given as JSON.

    Counters that are absent count as 0; `cache_write_1h_tokens` is in the sum when either
    has it. Unknown keys cannot be added and are left out.
    """
    total: JsonObject = {
        name: min((left.get(name) or 0) + (right.get(name) or 0), MAX_INT) for name in _COUNTERS
    }
    if left.get(_ONE_HOUR) is not None or right.get(_ONE_HOUR) is not None:
        total[_ONE_HOUR] = min((left.get(_ONE_HOUR) or 0) + (right.get(_ONE_HOUR) or 0), MAX_INT)
    return total
