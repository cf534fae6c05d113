"""A fork's first document is held as a difference from the last one it inherits."""

import pytest

from journal import Journal
from journal.documents import MAX_RUNS
from tests import samples
from tests.unit.fork_points import bases, history, point, record_steps


@pytest.fixture
def source(journal):
    """Run r: for each of 20 steps a record (even versions) and a checkpoint (odd ones)."""
    with journal.run("r", session_id="s", conversation_id="c") as run:
        record_steps(run, 20)
    return run


def first_checkpoint(fork, messages):
    taken = samples.checkpoint("own", fork.run_id, stream_cursor=99, messages=messages)
    fork.checkpoint(taken)
    return taken


def document(journal, run_id):
    [event] = [e for e in journal.reader.run_events(run_id) if "delta" in e.data]
    return journal.reader.document(event)


@pytest.mark.parametrize(("sequence", "base"), [(None, 41), (19, 41), (7, 17), (0, 3)])
def test_it_builds_on_the_last_checkpoint_before_the_point(journal, source, sequence, base):
    with journal.fork(point(journal, "r", sequence), "f") as fork:
        taken = first_checkpoint(fork, [*history(5), samples.user("something else")])
    assert bases(journal, "f") == [("run:r", base)]
    assert document(journal, "f") == taken


def test_it_costs_what_is_new_also_far_from_the_end_of_the_source(journal, source):
    with journal.fork(point(journal, "r", 7), "f") as fork:
        first_checkpoint(fork, [*history(8), samples.user("something else")])
    [taken] = [e for e in journal.reader.run_events("f") if "delta" in e.data]
    assert len(str(taken.data["delta"])) < 500


def test_a_version_and_a_time_bound_what_is_inherited(journal, source):
    events = [*journal.reader.run_events("r")]
    with journal.fork(point(journal, version=20), "by version") as fork:
        first_checkpoint(fork, [])
    with journal.fork(point(journal, until=events[8].recorded_at), "by time") as fork:
        first_checkpoint(fork, [])
    assert bases(journal, "by version") == [("run:r", 19)]
    [(stream, version)] = bases(journal, "by time")
    assert stream == "run:r"
    assert version % 2
    assert events[version - 1].recorded_at <= events[8].recorded_at


def test_it_builds_on_its_source_in_another_session_too(journal, source):
    with journal.fork(point(journal), "f", session_id="elsewhere") as fork:
        first_checkpoint(fork, history(3))
    assert bases(journal, "f") == [("run:r", 41)]


def test_before_the_first_checkpoint_it_builds_on_the_last_of_its_session(journal, source):
    with journal.run("later", session_id="s", conversation_id="c") as run:
        run.append(samples.record(0))
        where = point(journal, "later", 0)
        record_steps(run, 1, first=1)
    with journal.fork(where, "f") as fork:
        first_checkpoint(fork, history(1))
    assert bases(journal, "f") == [("run:later", 4)]


def test_what_a_fork_inherits_is_looked_for_along_its_ancestors(journal, source):
    journal.fork(point(journal, "r", 7), "f").release()
    journal.fork(point(journal, "f"), "g").release()
    with journal.fork(point(journal, "g"), "h") as fork:
        first_checkpoint(fork, history(8))
        record_steps(fork, 2, first=100)
    assert bases(journal, "h") == [("run:r", 17), ("run:h", 2), ("run:h", 4)]


def test_a_new_run_of_a_session_builds_on_what_its_last_fork_inherits(journal, source):
    for at in range(20):
        journal.fork(point(journal, "r", 7), f"f{at}").release()
    with journal.run("next", session_id="s", conversation_id="c") as run:
        first_checkpoint(run, history(8))
    assert bases(journal, "next") == [("run:r", 17)]


def test_contexts_and_environments_build_on_inherited_ones(journal, source):
    with journal.run("r") as run:
        run.export_environment({"provider_id": "e", "text": "x" * 500})
        run.export_context(samples.context(history(20)))
    with journal.fork(point(journal), "f", session_id="elsewhere") as fork:
        fork.export_environment({"provider_id": "e", "text": "x" * 500, "more": 1})
        fork.export_context(samples.context(history(21)))
    assert bases(journal, "f") == [("run:r", 43), ("run:r", 44)]


def test_long_lines_of_forks_are_held_whole_now_and_then(journal, source):
    for at in range(MAX_RUNS + 4):
        with journal.fork(point(journal, f"f{at - 1}" if at else "r"), f"f{at}") as fork:
            taken = first_checkpoint(fork, history(3))
    runs = [
        event.data["chain_runs"]
        for at in range(MAX_RUNS + 4)
        for event in journal.reader.run_events(f"f{at}")
        if "delta" in event.data
    ]
    assert runs == [*range(1, MAX_RUNS + 1), 0, 1, 2, 3]
    assert document(journal, f"f{MAX_RUNS + 3}") == taken


def test_a_fork_does_not_share_the_damage_of_its_source(tmp_path, flip):
    path = tmp_path / "runs.db"
    with Journal.open(path) as journal:
        with journal.run("r", session_id="s", conversation_id="c") as run:
            record_steps(run, 3)
        journal.fork(point(journal), "f").release()
        journal.fork(point(journal), "g").release()
    flip(path, "run:r", 7)
    with Journal.open(path) as journal:
        with journal.run("f") as fork:
            taken = first_checkpoint(fork, history(3))
        assert bases(journal, "f") == [None]
        assert document(journal, "f") == taken
    flip(path, "run:r", 1)
    with Journal.open(path) as journal, journal.run("g") as fork:
        first_checkpoint(fork, history(3))
        assert bases(journal, "g") == [("run:f", 3)]  # the last of the session


def test_what_the_source_goes_on_with_changes_nothing(journal, source):
    with journal.fork(point(journal), "f") as fork:
        taken = first_checkpoint(fork, history(20))
    with journal.run("r") as run:
        record_steps(run, 10, first=20)
    assert document(journal, "f") == taken
    with journal.fork(point(journal, "r", 19, version=41), "g") as fork:
        first_checkpoint(fork, history(20))
    assert bases(journal, "g") == [("run:r", 41)]
