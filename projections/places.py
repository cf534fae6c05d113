"""Places of a run's logical order as bytes that compare in the same order.

A place is (anchor, rank, version), see `projections.order`. Its key is one byte for the
number of bytes of anchor + 1, these bytes, one byte of rank times 16 plus the number of
bytes of version, and these bytes; numbers big-endian and without leading zeros.
"""

from __future__ import annotations

from journal.lineage import Bound

FIRST = b""
"""Below every key."""

LAST = b"\xff"
"""Above every key."""


def key_of(place: Bound) -> bytes:
    """Make the key of a place: anchor from -1 to 2^64-1, version from 0 on."""
    anchor, rank, version = place
    anchor += 1
    wide = (anchor.bit_length() + 7) >> 3
    size = (version.bit_length() + 7) >> 3
    return b"%c%b%c%b" % (
        wide,
        anchor.to_bytes(wide, "big"),
        rank << 4 | size,
        version.to_bytes(size, "big"),
    )


def place_of(key: bytes) -> Bound:
    """Read a key.

    Raises:
        ValueError: it is none.
    """
    try:
        wide = key[0]
        rank, size = divmod(key[1 + wide], 16)
    except IndexError as error:
        raise ValueError("a key of a place is cut short") from error
    if len(key) != 2 + wide + size:
        raise ValueError("a key of a place has another length")
    anchor = int.from_bytes(key[1 : 1 + wide], "big") - 1
    return anchor, rank, int.from_bytes(key[2 + wide :], "big")
