"""Views from snapshots are those from scratch: late arrivals, damage and other programs included."""

import sqlite3
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from journal import Journal
from projections import log
from tests import corpus
from tests.laws.random_runs import runs
from tests.laws.small_pages import small_pages
from tests.laws.test_random_runs import check_cursor, cursor_text, hand_in, wanted_cursors

DAMAGES = (
    "UPDATE pages SET fold = zeroblob(length(fold))",
    "UPDATE pages SET entries = x'00'",
    "UPDATE pages SET messages = messages + 1",
    "UPDATE chunks SET data = zeroblob(length(data))",
    "DELETE FROM chunks",
    "UPDATE documents SET root = x'5b5d'",
)


@pytest.fixture(autouse=True)
def limits():
    with small_pages():
        yield


def look(journal, cursors):
    expected = corpus.oracle_of(journal, "r")
    for form, number in cursors:
        check_cursor(journal, expected, cursor_text(expected, form, number))
    seen = [(entry.anchor, entry.version) for entry in log(journal, "r")]
    assert seen == [(event.anchor, event.version) for event in expected.events]
    anchors = sorted({event.anchor for event in expected.events})
    frm, to = anchors[len(anchors) // 3], anchors[2 * len(anchors) // 3]
    part = [entry.version for entry in log(journal, "r", frm, to)]
    assert part == [event.version for event in expected.events if frm <= event.anchor <= to]


@given(runs(), wanted_cursors)
def test_a_run_that_is_looked_at_while_it_arrives(random_run, cursors):
    """Each look takes in what is new; what arrives late moves what was taken in."""
    random_run.looked_at = list(range(0, len(random_run.items), 2))
    with Journal.open("memory://") as journal:
        hand_in(journal, random_run, as_text=False)
        look(journal, cursors)


@given(runs(), wanted_cursors, st.sampled_from(DAMAGES))
@settings(max_examples=40)
def test_rows_that_another_program_left_or_damaged(random_run, cursors, damage):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        with Journal.open(path) as journal:
            hand_in(journal, random_run, as_text=False)
            look(journal, cursors)
        with Journal.open(path, create=False) as journal:
            look(journal, cursors)
        views = sqlite3.connect(f"{path}.views", isolation_level=None)
        views.execute(damage)
        views.close()
        with Journal.open(path, create=False) as journal:
            look(journal, cursors)
        Path(f"{path}.views").unlink()
        with Journal.open(path, create=False) as journal:
            look(journal, cursors)
