"""The canonical history at a cursor, and the cursors that count its messages."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journal import Journal
from journal.errors import CursorOutOfRange
from projections import LATEST, MessageCursor, StreamCursor, VersionCursor, parse_cursor, replay
from projections.fold import RunFold, evolve
from projections.order import anchored
from tests import samples

USERS = [samples.user(f"message {number}") for number in range(12)]


@pytest.fixture
def journal():
    with Journal.open("memory://") as opened:
        yield opened


@pytest.fixture
def run(journal):
    return journal.run("r", session_id="s")


def response(sequence, step, text="answer"):
    answer = {"parts": [{"kind": "text", "text": text}], "usage": samples.ZERO}
    return samples.record(sequence, "model_response", step=step, response=answer)


def checkpoint(sequence, messages, step=0):
    made = samples.checkpoint(
        f"k{sequence}", stream_cursor=sequence, messages=USERS[:messages], step=step
    )
    made["state"]["metadata"] = {"at": sequence}
    return made


def texts(view):
    return [
        part.get("content", part.get("text"))
        for message in view.messages
        for part in message["parts"]
    ]


def test_responses_after_the_checkpoint_are_messages_of_kind_response(journal, run):
    run.checkpoint(checkpoint(1, 1))
    run.append(response(2, 1))
    assert replay(journal, "r").messages == (USERS[0], samples.answer("answer"))
    assert replay(journal, "r", StreamCursor(1)).messages == (USERS[0],)


def test_a_response_the_checkpoint_already_holds_is_not_repeated(journal, run):
    run.checkpoint(checkpoint(1, 2, step=1))
    run.append_many([response(2, 1), response(3, 2, "next")])
    assert texts(replay(journal, "r")) == ["message 0", "message 1", "next"]


def test_without_a_checkpoint_every_response_is_a_message(journal, run):
    run.append_many([response(2, 0, "b"), response(1, 0, "a")])
    assert texts(replay(journal, "r")) == ["a", "b"]


def test_final_results_in_the_stream_are_no_messages(journal, run):
    final = {"kind": "final_result", "parts": [], "usage": samples.ZERO}
    run.append(samples.record(0, "model_stream", step=0, event=final))
    assert replay(journal, "r").messages == ()


def test_a_later_exported_context_is_the_history(journal, run):
    run.checkpoint(checkpoint(1, 1))
    run.append(response(2, 1))
    run.export_context(samples.context(USERS[:3]))
    run.append(response(3, 2, "more"))
    view = replay(journal, "r")
    assert texts(view) == ["message 0", "message 1", "message 2", "more"]
    assert view.cursor.message == 4
    run.checkpoint(checkpoint(4, 2, step=2))
    assert texts(replay(journal, "r")) == ["message 0", "message 1"]


def test_a_later_context_without_history_is_not(journal, run):
    run.checkpoint(checkpoint(1, 1))
    run.export_context({"agent_id": "main"})
    run.export_context({"agent_id": "main", "message_history": None})
    view = replay(journal, "r")
    assert view.messages == (USERS[0],)
    assert view.context_state == {"agent_id": "main", "message_history": None}


def test_the_usage_of_responses_stays_counted_after_an_export(journal, run):
    answer = {"parts": [], "usage": {**samples.ZERO, "requests": 1}}
    run.append(samples.record(0, "model_response", step=1, response=answer))
    run.export_context(samples.context(USERS[:2]))
    assert replay(journal, "r").live.usage["requests"] == 1


def place(journal, text):
    view = replay(journal, "r", parse_cursor(text))
    cursor = view.cursor
    assert cursor.message == len(view.messages)
    return cursor.stream, cursor.message, cursor.epoch, cursor.derived


def refused(journal, text):
    with pytest.raises(CursorOutOfRange) as caught:
        replay(journal, "r", parse_cursor(text))
    return caught.value.smallest, caught.value.largest


def test_message_is_the_last_point_with_so_many_before_there_were_more(journal, run):
    run.append_many([samples.record(0), response(1, 1), samples.record(2), response(3, 2)])
    run.append(samples.record(4))
    assert place(journal, "message:0") == (0, 0, 1, False)
    assert place(journal, "message:1") == (2, 1, 1, False)
    assert place(journal, "message:2") == (4, 2, 1, False)
    assert refused(journal, "message:3") == ("message:0", "message:2")


def test_where_the_number_jumps_the_messages_are_the_first_of_the_state_after(journal, run):
    run.append_many([samples.record(0), samples.record(1)])
    run.checkpoint(checkpoint(1, 3))
    for number in (1, 2):
        view = replay(journal, "r", MessageCursor(number))
        assert place(journal, f"message:{number}") == (1, number, 1, True)
        assert view.messages == tuple(USERS[:number])
        assert (view.checkpoint, view.cursor.version) == (None, 3)
    assert place(journal, "message:0") == (1, 0, 1, False)
    assert place(journal, "message:3") == (1, 3, 1, False)


def test_an_exported_context_that_jumps_is_cut_too(journal, run):
    run.append(samples.record(0))
    run.export_context(samples.context(USERS[:3]))
    assert replay(journal, "r", MessageCursor(2)).messages == tuple(USERS[:2])


@pytest.fixture
def compacted(journal, run):
    """Grows to five messages, is compacted to two, grows to four, is emptied, has one."""
    for sequence, messages in enumerate([1, 3, 5, 2, 4, 0, 1]):
        run.append(samples.record(sequence))
        run.checkpoint(checkpoint(sequence, messages))
    return journal


def test_the_latest_epoch_that_reached_the_number_is_meant(compacted):
    assert place(compacted, "message:5") == (3, 5, 1, False)
    assert place(compacted, "message:4") == (5, 4, 2, False)
    assert place(compacted, "message:3") == (4, 3, 2, True)
    assert place(compacted, "message:2") == (4, 2, 2, False)
    assert place(compacted, "message:1") == (6, 1, 3, False)
    assert place(compacted, "message:0") == (6, 0, 3, False)


def test_an_epoch_can_be_named(compacted):
    assert place(compacted, "message:0@1") == (0, 0, 1, False)
    assert place(compacted, "message:1@1") == (1, 1, 1, False)
    assert place(compacted, "message:4@1") == (2, 4, 1, True)
    assert place(compacted, "message:5@1") == (3, 5, 1, False)
    assert place(compacted, "message:2@2") == (4, 2, 2, False)
    assert place(compacted, "message:0@3") == (6, 0, 3, False)


def test_the_point_is_right_before_the_event_that_changes_the_number(compacted):
    exact = replay(compacted, "r", MessageCursor(5))
    assert (exact.cursor.version, exact.cursor.checkpoint_id) == (8, "k2")
    fell = replay(compacted, "r", VersionCursor(9))
    assert (fell.cursor.message, fell.cursor.epoch) == (2, 2)


def test_an_epoch_that_began_with_more_is_meant_only_where_it_is_named(journal, run):
    for sequence, messages in enumerate([1, 2, 5, 3, 4]):
        run.append(samples.record(sequence))
        run.checkpoint(checkpoint(sequence, messages))
    assert place(journal, "message:0") == (0, 0, 1, False)
    assert place(journal, "message:2") == (2, 2, 1, False)
    assert place(journal, "message:3") == (4, 3, 2, False)
    assert place(journal, "message:2@2") == (3, 2, 2, True)


def test_an_epoch_that_began_with_more_is_cut_where_it_began(compacted):
    view = replay(compacted, "r", MessageCursor(1, epoch=2))
    assert place(compacted, "message:1@2") == (3, 1, 2, True)
    assert view.messages == (USERS[0],)
    assert view.cursor.checkpoint_id == "k2"


def test_outside_an_epoch_its_range_is_stated(compacted):
    assert refused(compacted, "message:6") == ("message:0", "message:5")
    assert refused(compacted, "message:5@2") == ("message:0@2", "message:4@2")
    assert refused(compacted, "message:2@3") == ("message:0@3", "message:1@3")
    assert refused(compacted, "message:0@4") == ("message:0@1", "message:1@3")


def test_every_view_says_its_epoch(compacted):
    epochs = [replay(compacted, "r", StreamCursor(n)).cursor.epoch for n in range(7)]
    assert epochs == [1, 1, 1, 2, 2, 3, 3]
    assert replay(compacted, "r", LATEST).cursor.epoch == 3


changes = st.lists(
    st.tuples(st.sampled_from(["checkpoint", "context", "response", "other"]), st.integers(0, 6)),
    min_size=1,
    max_size=12,
)


@given(changes, st.integers(0, 8), st.none() | st.integers(1, 4), st.randoms())
def test_message_cursors_agree_with_a_look_at_every_place(steps, wanted, epoch, rng):
    offered = []
    for sequence, (what, number) in enumerate(steps):
        match what:
            case "checkpoint":
                offered.append(("checkpoint", checkpoint(sequence, number, step=number)))
            case "context":
                offered.append(("export_context", samples.context(USERS[:number], at=sequence)))
            case "response":
                offered.append(("append", response(sequence, number)))
            case _:
                offered.append(("append", samples.record(sequence)))
    rng.shuffle(offered)
    with Journal.open("memory://") as journal:
        run = journal.run("r", session_id="s")
        for verb, value in offered:
            getattr(run, verb)(value)
        expect_message(journal, MessageCursor(wanted, epoch=epoch))


def expect_message(journal, cursor):
    """Compare with the definition, taken literally over the views at every place."""
    views = places(journal)
    epochs: dict[int, list[int]] = {}
    for at, (_, epoch, _) in enumerate(views):
        epochs.setdefault(epoch, []).append(at)
    if cursor.epoch is None:
        chosen = [
            e
            for e, at in epochs.items()
            if views[at[0]][0] <= cursor.messages <= max(views[place][0] for place in at)
        ]
    else:
        chosen = [e for e in epochs if e == cursor.epoch]
    inside = epochs[chosen[-1]] if chosen else []
    if not inside or max(views[at][0] for at in inside) < cursor.messages:
        with pytest.raises(CursorOutOfRange):
            replay(journal, "r", cursor)
        return
    found = replay(journal, "r", cursor)
    more = [at for at in inside if views[at][0] > cursor.messages]
    end = more[0] if more else inside[-1] + 1
    exact = [at for at in inside if at < end and views[at][0] == cursor.messages]
    assert found.cursor.derived == (not exact)
    assert found.cursor.epoch == chosen[-1]
    assert found.cursor.version == views[end - 1][2]
    assert found.cursor.message == cursor.messages == len(found.messages)


def places(journal):
    """Tell messages, epoch and last version at every place of a run in logical order."""
    fold = RunFold()
    seen = []
    for entry in sorted(anchored(journal.reader.run_events("r"))):
        evolve(fold, entry)
        history = {}
        if fold.history:
            [event] = journal.reader.events(fold.history.stream, [fold.history.version])
            history = journal.reader.document(event)
        known = history.get("state", history).get("message_history", [])
        seen.append([len(known) + len(fold.responses), 1, entry.version])
    for before, here in pairwise(seen):
        here[1] = before[1] + (here[0] < before[0])
    return seen
