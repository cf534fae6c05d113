"""SQL that an engine would not break off by itself ends at its limit, and leaves nothing."""

from pathlib import Path

import pytest

from journal import Journal
from journal.errors import LimitReached, SQLRefused
from projections.archive.opened import open_archive
from projections.archive.writing import write_archive
from projections.audit import Audit
from tests.unit.audited import called, ended, opened, returned
from tests.unit.view_files import connect, views_of

HUNDRED = "a" * 100
LONG = f"replace(replace(replace('{HUNDRED}', 'a', '{HUNDRED}'), 'a', '{HUNDRED}'), 'a', 'aaa')"
QUADRATIC = f"WITH h AS (SELECT {LONG} AS h) SELECT instr(h, substr(h, 1, 1000000) || 'b') FROM h"
LARGE = f"SELECT length(replace(replace({LONG}, 'a', '{HUNDRED}'), 'a', '{HUNDRED}'))"


@pytest.fixture
def audits(tmp_path):
    """Give the audit of a journal, and that of its archive."""
    with Journal.open(tmp_path / "runs.db") as journal:
        opened(journal, "r", "s", called(0, "a"), returned(1, "a", content="gold"), ended(2, "r"))
        write_archive(journal, tmp_path / "archive", before=2**62)
        with open_archive(tmp_path / "archive") as archive:
            yield {"live": Audit(journal), "archived": Audit(None, archive)}


def processes():
    """List the processes that this thread started and that are there."""
    return set(Path("/proc/thread-self/children").read_text().split())


def test_a_function_that_takes_hours_ends_at_the_time_limit(audits):
    with pytest.raises(LimitReached) as reached:
        audits["live"].sql(QUADRATIC, seconds=0.5)
    assert reached.value.limit == "seconds"


@pytest.mark.parametrize("where", ["live", "archived"])
def test_a_value_that_takes_gigabytes_is_refused(audits, where):
    before = processes()
    with pytest.raises((LimitReached, SQLRefused)) as reached:
        list(audits[where].sql(LARGE, seconds=20.0, megabytes=64).rows)
    assert "megabytes" in reached.value.message
    assert processes() <= before


@pytest.mark.parametrize("where", ["live", "archived"])
def test_what_it_answers_is_what_was_asked(audits, where):
    selected = audits[where].sql("SELECT tool, outcome FROM calls")
    assert selected.columns == ("tool", "outcome")
    assert list(selected.rows) == [("lookup", "ok")]
    with pytest.raises(SQLRefused):
        audits[where].sql("DELETE FROM rows")


@pytest.mark.parametrize("where", ["live", "archived"])
def test_rows_beyond_the_limit_are_told_after_the_last(audits, where):
    rows = audits[where].sql("SELECT version FROM rows ORDER BY version", rows=1).rows
    assert len([next(rows)]) == 1
    with pytest.raises(LimitReached):
        next(rows)


def test_damaged_rows_are_made_again_for_it(tmp_path):
    path, question = tmp_path / "runs.db", "SELECT kind, text FROM rows ORDER BY version"
    with Journal.open(path) as journal:
        opened(journal, "r", "s", called(0, "a"), returned(1, "a", content="gold"), ended(2, "r"))
        whole = list(Audit(journal).sql(question).rows)
    with connect(views_of(path)) as views:
        [(page, size)] = views.execute(
            "SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size WHERE name = 'audit_rows'"
        )
    with views_of(path).open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    with Journal.open(path) as journal:
        assert list(Audit(journal).sql(question).rows) == whole
    assert [text for kind, text in whole if kind == "tool_return"] == ["gold"]
