"""Packed rows come back, old ones too; what is damaged or too large is refused."""

import random
import threading

import pytest

from journal.compress import (
    DICTIONARY,
    LIMIT,
    MAGIC,
    PLAIN,
    REPEATED,
    ZSTD,
    Compressor,
    unpack,
)
from tests.unit.dictionary import DICTIONARY_2

DELTA = b'{"record":{"sequence":100,"event":{"kind":"model_stream","step":2,"event":{"kind":"part_delta","index":0,"delta_kind":"text","text":" word"}}}}'
SIZE_8 = 0xE0
"""First byte of a frame in one segment, whose size takes 8 bytes."""


def compressor():
    return Compressor(DICTIONARY_2)


def frame(descriptor, size, block):
    """A frame without magic number, of one last block."""
    return bytes([descriptor]) + size + block


def repeated_byte(count):
    """A block that stands for `count` times the letter x."""
    return ((count << 3) | 0b011).to_bytes(3, "little") + b"x"


def test_a_short_event_is_packed_with_the_dictionary_and_comes_back():
    codec, blob = compressor().pack(DELTA)
    assert codec == DICTIONARY
    assert len(blob) * 3 < len(DELTA)
    assert compressor().decompress(blob) == DELTA


def test_a_frame_of_the_dictionary_states_its_size_but_neither_magic_nor_dictionary():
    blob = compressor().compress(DELTA)
    assert blob[0] == 0x20, "one segment, one byte of size, no checksum, no dictionary"
    assert blob[1] == len(DELTA)


def test_a_tiny_event_stays_as_it_is():
    assert compressor().pack(b'{"claim_id":"x"}') == (PLAIN, b'{"claim_id":"x"}')
    assert compressor().pack(b"") == (PLAIN, b"")


def test_bytes_that_do_not_shrink_stay_as_they_are():
    noise = random.Random(5).randbytes(500)
    assert compressor().pack(noise) == (PLAIN, noise)


@pytest.mark.parametrize("size", [3073, 100_000, 3_000_000])
def test_a_long_event_is_a_frame_that_needs_no_dictionary(size):
    data = (b"The quick brown fox jumps over the lazy dog. " * (size // 45 + 1))[:size]
    codec, blob = compressor().pack(data)
    assert codec == ZSTD
    assert blob.startswith(MAGIC)
    assert unpack(codec, blob) == data


@pytest.mark.parametrize("size", [24, 255, 256, 257, 1024, 1025, 3072, 65_791, 65_792, 200_000])
def test_frames_of_every_size_come_back(size):
    data = bytes(random.Random(size).choices(b'{":}abcdefgh', k=size))
    assert compressor().decompress(compressor().compress(data)) == data


def test_rows_of_the_first_codecs_are_read_for_ever():
    data = b'{"record":{"sequence":0,"event":{"kind":"node_start"}}}' * 3
    # As runjournal 0.1.0 stored it.
    blob = bytes.fromhex(
        "28b52ffd20a5f5010034037b227265636f7264223a7b2273657175656e6365223a302c226576656e746b696e"
        "64223a226e6f64655f7374617274227d7d7d02009756c9cc753a01"
    )
    assert unpack(ZSTD, blob) == data
    assert unpack(PLAIN, data) == data


@pytest.mark.parametrize("codec", [DICTIONARY, REPEATED, 4, 99, -1])
def test_a_codec_that_needs_more_than_the_row_is_refused(codec):
    with pytest.raises(ValueError, match=f"unknown codec {codec}"):
        unpack(codec, b"{}")


def test_a_frame_that_claims_more_than_the_limit_is_refused():
    for size in (LIMIT + 1, 2**40, 2**63):
        bomb = frame(SIZE_8, size.to_bytes(8, "little"), repeated_byte(100))
        with pytest.raises(ValueError, match=f"of {size} bytes, the limit"):
            compressor().decompress(bomb)
        with pytest.raises(ValueError, match=f"of {size} bytes, the limit"):
            unpack(ZSTD, MAGIC + bomb)


def test_a_frame_that_grows_past_what_it_claims_is_refused():
    honest = frame(0x20, b"\x64", repeated_byte(100))
    assert compressor().decompress(honest) == b"x" * 100
    for size in (b"\x63", b"\x01"):
        with pytest.raises(ValueError, match="zstd frame"):
            compressor().decompress(frame(0x20, size, repeated_byte(100)))


def test_a_frame_that_does_not_say_its_size_is_refused():
    window = b"\x50"
    silent = frame(0x00, window, repeated_byte(100))
    with pytest.raises(ValueError, match="does not say its size"):
        compressor().decompress(silent)


def test_a_frame_that_is_cut_or_followed_by_something_is_refused():
    blob = compressor().compress(DELTA)
    for wrong in (blob[:-1], blob[:5], blob[:1], b"", blob + b"\0", blob + MAGIC + blob):
        with pytest.raises(ValueError, match="zstd frame"):
            compressor().decompress(wrong)


def test_after_a_damaged_frame_the_next_is_read():
    shared = compressor()
    blob = shared.compress(DELTA)
    for _ in range(3):
        with pytest.raises(ValueError, match="zstd frame"):
            shared.decompress(blob[:-1])
        assert shared.decompress(blob) == DELTA


def test_one_compressor_serves_many_threads():
    shared = compressor()
    wrong = []

    def work(seed):
        dice = random.Random(seed)
        for _ in range(300):
            text = "".join(dice.choices("abcdefghij ", k=dice.randrange(5, 3000)))
            data = DELTA.replace(b" word", text.encode())
            blob = shared.compress(data)
            if shared.decompress(blob) != data:
                wrong.append(data)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
