"""The log lists a run's events in logical order, one line each."""

from typing import get_args

import pytest

from journal import Journal
from journal.errors import CorruptEvent, RunNotFound
from journal.events import EVENTS
from journal.ids import Version, run_stream
from journal.records.stream import AgentStreamEvent, UnknownEvent
from journal.stores.interface import NewEvent
from projections import log
from projections.summary import FACTS, RECORDS, summarize
from tests import samples

SOURCE = {"kind": "subagent", "agent_id": "w", "agent_name": "worker", "source_sequence": 0}


@pytest.fixture
def journal():
    with Journal.open("memory://") as opened:
        yield opened


@pytest.fixture
def run(journal):
    return journal.run("r", session_id="s")


@pytest.fixture
def filled(journal, run):
    run.checkpoint(samples.checkpoint("k1", stream_cursor=2))
    run.append_many([samples.record(3), samples.record(1)])
    run.append(
        samples.record(2, "tool_call", step=1, call={"id": "c", "name": "n", "arguments": 1})
    )
    run.suspend("tea")
    return journal


def names(entries):
    return [(entry.anchor, entry.kind) for entry in entries]


def test_entries_stand_in_logical_order_with_their_places(filled):
    assert names(log(filled, "r")) == [
        (-1, "run.opened"),
        (1, "node_start"),
        (2, "tool_call"),
        (2, "checkpoint.taken"),
        (3, "node_start"),
        (3, "run.suspended"),
    ]
    entries = list(log(filled, "r"))
    assert [entry.version for entry in entries] == [1, 4, 5, 2, 3, 6]
    assert all(entry.known and not entry.imported for entry in entries)
    assert all(entry.recorded_at == entry.event.stored_at for entry in entries)


def test_a_range_of_anchors_takes_in_both_ends(filled):
    assert [anchor for anchor, _ in names(log(filled, "r", 2, 2))] == [2, 2]
    assert [anchor for anchor, _ in names(log(filled, "r", frm=3))] == [3, 3]
    assert [anchor for anchor, _ in names(log(filled, "r", to=1))] == [-1, 1]
    assert list(log(filled, "r", frm=9)) == []


@pytest.mark.parametrize("kind", ["checkpoint.taken", "checkpoint.taken.v1"])
def test_a_kind_is_an_event_name_with_or_without_its_version(filled, kind):
    assert names(log(filled, "r", kinds=[kind])) == [(2, "checkpoint.taken")]


def test_a_kind_is_a_kind_of_stream_record_or_all_of_them(filled):
    assert names(log(filled, "r", kinds={"tool_call", "run.suspended"})) == [
        (2, "tool_call"),
        (3, "run.suspended"),
    ]
    assert len(list(log(filled, "r", kinds=["stream.recorded"]))) == 3
    assert list(log(filled, "r", kinds=["checkpoint"])) == []


def test_an_unknown_run_is_an_error_at_once(journal):
    with pytest.raises(RunNotFound):
        log(journal, "nowhere")


def test_what_this_version_does_not_know_is_shown_as_unknown(journal, run):
    run.append(samples.record(0, "from_the_future", x=1))
    newer = NewEvent(run_stream("r"), Version(3), "run.teleported.v9", b'{"to":"mars"}')
    journal._store.append([newer], now=0)
    _, record, fact = log(journal, "r")
    assert (record.known, record.kind) == (False, "from_the_future")
    assert record.summary == '{"kind":"from_the_future","x":1}'
    assert (fact.known, fact.kind, fact.name) == (False, "run.teleported", "run.teleported.v9")
    assert fact.summary == '{"to":"mars"}'


def test_the_json_form_says_everything(filled):
    entry = list(log(filled, "r"))[1]
    assert entry.to_json() | {"recorded_at": None} == {
        "schema": "runjournal.log_entry",
        "schema_version": 1,
        "run_id": "r",
        "stream": 1,
        "version": 4,
        "position": entry.position,
        "recorded_at": None,
        "name": "stream.recorded.v1",
        "kind": "node_start",
        "summary": "model_response, step 1, running",
        "known": True,
        "imported": False,
        "history_shrank": None,
        "data": {"record": samples.record(1)},
    }
    assert next(log(filled, "r")).to_json()["stream"] is None


CALL = {"id": "c", "name": "deploy", "arguments": {"to": "prod"}}
RETURN = {"tool_call_id": "c", "name": "deploy", "content": "ok", "is_error": False}
ANSWER = {"parts": [{"kind": "text", "text": "Hi"}], "usage": samples.ZERO}


def streamed(**event):
    return samples.record(0, "model_stream", step=0, event=event)


@pytest.mark.parametrize(
    ("record", "summary"),
    [
        (samples.record(0, "run_start", run_id="r", conversation_id="c"), "r"),
        (samples.record(0), "model_response, step 1, running"),
        (samples.record(0, "custom", event={"kind": "note", "payload": [1]}), "note [1]"),
        (samples.record(0, "model_request", step=4), "step 4"),
        (samples.delta(0, "San "), "text San "),
        (streamed(kind="part_start", index=2, part_kind="tool_call"), "part 2 starts: tool_call"),
        (streamed(kind="part_end", index=2), "part 2 ends"),
        (
            streamed(kind="part_delta", index=0, delta_kind="tool_call_name", name="deploy"),
            "tool_call_name deploy",
        ),
        (
            streamed(
                kind="part_delta", index=0, delta_kind="tool_call_arguments", arguments_delta='{"a'
            ),
            'tool_call_arguments {"a',
        ),
        (
            streamed(kind="part_delta", index=0, delta_kind="native_payload", payload={"x": 1}),
            'native_payload {"x":1}',
        ),
        (streamed(kind="final_result", **ANSWER), "final result: Hi"),
        (
            streamed(kind="diagnostic", payload=1),
            'diagnostic {"kind":"diagnostic","payload":1}',
        ),
        (samples.record(0, "model_response", step=1, response=ANSWER), "step 1: Hi"),
        (
            samples.record(
                0,
                "model_response",
                step=1,
                response={"parts": [{"kind": "tool_call", **CALL}], "usage": samples.ZERO},
            ),
            'step 1: deploy({"to":"prod"})',
        ),
        (samples.record(0, "checkpoint", node="tool_call", step=1), "tool_call, step 1"),
        (samples.record(0, "suspended", node="tool_return", reason="tea"), "tool_return: tea"),
        (samples.record(0, "tool_call", step=1, call=CALL), 'deploy({"to":"prod"})'),
        (samples.record(0, "tool_return", step=1, tool_return=RETURN), "deploy -> ok"),
        (
            samples.record(
                0, "tool_return", step=1, tool_return={**RETURN, "is_error": True, "content": [1]}
            ),
            "deploy failed [1]",
        ),
        (samples.record(0, "output_retry", retries=1, prompt="again"), "retry 1: again"),
        (samples.record(0, "steering_guard", step=1, prompt="left"), "left"),
        (
            samples.record(0, "run_complete", run_id="r", output="a\nb\r\n c\x1b[1m"),
            "a b  c\x1b[1m",
        ),
        (samples.record(0, "run_cancelled", run_id="r", reason="enough"), "enough"),
        (
            samples.record(0, "run_failed", run_id="r", error_kind="model", message="no"),
            "model: no",
        ),
        (samples.record(0) | {"source": SOURCE}, "[worker] model_response, step 1, running"),
    ],
)
def test_each_kind_of_record_is_told_in_one_line(journal, run, record, summary):
    run.append(record)
    assert [entry.summary for entry in log(journal, "r")] == ["session s", summary]


def test_each_fact_is_told_in_one_line(journal, run):
    run.checkpoint(samples.checkpoint("k1", stream_cursor=None, step=2))
    run.export_context({"agent_id": "main"})
    run.export_context(samples.context([samples.user("hi")]))
    run.export_environment({"provider_id": "v", "metadata": {"provider_kind": "virtual"}})
    run.approval(samples.approval())
    run.deferred_tool(samples.deferred_tool())
    run.save_cursor(samples.stream_cursor())
    run.set_status("running")
    run.set_status("cancelled", reason="enough")
    run.suspend("tea")
    run.resume()
    journal.save_run(samples.run_record(status="waiting"))
    claim = {"claim_id": "x", "session_id": "s", "run_id": "r", "state": "preflight"}
    journal.claim_resume(claim | {"created_at": "2026-11-29T20:44:39Z"})
    journal.release_resume("r", "x")
    told = [entry.summary for entry in log(journal, "r")]
    assert told.pop(7).startswith('{"position":{"family":"raw_runtime"')
    assert told == [
        "session s",
        "k1 at run_start, step 2, running, 0 messages",
        "context state",
        "context state, 1 messages",
        "environment state",
        "a1 deploy: pending",
        f"d1 {samples.deferred_tool()['tool_name']}: waiting",
        "running",
        "cancelled: enough",
        "tea",
        "goes on",
        "waiting",
        "x",
        "x",
    ]


def test_every_event_can_be_told():
    assert set(FACTS) | {"stream.recorded.v1"} == set(EVENTS)


def test_events_of_a_session_are_told_in_a_line(journal):
    journal.save_session(samples.session_record())
    journal.set_session_status("s", "archived")
    journal.save_environment("s", {"provider": "p", "reference": "x"})
    journal.commit_run_evidence(samples.bundle())
    told = [summarize(event) for event in journal.reader.session_events("s")]
    assert told == [
        "session record",
        "archived",
        "environment state x",
        "run r",
        "run r: completed, committed",
    ]


def test_every_kind_of_the_record_vocabulary_can_be_told():
    models = get_args(get_args(AgentStreamEvent)[0])
    known = {model.model_fields["kind"].default for model in models if model is not UnknownEvent}
    assert set(RECORDS) == known


def test_an_event_of_the_wrong_shape_is_damage_and_named(journal, run):
    data = b'{"record":{"sequence":0,"event":{"kind":"tool_call"}}}'
    odd = NewEvent(run_stream("r"), Version(2), "stream.recorded.v1", data)
    journal._store.append([odd], now=0)
    _, entry = log(journal, "r")
    with pytest.raises(CorruptEvent, match="event 2 of 'run:r'"):
        _ = entry.summary
