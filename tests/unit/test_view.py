"""The view of a run: what was handed in, exactly, and what follows from it."""

import asyncio

import pytest

from journal import AsyncJournal, Journal
from journal.errors import BrokenBase, CorruptEvent, RunNotFound, UnknownEvent
from journal.events import StreamRecorded
from journal.ids import Version, run_stream
from journal.records.envelope import RESUMABLE_STATE, wrap
from journal.stores.interface import NewEvent
from projections import LATEST, CheckpointCursor, StreamCursor, areplay, replay
from tests import samples

CALL = {"id": "call-1", "name": "deploy", "arguments": {"to": "prod"}}
OTHER = {"id": "call-2", "name": "notify", "arguments": '{"whom": '}
SOURCE = {"kind": "subagent", "agent_id": "w", "agent_name": "worker", "source_sequence": 0}


def tool_return(call):
    return {"tool_call_id": call["id"], "name": call["name"], "content": "ok", "is_error": False}


def called(sequence, call, step=1):
    return samples.record(sequence, "tool_call", step=step, call=call)


def returned(sequence, call, step=1):
    return samples.record(sequence, "tool_return", step=step, tool_return=tool_return(call))


def open_calls(journal, at=LATEST):
    return [call.id for call in replay(journal, "r", at).live.open_tool_calls]


@pytest.fixture
def run(journal):
    return journal.run("r", session_id="s", conversation_id="c")


def test_a_run_only_opened_has_an_empty_view(journal, run):
    assert replay(journal, "r").to_json() == {
        "schema": "runjournal.view",
        "schema_version": 1,
        "run_id": "r",
        "session_id": "s",
        "conversation_id": "c",
        "cursor": {
            "requested": "latest",
            "version": 1,
            "stream": None,
            "message": 0,
            "epoch": 1,
            "checkpoint_id": None,
            "derived": False,
        },
        "checkpoint": None,
        "evidence": None,
        "messages": [],
        "tail": [],
        "live": {
            "status": None,
            "node": None,
            "step": 0,
            "text": "",
            "thinking": "",
            "open_tool_calls": [],
            "partial_tool_calls": [],
            "usage": samples.ZERO,
            "output": None,
            "error": None,
            "suspended": None,
            "last_sequence": None,
        },
        "children": [],
        "context_state": None,
        "environment_state": None,
        "approvals": [],
        "deferred_tools": [],
        "trace_context": {},
        "redacted": [],
    }


def test_an_unknown_run_is_an_error_of_its_own(journal):
    with pytest.raises(RunNotFound):
        replay(journal, "nowhere")


def test_checkpoint_and_evidence_are_as_handed_in(journal, run):
    first = samples.checkpoint("k1", messages=[samples.user("hi")], unknown={"a": [1.0, None]})
    second = samples.checkpoint("k2", stream_cursor=5, step=1, messages=[samples.user("ho")])
    run.checkpoint(second)
    run.checkpoint(first)
    view = replay(journal, "r")
    assert view.checkpoint == second
    assert view.evidence == second["resume"]
    assert view.cursor.checkpoint_id == "k2"
    earlier = replay(journal, "r", CheckpointCursor("k1"))
    assert earlier.checkpoint == first
    assert earlier.messages == (samples.user("hi"),)


def test_the_tail_is_every_record_after_the_checkpoint_in_order(journal, run):
    childs = samples.record(8) | {"source": SOURCE}
    run.append_many([samples.record(9), samples.record(3), childs, samples.record(4)])
    assert [record["sequence"] for record in replay(journal, "r").tail] == [3, 4, 8, 9]
    run.checkpoint(samples.checkpoint(stream_cursor=4))
    assert replay(journal, "r").tail == (childs, samples.record(9))
    assert replay(journal, "r", StreamCursor(8)).tail == (childs,)


def test_the_tail_of_a_checkpoint_without_cursor_begins_where_it_arrived(journal, run):
    run.append(samples.record(3))
    run.checkpoint(samples.checkpoint(stream_cursor=None))
    run.append_many([samples.record(2), samples.record(4)])
    view = replay(journal, "r")
    assert [record["sequence"] for record in view.tail] == [4]
    assert view.live.last_sequence == 4


def test_live_starts_from_the_checkpoint(journal, run):
    usage = {**samples.ZERO, "requests": 3, "total_tokens": 70}
    run.checkpoint(
        samples.checkpoint(
            step=2, node="validate_output", status="waiting", usage=usage, output="so far"
        )
    )
    live = replay(journal, "r").live
    assert (live.status, live.node, live.step) == ("waiting", "validate_output", 2)
    assert (live.usage, live.output) == (usage, "so far")


def test_usage_adds_the_responses_counted_in_messages_only(journal, run):
    once = {**samples.ZERO, "requests": 1, "total_tokens": 2**63}
    run.checkpoint(samples.checkpoint(step=1, usage={**once, "tool_calls": 4}))
    for sequence, step in enumerate([1, 2, 3], start=1):
        answer = {"parts": [], "usage": once}
        run.append(samples.record(sequence, "model_response", step=step, response=answer))
    child = samples.record(9, "model_response", step=9, response={"parts": [], "usage": once})
    run.append(child | {"source": SOURCE})
    view = replay(journal, "r")
    assert len(view.messages) == 2
    assert view.live.usage == {
        **samples.ZERO,
        "requests": 3,
        "total_tokens": 2**64 - 1,
        "tool_calls": 4,
    }


def test_several_calls_before_any_return_are_all_open(journal, run):
    run.append_many([called(0, CALL), called(1, OTHER)])
    assert [call.to_json() for call in replay(journal, "r").live.open_tool_calls] == [CALL, OTHER]
    run.append(returned(2, OTHER))
    assert open_calls(journal) == ["call-1"]
    run.append(returned(3, CALL))
    assert open_calls(journal) == []
    assert open_calls(journal, StreamCursor(1)) == ["call-1", "call-2"]


def test_a_call_that_returned_before_its_record_was_seen_is_closed(journal, run):
    run.append_many([returned(0, CALL), called(1, CALL)])
    assert open_calls(journal) == []


def test_a_pending_call_is_open_though_its_record_was_never_seen(journal, run):
    run.checkpoint(samples.checkpoint(pending_tool_calls=[CALL, OTHER]))
    run.append(called(1, CALL))
    assert open_calls(journal) == ["call-1", "call-2"]


@pytest.mark.parametrize(
    "key", ["pending_tool_returns", "pending_approval_tool_returns", "deferred_tool_returns"]
)
def test_a_return_held_in_the_state_closes_its_call(journal, run, key):
    state = {"pending_tool_calls": [CALL, OTHER], key: [tool_return(CALL)]}
    run.checkpoint(samples.checkpoint(**state))
    assert open_calls(journal) == ["call-2"]


def test_a_return_in_the_history_closes_its_call(journal, run):
    answers = {"kind": "request", "parts": [{"kind": "tool_return", **tool_return(CALL)}]}
    run.checkpoint(samples.checkpoint(messages=[answers], pending_tool_calls=[CALL, OTHER]))
    assert open_calls(journal) == ["call-2"]
    also = {"kind": "request", "parts": [{"kind": "tool_return", **tool_return(OTHER)}]}
    run.export_context(samples.context([also]))
    assert open_calls(journal) == []


def test_a_return_that_asks_for_approval_closes_its_call(journal, run):
    asks = tool_return(CALL) | {"metadata": {"control_flow": "approval_required"}}
    run.append(called(0, CALL))
    run.append(samples.record(1, "tool_return", step=1, tool_return=asks))
    assert open_calls(journal) == []


def test_a_childs_return_does_not_close_the_parents_call(journal, run):
    run.append_many([called(0, CALL), returned(1, CALL) | {"source": SOURCE}])
    assert open_calls(journal) == ["call-1"]


def test_exported_states_are_as_handed_in(journal, run):
    bare = samples.context([samples.user("hi")], extra={"k": 1})
    environment = {"provider_id": "v", "metadata": {"provider_kind": "virtual"}}
    run.export_context(bare)
    run.export_environment(environment)
    view = replay(journal, "r")
    assert (view.context_state, view.environment_state) == (bare, environment)
    enveloped = wrap(samples.context([samples.user("ho")]), RESUMABLE_STATE)
    run.export_context(enveloped)
    view = replay(journal, "r")
    assert view.context_state == enveloped
    assert view.messages == (samples.user("ho"),)


def test_approvals_and_deferred_tools_show_their_latest_records(journal, run):
    run.approval(samples.approval())
    run.deferred_tool(samples.deferred_tool())
    run.approval(samples.approval("approved"))
    view = replay(journal, "r")
    assert view.approvals == (samples.approval("approved"),)
    assert view.deferred_tools == (samples.deferred_tool(),)


def test_the_trace_context_is_the_latest_that_is_not_empty(journal, run):
    def traced(checkpoint_id, cursor, **trace):
        made = samples.checkpoint(checkpoint_id, stream_cursor=cursor)
        made["resume"] |= trace
        return made

    run.checkpoint(traced("k1", 1, trace_context={"trace_id": "a"}))
    assert replay(journal, "r").trace_context == {"trace_id": "a"}
    journal.save_run(samples.run_record(status="running", trace_context={"trace_id": "b"}))
    assert replay(journal, "r").trace_context == {"trace_id": "b"}
    journal.save_run(samples.run_record(status="completed", trace_context={}))
    assert replay(journal, "r").trace_context == {"trace_id": "b"}
    run.checkpoint(traced("k2", 2))
    assert replay(journal, "r").trace_context == {"trace_id": "b"}
    run.checkpoint(traced("k3", 3, trace_context={"trace_id": "c"}))
    assert replay(journal, "r").trace_context == {"trace_id": "c"}


def test_the_asynchronous_way_gives_the_same_view(tmp_path):
    async def main():
        async with AsyncJournal.open(tmp_path / "runs.db") as journal:
            run = await journal.run("r", session_id="s")
            await run.append(samples.record(0))
            view = await areplay(journal, "r", at=StreamCursor(0))
            return view, replay(journal.sync, "r", StreamCursor(0))

    found, expected = asyncio.run(main())
    assert found == expected
    assert found.tail == (samples.record(0),)


def test_an_event_of_a_newer_journal_is_an_error(journal, run):
    newer = NewEvent(run_stream("r"), Version(2), "run.teleported.v1", b"{}")
    journal._store.append([newer], now=0)
    with pytest.raises(UnknownEvent):
        replay(journal, "r")


def test_a_stream_that_no_run_was_opened_in_is_damage(journal):
    data = b'{"record":' + b'{"sequence":0,"event":{"kind":"model_request","step":0}}}'
    event = NewEvent(run_stream("odd"), Version(1), StreamRecorded.NAME, data)
    journal._store.append([event], now=0)
    with pytest.raises(CorruptEvent, match="does not open a run"):
        replay(journal, "odd")


def test_a_damaged_run_is_named_and_the_others_stay_readable(tmp_path, flip):
    path = tmp_path / "runs.db"
    with Journal.open(path) as journal:
        for run_id in ("a", "b", "c"):
            run = journal.run(run_id, session_id=f"of-{run_id}" if run_id == "c" else "s")
            run.append(samples.record(0))
            history = [samples.user("a long history " * 40)]
            run.checkpoint(samples.checkpoint(f"k-{run_id}", run_id, messages=history))
    flip(path, "run:a", 3)
    with Journal.open(path) as journal:
        with pytest.raises(CorruptEvent, match="event 3 of 'run:a'"):
            replay(journal, "a")
        with pytest.raises(BrokenBase, match="'run:b' builds on 'run:a'"):
            replay(journal, "b")
        assert replay(journal, "c").cursor.checkpoint_id == "k-c"
