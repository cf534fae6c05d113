"""A diff says what changed between two views, and nothing else."""

import pytest

from journal import Journal
from projections import LATEST, StreamCursor, replay, run_diff
from tests import samples

USERS = [samples.user(f"message {number}") for number in range(8)]
NO_CALLS = {"made": {"a": 0, "b": 0}, "only_a": [], "only_b": [], "returned_differently": []}
CALL = {"id": "call-1", "name": "deploy", "arguments": {"to": "prod"}}


@pytest.fixture
def journal():
    with Journal.open("memory://") as opened:
        yield opened


def histories(journal, *found):
    """Compare the views of two runs whose checkpoints hold these histories."""
    views = []
    for run_id, messages in zip("ab", found, strict=True):
        run = journal.run(run_id, session_id=run_id)
        run.checkpoint(samples.checkpoint(run_id=run_id, messages=messages))
        views.append(replay(journal, run_id))
    return run_diff(*views)


def places(changes):
    return [(change.index_a, change.index_b) for change in changes]


def test_two_equal_views_are_the_same(journal):
    run = journal.run("r", session_id="s")
    run.checkpoint(samples.checkpoint(messages=USERS[:2]))
    view = replay(journal, "r")
    diff = run_diff(view, view)
    assert diff.same
    assert diff.to_json() == {
        "schema": "runjournal.diff",
        "schema_version": 1,
        "a": {"run_id": "r", "cursor": "latest"},
        "b": {"run_id": "r", "cursor": "latest"},
        "same": True,
        "divergence": None,
        "status": None,
        "output": None,
        "error": None,
        "messages": {"added": [], "removed": [], "changed": []},
        "usage": {},
        "state": {"added": [], "removed": [], "changed": []},
        "tool_calls": {"opened": [], "closed": [], **NO_CALLS},
        "patch": [],
    }


def test_a_run_that_went_on_tells_what_it_did(journal):
    run = journal.run("r", session_id="s")
    run.checkpoint(samples.checkpoint("k1", stream_cursor=0, messages=USERS[:1], idle_messages=[]))
    run.append(samples.record(1, "tool_call", step=0, call=CALL))
    usage = {**samples.ZERO, "requests": 1, "cache_write_1h_tokens": 5}
    done = samples.checkpoint(
        "k2", stream_cursor=2, step=1, status="completed", messages=USERS[:2], output="x",
        usage=usage,
    )  # fmt: skip
    run.checkpoint(done)
    diff = run_diff(replay(journal, "r", StreamCursor(1)), replay(journal, "r", LATEST))
    assert not diff.same
    assert diff.to_json() == {
        "schema": "runjournal.diff",
        "schema_version": 1,
        "a": {"run_id": "r", "cursor": "stream:1"},
        "b": {"run_id": "r", "cursor": "latest"},
        "same": False,
        "divergence": {
            "messages": 1,
            "beginning": "a",
            "a": {"run_id": "r", "cursor": "stream:1", "next": None},
            "b": {
                "run_id": "r",
                "cursor": "stream:1",
                "next": {"kind": "message", "at": 1, "value": USERS[1]},
            },
        },
        "status": {"a": "running", "b": "completed"},
        "output": {"a": None, "b": "x"},
        "error": None,
        "messages": {
            "added": [{"index_a": None, "index_b": 1, "a": None, "b": USERS[1]}],
            "removed": [],
            "changed": [],
        },
        "usage": {"requests": {"a": 0, "b": 1}, "cache_write_1h_tokens": {"a": None, "b": 5}},
        "state": {
            "added": ["output"],
            "removed": ["idle_messages"],
            "changed": ["usage", "run_step", "status"],
        },
        "tool_calls": {"opened": [], "closed": [CALL], **NO_CALLS},
        "patch": [
            {"op": "remove", "path": "/checkpoint/state/idle_messages"},
            {"op": "replace", "path": "/checkpoint/state/usage/requests", "value": 1},
            {"op": "add", "path": "/checkpoint/state/usage/cache_write_1h_tokens", "value": 5},
            {"op": "replace", "path": "/checkpoint/state/run_step", "value": 1},
            {"op": "replace", "path": "/checkpoint/state/status", "value": "completed"},
            {"op": "add", "path": "/checkpoint/state/output", "value": "x"},
            {"op": "add", "path": "/messages/1", "value": USERS[1]},
            {"op": "replace", "path": "/live/status", "value": "completed"},
            {"op": "remove", "path": "/live/open_tool_calls/0"},
            {"op": "replace", "path": "/live/usage/requests", "value": 1},
            {"op": "add", "path": "/live/usage/cache_write_1h_tokens", "value": 5},
            {"op": "replace", "path": "/live/output", "value": "x"},
        ],
    }
    back = run_diff(replay(journal, "r", LATEST), replay(journal, "r", StreamCursor(1)))
    assert places(back.removed) == [(1, None)]
    assert back.removed[0].a == USERS[1]
    assert [call.id for call in back.opened] == ["call-1"]


def test_a_rewritten_message_is_changed_and_the_others_stay(journal):
    diff = histories(journal, USERS[:4], [USERS[0], samples.user("new"), *USERS[2:4]])
    assert places(diff.messages) == places(diff.changed) == [(1, 1)]
    assert (diff.changed[0].a, diff.changed[0].b) == (USERS[1], samples.user("new"))
    assert diff.added == diff.removed == ()


def test_a_compacted_history_shows_what_went_and_what_came(journal):
    diff = histories(journal, USERS[:6], [samples.user("summary"), *USERS[4:7]])
    assert places(diff.changed) == [(0, 0)]
    assert places(diff.removed) == [(1, None), (2, None), (3, None)]
    assert places(diff.added) == [(None, 3)]


def test_one_becoming_several_is_a_change_and_additions(journal):
    diff = histories(journal, USERS[:2], [USERS[0], *USERS[3:6]])
    assert places(diff.messages) == [(1, 1), (None, 2), (None, 3)]


def test_messages_are_compared_by_json_type(journal):
    one, true = ({**USERS[0], "metadata": {"n": n}} for n in (1, True))
    reordered = dict(reversed(USERS[1].items()))
    assert places(histories(journal, [one, USERS[1]], [true, reordered]).messages) == [(0, 0)]


def test_a_view_without_checkpoint_has_no_state(journal):
    journal.run("a", session_id="s")
    journal.run("b", session_id="s").checkpoint(samples.checkpoint(run_id="b"))
    diff = run_diff(replay(journal, "a"), replay(journal, "b"))
    assert diff.status.to_json() == {"a": None, "b": "running"}
    assert diff.state.removed == diff.state.changed == ()
    assert "message_history" not in diff.state.added
    assert "run_step" in diff.state.added


def test_in_one_run_ids_are_compared(journal):
    run = journal.run("r", session_id="s")
    for at, call_id in enumerate(("one", "other")):
        part = {"kind": "tool_call", "id": call_id, "name": "f", "arguments": {}}
        message = {"kind": "response", "parts": [part], "usage": samples.ZERO}
        run.checkpoint(samples.checkpoint(f"k{at}", stream_cursor=at, messages=[message]))
    diff = run_diff(replay(journal, "r", StreamCursor(0)), replay(journal, "r"))
    assert places(diff.changed) == [(0, 0)]
    assert [call.id for call in diff.calls.only_a] == ["one"]
    assert [call.id for call in diff.calls.only_b] == ["other"]
    assert [operation.to_json() for operation in diff.patch] == [
        {"op": "replace", "path": "/messages/0/parts/0/id", "value": "other"}
    ]


def test_within_one_run_both_agree_at_the_earlier_cursor(journal):
    run = journal.run("r", session_id="s")
    run.checkpoint(samples.checkpoint("k0", stream_cursor=0, messages=USERS[:4]))
    compacted = [samples.user("summary"), USERS[4]]
    run.checkpoint(samples.checkpoint("k1", stream_cursor=1, messages=compacted))
    there, back = replay(journal, "r", "stream:0"), replay(journal, "r", "checkpoint:k1")
    for a, b in ((there, back), (back, there)):
        divergence = run_diff(a, b).divergence
        assert (divergence.messages, divergence.beginning) == (0, None)
        assert divergence.a.cursor == divergence.b.cursor == "stream:0"
    assert divergence.a.next.value == compacted[0]
    assert divergence.b.next.value == USERS[0]
