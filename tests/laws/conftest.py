"""A run to hand things to, and a way to look at it."""

import pytest

from projections import parse_cursor, replay


@pytest.fixture
def run(journal):
    return journal.run("r", session_id="s", conversation_id="c")


@pytest.fixture
def see(journal):
    return lambda cursor="latest", run_id="r": replay(
        journal, run_id, at=parse_cursor(cursor)
    ).to_json()
