"""A store takes the lease of a run that goes on, and gives it back when the run ends or waits."""

import asyncio

import pytest

from journal import Journal
from journal.errors import RunIsLeased
from journal.events import RunLeaseTaken
from journal.hosts.starweaver import JournalSessionStore
from tests.contract.host_records import checkpoint, evidence, run, session


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.db"


@pytest.fixture
def store(path):
    with Journal.open(path) as journal:
        yield JournalSessionStore(journal)


@pytest.fixture
def other(path):
    with Journal.open(path) as journal:
        yield journal


def is_leased(journal, run_id="r1"):
    try:
        journal.run(run_id).release()
    except RunIsLeased:
        return True
    return False


ENDINGS = {
    "evidence": lambda store: store.commit_run_evidence(evidence()),
    "evidence that waits": lambda store: store.commit_run_evidence(evidence(status="waiting")),
    "a status": lambda store: store.update_run_status("s1", "r1", "cancelled"),
    "a status that waits": lambda store: store.update_run_status("s1", "r1", "waiting"),
    "a record": lambda store: store.append_run(run(status="completed")),
}


@pytest.mark.parametrize("end", ENDINGS.values(), ids=ENDINGS)
def test_a_run_is_leased_from_its_first_checkpoint_to_its_end(store, other, end):
    async def main():
        await store.save_session(session())
        await store.commit_checkpoint("s1", checkpoint())
        assert is_leased(other)
        await store.update_run_status("s1", "r1", "running")
        assert is_leased(other)
        await end(store)
        assert not is_leased(other)

    asyncio.run(main())


@pytest.mark.parametrize("status", ["waiting", "completed", "failed", "cancelled"])
def test_a_run_that_is_over_with_its_first_checkpoint_is_never_leased(store, other, status):
    asyncio.run(store.commit_checkpoint("s1", checkpoint(status=status)))
    assert not is_leased(other)


def test_a_checkpoint_that_is_recorded_takes_no_lease(store, other):
    with other.run("r1", session_id="s1", checkpoint=checkpoint()):
        pass
    asyncio.run(store.commit_checkpoint("s1", checkpoint()))
    assert not is_leased(other)
    asyncio.run(store.commit_checkpoint("s1", checkpoint("k2", step=1)))
    assert is_leased(other)
    taken = other.reader.run_events("r1", names=(RunLeaseTaken.NAME,))
    assert [event.data["taken"] for event in taken] == ["released", "released"]


def test_evidence_that_is_refused_gives_the_run_back(store, other):
    async def main():
        await store.commit_checkpoint("s1", checkpoint())
        with pytest.raises(Exception, match="already recorded"):
            await store.commit_run_evidence(evidence(checkpoints=[checkpoint(step=3)]))
        assert not is_leased(other)

    asyncio.run(main())
