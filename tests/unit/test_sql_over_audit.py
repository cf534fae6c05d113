"""SQL of people reads the audit rows, within its limits, and does nothing else."""

import signal
import threading
import time
from contextlib import closing

import pytest

from journal.errors import LimitReached, SQLRefused
from journal.ids import Position
from journal.stores import open_audit, open_store
from journal.stores.audit import LARGEST
from tests.contract.audit_rows import facts, row

BIG = (
    "replace(replace(replace('aaaaaaaaaaaaaaaaaaaa', 'a', 'bbbbbbbbbbbbbbbbbbbb'), 'b', "
    "'cccccccccccccccccccc'), 'c', 'dddddddddddddddddddd')"
)
"""A text of 160,000 bytes."""

EACH = "a.position || ' ' || b.position || ' ' || c.position || a.text"
TEXT = "some words of a text " * 20


@pytest.fixture(params=[False, True], ids=["file", "memory"])
def audit(request, tmp_path):
    with (
        closing(open_store(tmp_path / "runs.db", create=True)) as store,
        closing(open_audit(store, 1, in_memory=request.param)) as audit,
    ):
        yield audit


def put(audit, *rows, runs=()):
    with audit.writing() as writer:
        runs = runs or [facts("run-1", len(rows), session_id="s", status="failed", records=1)]
        writer.put(rows, runs, Position(max(each.position for each in rows)))


def select(audit, sql, *, rows=100, seconds=60, megabytes=256):
    columns, found = audit.query(sql, rows=rows, seconds=seconds, megabytes=megabytes)
    return columns, list(found)


def call(position, **fields):
    return row(position, kind="tool_call", tool="shell", call_id="c", **fields)


def returned(position, **fields):
    fields = {"status": "ok"} | fields
    return row(position, kind="tool_return", tool="shell", call_id="c", **fields)


class TestViews:
    def test_rows_and_runs_have_the_columns_that_are_known(self, audit):
        full = row(3, part=2, session_id="s", agent="a", tool="t'%", text="x", from_state=True)
        run = facts("run-1", 3, session_id="s", status="failed", error="why", archived=True)
        put(audit, row(1), full, runs=[run])
        columns, found = select(audit, "SELECT * FROM rows ORDER BY position")
        assert columns == full._fields
        assert found == [tuple(row(1)), tuple(full)]
        columns, found = select(audit, "SELECT * FROM runs")
        assert columns == run._fields[:-1]
        assert found == [tuple(run)[:-1]]
        assert select(audit, "SELECT count(*) FROM rows JOIN runs USING (run_id)")[1] == [(2,)]

    @pytest.mark.parametrize(
        ("rows", "found"),
        [
            ([call(1)], [(1, "missing", None)]),
            ([call(1), returned(3)], [(1, "ok", 2)]),
            ([call(1), returned(3, duration_ms=9, status=None)], [(1, "ok", 9)]),
            ([call(1, step=1), call(2, step=1), returned(3, step=1)], [(2, "ok", 1)]),
            (
                [call(1, step=1), returned(2, step=1, status="error"), call(3, step=2)],
                [(1, "error", 1), (3, "missing", None)],
            ),
            (
                [call(1), returned(2, status="approval_required"), returned(3, anchor=1)],
                [(1, "approval_required", 1)],
            ),
            ([call(1, step=1), returned(2, step=7)], [(1, "ok", 1)]),
            ([call(2), returned(1)], [(2, "ok", None)]),
            ([call(1, from_state=True)], []),
            ([call(1, child_run_id="run-1")], []),
            ([call(1, child_run_id="other"), returned(2)], [(1, "missing", None)]),
            ([call(1)._replace(call_id=None), returned(2)], [(1, "missing", None)]),
        ],
    )
    def test_calls_are_joined_with_their_last_return(self, audit, rows, found):
        put(audit, *sorted(rows))
        sql = "SELECT position, outcome, duration_ms FROM calls ORDER BY position"
        assert select(audit, sql)[1] == found

    def test_names_are_data(self, audit):
        put(audit, row(1, tool="x' OR 1=1"))
        assert select(audit, "SELECT position FROM rows WHERE tool = 'x'' OR 1=1'")[1] == [(1,)]

    def test_a_store_without_rows_answers(self, audit):
        assert select(audit, "SELECT * FROM rows")[1] == []
        assert select(audit, "-- why\n /* not */ with t (x) as (select 1) select x from t") == (
            ("x",),
            [(1,)],
        )
        assert select(audit, "VALUES (1, x'00', NULL, CAST(x'ff41' AS TEXT))")[1] == [
            (1, b"\0", None, "\ufffdA")
        ]


REFUSED = [
    "",
    " -- SELECT",
    "/**/" * 4000 + "x",
    "ATTACH 'other.db' AS x",
    "PRAGMA user_version = 9",
    "VACUUM INTO 'other.db'",
    "EXPLAIN SELECT 1",
    "DELETE FROM audit_rows",
    "WITH t AS (SELECT 1) DELETE FROM audit_rows",
    "WITH t AS (SELECT 1) INSERT INTO meta SELECT 1, 2",
    "SELECT 1; DELETE FROM audit_rows",
    "SELECT 1; SELECT 2",
    "SELECT * FROM audit_names",
    "SELECT text FROM audit_rows",
    "SELECT * FROM pages",
    "SELECT count(*) FROM Pages",
    "SELECT 1 FROM tracking",
    "SELECT sql FROM sqlite_schema",
    "SELECT count(*) FROM sqlite_master",
    "SELECT 1 FROM sqlite_temp_master",
    "SELECT * FROM audit_words WHERE audit_words MATCH 'x'",
    "SELECT * FROM audit_words_data",
    "SELECT * FROM pragma_database_list",
    "SELECT count(*) FROM pragma_table_info('rows')",
    "WITH rows AS (SELECT * FROM documents) SELECT * FROM rows",
    "SELECT load_extension('x')",
    "SELECT readfile('/etc/passwd')",
    "SELECT writefile('x', 'y')",
    "SELECT randomblob(9)",
    "SELECT zeroblob(1000000000)",
    "SELECT printf('%1000000d', 1)",
    "SELECT hex('x')",
    "SELECT raised(1, 2, 3, 4, 5)",
    "SELECT fts5(1)",
    "SELECT ?",
    "SELECT :x",
    "SELECT nothing FROM rows",
    "SELECT * FROM nothing",
    "SELECT",
    "SELECT \0",
    "SELECT '\ud800'",
    "SELECT " + "(" * 300 + "1" + ")" * 300,
    "SELECT " + ",".join("1" * 200),
    "SELECT '" + "x" * 30_000 + "'",
    "SELECT sum(9223372036854775807) FROM rows",
    "SELECT " + " UNION ALL SELECT ".join("1" * 50),
]


@pytest.mark.parametrize("sql", REFUSED, ids=range(len(REFUSED)))
def test_anything_else_is_refused(audit, sql, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put(audit, *(row(at, text=TEXT) for at in range(1, 4)))
    before = sorted(tmp_path.iterdir())
    with pytest.raises(SQLRefused, match="rows, runs and calls"):
        select(audit, sql)
    assert sorted(tmp_path.iterdir()) == before
    assert select(audit, "SELECT count(*) FROM rows")[1] == [(3,)]
    put(audit, row(9))


class TestLimits:
    @pytest.mark.parametrize("given", [0, 1, 3])
    def test_rows(self, audit, given):
        put(audit, *(row(at) for at in range(1, 5)))
        columns, found = audit.query("SELECT * FROM rows", rows=given, seconds=60, megabytes=64)
        assert columns == row(1)._fields
        for _ in range(given):
            next(found)
        with pytest.raises(LimitReached, match=f"more than {given} rows.*--rows") as caught:
            next(found)
        assert (caught.value.limit, caught.value.value) == ("rows", given)
        assert len(select(audit, "SELECT * FROM rows", rows=4)[1]) == 4

    @pytest.mark.parametrize(
        "sql",
        [
            "WITH RECURSIVE t (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT max(x) FROM t",
            "SELECT count(*) FROM rows a, rows b, rows c, rows d",
        ],
    )
    def test_seconds(self, audit, sql):
        put(audit, *(row(at) for at in range(1, 300)))
        since = time.monotonic()
        with pytest.raises(LimitReached, match=r"more than 0\.2 seconds.*--seconds"):
            select(audit, sql, seconds=0.2)
        assert time.monotonic() - since < 30
        assert select(audit, "SELECT 1")[1] == [(1,)]

    @pytest.mark.parametrize(
        "sql",
        [
            "SELECT a.text || b.text || c.text AS x FROM rows a, rows b, rows c ORDER BY x",
            f"SELECT count(DISTINCT {EACH}) FROM rows a, rows b, rows c",
            "SELECT group_concat(a.text) FROM rows a, rows b",
            "WITH RECURSIVE t (x) AS (SELECT 'x' UNION ALL SELECT x || x FROM t) SELECT 1 FROM t",
            f"WITH RECURSIVE t (x) AS (SELECT {BIG} UNION ALL SELECT x FROM t) SELECT x FROM t",
            "WITH RECURSIVE t (x) AS (SELECT 1 UNION SELECT x + 1 FROM t) SELECT count(*) FROM t",
        ],
    )
    def test_megabytes(self, audit, sql):
        put(audit, *(row(at, text=TEXT) for at in range(1, 200)))
        with pytest.raises(LimitReached, match=r"more than 16 megabytes.*--memory"):
            select(audit, sql, rows=10**6, megabytes=16)
        assert select(audit, "SELECT count(*) FROM rows")[1] == [(199,)]

    # It may come while the memory is looked at, whose file is then closed by the collector.
    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    def test_ctrl_c_ends_it(self, audit):
        put(audit, *(row(at) for at in range(1, 300)))
        after = threading.Timer(1, signal.raise_signal, [signal.SIGINT])
        after.start()
        with pytest.raises(KeyboardInterrupt):
            select(audit, "SELECT count(*) FROM rows a, rows b, rows c, rows d", seconds=20)
        after.join()
        assert select(audit, "SELECT 1")[1] == [(1,)]

    def test_a_pattern_takes_no_time(self, audit):
        pattern = "%a" * 30 + "b"
        assert select(audit, f"SELECT '{'a' * 3000}' LIKE '{pattern}'")[1] == [(0,)]

    def test_numbers_are_exact(self, audit):
        put(audit, row(1, input_tokens=LARGEST, anchor=LARGEST))
        assert select(audit, "SELECT input_tokens, anchor FROM rows")[1] == [(LARGEST, LARGEST)]
