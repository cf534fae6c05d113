"""How far something long has come, told to whoever waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[str, int, int | None], None]
"""Called with what is being done, how much of it is done, and how much there is to do,
where that is known. What is done changes when one thing ends and the next begins. An
exception raised in it stops the work and comes through."""


def unseen(_what: str, _done: int, _total: int | None) -> None:
    """Tell nobody."""
