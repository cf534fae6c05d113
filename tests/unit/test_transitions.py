"""An approval is decided once, a deferred tool call ends once, and a cursor never goes back."""

import pytest

from journal import AsyncJournal, Journal
from journal.errors import (
    InvalidRecord,
    RecordConflict,
    RunConflict,
    RunNotFound,
    StateConflict,
)
from journal.export import export_all
from journal.ingest import Ingest
from journal.json_door import dumps
from tests import samples


@pytest.fixture(params=["of the run", "of an operator"])
def verbs(request, journal):
    """What has the verbs approval, deferred_tool and save_cursor for run r."""
    run = journal.run("r", session_id="s", conversation_id="c")
    if request.param == "of the run":
        return run
    return Operator(journal)


class Operator:
    def __init__(self, journal):
        self.journal = journal
        self.approval = journal.approval
        self.deferred_tool = journal.deferred_tool

    def save_cursor(self, cursor):
        return self.journal.save_cursor("s", "r", cursor)


def names(journal):
    return [event.name.removesuffix(".v1") for event in journal.reader.run_events("r")][1:]


@pytest.mark.parametrize("status", ["approved", "denied", "expired", "cancelled"])
def test_an_approval_is_decided_once(journal, verbs, status):
    verbs.approval(samples.approval())
    assert not verbs.approval(samples.approval(status)).repeated
    assert verbs.approval(samples.approval(status)).repeated
    assert verbs.approval(samples.approval()).repeated
    other = "denied" if status == "approved" else "approved"
    for late in (samples.approval(other), samples.approval(status, revision=9)):
        with pytest.raises(RecordConflict, match=r"approval\.decided:a1"):
            verbs.approval(late)
    assert names(journal) == ["approval.requested", "approval.decided"]


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("action_id", "call-2"),
        ("action_name", "destroy"),
        ("request", {"risk": "low"}),
        ("reviewed_arguments", {"x": 1.0}),
        ("created_at", "2026-11-29T20:44:40Z"),
        ("trace_context", {"trace_id": "t"}),
        ("metadata", {"k": 1}),
    ],
)
def test_a_decision_leaves_the_request_as_it_was(journal, verbs, member, value):
    asked = samples.approval(reviewed_arguments={"x": 1})
    verbs.approval(asked)
    decided = samples.approval("approved", reviewed_arguments={"x": 1}) | {member: value}
    with pytest.raises(StateConflict, match=f"was requested with {member}"):
        verbs.approval(decided)
    assert names(journal) == ["approval.requested"]


def test_a_request_with_other_json_is_a_conflict(verbs):
    verbs.approval(samples.approval())
    with pytest.raises(RecordConflict, match="risk"):
        verbs.approval(samples.approval(request={"risk": "low"}))


def test_a_decision_tells_what_the_approval_says(journal, verbs):
    verbs.approval(samples.approval())
    contradiction = {"status": "denied", "decided_at": "2026-11-29T20:50:00Z"}
    with pytest.raises(InvalidRecord, match=r"\$\.decision\.status"):
        verbs.approval(samples.approval("approved", decision=contradiction))
    with pytest.raises(StateConflict, match="who decided"):
        verbs.approval(samples.approval("approved", decision=None))
    assert names(journal) == ["approval.requested"]


def test_what_was_decided_before_the_journal_knew_is_taken(journal, verbs):
    assert not verbs.approval(samples.approval("denied")).repeated
    with pytest.raises(StateConflict, match="'a1' was decided before: denied"):
        verbs.approval(samples.approval())
    assert names(journal) == ["approval.decided"]


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
@pytest.mark.parametrize("asked", ["pending", "waiting", "running"])
def test_a_deferred_tool_call_ends_once(journal, verbs, asked, status):
    verbs.deferred_tool(samples.deferred_tool(asked))
    ended = samples.deferred_tool(status, response={"n": 1})
    assert not verbs.deferred_tool(ended).repeated
    assert verbs.deferred_tool(ended).repeated
    assert verbs.deferred_tool(samples.deferred_tool(asked)).repeated
    for late in (ended | {"response": {"n": 1.0}}, samples.deferred_tool("failed", response=2)):
        with pytest.raises(RecordConflict, match=r"deferred_tool\.resolved:d1"):
            verbs.deferred_tool(late)
    for back in {"pending", "waiting", "running"} - {asked}:
        with pytest.raises(StateConflict, match=f"'d1' has ended: {status}"):
            verbs.deferred_tool(samples.deferred_tool(back))
    assert names(journal) == ["deferred_tool.requested", "deferred_tool.resolved"]


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("tool_call_id", "call-2"),
        ("tool_name", "other"),
        ("request", {"q": 2}),
        ("created_at", "2026-11-29T20:44:40Z"),
        ("trace_context", {"trace_id": "t"}),
    ],
)
def test_the_end_of_a_deferred_tool_call_leaves_its_request_as_it_was(
    journal, verbs, member, value
):
    verbs.deferred_tool(samples.deferred_tool(request={"q": 1}))
    for status in ("completed", "pending"):
        with pytest.raises(StateConflict, match=f"was requested with {member}"):
            verbs.deferred_tool(samples.deferred_tool(status, request={"q": 1}) | {member: value})
    ended = samples.deferred_tool("completed", request={"q": 1}, metadata={"by": "ann"})
    assert not verbs.deferred_tool(ended).repeated
    assert names(journal) == ["deferred_tool.requested", "deferred_tool.resolved"]


def test_a_deferred_tool_call_moves_on_before_it_ends(journal, verbs):
    for status in ("pending", "waiting", "running"):
        verbs.deferred_tool(samples.deferred_tool(status))
    assert names(journal) == ["deferred_tool.requested"] * 3


def placed(sequence, family="raw_runtime", **fields):
    made = samples.stream_cursor(sequence)
    return {**made, "position": {**made["position"], "family": family}, **fields}


def flat(sequence, family="raw_runtime"):
    return {
        "family": family,
        "scope": "run:r",
        "sequence": sequence,
        "created_at": "2026-11-29T20:44:38.686015004Z",
    }


@pytest.mark.parametrize("cursor", [placed, flat])
def test_a_cursor_never_goes_back(journal, verbs, cursor):
    assert not verbs.save_cursor(cursor(5)).repeated
    assert not verbs.save_cursor(cursor(9)).repeated
    for back in (cursor(4), cursor(5), cursor(8)):
        with pytest.raises(StateConflict, match="raw_runtime cursor of run:r stands at 9"):
            verbs.save_cursor(back)
    assert not verbs.save_cursor(cursor(1, "display")).repeated
    assert not verbs.save_cursor(cursor(0, "replay_event")).repeated
    assert names(journal) == ["cursor.saved"] * 4


def test_the_same_cursor_again_is_the_same_in_either_form(journal, verbs):
    first = verbs.save_cursor(placed(5))
    for again in (placed(5), placed(5, created_at="2026-11-30T00:00:00Z"), flat(5)):
        receipt = verbs.save_cursor(again)
        assert (receipt.version, receipt.repeated) == (first.version, True)
    with pytest.raises(RecordConflict, match="metadata"):
        verbs.save_cursor(placed(5, metadata={"x": 1}))
    assert names(journal) == ["cursor.saved"]


def test_a_cursor_is_of_the_run_it_is_given_to(journal, verbs):
    elsewhere = placed(5)
    elsewhere["position"]["scope"] = "run:other"
    with pytest.raises(InvalidRecord, match=r"\$\.position\.scope"):
        verbs.save_cursor(elsewhere)
    with pytest.raises(InvalidRecord, match=r"\$\.scope"):
        verbs.save_cursor({**flat(5), "scope": "run:other"})
    assert names(journal) == []


def test_a_cursor_long_ago_still_counts(journal, verbs):
    verbs.save_cursor(placed(3, "display"))
    for sequence in range(120):
        verbs.save_cursor(placed(sequence))
    with pytest.raises(StateConflict, match="display cursor"):
        verbs.save_cursor(placed(2, "display"))


def test_the_verbs_of_an_operator_name_run_and_session(journal):
    journal.run("r", session_id="s").release()
    for verb, record in ((journal.approval, samples.approval), (journal.deferred_tool, deferred)):
        with pytest.raises(RunNotFound):
            verb(record(run_id="nope"))
        with pytest.raises(RunConflict):
            verb(record(session_id="other"))
    with pytest.raises(RunConflict):
        journal.save_cursor("other", "r", placed(1))
    with pytest.raises(RunNotFound):
        journal.save_cursor("s", "nope", samples.stream_cursor(1, "nope"))


def deferred(**fields):
    return samples.deferred_tool(**fields)


@pytest.mark.anyio
async def test_tasks_keep_the_same_rules():
    async with (
        AsyncJournal.open("memory://") as journal,
        await journal.run("r", session_id="s", conversation_id="c") as run,
    ):
        await run.approval(samples.approval())
        await run.approval(samples.approval("approved"))
        with pytest.raises(RecordConflict):
            await run.approval(samples.approval("denied"))
        await run.save_cursor(placed(5))
        assert (await run.save_cursor(placed(5))).repeated
        with pytest.raises(StateConflict):
            await run.save_cursor(placed(4))
        await run.deferred_tool(samples.deferred_tool("failed"))
        with pytest.raises(RecordConflict):
            await run.deferred_tool(samples.deferred_tool("completed"))


def test_the_rules_hold_after_a_restart_and_in_a_copy(tmp_path):
    with Journal.open(tmp_path / "j.db") as journal:
        journal.run("r", session_id="s", conversation_id="c").release()
        journal.approval(samples.approval())
        journal.approval(samples.approval("approved"))
        journal.save_cursor("s", "r", placed(5))
    with Journal.open(tmp_path / "j.db") as journal, Journal.open("memory://") as copy:
        Ingest(copy).read(map(dumps, export_all(journal.reader)))
        for each in (journal, copy):
            assert each.approval(samples.approval("approved")).repeated
            with pytest.raises(RecordConflict):
                each.approval(samples.approval("denied"))
            with pytest.raises(StateConflict):
                each.save_cursor("s", "r", placed(4))
        [decided] = copy.reader.run_events("r", names=["approval.decided.v1"])
        assert decided.imported
