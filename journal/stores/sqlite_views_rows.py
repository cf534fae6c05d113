"""Rows of the views file: how their bytes are packed, and their checksums."""

from __future__ import annotations

import struct
from functools import cache
from hashlib import blake2b
from importlib import resources
from zlib import crc32

from journal.compress import DICTIONARY, PLAIN, ZSTD, Compressor, unpack

LARGEST = 2**63 - 1
"""The largest number of a column."""

_SHORT = 1024
"""Bytes up to which the dictionary makes what is packed smaller."""

_PAGE = struct.Struct(">4q3i")
_LIMITS = struct.Struct(">2q")
_TRACKED = struct.Struct(">3q")
_CHUNK = struct.Struct(">2q")
_DOCUMENT = struct.Struct(">2q")
_RETURN = struct.Struct(">2qi")


def pack(data: bytes) -> bytes:
    """Pack bytes: the number of a codec of `journal.compress`, then what that makes."""
    if len(data) <= _SHORT:
        codec, blob = _short().pack(data)
    else:
        codec, blob = ZSTD, _long.frame(data)
        if len(blob) >= len(data):
            codec, blob = PLAIN, data
    return bytes((codec,)) + blob


def unpacked(blob: bytes) -> bytes:
    """Undo `pack`.

    Raises:
        ValueError: it is damaged.
    """
    codec = blob[0] if blob else PLAIN
    if codec == DICTIONARY:
        return _short().decompress(blob[1:])
    return unpack(codec, blob[1:])


def digest(data: bytes) -> bytes:
    """Give what makes two chunks the same."""
    return blake2b(data, digest_size=16).digest()


def tracked_checksum(stream: int, version: int, position: int, state: bytes) -> int:
    """Compute the CRC-32 of how far a stream was read, `state` packed."""
    return crc32(state, crc32(_TRACKED.pack(stream, version, position)))


def page_checksum(  # noqa: PLR0913, PLR0917 - the columns of a row
    stream: int,
    first: bytes,
    entries: bytes,
    fold: bytes | None,
    epoch: int,
    messages: int,
    step: int,
    newest: int,
    latest: int,
) -> int:
    """Compute the checksum of a page, `entries` and `fold` packed.

    It is two CRC-32, one of the limits and one of all the rest, exclusive or: so it can be
    kept when limits are raised, without reading the rest.
    """
    lengths = len(first), len(entries), -1 if fold is None else len(fold)
    crc = crc32(first, crc32(_PAGE.pack(stream, epoch, messages, step, *lengths)))
    crc = crc32(fold or b"", crc32(entries, crc))
    return crc ^ crc32(_LIMITS.pack(newest, latest))


def page_checksum_raised(
    checksum: int, newest: int, latest: int, raised_newest: int, raised_latest: int
) -> int:
    """Give the checksum of a page whose limits were raised."""
    before = crc32(_LIMITS.pack(newest, latest))
    return checksum ^ before ^ crc32(_LIMITS.pack(raised_newest, raised_latest))


def chunk_checksum(stream: int, key: int, data: bytes) -> int:
    """Compute the CRC-32 of a chunk, `data` packed."""
    return crc32(data, crc32(_CHUNK.pack(stream, key)))


def document_checksum(stream: int, version: int, root: bytes) -> int:
    """Compute the CRC-32 of a document, `root` packed."""
    return crc32(root, crc32(_DOCUMENT.pack(stream, version)))


def return_checksum(stream: int, call: bytes, version: int, place: bytes) -> int:
    """Compute the CRC-32 of a tool call's return."""
    return crc32(place, crc32(call, crc32(_RETURN.pack(stream, version, len(call)))))


_long = Compressor()


@cache
def _short() -> Compressor:
    # The dictionary of the journal's codec 2, which is for ever.
    file = resources.files("journal.stores").joinpath(f"dictionary_{DICTIONARY}.bin")
    return Compressor(file.read_bytes())
