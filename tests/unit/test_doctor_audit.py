"""The doctor looks at every audit row beside a journal."""

from contextlib import closing

import pytest

from journal.doctor import examine
from journal.ids import Position
from journal.stores import open_audit, open_store
from journal.stores.sqlite_audit_facts import RUN_STORED
from journal.stores.sqlite_audit_rows import ROW_STORED
from journal.stores.sqlite_audit_used import USED_STORED
from journal.stores.sqlite_audit_values import checksum
from tests.contract.audit_rows import facts, row
from tests.unit.care_files import write_journal
from tests.unit.view_files import connect, views_of

NEW = "\U0001e922\U0001e923"
"""A word of letters that SQLite does not know."""


@pytest.fixture
def path(tmp_path):
    path = write_journal(tmp_path / "runs.db", records=20)
    rows = [
        row(1, text="Häuser, houses\0 und 家屋"),
        row(2, text=NEW),
        row(3, text="…"),
        row(4, session_id="s", tool="shell", call_id="c"),
        row(5, kind="model_response", model="m", input_tokens=3),
    ]
    put(path, rows, [facts("run-1", 5, trace_ids='["t"]')], 5)
    return path


def put(path, rows, runs, upto):
    with (
        closing(open_store(path, create=False)) as store,
        closing(open_audit(store, 1, in_memory=False)) as audit,
        audit.writing() as writer,
    ):
        writer.put(rows, runs, Position(upto))
        writer.note_damage(Position(2), "why")


def found(path, **options):
    return [(each.severity, each.code, each.what) for each in examine(path, **options).findings]


def change(path, statement, *values):
    with connect(views_of(path)) as db:
        db.execute(statement, values)


def test_sound_rows_are_no_finding(path):
    assert found(path) == []
    assert found(path, quick=True) == []


CHANGES = {
    **{
        f"rows of {name}": (
            "audit_rows",
            f"UPDATE audit_rows SET {name} = 77777 WHERE key >> 20 = 4",
        )
        for name in ROW_STORED
        if name != "key"
    },
    **{
        f"runs of {name}": ("audit_runs", f"UPDATE audit_runs SET {name} = 77777")
        for name in RUN_STORED
        if name != "run_id"
    },
    **{
        f"sums of {name}": ("audit_used", f"UPDATE audit_used SET {name} = 77777")
        for name in USED_STORED
        if name != "run_id"  # then another run has one that it should not have
    },
    "no sums": ("audit_used", "DELETE FROM audit_used"),
    "the name of a response": (
        "audit_names",
        "UPDATE audit_names SET checksum = 0 WHERE name = 'model_response'",
    ),
    "a key": ("audit_rows", "UPDATE audit_rows SET key = 5 WHERE key >> 20 = 4"),
    "a name": ("audit_names", "UPDATE audit_names SET name = 'other' WHERE name = 'shell'"),
    "no name": ("audit_rows", "DELETE FROM audit_names WHERE name = 'shell'"),
    "a reason": ("audit_damage", "UPDATE audit_damage SET reason = 'other'"),
    "a trace": ("audit_traces", "UPDATE audit_traces SET run_id = 77777"),
    "no run": ("audit_traces", "DELETE FROM audit_runs"),
    "no words": ("audit_words", "INSERT INTO audit_words (audit_words) VALUES ('delete-all')"),
}


def test_a_quick_look_checks_sums_too(path):
    change(path, "UPDATE audit_used SET requests = 77777")
    [(severity, code, what)] = found(path, quick=True)
    assert (severity, code) == ("wrong", "snapshots.damaged")
    assert "damaged rows of audit_used: 1;" in what


def test_a_sum_of_a_run_that_is_not_there_is_wrong(path):
    with connect(views_of(path)) as db:
        [row] = db.execute("SELECT * FROM audit_used").fetchall()
        orphan = (99999, *row[1:-1])
        marks = ", ".join("?" * len(row))
        db.execute(f"INSERT INTO audit_used VALUES ({marks})", (*orphan, checksum(orphan)))
    [(severity, code, what)] = found(path)
    assert (severity, code) == ("wrong", "snapshots.damaged")
    assert "damaged rows of audit_used: 1;" in what


@pytest.mark.parametrize(("table", "statement"), CHANGES.values(), ids=CHANGES)
def test_damaged_rows_are_wrong(path, table, statement):
    change(path, statement)
    [(severity, code, what)] = found(path)
    assert (severity, code) == ("wrong", "snapshots.damaged")
    assert f"damaged rows of {table}: 1;" in what


def test_destroyed_words_are_wrong(path):
    change(path, "UPDATE audit_words_data SET block = zeroblob(9) WHERE id > 10")
    assert ("wrong", "snapshots.damaged") in {each[:2] for each in found(path)}


def test_a_backup_that_was_put_in_the_journals_place_is_noticed(path):
    put(path, [], [], 999)
    [(severity, code, what)] = found(path)
    assert (severity, code) == ("notice", "snapshots.ahead")
    assert "999" in what
