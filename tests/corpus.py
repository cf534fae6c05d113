"""The recorded calls of a real runtime, and how they are given to a journal."""

from journal.codec import RecordedEvent
from journal.documents import Walk
from journal.hosts.starweaver import JournalSessionStore
from tests.oracle import Oracle
from tests.oracle_order import (
    APPROVAL,
    CHECKPOINT,
    CONTEXT,
    DEFERRED,
    ENVIRONMENT,
    FACT,
    RECORD,
    Arrival,
    bare,
)
from tests.recorded import lines


class Calls:
    """The calls a runtime made to its session store, in order."""

    def __init__(self, name):
        self.name = name
        self.calls = [(line["op"], line["args"]) for line in lines(name)]
        self.checkpoints = {}
        """By run id, in the order they were taken."""
        self.records = {}
        """By run id, in the order of the commit."""
        self.commits = {}
        for op, args in self.calls:
            if op == "commit_checkpoint":
                checkpoint = bare(args[1])
                self.checkpoints.setdefault(checkpoint["run_id"], []).append(checkpoint)
            if op == "commit_run_evidence":
                run_id = bare(args[0]["run"])["run_id"]
                self.commits[run_id] = args[0]
                self.records[run_id] = [bare(one) for one in args[0]["stream_records"]]

    @property
    def run_ids(self):
        """The runs, in the order they ended."""
        return list(self.commits)

    def give(self, journal):
        """Make every call on the journal, as the runtime makes them."""
        store = JournalSessionStore(journal).store
        for op, args in self.calls:
            getattr(store, op)(*args)


def live_records(name):
    """Read the records as the host's live iterator gave them."""
    return lines(f"{name}.live")


KINDS = {
    "stream.recorded.v1": (RECORD, "record"),
    "approval.requested.v1": (APPROVAL, "record"),
    "approval.decided.v1": (APPROVAL, "record"),
    "deferred_tool.requested.v1": (DEFERRED, "record"),
    "deferred_tool.resolved.v1": (DEFERRED, "record"),
}
DOCUMENTS = {
    "checkpoint.taken.v1": CHECKPOINT,
    "context.exported.v1": CONTEXT,
    "environment.exported.v1": ENVIRONMENT,
}


def arrivals(journal, run_id):
    """Read a run's events as the oracle wants them."""
    walk = Walk(room=2000)
    return [_arrival(journal, event, walk) for event in journal.reader.run_events(run_id)]


def _arrival(journal, event: RecordedEvent, walk):
    kind, body = FACT, event.data
    if event.name in DOCUMENTS:
        kind, body = DOCUMENTS[event.name], journal.reader.document(event, walk)
    if event.name in KINDS:
        kind, key = KINDS[event.name]
        body = event.data[key]
    return Arrival(kind, body, event.version, event.recorded_at, event.name)


def oracle_of(journal, run_id):
    """Make the oracle of a recorded run."""
    return Oracle(run_id, arrivals(journal, run_id))
