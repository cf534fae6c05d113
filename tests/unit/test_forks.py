"""A fork begins with one event that says what it inherits, is safe to repeat, and costs little."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from journal import AsyncJournal, Journal
from journal.errors import InvalidRecord, RunConflict, RunIsLeased, RunNotFound
from journal.lineage import Lineage
from tests import samples
from tests.unit.fork_points import opening_of, point, record_steps


@pytest.fixture
def source(journal):
    with journal.run("r", session_id="s", conversation_id="c") as run:
        record_steps(run, 3)
    return run


def names(journal, run_id):
    return [event.name.removesuffix(".v1") for event in journal.reader.run_events(run_id)]


def test_its_first_event_says_what_it_inherits(journal, source):
    where = point(journal, "r", 1)
    with journal.fork(where, "f") as fork:
        assert (fork.run_id, fork.session_id, fork.conversation_id) == ("f", "s", "c")
    first = next(journal.reader.run_events("f"))
    assert Lineage.of(first.stream, first.data) == where.lineage
    assert opening_of(journal, "f").session_id == "s"
    assert names(journal, "f") == ["run.forked"]
    noted = [e.data["run_id"] for e in journal.reader.session_events("s") if "run_id" in e.data]
    assert noted == ["r", "f"]


def test_it_goes_on_with_records_of_its_own(journal, source):
    with journal.fork(point(journal, "r", 1), "f") as fork:
        assert fork.append(samples.record(2)).version == 2
        fork.checkpoint(samples.checkpoint("own", "f", stream_cursor=2))
    with journal.run("f") as fork:
        assert (fork.generation, fork.conversation_id) == (2, "c")
    journal.commit_checkpoint("s", samples.checkpoint("late", "f", stream_cursor=2))
    journal.set_status("f", "failed")
    assert names(journal, "f") == [
        "run.forked",
        "stream.recorded",
        "checkpoint.taken",
        "run.lease_taken",
        "checkpoint.taken",
        "run.status_changed",
    ]
    assert names(journal, "r")[-1] == "checkpoint.taken"


def test_it_has_the_conversation_of_its_source_and_of_no_other(journal, source):
    journal.fork(point(journal), "f").release()
    journal.fork(point(journal, "f"), "g").release()
    for run_id in ("f", "g"):
        assert opening_of(journal, run_id).conversation_id is None  # it is its source's
        with journal.run(run_id) as run, pytest.raises(RunConflict, match="conversation 'c'"):
            run.checkpoint(samples.checkpoint("x", run_id, conversation_id="other"))
        with pytest.raises(RunConflict, match="conversation 'c'"):
            journal.run(run_id, conversation_id="other")


def test_a_session_and_a_conversation_of_its_own_may_be_given(journal, source):
    where = point(journal)
    with journal.fork(where, "f", session_id="s2", conversation_id="c2") as fork:
        assert (fork.session_id, fork.conversation_id) == ("s2", "c2")
        fork.checkpoint(samples.checkpoint("x", "f", conversation_id="c2"))
    assert [e.data["run_id"] for e in journal.reader.session_events("s2")] == ["f"]
    with journal.run("f", session_id="s2") as fork:
        assert fork.conversation_id == "c2"


def test_a_fork_of_a_run_without_a_conversation_may_have_one(journal):
    journal.run("plain", session_id="s").release()
    journal.fork(point(journal, "plain", conversation_id=None), "f").release()
    with journal.run("f") as run:
        assert run.conversation_id is None
    with journal.fork(point(journal, "plain", conversation_id="c"), "g") as run:
        assert run.conversation_id == "c"
    assert opening_of(journal, "g").conversation_id == "c"


def test_the_same_fork_again_is_the_same(journal, source):
    where = point(journal, "r", 1)
    first = journal.fork(where, "f")
    with journal.fork(where, "f") as again:
        assert again.generation == first.generation == 1
    first.append(samples.record(2))
    first.release()
    with journal.fork(where, "f") as later:
        assert later.generation == 2
        assert later.append(samples.record(2)).repeated
    assert names(journal, "f") == ["run.forked", "stream.recorded", "run.lease_taken"]


def test_another_owner_of_the_fork_stands_in_the_way_until_it_is_released(tmp_path):
    path = tmp_path / "runs.db"
    with Journal.open(path) as one, Journal.open(path) as other:
        with one.run("r", session_id="s", conversation_id="c") as run:
            record_steps(run, 1)
        where = point(one)
        with one.fork(where, "f"), pytest.raises(RunIsLeased):
            other.fork(where, "f")
        with other.fork(where, "f") as fork:
            assert fork.generation == 2
        assert names(other, "f") == ["run.forked", "run.lease_taken"]


@pytest.mark.parametrize(
    ("as_run", "where", "said"),
    [
        ("r", {"sequence": 1}, "no fork"),
        ("other", {"sequence": 1}, "no fork"),
        ("f", {"sequence": 2}, "at stream:1, version 7 before 1.2.0"),
        ("f", {"sequence": 1, "version": 5}, "version 5 before"),
        ("f", {"sequence": 1, "until": 7}, "until 7"),
        ("f", {"sequence": 1, "forked": "other"}, "fork of other at stream:1.* of r'"),
        ("f", {"sequence": 1, "session_id": "s2"}, "session 's', not 's2'"),
        ("f", {"sequence": 1, "conversation_id": "c2"}, "conversation 'c', not 'c2'"),
    ],
)
def test_an_id_that_is_taken_is_a_conflict_that_says_by_what(journal, source, as_run, where, said):
    journal.run("other", session_id="s", conversation_id="c").release()
    journal.fork(point(journal, "r", 1), "f").release()
    before = journal.reader.last_position()
    with pytest.raises(RunConflict, match=said):
        journal.fork(point(journal, "r", **where), as_run)
    assert journal.reader.last_position() == before


def test_what_it_would_inherit_must_be_in_this_journal(journal, source):
    before = journal.reader.last_position()
    with pytest.raises(RunNotFound, match="elsewhere"):
        journal.fork(point(journal, "elsewhere", version=1), "f")
    with pytest.raises(InvalidRecord, match="8, but run 'r' has only 7 events"):
        journal.fork(point(journal, version=8), "f")
    with pytest.raises(InvalidRecord, match="source_version"):
        journal.fork(point(journal, version=0), "f")
    assert journal.reader.last_position() == before


@pytest.mark.parametrize("wrong", [{"as_run": ""}, {"session_id": ""}, {"conversation_id": ""}])
def test_empty_ids_are_refused(journal, source, wrong):
    with pytest.raises(InvalidRecord, match="non-empty"):
        journal.fork(point(journal), **({"as_run": "f"} | wrong))
    assert [*journal.reader.run_ids()] == ["r"]


def test_of_many_who_fork_at_once_each_id_becomes_one_fork(tmp_path):
    path = tmp_path / "runs.db"
    with Journal.open(path) as one, Journal.open(path) as other:
        with one.run("r", session_id="s", conversation_id="c") as run:
            record_steps(run, 3)

        def fork(at):
            # Even and odd ones want another point under the same id.
            journal = (one, other)[at % 4 // 2]
            try:
                journal.fork(point(journal, "r", at % 2), f"f{at // 8}").release()
            except (RunConflict, RunIsLeased) as error:
                return type(error).__name__
            return "forked"

        with ThreadPoolExecutor(16) as pool:
            ended = [*pool.map(fork, range(64))]
        assert "forked" in ended
        for at in range(8):
            assert names(one, f"f{at}").count("run.forked") == 1
            assert set(names(one, f"f{at}")) <= {"run.forked", "run.lease_taken"}
        noted = [e.data["run_id"] for e in one.reader.session_events("s")]
        assert sorted(noted) == ["f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "r"]


def test_of_many_who_open_a_run_with_a_checkpoint_one_opens_it(tmp_path):
    path = tmp_path / "runs.db"
    with Journal.open(path) as one, Journal.open(path) as other:

        def commit(at):
            taken = samples.checkpoint(f"k{at}", f"r{at // 8}", stream_cursor=at)
            return (one, other)[at % 2].commit_checkpoint("s", taken)

        with ThreadPoolExecutor(16) as pool:
            receipts = [*pool.map(commit, range(64))]
        assert not any(receipt.repeated for receipt in receipts)
        for at in range(8):
            assert names(one, f"r{at}") == ["run.opened"] + ["checkpoint.taken"] * 8
        assert len([*one.reader.session_events("s")]) == 8


@pytest.mark.anyio
async def test_it_can_be_awaited(tmp_path):
    async with AsyncJournal.open(tmp_path / "runs.db") as journal:
        async with await journal.run("r", session_id="s", conversation_id="c") as run:
            await run.append(samples.record(0))
        where = point(journal.sync)
        async with await journal.fork(where, "f", session_id="s2") as fork:
            assert fork.sync.session_id == "s2"
            await fork.append(samples.record(1))
        with pytest.raises(RunConflict):
            await journal.fork(where, "r")
    with pytest.raises(RunNotFound):
        async with AsyncJournal.open("memory://") as empty:
            await empty.fork(where, "f")
