"""One audit row for each thing that happened, with what it tells, and counted once."""

import pytest

from journal.codec import RecordedEvent
from journal.ids import Position, Version, run_stream
from journal.stores.audit import LARGEST
from projections.audit import RowMaker
from projections.audit.remembered import RESPONSES, Responses
from tests import samples
from tests.unit.builders import CHILD, Arrivals

AT = "2026-11-29T20:44:39.316209644Z"
AT_MICROS = 1795985079316209
USED = {
    "requests": 1,
    "input_tokens": 120,
    "output_tokens": 15,
    "cache_read_tokens": 7,
    "cache_write_tokens": 3,
    "total_tokens": 135,
}


def answer(text="hello", **fields):
    parts = [{"kind": "thinking", "text": "hm"}, {"kind": "text", "text": text}]
    return {"parts": parts, "usage": USED, "model_name": "m", "timestamp": AT, **fields}


def tool_return(call_id="c1", **fields):
    content = {"ok": True}
    return {"tool_call_id": call_id, "name": "look", "content": content, "is_error": False} | fields


def taken(arrivals):
    rows, [facts] = RowMaker(lambda _: {}).take(arrivals.events)
    return rows, facts


def rows_of(arrivals, *kinds):
    return [row for row in taken(arrivals)[0] if row.kind in kinds]


def test_a_response_tells_its_text_its_model_and_what_it_used():
    [row] = rows_of(
        Arrivals(conversation_id="c").record(0, "model_response", step=1, response=answer()),
        "model_response",
    )
    assert row.text == "hello"
    assert (row.session_id, row.conversation_id, row.run_id) == ("s", "c", "r")
    assert (row.step, row.model, row.host_at) == (1, "m", AT_MICROS)
    assert (row.anchor, row.rank, row.version, row.part) == (0, 0, 2, 0)
    assert row.recorded_at == 2000
    assert row[25:31] == (1, 120, 15, 7, 3, 135)


def test_calls_and_returns_tell_tool_call_and_what_was_said():
    arrivals = Arrivals()
    calls = [{"id": "c1", "name": "look", "arguments": {"at": "é"}}]
    calls.append({"id": "c2", "name": "look", "arguments": "raw {"})
    for sequence, call in enumerate(calls):
        arrivals.record(sequence, "tool_call", step=3, call=call)
    arrivals.record(2, "tool_return", step=3, tool_return=tool_return(content="as it is"))
    rows = rows_of(arrivals, "tool_call", "tool_return")
    assert [row.text for row in rows] == ['{"at":"é"}', "raw {", "as it is"]
    assert [(row.tool, row.call_id, row.step) for row in rows] == [
        ("look", "c1", 3), ("look", "c2", 3), ("look", "c1", 3),
    ]  # fmt: skip
    assert taken(arrivals)[1].last_call_id == "c2"


@pytest.mark.parametrize(
    ("fields", "status", "error_kind"),
    [
        ({}, "ok", None),
        ({"is_error": True, "content": {"kind": "execution_failed"}}, "error", "execution_failed"),
        ({"is_error": True, "content": "boom"}, "error", None),
        ({"metadata": {"control_flow": "approval_required"}}, "approval_required", None),
        (
            {"is_error": True, "metadata": {"control_flow": "call_deferred"}},
            "deferred",
            None,
        ),
    ],
)
def test_a_return_that_asks_for_something_is_no_failure(fields, status, error_kind):
    arrivals = Arrivals().record(0, "tool_return", step=1, tool_return=tool_return(**fields))
    [row] = rows_of(arrivals, "tool_return")
    assert (row.status, row.error_kind) == (status, error_kind)


@pytest.mark.parametrize(
    ("said", "duration"),
    [(12, 12), (11.6, 12), ("12", None), (True, None), (2**64 - 1, LARGEST), (None, None)],
)
def test_a_duration_is_whole_milliseconds(said, duration):
    back = tool_return(metadata={"duration_ms": said})
    [row] = rows_of(Arrivals().record(0, "tool_return", step=1, tool_return=back), "tool_return")
    assert row.duration_ms == duration


def test_deltas_and_nodes_give_no_row_but_count():
    arrivals = Arrivals()
    for sequence in range(5):
        arrivals.text(sequence, "x")
    arrivals.record(7, "node_start", node="run_start", step=0, status="running")
    arrivals.record(8, "checkpoint", node="run_start", step=0)
    rows, facts = taken(arrivals)
    assert [row.kind for row in rows] == ["run.opened"]
    assert (facts.records, facts.sequences, facts.anchor) == (0, "0-4 7-8", 8)
    assert (facts.version, facts.position, facts.status) == (8, 8, "running")


def test_a_response_that_was_recorded_again_counts_once():
    arrivals = Arrivals()
    arrivals.record(0, "model_response", step=1, response=answer())
    arrivals.record(1, "model_response", step=2, response=answer())
    arrivals.record(2, "model_response", step=1, response=answer())
    arrivals.record(3, "model_response", step=1, response=answer(timestamp=None))
    arrivals.record(4, "model_response", CHILD, step=1, response=answer())
    rows = rows_of(arrivals, "model_response")
    assert [row.status for row in rows] == [None, None, "repeated", None, None]
    assert [row.total_tokens for row in rows] == [135, 135, None, 135, 135]
    assert [row.requests for row in rows] == [1, 1, None, 1, 1]


def test_what_is_remembered_of_a_run_is_bounded():
    arrivals = Arrivals()
    for sequence in range(3 * RESPONSES):
        response = answer(text=str(sequence))
        source = None if sequence % 2 else {**CHILD, "run_id": f"child {sequence % 300}"}
        arrivals.record(sequence, "model_response", source, step=sequence, response=response)
        arrivals.fact("run.saved.v1", run=samples.run_record(input=f"prompt {sequence}"))
        arrivals.checkpoint(f"k{sequence}", sequence)
    assert len(taken(arrivals)[1].state) < 8000


def test_each_account_has_its_own_responses_to_know_again():
    arrivals = Arrivals()
    spoken = [(at, {**CHILD, "run_id": f"c{at % 5}"} if at % 3 else None) for at in range(450)]
    for sequence, (at, source) in enumerate(spoken * 2):
        arrivals.record(sequence, "model_response", source, step=at, response=answer(text=str(at)))
    rows = rows_of(arrivals, "model_response")
    assert [row.status for row in rows] == [None] * 450 + ["repeated"] * 450


def test_a_digest_is_found_only_where_one_begins():
    known = Responses()
    assert known.is_new("", "abcdefgh")
    assert known.is_new("", "ijklmnop")
    assert known.is_new("", "efghijkl")
    assert not known.repeats("")
    assert not known.is_new("", "ijklmnop")
    assert (known.repeats(""), known.repeats("child")) == (True, False)
    assert known.is_new("child", "ijklmnop")


def test_records_of_a_child_tell_nothing_of_the_parent():
    arrivals = Arrivals()
    arrivals.record(0, "run_start", CHILD, run_id="child", conversation_id="other")
    arrivals.record(1, "model_response", CHILD, step=1, response=answer())
    call = {"id": "c1", "name": "look", "arguments": {}}
    arrivals.record(2, "tool_call", CHILD, step=1, call=call)
    arrivals.record(3, "run_failed", CHILD, run_id="child", error_kind="k", message="m")
    rows, facts = taken(arrivals)
    assert {(row.child_run_id, row.agent) for row in rows[1:]} == {("child", "worker")}
    assert (facts.status, facts.error, facts.last_tool, facts.last_text) == (None,) * 4
    assert facts.conversation_id is None
    assert (facts.records, facts.sequences) == (0, "0-3")


def priced(sequence, arrivals, source=None, run_id="r", **payload):
    event = {"kind": "usage_snapshot", "payload": {"run_id": run_id, **payload}}
    return arrivals.record(sequence, "custom", source, event=event)


def micros(amount):
    return {"amount_micros_usd": amount}


def test_costs_are_what_was_added_since_the_last_snapshot():
    arrivals = Arrivals()
    for sequence, (one, other) in enumerate([(10, 5), (30, 5), (4, 9)]):
        by_model = {"a": micros(one), "b": micros(other)}
        priced(
            sequence, arrivals,
            estimate_pricing=micros(one + other), model_estimate_pricing=by_model,
        )  # fmt: skip
    rows = rows_of(arrivals, "custom:usage_snapshot")
    assert [(row.version, row.part, row.model, row.cost_micros) for row in rows] == [
        (2, 0, "a", 10), (2, 1, "b", 5),
        (3, 0, "a", 20), (3, 1, "b", 0),
        (4, 0, "a", 4), (4, 1, "b", 4),  # a began anew
    ]  # fmt: skip


def test_costs_of_children_and_of_attempts_are_counted_apart():
    arrivals = Arrivals()
    priced(0, arrivals, estimate_pricing=micros(10))
    priced(1, arrivals, CHILD, run_id="child", estimate_pricing=micros(15))
    priced(2, arrivals, run_id="again", estimate_pricing=micros(20))
    priced(3, arrivals, estimate_pricing=micros(11))
    priced(4, arrivals, latest_usage={})
    priced(5, arrivals, estimate_pricing="free", model_estimate_pricing=[1])
    rows = rows_of(arrivals, "custom:usage_snapshot")
    assert [row.cost_micros for row in rows] == [10, 15, 20, 1, None, None]
    assert [row.model for row in rows] == [None] * 6


def saved(arrivals, **fields):
    record = samples.run_record(**{"status": "running", **fields})
    return arrivals.fact("run.saved.v1", run=record)


def test_a_run_record_tells_its_prompt_once_and_a_row_when_it_says_something_new():
    arrivals = Arrivals()
    hello = [{"kind": "text", "text": "Say"}, {"kind": "image"}, {"kind": "text", "text": "hello"}]
    saved(arrivals, input=hello)
    saved(arrivals, input=hello, revision=2, updated_at=AT)
    saved(arrivals, input=hello, status="failed", terminal_error={"code": "k", "message": "lost"})
    saved(arrivals, input=[*hello, {"kind": "text", "text": "again"}], status="failed")
    rows = taken(arrivals)[0]
    assert [(row.version, row.part, row.kind, row.status) for row in rows[1:]] == [
        (2, 0, "run.saved", "running"),
        (2, 1, "prompt", None),
        (4, 0, "run.saved", "failed"),
        (5, 0, "run.saved", "failed"),
        (5, 1, "prompt", None),
    ]
    assert [row.text for row in rows if row.kind == "prompt"] == ["Say\nhello", "Say\nhello\nagain"]
    assert rows[3].text == "lost"
    assert rows[3].error_kind == "k"


def test_facts_follow_the_run_record():
    arrivals = Arrivals()
    trace = {"trace_id": "t1", "span_id": "s1"}
    saved(arrivals, parent_run_id="p", profile="writer", trace_context=trace)
    arrivals.record(0, "model_request", step=1)
    saved(arrivals, trace_context={"trace_id": "t2"})
    rows, facts = taken(arrivals)
    assert (facts.parent_run_id, facts.agent, facts.trace_ids) == ("p", "writer", '["t1","t2"]')
    request = next(row for row in rows if row.kind == "model_request")
    assert (request.trace_id, request.span_id) == ("t1", "s1")
    assert (request.parent_run_id, request.agent) == ("p", "writer")


def test_the_status_is_that_of_the_last_event_in_logical_order():
    arrivals = Arrivals()
    arrivals.record(9, "run_failed", run_id="r", error_kind="k", message="m")
    arrivals.record(3, "node_start", node="tool_call", step=1, status="running")
    arrivals.checkpoint("k", 5, status="running")
    facts = taken(arrivals)[1]
    assert (facts.status, facts.error_kind, facts.error) == ("failed", "k", "m")
    assert facts.ended_at == 2000
    arrivals.fact("run.resumed.v1")
    facts = taken(arrivals)[1]
    assert (facts.status, facts.error, facts.ended_at) == ("running", None, None)


def test_the_last_call_and_text_are_those_of_the_largest_sequence():
    arrivals = Arrivals()
    arrivals.record(8, "model_response", step=2, response=answer("late " * 200))
    arrivals.record(2, "model_response", step=1, response=answer("early"))
    arrivals.record(9, "tool_call", step=2, call={"id": "c9", "name": "b", "arguments": {}})
    arrivals.record(4, "tool_call", step=1, call={"id": "c4", "name": "a", "arguments": {}})
    facts = taken(arrivals)[1]
    assert (facts.last_tool, facts.last_call_id, facts.last_call_anchor) == ("b", "c9", 9)
    assert facts.last_text == ("late " * 200)[:500]
    assert facts.last_text_anchor == 8


def test_anchors_above_63_bits_saturate_in_rows_and_are_exact_inside():
    arrivals = Arrivals()
    first = 2**64 - 3
    arrivals.record(first, "run_complete", run_id="r", output="x")
    arrivals.record(first + 1, "run_start", run_id="r", conversation_id="c")
    arrivals.record(first - 1, "run_cancelled", run_id="r", reason="late")
    rows, facts = taken(arrivals)
    assert {row.anchor for row in rows[1:]} == {LARGEST}
    assert facts.anchor == LARGEST
    assert facts.status == "running"
    assert facts.sequences == f"{first - 1}-{first + 1}"


def test_who_asked_and_who_decided():
    arrivals = Arrivals()
    trace = {"trace_id": "t", "span_id": "sp"}
    asked = samples.approval(request={"reason": "risky"}, trace_context=trace)
    arrivals.fact("approval.requested.v1", record=asked)
    decision = {"status": "denied", "decided_by": "eva", "decided_at": AT, "reason": "no"}
    decided = asked | {"status": "denied", "decision": decision}
    arrivals.fact("approval.decided.v1", record=decided)
    deferred = samples.deferred_tool(request={"queue": "q"})
    arrivals.fact("deferred_tool.requested.v1", record=deferred)
    done = deferred | {"status": "completed", "response": "done"}
    arrivals.fact("deferred_tool.resolved.v1", record=done)
    rows, facts = taken(arrivals)
    assert [(row.kind, row.status, row.text, row.actor) for row in rows[1:]] == [
        ("approval.requested", "pending", '{"reason":"risky"}', None),
        ("approval.decided", "denied", "no", "eva"),
        ("deferred_tool.requested", "waiting", '{"queue":"q"}', None),
        ("deferred_tool.resolved", "completed", "done", None),
    ]
    assert [row.trace_id for row in rows[1:]] == ["t", "t", None, None]
    assert [row.item_id for row in rows[1:3]] == [asked["approval_id"]] * 2
    assert [row.tool for row in rows[1:3]] == [asked["action_name"]] * 2
    assert [row.call_id for row in rows[3:]] == [deferred["tool_call_id"]] * 2
    assert rows[2].host_at == AT_MICROS
    assert facts.trace_ids == '["t"]'


def test_unknown_kinds_and_names_are_kept():
    arrivals = Arrivals()
    arrivals.record(0, "of the future", said="x" * 5000)
    arrivals.fact("run.painted.v2", colour="red")
    rows = taken(arrivals)[0]
    assert [row.kind for row in rows[1:]] == ["of the future", "run.painted"]
    assert rows[1].text.startswith('{"kind":"of the future","said":"xxx')
    assert len(rows[1].text) == 2000
    assert rows[2].text == '{"colour":"red"}'


@pytest.mark.parametrize(
    "record",
    [
        None,
        [],
        {"sequence": 1},
        {"sequence": "1", "event": {"kind": "model_stream"}},
        {"sequence": True, "event": {"kind": "model_stream"}},
        {"sequence": -1, "event": {"kind": "model_stream"}},
        {"sequence": 1, "event": {"kind": 7}},
        {"sequence": 1, "event": {"kind": []}},
        {"sequence": 1, "event": {"kind": "tool_call", "step": 1, "call": {"id": 5, "name": "n"}}},
        {"sequence": 1, "event": {"kind": "suspended", "node": 5, "reason": "x"}},
        {"sequence": 1, "event": {"kind": "model_request", "step": "x"}},
        {"sequence": 1, "source": 5, "event": {"kind": "run_start", "conversation_id": "c"}},
    ],
)
def test_an_event_of_another_shape_is_a_row_that_says_so(record):
    arrivals = Arrivals().fact("stream.recorded.v1", record=record)
    arrivals.record(5, "model_request", step=1)
    rows, facts = taken(arrivals)
    assert [row.kind for row in rows] == ["run.opened", "unreadable", "model_request"]
    assert rows[1].text.startswith("not a stream.recorded.v1: ")
    assert facts.version == 3


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("run.saved.v1", {"run": {"status": 5}}),
        ("run.saved.v1", {}),
        ("checkpoint.taken.v1", {"delta": 7}),
        ("checkpoint.taken.v1", {"stream_cursor": "x"}),
        (
            "checkpoint.taken.v1",
            {
                "checkpoint_id": "k", "node": "n", "status": "running", "step": 1, "messages": 1,
                "delta": [["=", ["state", "message_history", 0], {"kind": "request", "parts": 5}]],
            },
        ),
        ("checkpoint.taken.v1", {
            "checkpoint_id": "k", "node": "n", "status": "running", "step": 1, "messages": 1,
            "delta": [[]],
        }),
        ("run.status_changed.v1", {"status": None}),
        ("approval.decided.v1", {"record": {"approval_id": 1}}),
        ("run.archived.v1", {"run_id": "r"}),
        ("resume.claimed.v1", {"claim": []}),
    ],
)  # fmt: skip
def test_a_fact_of_another_shape_is_a_row_that_says_so(name, data):
    rows, _ = taken(Arrivals().fact(name, **data))
    assert [row.kind for row in rows] == ["run.opened", "unreadable"]
    assert rows[1].text.startswith(f"not a {name}: ")


def test_an_archived_run_is_what_its_last_event_says_of_it():
    said = {
        "run_id": "r", "session_id": "s", "conversation_id": "c", "parent_run_id": "p",
        "forked_from": "f", "status": "failed", "opened_at": 5, "updated_at": 9,
        "through_version": 4, "archive": "j", "segments": [],
    }  # fmt: skip
    event = RecordedEvent(Position(70), run_stream("r"), Version(5), "run.archived.v1", 700, said)
    rows, [facts] = RowMaker(lambda _: {}).take([event])
    assert rows == []
    known = {"r": taken(Arrivals().record(0, "model_response", step=1, response=answer()))[1]}
    assert RowMaker(lambda _: known).take([event]) == ([], [facts])
    assert facts.archived
    assert (facts.version, facts.position, facts.opened_at, facts.updated_at) == (5, 70, 5, 9)
    assert (facts.status, facts.ended_at, facts.forked_from) == ("failed", 9, "f")
    assert (facts.session_id, facts.conversation_id, facts.parent_run_id) == ("s", "c", "p")


def test_the_time_of_an_imported_event_is_the_first_one():
    arrivals = Arrivals(imported={"recorded_at": 7})
    rows, facts = taken(arrivals)
    assert (rows[0].recorded_at, facts.opened_at, facts.updated_at) == (7, 7, 7)
