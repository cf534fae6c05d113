"""A changed text is shown so that one sees what changed, in an amount of work that is bounded."""

import io
import random
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from journal.cli import inline
from journal.cli.changed_text import HUNKS, ChangedText, Row
from journal.cli.inline import CHANGED, CONTEXT, CUT, Piece, TextAlignment, hunks
from journal.cli.output import Output

WORDS = st.lists(st.sampled_from(["one", "two", " ", "\n", ", ", "été", "x"]), max_size=30)
TEXTS = WORDS.map("".join)


def of(found, *signs):
    return "".join(each.text for each in found if each.sign in signs)


def split(a, b):
    return TextAlignment().pieces(a, b)


@given(TEXTS, TEXTS)
def test_the_pieces_are_both_texts(a, b):
    found = split(a, b)
    assert (of(found, "=", "-"), of(found, "=", "+")) == (a, b)
    assert all(each.text for each in found)


@pytest.mark.parametrize("name", ["PAIRS", "MOST", "WORK", "LONGEST"])
@settings(max_examples=60)
@given(a=TEXTS, b=TEXTS)
def test_so_they_are_where_a_limit_is_reached(name, a, b):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inline, name, 3)
        found = split(a, b)
    assert (of(found, "=", "-"), of(found, "=", "+")) == (a, b)


def test_words_are_compared():
    assert split("In Paris it is 20 now.", "In Oslo it is 21 now.") == [
        Piece("=", "In "),
        Piece("-", "Paris "),
        Piece("+", "Oslo "),
        Piece("=", "it is "),
        Piece("-", "20 "),
        Piece("+", "21 "),
        Piece("=", "now."),
    ]


def test_of_long_texts_lines_are_compared_and_words_within_them():
    lines = [f"line {number} of a long text" for number in range(2000)]
    other = [*lines]
    other[3] = "line 3 of a short text"
    other[1990] = "another line"
    found = split("\n".join(lines), "\n".join(other))
    assert [each for each in found if each.sign != "="] == [
        Piece("-", "long "),
        Piece("+", "short "),
        Piece("-", "line 1990 of a long text"),
        Piece("+", "another line"),
    ]


def test_the_work_for_all_texts_of_a_page_is_bounded():
    chance = random.Random(1)
    alignment = TextAlignment()
    shared = []
    for _ in range(60):
        a, b = (" ".join(chance.choices("abcdefgh", k=280)) for _ in range(2))
        shared.append(
            len([each for each in alignment.pieces(f"<{a}>", f"<{b}>") if each.sign == "="])
        )
    assert shared[0] > 20
    assert shared[-1] <= 2


@given(TEXTS, TEXTS, st.integers(20, 80))
@example("one", "one\n" + "one" * 14, 20)  # a long change is cut in its middle
def test_every_change_is_in_a_stretch_and_stretches_are_short(a, b, room):
    found = split(a, b)
    groups = hunks(found, room=room)
    whole = [each for group in groups for each in group]
    changes, shown = ([each for each in of_ if each.sign != "="] for of_ in (found, whole))
    for change, piece in zip(changes, shown, strict=True):
        assert piece.sign == change.sign
        head, cut, tail = piece.text.partition(CUT)
        assert piece.text == change.text or (cut and len(piece.text) >= CHANGED)
        assert change.text.startswith(head)
        assert change.text.endswith(tail)
    assert all(len(each.text) <= room + CONTEXT for each in whole if each.sign == "=")


def page(monkeypatch, a, b, **options):
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    ChangedText(Output(**options)).show(Row("7", "user", a), Row("8", "user", b))
    return out.getvalue().splitlines()


def test_a_long_text_is_shown_around_its_changes(monkeypatch):
    filler = "Nothing happens here for a while. " * 20
    shown = page(monkeypatch, f"{filler}red, {filler}", f"{filler}blue, {filler}")
    assert shown == [
        "-    7 user        …ppens here for a while. red, Nothing happens here f…",
        "+    8 user        …ppens here for a while. blue, Nothing happens here f…",
    ]


def test_of_several_changes_each_is_shown_and_after_some_how_many_more(monkeypatch):
    filler = "Nothing happens here for a while. " * 20
    a = filler.join(f"({number})" for number in range(HUNKS + 3))
    b = filler.join(f"({number}{number})" for number in range(HUNKS + 3))
    shown = page(monkeypatch, a, b)
    assert shown[0].startswith("-    7 user        (0")
    assert shown[1].startswith("+    8 user        (00")
    assert shown[2].startswith("-                  …")
    assert len(shown) == 2 * HUNKS + 1
    assert shown[-1] == "  ... 3 more changes"


def test_what_is_only_added_takes_no_line_of_the_old_text(monkeypatch):
    filler = "Nothing happens here for a while. " * 20
    shown = page(monkeypatch, f"a {filler}c {filler}", f"b {filler}c d {filler}")
    assert [line[0] for line in shown] == ["-", "+", "+"]


def test_in_full_both_texts_are_shown_whole(monkeypatch):
    a = "\n".join(f"line {number}" for number in range(50))
    shown = page(monkeypatch, a, a.replace("line 30", "row 30\x1b"), full=True)
    assert len(shown) == 100
    assert shown[0] == "-    7 user        line 0"
    assert shown[1] == "-                  line 1"
    assert shown[80] == r"+                  row 30\x1b"


def test_texts_that_share_nothing_are_shown_from_their_beginning(monkeypatch):
    shown = page(monkeypatch, "a" * 300, "b" * 300)
    assert [line[:30] for line in shown] == [
        "-    7 user        " + "a" * 11,
        "+    8 user        " + "b" * 11,
    ]
