"""Who leads the next commit: a caller may be told so before it begins to wait."""

import threading
from concurrent.futures import ThreadPoolExecutor

from journal import Journal
from tests import samples

MINUTE = 60.0


class HeldBack:
    """A queue's condition that holds one thread back right after it let go of it."""

    def __init__(self, changed):
        self.changed = changed
        self.thread = None
        self.let_go, self.go_on = threading.Event(), threading.Event()

    def __getattr__(self, name):
        return getattr(self.changed, name)

    def __enter__(self):
        return self.changed.__enter__()

    def __exit__(self, *exc):
        self.changed.__exit__(*exc)
        if threading.current_thread() is self.thread and not self.let_go.is_set():
            self.let_go.set()
            assert self.go_on.wait(MINUTE)


def test_a_caller_told_to_lead_before_it_waits_gets_its_receipt():
    with Journal.open("memory://") as journal, ThreadPoolExecutor(2) as pool:
        queue = journal._writer._queue
        run, other = journal.run("r", session_id="s"), journal.run("o", session_id="s")
        committing, commit = threading.Event(), queue._commit
        held = HeldBack(queue._changed)

        def slowly(group):
            queue._commit = commit
            committing.set()
            assert held.let_go.wait(MINUTE)
            commit(group)

        def append_held_back():
            held.thread = threading.current_thread()
            return other.append(samples.record(0))

        queue._commit, queue._changed = slowly, held
        first = pool.submit(run.append, samples.record(0))
        assert committing.wait(MINUTE)
        second = pool.submit(append_held_back)
        assert first.result(MINUTE).version == 2  # it led, and told the other to lead
        held.go_on.set()
        assert second.result(MINUTE).version == 2
        queue._changed = held.changed
