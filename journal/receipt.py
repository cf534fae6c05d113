"""What a writer gets back."""

from __future__ import annotations

from typing import NamedTuple

from journal.ids import Position, Version


class Receipt(NamedTuple):
    """Proof that an event is durable, at the journal's durability."""

    version: Version
    """Its place in its stream, from 1."""
    position: Position
    """Its place in the whole journal."""
    recorded_at: int
    """Microseconds since the epoch at which it was stored."""
    repeated: bool = False
    """True when the same event was recorded before; this is its first receipt."""
