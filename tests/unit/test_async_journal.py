"""The asynchronous journal has the same verbs, and many tasks may append at once."""

import asyncio
import inspect

import pytest

from journal import AsyncJournal, AsyncRun, Journal, JournalError, Run
from journal.errors import JournalClosed, RecordConflict
from tests import samples


@pytest.mark.anyio
async def test_many_tasks_append_at_once(tmp_path):
    async with AsyncJournal.open(tmp_path / "j.db") as journal:
        runs = [await journal.run(f"r{n}", session_id="s") for n in range(8)]
        receipts = await asyncio.gather(
            *(run.append(samples.record(n)) for run in runs for n in range(20))
        )
        assert len({receipt.position for receipt in receipts}) == 160
        assert (await runs[0].append(samples.record(3))).repeated
        with pytest.raises(RecordConflict):
            await runs[0].append(samples.delta(3, "x"))
    with Journal.open(tmp_path / "j.db", create=False) as journal:
        for n in range(8):
            events = list(journal.reader.run_events(f"r{n}"))
            assert [e.version for e in events] == list(range(1, 22))


@pytest.mark.anyio
async def test_every_verb_reaches_the_journal():
    async with AsyncJournal.open("memory://") as journal:
        async with await journal.run("r", session_id="s", conversation_id="c") as run:
            assert run.run_id == "r"
            await run.append_many([samples.record(0), samples.record(1)])
            await run.checkpoint(samples.checkpoint())
            await run.export_context(samples.context())
            await run.export_environment({"provider_id": "e", "metadata": {}})
            await run.approval(samples.approval())
            await run.deferred_tool(samples.deferred_tool())
            await run.save_cursor(samples.stream_cursor())
            await run.set_status("waiting")
            await run.suspend("why")
            await run.resume()
        with pytest.raises(JournalClosed):
            await run.append(samples.record(2))
        await journal.commit_checkpoint("s", samples.checkpoint("k2"))
        await journal.save_session(samples.session_record())
        await journal.save_run(samples.run_record(status="running"))
        claim = samples.resume_claim()
        await journal.claim_resume(claim)
        await journal.release_resume("r", "x")
        await journal.commit_run_evidence(samples.bundle())
        assert await journal.run_record("r") == samples.run_record()
        assert await journal.session_record("s") == samples.session_record()
        events = await journal.call(lambda: list(journal.sync.reader.run_events("r")))
    assert len(events) == 17


@pytest.mark.anyio
async def test_it_can_be_opened_and_closed_by_hand(tmp_path):
    journal = await AsyncJournal.open(tmp_path / "j.db")
    await journal.close()
    with pytest.raises(JournalError):
        await AsyncJournal.open(tmp_path / "none.db", create=False)


def verbs(kind):
    return {
        name: [p for p in inspect.signature(member).parameters if p != "self"]
        for name, member in vars(kind).items()
        if not name.startswith("_") and inspect.isfunction(member)
    }


def test_the_asynchronous_run_has_every_verb_of_the_run():
    ours = verbs(Run)
    del ours["write"], ours["write_soon"]  # what both give their offers to
    assert verbs(AsyncRun) == ours


def test_the_asynchronous_journal_has_the_verbs_of_the_journal():
    ours = verbs(AsyncJournal)
    for name, parameters in verbs(Journal).items():
        if name not in {"held", "is_committed", "is_same", "opening", "write_offers"}:
            assert ours[name] == parameters


@pytest.mark.anyio
async def test_what_was_handed_in_may_be_changed_while_it_is_being_written(tmp_path):
    async with AsyncJournal.open(tmp_path / "j.db") as journal:
        taken = samples.checkpoint()
        session = samples.session_record()
        calls = [
            asyncio.create_task(journal.commit_checkpoint("s", taken)),
            asyncio.create_task(journal.save_session(session)),
        ]
        await asyncio.sleep(0)
        taken.clear()
        session.clear()
        await asyncio.gather(*calls)
        [event] = journal.sync.reader.run_events("r", names=("checkpoint.taken.v1",))
        assert journal.sync.reader.document(event) == samples.checkpoint()
        assert await journal.session_record("s") == samples.session_record()
