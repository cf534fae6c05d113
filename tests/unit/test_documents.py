"""A checkpoint costs what changed, and is rebuilt exactly from a bounded chain."""

import pytest

from journal import Journal
from journal.documents import GROWTH, MAX_RUNS, SMALL
from journal.errors import BrokenBase, CorruptEvent
from journal.json_door import dumps
from tests import samples


def documents(journal, run_id="r"):
    return [e for e in journal.reader.run_events(run_id) if "delta" in e.data]


def text(n, size=500):
    return f"{n:04d}" + chr(97 + n % 26) * size


def history(n):
    return [samples.user(text(0))] + [samples.answer(text(i)) for i in range(1, n)]


def test_a_growing_history_is_held_as_what_is_new(journal):
    run = journal.run("r", session_id="s", conversation_id="c")
    given = [
        samples.checkpoint(f"k{n}", messages=history(n), stream_cursor=n) for n in range(1, 80)
    ]
    for one in given:
        run.checkpoint(one)
    held = documents(journal)
    assert [journal.reader.document(event) for event in held] == given
    written = sum(len(dumps(event.data)) for event in held)
    assert written < 3 * len(dumps(given[-1]))
    assert sum(map(len, map(dumps, given))) > 20 * written


def test_a_rebuild_reads_a_bounded_chain(journal):
    run = journal.run("r", session_id="s", conversation_id="c")
    for n in range(60):
        messages = [samples.user(text(n + k, 2000)) for k in range(4)]
        run.checkpoint(samples.checkpoint(f"k{n}", messages=messages, stream_cursor=n))
    held = documents(journal)
    whole = [event for event in held if "base_version" not in event.data]
    assert 1 < len(whole) < 30
    for event in held:
        size = len(dumps(journal.reader.document(event)))
        assert event.data["chain_bytes"] <= max(SMALL, GROWTH * size)


def test_a_run_starts_from_the_last_state_of_its_session(journal):
    messages = history(30)
    first = journal.run("r1", session_id="s", conversation_id="c")
    first.checkpoint(samples.checkpoint("k", "r1", messages=messages))
    first.export_context(samples.context(messages))
    second = journal.run("r2", session_id="s", conversation_id="c")
    second.checkpoint(samples.checkpoint("k", "r2", messages=messages))
    other = journal.run("r3", session_id="other", conversation_id="c")
    other.checkpoint(samples.checkpoint("k", "r3", messages=messages))
    [event] = documents(journal, "r2")
    assert event.data["base_stream"] == "run:r1"
    assert len(dumps(event.data)) < 2500
    assert "base_stream" not in documents(journal, "r3")[0].data
    assert journal.reader.document(event)["state"]["message_history"] == messages


def test_a_chain_reads_a_bounded_number_of_other_runs(journal):
    messages = history(200)
    for n in range(MAX_RUNS + 3):
        run = journal.run(f"r{n}", session_id="s", conversation_id="c")
        run.checkpoint(samples.checkpoint("k", f"r{n}", messages=messages))
    chains = [documents(journal, f"r{n}")[0].data["chain_runs"] for n in range(MAX_RUNS + 3)]
    assert chains == [*range(MAX_RUNS + 1), 0, 1]


def test_another_process_continues_the_chain(tmp_path):
    given = [samples.checkpoint(f"k{n}", messages=history(9 + n)) for n in range(3)]
    for one in given:
        with Journal.open(tmp_path / "j.db") as journal:
            journal.commit_checkpoint("s", one)
    with Journal.open(tmp_path / "j.db") as journal:
        held = documents(journal)
        assert [journal.reader.document(event) for event in held] == given
        assert ["base_version" in event.data for event in held] == [False, True, True]


def test_two_journals_on_one_file_write_to_one_run(tmp_path):
    with Journal.open(tmp_path / "j.db") as a, Journal.open(tmp_path / "j.db") as b:
        given = [samples.checkpoint(f"k{n}", messages=history(9 + n)) for n in range(6)]
        for n, one in enumerate(given):
            (a, b)[n % 2].commit_checkpoint("s", one)
        assert [a.reader.document(event) for event in documents(a)] == given
        assert b.commit_checkpoint("s", given[0]).repeated


def test_rebuilding_does_not_change_what_was_rebuilt_before(journal):
    run = journal.run("r", session_id="s", conversation_id="c")
    given = [samples.checkpoint(f"k{n}", messages=history(3 + n)) for n in range(3)]
    for one in given:
        run.checkpoint(one)
    held = documents(journal)
    rebuilt = journal.reader.document(held[1])
    rebuilt["state"]["message_history"].clear()
    assert [journal.reader.document(event) for event in held] == given


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_missing_event_is_noticed(tmp_path, tamper, version):
    path = tmp_path / "j.db"
    with Journal.open(path) as journal:
        for run_id in ("r1", "r2"):
            run = journal.run(run_id, session_id=run_id, conversation_id="c")
            run.append_many([samples.record(n) for n in range(4)])
    tamper(path, "run:r1", version, "DELETE FROM events")
    with Journal.open(path) as journal:
        with pytest.raises(CorruptEvent) as error:
            list(journal.reader.run_events("r1"))
        assert (error.value.stream, error.value.version) == ("run:r1", version)
        assert len(list(journal.reader.run_events("r2"))) == 5
        if version == 1:
            with pytest.raises(CorruptEvent):
                journal.run("r1")


@pytest.fixture
def damaged(tmp_path):
    """A file whose run r1 lost the base of everything that builds on it."""
    path = tmp_path / "j.db"
    with Journal.open(path) as journal:
        for run_id in ("r1", "r2"):
            run = journal.run(run_id, session_id="s", conversation_id="c")
            run.checkpoint(samples.checkpoint("k", run_id, messages=history(20)))
        journal.run("r3", session_id="other", conversation_id="c").append(samples.record(0))
    return path


def test_a_run_based_on_a_damaged_one_names_both(damaged, flip):
    flip(damaged, "run:r1", 2)
    with Journal.open(damaged) as journal:
        with pytest.raises(CorruptEvent) as error:
            list(journal.reader.run_events("r1"))
        assert (error.value.stream, error.value.version) == ("run:r1", 2)
        [event] = documents(journal, "r2")
        with pytest.raises(BrokenBase) as broken:
            journal.reader.document(event)
        assert broken.value.stream == "run:r2"
        assert broken.value.base_stream == "run:r1"
        assert [e.version for e in journal.reader.run_events("r3")] == [1, 2]
