"""The asynchronous journal has the same verbs, and many tasks may append at once."""

import asyncio
import inspect

import pytest

from journal import AsyncJournal, AsyncRun, Journal, JournalError, Run
from journal.errors import JournalClosed, RecordConflict
from journal.events import Operator
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
        await journal.commit_checkpoint("s", samples.checkpoint("k2"), must_exist=True)
        await journal.append_records("s", "r", [samples.record(60)])
        await journal.save_cursor("s", "r", samples.stream_cursor(70))
        await journal.save_session(samples.session_record())
        await journal.set_session_status("s", "archived")
        await journal.save_context("s", samples.context())
        await journal.save_environment("s", {"provider": "p", "reference": "x"})
        await journal.save_run(samples.run_record(status="waiting"))
        claim = samples.resume_claim()
        await journal.claim_resume(claim)
        await journal.release_resume("r", "x")
        await journal.claim_resume(claim)
        await journal.start_resume("r", "x")
        ann = Operator(user="ann", host="web1")
        await journal.request_suspend("r", "lunch", ann)
        await journal.allow_resume("r", ann, rerun=["call-1"])
        await journal.set_status("r", "running", output_preview="so far")
        both = {"archive": True, "replay": True}
        await journal.commit_run_evidence(samples.bundle(publication_targets=both), suspended="why")
        await journal.acknowledge_publication("r", "archive")
        assert await journal.run_record("r") == samples.run_record()
        assert await journal.session_record("s") == samples.session_record()
        events = await journal.call(lambda: list(journal.sync.reader.run_events("r")))
    assert [event.name.removesuffix(".v1") for event in events[11:]] == [
        "run.resumed",
        "checkpoint.taken",
        "stream.recorded",
        "cursor.saved",
        "cursor.saved",
        "run.saved",
        "resume.claimed",
        "resume.released",
        "resume.claimed",
        "resume.started",
        "run.suspend_requested",
        "resume.allowed",
        "run.status_changed",
        "run.committed",
        "run.suspended",
        "publication.acknowledged",
    ]


@pytest.mark.anyio
async def test_it_can_be_opened_and_closed_by_hand(tmp_path):
    journal = await AsyncJournal.open(tmp_path / "j.db")
    await journal.close()
    with pytest.raises(JournalError):
        await AsyncJournal.open(tmp_path / "none.db", create=False)


def verbs(kind):
    return {
        name: [p for p in inspect.signature(member).parameters if p != "self"]
        for level in reversed(kind.__mro__)
        for name, member in vars(level).items()
        if not name.startswith("_") and inspect.isfunction(member)
    }


WRITING = ("status_change", "transition", "write_decided", "write_decided_soon")
"""What the verbs of both kinds of run give their offers to, besides what writes them."""

MADE_OF = {
    "commit_bundle",
    "decide",
    "dropping",
    "held",
    "is_committed",
    "is_same",
    "numbered",
    "opening",
    "session_of",
    "write_offers",
}
"""What the verbs of a journal, and other modules, are made of."""


def test_the_asynchronous_run_has_every_verb_of_the_run():
    ours = verbs(Run)
    for name in (*WRITING, "write", "write_soon"):
        del ours[name]
    assert verbs(AsyncRun) == ours


def test_the_asynchronous_journal_has_the_verbs_of_the_journal():
    ours = verbs(AsyncJournal)
    for name, parameters in verbs(Journal).items():
        if name not in MADE_OF:
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
