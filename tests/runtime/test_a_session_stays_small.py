"""A session of many runs costs what is new in each run, not what its history repeats."""

import asyncio

import pytest
from starweaver import create_agent_runtime
from starweaver.testing import TestModel as ScriptedModel

from journal import Journal
from journal.events import StreamRecorded
from journal.hosts.starweaver import JournalSessionStore, graceful_shutdown, record
from journal.json_door import dumps
from projections import replay

RUNS = 30
MESSAGES = 30
"""Messages of the history that the session's first run starts with."""


def history():
    for turn in range(MESSAGES // 2):
        asked = {"kind": "user_prompt", "content": [{"kind": "text", "text": f"question {turn}"}]}
        yield {"kind": "request", "parts": [asked]}
        said = {"kind": "text", "text": f"answer {turn}, which took some thinking " * 4}
        yield {"kind": "response", "parts": [said], "usage": usage()}


def usage():
    names = ("requests", "input_tokens", "output_tokens", "total_tokens")
    return dict.fromkeys(names, 0)


async def go(journal, *, live):
    async with graceful_shutdown():
        runtime = create_agent_runtime(
            model=ScriptedModel.responses([f"turn {at} is done" for at in range(RUNS)]),
            session_store=JournalSessionStore(journal),
            durable_session_id="s1",
            state={"agent_id": "main", "message_history": list(history())},
        )
        for at in range(RUNS):
            run = runtime.stream(f"do turn {at}")
            async for _ in record(run) if live else run:
                pass


@pytest.mark.parametrize("live", [True, False], ids=["recorded live", "committed at the end"])
def test_thirty_runs_take_less_than_three_times_what_was_said(tmp_path, live):
    path = tmp_path / "runs.db"
    with Journal.open(path) as journal:
        asyncio.run(go(journal, live=live))
    with Journal.open(path) as journal:
        runs = list(journal.reader.run_ids())
        assert len(runs) == RUNS
        records = sum(
            len(dumps(event.data["record"]))
            for run_id in runs
            for event in journal.reader.run_events(run_id, names=(StreamRecorded.NAME,))
        )
        said = replay(journal, runs[0]).messages
        assert len(said) >= MESSAGES + 2 * RUNS
        content = records + sum(len(dumps(message)) for message in said)
    size = sum(
        each.stat().st_size for each in tmp_path.glob("runs.db*") if "views" not in each.name
    )
    assert size < 3 * content
