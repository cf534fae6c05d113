"""What the hook replaces is never written, and the view says where it did."""

import math
import uuid

import pytest

from journal import Journal
from journal.errors import FixInput, InvalidJSON, InvalidRecord, RecordConflict, RedactionFailed
from journal.facts import fact, noted
from journal.ids import run_stream
from journal.json_door import dumps
from journal.records import APPROVAL_RECORD, CHECKPOINT, RESUMABLE_STATE, STREAM_RECORD, wrap
from tests import samples

SECRET = "hunter2-swordfish-correct-horse"
GONE = "[redacted]"


def hide(value, _path, _kind):
    return GONE if isinstance(value, str) and SECRET in value else value


def call(sequence, **arguments):
    called = {"id": f"call-{sequence}", "name": "login", "arguments": arguments}
    return samples.record(sequence, "tool_call", step=1, call=called)


@pytest.fixture
def opened(tmp_path):
    """Open journals on one file, each with its hook."""
    journals = []

    def open_with(hook, location=tmp_path / "runs.db"):
        journals.append(Journal.open(location, redact=hook))
        return journals[-1]

    yield open_with
    for journal in journals:
        journal.close()


def begun(journal):
    return journal.run("r", session_id="s", conversation_id="c")


def written(folder):
    """Everything in the files of a journal, as it stands and unpacked."""
    with Journal.open(folder / "runs.db", create=False) as journal:
        unpacked = b"".join(dumps(event.data) for event in journal.reader.all_events())
        plain = b"".join(path.read_bytes() for path in sorted(folder.iterdir()))
    return plain + unpacked


def claimed(journal, claim):
    waits = fact(run_stream("r"), "run.suspended.v1", {"reason": "a person decides"})
    journal.write_offers(noted(waits, "s"))
    return journal.claim_resume(claim)


SAID = {"text": f"my password is {SECRET}"}
WRITES = {
    "stream_record": (lambda j, r: r.append(call(0, token=SECRET)), "$.event.call.arguments.token"),
    "stream_record, enveloped": (
        lambda j, r: r.append(wrap(call(0, token=SECRET), STREAM_RECORD)),
        "$.event.call.arguments.token",
    ),
    "stream_record, as text": (
        lambda j, r: r.append(dumps(call(0, token=SECRET))),
        "$.event.call.arguments.token",
    ),
    "checkpoint": (
        lambda j, r: r.checkpoint(samples.checkpoint(messages=[samples.user(SECRET)])),
        "$.state.message_history[0].parts[0].content",
    ),
    "checkpoint, enveloped": (
        lambda j, r: r.checkpoint(
            wrap(samples.checkpoint(messages=[samples.user(SECRET)]), CHECKPOINT)
        ),
        "$.state.message_history[0].parts[0].content",
    ),
    "checkpoint, without a run": (
        lambda j, r: j.commit_checkpoint(
            "s", samples.checkpoint(run_id="q", messages=[samples.user(SECRET)])
        ),
        "$.state.message_history[0].parts[0].content",
    ),
    "context_state": (
        lambda j, r: r.export_context(samples.context([samples.user(SECRET)])),
        "$.message_history[0].parts[0].content",
    ),
    "context_state, enveloped": (
        lambda j, r: r.export_context(wrap(samples.context(extra=SAID), RESUMABLE_STATE)),
        "$.extra.text",
    ),
    "environment_state": (
        lambda j, r: r.export_environment({"provider_id": "local", "files": {"note": SAID}}),
        "$.files.note.text",
    ),
    "approval": (
        lambda j, r: r.approval(samples.approval(request={"command": SECRET})),
        "$.request.command",
    ),
    "approval, of an operator": (
        lambda j, r: j.approval(wrap(samples.approval(request=SAID), APPROVAL_RECORD)),
        "$.request.text",
    ),
    "deferred_tool": (
        lambda j, r: r.deferred_tool(samples.deferred_tool(request=SAID)),
        "$.request.text",
    ),
    "stream_cursor": (
        lambda j, r: r.save_cursor({**samples.stream_cursor(), "metadata": SAID}),
        "$.metadata.text",
    ),
    "session": (
        lambda j, r: j.save_session(samples.session_record(metadata=SAID)),
        "$.metadata.text",
    ),
    "run": (lambda j, r: j.save_run(samples.run_record(metadata=SAID)), "$.metadata.text"),
    "resume_claim": (
        lambda j, r: claimed(j, {**samples.resume_claim(), "note": SECRET}),
        "$.note",
    ),
    "event": (lambda j, r: r.set_status("cancelled", reason=SAID["text"]), "$.reason"),
    "event, of an operator": (
        lambda j, r: j.set_status("r", "cancelled", reason=SAID["text"]),
        "$.reason",
    ),
    "event, suspended": (lambda j, r: r.suspend(SAID["text"]), "$.reason"),
}


@pytest.mark.parametrize(
    ("kind", "write", "path"), [(k, *v) for k, v in WRITES.items()], ids=WRITES
)
def test_a_secret_is_nowhere_in_the_file(opened, tmp_path, kind, write, path):
    seen = []

    def hook(value, at, what):
        seen.append((what, at))
        return hide(value, at, what)

    journal = opened(hook)
    receipt = write(journal, begun(journal))
    assert {what for what, _ in seen} == {kind.split(",", maxsplit=1)[0]}
    assert len(seen) == len(set(seen)), "the hook saw a value twice"
    assert seen[0][1] == "$"
    marks = [
        event.data["redacted"]
        for event in journal.reader.all_events()
        if event.position == receipt.position
    ]
    assert marks == [[path]]
    assert SECRET.encode() not in written(tmp_path)
    assert GONE.encode() in written(tmp_path)


@pytest.mark.parametrize("write", [write for write, _ in WRITES.values()], ids=WRITES)
def test_without_a_secret_nothing_is_marked_and_nothing_differs(opened, tmp_path, write):
    plain, hooked = (
        opened(None, "memory://"),
        opened(lambda value, _path, _kind: value, "memory://"),
    )
    for journal in (plain, hooked):
        write(journal, begun(journal))
    was, now = ([(e.name, e.data) for e in j.reader.all_events()] for j in (plain, hooked))
    assert was == now
    assert all("redacted" not in data for _, data in now)


@pytest.mark.parametrize("write", [write for write, _ in WRITES.values()], ids=WRITES)
def test_the_same_again_redacted_the_same_is_the_same(opened, write):
    with opened(hide) as journal, begun(journal) as run:
        first = write(journal, run)
        again = write(journal, run)
        ours = [event.name for event in journal.reader.all_events()]
    says_twice = {"run.status_changed.v1", "run.suspended.v1"}
    if not says_twice.isdisjoint(ours):
        return  # somebody may say the same twice, and both count
    assert (again.version, again.repeated) == (first.version, True)
    with opened(hide) as journal, begun(journal) as run:
        assert write(journal, run).version == first.version


def test_the_hook_sees_every_value_containers_first():
    seen = []

    def hook(value, path, kind):
        seen.append((value, path, kind))
        return value

    given = call(3, **{"api key": [1, {"a": None}], "q": "x"})
    with Journal.open("memory://", redact=hook) as journal:
        begun(journal).append(given)
    event = given["event"]
    assert seen == [
        (given, "$", "stream_record"),
        (3, "$.sequence", "stream_record"),
        (event, "$.event", "stream_record"),
        ("tool_call", "$.event.kind", "stream_record"),
        (1, "$.event.step", "stream_record"),
        (event["call"], "$.event.call", "stream_record"),
        ("call-3", "$.event.call.id", "stream_record"),
        ("login", "$.event.call.name", "stream_record"),
        (event["call"]["arguments"], "$.event.call.arguments", "stream_record"),
        ([1, {"a": None}], '$.event.call.arguments["api key"]', "stream_record"),
        (1, '$.event.call.arguments["api key"][0]', "stream_record"),
        ({"a": None}, '$.event.call.arguments["api key"][1]', "stream_record"),
        (None, '$.event.call.arguments["api key"][1].a', "stream_record"),
        ("x", "$.event.call.arguments.q", "stream_record"),
    ]


def test_what_replaces_a_value_is_not_looked_into_again():
    def hook(value, path, _kind):
        assert "password" not in path
        return {"was": list(value), "password": SECRET[:3]} if path.endswith("arguments") else value

    with Journal.open("memory://", redact=hook) as journal:
        run = begun(journal)
        run.append(call(0, password=SECRET))
        [event] = list(journal.reader.run_events("r"))[1:]
    left = event.data["record"]["event"]["call"]["arguments"]
    assert left == {"was": ["password"], "password": SECRET[:3]}
    assert event.data["redacted"] == ["$.event.call.arguments"]


def test_what_the_hook_keeps_of_its_answer_changes_nothing_later():
    answer = {"hidden": True}
    with Journal.open(
        "memory://", redact=lambda v, p, k: answer if p.endswith("arguments") else v
    ) as j:
        run = begun(j)
        run.append(call(0, token=SECRET))
        answer["hidden"] = False
        [event] = list(j.reader.run_events("r"))[1:]
    assert event.data["record"]["event"]["call"]["arguments"] == {"hidden": True}


def nested(depth):
    value = 0
    for _ in range(depth):
        value = [value]
    return value


NO_JSON = [
    math.nan,
    (1,),
    b"x",
    b"{}",
    {1, 2},
    uuid.UUID(int=1),
    "\ud800",
    2**64,
    {1: 1},
    nested(199),
]


@pytest.mark.parametrize("answer", NO_JSON, ids=lambda answer: type(answer).__name__)
@pytest.mark.parametrize("kind", ["stream_record", "checkpoint", "event"])
def test_an_answer_that_is_no_json_refuses_the_write(opened, kind, answer):
    def hook(value, path, kind):
        return answer if hide(value, path, kind) is not value else value

    write, path = WRITES[kind]
    with opened(hook) as journal, begun(journal) as run:
        with pytest.raises(RedactionFailed) as error:
            write(journal, run)
        assert (error.value.kind, error.value.path[: len(path)]) == (kind, path)
        assert isinstance(error.value.__cause__, InvalidJSON | InvalidRecord)
        assert len(list(journal.reader.run_events("r"))) == 1


@pytest.mark.parametrize(
    "kind", ["stream_record", "checkpoint", "context_state", "event", "session"]
)
def test_a_hook_that_raises_refuses_the_write(opened, tmp_path, kind):
    def hook(value, _path, _kind):
        if isinstance(value, str) and SECRET in value:
            raise LookupError(f"no rule for {value}")
        return value

    write, path = WRITES[kind]
    with opened(hook) as journal, begun(journal) as run:
        before = journal.reader.head("r")
        with pytest.raises(RedactionFailed) as error:
            write(journal, run)
        assert isinstance(error.value, FixInput)
        assert (error.value.kind, error.value.path) == (kind, path)
        assert isinstance(error.value.__cause__, LookupError)
        assert "LookupError" in str(error.value)
        assert SECRET not in str(error.value)
        assert journal.reader.head("r") == before
        run.append(samples.record(9))
    assert SECRET.encode() not in written(tmp_path)


@pytest.mark.parametrize(
    ("kind", "place", "answer"),
    [
        ("stream_record", "$", []),
        ("stream_record", "$", "gone"),
        ("stream_record", "$.sequence", "gone"),
        ("stream_record", "$.event.call.id", ""),
        ("checkpoint", "$.run_id", "somebody"),
        ("checkpoint", "$.state.run_id", "somebody"),
        ("checkpoint", "$.resume", {}),
        ("context_state", "$.agent_id", None),
        ("approval", "$.status", "gone"),
        ("event", "$.status", "gone"),
        ("event", "$", {}),
        ("event, suspended", "$.reason", ""),
        ("session", "$.session_id", 0),
    ],
)
def test_an_answer_that_breaks_the_record_refuses_the_write(opened, kind, place, answer):
    with opened(lambda value, path, _: answer if path == place else value) as journal:
        run = begun(journal)
        before = len(list(journal.reader.all_events()))
        with pytest.raises(RedactionFailed) as error:
            WRITES[kind][0](journal, run)
        assert error.value.kind == kind.split(",", maxsplit=1)[0]
        assert len(list(journal.reader.all_events())) == before


def test_an_answer_that_breaks_a_claim_refuses_it():
    with Journal.open(
        "memory://", redact=lambda value, path, _: None if path == "$" else value
    ) as journal:
        begun(journal)
        with pytest.raises(RedactionFailed) as error:
            journal.claim_resume(samples.resume_claim())
    assert error.value.kind == "resume_claim"


def hidden_in_place(value, _path, _kind):
    if isinstance(value, dict):
        for key, item in value.items():
            value[key] = hide(item, "", "")
    return value


def emptied(value, _path, _kind):
    kept = dict(value) if isinstance(value, dict) else value
    if isinstance(value, dict):
        value.clear()
    return kept


def filled_with_objects(value, path, _kind):
    if path == "$":
        value["more"] = object()
    return value


@pytest.mark.parametrize("hook", [hidden_in_place, emptied, filled_with_objects])
@pytest.mark.parametrize("kind", ["stream_record", "checkpoint", "event"])
def test_a_value_changed_in_place_refuses_the_write(opened, tmp_path, hook, kind):

    journal = opened(hook)
    run = begun(journal)
    with pytest.raises(RedactionFailed, match="in place"):
        WRITES[kind][0](journal, run)
    assert journal.reader.head("r") == 1
    assert SECRET.encode() not in written(tmp_path)


def test_one_bad_record_keeps_a_batch_from_being_written(opened):
    def hook(value, path, _kind):
        if path == "$.sequence" and value == 2:
            raise RuntimeError
        return value

    with opened(hook) as journal, begun(journal) as run:
        with pytest.raises(RedactionFailed) as error:
            run.append_many([samples.record(n) for n in range(4)])
        assert error.value.path == "$[2].sequence"
        assert journal.reader.head("r") == 1


@pytest.mark.parametrize(
    ("path", "write"),
    [
        ("$.sequence", lambda journal, run: run.append(samples.record(1))),
        ("$.checkpoint_id", lambda journal, run: run.checkpoint(samples.checkpoint())),
        ("$.run_id", lambda journal, run: journal.approval(samples.approval())),
    ],
)
def test_a_record_stays_under_its_own_ids(opened, path, write):
    def renumber(value, at, _kind):
        return (value + 100 if path == "$.sequence" else "other") if at == path else value

    with opened(renumber) as journal, begun(journal) as run:
        before = journal.reader.head("r")
        with pytest.raises(RedactionFailed):
            write(journal, run)
        assert journal.reader.head("r") == before


def test_the_same_record_left_different_is_a_conflict(opened):
    words = iter(["first", "second"])
    with opened(lambda v, p, k: next(words) if hide(v, p, k) is not v else v) as journal:
        run = begun(journal)
        run.append(call(0, token=SECRET))
        with pytest.raises(RecordConflict) as error:
            run.append(call(0, token=SECRET))
        assert SECRET not in str(error.value)


def test_what_changes_in_a_redacted_history_is_held_as_a_difference(opened):
    with opened(hide) as journal, begun(journal) as run:
        messages = [samples.user(f"{n} {'x' * 500}") for n in range(40)]
        messages[3] = samples.user(SECRET)
        for step in range(30, 40):
            run.checkpoint(samples.checkpoint(f"k{step}", messages=messages[:step]))
        held = [e for e in journal.reader.run_events("r") if "delta" in e.data]
        for event, step in zip(held, range(30, 40), strict=True):
            expected = [*messages[:3], samples.user(GONE), *messages[4:step]]
            assert journal.reader.document(event)["state"]["message_history"] == expected
            assert event.data["redacted"] == ["$.state.message_history[3].parts[0].content"]
        assert max(len(dumps(event.data)) for event in held[1:]) < 1500


def test_of_much_that_was_redacted_the_places_that_contain_it_are_told(opened):
    with opened(hide) as journal, begun(journal) as run:
        run.checkpoint(samples.checkpoint("k", messages=[samples.user(SECRET)] * 21))
        run.append(call(5, **{"k" * 300: SECRET, "a": {"b": SECRET}}))
        _, taken, recorded = journal.reader.run_events("r")
    assert taken.data["redacted"] == ["$.state.message_history"]
    assert recorded.data["redacted"] == ["$.event.call.arguments", "$.event.call.arguments.a.b"]
