"""`runjournal sql` answers one SELECT over documented views, changes nothing, and stays bounded."""

import csv
import io
import json
import math

import pytest

from journal import Journal
from journal.cli.sql_page import unique
from journal.cli.sql_views import sql_views
from journal.times import LATEST
from projections.archive.writing import write_archive
from projections.audit.selecting import select
from tests.cli.conftest import one_line


@pytest.fixture(autouse=True)
def here(request, monkeypatch):
    """Select in this process, as for a journal in memory, but where a test is marked `apart`.

    That SQL of people runs apart is shown by those, and by `tests/unit/test_sql_is_broken_off.py`.
    """
    if request.node.get_closest_marker("apart") is None:
        monkeypatch.setattr("projections.audit.audit.select_apart", select)


FAILED = "SELECT tool, count(*) AS failed FROM calls WHERE outcome = 'error' GROUP BY tool"


@pytest.mark.apart
def test_a_table_is_printed(audited, cli):
    done = cli("sql", FAILED)
    assert (done.code, done.err) == (0, "")
    assert [line.split() for line in done.out.splitlines()] == [
        ["tool", "failed"],
        ["charge_card", "1"],
    ]


def test_json_is_an_object_a_row(audited, cli):
    done = cli("sql", FAILED, "--json")
    assert done.documents == [
        {
            "schema": "runjournal.sql_row",
            "schema_version": 1,
            "row": {"tool": "charge_card", "failed": 1},
        }
    ]


def test_csv_has_a_header(audited, cli):
    assert cli("sql", FAILED, "--csv").out == "tool,failed\r\ncharge_card,1\r\n"


def test_nothing_selected_is_said(audited, cli):
    nothing = "SELECT run_id, status FROM runs WHERE 0"
    assert cli("sql", nothing).out == "no rows\n"
    assert cli("sql", nothing, "--json").out == ""
    assert cli("sql", nothing, "--csv").out == "run_id,status\r\n"


def test_the_statement_may_come_from_the_standard_input(audited, cli):
    assert cli("sql", "-", stdin=FAILED.encode()).out == cli("sql", FAILED).out


def test_the_documented_views_are_those_there_are(audited, cli):
    views = cli("sql", "--views", "--json").documents
    assert [each["view"] for each in views] == ["rows", "runs", "calls"]
    for view in views:
        told = [column["name"] for column in view["columns"]]
        assert cli("sql", f"SELECT * FROM {view['view']}", "--csv").out.splitlines()[0] == ",".join(told)  # fmt: skip
        assert all(column["about"] for column in view["columns"])


def test_the_views_are_printed_without_a_journal(cli):
    done = cli("sql", "--views")
    assert (done.code, done.err) == (0, "")
    for view in sql_views():
        assert f"{view.name}  {view.about}\n" in done.out
    assert "with --archive DuckDB" in done.out
    assert "LIKE heeds case" in done.out


ODD = "SELECT NULL AS a, 1 AS a, -9223372036854775807 AS a_2, x'00ff' AS b, 1e999 AS c, 1.0 AS d, '=1' AS \"=e\", char(27) || '[31m' AS f"


def test_odd_values_and_names_are_kept(audited, cli):
    row = cli("sql", ODD.replace("char(27) || '[31m'", "'\x1b[31m'"), "--json").document["row"]
    assert list(row) == ["a", "a_3", "a_2", "b", "c", "d", "=e", "f"]
    assert list(row.values()) == [None, 1, -9223372036854775807, "00ff", "Infinity", 1.0, "=1", "\x1b[31m"]  # fmt: skip


def test_odd_values_are_data_in_csv_and_on_pages(audited, cli):
    odd = ODD.replace("char(27) || '[31m'", "'\x1b[31m'")
    [titles, values] = csv.reader(io.StringIO(cli("sql", odd, "--csv").out, newline=""))
    assert titles[-2:] == ["'=e", "f"]
    assert values == ["", "1", "-9223372036854775807", "00ff", "Infinity", "1.0", "'=1", "\x1b[31m"]
    page = cli("sql", odd).out
    assert r"\x1b[31m" in page
    assert "NULL" in page
    assert "\x1b" not in page


def test_markup_in_a_title_is_no_markup(audited, cli, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "[red]x[/red]" in cli("sql", "SELECT 1 AS '[red]x[/red]'").out


@pytest.mark.parametrize(
    ("titles", "names"),
    [
        (["a", "b"], ["a", "b"]),
        (["a", "a", "a"], ["a", "a_2", "a_3"]),
        (["a", "a", "a_2"], ["a", "a_3", "a_2"]),
        (["a_2", "a", "a"], ["a_2", "a", "a_3"]),
    ],
)
def test_names_of_columns_are_made_to_differ(titles, names):
    assert unique(titles) == names


def test_where_columns_have_no_room_rows_are_blocks(audited, cli, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "60")
    seen = cli("sql", "SELECT * FROM runs ORDER BY run_id").out
    assert "row 1" in seen
    assert "row 2" in seen
    assert cli("sql", "SELECT * FROM runs WHERE 0").out == "no rows\n"


def test_what_is_over_the_limit_of_rows_is_told_after_the_others(audited, cli):
    every = "SELECT kind FROM rows"
    for form in ([], ["--json"], ["--csv"]):
        done = cli("sql", every, "--rows", "2", *form)
        assert done.code == 1
        assert len(done.out.splitlines()) == (2 if form == ["--json"] else 3)
        assert one_line(done, "more than 2 rows", "--rows")


ENDLESS = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT count(*) FROM t"
HUGE = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT x FROM t ORDER BY -x"


@pytest.mark.apart
@pytest.mark.parametrize(
    ("args", "parts"),
    [
        ([ENDLESS, "--seconds", "0.2"], ["0.2 seconds", "--seconds"]),
        ([HUGE, "--memory", "10"], ["10 megabytes", "--memory"]),
    ],
    ids=["endless", "huge"],
)
def test_what_takes_too_much_is_stopped(audited, cli, args, parts):
    done = cli("sql", *args)
    assert (done.code, done.out) == (1, "")
    assert one_line(done, *parts)


REFUSED = [
    "ATTACH 'other.db' AS other",
    "DELETE FROM rows",
    "SELECT * FROM sqlite_schema",
    "SELECT 1; DROP VIEW rows",
    "SELECT 'a\0b'",
]
"""Some of those that `tests/unit/test_sql_over_audit.py` gives to the engine."""


@pytest.mark.parametrize("statement", REFUSED)
def test_anything_but_reading_the_views_is_refused(audited, cli, statement):
    before = {path.name: path.read_bytes() for path in audited.parent.iterdir()}
    done = cli("sql", statement)
    assert (done.code, done.out) == (1, "")
    assert one_line(done)
    assert "fault of runjournal" not in done.err
    after = {path.name for path in audited.parent.iterdir()}
    assert {name for name in after if not name.endswith(("-wal", "-shm", "-lock"))} == set(before)
    assert audited.read_bytes() == before["runjournal.db"]
    assert cli("sql", "SELECT count(*) > 0 AS there FROM rows", "--csv").out == "there\r\n1\r\n"


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["   "],
        ["SELECT 1", "SELECT 2"],
        ["SELECT 1", "--rows", "0"],
        ["SELECT 1", "--seconds", "0"],
        ["SELECT 1", "--seconds", "nan"],
        ["SELECT 1", "--seconds", "inf"],
        ["SELECT 1", "--seconds", "86401"],
        ["SELECT 1", "--memory", "0"],
        ["SELECT 1", "--csv", "--json"],
        ["--views", "--csv"],
    ],
)
def test_wrong_usage_exits_2(audited, cli, args):
    done = cli("sql", *args)
    assert (done.code, done.out) == (2, "")
    assert "Usage" in done.err or "Error" in done.err


@pytest.mark.parametrize(
    ("option", "most"), [("--rows", 2_000_000_000), ("--memory", 100_000), ("--seconds", 86_400)]
)
def test_limits_have_limits(audited, archived, cli, option, most):
    for more in ([], ["--archive", archived]):
        assert cli("sql", "SELECT 1 AS a", "--csv", option, str(most), *more).out == "a\r\n1\r\n"
        for given in (most + 1, 10**20):
            done = cli("sql", "SELECT 1", option, str(given), *more)
            assert (done.code, done.out) == (2, "")
            assert option in done.err
            assert str(most) in done.err


def test_a_statement_that_is_no_utf_8_is_wrong_usage(audited, cli):
    done = cli("sql", "-", stdin=b"SELECT '\xff'")
    assert (done.code, done.out) == (2, "")
    assert "not UTF-8" in done.err


def test_a_lone_surrogate_is_refused(audited, cli):
    done = cli("sql", "SELECT '\udcff'")
    assert (done.code, done.out) == (1, "")
    assert one_line(done)


def test_json_has_no_number_that_json_has_not(audited, cli):
    out = cli("sql", "SELECT 1e999 AS a, -1e999 AS b", "--json").out
    row = json.loads(out, parse_constant=lambda name: math.nan)["row"]
    assert row == {"a": "Infinity", "b": "-Infinity"}


def test_an_archive_answers_the_same_with_and_without_the_journal(audited, cli):
    asked = "SELECT kind, count(*) AS n, max(text) AS t FROM rows GROUP BY kind ORDER BY kind"
    live = cli("sql", asked, "--json").documents
    assert cli("archive", "--before", "2999-01-01", "--to", "archive").code == 0
    for more in ([], ["--db", "missing.db"]):
        done = cli("sql", asked, "--archive", "archive", *more, "--json")
        assert (done.code, done.err) == (0, "")
        assert done.documents == live


BY_DUCKDB = [
    "SELECT * FROM read_text('/etc/passwd')",
    "COPY rows TO 'x'",
]
"""Some of those of `tests/unit/test_archive_sql.py`."""


@pytest.fixture(scope="module")
def archived(audited_once):
    """What was archived of it."""
    location = audited_once.parent / "archive"
    with Journal.open(audited_once) as opened:
        write_archive(opened, str(location), before=LATEST)
    return str(location)


@pytest.mark.apart
@pytest.mark.parametrize("statement", BY_DUCKDB)
def test_with_an_archive_the_same_is_refused(audited, archived, cli, statement):
    before = {path.name for path in audited.parent.iterdir()}
    done = cli("sql", statement, "--archive", archived)
    assert (done.code, done.out) == (1, "")
    assert one_line(done)
    assert "fault of runjournal" not in done.err
    after = {path.name for path in audited.parent.iterdir()}
    assert {name for name in after if not name.endswith(("-wal", "-shm", "-lock"))} == before


def test_numbers_of_any_size_are_kept(audited, archived, cli):
    asked = "SELECT sum(position) * 100000000000000000000 AS big, 'nan'::DOUBLE AS none FROM rows"
    row = cli("sql", asked, "--archive", archived, "--json").document["row"]
    assert row["big"] > 2**64
    assert row["big"] % 10**20 == 0
    assert row["none"] == "NaN"
    assert f"{row['big']},NaN" in cli("sql", asked, "--archive", archived, "--csv").out
    assert str(row["big"]) in cli("sql", asked, "--archive", archived).out
