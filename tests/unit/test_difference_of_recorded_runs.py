"""The differences of a recorded run come to what is new in it."""

import orjson
import pytest

from journal.difference import apply, diff
from tests.recorded import lines


def recorded(name):
    """The documents of a recorded run in order: its checkpoints and its exported contexts."""
    for line in lines(name):
        if line["op"] == "commit_checkpoint":
            yield line["op"], line["args"][1]
        elif line["op"] == "commit_run_evidence":
            yield line["op"], line["args"][0]["context_state"]


# Measured: 1.6 and 20 % of the full encodings, and 1.3 and 26 % for the context.
@pytest.mark.parametrize(
    ("name", "checkpoints", "context"), [("long", 0.02, 0.02), ("tools", 0.25, 0.35)]
)
def test_a_recorded_run_costs_what_is_new(name, checkpoints, context):
    share = {"commit_checkpoint": checkpoints, "commit_run_evidence": context}
    full, stored = dict.fromkeys(share, 0), dict.fromkeys(share, 0)
    before = None
    for kind, after in recorded(name):
        delta = orjson.dumps(diff(before, after))
        assert orjson.dumps(apply(before, orjson.loads(delta))) == orjson.dumps(after)
        full[kind] += len(orjson.dumps(after))
        stored[kind] += len(delta)
        before = after
    for kind, most in share.items():
        assert stored[kind] <= most * full[kind]
