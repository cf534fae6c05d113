"""Whatever a host hands in, in whatever order: the same laws hold at every cursor."""

import json
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journal import Journal
from journal.errors import CursorOutOfRange, NotFound, RecordConflict
from journal.json_door import equal
from journal.times import format_time
from projections import parse_cursor, replay
from tests import corpus
from tests.laws.compare import assert_same_view
from tests.laws.random_runs import runs
from tests.oracle_order import Outside, epochs

FORMS = ["latest", "stream", "stream", "message", "message", "epoch"]
FORMS += ["checkpoint", "step", "version", "time"]
wanted_cursors = st.lists(
    st.tuples(st.sampled_from(FORMS), st.integers(0, 10**6)), min_size=3, max_size=8
)


@contextmanager
def written(run, *, on_disk, as_text):
    """Hand a random run to a journal, which is then read: a file after opening it again."""
    if not on_disk:
        with Journal.open("memory://") as journal:
            hand_in(journal, run, as_text=as_text)
            yield journal
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        with Journal.open(path) as journal:
            hand_in(journal, run, as_text=as_text)
        with Journal.open(path, create=False) as journal:
            yield journal


def hand_in(journal, random_run, *, as_text):
    run = journal.run("r", session_id="s", conversation_id=random_run.conversation_id)
    verbs = {
        "record": run.append,
        "checkpoint": run.checkpoint,
        "context": run.export_context,
        "environment": run.export_environment,
        "approval": run.approval,
        "deferred": run.deferred_tool,
        "run": journal.save_run,
        "status": run.set_status,
        "suspend": run.suspend,
        "resume": run.resume,
    }

    def give(kind, *what):
        if as_text and what and isinstance(what[0], dict):
            what = [json.dumps(what[0], ensure_ascii=False).encode()]
        return verbs[kind](*what)

    receipts = []
    for at, item in enumerate(random_run.items):
        receipts.append(give(*item))
        if at in random_run.looked_at:
            check_cursor(journal, corpus.oracle_of(journal, "r"), "latest")
    head = journal.reader.head("r")
    for at in random_run.again:
        second = give(*random_run.items[at])
        assert second.repeated
        assert second.version == receipts[at].version
        kind, held = random_run.items[at]
        with pytest.raises(RecordConflict):
            give(kind, held | {"x-host": "another"})
    assert journal.reader.head("r") == head


def cursor_text(expected, form, number):
    """Make a cursor that is mostly inside the run, sometimes just outside."""
    taken = [one.body["checkpoint_id"] for one in expected.events if one.kind == "checkpoint"]
    anchor = expected.events[number % len(expected.events)].anchor
    message = number % (max(expected.counts) + 2)
    epoch = number % (len(epochs(expected.counts)) + 1) + 1
    recorded_at = expected.arrivals[number % len(expected.arrivals)].recorded_at
    return {
        "latest": "latest",
        "stream": f"stream:{min(max(0, anchor + number % 3 - 1), 2**64 - 1)}",
        "message": f"message:{message}",
        "epoch": f"message:{message}@{epoch}",
        "checkpoint": f"checkpoint:{[*taken, 'nobody'][number % (len(taken) + 1)]}",
        "step": f"step:{number % 6}",
        "version": f"version:{number % (len(expected.arrivals) + 2)}",
        "time": f"time:{format_time(recorded_at - number % 2)}",
    }[form]


def check_cursor(journal, expected, cursor):
    try:
        wanted = expected.view(cursor)
    except Outside:
        with pytest.raises((CursorOutOfRange, NotFound)):
            replay(journal, "r", at=parse_cursor(cursor))
    else:
        assert_same_view(replay(journal, "r", at=parse_cursor(cursor)).to_json(), wanted)


def check_came_back(journal, random_run):
    """Check that what was handed in is what is held, and where it is shown."""
    records = {one[1]["sequence"]: one[1] for one in random_run.items if one[0] == "record"}
    events = journal.reader.run_events("r", names=("stream.recorded.v1",))
    held = {event.data["record"]["sequence"]: event.data["record"] for event in events}
    assert held.keys() == records.keys()
    assert all(equal(held[sequence], records[sequence]) for sequence in held)
    for kind, *what in random_run.items:
        if kind == "checkpoint":
            at = parse_cursor(f"checkpoint:{what[0]['checkpoint_id']}")
            seen = replay(journal, "r", at=at).to_json()
            assert equal(seen["checkpoint"], what[0])
            assert equal(seen["evidence"], what[0]["resume"])


@given(runs(), wanted_cursors, st.booleans(), st.booleans())
def test_every_view_is_the_fold_from_scratch(random_run, cursors, on_disk, as_text):
    with written(random_run, on_disk=on_disk, as_text=as_text) as journal:
        check_came_back(journal, random_run)
        expected = corpus.oracle_of(journal, "r")
        for form, number in cursors:
            check_cursor(journal, expected, cursor_text(expected, form, number))
