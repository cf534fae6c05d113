"""CSV comes back as it was recorded, and stays data in a spreadsheet and on a terminal."""

import csv
import io
import sys
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journal.cli.delimited import FORMULAS, cell, print_answers, print_rows


def written(capsysbinary, titles, rows):
    print_rows(titles, rows)
    sys.stdout.flush()
    return capsysbinary.readouterr().out


def read(raw):
    return list(csv.reader(io.StringIO(raw.decode(), newline="")))


def recorded(text):
    """What the documentation tells a reader to do."""
    return text.removeprefix("'")


def test_it_is_rfc_4180_with_a_header(capsysbinary):
    raw = written(capsysbinary, ["a", "b"], [["x,y", 'say "hi"'], ["two\nlines", 1]])
    assert raw == b'a,b\r\n"x,y","say ""hi"""\r\n"two\nlines",1\r\n'


def test_without_rows_there_is_the_header(capsysbinary):
    assert written(capsysbinary, ["a", "b"], []) == b"a,b\r\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (True, "true"),
        (False, "false"),
        (-5, "-5"),
        (2**200, str(2**200)),
        (1.5, "1.5"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        (b"\x00\xff", "00ff"),
    ],
)
def test_values_that_are_no_text_stay_what_they_are(value, text):
    assert cell(value) == text


@pytest.mark.parametrize("start", [*FORMULAS, "'"])
def test_a_text_that_a_spreadsheet_would_calculate_is_marked(start):
    text = f"{start}HYPERLINK(1)"
    assert cell(text) == f"'{text}"
    assert recorded(cell(text)) == text
    assert cell(f"a{text}") == f"a{text}"


@given(st.lists(st.lists(st.text(st.characters(codec="utf-8")), min_size=2, max_size=2)))
def test_every_text_comes_back(rows):
    printed = io.TextIOWrapper(io.BytesIO(), newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", printed)
        print_rows(["a", "b"], rows)
    _, *found = read(printed.buffer.getvalue())
    assert [[recorded(text) for text in row] for row in found] == rows


def test_titles_are_marked_too():
    printed = io.TextIOWrapper(io.BytesIO(), newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", printed)
        print_rows(["=1+1"], [])
    assert printed.buffer.getvalue() == b"'=1+1\r\n"


class Terminal(io.TextIOWrapper):
    def isatty(self):
        return True


EVIL = "\x1b[31mred\x1b]0;t\x07\x9b1m\u202e\0\r\nnext"


def test_a_file_gets_the_text_and_a_terminal_gets_it_escaped(monkeypatch):
    for kind in (io.TextIOWrapper, Terminal):
        printed = kind(io.BytesIO(), newline="")
        monkeypatch.setattr(sys, "stdout", printed)
        print_rows(["a"], [[EVIL]])
        raw = printed.buffer.getvalue()
        if kind is Terminal:
            assert raw.decode().replace("\n", "").isprintable()
            assert rb"\x1b[31mred" in raw
            assert raw.count(b"\n") == 2
        else:
            assert read(raw) == [["a"], [EVIL]]


def test_a_lone_surrogate_is_no_failure(capsysbinary):
    assert written(capsysbinary, ["a"], [["x\udcffy"]]) == b"a\r\nx\\udcffy\r\n"


@dataclass
class Answer:
    inner: dict | None

    def to_json(self):
        return {"schema": "x", "a.b": 1, "inner": self.inner}


def test_members_of_inner_objects_are_columns(capsysbinary):
    print_answers(["a.b", "inner.c"], [Answer({"c": 2}), Answer(None)])
    sys.stdout.flush()
    assert capsysbinary.readouterr().out == b"a.b,inner.c\r\n1,2\r\n1,\r\n"
