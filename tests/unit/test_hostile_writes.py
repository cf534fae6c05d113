"""What a careless or hostile host hands in is refused in our words, or kept exactly."""

import os
import threading

import pytest

from journal import AsyncJournal, Journal, JournalError
from journal.errors import (
    FixInput,
    InvalidJSON,
    InvalidLine,
    InvalidRecord,
    JournalClosed,
    JournalForked,
    RunConflict,
)
from journal.export import export_all
from journal.ingest import Ingest
from journal.json_door import dumps
from journal.stream_memory import MAX_DOCUMENT_BYTES
from tests import samples


def ingest(journal, *lines):
    return Ingest(journal).read(
        [line if isinstance(line, bytes) else dumps(line) for line in lines]
    )


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return value


def test_a_bundle_too_large_to_be_read_again_is_refused(journal):
    messages = [{"text": "x" * 2**20} for _ in range(70)]
    with pytest.raises(InvalidRecord, match=r"display_messages.*over the limit"):
        journal.commit_run_evidence(samples.bundle(display_messages=messages))
    assert not journal.reader.has_run("r")
    with pytest.raises(InvalidJSON, match="over the limit"):
        journal.run("r", session_id="s").set_status("failed", reason="x" * (70 << 20))


def test_what_is_accepted_alone_is_accepted_in_a_bundle_and_a_line(journal):
    record = {"sequence": 0, "event": {"kind": "unheard_of", "x": nested(198)}}
    journal.run("r", session_id="s", conversation_id="c").append(record)
    bundle = samples.bundle(stream_records=[record], display_messages=[{"x": nested(199)}])
    journal.commit_run_evidence(bundle)
    with Journal.open("memory://") as other:
        ingest(other, {"type": "run_evidence", "commit": bundle})
        assert other.commit_run_evidence(bundle).repeated
    with Journal.open("memory://") as copy:
        ingest(copy, *export_all(journal.reader))


@pytest.mark.parametrize("ids", [{"run_id": "other"}, {"session_id": "other"}])
@pytest.mark.parametrize("key", ["approvals", "deferred_tools"])
def test_a_bundle_writes_to_its_own_run_only(journal, ids, key):
    journal.run("other", session_id="other")
    make = samples.approval if key == "approvals" else samples.deferred_tool
    with pytest.raises(InvalidRecord, match=rf"\$\.{key}\[0\]\.(run|session)_id"):
        journal.commit_run_evidence(samples.bundle(**{key: [make(**ids)]}))
    assert journal.reader.head("other") == 1
    assert not journal.reader.has_run("r")


def test_a_cursor_of_another_run_is_refused(journal):
    run = journal.run("r", session_id="s")
    with pytest.raises(InvalidRecord, match="scope"):
        run.save_cursor(samples.stream_cursor(run_id="other"))
    cursors = [samples.stream_cursor(run_id="other")]
    with pytest.raises(InvalidRecord, match=r"stream_cursors\[0\]\.position\.scope"):
        journal.commit_run_evidence(samples.bundle(stream_cursors=cursors))


def test_a_checkpoint_of_another_conversation_is_refused(journal):
    run = journal.run("r", session_id="s", conversation_id="c")
    with pytest.raises(RunConflict, match="conversation"):
        run.checkpoint(samples.checkpoint(conversation_id="other"))


def test_two_who_open_a_run_at_once_both_succeed_when_they_agree(tmp_path):
    with Journal.open(tmp_path / "j.db") as journal:
        errors = []

        def open_run(run_id, conversation_id, gate):
            gate.wait()
            try:
                journal.run(run_id, session_id="s", conversation_id=conversation_id)
            except JournalError as error:
                errors.append(error)

        for n in range(20):
            gate = threading.Barrier(2)
            threads = [
                threading.Thread(target=open_run, args=(f"r{n}", known, gate))
                for known in (None, "c")
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert errors == []


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":[]}',
        b'{"type":{}}',
        b"[" * 1000 + b"]" * 1000,
        b'{"type":"context_state","session_id":null,"state":{"agent_id":"m"}}',
        b'{"type":"stream_record","session_id":"s","run_id":null,"record":{}}',
    ],
)
def test_a_line_of_any_shape_is_refused_with_its_number(journal, line):
    with pytest.raises(InvalidLine, match="line 1"):
        ingest(journal, line)


def test_a_version_that_leaves_a_gap_is_refused(journal):
    line = {"type": "stream_record", "session_id": "s", "run_id": "r"}
    with pytest.raises(InvalidLine, match="missing"):
        ingest(
            journal,
            line | {"record": samples.record(0)},
            line | {"record": samples.record(1), "version": 4},
        )


def test_session_states_read_twice_add_nothing(journal):
    given = [
        {"type": "context_state", "session_id": "s", "state": samples.context([samples.user(t)])}
        for t in "AB"
    ]
    ingest(journal, *given)
    exported = list(export_all(journal.reader))
    with Journal.open("memory://") as copy:
        copy.run("z", session_id="s")
        ingest(copy, *exported)
        held = len(list(copy.reader.session_events("s")))
        ingest(copy, *exported)
        assert len(list(copy.reader.session_events("s"))) == held


@pytest.mark.parametrize(
    "call",
    [
        lambda run: run.set_status("running", reason="\ud800"),
        lambda run: run.set_status("running", reason=5),
        lambda run: run.set_status([]),
        lambda run: run.suspend("x", checkpoint_id="\ud800"),
        lambda run: run.suspend("x", checkpoint_id=5),
        lambda run: run.suspend(""),
    ],
)
def test_facts_pass_the_same_door_as_records(journal, call):
    run = journal.run("r", session_id="s")
    with pytest.raises(FixInput):
        call(run)
    assert journal.reader.head("r") == 1


def test_ids_of_other_types_are_refused(journal):
    journal.run("r", session_id="s")
    for call in (
        lambda: journal.run_record(5),
        lambda: journal.is_committed(5),
        lambda: journal.session_record(None),
        lambda: journal.run("r", conversation_id=""),
        lambda: journal.run("r", conversation_id=5),
    ):
        with pytest.raises(InvalidRecord, match="non-empty string"):
            call()


def test_a_claim_names_the_session_of_its_run(journal):
    journal.run("r", session_id="s").suspend("why")
    with pytest.raises(RunConflict, match="session"):
        journal.claim_resume(samples.resume_claim() | {"session_id": "other"})
    assert not journal.claim_resume(samples.resume_claim()).repeated


def test_a_damaged_state_does_not_stop_new_ones(tmp_path, flip):
    path = tmp_path / "j.db"
    with Journal.open(path) as journal:
        journal.commit_checkpoint("s", samples.checkpoint("k", "a"))
        journal.run("a").export_context(samples.context([samples.user("x" * 200)]))
        journal.save_session(samples.session_record(note="x" * 200))
    for version in (2, 3, 4):  # the checkpoint, the lease, the state
        flip(path, "run:a", version)
    flip(path, "session:s", 2)
    with Journal.open(path) as journal:
        journal.commit_checkpoint("s", samples.checkpoint("k", "b"))
        journal.commit_checkpoint("s", samples.checkpoint("k2", "a"))
        journal.run("a").export_context(samples.context())
        journal.save_session(samples.session_record())
        for run_id in ("a", "b"):
            last = journal.reader.last_run_event(run_id, ("checkpoint.taken.v1",))
            assert journal.reader.document(last)["run_id"] == run_id


@pytest.mark.parametrize("name", ["session.run_added.v1", "session.saved.v1"])
def test_a_damaged_row_of_a_session_does_not_stop_its_runs(tmp_path, tamper, name):
    path = tmp_path / "j.db"
    with Journal.open(path) as journal:
        journal.save_session(samples.session_record())
        journal.commit_checkpoint("s", samples.checkpoint("k", "a"))
        events = list(journal.reader.session_events("s"))
    [version] = [event.version for event in events if event.name == name]
    tamper(path, "session:s", version, "UPDATE events SET data = x'7b'")
    with Journal.open(path) as journal:
        journal.commit_checkpoint("s", samples.checkpoint("k", "b"))
        journal.commit_run_evidence(samples.bundle(samples.run_record("c")))
        journal.save_session(samples.session_record(revision=2))
        assert journal.session_record("s") == samples.session_record(revision=2)
        assert journal.run_record("c") == samples.run_record("c")


def test_a_run_opened_without_a_conversation_has_that_of_its_first_checkpoint(journal):
    journal.run("r", session_id="s")
    journal.commit_checkpoint("s", samples.checkpoint("k1", conversation_id="c1"))
    with pytest.raises(RunConflict, match="conversation"):
        journal.commit_checkpoint("s", samples.checkpoint("k2", conversation_id="c2"))
    with pytest.raises(RunConflict, match="conversation"):
        journal.run("r", conversation_id="c2")


@pytest.mark.anyio
async def test_an_asynchronous_journal_says_that_it_was_closed(tmp_path):
    async with AsyncJournal.open(tmp_path / "j.db") as journal:
        run = await journal.run("r", session_id="s")
    for call in (run.append(samples.record(0)), journal.run_record("r"), journal.run("q")):
        with pytest.raises(JournalClosed):
            await call
    await run.release()
    await journal.close()


@pytest.mark.anyio
async def test_what_a_host_does_to_its_record_afterwards_does_not_matter():
    async with AsyncJournal.open("memory://") as journal:
        run = await journal.run("r", session_id="s")
        record = samples.delta(0, "before")
        waiting = run.append(record)
        waiting.send(None)
        record["event"]["event"]["text"] = "after"
        waiting.close()
        await run.append(samples.record(1))  # a run's calls are kept in order
        [held, _] = [
            e.data["record"] for e in journal.sync.reader.run_events("r") if "record" in e.data
        ]
        assert held["event"]["event"]["text"] == "before"


def test_closing_while_others_open_runs_closes(tmp_path):
    journal = Journal.open(tmp_path / "j.db")
    stop = threading.Event()

    def work(name):
        try:
            for n in range(10_000):
                if stop.is_set():
                    return
                journal.run(f"{name}-{n}", session_id="s")
        except JournalClosed:
            return

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    journal.close()
    with pytest.raises(JournalClosed):
        journal.run("late", session_id="s")
    stop.set()
    for thread in threads:
        thread.join()


def test_a_forked_process_is_told_so_at_once(tmp_path):
    with Journal.open(tmp_path / "j.db") as journal:
        run = journal.run("r", session_id="s")
        holding, done = threading.Event(), threading.Event()

        def hold():
            queue, leases = journal._writer._queue, journal._leases
            with journal._writer._guard, queue._changed, leases._changed:
                holding.set()
                done.wait(30)

        thread = threading.Thread(target=hold)
        thread.start()
        holding.wait(30)
        child = os.fork()
        if not child:
            code = 1
            try:
                for verb in (
                    lambda: run.append(samples.record(0)),
                    lambda: journal.run("r"),
                    lambda: journal.run("new", session_id="s"),
                    lambda: journal.save_run(samples.run_record()),
                ):
                    with pytest.raises(JournalForked):
                        verb()
                run.release()
                journal.close()
                code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        done.set()
        thread.join()
        assert os.waitstatus_to_exitcode(status) == 0
        run.append(samples.record(0))


def test_the_writer_keeps_a_bounded_amount_of_documents(journal):
    text = "x" * 2_000_000
    runs = [journal.run(f"r{n}", session_id=f"s{n}", conversation_id="c") for n in range(12)]
    for n, run in enumerate(runs):
        run.checkpoint(samples.checkpoint("k", f"r{n}", messages=[samples.user(f"{n}{text}")]))
    assert 0 < journal._writer._memory.size() <= MAX_DOCUMENT_BYTES
    messages = [samples.user(f"0{text}"), samples.answer("short")]
    runs[0].checkpoint(samples.checkpoint("k2", "r0", messages=messages))
    last = journal.reader.last_run_event("r0", ("checkpoint.taken.v1",))
    assert len(dumps(last.data)) < 2000
