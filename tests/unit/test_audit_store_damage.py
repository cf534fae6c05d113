"""Damaged audit rows are noticed when they are read, and never given as an answer."""

from contextlib import closing

import pytest

from journal import Journal
from journal.ids import Position
from journal.stores import open_audit, open_store
from journal.stores.audit import Wanted
from journal.stores.sqlite_audit_facts import RUN_STORED
from journal.stores.sqlite_audit_rows import ROW_STORED
from journal.stores.sqlite_audit_used import USED_STORED
from journal.stores.views import AUDIT, ViewsUnusable
from tests.contract.audit_rows import facts, row
from tests.unit.view_files import connect, journal_file, views_of


@pytest.fixture
def path(tmp_path):
    return journal_file(tmp_path / "runs.db")


@pytest.fixture
def audit(path):
    with (
        closing(open_store(path, create=False)) as store,
        closing(open_audit(store, 1, in_memory=False)) as audit,
    ):
        with audit.writing() as writer:
            rows = [row(1, text="some words"), row(2, item_id="i", call_id="c", requests=1)]
            writer.put(rows, [facts("run-1", 2, trace_ids='["t"]')], Position(2))
            writer.note_damage(Position(1), "why")
        yield audit


def change(path, statement):
    with connect(views_of(path)) as db:
        db.execute(statement)


def look_at_all(audit):
    with audit.reading() as reader:
        list(reader.rows(Wanted()))
        reader.facts(["run-1"])
        list(reader.usage(Wanted()))
    audit.damage()


CHANGES = {
    **{
        f"rows of {name}": f"UPDATE audit_rows SET {name} = 77777 WHERE key >> 20 = 2"
        for name in ROW_STORED
        # By these the index finds nothing where it was.
        if name not in {"key", "kind"}
    },
    **{
        f"runs of {name}": f"UPDATE audit_runs SET {name} = 77777"
        for name in RUN_STORED
        if name != "run_id"
    },
    "a reason": "UPDATE audit_damage SET reason = 'other'",
    "a blob": "UPDATE audit_rows SET text = CAST('x' AS TEXT), checksum = 0 WHERE key >> 20 = 1",
}


@pytest.mark.parametrize("statement", CHANGES.values(), ids=CHANGES)
def test_a_changed_row_is_noticed(path, audit, statement):
    look_at_all(audit)
    change(path, statement)
    with pytest.raises(ViewsUnusable, match="damaged") as caught:
        look_at_all(audit)
    assert caught.value.stream == AUDIT


@pytest.mark.parametrize("name", USED_STORED)
def test_a_changed_sum_is_noticed_when_it_is_first_read(path, audit, name):
    change(path, f"UPDATE audit_used SET {name} = 77777")
    with audit.reading() as reader, pytest.raises(ViewsUnusable, match="damaged") as caught:
        list(reader.usage(Wanted()))
    assert caught.value.stream == AUDIT


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_names SET name = 'other' WHERE name = 'message'",
        "DELETE FROM audit_names WHERE name = 'message'",
    ],
)
def test_a_changed_name_is_noticed_when_it_is_read(path, audit, statement):
    with audit.reading() as reader:
        before = list(reader.rows(Wanted()))
    change(path, statement)
    with audit.reading() as reader:
        assert list(reader.rows(Wanted())) == before  # of names that were right when read
    with (
        closing(open_store(path, create=False)) as store,
        closing(open_audit(store, 1, in_memory=False)) as another,
        pytest.raises(ViewsUnusable, match="damaged") as caught,
    ):
        look_at_all(another)
    assert caught.value.stream == AUDIT


def test_destroyed_words_are_noticed(path, audit):
    change(path, "UPDATE audit_words_data SET block = x'ffffffffffffffffffff' WHERE id = 10")
    with audit.reading() as reader, pytest.raises(ViewsUnusable):
        list(reader.matching("some words", Wanted()))


def test_what_was_damaged_can_be_made_again(path, audit):
    change(path, "UPDATE audit_rows SET version = 5")
    with audit.writing() as writer:
        writer.clear()
        writer.put([row(1, text="some words")], [facts("run-1", 1)], Position(1))
    with audit.reading() as reader:
        assert list(reader.matching("some words", Wanted())) == [row(1, text="some words")]


class TestOfAJournal:
    def test_rows_are_kept_in_the_file_beside_it(self, path):
        with Journal.open(path, create=False) as journal:
            audit = journal.views.audit(1)
            assert audit.location == str(views_of(path))
            assert journal.views.audit(1) is audit

    def test_damaged_rows_are_made_again_in_memory(self, path):
        with Journal.open(path, create=False) as journal:
            journal.views.distrust(ViewsUnusable(AUDIT, "damaged"))
            assert journal.views.audit(1).location == "memory"
            assert journal.views.store(1, "run:1").location == str(views_of(path))
        with pytest.raises(ViewsUnusable, match="closed"):
            journal.views.audit(1)

    def test_where_the_file_cannot_be_used_they_are_in_memory(self, path):
        views_of(path).mkdir()
        with Journal.open(path, create=False) as journal:
            assert journal.views.audit(1).location == "memory"

    def test_a_file_that_was_unusable_is_tried_again(self, path):
        with Journal.open(path, create=False) as journal:
            before = journal.views.audit(1)
            journal.views.distrust(ViewsUnusable(None, "locked"))
            assert journal.views.audit(1).location == "memory"
            journal.views._away_until = 0
            assert journal.views.audit(1).location == str(views_of(path))
            with pytest.raises(ViewsUnusable, match="closed"), before.reading():
                pass

    def test_rows_of_a_journal_in_memory_are_in_memory(self):
        with Journal.open("memory://") as journal:
            assert journal.views.audit(1).location == "memory"
