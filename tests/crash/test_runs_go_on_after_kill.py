"""A run whose host was killed, or that an operator stopped, goes on in another process.

A tool that may have taken effect is not used again, unless somebody accepts that.
"""

import pytest

from journal import Journal
from journal.events import Operator
from projections import StreamCursor, list_runs, replay, resume_state
from tests.crash.check import engine_finds_no_fault
from tests.crash.fork_server import ForkServer
from tests.crash.receipts import Receipts, wait_for

RUN = "r"


@pytest.fixture(scope="module")
def server():
    with ForkServer("tests.crash.hosts") as server:
        yield server


class Place:
    """The files of one test."""

    def __init__(self, folder):
        self.path = folder / "runs.db"
        self.notes = folder / "notes"
        self.effects = folder / "effects"

    def arguments(self):
        return {"path": self.path, "notes": self.notes, "effects": self.effects}

    def used(self):
        """Give the calls for which the tool was used, in order."""
        return self.effects.read_text().split() if self.effects.exists() else []

    def noted(self, what):
        return [rest for first, *rest in Receipts.read(self.notes).notes if first == what]


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def kill_at(server, place, stop_at):
    pid = server.start("begin", stop_at=stop_at, **place.arguments())
    wait_for(place.notes, lambda left: ["stands", stop_at] in left.notes)
    server.kill(pid)


def go_on(server, place, **options):
    assert server.wait(server.start("go_on", **options, **place.arguments())) == 0


def finished(place):
    """Check that the run ended whole: complete, without a gap, one resume recorded."""
    engine_finds_no_fault(place.path)
    with Journal.open(place.path, create=False) as journal:
        view = replay(journal, RUN)
        assert (view.live.status, view.live.open_tool_calls) == ("completed", ())
        events = list(journal.reader.run_events(RUN))
    recorded = [event for event in events if event.name == "stream.recorded.v1"]
    sequences = [event.data["record"]["sequence"] for event in recorded]
    assert sequences == list(range(len(sequences)))
    return [event.data for event in events if event.name == "run.resumed.v1"]


@pytest.mark.parametrize(("stop_at", "used"), [("tool_call", []), ("tool", ["call-1"])])
@pytest.mark.parametrize("accept", [False, True])
def test_a_tool_that_may_have_run_is_used_again_only_when_accepted(
    server, place, stop_at, used, accept
):
    kill_at(server, place, stop_at)
    assert place.used() == used
    with Journal.open(place.path, create=False) as journal:
        assert [run.status for run in list_runs(journal)] == ["crashed"]
        [left] = resume_state(journal, RUN).open_tool_calls
        assert (left.id, left.state, left.may_run) == ("call-1", "unknown_after_crash", False)
    go_on(server, place, accept_rerun=["call-1"] if accept else False)
    state = "accepted_rerun" if accept else "unknown_after_crash"
    assert place.noted("open") == [["call-1", state]]
    assert place.used() == [*used, *(["call-1"] if accept else []), "call-2"]
    [resumed] = finished(place)
    expected = {"attempt": 2, "generation": 2, "crashed": True, "unknown": ["call-1"]}
    assert resumed == expected | ({"rerun": ["call-1"]} if accept else {})


def test_the_next_step_of_a_looping_agent_is_its_last_once_an_operator_asked(server, place):
    pid = server.start("begin", **place.arguments())
    wait_for(place.notes, lambda left: len(left.notes) > 3)
    with Journal.open(place.path) as journal:
        asked = journal.request_suspend(RUN, "enough", Operator(user="ann", host="box"))
        assert server.wait(pid) == 0
        reason = "operator ann@box asked: enough"
        [[told, step]] = place.noted("suspended")
        assert told == reason
        after = [event.name for event in journal.reader.run_events(RUN, after=asked.version)]
        assert after.count("checkpoint.taken.v1") == 1
        assert after[-1] == "run.suspended.v1"
        stopped = replay(journal, RUN)
        assert stopped.live.suspended == {"reason": reason}
        [run] = list_runs(journal, unfinished=True)
        assert (run.status, run.suspended) == ("waiting", reason)
    used = place.used()
    go_on(server, place, steps=2)
    [[_, attempt, told, messages]] = place.noted("resumed")
    assert (attempt, told, messages) == (2, reason, len(stopped.messages))
    assert all(state == "pending" for _, state in place.noted("open"))
    assert place.used()[: len(used)] == used
    assert sorted(set(place.used())) == sorted(place.used()), "a tool was used twice"
    assert len(place.used()) == step + 2
    [resumed] = finished(place)
    assert resumed == {"attempt": 2, "generation": 2}
    with Journal.open(place.path, create=False) as journal:
        before = replay(journal, RUN, at=StreamCursor(stopped.live.last_sequence))
        assert before.messages == stopped.messages
        assert replay(journal, RUN).messages[: len(stopped.messages)] == stopped.messages


def test_a_host_killed_again_and_again_never_uses_a_tool_twice(server, place):
    kill_at(server, place, "tool")
    for attempt in (2, 3):
        pid = server.start("go_on", steps=100_000, **place.arguments())
        wait_for(place.notes, lambda _, n=attempt: len(place.noted("resumed")) == n - 1)
        wait_for(place.notes, lambda left: left.notes[-1][0] == "step")
        server.kill(pid)
    go_on(server, place)
    assert sorted(set(place.used())) == sorted(place.used())
    assert [each["attempt"] for each in finished(place)] == [2, 3, 4]
