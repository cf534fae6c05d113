"""A run may be opened with its first checkpoint, in one transaction."""

import asyncio

import pytest

from journal import AsyncJournal, Journal
from journal.errors import InvalidRecord, RecordConflict, RunConflict, RunIsLeased
from projections import replay
from tests import samples


def opened(journal, checkpoint, run_id="r", **ids):
    return journal.run(run_id, session_id="s", checkpoint=checkpoint, **ids)


def test_a_new_run_and_its_checkpoint_are_one_transaction(journal):
    taken = samples.checkpoint("k1")
    with opened(journal, taken) as run:
        assert journal.metrics().commits == 1
        assert replay(journal, "r").checkpoint == taken
        assert run.checkpoint(taken).repeated
        assert not run.checkpoint(samples.checkpoint("k2", stream_cursor=1)).repeated
        assert run.generation == 1


def test_a_run_that_exists_takes_the_checkpoint_on(journal):
    opened(journal, samples.checkpoint("k1")).release()
    with opened(journal, samples.checkpoint("k2", stream_cursor=1)) as run:
        assert run.generation == 2
    assert replay(journal, "r").checkpoint["checkpoint_id"] == "k2"


def test_a_refused_checkpoint_opens_nothing(journal):
    with pytest.raises(InvalidRecord):
        opened(journal, samples.checkpoint("k1", run_id="another"))
    with pytest.raises(RunConflict):
        opened(journal, samples.checkpoint("k1"), conversation_id="another")
    assert not journal.reader.has_run("r")


def test_a_conflict_gives_the_run_back(tmp_path):
    path = tmp_path / "runs.db"
    with Journal.open(path) as journal, Journal.open(path) as other:
        opened(journal, samples.checkpoint("k1")).release()
        with pytest.raises(RecordConflict):
            opened(journal, samples.checkpoint("k1", stream_cursor=3))
        with other.run("r"), pytest.raises(RunIsLeased):
            opened(journal, samples.checkpoint("k1"))


def test_a_fork_begins_with_its_first_own_checkpoint(journal):
    opened(journal, samples.checkpoint("k1")).release()
    view = replay(journal, "r")
    before = journal.metrics().commits
    own = samples.checkpoint("k2", "f", stream_cursor=0)
    with journal.fork(view, "f", checkpoint=own):
        assert journal.metrics().commits == before + 1
    assert replay(journal, "f").checkpoint == own


def test_an_asynchronous_run_begins_with_one_too():
    async def main():
        async with AsyncJournal.open("memory://") as journal:
            taken = samples.checkpoint("k1")
            run = await journal.run("r", session_id="s", checkpoint=taken)
            assert (await run.checkpoint(taken)).repeated
            view = replay(journal.sync, "r")
            fork = await journal.fork(view, "f", checkpoint=samples.checkpoint("k2", "f"))
            assert fork.run_id == "f"
            assert replay(journal.sync, "f").checkpoint["checkpoint_id"] == "k2"

    asyncio.run(main())
