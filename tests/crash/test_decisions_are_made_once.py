"""What is decided from what is recorded holds when it is stored, whoever else decides too."""

from collections import Counter

import pytest

from journal import Journal
from journal.claims import current_claim
from journal.numbers import SessionNumbers
from tests import samples
from tests.crash.check import engine_finds_no_fault
from tests.crash.fork_server import ForkServer
from tests.crash.receipts import Receipts, wait_for

ROUNDS = 60
NAMES = ("ann", "bob")


@pytest.fixture
def raced(tmp_path):
    """A journal that two processes decided in at once, and what each of them got."""
    path, go = tmp_path / "runs.db", tmp_path / "go"
    with Journal.open(path) as journal:
        for number in range(ROUNDS):
            run = samples.run_record(f"w{number}", status="waiting")
            journal.commit_run_evidence(
                samples.bundle(
                    run,
                    approvals=[samples.approval(run_id=run["run_id"])],
                    deferred_tools=[samples.deferred_tool(run_id=run["run_id"])],
                )
            )
    logs = {name: tmp_path / name for name in NAMES}
    with ForkServer("tests.crash.deciders") as server:
        started = [
            server.start("decide", path=path, receipts=log, name=name, rounds=ROUNDS, go=go)
            for name, log in logs.items()
        ]
        for log in logs.values():
            wait_for(log, lambda left: left.notes)
        go.touch()
        assert [server.wait(pid) for pid in started] == [0, 0]
    with Journal.open(path, create=False) as journal:
        yield journal, {name: Receipts.read(log).notes[1:] for name, log in logs.items()}
    engine_finds_no_fault(path)


def test_two_processes_decide_each_thing_once(raced):
    journal, got = raced
    won = Counter(note for notes in got.values() for note in notes)
    assert all(any(note.startswith("claimed") for note in notes) for notes in got.values()), (
        "one of them was always first: nothing is proved"
    )
    assert won.pop("opened") == ROUNDS * len(NAMES)
    assert set(won.values()) == {1}
    for number in range(ROUNDS):
        run_id = f"w{number}"
        [claimed, decided, ended] = (
            next(name for name, notes in got.items() if f"{did} {run_id}" in notes)
            for did in ("claimed", "decided", "ended")
        )
        assert current_claim(journal.reader, run_id).claim_id == claimed
        [event] = journal.reader.run_events(run_id, names=["approval.decided.v1"])
        assert event.data["record"]["decision"]["decided_by"] == decided
        [event] = journal.reader.run_events(run_id, names=["deferred_tool.resolved.v1"])
        assert event.data["record"]["response"] == ended
    numbers = SessionNumbers()
    for event in journal.reader.session_events("s"):
        numbers.take(event)
    assert sorted(numbers.of.values()) == [*range(1, ROUNDS * (len(NAMES) + 1) + 1)]
    moved = [
        event.data["cursor"]["position"]["sequence"]
        for event in journal.reader.run_events("w0", names=["cursor.saved.v1"])
    ]
    assert moved == sorted(set(moved))
    assert moved[-1] == ROUNDS - 1
