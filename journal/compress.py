"""How the bytes of a row are packed; the codec's number stands in the row.

Codec numbers are for ever: a new way to pack gets a new number, so that compression can
change without rewriting a row. 0 is plain, 1 is one zstd frame (RFC 8878) with its size.
"""

from __future__ import annotations

import sys

from journal.json_door import MAX_BYTES

PLAIN = 0
ZSTD = 1

_WORTH_TRYING = 120
"""Bytes below which a zstd frame has never paid for its header."""

_HEADROOM = 4 * 1024 * 1024
"""An event holds at most one accepted document and a few fields of ours."""

if sys.version_info >= (3, 14):
    from compression import zstd

    def _compress(data: bytes) -> bytes:
        return zstd.compress(data, level=3)

    def _decompress(blob: bytes, limit: int) -> bytes:
        reader = zstd.ZstdDecompressor()
        data = reader.decompress(blob, max_length=limit + 1)
        if len(data) > limit or not reader.eof:
            raise ValueError(f"more than {limit} bytes after decompression, or cut short")
        return data

else:
    import threading

    import zstandard

    class _Tools(threading.local):
        """zstandard's objects keep buffers and must not be shared between threads."""

        def __init__(self) -> None:
            self.compressor = zstandard.ZstdCompressor(level=3)
            self.decompressor = zstandard.ZstdDecompressor()

    _tools = _Tools()

    def _compress(data: bytes) -> bytes:
        return _tools.compressor.compress(data)

    def _decompress(blob: bytes, limit: int) -> bytes:
        size = zstandard.frame_content_size(blob)
        if not 0 <= size <= limit:
            raise ValueError(f"a frame of {size} bytes, the limit is {limit}")
        return _tools.decompressor.decompress(blob, max_output_size=limit)


def pack(data: bytes) -> tuple[int, bytes]:
    """Pack an event's JSON; returns the codec's number and the bytes to store."""
    if len(data) >= _WORTH_TRYING:
        blob = _compress(data)
        if len(blob) < len(data):
            return ZSTD, blob
    return PLAIN, data


def unpack(codec: int, blob: bytes) -> bytes:
    """Undo `pack`.

    Raises:
        ValueError: an unknown codec, a damaged frame, or one that grows past the limit.
    """
    if codec == PLAIN:
        return blob
    if codec != ZSTD:
        raise ValueError(f"unknown codec {codec}")
    try:
        return _decompress(blob, MAX_BYTES + _HEADROOM)
    except ValueError:
        raise
    except Exception as error:  # the two zstd packages have error classes of their own
        raise ValueError(f"damaged zstd frame: {error}") from error
