"""An exported environment has its place in the run, also where records arrive later."""

import pytest

from journal import Journal
from journal.errors import InvalidLine, InvalidRecord
from journal.export import export_run
from journal.ingest import Ingest
from journal.json_door import dumps
from projections import CheckpointCursor, StreamCursor, log, replay
from tests.samples import checkpoint, record


def state(content):
    return {"provider_id": "ws", "files": {"a": content}, "metadata": {"provider_kind": "virtual"}}


def content(journal, at, run_id="r"):
    found = replay(journal, run_id, at=at).environment_state
    return None if found is None else found["files"]["a"]


def recorded_ahead(run):
    """Checkpoints and environments of three boundaries, before any of the records."""
    for number, cursor in enumerate((2, 5, 7)):
        run.export_environment(state(f"{number}"), stream_cursor=cursor)
        run.checkpoint(checkpoint(f"k{number}", stream_cursor=cursor, step=number))
    run.append_many([record(sequence) for sequence in range(9)])


EXPECTED = [None, None, "0", "0", "0", "1", "1", "2", "2"]


def test_a_told_place_counts_whatever_arrives_when(journal):
    with journal.run("r", session_id="s") as run:
        recorded_ahead(run)
    assert [content(journal, StreamCursor(at)) for at in range(9)] == EXPECTED
    for number in range(3):
        assert content(journal, CheckpointCursor(f"k{number}")) == str(number)


def test_the_place_is_the_same_when_views_were_made_before_it_arrived(journal):
    with journal.run("r", session_id="s") as run:
        run.append_many([record(sequence) for sequence in range(9)])
        assert content(journal, StreamCursor(8)) is None
        run.export_environment(state("late"), stream_cursor=3)
    assert [content(journal, StreamCursor(at)) for at in (2, 3, 8)] == [None, "late", "late"]


def test_without_a_told_place_it_comes_after_all_that_arrived(journal):
    with journal.run("r", session_id="s") as run:
        run.append(record(4))
        run.export_environment(state("x"))
        run.append(record(3))
    assert [content(journal, StreamCursor(at)) for at in (3, 4)] == [None, "x"]


def test_an_equal_state_is_the_same_wherever_it_is_exported_again(journal):
    with journal.run("r", session_id="s") as run:
        first = run.export_environment(state("x"), stream_cursor=1)
        again = run.export_environment(state("x"), stream_cursor=4)
        other = run.export_environment(state("x"))
    assert (again.version, again.repeated) == (first.version, True)
    assert (other.version, other.repeated) == (first.version, True)


def test_the_place_travels(journal):
    with journal.run("r", session_id="s") as run:
        recorded_ahead(run)
    lines = [dumps(line) for line in export_run(journal.reader, "r")]
    with Journal.open("memory://") as copy:
        Ingest(copy).read(lines)
        Ingest(copy).read(lines)
        assert [content(copy, StreamCursor(at)) for at in range(9)] == EXPECTED
        places = [[entry.anchor for entry in log(one, "r")] for one in (journal, copy)]
        assert places[0] == places[1]


def test_a_fork_at_a_checkpoint_has_its_environment(journal):
    with journal.run("r", session_id="s") as run:
        recorded_ahead(run)
    view = replay(journal, "r", at=CheckpointCursor("k1"))
    with journal.fork(view, "f") as fork:
        assert content(journal, "latest", "f") == "1"
        fork.export_environment(state("own"))
    assert content(journal, "latest", "f") == "own"
    assert content(journal, "latest") == "2"


@pytest.mark.parametrize("wrong", [-1, 2**64, True, 1.0, "3"])
def test_a_place_that_is_no_sequence_is_refused(journal, wrong):
    with journal.run("r", session_id="s") as run:
        head = journal.reader.head("r")
        with pytest.raises(InvalidRecord, match=r"\$\.stream_cursor: an integer from 0"):
            run.export_environment(state("x"), stream_cursor=wrong)
    line = {"type": "environment_state", "session_id": "s", "run_id": "r", "state": state("x")}
    assert dumps({**line, "stream_cursor": 0}).endswith(b":0}")
    text = dumps({**line, "stream_cursor": 0})[:-2] + f"{wrong!r}".lower().encode() + b"}"
    with pytest.raises(InvalidLine, match=r"stream_cursor"):
        Ingest(journal).read([text.replace(b"'", b'"')])
    assert journal.reader.head("r") == head


def test_the_hook_leaves_the_place(tmp_path):
    def hide(value, path, _kind):
        return "hidden" if path == "$.files.a" else value

    with Journal.open(tmp_path / "runs.db", redact=hide) as journal:
        with journal.run("r", session_id="s") as run:
            run.append_many([record(sequence) for sequence in range(3)])
            run.export_environment(state("secret"), stream_cursor=1)
        assert [content(journal, StreamCursor(at)) for at in (0, 1)] == [None, "hidden"]
