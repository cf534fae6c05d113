"""The journal file refuses, by itself, what would alter the past."""

import sqlite3
from contextlib import closing
from struct import pack
from zlib import crc32

import pytest

from journal.errors import GuardsMissing
from journal.ids import StreamId, Version
from journal.stores import NewEvent, open_store
from journal.stores.interface import Lease

TABLES = ("events", "streams", "names", "meta", "leases", "dictionaries")


def connect(path):
    return closing(sqlite3.connect(path, isolation_level=None))


def made(path):
    """A journal of streams a (positions 1 and 2) and b (position 3), at time 100.

    Stream a has a lease of generation 2, and codec 7 a dictionary.
    """
    with closing(open_store(path, create=True)) as store:
        store.append(
            [
                NewEvent(StreamId("a"), Version(1), "one.v1", b"1", 7),
                NewEvent(StreamId("a"), Version(2), "two.v1", b"2", "text"),
                NewEvent(StreamId("b"), Version(1), "one.v1", b"3"),
            ],
            now=100,
            leases=[Lease(StreamId("a"), 2, "owner", "host", 9, "then", 500)],
        )
    with connect(path) as connection:
        connection.execute("INSERT INTO dictionaries VALUES (7, x'01')")
    return path


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """One that every test leaves as it was."""
    return made(tmp_path_factory.mktemp("kept") / "runs.db")


@pytest.fixture
def path(tmp_path):
    return made(tmp_path / "runs.db")


def content(connection):
    return {table: connection.execute(f"SELECT * FROM {table}").fetchall() for table in TABLES}


VERBS = ["INSERT", "INSERT OR REPLACE", "REPLACE", "INSERT OR IGNORE", "INSERT OR FAIL"]

# position, stream, version, name, codec, recorded_at, identity, checksum, data
WRONG_EVENTS = {
    "a position used before": "3, 1, 3, 1, 0, 100, NULL, 0, x'00'",
    "the first position again": "1, 1, 3, 1, 0, 100, NULL, 0, x'00'",
    "a position skipped": "5, 1, 3, 1, 0, 100, NULL, 0, x'00'",
    "the largest position": "9223372036854775807, 1, 3, 1, 0, 100, NULL, 0, x'00'",
    "a position below the first": "0, 1, 3, 1, 0, 100, NULL, 0, x'00'",
    "a negative position": "-1, 1, 3, 1, 0, 100, NULL, 0, x'00'",
    "a position left to SQLite": "NULL, 1, 3, 1, 0, 100, NULL, 0, x'00'",
    "a version used before": "4, 1, 2, 1, 0, 100, NULL, 0, x'00'",
    "a version skipped": "4, 1, 4, 1, 0, 100, NULL, 0, x'00'",
    "a version below the first": "4, 1, 0, 1, 0, 100, NULL, 0, x'00'",
    "no version": "4, 1, NULL, 1, 0, 100, NULL, 0, x'00'",
    "a time before the last": "4, 1, 3, 1, 0, 99, NULL, 0, x'00'",
    "a number taken": "4, 1, 3, 1, 0, 100, 7, 0, x'00'",
    "a first event of no stream": "4, 4, 1, 1, 0, 100, NULL, 0, x'00'",
    "a first event beside its stream's key": "4, 2, 1, 1, 0, 100, NULL, 0, x'00'",
    "text as data": "4, 1, 3, 1, 0, 100, NULL, 0, 'text'",
    "text as checksum": "4, 1, 3, 1, 0, 100, NULL, 'text', x'00'",
    "text as time": "4, 1, 3, 1, 0, 'now', NULL, 0, x'00'",
}

WRONG_STATEMENTS = [
    "INSERT INTO events VALUES (4, 1, 3, 1, 0, 100, NULL, NULL, x'00')",
    "UPDATE events SET data = x'00'",
    "UPDATE events SET recorded_at = recorded_at + 1 WHERE position = 3",
    "UPDATE OR REPLACE events SET position = 2 WHERE position = 1",
    "DELETE FROM events",
    "DELETE FROM events WHERE position = 3",
    (
        "INSERT INTO events VALUES (1, 1, 1, 1, 0, 100, NULL, 0, x'00')"
        " ON CONFLICT DO UPDATE SET data = x'00'"
    ),
    (
        "INSERT INTO events VALUES (4, 1, 3, 1, 0, 100, 7, 0, x'00')"
        " ON CONFLICT DO UPDATE SET data = x'00'"
    ),
    (
        "INSERT OR REPLACE INTO events SELECT 4, 1, 3, 1, 0, 100, identity, 0, x'00'"
        " FROM events WHERE position = 2"
    ),
    "UPDATE streams SET name = 'c' WHERE key = 1",
    "DELETE FROM streams",
    "REPLACE INTO streams VALUES (1, 'c')",
    "REPLACE INTO streams VALUES (4, 'a')",
    "INSERT INTO streams VALUES (2, 'c')",
    "INSERT INTO streams (name) VALUES ('c')",
    "UPDATE names SET name = 'three.v1' WHERE code = 1",
    "DELETE FROM names",
    "REPLACE INTO names VALUES (1, 'three.v1')",
    "REPLACE INTO names VALUES (3, 'one.v1')",
    "INSERT INTO names VALUES (4, 'three.v1')",
    "UPDATE meta SET value = 2",
    "DELETE FROM meta",
    "REPLACE INTO meta VALUES ('format', 2)",
    "UPDATE leases SET generation = 1",
    "UPDATE leases SET generation = NULL",
    "UPDATE leases SET stream = 3",
    "DELETE FROM leases",
    "REPLACE INTO leases VALUES (1, 1, 'o', 'h', 9, '', 500)",
    "REPLACE INTO leases VALUES (1, 3, 'o', 'h', 9, '', 500)",
    "INSERT OR IGNORE INTO leases VALUES (1, 1, 'o', 'h', 9, '', 500)",
    (
        "INSERT INTO leases VALUES (1, 3, 'o', 'h', 9, '', 500)"
        " ON CONFLICT DO UPDATE SET generation = 1"
    ),
    "INSERT INTO leases VALUES (2, 1, 'o', 'h', 9, '', 500)",
    "INSERT INTO leases VALUES (NULL, 1, 'o', 'h', 9, '', 500)",
    "INSERT INTO leases VALUES (3, 0, 'o', 'h', 9, '', 500)",
    "INSERT INTO leases VALUES (3, 'text', 'o', 'h', 9, '', 500)",
    "UPDATE dictionaries SET data = x'02'",
    "DELETE FROM dictionaries",
    "REPLACE INTO dictionaries VALUES (7, x'02')",
]


def refused(path, statement, *, recursive):
    with connect(path) as connection:
        connection.execute(f"PRAGMA recursive_triggers = {recursive}")
        before = content(connection)
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(statement)
        return content(connection) == before


@pytest.mark.parametrize("recursive", [0, 1])
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("values", WRONG_EVENTS.values(), ids=WRONG_EVENTS)
def test_an_event_out_of_place_is_refused(kept, verb, values, recursive):
    assert refused(kept, f"{verb} INTO events VALUES ({values})", recursive=recursive)


@pytest.mark.parametrize("recursive", [0, 1])
@pytest.mark.parametrize("statement", WRONG_STATEMENTS)
def test_nothing_stored_is_changed_or_deleted(kept, statement, recursive):
    assert refused(kept, statement, recursive=recursive)


def dropping(path):
    """One whose stream a ends with run.archived (position 4, version 3), and b with another."""
    with closing(open_store(path, create=False)) as store:
        store.append([NewEvent(StreamId("a"), Version(3), "run.archived.v1", b"4")], now=100)
        store.append([NewEvent(StreamId("b"), Version(2), "run.archived.v2", b"5")], now=100)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM events",
        "DELETE FROM events WHERE position = 3",
        "DELETE FROM events WHERE position = 4",
        "DELETE FROM events WHERE position = 5",
        "DELETE FROM events WHERE stream = 1",
        "DELETE FROM events WHERE stream = 3",
        "DELETE FROM streams WHERE key = 1",
        "UPDATE events SET data = x'00' WHERE position = 1",
        "UPDATE events SET stream = 1 WHERE position = 3",
        "REPLACE INTO events VALUES (1, 1, 1, 1, 0, 100, NULL, 0, x'00')",
    ],
)
def test_only_events_below_run_archived_are_let_go(path, statement):
    dropping(path)
    assert refused(path, statement, recursive=1)


def test_the_end_stays_where_events_are_let_go(path):
    dropping(path)
    with connect(path) as connection:
        connection.execute("DELETE FROM events WHERE stream = 1 AND version < 3")
        for values in (
            "1, 1, 1, 1, 0, 100, NULL, 0, x'00'",
            "6, 1, 1, 1, 0, 100, NULL, 0, x'00'",
            "6, 1, 3, 1, 0, 100, NULL, 0, x'00'",
            "6, 1, 4, 1, 0, 99, NULL, 0, x'00'",
        ):
            with pytest.raises(sqlite3.IntegrityError):
                connection.execute(f"INSERT INTO events VALUES ({values})")
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute("DELETE FROM events WHERE position = 4")
    with closing(open_store(path, create=False)) as store:
        assert [event.position for event in store.read_all()] == [3, 4, 5]
        assert store.streams(prefix="") == [("b", 3), ("a", 1)]
        assert store.head(StreamId("a")) == 3
        assert store.last_position() == 5


def test_a_stream_begins_at_the_position_that_is_its_key(path):
    with connect(path) as connection:
        connection.execute("INSERT INTO streams VALUES (5, 'c')")
        with pytest.raises(sqlite3.IntegrityError, match="key as position"):
            connection.execute("INSERT INTO events VALUES (4, 5, 1, 1, 0, 100, NULL, 0, x'00')")


def test_the_event_in_its_place_is_taken(path):
    with connect(path) as connection:
        first = crc32(b"a\0one.v1" + pack(">5q", 4, 3, 0, 100, 8) + b"{}") - 2**32
        connection.execute(
            "INSERT INTO events VALUES (4, 1, 3, 1, 0, 100, 8, ?, x'7b7d')", (first,)
        )
        connection.execute("INSERT INTO streams VALUES (5, 'c')")
        second = crc32(b"c\0two.v1" + pack(">5q", 5, 1, 0, 101, 7) + b"{}") - 2**32
        connection.execute(
            "INSERT INTO events VALUES (5, 5, 1, 2, 0, 101, 7, ?, x'7b7d')", (second,)
        )
    with closing(open_store(path, create=False)) as store:
        assert [(e.stream, e.version, e.data) for e in store.read_all()][3:] == [
            ("a", 3, b"{}"),
            ("c", 1, b"{}"),
        ]


def objects(path):
    with connect(path) as connection:
        return connection.execute(
            "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name"
        ).fetchall()


def test_every_table_has_a_guard_against_every_verb(path):
    assert {name for kind, name, _sql in objects(path) if kind == "trigger"} == {
        f"{table}_{verb}_guard" for table in TABLES for verb in ("insert", "update", "delete")
    }


GUARDS = [
    *(f"{table}_{verb}_guard" for table in TABLES for verb in ("insert", "update", "delete")),
    "events_by_version",
    "events_by_identity",
]


@pytest.mark.parametrize("create", [True, False])
@pytest.mark.parametrize("name", GUARDS)
def test_a_missing_guard_is_named_at_open(path, name, create):
    kind = "trigger" if name.endswith("guard") else "index"
    with connect(path) as connection:
        connection.execute(f"DROP {kind} {name}")
    with pytest.raises(GuardsMissing) as missing:
        open_store(path, create=create)
    assert missing.value.missing == f"{kind} {name}"


def test_a_guard_put_back_as_it_was_is_enough(path):
    [(sql,)] = [(sql,) for _kind, name, sql in objects(path) if name == "events_update_guard"]
    with connect(path) as connection:
        connection.execute("DROP TRIGGER events_update_guard")
        connection.execute(sql)
    open_store(path, create=False).close()


CHANGES = {
    "trigger events_delete_guard": [
        "DROP TRIGGER events_delete_guard",
        "CREATE TRIGGER events_delete_guard BEFORE DELETE ON events BEGIN SELECT 1; END",
    ],
    "trigger another": [
        "CREATE TRIGGER another AFTER INSERT ON events BEGIN SELECT 1; END",
    ],
    "table notes": ["CREATE TABLE notes (text)"],
    "view all_events": ["CREATE VIEW all_events AS SELECT * FROM events"],
    "table events": ["ALTER TABLE events ADD COLUMN note TEXT"],
    "index events_by_version": [
        "DROP INDEX events_by_version",
        "CREATE INDEX events_by_version ON events (stream, version)",
    ],
}


@pytest.mark.parametrize(("named", "statements"), CHANGES.items(), ids=CHANGES)
def test_a_changed_or_added_object_is_named_at_open(path, named, statements):
    with connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    with pytest.raises(GuardsMissing) as missing:
        open_store(path, create=False)
    assert missing.value.missing == named


def test_what_sqlite_keeps_for_itself_is_not_a_change(path):
    with connect(path) as connection:
        connection.execute("ANALYZE")
        connection.execute("VACUUM")
    with closing(open_store(path, create=False)) as store:
        assert [found.position for found in store.read_all()] == [1, 2, 3]
