"""SQL over an archive reads the views and nothing else, and takes only so much."""

import signal
import threading
from contextlib import closing

import pytest

from journal import Journal
from journal.errors import DamagedArchive, LimitReached, SQLRefused
from projections.archive.opened import open_archive
from projections.archive.query import select
from projections.audit.catching_up import catch_up
from tests.unit.archive_files import DAY, EVER, NOON, archive
from tests.unit.four_days import LIMITS, archived, file_of, flip, four_days, opener


@pytest.fixture
def path(tmp_path, monkeypatch):
    return four_days(tmp_path / "runs.db", monkeypatch)


@pytest.fixture
def place(path):
    return archived(path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """An archive that is opened once, and its folder, in which are secrets."""
    folder = tmp_path_factory.mktemp("shared")
    with pytest.MonkeyPatch.context() as patch:
        place = archived(four_days(folder / "runs.db", patch))
    for name in ("secret", "secret.csv"):
        (folder / name).write_text("secret")
    with closing(open_archive(place)) as archive:
        yield folder, archive


@pytest.fixture
def opened(place):
    """Opens the archive, which is closed at the end."""
    with opener(place) as open_again:
        yield open_again


class TestSQL:
    HOSTILE = (
        "COPY rows TO '{0}/stolen'",
        "SELECT * FROM read_text('{0}/secret')",
        "SELECT * FROM read_blob('{0}/*')",
        "SELECT * FROM '{0}/secret.csv'",
        "SELECT * FROM read_csv('{0}/secret')",
        "SELECT * FROM read_parquet('https://localhost/x')",
        "SELECT * FROM 'https://localhost/x.parquet'",
        "SELECT * FROM glob('{0}/*')",
        "ATTACH '{0}/other.db' AS other",
        "INSTALL httpfs",
        "LOAD httpfs",
        "PRAGMA database_list",
        "SET threads = 1",
        "RESET threads",
        "CREATE TABLE x AS SELECT 1",
        "INSERT INTO rows SELECT * FROM rows",
        "DELETE FROM rows",
        "DROP VIEW rows",
        "EXPLAIN SELECT 1",
        "DESCRIBE rows",
        "SHOW TABLES",
        "CALL pragma_version()",
        "EXECUTE x",
        "SELECT 1; SELECT 2",
        "SELECT 1; DROP VIEW rows",
        "SELECT getenv('HOME')",
        "SELECT current_setting('temp_directory')",
        "SELECT getvariable('x')",
        "SELECT nextval('x')",
        "SELECT * FROM query('SELECT 1')",
        "SELECT * FROM query_table('rows')",
        "SELECT * FROM duckdb_settings()",
        "SELECT * FROM information_schema.tables",
        "SELECT * FROM temp.rows",
        "SELECT * FROM live.rows",
        "SELECT * FROM archive",
        "SELECT (SELECT count(*) FROM read_text('{0}/secret'))",
        "WITH x AS (SELECT * FROM read_text('{0}/secret')) SELECT * FROM x",
        "SELECT * FROM (WITH duckdb_views AS (SELECT 1) SELECT 1) a, duckdb_views",
        "SELECT * FROM (WITH SQLITE_MASTER AS (SELECT 1) SELECT 1) a, sqlite_master",
        "SELECT * FROM (WITH pragma_database_list AS (SELECT 1) SELECT 1) a, pragma_database_list",
        "WITH duckdb_tables AS (SELECT * FROM duckdb_tables) SELECT * FROM duckdb_tables",
        "SELECT repeat('x', 1000000000)",
        "SELECT range(1000000000)",
        "SELECT [x FOR x IN [1]]",
        "SELECT ?",
        "SELECT nothing FROM rows",
        "SELECT",
        "",
        "no sql",
        "SELECT '\ud800'",
        "SELECT '\0'",
        "SELECT " + "(" * 5000 + "1" + ")" * 5000,
        "SELECT '" + "x" * 30_000 + "'",
    )

    @pytest.mark.parametrize("statement", HOSTILE)
    def test_what_is_more_than_reading_is_refused(self, shared, statement):
        folder, archive = shared
        there = set(folder.rglob("*"))
        with pytest.raises(SQLRefused):
            select(archive, None, statement.replace("{0}", str(folder)), **LIMITS)
        assert set(folder.rglob("*")) == there

    @pytest.mark.parametrize(
        ("statement", "limits", "reached"),
        [
            ("WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a) SELECT max(n) FROM a", {"seconds": 0.3}, "seconds"),
            ("WITH RECURSIVE a(n) AS (SELECT 'xxxxxxxx' UNION ALL SELECT n || n FROM a) SELECT max(length(n)) FROM a", {"megabytes": 64}, "megabytes"),
            ("SELECT count(*) FROM rows a, rows b, rows c, rows d, rows e WHERE a.text || b.text < c.text || e.text", {"seconds": 0.3}, "seconds"),
        ],
    )  # fmt: skip
    def test_what_takes_too_much_is_broken_off(self, opened, statement, limits, reached):
        with pytest.raises(LimitReached) as raised:
            select(opened(), None, statement, **(LIMITS | limits))
        assert raised.value.limit == reached

    def test_a_sample_is_a_select(self, opened):
        sampled = "SELECT count(*) > 0 FROM rows TABLESAMPLE 100%"
        assert list(select(opened(), None, sampled, **LIMITS).rows) == [(1,)]

    # It may come while the memory is looked at, whose file is then closed by the collector.
    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    def test_ctrl_c_ends_it(self, opened):
        endless = (
            "WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a) SELECT max(n) FROM a"
        )
        archive = opened()
        after = threading.Timer(1, signal.raise_signal, [signal.SIGINT])
        after.start()
        with pytest.raises(KeyboardInterrupt):
            select(archive, None, endless, **(LIMITS | {"seconds": 20}))
        after.join()

    def test_rows_are_given_up_to_the_limit(self, opened):
        found = select(
            opened(), None, "SELECT position FROM rows ORDER BY 1", **(LIMITS | {"rows": 3})
        )
        given = []
        with pytest.raises(LimitReached) as raised:
            given.extend(row for row in found.rows)
        assert raised.value.limit == "rows"

    def test_values_are_numbers_texts_and_none(self, opened):
        found = select(opened(), None, "SELECT 1, 1.5, 'x', NULL, true, DATE '2024-01-02', sum(1) FROM rows", **LIMITS)  # fmt: skip
        [row] = found.rows
        assert row[:6] == (1, 1.5, "x", None, 1, "2024-01-02")
        assert [type(each) for each in row] == [int, float, str, type(None), int, str, int]

    @pytest.mark.parametrize("whole", [True, False], ids=["archive", "with the journal"])
    def test_the_views_are_those_of_the_journal(self, path, tmp_path, whole):
        with Journal.open(path) as journal:
            half = segments_until(path, tmp_path / "part", EVER if whole else NOON + DAY * 3 // 2)
            store = catch_up(journal)
            with closing(half) as archive:
                for statement in (
                    "SELECT * FROM rows ORDER BY position, part",
                    "SELECT * FROM runs ORDER BY run_id",
                    "SELECT * FROM calls ORDER BY position",
                    "SELECT tool, outcome, count(*) AS n FROM calls GROUP BY tool, outcome ORDER BY 1, 2",
                ):
                    expected = store.query(statement, **LIMITS)
                    found = select(archive, None if whole else journal, statement, **LIMITS)
                    assert found.columns == expected.columns
                    assert list(found.rows) == list(expected.rows)

    @pytest.mark.parametrize(
        ("statement", "answer"),
        [
            ("SELECT 7/2, -7/2, 7/2.0, 7.5/2, sum(1)*0 + 11/2 FROM runs", [(3, -3, 3.5, 3.75, 5)]),
            ("SELECT 7/0, 7%0, 7.0/0, (0*1.0)/0", [(None,) * 4]),
            ("SELECT avg(a.x), sum(a.x)/2 FROM (SELECT 1 AS x UNION ALL SELECT 2) AS a", [(1.5, 1)]),
            ("SELECT x FROM (SELECT 1 AS x UNION ALL SELECT NULL UNION ALL SELECT 2) AS a ORDER BY x", [(None,), (1,), (2,)]),
            ("SELECT x FROM (SELECT 1 AS x UNION ALL SELECT NULL UNION ALL SELECT 2) AS a ORDER BY x DESC", [(2,), (1,), (None,)]),
        ],
    )  # fmt: skip
    def test_numbers_and_nulls_are_those_of_sqlite(self, path, place, opened, statement, answer):
        with Journal.open(path) as journal:
            assert list(catch_up(journal).query(statement, **LIMITS).rows) == answer
        assert list(select(opened(), None, statement, **LIMITS).rows) == answer

    def test_a_damaged_file_is_an_error_of_the_views_that_read_it(self, place, opened):
        flip(file_of(place, 2, "rows"), 300)
        file_of(place, 3, "rows").unlink()
        archive = opened()
        assert list(select(archive, None, "SELECT count(*) FROM runs", **LIMITS).rows) == [(5,)]
        with pytest.raises(DamagedArchive):
            select(archive, None, "SELECT count(*) FROM rows", **LIMITS)


def segments_until(path, place, before):
    archive(path, place, before)
    return open_archive(place)
