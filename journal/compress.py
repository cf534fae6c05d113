"""How the bytes of a row are packed; the codec's number stands in the row.

Codec numbers are for ever: a new way to pack gets a new number, so that compression can
change without rewriting a row. The first three need nothing but the row, and 2 the
dictionary of the file; a row of codec 3 names other rows (`journal.stores.repeated`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

from journal.json_door import MAX_BYTES

PLAIN = 0
"""The JSON itself."""

ZSTD = 1
"""One zstd frame (RFC 8878) with its size."""

DICTIONARY = 2
"""A zstd frame with its size, without its magic number, made with dictionary 2."""

REPEATED = 3
"""As 2, but for the values that earlier rows of the stream hold."""

MAGIC = b"\x28\xb5\x2f\xfd"
"""The first four bytes of every zstd frame; codecs 2 and 3 leave them out."""

LIMIT = MAX_BYTES + 4 * 1024 * 1024
"""The largest event in bytes: one accepted document and a few fields of ours."""

_WORTH_TRYING = 24
"""Bytes below which a frame has never paid for its header."""

_SHORT = 1024
"""Bytes up to which the higher level costs next to nothing."""

_SHORT_LEVEL = 3
_LEVEL = 1

_LONG = 3072
"""Bytes above which a dictionary costs more time than it saves bytes."""

_SMALL_FRAMES = (0x20, 0x60)
"""First bytes of frames whose size field cannot state more than 65,791 bytes."""

if sys.version_info >= (3, 14):
    from compression import zstd
    from compression.zstd import ZstdError

    class _Tools:
        """The zstd objects of one thread at a time."""

        def __init__(self, dictionary: bytes) -> None:
            self._dictionary = zstd.ZstdDict(dictionary) if dictionary else None
            self.compress_short = self._compress(_SHORT_LEVEL)
            self.compress = self._compress(_LEVEL)

        def decompress(self, frame: bytes) -> bytes:
            dictionary = self._dictionary
            reader = zstd.ZstdDecompressor(dictionary and dictionary.as_digested_dict)
            data = reader.decompress(frame, LIMIT + 1)
            if not reader.eof or reader.unused_data:
                raise ValueError("a zstd frame that is cut short, or too long")
            return data

        def _compress(self, level: int) -> Callable[[bytes], bytes]:
            dictionary = self._dictionary
            option = zstd.CompressionParameter
            compressor = zstd.ZstdCompressor(
                options={option.compression_level: level, option.dict_id_flag: 0},
                zstd_dict=dictionary and dictionary.as_digested_dict,
            )
            return partial(compressor.compress, mode=zstd.ZstdCompressor.FLUSH_FRAME)

    def _size(frame: bytes) -> int | None:
        return zstd.get_frame_info(frame).decompressed_size

else:
    import zstandard
    from zstandard import ZstdError

    class _Tools:
        """The zstd objects of one thread at a time."""

        def __init__(self, dictionary: bytes) -> None:
            self.compress_short = _compress(dictionary, _SHORT_LEVEL)
            self.compress = _compress(dictionary, _LEVEL)
            self._decompressor = zstandard.ZstdDecompressor(
                zstandard.ZstdCompressionDict(dictionary) if dictionary else None
            )

        def decompress(self, frame: bytes) -> bytes:
            # No further frame, and nothing after this one.
            return self._decompressor.decompress(frame, 0, False, False)  # noqa: FBT003

    def _compress(dictionary: bytes, level: int) -> Callable[[bytes], bytes]:
        if not dictionary:
            return zstandard.ZstdCompressor(level).compress
        digested = zstandard.ZstdCompressionDict(dictionary)
        digested.precompute_compress(level)
        return zstandard.ZstdCompressor(level, dict_data=digested, write_dict_id=False).compress

    def _size(frame: bytes) -> int | None:
        size = zstandard.frame_content_size(frame)
        return None if size < 0 else size


class Compressor:
    """Packs and unpacks with one dictionary, in any thread.

    The objects of zstd keep buffers and serve one call at a time, so each call borrows a
    set; there are as many sets as calls ever ran at once.
    """

    def __init__(self, dictionary: bytes = b"") -> None:
        """Prepare for a dictionary in zstd's format; without one, for codec 1."""
        self._dictionary = dictionary
        self._idle: list[_Tools] = []

    def pack(self, data: bytes) -> tuple[int, bytes]:
        """Pack an event's JSON; returns the codec's number and the bytes to store."""
        size = len(data)
        if size > _LONG:
            codec, blob = ZSTD, _whole.frame(data)
        elif size >= _WORTH_TRYING:
            codec, blob = DICTIONARY, self.frame(data)[4:]
        else:
            return PLAIN, data
        return (codec, blob) if len(blob) < size else (PLAIN, data)

    def compress(self, data: bytes) -> bytes:
        """Make a frame without its magic number."""
        return self.frame(data)[4:]

    def frame(self, data: bytes) -> bytes:
        """Make a whole frame."""
        try:
            tools = self._idle.pop()
        except IndexError:
            tools = _Tools(self._dictionary)
        try:
            return tools.compress_short(data) if len(data) <= _SHORT else tools.compress(data)
        finally:
            self._idle.append(tools)

    def decompress(self, blob: bytes) -> bytes:
        """Undo `compress`.

        Raises:
            ValueError: it is damaged, or grows past the limit.
        """
        return self.read_frame(MAGIC + blob)

    def read_frame(self, frame: bytes) -> bytes:
        """Undo `frame`.

        Raises:
            ValueError: it is damaged, or grows past the limit.
        """
        try:
            tools = self._idle.pop()
        except IndexError:
            tools = _Tools(self._dictionary)
        try:
            if len(frame) <= len(MAGIC) or frame[4] not in _SMALL_FRAMES:
                _check_size(frame)
            return tools.decompress(frame)
        except ZstdError as error:
            raise ValueError(f"damaged zstd frame: {error}") from error
        finally:
            self._idle.append(tools)


_whole = Compressor()


def unpack(codec: int, blob: bytes) -> bytes:
    """Undo the codecs that need nothing but the row.

    Raises:
        ValueError: another codec, a damaged frame, or one that grows past the limit.
    """
    if codec == PLAIN:
        return blob
    if codec != ZSTD:
        raise ValueError(f"unknown codec {codec}")
    return _whole.read_frame(blob)


def _check_size(frame: bytes) -> None:
    size = _size(frame)
    if size is None:
        raise ValueError("a zstd frame that does not say its size")
    if size > LIMIT:
        raise ValueError(f"a zstd frame of {size} bytes, the limit is {LIMIT}")
