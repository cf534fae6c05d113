"""Quantities in words for people: how long, how much, how many."""

from __future__ import annotations

_STEPS = ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"), (60, "min", 1, "s"))
"""From so many seconds on, in this unit and the next."""


def duration(milliseconds: int | None) -> str:
    """Write a duration such as `340 ms`, `1.2 s`, `3 min 12 s`, `4 d 3 h`; cut, not rounded."""
    if milliseconds is None:
        return "-"
    if milliseconds < 0:
        return f"-{duration(-milliseconds)}"
    if milliseconds < 1000:
        return f"{milliseconds} ms"
    seconds = milliseconds // 1000
    for size, unit, smaller, name in _STEPS:
        if seconds >= size:
            rest = seconds % size // smaller
            return f"{seconds // size} {unit}" + (f" {rest} {name}" if rest else "")
    return f"{seconds}.{milliseconds % 1000 // 100} s"


def dollars(micros: int | None) -> str:
    """Write micro-dollars as dollars, exactly, with two decimals or as many as there are."""
    if micros is None:
        return "-"
    whole, rest = divmod(abs(micros), 1_000_000)
    decimals = f"{rest:06d}".rstrip("0").ljust(2, "0")
    return f"{'-' if micros < 0 else ''}${whole:,}.{decimals}"


def count(number: int | None) -> str:
    """Write a number with separators."""
    return "-" if number is None else f"{number:,}"


def counted(number: int, what: str) -> str:
    """Write a number of things."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def size(number: float) -> str:
    """Write a number of bytes."""
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:,.1f} GB"


def percent(part: int, whole: int) -> str:
    """Write a part as a percentage; a small one is never shown as none, nor most as all."""
    if not whole:
        return "-"
    value = 100 * part / whole
    if part and value < 0.1:
        return "<0.1 %"
    if part < whole and value > 99.9:
        return ">99.9 %"
    return f"{value:.1f} %"
