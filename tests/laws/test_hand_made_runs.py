"""Small runs made by hand, each with the right answers written out: order and cursors."""

import pytest

from journal import Journal
from journal.errors import (
    CheckpointNotFound,
    CursorOutOfRange,
    RecordConflict,
    RunConflict,
    RunNotFound,
)
from projections import parse_cursor, replay
from tests.laws.by_hand import call, give, open_ids, returned, sequences, texts, tool_return
from tests.samples import answer, checkpoint, delta, record, user


class TestTwoToolCallsBeforeAnyReturn:
    def test_each_stays_open_until_its_own_return(self, run, see):
        give(
            run,
            record(0, "run_start", run_id="r", conversation_id="c"),
            call(1, "a", at=1),
            call(2, "b", at=2),
            tool_return(3, "b"),
            tool_return(4, "a"),
        )
        assert open_ids(see("stream:0")) == []
        assert open_ids(see("stream:1")) == ["a"]
        assert open_ids(see("stream:2")) == ["a", "b"]
        assert open_ids(see("stream:3")) == ["a"]
        assert open_ids(see("stream:4")) == []
        assert see("stream:2")["live"]["open_tool_calls"] == [
            {"id": "a", "name": "look", "arguments": {"at": 1}},
            {"id": "b", "name": "look", "arguments": {"at": 2}},
        ]

    def test_pending_calls_count_once_and_before_their_record_is_seen(self, run, see):
        pending = [{"id": one, "name": "look", "arguments": {}} for one in ("a", "b")]
        give(
            run,
            checkpoint("k", stream_cursor=0, pending_tool_calls=pending),
            call(1, "b"),
            call(2, "c"),
            tool_return(3, "a"),
        )
        assert open_ids(see("checkpoint:k")) == ["a", "b"]
        assert open_ids(see("stream:1")) == ["a", "b"]
        assert open_ids(see("stream:2")) == ["a", "b", "c"]
        assert open_ids(see("stream:3")) == ["b", "c"]

    @pytest.mark.parametrize(
        "held", ["pending_tool_returns", "pending_approval_tool_returns", "deferred_tool_returns"]
    )
    def test_a_return_that_the_checkpoint_holds_closes_its_call(self, run, see, held):
        pending = [{"id": one, "name": "look", "arguments": {}} for one in ("a", "b")]
        state = {"pending_tool_calls": pending, held: [returned("a")]}
        give(run, checkpoint("k", **state))
        assert open_ids(see()) == ["b"]

    def test_a_return_in_the_history_closes_a_call_that_is_still_listed(self, run, see):
        pending = [{"id": one, "name": "look", "arguments": {}} for one in ("a", "b")]
        history = [{"kind": "request", "parts": [{"kind": "tool_return", **returned("b")}]}]
        give(run, checkpoint("k", messages=history, pending_tool_calls=pending))
        assert open_ids(see()) == ["a"]


class TestALateBlockOfRecords:
    @pytest.fixture(autouse=True)
    def late(self, run):
        give(
            run,
            record(0, "model_request", step=0),  # version 2
            delta(1, "one "),
            delta(6, "six "),
            checkpoint("k", stream_cursor=3, messages=[user("hi")]),  # version 5
            delta(2, "two "),
            delta(3, "three "),
            delta(4, "four "),
            delta(7, "seven "),  # version 9
        )

    def test_takes_its_place_in_the_order(self, see):
        assert see()["live"]["text"] == "one two three four six seven "
        assert see("stream:3")["live"]["text"] == "one two three "
        assert see("stream:6")["live"]["text"] == "one two three four six "

    def test_leaves_what_was_known_at_a_version_alone(self, see):
        assert see("version:5")["live"]["text"] == "one six "
        assert sequences(see("version:5")) == [6]
        assert see("version:6")["live"]["text"] == "one two six "

    def test_goes_before_or_after_the_checkpoint_by_its_sequence(self, see):
        assert see("stream:2")["checkpoint"] is None
        assert sequences(see("stream:2")) == [0, 1, 2]
        assert see("stream:3")["cursor"]["checkpoint_id"] == "k"
        assert sequences(see("stream:3")) == []
        assert sequences(see("stream:6")) == [4, 6]
        assert see("checkpoint:k")["live"]["last_sequence"] == 3

    def test_names_the_last_event_in_logical_order(self, see):
        assert see("stream:2")["cursor"] == {
            "requested": "stream:2",
            "version": 6,
            "stream": 2,
            "message": 0,
            "epoch": 1,
            "checkpoint_id": None,
            "derived": False,
        }
        assert see("stream:3")["cursor"]["version"] == 5
        assert see("version:8")["cursor"]["version"] == 4
        assert see("version:8")["cursor"]["stream"] == 6

    def test_skips_missing_sequences_and_states_the_range_outside(self, see):
        assert see("stream:5")["cursor"]["stream"] == 4
        with pytest.raises(CursorOutOfRange, match="to stream:7"):
            see("stream:8")


class TestACheckpointWithoutStreamCursor:
    def test_stands_after_the_largest_sequence_that_had_arrived(self, run, see):
        give(
            run,
            record(0),
            record(5),
            checkpoint("k", stream_cursor=None, messages=[user("hi")]),
            record(3),
            record(6),
        )
        assert see("stream:3")["checkpoint"] is None
        assert see("stream:5")["cursor"]["checkpoint_id"] == "k"
        assert sequences(see("stream:5")) == []
        assert sequences(see("stream:6")) == [6]
        assert see("checkpoint:k")["cursor"]["stream"] == 5
        assert see("checkpoint:k")["live"]["last_sequence"] == 5

    def test_reads_null_as_absent_and_gives_it_back(self, run, see):
        taken = checkpoint("k", stream_cursor=None)
        taken["resume"]["cursor"]["stream_cursor"] = None
        give(run, record(4), taken)
        assert see("stream:4")["checkpoint"] == taken

    def test_before_any_record_stands_at_the_very_start(self, run, see):
        give(run, checkpoint("k", stream_cursor=None, messages=[user("hi")]), record(0))
        assert see("checkpoint:k")["cursor"]["stream"] is None
        assert see("checkpoint:k")["live"]["last_sequence"] is None
        assert sequences(see()) == [0]

    def test_the_latest_checkpoint_is_the_last_in_order_not_the_largest_id(self, run, see):
        give(run, checkpoint("z", stream_cursor=1), checkpoint("a", stream_cursor=2))
        give(run, checkpoint("m", stream_cursor=0))
        assert see()["cursor"]["checkpoint_id"] == "a"

    def test_of_two_at_one_sequence_the_one_that_came_later_is_the_latest(self, run, see):
        give(run, checkpoint("z", stream_cursor=1), checkpoint("a", stream_cursor=1), record(1))
        assert see("checkpoint:z")["live"]["last_sequence"] == 1
        assert see("stream:1")["cursor"]["checkpoint_id"] == "a"


class TestACompaction:
    """Numbers of messages by sequence: 0:2, 2:4, 4:6, then compacted 6:2, 8:5, and 10:1."""

    @pytest.fixture(autouse=True)
    def compacted(self, run):
        first = [user("1"), answer("2"), user("3"), answer("4"), user("5"), answer("6")]
        second = [user("summary"), answer("B"), user("C"), answer("D"), user("E")]
        for sequence, history in (
            (0, first[:2]),
            (2, first[:4]),
            (4, first),
            (6, second[:2]),
            (8, second),
            (10, [user("again")]),
        ):
            give(run, record(sequence), record(sequence + 1))
            give(run, checkpoint(f"k{sequence}", stream_cursor=sequence, messages=history))

    def test_every_history_comes_back_as_it_was(self, see):
        assert texts(see("stream:5")) == ["1", "2", "3", "4", "5", "6"]
        assert texts(see("stream:7")) == ["summary", "B"]
        assert texts(see("checkpoint:k8")) == ["summary", "B", "C", "D", "E"]
        assert texts(see()) == ["again"]

    def test_an_epoch_ends_where_the_number_falls(self, see):
        assert [see(f"stream:{at}")["cursor"]["epoch"] for at in (5, 6, 9, 10)] == [1, 2, 2, 3]

    def test_a_number_that_was_there_is_its_last_point(self, see):
        for cursor, stream, epoch, last in (
            ("message:4@1", 4, 1, "4"),
            ("message:6", 6, 1, "6"),
            ("message:2", 8, 2, "B"),
            ("message:2@1", 2, 1, "2"),
            ("message:5", 10, 2, "E"),
            ("message:1", 11, 3, "again"),
        ):
            view = see(cursor)
            assert (view["cursor"]["stream"], view["cursor"]["epoch"]) == (stream, epoch)
            assert texts(view)[-1] == last
            assert view["cursor"]["derived"] is False
            assert view["cursor"]["message"] == len(view["messages"])

    def test_a_number_jumped_over_is_taken_from_the_state_after_the_jump(self, see):
        view = see("message:3")
        assert view["cursor"] == {
            "requested": "message:3",
            "version": 14,
            "stream": 8,
            "message": 3,
            "epoch": 2,
            "checkpoint_id": "k6",
            "derived": True,
        }
        assert texts(view) == ["summary", "B", "C"]
        assert texts(see("message:3@1")) == ["1", "2", "3"]
        assert see("message:3@1")["cursor"]["stream"] == 2
        assert texts(see("message:1@1")) == ["1"]

    def test_a_number_below_an_epochs_first_state_is_taken_from_that_state(self, see):
        view = see("message:1@2")
        assert texts(view) == ["summary"]
        assert view["cursor"] == {
            "requested": "message:1@2",
            "version": 11,
            "stream": 6,
            "message": 1,
            "epoch": 2,
            "checkpoint_id": "k4",
            "derived": True,
        }

    def test_an_epoch_that_never_got_there_is_an_error(self, see):
        for cursor in ("message:7", "message:6@2", "message:2@3", "message:1@4"):
            with pytest.raises(CursorOutOfRange):
                see(cursor)

    def test_before_the_first_message_there_were_none(self, see):
        assert see("message:0@1")["cursor"]["stream"] == 0
        assert see("message:0@1")["cursor"]["checkpoint_id"] is None


class TestWhatIsHandedInAgain:
    @pytest.mark.parametrize("late", [False, True], ids=["at once", "later"])
    def test_the_same_gives_the_first_receipt_and_changes_nothing(self, run, see, late):
        receipts = run.append(record(3)), run.checkpoint(checkpoint("k"))
        if late:
            give(run, record(4), checkpoint("l", stream_cursor=4, messages=[user("hi")]))
        before = see()
        again = run.append(record(3)), run.checkpoint(checkpoint("k"))
        for first, second in zip(receipts, again, strict=True):
            assert (second.version, second.position) == (first.version, first.position)
            assert (first.repeated, second.repeated) == (False, True)
        assert see() == before

    @pytest.mark.parametrize("step", [2, 1.0, True])
    def test_something_else_under_the_same_sequence_is_a_conflict(self, run, see, step):
        held = record(3, "brand_new", step=1)
        give(run, held)
        with pytest.raises(RecordConflict) as caught:
            run.append(record(3, "brand_new", step=step))
        assert (caught.value.held, caught.value.offered) == (1, step)
        assert see()["tail"] == [held]

    def test_something_else_under_the_same_checkpoint_id_is_a_conflict(self, run, see):
        give(run, checkpoint("k", messages=[user("hi")]))
        with pytest.raises(RecordConflict):
            run.checkpoint(checkpoint("k", messages=[user("HI")]))
        assert texts(see()) == ["hi"]


class TestRunsOfOtherSessions:
    def test_a_run_id_taken_in_another_session_is_a_conflict(self, journal, run, see):
        give(run, record(0))
        with pytest.raises(RunConflict, match="session"):
            journal.run("r", session_id="other")
        with pytest.raises(RunConflict, match="session"):
            journal.commit_checkpoint("other", checkpoint("k"))
        assert see()["session_id"] == "s"
        assert see()["checkpoint"] is None

    def test_a_checkpoint_of_another_run_is_not_found(self, journal, run, see):
        give(run, checkpoint("k"))
        other = journal.run("q", session_id="s", conversation_id="c")
        give(other, checkpoint("mine", run_id="q", messages=[user("hi")]))
        with pytest.raises(CheckpointNotFound):
            see("checkpoint:mine")
        assert texts(see("checkpoint:mine", "q")) == ["hi"]

    def test_an_unknown_run_is_an_error_of_its_own(self, see):
        with pytest.raises(RunNotFound):
            see(run_id="nobody")


def test_the_largest_sequence_there_is_has_its_place(tmp_path):
    largest = 2**64 - 1
    with Journal.open(tmp_path / "runs.db") as journal:
        run = journal.run("r", session_id="s")
        give(run, record(largest), record(0), checkpoint("k", stream_cursor=largest - 1))
        view = replay(journal, "r", at=parse_cursor(f"stream:{largest}")).to_json()
        assert view["cursor"]["stream"] == largest
        assert sequences(view) == [largest]
        before = replay(journal, "r", at=parse_cursor(f"stream:{largest - 1}")).to_json()
        assert before["cursor"]["checkpoint_id"] == "k"
