"""The doctor names forks whose source is missing or shorter than what they inherit."""

import pytest

from journal import Journal
from journal.doctor import examine
from tests import samples
from tests.unit.care_files import behind_the_guards, rewrite
from tests.unit.fork_points import history, point, record_steps


@pytest.fixture
def path(tmp_path):
    """Run r, its forks f (which has a checkpoint of its own) and g, and h, forked from g."""
    path = tmp_path / "runs.db"
    with Journal.open(path) as journal:
        with journal.run("r", session_id="s", conversation_id="c") as run:
            record_steps(run, 4)
        with journal.fork(point(journal), "f") as fork:
            fork.checkpoint(samples.checkpoint("own", "f", stream_cursor=9, messages=history(5)))
        journal.fork(point(journal, "r", 1), "g").release()
        journal.fork(point(journal, "g"), "h", session_id="elsewhere").release()
    return path


def found(path, *, quick=True):
    return [(each.code, each.stream, each.version) for each in examine(path, quick=quick).findings]


@pytest.mark.parametrize("quick", [True, False])
def test_nothing_is_found_in_sound_forks(path, quick):
    assert found(path, quick=quick) == []


def test_a_source_that_lost_its_last_events_is_named_by_its_forks(path):
    behind_the_guards(
        path,
        "DELETE FROM events WHERE version > 7 AND "
        "stream = (SELECT key FROM streams WHERE name = 'run:r')",
    )
    told = examine(path, quick=True).findings
    assert [(each.stream, each.version) for each in told if each.code == "fork.source"] == [
        ("run:f", 1),
        ("run:g", 1),
    ]
    [what, _] = [each.what for each in told if each.code == "fork.source"]
    assert "fork of run 'r'" in what
    assert "it has 7 events, its fork inherits 9" in what


def test_a_source_that_is_missing_is_named(path):
    behind_the_guards(
        path, "DELETE FROM events WHERE stream = (SELECT key FROM streams WHERE name = 'run:g')"
    )
    assert ("fork.source", "run:h", 1) in found(path)


def test_a_source_that_begins_after_its_fork_is_named(path):
    data = b'{"run_id":"f","session_id":"s","source":"h","source_version":1,"cursor":"latest"}'
    rewrite(path, "run:f", 1, codec=0, data=data)
    [fault] = [each for each in examine(path, quick=True).findings if each.code == "fork.source"]
    assert (fault.stream, fault.version) == ("run:f", 1)
    assert "it begins after its fork" in fault.what


def test_a_lineage_of_another_shape_is_a_damaged_event(path):
    data = (
        b'{"run_id":"f","session_id":"s","source":"r","source_version":1,"cursor":"c","before":[]}'
    )
    rewrite(path, "run:f", 1, codec=0, data=data)
    assert ("event.damaged", "run:f", 1) in found(path)


def test_a_damaged_source_names_only_the_forks_that_build_on_what_is_damaged(path, flip):
    flip(path, "run:r", 9)
    assert {each for each in found(path, quick=False) if each[1] != "run:r"} == {
        ("document.broken", "run:f", 2)
    }


def test_the_note_of_a_fork_that_was_deleted_is_missed(path):
    behind_the_guards(
        path,
        "DELETE FROM events WHERE stream = (SELECT key FROM streams WHERE name = ?)",
        "session:elsewhere",
    )
    assert "session.lacks_run" in [code for code, _, _ in found(path)]
