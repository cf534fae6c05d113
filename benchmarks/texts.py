"""Text that is the same every time and compresses about as text does."""

from __future__ import annotations

import random


def vocabulary(dice: random.Random) -> list[str]:
    """Make 2,000 words of 2 to 9 letters."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return ["".join(dice.choices(letters, k=dice.randint(2, 9))) for _ in range(2000)]


def words(count: int, size: int, seed: int = 7) -> list[str]:
    """Make texts of `size` characters out of pseudo-random words."""
    dice = random.Random(seed)
    known = vocabulary(dice)
    return [" ".join(dice.choices(known, k=size // 3))[:size] for _ in range(count)]
