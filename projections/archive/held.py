"""Answers of an archive that are remembered: it does not change while it is open."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from typing import Generic, TypeVar

ROOM = 8 * 1024 * 1024
"""Bytes, roughly, of facts that are remembered, and as many of calls."""

SMALL = 500
"""Bytes of a row or of facts without their texts, roughly."""

K = TypeVar("K")
V = TypeVar("V")


class Held(Generic[K, V]):
    """Values by key, within a bound of their weights; safe for threads.

    Args:
        room: for the weights of all values; when it is taken, all are forgotten.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._lock = threading.Lock()
        self._values: dict[K, V] = {}
        self._taken = 0

    def known(self, keys: Collection[K]) -> dict[K, V]:
        """Give those that are remembered."""
        with self._lock:
            return {key: self._values[key] for key in keys if key in self._values}

    def put(self, values: Mapping[K, V], weight: int) -> None:
        """Remember values that weigh so much together, if there is room at all."""
        with self._lock:
            if self._taken + weight > self._room:
                self._values.clear()
                self._taken = 0
            if weight <= self._room:
                self._values.update(values)
                self._taken += weight
