"""Retrying is safe: the same thing again is the first receipt, another thing is refused."""

import copy

import pytest

from journal import Journal
from journal.errors import (
    BatchConflict,
    InvalidEnvelope,
    InvalidJSON,
    InvalidRecord,
    JournalClosed,
    RecordConflict,
    RunConflict,
)
from journal.records import AgentCheckpoint, AgentStreamRecord
from tests import samples


@pytest.fixture
def run(journal):
    return journal.run("r", session_id="s", conversation_id="c")


def documents(journal, run_id="r"):
    return [
        journal.reader.document(event)
        for event in journal.reader.run_events(run_id)
        if "delta" in event.data
    ]


def records(journal, run_id="r"):
    return [
        event.data["record"]
        for event in journal.reader.run_events(run_id)
        if event.name == "stream.recorded.v1"
    ]


def test_a_run_opens_once_and_goes_on_after_reopening(tmp_path):
    with Journal.open(tmp_path / "j.db") as journal:
        run = journal.run("r", session_id="s", conversation_id="c")
        assert run.append(samples.record(0)).version == 2
    with Journal.open(tmp_path / "j.db") as journal:
        run = journal.run("r")
        assert (run.session_id, run.conversation_id) == ("s", "c")
        assert run.append(samples.record(1)).version == 4
        assert [e.name for e in journal.reader.run_events("r")] == [
            "run.opened.v1",
            "stream.recorded.v1",
            "run.lease_taken.v1",
            "stream.recorded.v1",
        ]


def test_the_same_record_again_gives_the_first_receipt(journal, run):
    first = run.append(samples.record(0))
    run.append(samples.record(1))
    again = run.append(samples.record(0))
    assert not first.repeated
    assert again.repeated
    assert (again.version, again.position, again.recorded_at) == (
        first.version,
        first.position,
        first.recorded_at,
    )
    assert len(records(journal)) == 2


@pytest.mark.parametrize("form", [dict, AgentStreamRecord.from_json, lambda r: None])
def test_a_record_may_be_a_mapping_a_model_or_text(journal, run, form):
    offered = samples.record(4) | {"extra": {"a": [1.0, -0.0, None]}}
    source = form(offered) or (
        b'{"event": {"kind":"node_start","node":"model_response","step":1,"status":"running"},'
        b' "sequence":4, "extra":{"a":[1.0,-0.0,null]}}'
    )
    run.append(source)
    assert run.append(offered).repeated
    assert records(journal) == [offered]


def test_key_order_does_not_make_a_record_different(run):
    run.append(samples.record(0))
    assert run.append(dict(reversed(samples.record(0).items()))).repeated


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda r: r["event"].update(step=2), "$.event.step"),
        (lambda r: r.update(more=None), "$.more"),
        (lambda r: r["event"].update(status="completed"), "$.event.status"),
    ],
)
def test_another_record_under_the_same_sequence_is_a_conflict_showing_both(
    journal, run, change, path
):
    run.append(samples.record(0))
    other = copy.deepcopy(samples.record(0))
    change(other)
    with pytest.raises(RecordConflict) as error:
        run.append(other)
    assert (error.value.path, error.value.version) == (path, 2)
    assert records(journal) == [samples.record(0)]


def test_numbers_of_another_json_type_are_a_conflict(run):
    run.append(samples.record(0) | {"x": 1})
    for other in (1.0, True):
        with pytest.raises(RecordConflict):
            run.append(samples.record(0) | {"x": other})


def test_append_many_is_all_or_nothing(journal, run):
    run.append(samples.record(5))
    with pytest.raises(RecordConflict):
        run.append_many([samples.record(4), samples.delta(5, "x"), samples.record(6)])
    assert [r["sequence"] for r in records(journal)] == [5]
    receipts = run.append_many([samples.record(n) for n in (4, 5, 4, 6)])
    assert [r.repeated for r in receipts] == [False, True, True, False]
    assert receipts[0].version == receipts[2].version
    assert [r["sequence"] for r in records(journal)] == [5, 4, 6]
    assert run.append_many([]) == []


def test_two_different_records_of_one_sequence_in_a_batch_are_refused(journal, run):
    with pytest.raises(BatchConflict, match="stream record 1 is offered twice"):
        run.append_many([samples.record(1), samples.delta(1, "x")])
    with pytest.raises(InvalidRecord) as error:
        run.append_many([samples.record(1), {"sequence": 2, "event": {}}])
    assert error.value.path == "$[1].event.kind"
    assert records(journal) == []


def test_the_same_checkpoint_again_gives_the_first_receipt(journal, run):
    first = samples.checkpoint("k1", messages=[samples.user("hi")])
    second = samples.checkpoint("k2", messages=[samples.user("hi"), samples.answer("yes")])
    receipt = run.checkpoint(first)
    run.checkpoint(second)
    again = run.checkpoint(AgentCheckpoint.from_json(first))
    assert again.repeated
    assert again.version == receipt.version
    assert documents(journal) == [first, second]
    with pytest.raises(RecordConflict, match="message_history"):
        run.checkpoint(samples.checkpoint("k1", messages=[samples.user("ho")]))


def test_an_exported_state_equal_to_the_last_is_the_same(journal, run):
    a, b = samples.context([samples.user("hi")]), samples.context([samples.user("ho")])
    first = run.export_context(a)
    assert run.export_context(a) == first.__class__(
        first.version, first.position, first.recorded_at, repeated=True
    )
    run.export_context(b)
    assert not run.export_context(a).repeated
    assert documents(journal) == [a, b, a]
    env = {"provider_id": "ws", "files": {"a": "1"}, "metadata": {"provider_kind": "virtual"}}
    wrapped = {"schema": "starweaver.environment.state", "version": 1, "payload": env}
    assert not run.export_environment(wrapped).repeated
    assert run.export_environment(wrapped).repeated
    assert documents(journal)[-1] == wrapped


def test_an_enveloped_record_is_the_same_as_a_bare_one(journal, run):
    wrapped = {
        "schema": "starweaver.runtime.stream_record",
        "version": 1,
        "payload": samples.record(0),
    }
    run.append(wrapped)
    assert run.append(samples.record(0)).repeated
    assert records(journal) == [samples.record(0)]
    with pytest.raises(InvalidEnvelope, match="checkpoint"):
        run.append(wrapped | {"schema": "starweaver.runtime.checkpoint"})


def test_a_run_id_is_unique_in_a_journal(journal, run):
    with pytest.raises(RunConflict, match="session"):
        journal.run("r", session_id="other")
    with pytest.raises(RunConflict, match="conversation"):
        journal.run("r", conversation_id="other")
    with pytest.raises(InvalidRecord, match="needs a session"):
        journal.run("new")
    with pytest.raises(InvalidRecord, match="non-empty"):
        journal.run("", session_id="s")
    with pytest.raises(InvalidRecord, match="non-empty"):
        journal.run("r2", session_id="")


@pytest.mark.parametrize("run_id", ["a b", "a/b:c", "日本\u2028☀️", "x" * 500, "%_'\";--", "-r"])
def test_any_non_empty_id_is_a_run(journal, run_id):
    run = journal.run(run_id, session_id=run_id, conversation_id=run_id)
    run.append(samples.record(0))
    assert records(journal, run_id) == [samples.record(0)]
    assert run_id in list(journal.reader.run_ids())


def test_bad_records_are_refused_with_their_path_and_nothing_is_kept(journal, run):
    for bad, error, path in [
        ({"sequence": -1, "event": {"kind": "x"}}, InvalidRecord, r"\$\.sequence"),
        ({"sequence": True, "event": {"kind": "x"}}, InvalidRecord, r"\$\.sequence"),
        ({"sequence": 1.0, "event": {"kind": "x"}}, InvalidRecord, r"\$\.sequence"),
        ({"sequence": 2**64, "event": {"kind": "x"}}, InvalidJSON, r"\$\.sequence"),
        ({"sequence": 1, "event": {"kind": "tool_call", "step": 1}}, InvalidRecord, "call"),
        ({"sequence": 1}, InvalidRecord, r"event"),
        (b"[]", InvalidRecord, "expected an object"),
        ("{}", InvalidRecord, "hand in JSON text as bytes"),
        (b"{", InvalidJSON, "not JSON"),
    ]:
        with pytest.raises(error, match=path):
            run.append(bad)
    assert records(journal) == []


def test_a_checkpoint_whose_ids_disagree_is_refused(journal, run):
    good = samples.checkpoint()
    for path, value in [
        (("state", "run_id"), "other"),
        (("state", "conversation_id"), "other"),
        (("state", "run_step"), 9),
        (("resume", "run_step"), 9),
        (("resume", "node"), "tool_call"),
    ]:
        bad = copy.deepcopy(good)
        bad[path[0]][path[1]] = value
        with pytest.raises(InvalidRecord, match=path[1]):
            run.checkpoint(bad)
    with pytest.raises(InvalidRecord, match="given to run 'r'"):
        run.checkpoint(samples.checkpoint(run_id="other"))
    assert documents(journal) == []


def test_an_unknown_event_kind_is_kept_verbatim(journal, run):
    strange = {"sequence": 0, "event": {"kind": "quantum_leap", "to": [1, None]}}
    run.append(strange)
    assert records(journal) == [strange]


def test_the_largest_sequence_stays_an_integer(journal, run):
    big = samples.record(2**64 - 1)
    run.append(big)
    assert run.append(big).repeated
    assert records(journal) == [big]


def test_facts_and_people_in_the_loop_are_events(journal, run):
    run.set_status("running", reason="started")
    run.suspend("needs ann", checkpoint_id="k1")
    run.resume()
    assert not run.approval(samples.approval()).repeated
    assert run.approval(samples.approval()).repeated
    assert not run.approval(samples.approval("approved")).repeated
    with pytest.raises(RecordConflict):
        run.approval(samples.approval("denied"))
    run.deferred_tool(samples.deferred_tool())
    run.deferred_tool(samples.deferred_tool("completed", response={"a": 1}))
    run.save_cursor(samples.stream_cursor())
    assert run.save_cursor(samples.stream_cursor()).repeated
    assert [e.name.removesuffix(".v1") for e in journal.reader.run_events("r")] == [
        "run.opened",
        "run.status_changed",
        "run.suspended",
        "run.resumed",
        "approval.requested",
        "approval.decided",
        "deferred_tool.requested",
        "deferred_tool.resolved",
        "cursor.saved",
    ]
    with pytest.raises(InvalidRecord, match="none of"):
        run.set_status("dancing")
    with pytest.raises(InvalidRecord, match="given to 'r'"):
        run.approval(samples.approval(run_id="other"))


def test_a_released_run_and_a_closed_journal_say_so(journal, run):
    run.release()
    with pytest.raises(JournalClosed):
        run.append(samples.record(0))
    with journal.run("r") as again:
        again.append(samples.record(0))
    with pytest.raises(JournalClosed):
        again.append(samples.record(1))
    last = journal.run("r")
    journal.close()
    journal.close()
    with pytest.raises(JournalClosed):
        last.append(samples.record(2))
    with pytest.raises(JournalClosed):
        journal.run("r")


def test_a_state_that_claims_other_durable_ids_is_refused(journal, run):
    for key in ("starweaver.durable_session_id", "starweaver.durable_run_id"):
        with pytest.raises(InvalidRecord, match=key):
            run.export_context(samples.context(metadata={key: "other"}))
    ours = {"starweaver.durable_session_id": "s", "starweaver.durable_run_id": "r"}
    state = samples.context(metadata=ours, session_id="affinity", run_id="affinity")
    run.export_context(state)
    assert documents(journal) == [state]
