"""A document that repeats the last one is accepted as what is new in it, and as exactly."""

import copy
import math
import threading
import tracemalloc

import orjson
import pytest

from journal import Journal
from journal.errors import InvalidJSON, InvalidRecord
from journal.json_door import MAX_BYTES, accept
from journal.last_document import LARGE, LastDocuments
from journal.offers import checkpoint, context
from journal.records import CHECKPOINT, AgentCheckpoint, wrap
from tests import samples

TEXT = "A text that is long enough for a message of an agent that means what it says. " * 9


def history(count, start=0):
    return [samples.answer(f"{n} {TEXT}") for n in range(start, start + count)]


def taken(messages, number=1, **state):
    return samples.checkpoint(f"k{number}", messages=messages, stream_cursor=number, **state)


FORMS = {
    "objects": copy.deepcopy,
    "text": orjson.dumps,
    "spaced text": lambda one: orjson.dumps(one, option=orjson.OPT_INDENT_2),
    "model": AgentCheckpoint.from_json,
    "envelope": lambda one: wrap(copy.deepcopy(one), CHECKPOINT),
    "envelope as text": lambda one: orjson.dumps(wrap(one, CHECKPOINT)),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_messages_of_before_are_the_very_same_objects(form):
    memory = LastDocuments()
    messages = history(12)
    before = checkpoint(form(taken(messages)), memory=memory)
    grown = [*messages, *history(2, 12)]
    after = checkpoint(form(taken(grown, 2)), memory=memory)
    assert after.value == taken(grown, 2)
    assert after.size == len(orjson.dumps(after.value))
    was, now = (one.value["state"]["message_history"] for one in (before, after))
    assert all(ours is theirs for ours, theirs in zip(was, now, strict=False))


def test_messages_kept_by_a_compaction_are_the_very_same_objects():
    memory = LastDocuments()
    messages = history(30)
    before = checkpoint(taken(messages), memory=memory)
    after = checkpoint(taken([samples.user("summary"), *messages[-20:]], 2), memory=memory)
    was, now = (one.value["state"]["message_history"] for one in (before, after))
    assert all(ours is theirs for ours, theirs in zip(was[-20:], now[1:], strict=True))


@pytest.mark.parametrize("form", [copy.deepcopy, orjson.dumps])
def test_lists_of_one_name_are_told_apart(form):
    memory = LastDocuments()
    items = [{"number": n, "text": "x" * 500} for n in range(12)]
    documents = [
        {"a": {"m": items}, "b": {"m": items}},
        {"a": {"m": [*items, 1]}, "b": {"m": [*items, 2]}},
        {"b": {"m": [*items, 3]}, "a": {"m": [*items, 4]}},
        {"a": {"m": [{"b": {"m": items}}, *items]}, "b": {"m": items}},
        {"a": {"m": [{"b": {"m": items}}, *items]}, "b": {"m": [5]}},
    ]
    for document in documents:
        found = memory.accept("one", form(document), wrapped=0)
        memory.keep("one", found)
        assert found.value == document
        assert found.size == len(orjson.dumps(document))


def test_an_exported_context_shares_the_messages_of_the_checkpoint():
    memory = LastDocuments()
    messages = history(12)
    before = checkpoint(taken(messages), memory=memory)
    after = context("s", "r", samples.context(messages), memory=memory)
    assert after.value["message_history"][3] is before.value["state"]["message_history"][3]


def test_a_message_of_a_context_is_checked_even_where_another_record_had_it():
    memory = LastDocuments()
    odd = [{"kind": "request", "parts": TEXT} for _ in range(9)]
    checkpoint(
        taken([], latest_response=None, metadata={"message_history": odd}),
        memory=memory,
    )
    with pytest.raises(InvalidRecord) as error:
        context("s", "r", samples.context(odd), memory=memory)
    assert error.value.path == "$.message_history[0].parts"


@pytest.mark.parametrize("at", [0, 5, 11, 12])
@pytest.mark.parametrize(
    ("spoil", "path"),
    [
        (lambda message: message.update(provider=math.nan), ".provider"),
        (lambda message: message.update(provider=(1,)), ".provider"),
        (lambda message: message.update(provider=2**64), ".provider"),
        (lambda message: message.update(provider={1: 1}), ".provider"),
        (lambda message: message.update(provider="\ud800"), ".provider"),
    ],
)
def test_what_json_cannot_hold_is_refused_in_an_old_message_too(at, spoil, path):
    memory = LastDocuments()
    messages = [{**message, "provider": None} for message in history(12)]
    checkpoint(taken(messages), memory=memory)
    grown = copy.deepcopy([*messages, samples.answer("new")])
    spoil(grown[at])
    with pytest.raises(InvalidJSON) as error:
        checkpoint(taken(grown, 2), memory=memory)
    assert error.value.path == f"$.state.message_history[{at}]{path}"


def test_an_invalid_new_message_is_named_by_its_place():
    memory = LastDocuments()
    messages = history(12)
    checkpoint(taken(messages), memory=memory)
    grown = [*messages, samples.answer("fine"), {"kind": "response", "parts": 7, "usage": {}}]
    for _ in range(2):
        with pytest.raises(InvalidRecord) as error:
            checkpoint(taken(grown, 2), memory=memory)
        assert error.value.path == "$.state.message_history[13].parts"


def test_a_record_that_was_refused_is_not_remembered():
    memory = LastDocuments()
    bad = [*history(12), {"kind": "response", "parts": 7, "usage": {}}]
    for number in range(3):
        with pytest.raises(InvalidRecord):
            checkpoint(taken(bad, number), memory=memory)


def sized(value, raw):
    return value, len(raw)


def outcome(accepted):
    try:
        value, size = accepted()
    except InvalidJSON as error:
        return error.path, error.reason
    return orjson.dumps(value), size


@pytest.mark.parametrize(
    "text",
    [
        b'{"m":[%s],"m":[%s,9]}',
        b'{"x":{"m":[%s]},"m":[%s,9]}',
        b'{"m":[%s, 9],"x":"\\"m\\":[%s"}',
        b'{"m":[%s,%s}',
        b'{"m":[%s%s]}',
        b'{"m":[%s,],"y":[%s]}',
        b'{"m":[%s],"x":"%s',
    ],
)
def test_text_that_looks_like_the_last_one_is_read_as_it_stands(text):
    items = b",".join(orjson.dumps({"number": n, "text": "x" * 500}) for n in range(12))
    memory = LastDocuments()
    memory.keep("one", memory.accept("one", b'{"m":[' + items + b"]}", wrapped=0))
    text = text.replace(b"%s", items)
    assert outcome(lambda: memory.accept("one", text, wrapped=0)[:2]) == outcome(
        lambda: sized(*accept(text))
    )


def test_a_last_item_that_only_looks_the_same_is_refused():
    memory = LastDocuments()
    items = [{"number": n, "text": "x" * 500, "score": None} for n in range(12)]
    memory.keep("one", memory.accept("one", {"m": items}, wrapped=0))
    spoiled = [{"first": True}, *items[1:-1], {**items[-1], "score": math.nan}]
    with pytest.raises(InvalidJSON) as error:
        memory.accept("one", {"m": spoiled}, wrapped=0)
    assert error.value.path == "$.m[11].score"


def test_the_limits_hold_for_what_is_mostly_known():
    memory = LastDocuments()
    half = ["x" * (MAX_BYTES // 2 - 100)]
    memory.keep("one", memory.accept("one", {"m": half}, wrapped=0))
    for source in (
        {"m": [*half, *half, "x" * 300]},
        orjson.dumps({"m": [*half, *half, "x" * 300]}),
    ):
        with pytest.raises(InvalidJSON, match="over the limit"):
            memory.accept("one", source, wrapped=0)
    deep = []
    for _ in range(197):
        deep = [deep]
    memory.keep("one", memory.accept("one", {"m": ["x" * LARGE, deep]}, wrapped=0))
    with pytest.raises(InvalidJSON, match="nested"):
        memory.accept("one", {"m": ["x" * LARGE, deep, [deep]]}, wrapped=0)


def test_what_a_host_changes_afterwards_is_not_changed_in_the_journal():
    with Journal.open("memory://") as journal:
        run = journal.run("r", session_id="s", conversation_id="c")
        messages = history(12)
        given = [taken(copy.deepcopy(messages[:6]), 1), taken(messages, 2)]
        expected = copy.deepcopy(given)
        for one in given:
            run.checkpoint(one)
            for message in one["state"]["message_history"]:
                message["parts"][0].update(text="changed")
                message.clear()
        run.checkpoint(taken(history(12), 3))
        held = [e for e in journal.reader.run_events("r") if "delta" in e.data]
        found = [journal.reader.document(event) for event in held]
        assert found == [*expected, taken(history(12), 3)]


def test_threads_may_take_checkpoints_of_one_run_at_once():
    with Journal.open("memory://") as journal:
        run = journal.run("r", session_id="s", conversation_id="c")
        failures = []

        def take(thread):
            try:
                for step in range(20):
                    messages = history(8 + step, start=thread % 2)
                    run.checkpoint(taken(messages, thread * 100 + step, output=thread))
            except Exception as error:  # noqa: BLE001 - the main thread looks at it
                failures.append(error)

        threads = [threading.Thread(target=take, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        for event in journal.reader.run_events("r"):
            if "delta" in event.data:
                thread, step = divmod(int(event.data["checkpoint_id"][1:]), 100)
                expected = taken(
                    history(8 + step, start=thread % 2), thread * 100 + step, output=thread
                )
                assert journal.reader.document(event) == expected


def test_the_memory_is_of_one_document_and_is_given_back():
    memory = LastDocuments()
    tracemalloc.start()
    try:
        for number in range(40):
            checkpoint(taken(history(100, start=number), number), memory=memory)
        held, _ = tracemalloc.get_traced_memory()
        assert held < 4 * len(orjson.dumps(taken(history(100))))
        memory.forget()
        left, _ = tracemalloc.get_traced_memory()
        assert left < held / 10
    finally:
        tracemalloc.stop()
