"""DuckDB, Polars and DataFusion read an archive directly, and answer as this package does.

Each of six questions is written once for each engine, over `rows/**/*.parquet` and
`runs/**/*.parquet` as ARCHIVE.md documents them, and compared with `projections.audit`.
"""

from collections import Counter
from datetime import UTC, datetime

import datafusion
import duckdb
import polars as pl
import pytest

from projections.archive.opened import open_archive
from projections.audit import Audit, AuditFilter
from tests import corpus, samples
from tests.unit.archive_files import DAY, NOON, Clock, archive, journal_at, tell

TOOL = "search"
RUN = "run-1"
PHRASE = "turn 3"
TRACE = "trace-x"
SINCE, UNTIL = NOON + DAY - DAY // 2, NOON + DAY + DAY // 2


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """An archive of three days, of made-up runs and of recorded ones."""
    folder = tmp_path_factory.mktemp("engines")
    clock = Clock(NOON)
    with (
        pytest.MonkeyPatch.context() as patch,
        journal_at(folder / "runs.db", patch, clock) as journal,
    ):
        ends = Counter()
        for turn in range(6):
            for number in range(3):
                clock.now += 1_000_000
                with journal.run(f"run-{number}", session_id=f"s{number % 2}") as run:
                    ends[number] = tell(run, ends[number], text=f"turn {turn}")
            clock.now += DAY // 2
        for number in range(2):
            context = {"trace_id": TRACE}
            record = samples.run_record(f"run-{number}", f"s{number}", trace_context=context)
            journal.save_run(record)
        for name in ("modelfail", "toolerror", "tools", "subagent"):
            corpus.Calls(name).give(journal)
        error = {"code": "lost", "message": "it broke"}
        made = samples.run_record("run-2", "s0", status="failed", terminal_error=error)
        journal.save_run(made)
    archive(folder / "runs.db", folder / "archive")
    return folder / "archive"


@pytest.fixture(scope="module")
def audit(place):
    with open_archive(place) as opened:
        yield Audit(None, opened)


TOOLS_IN_A_DAY = f"""
    SELECT c.run_id, c.call_id, c.recorded_at FROM rows AS c
    WHERE c.kind = 'tool_call' AND c.tool = '{TOOL}'
        AND c.recorded_at >= {SINCE} AND c.recorded_at < {UNTIL}
"""
# A run was on a trace when any of its rows tells it.
ON_TRACE = f"""
    SELECT r.position, r.part FROM rows AS r
    WHERE r.run_id IN (SELECT run_id FROM rows WHERE trace_id = '{TRACE}')
"""
TIMELINE = f"""
    SELECT position, part FROM rows WHERE run_id = '{RUN}' ORDER BY anchor, rank, version, part
"""
FAILURES = """
    SELECT run_id, error_kind, error, last_tool FROM (
        SELECT *, row_number() OVER (PARTITION BY run_id ORDER BY position DESC) AS nth FROM runs
    ) AS r WHERE nth = 1 AND status = 'failed'
"""
USAGE = """
    SELECT session_id, recorded_at / 86400000000 AS day, count(*) AS responses,
        sum(coalesce(total_tokens, 0)) AS total_tokens
    FROM rows
    WHERE kind = 'model_response' AND (status IS NULL OR status <> 'repeated') AND NOT from_state
        AND (child_run_id IS NULL OR child_run_id NOT IN (SELECT run_id FROM runs))
    GROUP BY 1, 2
"""


class DuckDB:
    """SQL with regular expressions."""

    def __init__(self, place):
        self._connection = duckdb.connect()
        for kind in ("rows", "runs"):
            self._connection.execute(
                f"CREATE VIEW {kind} AS FROM read_parquet('{place}/{kind}/**/*.parquet', hive_partitioning=false)"
            )

    def sql(self, statement):
        return self._connection.execute(statement).fetchall()

    def search(self):
        return self.sql(
            "SELECT position, part FROM rows WHERE regexp_matches(text, '(?i)\\bturn[^a-z0-9]+3\\b')"
        )

    def usage(self):
        return self.sql(USAGE.replace(" / ", " // "))


class DataFusion:
    """SQL with regular expressions, in another dialect."""

    def __init__(self, place):
        self._context = datafusion.SessionContext()
        for kind in ("rows", "runs"):
            self._context.register_parquet(kind, f"{place}/{kind}")

    def sql(self, statement):
        batches = self._context.sql(statement).collect()
        return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]

    def search(self):
        return self.sql(
            "SELECT position, part FROM rows WHERE regexp_like(text, '\\bturn[^a-z0-9]+3\\b', 'i')"
        )

    def usage(self):
        return self.sql(USAGE)


class Polars:
    """No SQL: expressions over lazy frames."""

    def __init__(self, place):
        self._rows, self._runs = (
            pl.scan_parquet(f"{place}/{kind}/**/*.parquet", hive_partitioning=False)
            for kind in ("rows", "runs")
        )

    def sql(self, statement):
        rows, col = self._rows, pl.col
        if statement == TOOLS_IN_A_DAY:
            found = rows.filter(
                col("kind") == "tool_call", col("tool") == TOOL,
                col("recorded_at").is_between(SINCE, UNTIL, closed="left"),
            ).select("run_id", "call_id", "recorded_at")  # fmt: skip
        elif statement == TIMELINE:
            found = rows.filter(col("run_id") == RUN).sort("anchor", "rank", "version", "part")
            found = found.select("position", "part")
        elif statement == FAILURES:
            last = self._runs.sort("position").unique("run_id", keep="last")
            found = last.filter(col("status") == "failed")
            found = found.select("run_id", "error_kind", "error", "last_tool")
        else:
            on_it = rows.filter(col("trace_id") == TRACE).select("run_id").unique()
            found = rows.join(on_it, on="run_id", how="semi").select("position", "part")
        return found.collect().rows()

    def search(self):
        pattern = r"(?i)\bturn[^a-z0-9]+3\b"
        found = self._rows.filter(pl.col("text").str.contains(pattern))
        return found.select("position", "part").collect().rows()

    def usage(self):
        col = pl.col
        known = self._runs.select(child_run_id="run_id").unique()
        found = (
            self._rows.filter(
                col("kind") == "model_response",
                col("status").fill_null("") != "repeated",
                ~col("from_state"),
            )
            .join(known, on="child_run_id", how="anti")
            .group_by("session_id", day=col("recorded_at") // DAY)
            .agg(responses=pl.len(), total_tokens=col("total_tokens").fill_null(0).sum())
        )
        return found.collect().rows()


@pytest.fixture(scope="module", params=[DuckDB, Polars, DataFusion])
def engine(request, place):
    return request.param(place)


def test_tools_in_a_day(engine, audit):
    expected = audit.tools(AuditFilter(since=SINCE, until=UNTIL), tool=TOOL)
    wanted = sorted((each.run_id, each.call_id, each.called_at) for each in expected)
    assert wanted
    assert sorted(engine.sql(TOOLS_IN_A_DAY)) == wanted


def test_a_trace(engine, audit):
    wanted = sorted((each.position, each.part) for each in rows_of(audit.trace(TRACE)))
    assert wanted
    assert sorted(engine.sql(ON_TRACE)) == wanted


def test_a_phrase(engine, audit):
    found = audit.search(PHRASE)
    wanted = sorted((each.run_id, each.version, each.kind) for each in found)
    assert wanted
    assert len(engine.search()) == len(wanted)


def test_a_timeline(engine, audit):
    wanted = [(each.position, each.part) for each in rows_of(audit.timeline(RUN))]
    assert wanted
    assert list(engine.sql(TIMELINE)) == wanted


def test_failures(engine, audit):
    wanted = {(each.run_id, each.error_kind) for each in audit.failures()}
    assert len(wanted) >= 2
    assert {(run_id, kind) for run_id, kind, *_ in engine.sql(FAILURES)} == wanted


def test_usage_by_session_and_day(engine, audit):
    wanted = {
        (each.key["session"], each.key["day"]): (each.responses, each.total_tokens)
        for each in audit.usage(by=["session", "day"])
    }
    assert len(wanted) > 4
    found = {
        (session, datetime.fromtimestamp(day * 86400, UTC).date().isoformat()): (responses, tokens)
        for session, day, responses, tokens in engine.usage()
    }
    assert found == wanted


def rows_of(happened):
    return [each.row for each in happened]
