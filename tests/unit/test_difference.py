"""A difference costs what changed, and leads to the very value."""

import copy
import random

import orjson
import pytest

from journal.difference import apply, diff, sources

WORDS = ["alpha", "beta", "gamma", "delta", "journal", "replay", "cursor", "agent"]


def prose(size, seed):
    chosen = random.Random(seed)
    text = ""
    while len(text) < size:
        text += chosen.choice(WORDS) + " "
    return text[:size]


def message(number, size=3000):
    return {
        "conversation_id": "conv_316e030d-22c6-4bef-95c5-379892469dac",
        "kind": "request" if number % 2 else "response",
        "parts": [
            {
                "content": {"path": f"/f{number}.md", "text": prose(size, number)},
                "kind": "tool_return",
                "metadata": {"duration_ms": number},
                "tool_call_id": f"call_{number}",
            }
        ],
        "run_id": "run_9673226d-8d8b-4839-a6ec-cc939fd2b0fc",
        "timestamp": f"2026-11-29T20:44:{number:09d}Z",
    }


@pytest.fixture
def history():
    return [message(number) for number in range(100)]


@pytest.fixture
def state(history):
    return {
        "checkpoint_id": "ckpt_bcfae405-94be-4a82-bd0a-39aa966a3f6d",
        "state": {"message_history": history, "run_step": 7, "status": "running"},
    }


def exactly(value):
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def cost(before, after):
    """Bytes of the stored difference, once it is known to lead to the value."""
    stored = orjson.dumps(diff(before, after))
    assert exactly(apply(before, orjson.loads(stored))) == exactly(after)
    return len(stored)


def changed(state, edit):
    after = copy.deepcopy(state)
    edit(after["state"], after["state"]["message_history"])
    return after


# What a change costs, in a state of 300 KB


def test_the_state_is_large(state):
    assert len(orjson.dumps(state)) > 300_000


def test_an_appended_message_costs_little_more_than_itself(state):
    new = message(100, size=1700)
    after = changed(state, lambda _, history: history.append(new))
    assert 2000 < len(orjson.dumps(new)) < 2100
    assert cost(state, after) < 2200


def test_a_cut_list_costs_no_items(state):
    def cut(_, history):
        del history[60:]

    assert cost(state, changed(state, cut)) < 60


def test_a_list_cut_at_its_start_costs_no_items(state):
    def cut(_, history):
        del history[:60]

    assert cost(state, changed(state, cut)) < 60


def test_metadata_of_one_message_costs_little_more_than_itself(state):
    def annotate(_, history):
        history[50]["metadata"] = {"reviewed": True, "by": "someone"}

    assert cost(state, changed(state, annotate)) < 120


def test_metadata_changed_in_one_message_costs_little_more_than_itself(state):
    def annotate(_, history):
        history[50]["parts"][0]["metadata"]["duration_ms"] = 1.5

    assert cost(state, changed(state, annotate)) < 100


def test_the_last_request_rewritten_and_a_response_appended_cost_what_is_new(state):
    def respond(_, history):
        history[-1]["metadata"] = {"filter_order": ["compact", "cold_start"]}
        history[-1]["parts"].append({"kind": "instruction", "text": "Be brief."})
        history.append({"kind": "response", "parts": [{"kind": "text", "text": "Done."}]})

    assert cost(state, changed(state, respond)) < 350


def test_text_moved_into_the_history_is_not_stored_again(state):
    text = prose(2000, "moved")
    state["state"]["pending_tool_returns"] = [{"content": text, "tool_call_id": "call_7"}]

    def move(state, history):
        del state["pending_tool_returns"]
        part = {"kind": "tool_return", "name": "read_file", "content": text}
        history.append({"kind": "request", "parts": [part]})

    assert cost(state, changed(state, move)) < 300


def test_an_object_moved_with_a_key_added_is_not_stored_again(state):
    pending = message(200)["parts"][0] | {"name": "read_file"}
    del pending["kind"]
    state["state"]["pending_tool_returns"] = [pending]

    def move(state, history):
        [moved] = state.pop("pending_tool_returns")
        history.append({"kind": "request", "parts": [moved | {"kind": "tool_return"}]})

    assert cost(state, changed(state, move)) < 300


def test_many_parts_moved_at_once_are_not_stored_again(state):
    pending = [message(200 + at)["parts"][0] for at in range(20)]
    state["state"]["pending_tool_returns"] = pending

    def move(state, history):
        moved = [part | {"name": "read"} for part in state.pop("pending_tool_returns")]
        history.append({"kind": "request", "parts": moved})

    assert cost(state, changed(state, move)) < 20 * 300


def test_the_last_response_kept_at_another_path_too_is_not_stored_twice(state):
    def keep(state, history):
        state["latest_response"] = {k: v for k, v in history[-1].items() if k != "kind"}

    assert cost(state, changed(state, keep)) < 150


def test_a_text_that_is_already_there_is_not_stored_again(state, history):
    text = history[-1]["parts"][0]["content"]["text"]
    assert cost(state, changed(state, lambda state, _: state.update(output=text))) < 150


def test_a_text_set_to_one_that_is_already_there_is_not_stored_again(state, history):
    text = history[-1]["parts"][0]["content"]["text"]
    state["state"]["output"] = prose(1500, "old")
    assert cost(state, changed(state, lambda state, _: state.update(output=text))) < 150


def test_a_whole_history_at_another_path_costs_only_its_differences(state, history):
    grown = [*history[:99], history[99] | {"metadata": {"a": 1}}, message(100, size=1700)]
    exported = {"agent_id": "main", "message_history": grown, "run_id": "run_1"}
    assert cost(state, exported) < 2500
    assert cost(exported, state) < 400


def test_a_compaction_costs_its_summary(state):
    summary = {"kind": "request", "parts": [{"kind": "compaction", "text": prose(500, "sum")}]}

    def compact(_, history):
        history[:90] = [summary]

    assert cost(state, changed(state, compact)) < 700


def test_a_compaction_that_rewrites_a_kept_message_costs_its_summary(state):
    summary = {"kind": "request", "parts": [{"kind": "compaction", "text": prose(500, "sum")}]}

    def compact(_, history):
        history[-1]["metadata"] = {"compacted": True}
        history[:97] = [summary]

    assert cost(state, changed(state, compact)) < 800


def test_old_outputs_trimmed_in_place_cost_only_the_marks(state):
    def trim(_, history):
        for at in range(2, 40):
            history[at]["parts"][0]["content"]["text"] = "[trimmed]"

    assert cost(state, changed(state, trim)) < 38 * 90


def test_messages_removed_here_and_there_cost_only_their_places(state):
    def thin(_, history):
        for at in (90, 71, 55, 54, 20, 3):
            del history[at]

    assert cost(state, changed(state, thin)) < 6 * 50


def test_items_changed_among_removed_ones_are_still_recognized(state):
    def rework(_, history):
        del history[40:44]
        for at in range(38, 44):
            history[at]["parts"][0]["content"]["text"] = "[trimmed]"

    assert cost(state, changed(state, rework)) < 6 * 90 + 100


def test_all_messages_annotated_cost_only_the_annotations(state):
    def annotate(_, history):
        for number, one in enumerate(history):
            one["metadata"] = {"number": number}

    assert cost(state, changed(state, annotate)) < 100 * 80


def test_streamed_text_that_grew_costs_what_came(state):
    text = prose(20_000, "stream")
    state["state"]["text"] = text
    after = changed(state, lambda state, _: state.update(text=text + " and more"))
    assert cost(state, after) < 70


def test_a_text_changed_in_the_middle_costs_what_changed(state):
    text = "é漢😀" * 2000
    state["state"]["text"] = text
    edited = text[:3000] + "😀😀" + text[3001:]
    assert cost(state, changed(state, lambda state, _: state.update(text=edited))) < 70


def test_a_text_at_the_root_is_spliced():
    text = prose(100, 1)
    assert diff(text, text + "é") == [["~", [], 100, 0, "é"]]


def test_a_text_changed_in_a_list_of_texts_costs_what_changed():
    texts = [prose(1000, seed) for seed in range(10)]
    after = [texts[0], "short", *texts[2:5], texts[5] + " and more", texts[6], "new", *texts[8:]]
    assert cost(texts, [*after, prose(200, "end")]) < 350


def test_a_cell_changed_in_a_table_costs_that_cell():
    table = [[f"row {row}", *range(row * 50, row * 50 + 50)] for row in range(40)]
    after = [list(row) for row in table]
    after[7][9] = after[8][9] = None
    del after[20]
    assert cost(table, after) < 100


def test_one_item_changed_in_a_long_list_of_numbers_costs_that_item():
    numbers = list(range(30_000))
    assert cost(numbers, [*numbers[:9], -1, *numbers[10:]]) < 30
    assert cost(numbers, [*numbers[:500], *numbers[501:20_000], *numbers[20_001:]]) < 60


def test_a_list_too_long_to_be_searched_still_comes_back():
    numbers = list(range(60_000))
    after = [n for n in numbers if n not in (500, 55_000)]
    assert apply(numbers, diff(numbers, after)) == after


def test_a_change_of_type_alone_costs_that_value(state):
    def retype(state, _):
        state["run_step"] = 7.0

    after = changed(state, retype)
    assert after == state
    assert diff(state, after) == [["=", ["state", "run_step"], 7.0]]
    assert type(apply(state, diff(state, after))["state"]["run_step"]) is float


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([1] * 50, [True] * 50),
        ([{"a": 1, "b": 2}] * 9, [{"a": 2, "b": 3}] * 9),
        ({str(key): key for key in range(99)}, {str(key): -key for key in range(99)}),
        (["a" * 70, "b" * 70], ["c" * 70]),
        ("text", {"text": "text"}),
        ([], {}),
        (None, [None]),
    ],
)
def test_a_difference_is_never_longer_than_the_whole_value(before, after):
    assert cost(before, after) <= len(orjson.dumps([["=", [], after]]))


def test_a_part_that_changed_wholly_is_set_not_picked_apart(state):
    state["metadata"] = {f"key_{n}": n for n in range(50)}
    after = copy.deepcopy(state)
    after["metadata"] = {f"key_{n}": n + 1 for n in range(50)}
    assert diff(state, after) == [["=", ["metadata"], after["metadata"]]]


def test_parts_are_found_where_they_stand_by_now(state, history, monkeypatch):
    monkeypatch.setattr(sources, "SPARE", 0)
    known = sources.Sources()
    for step in range(30):
        # A window that slides: what was learned stands elsewhere, or is gone.
        after = {**state, "state": {**state["state"], "message_history": history[step:]}}
        delta = diff(state, after, known)
        assert apply(state, delta) == after
        state = after
        quoted = {"said": history[40]["parts"][0], "forgotten": history[0]["parts"][0]}
        quote = diff(state, {**state, "quoted": quoted}, known)
        assert apply(state, quote) == {**state, "quoted": quoted}
        assert (len(orjson.dumps(quote)) < 400) == (step == 0)
        assert 3000 < len(orjson.dumps(quote)) < 3600 or step == 0


def test_a_list_without_long_text_moved_elsewhere_is_not_stored_again(state):
    rows = [{"id": n, "name": f"row {n}", "score": n / 7} for n in range(30)]
    state["state"]["pending_tool_returns"] = [{"content": {"rows": rows}, "tool_call_id": "c"}]

    def move(state, history):
        [moved] = state.pop("pending_tool_returns")
        history.append({"kind": "request", "parts": [moved | {"kind": "tool_return"}]})

    assert cost(state, changed(state, move)) < 300


def test_text_that_only_looks_like_a_part_is_not_taken_for_it():
    numbers = [100_000 + n for n in range(20)]
    text = orjson.dumps(numbers).decode()
    key = "k" * 80
    before = {"said": f"the tool printed {text} and so on", "empty": [], key: 1}
    cost(before, {"numbers": numbers, "key": key})
