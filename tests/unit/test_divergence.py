"""The first divergence of two runs is named, at cursors where both still agree."""

import pytest

from journal import Journal
from projections import LATEST, diff_runs, replay
from tests import samples

USERS = [samples.user(f"message {number}") for number in range(60)]


@pytest.fixture
def journal():
    with Journal.open("memory://") as opened:
        yield opened


def record(journal, run_id, *histories, **state):
    """Take a checkpoint of each history, one a stream record."""
    with journal.run(run_id, session_id=f"s-{run_id}") as run:
        for at, messages in enumerate(histories):
            run.append(samples.record(at, "model_request", step=at))
            made = samples.checkpoint(
                f"{run_id}-{at}", run_id, stream_cursor=at, messages=messages, step=at, **state
            )
            run.checkpoint(made)


def growing(messages):
    return [messages[: at + 1] for at in range(len(messages))]


def agree(journal, divergence):
    """Replay both runs to the cursors that are named: they have equal messages there."""
    a, b = (
        replay(journal, branch.run_id, branch.cursor) for branch in (divergence.a, divergence.b)
    )
    assert list(a.messages) == list(b.messages)
    return len(a.messages)


def test_the_first_different_message_is_what_each_does_next(journal):
    record(journal, "a", *growing([*USERS[:3], samples.user("left")]))
    record(journal, "b", *growing([*USERS[:3], samples.user("right"), USERS[9]]))
    divergence = diff_runs(journal, "a", "b").divergence
    assert divergence.to_json() == {
        "messages": 3,
        "beginning": None,
        "a": {
            "run_id": "a",
            "cursor": "message:3@1",
            "next": {"kind": "message", "at": 3, "value": samples.user("left")},
        },
        "b": {
            "run_id": "b",
            "cursor": "message:3@1",
            "next": {"kind": "message", "at": 3, "value": samples.user("right")},
        },
    }
    assert agree(journal, divergence) == 3


@pytest.mark.parametrize("swapped", [False, True])
def test_a_run_that_is_the_beginning_of_the_other_is_called_so(journal, swapped):
    record(journal, "short", *growing(USERS[:3]))
    record(journal, "long", *growing(USERS[:5]))
    runs = ("long", "short") if swapped else ("short", "long")
    divergence = diff_runs(journal, *runs).divergence
    assert divergence.beginning == ("b" if swapped else "a")
    assert (divergence.messages, agree(journal, divergence)) == (3, 3)


def test_a_cursor_of_the_shorter_view_is_kept(journal):
    record(journal, "a", *growing(USERS[:5]))
    record(journal, "b", *growing(USERS[:5]))
    divergence = diff_runs(journal, "a", "b", "stream:1", LATEST).divergence
    assert (divergence.beginning, divergence.a.cursor) == ("a", "stream:1")
    assert agree(journal, divergence) == 2


def test_runs_that_do_the_same_do_not_diverge(journal):
    record(journal, "a", *growing(USERS[:3]), usage={**samples.ZERO, "requests": 1})
    record(journal, "b", *growing(USERS[:3]))
    diff = diff_runs(journal, "a", "b")
    assert not diff.same
    assert diff.divergence is None


def test_of_many_epochs_the_first_that_differs_is_found(journal):
    shared = [
        history
        for epoch in range(5)
        for history in growing([samples.user(f"summary {epoch}"), *USERS[:4]])
    ]
    record(journal, "a", *shared, *growing([samples.user("x"), USERS[0]]), USERS[10:11])
    record(journal, "b", *shared, *growing([samples.user("x"), USERS[1]]), USERS[11:12])
    divergence = diff_runs(journal, "a", "b").divergence
    assert divergence.a.cursor == divergence.b.cursor == "message:1@6"
    assert (divergence.a.next.value, divergence.b.next.value) == (USERS[0], USERS[1])
    assert agree(journal, divergence) == 1


def test_a_run_that_compacted_where_the_other_went_on(journal):
    record(journal, "a", *growing(USERS[:4]), [samples.user("summary")])
    record(journal, "b", *growing(USERS[:6]))
    divergence = diff_runs(journal, "a", "b").divergence
    assert (divergence.messages, divergence.b.cursor) == (4, "message:4@1")
    assert divergence.b.next.value == USERS[4]
    assert agree(journal, divergence) == 4


def test_messages_rewritten_later_move_the_cursors_back_to_where_both_agree(journal):
    record(journal, "a", *growing(USERS[:9]), [*USERS[:9], USERS[20]])
    early = [*USERS[:7], samples.user("draft"), USERS[8]]
    record(journal, "b", *growing(early), [*USERS[:9], USERS[21]])
    divergence = diff_runs(journal, "a", "b").divergence
    assert divergence.messages == 9
    assert agree(journal, divergence) == 7
    assert divergence.a.next.value == USERS[20]


def stream(journal, run_id, *records, first=0):
    with journal.run(run_id, session_id=run_id) as run:
        run.append(samples.record(first, "run_start", run_id=run_id, conversation_id=run_id))
        for at, (kind, fields) in enumerate(records, first + 1):
            run.append(samples.record(at, kind, **fields))


def text(*pieces):
    return [
        ("model_stream", {"step": 0, "event": samples.delta(0, piece)["event"]["event"]})
        for piece in pieces
    ]


def test_streamed_text_parts_at_a_stream_cursor(journal):
    stream(journal, "a", ("model_request", {"step": 0}), *text("It ", "is ", "warm"))
    stream(journal, "b", ("model_request", {"step": 0}), *text("It ", "is ", "cold"), first=10)
    divergence = diff_runs(journal, "a", "b").divergence
    assert (divergence.a.cursor, divergence.b.cursor) == ("stream:3", "stream:13")
    assert (divergence.a.next.kind, divergence.a.next.at, divergence.b.next.at) == ("record", 4, 14)
    assert replay(journal, "a", divergence.a.cursor).live.text == "It is "
    assert replay(journal, "b", divergence.b.cursor).live.text == "It is "


def test_a_stream_cut_short_is_the_beginning_of_the_other(journal):
    stream(journal, "a", ("model_request", {"step": 0}), *text("It ", "is "))
    stream(journal, "b", ("model_request", {"step": 0}), *text("It ", "is ", "cold"))
    divergence = diff_runs(journal, "a", "b").divergence
    assert (divergence.beginning, divergence.a.cursor, divergence.b.cursor) == (
        "a", "stream:3", "stream:3"
    )  # fmt: skip


RESPONSE = {"parts": [{"kind": "text", "text": "x"}], "usage": samples.ZERO}
CALL = {"id": "1", "name": "f", "arguments": {}}
RETURN = {"tool_call_id": "1", "name": "f", "content": 1, "is_error": False}


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("run_complete", {"run_id": "a", "output": "x"}, {"run_id": "b", "output": "y"}),
        ("run_failed", {"run_id": "a", "error_kind": "k", "message": "x"},
         {"run_id": "b", "error_kind": "k", "message": "y"}),
        ("suspended", {"node": "tool_call", "reason": "x"}, None),
        ("tool_call", {"step": 0, "call": {**CALL, "id": "2"}},
         {"step": 0, "call": {**CALL, "id": "2", "name": "g"}}),
    ],
)  # fmt: skip
def test_what_each_does_next_may_be_a_record(journal, kind, one, other):
    shared = [
        ("model_request", {"step": 0}),
        ("tool_call", {"step": 0, "call": CALL}),
        ("tool_return", {"step": 0, "tool_return": RETURN}),
        ("custom", {"event": {"kind": "note", "payload": {}}}),
    ]
    stream(journal, "a", *shared, (kind, one))
    stream(journal, "b", *shared, *([] if other is None else [(kind, other)]))
    divergence = diff_runs(journal, "a", "b").divergence
    agreed = "stream:4" if other is None else "stream:3"
    assert divergence.a.cursor == divergence.b.cursor == agreed
    assert divergence.a.next.value["event"] == {"kind": kind, **one}
    assert (divergence.b.next is None) is (other is None)


def test_a_response_with_other_ids_is_the_same_record(journal):
    for run_id in ("a", "b"):
        given = {**RESPONSE, "run_id": run_id, "timestamp": run_id}
        ends = {"run_id": run_id, "reason": f"by {run_id}"}
        stream(
            journal,
            run_id,
            ("model_request", {"step": 0}),
            ("model_response", {"step": 1, "response": given}),
            ("run_cancelled", ends),
            ("tool_return", {"step": 1, "tool_return": {**RETURN, "content": run_id}}),
        )
    assert diff_runs(journal, "a", "b").divergence is None


def test_runs_that_share_nothing_agree_where_they_were_opened(journal):
    stream(journal, "a", ("model_request", {"step": 0}), *text("x"))
    stream(
        journal,
        "b",
        ("model_request", {"step": 1}),
        *text("x"),
        ("suspended", {"node": "tool_call", "reason": "r"}),
    )
    divergence = diff_runs(journal, "a", "b").divergence
    assert divergence.a.cursor == divergence.b.cursor == "version:1"
    assert divergence.a.next.value == samples.record(1, "model_request", step=0)


def test_a_run_against_itself_is_one_run(journal):
    record(journal, "a", *growing(USERS[:3]))
    divergence = diff_runs(journal, "a", "a", "stream:0", "stream:2").divergence
    assert (divergence.a.cursor, divergence.b.cursor) == ("stream:0", "stream:0")
    assert divergence.beginning == "a"


def test_a_run_without_records_is_the_beginning_of_any(journal):
    journal.run("a", session_id="a").release()
    stream(journal, "b", ("model_request", {"step": 0}), *text("x"))
    divergence = diff_runs(journal, "a", "b").divergence
    assert (divergence.beginning, divergence.a.cursor) == ("a", "version:1")
    assert divergence.b.next.value["event"]["kind"] == "model_request"


def test_what_a_child_does_is_not_what_the_run_does(journal):
    for run_id, said in (("a", "x"), ("b", "y")):
        child = samples.delta(2, f"the child says {said}")
        source = {"kind": "subagent", "agent_id": "c", "agent_name": "c", "source_sequence": 0}
        stream(journal, run_id, ("model_request", {"step": 0}))
        with journal.run(run_id) as run:
            run.append({**child, "source": source})
            run.append(samples.delta(3, "the same"))
            run.append(samples.delta(4, said))
    divergence = diff_runs(journal, "a", "b").divergence
    assert (divergence.a.cursor, divergence.a.next.at) == ("stream:3", 4)
