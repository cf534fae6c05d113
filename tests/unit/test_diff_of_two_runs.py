"""Two runs are aligned: what a host makes up anew for every run is no difference."""

import pytest

from journal import Journal
from projections import diff_runs
from projections.volatile import VOLATILE
from tests import samples


@pytest.fixture
def journal():
    with Journal.open("memory://") as opened:
        yield opened


def request(*parts, **members):
    return {"kind": "request", "parts": list(parts), **members}


def response(*parts, **members):
    return {"kind": "response", "parts": list(parts), "usage": samples.ZERO, **members}


def prompt(text):
    return {"kind": "user_prompt", "content": text}


def said(text):
    return {"kind": "text", "text": text}


def call(call_id, name="weather", **arguments):
    return {"kind": "tool_call", "id": call_id, "name": name, "arguments": arguments}


def answer(call_id, content, name="weather", **members):
    return {
        "kind": "tool_return",
        "tool_call_id": call_id,
        "name": name,
        "content": content,
        "is_error": False,
        **members,
    }


def history(mark, *, celsius=20, text="It is warm."):
    """Make the messages of a run whose volatile members all hold `mark`."""
    about = {"run_id": mark, "conversation_id": mark, "timestamp": mark}
    provider = {"name": "p", "response_id": mark, "details": {"usage": mark}}
    usage = {**samples.ZERO, "cache_read_tokens": len(mark)}
    metadata = {"duration_ms": len(mark), "duration_seconds": float(len(mark))}
    private = {"python_traceback": mark, "python_exception": "E"}
    wrapped = {
        "kind": "provider_tool_call",
        "call": {"id": f"{mark}-2", "name": "weather", "arguments": {"city": "Rome"}},
        "provider": {"id": mark},
    }
    return [
        request(prompt("How warm is it?"), **about),
        response(call(f"{mark}-1", city="Oslo"), wrapped, provider=provider, **about | {"usage": usage}),
        request(
            answer(f"{mark}-1", {"celsius": celsius}, metadata=metadata, private_metadata=private),
            answer(f"{mark}-2", {"celsius": 30}),
            **about,
        ),
        response(said(text), **about),
    ]  # fmt: skip


def record(journal, run_id, messages, **state):
    with journal.run(run_id, session_id=f"s-{run_id}") as run:
        made = samples.checkpoint(
            f"k-{run_id}", run_id, messages=messages, conversation_id=f"c-{run_id}", **state
        )
        run.checkpoint(made)


def compare(journal, a, b, **state):
    record(journal, "a", a, **state)
    record(journal, "b", b, **state)
    return diff_runs(journal, "a", "b")


def test_volatile_members_do_not_make_runs_different(journal):
    a, b = history("one"), history("other!")
    record(
        journal,
        "a",
        a,
        latest_response={key: value for key, value in a[-1].items() if key != "kind"},
        pending_tool_calls=[{"id": "one-1", "name": "weather", "arguments": {}}],
        pending_tool_returns=[answer("one-1", 1, metadata={"duration_ms": 1})],
        idle_messages=a[:1],
        parent_run_id="p1",
        parent_task_id="t1",
    )
    record(
        journal,
        "b",
        b,
        latest_response={key: value for key, value in b[-1].items() if key != "kind"},
        pending_tool_calls=[{"id": "other-1", "name": "weather", "arguments": {}}],
        pending_tool_returns=[answer("other-1", 1, metadata={"duration_ms": 2})],
        idle_messages=b[:1],
        parent_run_id="p2",
        parent_task_id="t2",
    )
    diff = diff_runs(journal, "a", "b")
    assert diff.same
    assert diff.divergence is None
    assert diff.patch == diff.messages == diff.calls.changes == ()
    assert diff.opened == diff.closed == ()
    assert (diff.calls.made_a, diff.calls.made_b) == (2, 2)


def test_every_volatile_member_has_a_reason():
    assert all(reason for members in VOLATILE.values() for reason in members.values())


@pytest.mark.parametrize(
    "changed",
    [
        {"metadata": {"run_id": "x"}},
        {"model_name": "m"},
        {"finish_reason": "length"},
        {"parts": [said("It is warm."), said("Very.")]},
        {"parts": [{**said("It is warm."), "id": "x"}]},
        {"provider": {"name": "q"}},
    ],
)
def test_what_is_not_volatile_makes_a_message_different(journal, changed):
    a, b = history("one"), history("two")
    b[-1] |= changed
    diff = compare(journal, a, b)
    assert [(each.index_a, each.index_b) for each in diff.messages] == [(3, 3)]
    assert (diff.messages[0].a, diff.messages[0].b) == (a[3], b[3])


def test_what_a_user_or_a_tool_said_is_never_volatile(journal):
    a = [request(prompt("a"), answer("1", {"run_id": "a", "timestamp": 1, "duration_ms": 1}))]
    b = [request(prompt("a"), answer("1", {"run_id": "b", "timestamp": 1, "duration_ms": 1}))]
    diff = compare(journal, a, b)
    assert [operation.to_json() for operation in diff.patch] == [
        {"op": "replace", "path": "/messages/0/parts/1/content/run_id", "value": "b"}
    ]


def test_the_ids_of_children_in_what_a_tool_returned_are_volatile(journal):
    for run_id in ("a", "b"):
        source = {
            "kind": "subagent",
            "agent_id": f"agent-{run_id}",
            "agent_name": "worker",
            "task_id": f"task-{run_id}",
            "run_id": f"child-{run_id}",
            "source_sequence": 0,
        }
        content = {"runs": [{"task_id": f"task-{run_id}", "run_id": f"child-{run_id}", "n": 1}]}
        with journal.run(run_id, session_id=run_id) as run:
            run.append({**samples.record(0), "source": source})
            messages = [request(answer("1", content))]
            run.checkpoint(samples.checkpoint(run_id, run_id, messages=messages))
    assert diff_runs(journal, "a", "b").same


def test_which_call_a_return_answers_is_compared(journal):
    calls = call("1", city="Oslo"), call("2", city="Rome")
    a = [response(*calls), request(answer("1", 20), answer("2", 30))]
    b = [response(*calls), request(answer("2", 20), answer("1", 30))]
    diff = compare(journal, a, b)
    assert [operation.path for operation in diff.patch] == [
        "/messages/1/parts/0/tool_call_id",
        "/messages/1/parts/1/tool_call_id",
    ]
    assert [
        (each.a.arguments, each.a.answer["content"], each.b.answer["content"])
        for each in diff.calls.returned_differently
    ] == [({"city": "Oslo"}, 20, 30), ({"city": "Rome"}, 30, 20)]


def test_a_call_more_at_the_start_leaves_what_follows_aligned(journal):
    a = history("one")
    more = [response(call("x", "look")), request(answer("x", "seen", "look"))]
    b = history("two")
    diff = compare(journal, a, [b[0], *more, *b[1:]])
    assert [(each.index_a, each.index_b) for each in diff.messages] == [(None, 1), (None, 2)]
    assert [made.name for made in diff.calls.only_b] == ["look"]
    assert (diff.calls.only_a, diff.calls.returned_differently) == ((), ())
    assert diff.calls.only_b[0].to_json() == {
        "id": "x",
        "name": "look",
        "arguments": {},
        "message": 1,
        "answer": more[1]["parts"][0],
    }


def test_calls_that_returned_differently_are_named_with_both_answers(journal):
    diff = compare(journal, history("one"), history("two", celsius=21))
    [change] = diff.calls.returned_differently
    assert (change.a.id, change.b.id) == ("one-1", "two-1")
    assert change.a.answer["content"] == {"celsius": 20}
    assert change.b.answer["content"] == {"celsius": 21}
    assert diff.calls.only_a == diff.calls.only_b == ()


def test_a_call_without_an_answer_returned_differently(journal):
    diff = compare(journal, [response(call("1"))], [response(call("2")), request(answer("2", 1))])
    [change] = diff.calls.returned_differently
    assert change.a.answer is None
    assert change.to_json()["b"]["answer"]["content"] == 1


def test_an_id_made_twice_is_two_calls_with_an_answer_each(journal):
    turn = [response(call("1")), request(answer("1", "first"))]
    again = [response(call("1")), request(answer("1", "second"))]
    diff = compare(
        journal, [*turn, *again], [*turn, response(call("1")), request(answer("1", "x"))]
    )
    [change] = diff.calls.changes
    assert (change.a.answer["content"], change.b.answer["content"]) == ("second", "x")


def test_open_calls_go_together_by_what_is_called(journal):
    a = [{"id": "1", "name": "f", "arguments": {}}, {"id": "2", "name": "f", "arguments": {}}]
    b = [{"id": "3", "name": "f", "arguments": {}}, {"id": "4", "name": "g", "arguments": {}}]
    record(journal, "a", [], pending_tool_calls=a)
    record(journal, "b", [], pending_tool_calls=b)
    diff = diff_runs(journal, "a", "b")
    assert [each.id for each in diff.closed] == ["2"]
    assert [each.id for each in diff.opened] == ["4"]


def test_output_error_and_usage_are_compared(journal):
    for run_id, usage in (("a", 1), ("b", 2)):
        with journal.run(run_id, session_id=run_id) as run:
            used = {**samples.ZERO, "input_tokens": usage}
            run.checkpoint(
                samples.checkpoint(run_id, run_id, usage=used, output=f"said by {run_id}")
            )
            if run_id == "b":
                failure = {"error_kind": "model", "message": "down"}
                run.append(samples.record(1, "run_failed", run_id="b", **failure))
    diff = diff_runs(journal, "a", "b")
    assert diff.output.to_json() == {"a": "said by a", "b": "said by b"}
    assert diff.error.to_json() == {"a": None, "b": {"error_kind": "model", "message": "down"}}
    assert diff.usage["input_tokens"].to_json() == {"a": 1, "b": 2}
    assert set(diff.usage) == {"input_tokens"}
    assert diff.state.changed == ("usage", "output")


def test_damaged_parts_are_compared_as_they_are(journal):
    odd = {"kind": "odd", "parts": "none"}
    strange = request({"kind": "image", "parts": [1]}, {"kind": "tool_search_call"})
    assert compare(journal, [odd, strange], [odd, strange]).same
