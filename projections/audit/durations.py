"""Percentiles of many durations in little memory."""

from __future__ import annotations

from collections import Counter

DIGITS = 3
"""Digits of a duration that are kept: up to 999 exact, above within half a percent."""


class Durations:
    """Counts durations by their first digits."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()

    def add(self, duration: int) -> None:
        """Count one; a negative one, which a host gave, is itself."""
        digits = len(str(abs(duration)))
        step = 10 ** max(0, digits - DIGITS)
        self._counts[duration // step * step] += 1

    def percentile(self, percent: int) -> int | None:
        """Give the smallest duration that so many percent do not exceed; None without any."""
        total = self._counts.total()
        left = -(-total * percent // 100)
        for duration in sorted(self._counts):
            left -= self._counts[duration]
            if left <= 0:
                return duration
        return None
