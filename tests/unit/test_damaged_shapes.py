"""A row of another shape than its name promises is told by run and version; the others answer.

Every member of every event is left out, or given a value of another type, one at a time: each
question then gets an answer or an error of ours, never a raw one.
"""

import json
from copy import deepcopy

import pytest

from journal import Journal
from journal.errors import CorruptEvent, JournalError
from journal.ids import Version
from projections import list_runs, list_sessions, log, replay, run_diff, summarize_record
from tests import samples
from tests.unit.changed_rows import replaced

FAR = 2**63 - 1
CALL = {"id": "c", "name": "n", "arguments": {}}
RETURN = {"tool_call_id": "c0", "name": "n", "content": 1, "is_error": False}
SOURCE = {"kind": "subagent", "agent_id": "w", "agent_name": "worker", "source_sequence": 0}
ANSWER = {key: value for key, value in samples.answer("x").items() if key != "kind"}


@pytest.fixture
def journal():
    with Journal.open("memory://") as opened:
        opened.save_session(samples.session_record("s", title="Tea"))
        for run_id, session_id in ("a", "s"), ("b", "t"):
            run = opened.run(run_id, session_id=session_id, conversation_id="c")
            run.append_many(
                [
                    samples.record(0),
                    samples.delta(1, "hm"),
                    {**samples.delta(2, "child"), "source": SOURCE},
                    samples.record(3, "model_response", step=1, response=ANSWER),
                ]
            )
            history = [
                samples.user("hi"),
                {"kind": "request", "parts": [{"kind": "tool_return", **RETURN}]},
            ]
            run.checkpoint(
                samples.checkpoint(
                    "k", run_id, stream_cursor=3, messages=history, step=1, output="o",
                    pending_tool_calls=[CALL], pending_tool_returns=[RETURN],
                )
            )  # fmt: skip
            run.append(samples.record(4, "model_request", step=1))
            part = {"kind": "part_delta", "index": 0, "delta_kind": "tool_call_name", "name": "n"}
            run.append(samples.record(5, "model_stream", step=1, event=part))
            run.append(samples.record(6, "model_response", step=2, response=ANSWER))
            run.append(samples.record(7, "tool_call", step=2, call={**CALL, "id": "d"}))
            run.append(samples.record(8, "tool_return", step=2, tool_return=RETURN))
            run.export_context(samples.context(history))
            run.approval(samples.approval(run_id=run_id, session_id=session_id))
            run.deferred_tool(samples.deferred_tool(run_id=run_id, session_id=session_id))
            run.suspend("tea")
            opened.save_run(samples.run_record(run_id, session_id, status="running"))
        yield opened


def asked(journal):
    """Ask everything about run a and the lists."""
    yield lambda: list(list_runs(journal, status="waiting"))
    yield lambda: [session.to_json() for session in list_sessions(journal)]
    yield lambda: [entry.to_json() for entry in log(journal, "a")]
    for at in ("latest", "stream:4", "message:2@1", "step:1", "checkpoint:k"):
        yield lambda at=at: shown(replay(journal, "a", at))
    yield lambda: run_diff(replay(journal, "b"), replay(journal, "a")).to_json()


def shown(view):
    json.dumps(view.to_json())
    for record in view.tail:
        assert summarize_record(record)


def places(value, path=()):
    """Yield the path of every member and item below a value."""
    members = value.items() if type(value) is dict else enumerate(value)
    for key, each in members:
        yield (*path, key)
        if type(each) in (dict, list) and each:
            yield from places(each, (*path, key))


def damaged(data, path, turn):
    """Yield the JSON without what is at a path, and with a value of another type there."""
    others = (None, 7, "seven", [7], {"seven": 7})
    for value in (..., others[turn % 5]):
        copy = deepcopy(data)
        inside = copy
        for key in path[:-1]:
            inside = inside[key]
        if value is ...:
            del inside[path[-1]]
        else:
            inside[path[-1]] = value
        yield json.dumps(copy).encode()


def failure(ask):
    try:
        ask()
    except Exception as error:  # noqa: BLE001 - the raw ones are looked for
        return error


@pytest.mark.parametrize("stream", ["run:a", "session:s"])
def test_no_shape_of_a_row_raises_anything_but_an_error_of_ours(journal, stream):
    store = journal._store
    for row in store.read_stream(stream):
        data = json.loads(row.data)
        for turn, path in enumerate(places(data)):
            for bad in damaged(data, path, turn):
                replaced(journal, store, stream, row.version, data=bad)
                for ask in asked(journal):
                    error = failure(ask)
                    assert error is None or isinstance(error, JournalError), (path, bad)
                    if isinstance(error, CorruptEvent) and path[0] != "base_version":
                        assert (error.stream, error.version) == (stream, row.version), (path, bad)
                replaced(journal, store, stream, row.version)
                listed = {run.run_id: run for run in list_runs(journal)}
                assert listed["b"].error is None


@pytest.mark.parametrize("recorded_at", [FAR, -FAR])
@pytest.mark.parametrize("version", [1, 3, 13])
def test_a_row_of_no_time_spoils_only_its_own_run(journal, recorded_at, version):
    replaced(journal, journal._store, "run:a", version, recorded_at=recorded_at)
    b, a = (run.to_json() for run in list_runs(journal))
    assert (b["run_id"], b["error"]) == ("b", None)
    assert f"event {version} of 'run:a' is damaged (the time" in a["error"]
    assert [session.runs for session in list_sessions(journal)] == [("b",), ("a",)]
    with pytest.raises(CorruptEvent, match=f"event {version} of 'run:a'"):
        log(journal, "a")
    assert list(log(journal, "b"))


@pytest.mark.parametrize("imported", [FAR, -FAR, "noon", 1.5])
def test_an_imported_row_of_no_time_spoils_only_its_own_run(journal, imported):
    [row] = journal._store.read_stream("run:a", upto=Version(2), after=Version(1))
    data = json.dumps({**json.loads(row.data), "imported": {"recorded_at": imported}}).encode()
    replaced(journal, journal._store, "run:a", 2, data=data)
    b, a = (run.to_json() for run in list_runs(journal))
    assert (b["error"], a["status"]) == (None, None)
    assert "event 2 of 'run:a' is damaged (the time" in a["error"]


class Without:
    """A store that lost rows of one stream."""

    def __init__(self, store, stream, lost):
        self._store = store
        self._stream = stream
        self._lost = lost

    def __getattr__(self, name):
        return getattr(self._store, name)

    def head(self, stream):
        return max((row.version for row in self.read_stream(stream)), default=Version(0))

    def read_stream(self, stream, **kwargs):
        rows = self._store.read_stream(stream, **kwargs)
        return [row for row in rows if row.stream != self._stream or not self._lost(row.version)]


@pytest.mark.parametrize(
    "lost", [lambda version: version == 1, lambda _: True], ids=["first", "all"]
)
def test_a_stream_that_lost_its_beginning_is_listed_with_its_error(journal, lost):
    store = journal._store
    journal.reader._store = Without(store, "run:a", lost)
    b, a = list_runs(journal)
    assert (b.error, a.status) == (None, None)
    assert "event 1 of 'run:a' is damaged (missing" in a.error
    journal.reader._store = Without(store, "session:s", lost)
    _, session = list_sessions(journal)
    assert "event 1 of 'session:s' is damaged (missing" in session.error
