"""The sequences of a run's stream records, as ranges: `0-52 54 60-61`."""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

_BEFORE_ALL: Final = -(2**65)
"""No number of 64 bits follows on it."""


class Sequences:
    """Ranges of whole numbers from 0, told apart by what is missing between them.

    Those of a run mostly come in order. So the last range is two numbers, the text of the
    others is kept, and they are taken apart only when a number comes below the last range.
    """

    __slots__ = ("_before", "_text", "high", "low")

    def __init__(self, text: str = "") -> None:
        """Read what `str` gave."""
        before, _, last = text.rpartition(" ")
        self._text: str | None = before
        self._before: list[tuple[int, int]] | None = None
        self.low, self.high = _range(last) if last else (_BEFORE_ALL, _BEFORE_ALL)
        """First and last number of the last range; below all before the first one."""

    def __str__(self) -> str:
        """Write the ranges in rising order."""
        if self.high < 0:
            return ""
        if self._text is None:
            self._text = " ".join(_shown(low, high) for low, high in self._before or ())
        last = _shown(self.low, self.high)
        return f"{self._text} {last}" if self._text else last

    def add(self, number: int) -> None:
        """Take in a number; one that is there already changes nothing."""
        if number == self.high + 1:
            self.high = number
        elif number > self.high:
            self._begin(number)
        elif number < self.low:
            self._insert(number)

    def _begin(self, number: int) -> None:
        if self.high >= 0:
            if self._before is not None:
                self._before.append((self.low, self.high))
            if self._text is not None:
                last = _shown(self.low, self.high)
                self._text = f"{self._text} {last}" if self._text else last
        self.low = self.high = number

    def _insert(self, number: int) -> None:
        if self._before is None:
            self._before = [_range(one) for one in (self._text or "").split()]
        before = self._before
        place = bisect_right(before, (number, number))
        low = high = number
        if place and before[place - 1][1] >= number - 1:
            place -= 1
            low, high = before.pop(place)
            if number <= high:
                before.insert(place, (low, high))
                return
            high = number
        self._text = None
        if place < len(before):
            if before[place][0] <= high + 1:
                high = before.pop(place)[1]
        elif self.low == high + 1:
            self.low = low
            return
        before.insert(place, (low, high))


def _shown(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}-{high}"


def _range(text: str) -> tuple[int, int]:
    low, _, high = text.partition("-")
    return int(low), int(high or low)
