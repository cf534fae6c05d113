"""The stream records that benchmarks append, in the shapes and sizes of a real run's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import orjson
from texts import words

JSON = dict[str, Any]


class Records(NamedTuple):
    """The same records twice, as a host may hand them in."""

    dicts: list[JSON]
    texts: list[bytes]

    @property
    def size(self) -> int:
        """Bytes of their JSON."""
        return sum(map(len, self.texts))


def delta(sequence: int, text: str) -> JSON:
    """Make what a model streams for one token."""
    event = {"kind": "part_delta", "index": 0, "delta_kind": "text", "text": text}
    return {"sequence": sequence, "event": {"kind": "model_stream", "step": 1, "event": event}}


def answer(sequence: int, text: str) -> JSON:
    """Make a tool's answer."""
    returned = {
        "tool_call_id": f"call_{sequence:08x}",
        "name": "read_page",
        "content": text,
        "is_error": False,
        "metadata": {"duration_ms": 1, "duration_seconds": 0.001883649},
    }
    event = {"kind": "tool_return", "step": 1, "tool_return": returned}
    return {"sequence": sequence, "event": event}


_SHAPES: dict[int, tuple[Callable[[int, str], JSON], int]] = {
    100: (delta, 6),
    300: (answer, 85),
    4000: (answer, 3800),
}
SIZES = tuple(_SHAPES)
"""About the bytes of a record: of a token, a small record and a tool's answer."""


def make(count: int, size: int, seed: int = 7) -> Records:
    """Make `count` records of about `size` bytes of JSON each, all different.

    A token's delta is some 20 bytes above 100: that is what its envelope takes.
    """
    shape, text_size = _SHAPES[size]
    dicts = [shape(number, text) for number, text in enumerate(words(count, text_size, seed))]
    return Records(dicts, [orjson.dumps(one) for one in dicts])


def join(parts: list[Records], count: int) -> Records:
    """Put the first `count` records of several callers one after the other."""
    return Records(
        [one for part in parts for one in part.dicts][:count],
        [one for part in parts for one in part.texts][:count],
    )
