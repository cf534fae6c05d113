"""A fork and its source part at the fork point, or later where the fork first does the same."""

import pytest

from journal import Journal
from projections import diff_runs, replay
from tests import samples

USERS = [samples.user(f"message {number}") for number in range(12)]


@pytest.fixture
def journal():
    with Journal.open("memory://") as opened:
        yield opened


def go_on(run, messages, first, last):
    """Take records and checkpoints from the first number of messages to the last."""
    for number in range(first, last + 1):
        run.append(samples.record(number, "model_request", step=number))
        run.append(samples.delta(100 + number, f"text {number}", step=number))
        made = samples.checkpoint(
            f"{run.run_id}-{number}",
            run.run_id,
            stream_cursor=number,
            messages=messages[:number],
            step=number,
        )
        run.checkpoint(made)


def source(journal, count=6):
    with journal.run("r", session_id="s", conversation_id="c") as run:
        go_on(run, USERS, 1, count)


def fork(journal, at, messages, first, last, *, of="r", name="f"):
    with journal.fork(replay(journal, of, at), name) as run:
        go_on(run, messages, first, last)


def agree(journal, divergence):
    a, b = (
        replay(journal, branch.run_id, branch.cursor) for branch in (divergence.a, divergence.b)
    )
    assert a.messages == b.messages
    assert (a.live.status, a.live.text) == (b.live.status, b.live.text)
    return len(a.messages)


@pytest.mark.parametrize("at", ["stream:3", "checkpoint:r-3", "version:10"])
@pytest.mark.parametrize("turned", [False, True])
def test_a_fork_parts_from_its_source_at_the_fork_point(journal, at, turned):
    source(journal)
    fork(journal, at, [*USERS[:3], samples.user("other"), USERS[11]], 4, 5)
    diff = diff_runs(journal, *(("f", "r") if turned else ("r", "f")))
    divergence = diff.divergence
    ours, theirs = divergence.a, divergence.b
    if turned:
        ours, theirs = theirs, ours
    assert (ours.cursor, theirs.cursor) == (at, "version:1")
    assert (ours.next.value, theirs.next.value) == (USERS[3], samples.user("other"))
    assert (divergence.messages, agree(journal, divergence)) == (3, 3)


def test_a_fork_of_the_latest_is_at_the_version_that_was_the_latest(journal):
    source(journal, 3)
    fork(journal, "latest", [*USERS[:3], samples.user("other")], 4, 4)
    with journal.run("r") as run:
        go_on(run, USERS, 4, 5)
    divergence = diff_runs(journal, "r", "f").divergence
    assert divergence.a.next.value == USERS[3]
    assert divergence.b.next.value == samples.user("other")
    assert divergence.a.cursor.startswith("version:")
    assert agree(journal, divergence) == 3


def test_a_fork_that_first_did_the_same_parts_later(journal):
    source(journal)
    fork(journal, "stream:2", [*USERS[:5], samples.user("other")], 3, 6)
    divergence = diff_runs(journal, "r", "f").divergence
    assert (divergence.messages, divergence.b.next.value) == (5, samples.user("other"))
    assert agree(journal, divergence) == 5


def test_a_fork_that_did_nothing_yet_is_the_beginning_of_its_source(journal):
    source(journal)
    fork(journal, "stream:3", USERS, 1, 0)
    divergence = diff_runs(journal, "r", "f").divergence
    assert divergence.beginning == "b"
    assert divergence.a.next.value == USERS[3]
    assert agree(journal, divergence) == 3


def test_a_fork_whose_source_ended_there_goes_on(journal):
    source(journal, 3)
    fork(journal, "latest", USERS, 4, 5)
    divergence = diff_runs(journal, "r", "f").divergence
    assert divergence.beginning == "a"
    assert divergence.b.next.value == USERS[3]
    assert agree(journal, divergence) == 3


def test_late_records_of_the_source_move_the_point_to_where_both_still_agree(journal):
    source(journal)
    fork(journal, "stream:3", [*USERS[:3], samples.user("other")], 4, 4)
    late = samples.checkpoint(
        "late", "r", stream_cursor=3, messages=[*USERS[:2], samples.user("late")], step=3
    )
    with journal.run("r") as run:
        run.checkpoint(late)
    divergence = diff_runs(journal, "r", "f").divergence
    assert divergence.a.next.value == USERS[3]
    assert agree(journal, divergence) <= 3


def test_two_forks_of_one_run_are_compared_as_any_two_runs(journal):
    source(journal, 3)
    fork(journal, "latest", [*USERS[:3], samples.user("one")], 4, 4)
    fork(journal, "latest", [*USERS[:3], samples.user("two")], 4, 4, name="g")
    divergence = diff_runs(journal, "f", "g").divergence
    assert (divergence.a.next.value, divergence.b.next.value) == (
        samples.user("one"),
        samples.user("two"),
    )
    assert agree(journal, divergence) == 3


def test_a_fork_of_a_fork_parts_from_it_at_its_own_fork_point(journal):
    source(journal)
    fork(journal, "stream:3", [*USERS[:3], *USERS[6:9]], 4, 6)
    fork(journal, "message:5", [*USERS[:3], *USERS[6:8], samples.user("g")], 6, 6, of="f", name="g")
    divergence = diff_runs(journal, "f", "g").divergence
    assert (divergence.a.cursor, divergence.b.cursor) == ("message:5", "version:1")
    assert agree(journal, divergence) == 5
