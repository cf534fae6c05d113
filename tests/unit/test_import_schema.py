"""A database whose schema is not the known one is refused, and what differs is named."""

import sqlite3
from contextlib import closing

import pytest

from journal import Journal
from journal.errors import DamagedSource, InvalidSource
from journal.hosts.starweaver_import import import_database
from tests.unit.starweaver_files import small_file


@pytest.fixture
def path(tmp_path):
    return small_file(tmp_path / "sw.db").path


@pytest.fixture
def imported():
    with Journal.open("memory://") as journal:
        yield journal


def refusal(journal, path, kind=InvalidSource):
    """The message of the refusal; nothing was imported."""
    with pytest.raises(kind) as caught:
        import_database(journal, path)
    assert journal.reader.last_position() == 0
    return str(caught.value)


def change(path, *statements):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema=ON")
        for statement in statements:
            connection.execute(statement)


VIEW = "CREATE VIEW stream_records AS SELECT 's' AS session_id, 'r' AS run_id, 0 AS sequence_no, '{}' AS record"
VIRTUAL = "CREATE VIRTUAL TABLE stream_records USING fts5(session_id, run_id, sequence_no, record)"
GENERATED = """CREATE TABLE stream_records (
    session_id TEXT NOT NULL, run_id TEXT NOT NULL, sequence_no INTEGER NOT NULL,
    record TEXT NOT NULL AS ('{}' || sequence_no),
    PRIMARY KEY (session_id, run_id, sequence_no))"""
TRIGGER = "CREATE TRIGGER sly AFTER INSERT ON stream_records BEGIN DELETE FROM run_records; END"
MORE = "ALTER TABLE stream_records ADD COLUMN more TEXT"
MIGRATIONS = "starweaver_schema_migrations"


@pytest.mark.parametrize(
    ("statements", "told"),
    [
        (["DROP TABLE stream_records", VIEW], "stream_records is a 'view' and no table"),
        (["DROP TABLE stream_records", VIRTUAL], "table stream_records is defined in another way"),
        (["DROP TABLE stream_records", GENERATED], "table stream_records is defined in another way"),
        ([TRIGGER], "trigger 'sly' is unknown"),
        ([MORE], "table stream_records is defined in another way"),
        (["DROP TABLE stream_records"], "table stream_records is missing"),
        (["DROP INDEX ix_host_event_outbox_sequence"], "index ix_host_event_outbox_sequence is missing"),
        (["CREATE TABLE other (a)"], "table 'other' is unknown"),
        (["CREATE INDEX odd ON stream_records (abs(sequence_no))"], "index 'odd' is unknown"),
        (["CREATE VIEW sqlite_stat1 AS SELECT 1"], "view 'sqlite_stat1' is unknown"),
        ([f"UPDATE {MIGRATIONS} SET checksum = 'x'"], "another checksum and 16 more"),
        ([f"UPDATE {MIGRATIONS} SET checksum = NULL WHERE id LIKE '%000019%'"], "another checksum"),
        ([f"ALTER TABLE {MIGRATIONS} ADD COLUMN x"], f"table {MIGRATIONS} is defined in another way"),
    ],
)  # fmt: skip
def test_an_altered_schema_is_refused_and_the_difference_named(path, imported, statements, told):
    change(path, *statements)
    message = refusal(imported, path)
    assert told in message
    assert "not that of Starweaver 0.15.0" in message


def test_functions_that_a_schema_names_are_not_called(path, imported):
    generated = GENERATED.replace("'{}' || sequence_no", "json_object('sequence', sequence_no)")
    change(path, "DROP TABLE stream_records", generated)
    assert "unsafe use of json_object()" in refusal(imported, path, DamagedSource)


def test_a_newer_schema_asks_for_a_newer_runjournal(path, imported):
    change(
        path,
        f"INSERT INTO {MIGRATIONS} VALUES ('20270101_000020_more', 'more', 'fnv1a64:0', 'now')",
        "CREATE TABLE more (a)",
    )
    message = refusal(imported, path)
    assert "newer than that of Starweaver 0.15.0" in message
    assert "migration '20270101_000020_more', table 'more' is unknown" in message
    assert message.endswith("use a newer runjournal")


def test_an_older_schema_tells_how_to_bring_it_up_to_date(path, imported):
    change(path, f"DELETE FROM {MIGRATIONS} WHERE id LIKE '%000019%'")
    message = refusal(imported, path)
    assert "lacks the migrations 20260725_000019_transcript_host_events" in message
    assert "SqliteSessionStore.migrate(path)" in message


def test_a_view_in_place_of_the_migrations_is_not_asked(path, imported):
    change(
        path,
        f"DROP TABLE {MIGRATIONS}",
        f"CREATE VIEW {MIGRATIONS} AS SELECT 1 AS id, 2 AS checksum",
    )
    assert f"{MIGRATIONS} is a 'view' and no table" in refusal(imported, path)


def test_statistics_of_the_database_are_no_difference(path, imported):
    change(path, "ANALYZE")
    assert import_database(imported, path).recorded["run"] == 1


def test_names_of_a_hostile_schema_are_shortened(path, imported):
    change(path, f'CREATE TABLE "{"x" * 5000}\x1b[31m" (a)')
    message = refusal(imported, path)
    assert len(message) < 400
    assert "\x1b" not in message
