"""What hosts say that is extreme, late, or of children, counts as it should."""

import pytest

from projections.audit import Audit
from tests import samples
from tests.unit.audited import called, child, failed, opened, record, response, returned

MOST = 2**64 - 1


def snapshot(sequence, micros, source=None):
    payload = {"model_estimate_pricing": {"m": {"amount_micros_usd": micros}}}
    return record(sequence, "custom", source, event={"kind": "usage_snapshot", "payload": payload})


def cost(journal):
    [used] = Audit(journal).usage(by=("run",))
    return used.cost_micros


def checkpointed(journal):
    call = {"kind": "tool_call", "id": "a", "name": "lookup", "arguments": {}}
    answer = {"kind": "response", "parts": [call], "usage": samples.ZERO | {"total_tokens": 7}}
    result = {"kind": "tool_return", "tool_call_id": "a", "name": "lookup", "content": "x"}
    result["is_error"] = False
    messages = [samples.user("hi"), answer, {"kind": "request", "parts": [result]}]
    run = opened(journal)
    run.checkpoint(samples.checkpoint("k1", "r", messages=messages, step=1, stream_cursor=None))
    return run


@pytest.mark.parametrize("duration", [-(2**63), -1e300, 1e300, 2**63 - 1])
def test_no_duration_of_a_host_damages_the_rows(journal, duration):
    opened(journal, "r", "s", called(0, "a"), returned(1, "a", duration=duration))
    [call] = Audit(journal).tools()
    assert abs(call.duration_ms) == 2**63 - 1


def test_a_cost_that_comes_late_is_not_counted_again(journal):
    run = opened(journal, "r", "s", snapshot(0, 50), snapshot(5, 100))
    run.append(snapshot(3, 80))
    assert cost(journal) == 100
    run.append(snapshot(7, 200))
    assert cost(journal) == 200


def test_each_of_many_children_has_an_account_of_its_own(journal):
    made = (
        snapshot(turn * 40 + at, (turn + 1) * 10, child(f"c{at}"))
        for turn in range(5)
        for at in range(40)
    )
    opened(journal, "r", "s", *made)
    assert cost(journal) == 40 * 50


def test_a_childs_records_do_not_make_a_run_one_that_streams(journal):
    run = checkpointed(journal)
    run.append(response(0, source=child("c"), total_tokens=3))
    [used] = Audit(journal).usage(by=("run",))
    assert (used.responses, used.total_tokens) == (2, 10)
    assert [call.call_id for call in Audit(journal).tools()] == ["a"]


def test_a_return_that_does_not_count_leaves_its_call_open(journal):
    checkpointed(journal).append_many([called(0, "a"), failed(1)])
    assert [call.outcome for call in Audit(journal).tools()] == ["missing"]
    assert [gap.kind for gap in Audit(journal).gaps()] == ["call"]


def test_a_record_that_names_its_own_run_as_the_child_counts(journal):
    opened(journal, "r", "s", response(0, source=child("r"), total_tokens=5))
    [used] = Audit(journal).usage(by=("run",))
    assert used.total_tokens == 5


def used(journal):
    [found] = Audit(journal).usage(by=("run",))
    return found.responses, found.total_tokens, found.cost_micros


def test_a_retry_of_many_responses_counts_them_once(journal):
    opened(
        journal, "r", "s",
        *(response(at, at % 400, str(at % 400), total_tokens=1) for at in range(800)),
    )  # fmt: skip
    assert used(journal) == (400, 400, 0)


def test_a_note_does_not_make_a_run_one_that_streams(journal):
    run = checkpointed(journal)
    run.append(record(0, "custom", event={"kind": "note", "payload": {}}))
    run.append(record(1, "node_start", node="run_start", step=1, status="running"))
    assert used(journal) == (1, 7, 0)
    assert [(call.call_id, call.outcome) for call in Audit(journal).tools()] == [("a", "ok")]
    run.append(response(2, total_tokens=5))
    assert used(journal) == (1, 5, 0)


def turn(sequence, step, micros, source=None, text="well"):
    return response(sequence, step, text, total_tokens=5, source=source), snapshot(
        sequence + 1, micros, source
    )


def test_a_retry_costs_nothing_as_far_as_it_repeats(journal):
    run = opened(journal, "r", "s", *turn(0, 1, 100), *turn(2, 2, 200))
    run.append_many([*turn(4, 1, 100), *turn(6, 2, 200)])
    assert used(journal) == (2, 10, 200)
    run.append_many(turn(8, 3, 350))
    assert used(journal) == (3, 15, 350)


def test_a_retry_that_goes_another_way_costs_what_it_adds(journal):
    run = opened(journal, "r", "s", *turn(0, 1, 100), *turn(2, 2, 200))
    run.append_many([*turn(4, 1, 100), *turn(6, 2, 190, text="otherwise")])
    assert used(journal) == (3, 15, 290)
    run.append_many([*turn(8, 1, 100), *turn(10, 2, 200), snapshot(12, 230)])
    assert used(journal) == (3, 15, 320)


def test_the_retry_of_a_child_leaves_the_cost_of_others_alone(journal):
    one, other = child("one"), child("other")
    run = opened(journal, "r", "s", *turn(0, 1, 100, one), *turn(2, 1, 10, other), *turn(4, 1, 1))
    run.append_many([response(6, 1, total_tokens=5, source=one), snapshot(7, 20, other)])
    run.append_many([snapshot(8, 2), snapshot(9, 100, one)])
    assert used(journal) == (3, 15, 100 + 20 + 2)


def test_what_comes_late_is_not_the_last_above_63_bits(journal):
    run = opened(journal, "r", "s", response(MOST - 1, 2, "later"), called(MOST - 2, "c2", "later"))
    run.append_many([response(MOST - 4, 1, "early"), called(MOST - 5, "c1", "early")])
    run.append(failed(MOST))
    [failure] = Audit(journal).failures()
    assert (failure.last_text, failure.last_call.tool) == ("later", "later")


def repeated_answers(journal, **fields):
    run = opened(journal, "r", "s")
    history = []
    for turns in range(3):
        history += [
            samples.user("continue") | fields,
            samples.answer("ok", samples.ZERO | {"total_tokens": 5}) | fields,
        ]
        made = samples.checkpoint(f"k{turns}", "r", messages=history, step=turns)
        run.checkpoint(made | {"stream_cursor": None})
    return run


def prompts(journal):
    found = (each.row for each in Audit(journal).timeline("r"))
    return [row.text for row in found if row.kind == "prompt"]


def test_equal_answers_without_times_are_as_many_as_were_given(journal):
    repeated_answers(journal)
    assert used(journal) == (3, 15, 0)
    assert prompts(journal) == ["continue"] * 3


def test_equal_answers_of_one_time_are_one(journal):
    repeated_answers(journal, timestamp="2026-11-29T20:44:39Z")
    assert used(journal) == (1, 5, 0)
    assert prompts(journal) == ["continue"]


def test_a_history_that_shrank_tells_no_answer_again(journal):
    run = repeated_answers(journal)
    kept = samples.answer("ok", samples.ZERO | {"total_tokens": 5})
    history = [samples.user("in short"), kept]
    for step, answer in enumerate(["new", "newer"], 9):
        made = samples.checkpoint(f"k{step}", "r", messages=history, step=step)
        run.checkpoint(made | {"stream_cursor": None})
        tokens = samples.ZERO | {"total_tokens": 2}
        history += [samples.user("more"), samples.answer(answer, tokens)]
    assert used(journal) == (4, 17, 0)


def test_a_prompt_that_the_record_tells_too_is_one(journal):
    run = opened(journal, "r", "s")
    hello = [{"kind": "text", "text": "continue"}]
    journal.save_run(samples.run_record(input=hello, status="running"))
    history = [samples.user("continue")]
    run.checkpoint(
        samples.checkpoint("k1", "r", messages=history, step=1) | {"stream_cursor": None}
    )
    assert prompts(journal) == ["continue"]
    journal.save_run(samples.run_record(input=hello, status="running", revision=2))
    history += [samples.answer("ok"), samples.user("continue")]
    run.checkpoint(
        samples.checkpoint("k2", "r", messages=history, step=2) | {"stream_cursor": None}
    )
    assert prompts(journal) == ["continue"] * 2
