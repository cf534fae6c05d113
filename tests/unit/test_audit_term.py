"""A term is followed from where it entered a run to everywhere it went."""

import pytest

from journal.errors import InvalidFilter, RunNotFound
from projections import StreamCursor, replay
from projections.audit import Audit, AuditFilter
from tests import samples
from tests.unit.audited import called, child, ended, opened, record, response, returned


def found(journal, term, run_id="r", **more):
    return [
        (each.place, each.role, each.path) for each in Audit(journal).term(run_id, term, **more)
    ]


def delta(sequence, text, index=0, kind="text", source=None):
    key = {"text": "text", "thinking": "text", "tool_call_arguments": "arguments_delta"}[kind]
    event = {"kind": "part_delta", "index": index, "delta_kind": kind, key: text}
    return record(sequence, "model_stream", source, step=1, event=event)


def test_a_term_is_followed_through_records(journal):
    opened(
        journal, "r", "s",
        called(0, "c1", arguments={"path": "/x"}), returned(1, "c1", content={"out": ["a KEY1 b"]}),
        response(2, text="I saw key1"), called(3, "c2", step=2, arguments={"key1": 5}),
        ended(4, output="key1 is it"),
    )  # fmt: skip
    assert found(journal, "key1") == [
        ("stream:1", "result", "tool_return.content.out[0]"),
        ("stream:2", "response", "response.parts[0].text"),
        ("stream:3", "arguments", "call.arguments"),
        ("stream:4", "output", "output"),
    ]
    assert [place for place, *_ in found(journal, "KEY1", exact=True)] == ["stream:1"]
    places = list(Audit(journal).term("r", "key1"))
    assert [each.entered for each in places] == [True, False, False, False]
    shown = places[0].excerpt
    assert shown.text[shown.start : shown.end] == "KEY1"
    assert (places[0].run_id, places[0].kind, places[0].count) == ("r", "tool_return", 1)


def test_a_term_split_across_deltas_is_found_where_it_is_complete(journal):
    opened(
        journal, "r", "s",
        delta(0, "the sec"), delta(1, "other", index=1), delta(2, "r"), delta(3, "et was"),
        delta(4, " sec"), record(5, "model_request", step=2), delta(6, "ret"),
        delta(7, '{"a":"se', kind="tool_call_arguments"), delta(8, 'cret"}', kind="tool_call_arguments"),
    )  # fmt: skip
    places = list(Audit(journal).term("r", "secret"))
    assert [(each.place, each.role, each.began) for each in places] == [
        ("stream:3", "delta", "stream:0"),
        ("stream:8", "delta", "stream:7"),
    ]
    assert [each.excerpt.text for each in places] == ["the secret was", '{"a":"secret"}']


def test_deltas_of_a_child_do_not_complete_those_of_its_parent(journal):
    source = child("kid")
    opened(
        journal, "r", "s",
        delta(0, "sec"), delta(1, "ret", source=source), delta(2, "sec", source=source),
        delta(3, "ret", source=source),
    )  # fmt: skip
    [place] = Audit(journal).term("r", "secret")
    assert (place.place, place.began) == ("stream:3", "stream:2")
    assert (place.child_run_id, place.agent) == ("kid", "worker")


def test_a_term_longer_than_many_deltas(journal):
    term = "abcdefghij" * 5
    opened(journal, "r", "s", *(delta(at, letter) for at, letter in enumerate("zz" + term + "zz")))
    [place] = Audit(journal).term("r", term)
    assert (place.place, place.began) == (f"stream:{len(term) + 1}", "stream:2")


def test_checkpoints_tell_only_what_is_new(journal):
    run = opened(journal, "r", "s", record(0, "run_start", run_id="r", conversation_id="c"))
    first, second = samples.user("find gold"), samples.answer("gold it is")
    run.checkpoint(samples.checkpoint("k1", stream_cursor=0, messages=[first]))
    run.append(response(1, text="gold it is"))
    run.checkpoint(samples.checkpoint("k2", stream_cursor=1, messages=[first, second], step=1))
    run.checkpoint(
        samples.checkpoint("k3", stream_cursor=1, messages=[first, second], step=1, output="gold")
    )
    assert found(journal, "gold") == [
        ("stream:0", "message", "state.message_history[0].parts[0].content"),
        ("stream:1", "response", "response.parts[0].text"),
        ("stream:1", "message", "state.message_history[1].parts[0].text"),
        ("stream:1", "state", "state.output"),
    ]


def test_exported_states_and_facts_are_looked_through(journal):
    run = opened(journal, "r", "s", record(0, "run_start", run_id="r", conversation_id="c"))
    run.export_context(samples.context([samples.user("gold")]))
    run.export_environment({"provider_id": "p", "files": {"a.txt": "gold"}})
    run.approval(samples.approval(request={"what": "gold"}))
    assert [(role, path) for _, role, path in found(journal, "gold")] == [
        ("context", "message_history[0].parts[0].content"),
        ("environment", "files.a.txt"),
        ("event", "record.request.what"),
    ]


def test_numbers_and_keys_count(journal):
    opened(journal, "r", "s", returned(0, "c", content={"order 77": 1, "n": [12345, 1.5]}))
    assert found(journal, "order 7") == [("stream:0", "result", "tool_return.content")]
    assert found(journal, "234") == [("stream:0", "result", "tool_return.content.n[0]")]
    assert found(journal, "1.5") == [("stream:0", "result", "tool_return.content.n[1]")]


def test_a_fork_is_followed_into_what_it_inherits(journal):
    with opened(
        journal, "r", "s", returned(0, "c", content="gold"), returned(1, "d", content="gold")
    ):
        pass
    journal.fork(replay(journal, "r", at=StreamCursor(0)), "f").append(response(1, text="gold"))
    places = list(Audit(journal).term("f", "gold"))
    assert [(each.run_id, each.place) for each in places] == [("r", "stream:0"), ("f", "stream:1")]


def test_late_records_stand_in_logical_order(journal):
    run = opened(journal, "r", "s", returned(5, "c", content="gold"))
    run.append(returned(2, "d", content="gold"))
    assert [place for place, *_ in found(journal, "gold")] == ["stream:2", "stream:5"]


@pytest.mark.parametrize("term", ["a.b", "(", "%", "\\", "'", "\0", "é", "[x]"])
def test_a_term_is_data(journal, term):
    opened(
        journal, "r", "s", returned(0, "c", content=f"<{term}>"), returned(1, "d", content="acb x")
    )
    assert [place for place, *_ in found(journal, term)] == ["stream:0"]


def test_terms_and_runs_that_cannot_be_are_refused(journal):
    opened(journal)
    audit = Audit(journal)
    for term in ("", "\ud800", 7, "x" * 1001):
        with pytest.raises(InvalidFilter):
            audit.term("r", term)
    with pytest.raises(InvalidFilter):
        audit.term("\ud800", "x")
    with pytest.raises(RunNotFound):
        list(audit.term("no", "x"))


def test_the_places_are_narrowed(journal):
    opened(
        journal, "r", "s", *(returned(at, f"c{at}", content="gold") for at in range(3)), ended(3)
    )
    assert [place for place, *_ in found(journal, "gold", asked=AuditFilter(limit=1))] == [
        "stream:0"
    ]
    assert found(journal, "gold", asked=AuditFilter(session="other")) == []
    assert found(journal, "gold", asked=AuditFilter(status="failed")) == []
    assert len(found(journal, "gold", asked=AuditFilter(status="completed", run="r"))) == 3
