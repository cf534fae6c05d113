"""Four runs of the corpus with the right view written out at every stream cursor.

The fixtures are meant to be read beside the records. In each row `live` names only what
differs from `live_unless_said`, `messages` are keys of `history`, open calls keys of `calls`.
"""

import json
from pathlib import Path

import pytest

from journal import Journal
from journal.json_door import equal
from projections import StreamCursor, replay
from tests import corpus
from tests.laws.digest import digest, expand

FOLDER = Path(__file__).parents[1] / "fixtures" / "expected"


@pytest.mark.parametrize("name", ["approval", "cancel", "subagent", "tools"])
def test_every_stream_cursor_shows_what_is_written_out(name):
    expected = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    calls = corpus.Calls(name)
    (run_id,) = calls.run_ids
    sequences = [record["sequence"] for record in calls.records[run_id]]
    assert [row["stream"] for row in expected["rows"]] == sequences
    with Journal.open("memory://") as journal:
        calls.give(journal)
        for row in expected["rows"]:
            view = replay(journal, run_id, at=StreamCursor(row["stream"])).to_json()
            seen = {
                "messages": [digest(message) for message in view["messages"]],
                "live": view["live"],
                "children": view["children"],
            }
            wanted = expand(row, expected)
            assert equal(seen, wanted), f"at {row['stream']}: found {seen}, expected {wanted}"
