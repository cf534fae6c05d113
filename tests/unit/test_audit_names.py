"""Names that readers share are those of the rows as they are now."""

from contextlib import closing

import pytest

from journal.ids import Position
from journal.stores import open_audit, open_store, sqlite_audit_names
from journal.stores.audit import Wanted
from tests.contract.audit_rows import facts, row
from tests.unit.view_files import journal_file


@pytest.fixture
def open_again(tmp_path):
    """A function that opens the same rows once more."""
    path = journal_file(tmp_path / "runs.db")
    opened = []

    def open_rows():
        store = open_store(path, create=False)
        opened.extend((store, open_audit(store, 1, in_memory=False)))
        return opened[-1]

    yield open_rows
    for each in reversed(opened):
        each.close()


def put(audit, *rows):
    with audit.writing() as writer:
        runs = [facts(each.run_id, each.position) for each in rows]
        writer.put(rows, runs, Position(rows[-1].position))


def read(audit):
    with audit.reading() as reader:
        found = list(reader.rows(Wanted()))
        runs = [each.run_id for each in found]
        assert set(reader.facts(runs)) == set(runs)
        assert {each.run_id for each in reader.runs()} == set(runs)
        return found


def test_rows_that_another_made_anew_have_their_own_names(open_again):
    audit, other = open_again(), open_again()
    put(audit, row(1, kind="alpha"), row(2, kind="beta"))
    assert read(audit) == [row(2, kind="beta"), row(1, kind="alpha")]
    with other.writing() as writer:
        writer.clear()
    put(other, row(1, kind="beta"), row(2, kind="gamma", run_id="run-2"))
    assert read(audit) == [row(2, kind="gamma", run_id="run-2"), row(1, kind="beta")]
    with audit.reading() as reader:
        assert list(reader.rows(Wanted(kinds={"alpha"}))) == []
        assert list(reader.rows(Wanted(kinds={"beta"}))) == [row(1, kind="beta")]


def test_a_name_that_came_later_is_found(open_again):
    audit = open_again()
    put(audit, row(1))
    with audit.reading() as reader:
        assert list(reader.rows(Wanted(kinds={"new"}))) == []
    put(audit, row(2, kind="new"))
    with audit.reading() as reader:
        assert list(reader.rows(Wanted(kinds={"new"}))) == [row(2, kind="new")]


def test_more_names_than_are_remembered_are_all_given(open_again, monkeypatch):
    monkeypatch.setattr(sqlite_audit_names, "_KEPT", 3)
    audit = open_again()
    rows = [row(at, run_id=f"run-{at}", call_id="c", text=f"text {at}") for at in range(1, 300)]
    put(audit, *rows)
    for _ in range(2):
        assert read(audit) == rows[::-1]
    with audit.reading() as reader, closing(reader.rows(Wanted())) as walk:
        first = next(walk)
        pairs = {(each.run_id, "c") for each in rows}
        assert {each.position for each in reader.calls(pairs)} == set(range(1, 300))
        assert [first, *walk] == rows[::-1]
