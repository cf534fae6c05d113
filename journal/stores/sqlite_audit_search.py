"""Searching the words of audit rows."""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import filterfalse

from journal.stores.audit import AuditRow, Wanted
from journal.stores.sqlite_audit_newest import in_pages, keyed_rows, newest_first
from journal.stores.sqlite_audit_pages import Pages
from journal.words import spaced, words

_PUT = "INSERT INTO audit_words (rowid, text) VALUES (?, ?)"
_REMOVE = "INSERT INTO audit_words (audit_words, rowid, text) VALUES ('delete', ?, ?)"
_CLEAR = "INSERT INTO audit_words (audit_words) VALUES ('delete-all')"
_FOUND = """
    SELECT r.key FROM audit_words CROSS JOIN audit_rows AS r ON r.key = audit_words.rowid
    WHERE audit_words MATCH ? AND {} AND r.key > ? AND r.key <= ?
    ORDER BY r.recorded_at DESC, r.key DESC
"""


def put_texts(connection: sqlite3.Connection, texts: Iterable[tuple[int, str]]) -> None:
    """Take in the texts of new rows, each with the key of its row."""
    connection.executemany(_PUT, ((key, spaced(text)) for key, text in texts))


def remove_texts(connection: sqlite3.Connection, texts: Iterable[tuple[int, str]]) -> None:
    """Take out the texts of rows that are removed: the very texts that were taken in."""
    connection.executemany(_REMOVE, ((key, spaced(text)) for key, text in texts))


def clear_texts(connection: sqlite3.Connection) -> None:
    """Take out all texts."""
    connection.execute(_CLEAR)


def matching(pages: Pages, phrase: str, wanted: Wanted) -> Iterator[AuditRow]:
    """Yield rows whose text may hold a phrase; see `AuditReader.matching`."""
    asked = words(phrase)
    if pages.is_empty or not asked:
        return
    if wanted.run_id is not None or not can_be_sought(asked):
        # Of one run there are few; and some words are none to SQLite.
        yield from filterfalse(_has_no_text, newest_first(pages, wanted, None))
        return
    fitting = keyed_rows(pages, wanted)
    if fitting is None:
        return
    statement = _FOUND.format(fitting.sql)
    found = pages.all(statement, query(asked), *fitting.values, pages.after, pages.upto)
    yield from in_pages(pages, (key for (key,) in found))


def query(asked: Sequence[str]) -> str:
    """Make a query of words that stand one after the other; none of them holds a quote."""
    return f'"{" ".join(asked)}"'


def can_be_sought(asked: Sequence[str]) -> bool:
    """Tell whether any character is older than SQLite's tables of letters: those it knows."""
    return any(unicodedata.ucd_3_2_0.category(each) != "Cn" for word in asked for each in word)


def _has_no_text(row: AuditRow) -> bool:
    return row.text is None
