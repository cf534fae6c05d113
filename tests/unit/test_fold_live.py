"""The live part: what a run is doing, told by its own records and by facts about it."""

import pytest

from projections.live import live
from tests import samples
from tests.unit.builders import CHILD, Arrivals

RUNNING = {"node": "tool_call", "step": 3, "status": "running"}


def now(run):
    return live(run.fold(), {}, [], [], lambda _: False)


def started():
    return Arrivals().record(0, "node_start", **RUNNING)


def test_a_node_tells_status_node_and_step():
    for kind in ("node_start", "node_complete"):
        seen = now(Arrivals().record(0, kind, **RUNNING))
        assert (seen.status, seen.node, seen.step) == ("running", "tool_call", 3)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("model_request", {}),
        ("model_response", {"response": {"parts": [], "usage": samples.ZERO}}),
        ("tool_call", {"call": {"id": "c", "name": "n", "arguments": {}}}),
        ("tool_return", {"tool_return": {"tool_call_id": "c"}}),
        ("steering_guard", {"prompt": "p"}),
    ],
)
def test_these_records_tell_the_step_only(kind, fields):
    seen = now(started().record(1, kind, step=4, **fields))
    assert (seen.status, seen.node, seen.step) == ("running", "tool_call", 4)


def test_a_checkpoint_record_tells_node_and_step():
    seen = now(started().record(1, "checkpoint", node="tool_return", step=4))
    assert (seen.status, seen.node, seen.step) == ("running", "tool_return", 4)


def test_an_unknown_kind_and_an_output_retry_change_nothing():
    run = started()
    before = now(run).to_json()
    run.record(1, "from_the_future", step=99, status="x")
    run.record(2, "output_retry", retries=1, prompt="again")
    assert now(run).to_json() == before | {"last_sequence": 2}


def test_run_start_means_running():
    assert now(Arrivals().record(0, "run_start", run_id="r", conversation_id="c")).status == (
        "running"
    )


def test_a_completed_run_has_its_output():
    seen = now(started().record(1, "run_complete", run_id="r", output="42"))
    assert (seen.status, seen.output, seen.node) == ("completed", "42", "tool_call")


def test_a_cancelled_run_is_cancelled():
    seen = now(started().record(1, "run_cancelled", run_id="r", reason="enough"))
    assert (seen.status, seen.error) == ("cancelled", None)


def test_a_failed_run_has_its_error():
    seen = now(started().record(1, "run_failed", run_id="r", error_kind="model", message="no"))
    assert (seen.status, seen.error) == ("failed", {"error_kind": "model", "message": "no"})


def test_a_suspended_record_waits_at_its_node():
    seen = now(started().record(1, "suspended", node="tool_return", reason="hitl"))
    assert (seen.status, seen.node, seen.suspended) == (
        "waiting",
        "tool_return",
        {"reason": "hitl"},
    )


def test_the_reason_to_wait_stays_while_the_run_waits():
    run = started().record(1, "suspended", node="tool_return", reason="hitl")
    run.record(2, "node_start", node="tool_return", step=3, status="waiting")
    run.checkpoint("k", 3, status="waiting", node="tool_return")
    assert now(run).suspended == {"reason": "hitl"}


@pytest.mark.parametrize(
    "goes_on",
    [
        lambda run: run.record(9, "node_start", **RUNNING),
        lambda run: run.record(9, "run_complete", run_id="r", output=""),
        lambda run: run.fact("run.resumed.v1"),
        lambda run: run.fact("run.status_changed.v1", status="cancelled"),
        lambda run: run.checkpoint("k", 9),
    ],
)
def test_a_run_that_goes_on_has_no_reason_to_wait(goes_on):
    run = started().record(1, "suspended", node="tool_return", reason="hitl")
    assert now(goes_on(run)).suspended is None


def test_facts_count_where_they_stand():
    run = started()
    run.fact("run.suspended.v1", reason="operator")
    assert (now(run).status, now(run).suspended) == ("waiting", {"reason": "operator"})
    run.fact("run.resumed.v1")
    assert (now(run).status, now(run).suspended) == ("running", None)
    run.fact("run.status_changed.v1", status="queued")
    assert now(run).status == "queued"


def test_a_run_record_tells_status_and_error():
    error = {"code": "boom", "message": "it broke"}
    run = started().fact("run.committed.v1", run={"status": "failed", "terminal_error": error})
    assert now(run).status == "failed"
    assert now(run).error == {"error_kind": "boom", "message": "it broke"}


def test_the_error_of_the_stream_is_kept_over_the_run_records():
    run = started().record(1, "run_failed", run_id="r", error_kind="model", message="no")
    error = {"code": "boom", "message": "it broke"}
    run.fact("run.saved.v1", run={"status": "failed", "terminal_error": error})
    assert now(run).error == {"error_kind": "model", "message": "no"}


def test_a_failed_run_that_runs_again_has_no_error():
    run = started().record(1, "run_failed", run_id="r", error_kind="model", message="no")
    assert now(run.record(2, "node_start", **RUNNING)).error is None


def test_a_cancelled_run_keeps_the_error_its_record_gives():
    error = {"code": "agent_cancelled", "message": "stopped"}
    run = started().record(1, "run_cancelled", run_id="r", reason="stopped")
    run.fact("run.committed.v1", run={"status": "cancelled", "terminal_error": error})
    run.fact("run.status_changed.v1", status="cancelled")
    assert now(run).error == {"error_kind": "agent_cancelled", "message": "stopped"}
    assert now(run.fact("run.resumed.v1")).error is None


def test_a_checkpoint_starts_the_live_part_again():
    run = started().record(1, "run_complete", run_id="r", output="old")
    run.checkpoint("k", 1, step=7, node="validate_output")
    seen = now(run)
    assert (seen.status, seen.node, seen.step) == ("running", "validate_output", 7)
    assert seen.output is None


def test_custom_events_never_change_the_status():
    run = started()
    for sequence, kind in enumerate(["run_complete", "run_failed", "run_cancelled"], start=1):
        run.custom(sequence, kind)
    assert now(run).status == "running"


def test_text_and_thinking_are_joined_as_streamed():
    run = started().text(1, "Hel").text(2, "lo")
    run.part(3, kind="part_delta", delta_kind="thinking", text="hm")
    assert (now(run).text, now(run).thinking) == ("Hello", "hm")


def test_what_a_late_delta_says_takes_its_place():
    assert now(started().text(1, "a").text(3, "c").text(2, "b")).text == "abc"


@pytest.mark.parametrize(
    "restart",
    [
        lambda run: run.record(5, "model_request", step=1),
        lambda run: run.custom(5, "model_stream_resume"),
    ],
)
def test_a_new_request_and_a_resumed_stream_start_over(restart):
    run = started().text(1, "old").part(2, kind="part_start", part_kind="tool_call", index=1)
    run.part(3, kind="part_delta", delta_kind="thinking", text="hm")
    seen = now(restart(run).text(6, "new"))
    assert (seen.text, seen.thinking, seen.partial_tool_calls) == ("new", "", ())


def test_streamed_text_outlives_checkpoints_and_the_response():
    run = started().record(1, "model_request", step=0).text(2, "Hi").checkpoint("k", 2)
    run.response(3, 1, "Hi").checkpoint("k2", 3, step=1, messages=2)
    assert now(run).text == "Hi"


def test_parts_that_end_final_results_and_diagnostics_add_nothing():
    run = started().text(1, "Hi")
    run.part(2, kind="part_end").part(3, kind="part_start", part_kind="text")
    run.part(4, kind="final_result", parts=[{"kind": "text", "text": "Hi"}], usage=samples.ZERO)
    run.part(5, kind="diagnostic", payload={}).part(6, kind="part_delta", delta_kind="new_kind")
    seen = now(run)
    assert (seen.text, seen.thinking, seen.partial_tool_calls) == ("Hi", "", ())


def test_partial_tool_calls_are_kept_apart_by_part():
    run = started()
    run.part(1, index=2, kind="part_start", part_kind="tool_call")
    run.part(2, index=0, kind="part_delta", delta_kind="tool_call_arguments", arguments_delta="{")
    run.part(3, index=2, kind="part_delta", delta_kind="tool_call_name", name="search")
    run.part(4, index=2, kind="part_delta", delta_kind="tool_call_arguments", arguments_delta='{"')
    run.part(5, index=2, kind="part_delta", delta_kind="tool_call_arguments", arguments_delta='q"')
    assert [call.to_json() for call in now(run).partial_tool_calls] == [
        {"index": 2, "name": "search", "arguments_text": '{"q"'},
        {"index": 0, "name": None, "arguments_text": "{"},
    ]


def test_a_childs_records_never_change_the_parent():
    run = started().text(1, "mine").record(2, "tool_call", step=3, call={"id": "c", "name": "n"})
    before = now(run).to_json()
    run.record(3, "model_request", CHILD, step=9).text(4, "other", CHILD)
    run.response(5, 99, "other", CHILD)
    run.record(6, "tool_return", CHILD, step=9, tool_return={"tool_call_id": "c"})
    run.record(7, "tool_call", CHILD, step=9, call={"id": "d", "name": "n"})
    run.record(8, "run_failed", CHILD, run_id="child", error_kind="k", message="m")
    run.custom(9, "model_stream_resume", CHILD)
    assert now(run).to_json() == before | {"last_sequence": 9}
    assert run.fold().messages.count == 0


def children(run):
    return [child.to_json() for child in run.fold().children.listed()]


def test_children_are_listed_with_status_text_and_records():
    run = started().record(1, "run_start", CHILD, run_id="child", conversation_id="c")
    run.record(2, "model_request", CHILD, step=0).text(3, "wor", CHILD).text(4, "ker", CHILD)
    run.record(5, "run_complete", CHILD, run_id="child", output="worker")
    assert children(run) == [
        {
            "run_id": "child",
            "agent_id": "worker-1",
            "agent_name": "worker",
            "task_id": "t1",
            "status": "completed",
            "text": "worker",
            "records": 5,
        }
    ]


def test_a_child_that_did_not_stream_has_the_text_of_its_response():
    run = started().record(1, "model_request", CHILD, step=0).response(2, 1, "first", CHILD)
    assert children(run)[0]["text"] == "first"
    assert children(run)[0]["status"] is None
    run.record(3, "model_request", CHILD, step=1)
    assert children(run)[0]["text"] == ""


def test_provider_text_is_text_and_other_parts_are_not():
    parts = [
        {"kind": "thinking", "text": "hm"},
        {"kind": "provider_text", "text": "a"},
        {"kind": "text", "text": "b"},
        {"kind": "text"},
        {"kind": "tool_call", "id": "c", "name": "n", "arguments": {}},
    ]
    answer = {"parts": parts, "usage": samples.ZERO}
    run = started().record(1, "model_response", CHILD, step=1, response=answer)
    assert children(run)[0]["text"] == "ab"


def test_a_child_goes_by_the_name_it_had_last():
    run = started().custom(1, "note", CHILD).custom(2, "note", {**CHILD, "agent_name": "new"})
    assert [child["agent_name"] for child in children(run)] == ["new"]


def test_children_are_told_apart_by_run_agent_and_task():
    second = {"kind": "subagent", "agent_id": "worker-1", "agent_name": "worker"}
    run = started()
    for sequence, source in enumerate(
        [CHILD, second, {**CHILD, "task_id": "t2"}, CHILD, {**CHILD, "agent_id": "b"}], start=1
    ):
        run.custom(sequence, "note", source)
    found = [(c["run_id"], c["agent_id"], c["task_id"], c["records"]) for c in children(run)]
    assert found == [
        ("child", "worker-1", "t1", 2),
        (None, "worker-1", None, 1),
        ("child", "worker-1", "t2", 1),
        ("child", "b", "t1", 1),
    ]


def test_a_source_of_null_is_none():
    run = Arrivals()
    run.fact("stream.recorded.v1", record=samples.record(0) | {"source": None})
    assert now(run).status == "running"
    assert children(run) == []
