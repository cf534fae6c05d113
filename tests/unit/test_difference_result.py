"""What a difference leads to: in order, shared with what was, at any depth."""

import copy
import sys

import orjson

from journal.difference import apply, diff

TEXT = "The quick brown fox jumps over the lazy dog. " * 3


def test_new_keys_come_back_in_their_places():
    before = {"b": 1, "d": {"y": 1}, "f": [{"k": 1}]}
    after = {"a": 0, "b": 1, "c": 2, "d": {"x": 0, "y": 1, "z": 2}, "f": [{"j": 0, "k": 1}], "g": 3}
    before["long"] = after["long"] = TEXT
    assert orjson.dumps(apply(before, diff(before, after))) == orjson.dumps(after)


def test_a_large_object_gains_keys_without_regard_to_order():
    before = {f"k{n:03}": n for n in range(300)}
    after = {"first": 1, **before}
    assert apply(before, diff(before, after)) == after


def test_key_order_alone_is_no_difference():
    before = {"a": {"x": 1, "y": [{"p": 1, "q": 2}]}, "b": 2}
    after = {"b": 2, "a": {"y": [{"q": 2, "p": 1}], "x": 1}}
    assert diff(before, after) == []


def test_what_is_unchanged_is_shared_and_nothing_given_is_altered():
    before = {"history": [{"text": TEXT, "n": n} for n in range(9)], "step": 7}
    after = copy.deepcopy(before)
    after["step"] = 8
    after["history"][0]["metadata"] = {"a": 1}
    after["history"].append({"parts": [TEXT, {"more": [1]}]})
    delta = diff(before, after)
    was, stored = orjson.dumps(before), orjson.dumps(delta)
    rebuilt = apply(before, delta)
    assert rebuilt["history"][7] is before["history"][7]
    further = copy.deepcopy(after)
    further["history"][9]["parts"][1]["more"].append(2)
    assert apply(rebuilt, diff(rebuilt, further)) == further
    assert rebuilt == after
    assert orjson.dumps(before) == was
    assert orjson.dumps(delta) == stored


def test_depth_needs_no_stack():
    def nested(core):
        for level in range(199):
            core = {"a": core, "pad": f"{TEXT}{level}"} if level % 2 else [core, level]
        return core

    before, after = nested(1), nested(True)
    delta = diff(before, after)
    assert len(delta) == 1

    def deep_in_the_host(frames):
        if frames:
            return deep_in_the_host(frames - 1)
        return apply(before, diff(before, after))

    used = len_of_stack()
    frames = sys.getrecursionlimit() - used - 300
    assert orjson.dumps(deep_in_the_host(frames)) == orjson.dumps(after)


def len_of_stack():
    frame, depth = sys._getframe(), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    return depth
