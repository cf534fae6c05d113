"""What another journal tells does not reopen a run that ended in this one."""

import pytest

from journal import Journal
from journal.errors import InvalidLine
from journal.export import export_all
from journal.ingest import Ingest
from journal.json_door import dumps
from journal.run_status import current_status
from tests import samples

LINES = {
    "suspended": {"type": "event", "name": "run.suspended.v1", "data": {"reason": "elsewhere"}},
    "status": {"type": "event", "name": "run.status_changed.v1", "data": {"status": "waiting"}},
    "resumed": {"type": "event", "name": "run.resumed.v1", "data": {"attempt": 9}},
    "saved": {"type": "run", "run": samples.run_record(status="running")},
    "evidence": {
        "type": "run_evidence",
        "commit": samples.bundle(samples.run_record(status="waiting")),
    },
}


def line(which):
    made = LINES[which]
    return dumps({**made, "run_id": "r"} if made["type"] == "event" else made)


def end(journal, status="completed"):
    with journal.run("r", session_id="s", conversation_id="c") as run:
        run.checkpoint(samples.checkpoint())
        run.suspend("a person decides")
        run.resume()
        run.set_status(status)


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
@pytest.mark.parametrize("which", LINES)
def test_no_line_reopens_a_run_that_ended_here(journal, which, status):
    end(journal, status)
    head = journal.reader.head("r")
    with pytest.raises(InvalidLine, match=f"line 1: run 'r' is {status}, and .* fork the run"):
        Ingest(journal).read([line(which)])
    assert (journal.reader.head("r"), current_status(journal.reader, "r")) == (head, status)


@pytest.mark.parametrize("which", LINES)
def test_no_line_reopens_a_run_whose_evidence_was_committed_here(journal, which):
    journal.commit_run_evidence(samples.bundle(samples.run_record(status="completed")))
    told = "evidence commit" if which == "evidence" else "is completed"
    with pytest.raises(InvalidLine, match=told):
        Ingest(journal).read([line(which)])
    assert current_status(journal.reader, "r") == "completed"


@pytest.mark.parametrize("which", LINES)
def test_that_another_journal_ends_it_as_well_does_not_let_it_reopen_the_run(journal, which):
    end(journal)
    told = {"name": "run.status_changed.v1", "data": {"status": "completed", "reason": "too"}}
    Ingest(journal).read([dumps({"type": "event", "run_id": "r", **told})])
    with pytest.raises(InvalidLine, match=r"line 1: run 'r' is completed, and .* fork the run"):
        Ingest(journal).read([line(which)])
    assert current_status(journal.reader, "r") == "completed"


def test_it_may_be_passed_over(journal):
    end(journal)
    counts = Ingest(journal, keep_going=True).read([line("suspended"), line("resumed")])
    assert [each.line for each in counts.refused] == [1, 2]
    assert not counts.recorded


def test_what_another_journal_tells_of_its_own_run_is_taken_in(journal):
    with Journal.open("memory://") as other:
        end(other)
        lines = [dumps(each) for each in export_all(other.reader)]
        Ingest(journal).read(lines)
        assert not Ingest(journal).read(lines).recorded
        with other.run("r") as run:
            run.suspend("once more")
        Ingest(journal).read(map(dumps, export_all(other.reader)))
    assert current_status(journal.reader, "r") == "waiting"


def test_reading_its_own_lines_again_changes_nothing(journal):
    end(journal)
    lines = [dumps(each) for each in export_all(journal.reader)]
    assert not Ingest(journal).read(lines).recorded
    assert current_status(journal.reader, "r") == "completed"


def test_a_run_that_waits_here_may_go_on_elsewhere(journal):
    with journal.run("r", session_id="s", conversation_id="c") as run:
        run.suspend("a person decides")
    assert Ingest(journal).read([line("resumed")]).recorded == {"event": 1}
    assert current_status(journal.reader, "r") == "running"
