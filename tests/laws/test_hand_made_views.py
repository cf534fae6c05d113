"""Small runs made by hand, each with the right answers written out: what a view shows."""

import pytest

from tests import samples
from tests.laws.by_hand import (
    arguments,
    call,
    child,
    custom,
    give,
    part,
    response,
    sequences,
    texts,
)
from tests.samples import answer, checkpoint, delta, record, user


class TestMessages:
    def test_a_response_counts_when_its_step_exceeds_the_checkpoints(self, run, see):
        give(
            run,
            response(0, 1, "one", requests=1),
            checkpoint("k", stream_cursor=2, step=1, messages=[user("hi"), answer("one")]),
            response(3, 1, "again"),
            response(4, 2, "two", requests=1, input_tokens=2**64 - 1),
            response(5, 3, "three", requests=1, input_tokens=7),
            child(response(6, 9, "of the child", requests=5)),
        )
        assert texts(see("stream:0")) == ["one"]
        assert see("stream:0")["messages"][0]["kind"] == "response"
        assert texts(see("stream:3")) == ["hi", "one"]
        assert texts(see()) == ["hi", "one", "two", "three"]
        assert see()["live"]["usage"] == samples.ZERO | {
            "requests": 2,
            "input_tokens": 2**64 - 1,
        }

    def test_a_final_result_never_counts(self, run, see):
        whole = {"parts": [{"kind": "text", "text": "x"}], "usage": samples.ZERO}
        give(run, part(0, kind="final_result", **whole))
        assert see()["messages"] == []
        assert see()["live"]["text"] == ""

    def test_an_exported_context_counts_when_it_is_later_and_has_a_history(self, run, see):
        give(run, record(0), checkpoint("k", stream_cursor=0, step=1, messages=[user("hi")]))
        run.export_context(samples.context([user("hi"), answer("there")]))
        give(run, response(1, 1, "no"), response(2, 2, "yes"))
        assert texts(see("stream:0")) == ["hi", "there"]
        assert texts(see("stream:1")) == ["hi", "there"]
        assert texts(see("stream:2")) == ["hi", "there", "yes"]
        run.export_context({"agent_id": "bare"})
        assert texts(see()) == ["hi", "there", "yes"]
        assert see()["context_state"] == {"agent_id": "bare"}
        give(run, checkpoint("l", stream_cursor=3, step=2, messages=[user("new")]))
        assert texts(see()) == ["new"]

    def test_before_a_step_nothing_of_it_is_there(self, run, see):
        give(
            run,
            response(0, 1, "one"),
            record(1),
            child(response(2, 8)),
            checkpoint("k", stream_cursor=3, step=2, messages=[user("hi")]),
            response(4, 3, "three"),
        )
        assert texts(see("step:0")) == []
        assert sequences(see("step:1")) == [0, 1, 2]
        assert see("step:2")["cursor"]["checkpoint_id"] == "k"
        assert texts(see("step:3")) == ["hi", "three"]


class TestWhatIsStreamed:
    def test_text_thinking_and_arguments_gather_part_by_part(self, run, see):
        give(
            run,
            record(0, "model_request", step=0),
            part(1, kind="part_start", index=0, part_kind="thinking"),
            part(2, kind="part_delta", index=0, delta_kind="thinking", text="hm"),
            part(3, kind="part_start", index=1, part_kind="text"),
            delta(4, "Hel"),
            part(5, kind="part_start", index=2, part_kind="tool_call"),
            part(6, kind="part_delta", index=2, delta_kind="tool_call_name", name="look"),
            arguments(7, 2, '{"ci'),
            arguments(8, 7, "["),
            delta(9, "lo"),
        )
        live = see()["live"]
        assert (live["text"], live["thinking"]) == ("Hello", "hm")
        assert live["partial_tool_calls"] == [
            {"index": 2, "name": "look", "arguments_text": '{"ci'},
            {"index": 7, "name": None, "arguments_text": "["},
        ]
        assert see("stream:5")["live"]["partial_tool_calls"] == [
            {"index": 2, "name": None, "arguments_text": ""}
        ]
        assert see("stream:3")["live"]["partial_tool_calls"] == []

    @pytest.mark.parametrize(
        "again",
        [record(2, "model_request", step=1), custom(2, "model_stream_resume")],
        ids=["model_request", "model_stream_resume"],
    )
    def test_it_restarts_with_a_request_or_a_resumed_stream(self, run, see, again):
        give(
            run,
            delta(0, "lost"),
            part(1, kind="part_start", index=0, part_kind="tool_call"),
            checkpoint("k", stream_cursor=1),
            child(record(10, "model_request", step=1)),
            again,
            delta(3, "kept"),
        )
        assert see("stream:1")["live"]["text"] == "lost"
        assert see("stream:2")["live"]["text"] == ""
        assert see("stream:2")["live"]["partial_tool_calls"] == []
        assert see("stream:10")["live"]["text"] == "kept"

    def test_a_response_or_a_checkpoint_leaves_it(self, run, see):
        give(run, delta(0, "Hello"), response(1, 1, "Hello"), checkpoint("k", stream_cursor=1))
        assert see()["live"]["text"] == "Hello"


class TestAChildRun:
    @pytest.fixture(autouse=True)
    def merged(self, run):
        give(
            run,
            record(0, "run_start", run_id="r", conversation_id="c"),
            child(record(1, "run_start", run_id="child", conversation_id="c")),
            child(record(2, "model_request", step=0)),
            child(delta(3, "work")),
            child(delta(4, "ing")),
            child(call(5, "x")),
            child(response(6, 1, "working", requests=1)),
            custom(7, "run_complete", run_id="child"),
            child(record(8, "model_request", step=1)),
            child(response(9, 2, "done")),
            child(record(10, "run_complete", run_id="child", output="done")),
            child(record(11, "suspended", node="tool_call", reason="?"), run_id=None, task_id=None),
        )

    def test_is_listed_with_its_own_text_and_status(self, see):
        mine = {"run_id": "child", "agent_id": "w1", "agent_name": "worker", "task_id": "t"}
        assert see("stream:0")["children"] == []
        assert see("stream:3")["children"] == [
            mine | {"status": "running", "text": "work", "records": 3}
        ]
        assert see("stream:7")["children"] == [
            mine | {"status": "running", "text": "working", "records": 6}
        ]
        assert see("stream:10")["children"] == [
            mine | {"status": "completed", "text": "done", "records": 9}
        ]

    def test_without_run_and_task_is_a_child_of_its_own(self, see):
        assert see()["children"][1] == {
            "run_id": None,
            "agent_id": "w1",
            "agent_name": "worker",
            "task_id": None,
            "status": "waiting",
            "text": "",
            "records": 1,
        }

    def test_never_changes_the_parent(self, see):
        assert see()["messages"] == []
        assert see()["live"] == {
            "status": "running",
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
            "last_sequence": 11,
        }
        assert sequences(see()) == list(range(12))


class TestStatus:
    def test_a_suspension_lasts_until_the_run_goes_on(self, run, see):
        give(run, record(0), record(1, "suspended", node="tool_return", reason="approval"))
        give(run, checkpoint("k", stream_cursor=2, status="waiting", node="tool_return"))
        give(run, record(3))
        waiting = see("stream:2")["live"]
        assert waiting["status"] == "waiting"
        assert waiting["node"] == "tool_return"
        assert waiting["suspended"] == {"reason": "approval"}
        assert see("stream:3")["live"]["status"] == "running"
        assert see("stream:3")["live"]["suspended"] is None

    def test_facts_from_outside_change_it_too(self, run, see):
        give(run, record(0))
        run.suspend("a person asked")  # version 3
        run.resume()
        run.set_status("cancelled", reason="too long")
        assert see("version:3")["live"]["suspended"] == {"reason": "a person asked"}
        assert see("version:3")["live"]["status"] == "waiting"
        assert see("version:4")["live"]["suspended"] is None
        assert see("version:4")["live"]["status"] == "running"
        assert see()["live"]["status"] == "cancelled"

    def test_an_end_says_how_it_ended(self, run, see):
        give(
            run,
            record(0, "run_complete", run_id="r", output="42"),
            record(1, "run_failed", run_id="r", error_kind="model", message="gone"),
            record(2, "run_cancelled", run_id="r", reason="stop"),
        )
        assert see("stream:0")["live"]["status"] == "completed"
        assert see("stream:0")["live"]["output"] == "42"
        assert see("stream:1")["live"]["status"] == "failed"
        assert see("stream:1")["live"]["error"] == {"error_kind": "model", "message": "gone"}
        assert see("stream:2")["live"]["status"] == "cancelled"

    def test_a_terminal_error_is_told_when_no_record_did(self, journal, run, see):
        give(run, record(0))
        wrong = {"code": "lost", "message": "the process is gone"}
        journal.save_run(samples.run_record(status="failed", terminal_error=wrong))
        assert see()["live"]["status"] == "failed"
        assert see()["live"]["error"] == {"error_kind": "lost", "message": "the process is gone"}

    def test_custom_and_unknown_events_change_nothing(self, run, see):
        give(run, record(0), custom(1, "run_failed", message="x"), record(2, "brand_new", step=7))
        assert see("stream:0")["live"] | {"last_sequence": 2} == see("stream:2")["live"]

    def test_the_latest_trace_context_that_says_anything_is_shown(self, journal, run, see):
        one, other = {"trace_id": "1"}, {"trace_id": "2"}
        traced, silent = checkpoint("k", stream_cursor=0), checkpoint("l", stream_cursor=1)
        traced["resume"]["trace_context"], silent["resume"]["trace_context"] = one, {}
        assert see()["trace_context"] == {}
        give(run, traced, silent)
        assert see()["trace_context"] == one
        journal.save_run(samples.run_record(status="running", trace_context=other))
        assert see()["trace_context"] == other
