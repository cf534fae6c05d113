"""Recorded text is printed so that it cannot steer a terminal, and JSON keeps its value."""

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from journal.cli.escape import CUT, escape, escape_json, shorten, shorten_middle

DANGEROUS = [
    *map(chr, range(0x20)),
    *map(chr, range(0x7F, 0xA0)),
    *"\u00ad\u061c\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u2060\ufeff",
    *"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
    "\U000e0041",
    "\ud800",
    "\udfff",
]

ANY_TEXT = st.text(st.characters(exclude_categories=()))


def is_harmless(text):
    return not any(one in text for one in DANGEROUS)


@pytest.mark.parametrize("one", DANGEROUS, ids=ascii)
def test_each_dangerous_character_is_escaped(one):
    assert is_harmless(escape(f"a{one}b"))


@given(ANY_TEXT)
def test_escaped_text_is_one_harmless_line(text):
    assert is_harmless(escape(text))
    assert len(escape(text).splitlines()) <= 1


@pytest.mark.parametrize(
    "text",
    ["", "plain", "[bold]x[/bold]", "C:\\dir", "été ☀️ 晴れ", "全角\u3000space\u00a0nbsp", "👍🏽"],
)
def test_harmless_text_stays(text):
    assert escape(text) == text


def test_escapes_are_written_as_python_writes_them():
    assert escape("\x1b[0m\n\t\r\u202e\U000e0041\ud800") == r"\x1b[0m\n\t\r\u202e\U000e0041\ud800"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@settings(max_examples=100)
@given(JSON)
def test_escaped_json_is_harmless_and_equal(value):
    escaped = escape_json(orjson.dumps(value))
    assert is_harmless(escaped.decode())
    assert orjson.loads(escaped) == value


def test_json_escapes_characters_beyond_16_bits_as_pairs():
    assert escape_json('"\U000e0041 \x7f 😀"'.encode()).decode() == r'"\udb40\udc41 \u007f 😀"'


def test_text_is_cut_at_its_end_or_in_its_middle():
    assert shorten("abcdef", 6) == "abcdef"
    assert shorten("abcdefg", 6) == f"abcde{CUT}"
    assert shorten_middle("abcdef", 6) == "abcdef"
    assert shorten_middle("abcdefghij", 6) == f"ab{CUT}hij"
