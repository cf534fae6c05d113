"""The checksum in each event's row; FORMAT.md says over which bytes."""

from __future__ import annotations

import struct
from functools import lru_cache
from zlib import crc32

from journal.ids import StreamId, Version

_NUMBERS = struct.Struct(">4q")
_NUMBERS_AND_IDENTITY = struct.Struct(">5q")


def checksum(  # noqa: PLR0913, PLR0917 - the columns of a row
    stream: StreamId,
    name: str,
    position: int,
    version: Version,
    codec: int,
    recorded_at: int,
    identity: int | bytes | None,
    data: bytes,
) -> int:
    """Compute the CRC-32 of a row, signed: SQLite keeps it in 4 bytes.

    Args:
        identity: as it is stored.
        data: as it is stored, packed.

    Raises:
        TypeError, struct.error: a value is not of its column's type, in a damaged row.
    """
    if identity is None:
        head = _NUMBERS.pack(position, version, codec, recorded_at)
    elif isinstance(identity, int):
        head = _NUMBERS_AND_IDENTITY.pack(position, version, codec, recorded_at, identity)
    else:
        head = _NUMBERS.pack(position, version, codec, recorded_at) + identity
    crc = crc32(data, crc32(head, _names_crc(stream, name)))
    return crc if crc < 2**31 else crc - 2**32


@lru_cache(maxsize=4096)
def _names_crc(stream: StreamId, name: str) -> int:
    return crc32(f"{stream}\0{name}".encode())
