"""A session numbers its runs from 1; a run keeps its number, and no two have the same."""

import pytest

from journal import Journal
from journal.errors import RunConflict, StateConflict
from journal.export import export_all, export_run
from journal.ingest import Ingest
from journal.json_door import dumps
from journal.numbers import SESSIONS, SessionNumbers
from tests import samples


def saved(journal, run_id, sequence_no=0, session_id="s", **fields):
    made = samples.run_record(run_id, session_id, "running", sequence_no=sequence_no, **fields)
    return journal.save_run(made)


def numbers(journal, session_id="s"):
    fold = SessionNumbers()
    for event in journal.reader.session_events(session_id):
        fold.take(event)
    return fold.of


def events(journal):
    return journal.reader.last_position()


def test_a_number_of_0_is_the_next_one_of_the_session(journal):
    for run_id in ("a", "b", "c"):
        saved(journal, run_id)
    saved(journal, "other", session_id="s2")
    assert numbers(journal) == {"a": 1, "b": 2, "c": 3}
    assert numbers(journal, "s2") == {"other": 1}


def test_the_next_number_is_above_the_highest(journal):
    saved(journal, "a", 7)
    saved(journal, "b")
    saved(journal, "c", 3)
    saved(journal, "d")
    assert numbers(journal) == {"a": 7, "b": 8, "c": 3, "d": 9}


def test_every_way_to_open_a_run_takes_a_number(journal):
    journal.run("live", session_id="s", conversation_id="c").release()
    journal.commit_checkpoint("s", samples.checkpoint(run_id="checkpointed"))
    journal.commit_run_evidence(samples.bundle(samples.run_record("committed")))
    saved(journal, "saved")
    assert numbers(journal) == {"live": 1, "checkpointed": 2, "committed": 3, "saved": 4}


def test_the_number_of_another_run_is_refused_and_nothing_is_written(journal):
    saved(journal, "a")
    journal.run("live", session_id="s").release()
    before = events(journal)
    for taken in (1, 2):
        with pytest.raises(StateConflict, match=f"cannot be number {taken} .*leave sequence_no"):
            saved(journal, "b", taken)
        with pytest.raises(StateConflict):
            journal.commit_run_evidence(samples.bundle(samples.run_record("b", sequence_no=taken)))
    assert events(journal) == before
    assert not journal.reader.has_run("b")


def test_a_run_keeps_its_number(journal):
    saved(journal, "told", 5)
    saved(journal, "chosen")
    journal.commit_checkpoint("s", samples.checkpoint(run_id="checkpointed"))
    before = events(journal)
    for run_id in ("told", "chosen", "checkpointed"):
        with pytest.raises(StateConflict, match=f"run '{run_id}' is number"):
            saved(journal, run_id, 99)
    assert events(journal) == before
    saved(journal, "told", 5, profile="p")
    saved(journal, "told", 0, profile="q")
    assert numbers(journal) == {"told": 5, "chosen": 6, "checkpointed": 7}


def test_the_first_record_of_a_run_that_was_opened_without_may_tell_its_number(journal):
    journal.run("a", session_id="s").release()
    journal.run("b", session_id="s").release()
    saved(journal, "b", 7)
    with pytest.raises(StateConflict):
        saved(journal, "b", 8)
    saved(journal, "a")
    with pytest.raises(StateConflict, match="is number 1"):
        saved(journal, "a", 9)
    saved(journal, "c")
    assert numbers(journal) == {"a": 1, "b": 7, "c": 8}


def test_a_run_of_another_session_is_a_conflict_of_runs(journal):
    saved(journal, "a")
    with pytest.raises(RunConflict, match="session"):
        saved(journal, "a", session_id="s2")


def test_the_same_record_again_is_the_same(journal):
    first = saved(journal, "a", 3)
    before = events(journal)
    again = saved(journal, "a", 3)
    assert (again.version, again.position, again.repeated) == (*first[:2], True)
    assert events(journal) == before


def test_numbers_travel(journal):
    saved(journal, "a", 4)
    journal.run("live", session_id="s").release()
    saved(journal, "b")
    with Journal.open("memory://") as copy:
        Ingest(copy).read(map(dumps, export_all(journal.reader)))
        assert numbers(copy) == numbers(journal) == {"a": 4, "live": 5, "b": 6}
    with Journal.open("memory://") as copy:
        Ingest(copy).read(map(dumps, export_run(journal.reader, "b")))
        assert numbers(copy) == {"b": 6}


def test_two_journals_on_one_file_never_give_a_number_twice(tmp_path):
    with Journal.open(tmp_path / "j.db") as one, Journal.open(tmp_path / "j.db") as two:
        for n in range(10):
            saved((one, two)[n % 2], f"r{n}")
        with pytest.raises(StateConflict):
            saved(one, "again", 10)
        assert sorted(numbers(one).values()) == list(range(1, 11))


def test_runs_of_a_journal_without_numbers_have_them_in_order(journal):
    """Journals of older versions hold no number at all, and records with any."""
    for run_id in ("a", "b"):
        journal.write_offers(journal.opening(run_id, "s"))
    saved(journal, "c")
    assert numbers(journal) == {"a": 1, "b": 2, "c": 3}


def test_a_session_goes_on_where_it_was_after_many_others():
    with Journal.open("memory://") as journal:
        for run_id in ("a", "b"):
            for session in range(SESSIONS + 5):
                saved(journal, f"{run_id}{session}", session_id=f"s{session}")
        for session in range(SESSIONS + 5):
            assert [*numbers(journal, f"s{session}").values()] == [1, 2]
