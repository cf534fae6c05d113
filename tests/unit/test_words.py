"""Words are letters, numbers and marks; scripts without spaces have words of one character."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journal.words import spaced, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("… — !", []),
        ("One_two-THREE 4x", ["one", "two", "three", "4x"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("na\u0308ive café", ["na\u0308ive", "café"]),
        ("日本語abcカナ한글", ["日", "本", "語", "abc", "カ", "ナ", "한", "글"]),
        ("日。本", ["日", "本"]),
        ("ไทย", ["ไ", "ท", "ย"]),
        ("Привет, мир", ["привет", "мир"]),
        ("Ꮳꮳ", ["ᏣᏣ"]),
        ("a\u00adb\u200bc", ["a", "b", "c"]),
        ("x²½Ⅷ", ["x²½ⅷ"]),
        ("\0a\0", ["a"]),
    ],
)
def test_words_of_a_text(text, found):
    assert words(text) == found


def test_text_of_ascii_is_not_changed():
    text = "".join(map(chr, range(128)))
    assert spaced(text) is text


@given(st.text())
def test_a_spaced_text_has_the_same_words(text):
    assert words(spaced(text)) == words(text)


@given(st.text())
def test_a_text_has_the_words_of_its_parts(text):
    half = len(text) // 2
    assert words(f"{text[:half]} {text[half:]}") == words(text[:half]) + words(text[half:])


@given(st.text())
def test_words_have_letters_numbers_and_marks_only(text):
    for word in words(text):
        assert word == word.casefold()
        assert {unicodedata.category(each)[0] for each in word} <= set("LNM")
