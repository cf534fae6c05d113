"""After `os.fork` every verb of the child says that it must open the journal itself."""

import asyncio
import inspect
import os
import signal
import warnings

import pytest

from journal import AsyncJournal, AsyncRun, Journal, Run
from journal.errors import JournalForked
from journal.events import Operator
from journal.ids import Version
from journal.lineage import Lineage
from tests import samples
from tests.crash.check import Found
from tests.unit.fork_points import Point

RUN_VERBS = {
    "append": (samples.record(1),),
    "append_many": ([samples.record(1)],),
    "approval": (samples.approval(),),
    "checkpoint": (samples.checkpoint(),),
    "deferred_tool": (samples.deferred_tool(),),
    "export_context": (samples.context(),),
    "export_environment": ({"provider_id": "e"},),
    "resume": (),
    "save_cursor": (samples.stream_cursor(),),
    "set_status": ("waiting",),
    "suspend": ("why",),
    "suspend_requested": (),
}
OPERATOR = Operator(user="ann", host="box")
JOURNAL_VERBS = {
    "backup": ("copy.db",),
    "approval": (samples.approval(),),
    "claim_resume": (samples.resume_claim(),),
    "commit_checkpoint": ("s", samples.checkpoint()),
    "commit_run_evidence": (samples.bundle(),),
    "deferred_tool": (samples.deferred_tool(),),
    "fork": (Point(Lineage("r", Version(1), None, None, "r", "version:1")), "f"),
    "is_committed": ("r",),
    "release_resume": ("r", "x"),
    "run": ("r",),
    "run_record": ("r",),
    "save_run": (samples.run_record(),),
    "save_session": (samples.session_record(),),
    "session_record": ("s",),
    "set_status": ("r", "waiting"),
    "acknowledge_publication": ("r", "archive"),
    "allow_resume": ("r", OPERATOR),
    "append_records": ("s", "r", [samples.record(1)]),
    "request_suspend": ("r", "why", OPERATOR),
    "save_context": ("s", samples.context()),
    "save_cursor": ("s", "r", samples.stream_cursor()),
    "save_environment": ("s", {"provider": "p", "reference": "x"}),
    "session_of": ("r",),
    "set_session_status": ("s", "archived"),
    "start_resume": ("r", "x"),
}
NO_USE = {
    "close", "held", "is_same", "metrics", "open", "opening", "release", "subscribe", "write",
    "write_offers", "write_soon", "call", "commit_bundle", "decide", "numbered", "status_change",
    "transition", "write_decided", "write_decided_soon", "dropping",
}  # fmt: skip
"""What does not use the file by itself, or is there for the journal's own modules."""


def in_child(work):
    """Run in a forked child; gives what it made of it as text."""
    receive, send = os.pipe()
    with warnings.catch_warnings():
        # Python 3.12 warns of threads, and a journal has some.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        answer = "an unexpected error"
        try:
            signal.alarm(20)  # a child that waits for ever ends without an answer
            answer = repr(work())
        except JournalForked as error:
            answer = f"told: {error.opened_by}"
        except BaseException as error:
            answer = repr(error)
            raise
        finally:
            os.write(send, answer.encode())
            os._exit(0)
    os.close(send)
    with os.fdopen(receive) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return answer


def verbs(kind):
    return {
        name
        for base in kind.__mro__[:-1]
        for name, member in vars(base).items()
        if not name.startswith("_") and (inspect.isfunction(member) or type(member) is classmethod)
    } - NO_USE


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.db"


def check_parent(path, journal, run):
    """The parent goes on: its lease, its connections and its threads are what they were."""
    assert run.append(samples.record(7)).version == 4
    assert not run.append_many([samples.record(8), samples.record(9)])[0].repeated
    with Journal.open(path) as other, pytest.raises(Exception, match="is being written by"):
        other.run("r")
    Found(journal)


def test_every_verb_of_a_child_is_told(path):
    assert verbs(Run) == RUN_VERBS.keys()
    assert verbs(Journal) == JOURNAL_VERBS.keys()
    with Journal.open(path) as journal:
        run = journal.run("r", session_id="s", conversation_id="c")
        run.append_many([samples.record(0), samples.record(2)])
        for target, calls in (run, RUN_VERBS), (journal, JOURNAL_VERBS):
            for name, args in calls.items():
                answer = in_child(lambda: getattr(target, name)(*args))  # noqa: B023
                assert (name, answer) == (name, f"told: {os.getpid()}")
        check_parent(path, journal, run)


def test_every_verb_of_an_asynchronous_child_is_told(path):
    loop = asyncio.new_event_loop()
    journal = loop.run_until_complete(AsyncJournal.open(path))
    run = loop.run_until_complete(journal.run("r", session_id="s", conversation_id="c"))
    assert verbs(AsyncRun) == RUN_VERBS.keys()
    loop.run_until_complete(run.append_many([samples.record(0), samples.record(2)]))
    for target, calls in (run, RUN_VERBS), (journal, JOURNAL_VERBS):
        for name, args in calls.items():
            if hasattr(target, name):
                answer = in_child(lambda: asyncio.run(getattr(target, name)(*args)))  # noqa: B023
                assert (name, answer) == (name, f"told: {os.getpid()}")
    check_parent(path, journal.sync, run.sync)
    loop.run_until_complete(journal.close())
    loop.close()


def test_a_child_may_release_and_close_without_harm_to_its_parent(path):
    with Journal.open(path) as journal:
        run = journal.run("r", session_id="s", conversation_id="c")
        run.append_many([samples.record(0), samples.record(2)])
        assert in_child(run.release) in {"None", f"told: {os.getpid()}"}
        assert in_child(journal.close) in {"None", f"told: {os.getpid()}"}
        check_parent(path, journal, run)


def test_a_child_may_open_the_journal_itself(path):
    def work():
        with Journal.open(path) as own:
            return own.run("child", session_id="s").append(samples.record(0)).version

    with Journal.open(path) as journal:
        run = journal.run("r", session_id="s", conversation_id="c")
        run.append_many([samples.record(0), samples.record(2)])
        assert in_child(work) == "2"
        check_parent(path, journal, run)
        assert [*journal.reader.run_events("child")]
