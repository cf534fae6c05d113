"""Two runs of one scripted agent do not differ; where they do, the point is named and replays."""

import asyncio

import pytest
from starweaver import Tool, create_agent_runtime
from starweaver.testing import TestModel as ScriptedModel

from journal import Journal
from journal.hosts.starweaver import JournalSessionStore, graceful_shutdown
from projections import diff_runs, replay
from projections.comparing import Compared

from .outcome import drive
from .scenarios import SCENARIOS


def run(*scenarios):
    """Run scenarios one after the other in a loop of their own."""

    async def main():
        async with graceful_shutdown():
            return [outcome for scenario in scenarios for outcome in await scenario]

    return asyncio.run(main())


async def script(store, session_id, responses, celsius):
    """Run an agent with these responses and a tool that answers so."""

    def get_weather(city: str) -> dict[str, object]:
        """Tell the weather in a city."""
        return {"city": city, "celsius": celsius}

    runtime = create_agent_runtime(
        model=ScriptedModel.responses(responses),
        session_store=store,
        durable_session_id=session_id,
        tools=[Tool(get_weather)],
    )
    return [await drive(runtime, "Weather?", None)]


def asked(*cities):
    return ScriptedModel.tool_call_response(
        [{"id": f"call_{city}", "name": "get_weather", "arguments": {"city": city}} for city in cities]
    )  # fmt: skip


@pytest.fixture
def journal():
    with Journal.open("memory://") as opened:
        yield opened


@pytest.mark.parametrize("name", SCENARIOS)
def test_two_runs_of_one_script_do_not_differ(journal, name):
    scenario = SCENARIOS[name]
    with Journal.open("memory://") as elsewhere:
        ours = run(scenario(JournalSessionStore(journal)))
        theirs = run(scenario(JournalSessionStore(elsewhere)))
        for one, other in zip(ours, theirs, strict=True):
            assert one.run_id != other.run_id
            elsewhere_view, view = replay(elsewhere, other.run_id), replay(journal, one.run_id)
            sides = [Compared(each, across=True).to_json() for each in (view, elsewhere_view)]
            assert sides[0] == sides[1]


@pytest.mark.parametrize(
    ("responses", "celsius", "messages", "calls"),
    [
        ([asked("Oslo"), "It is 20."], 21, 2, (0, 1)),
        ([asked("Rome"), "It is 20."], 20, 1, (1, 0)),
        ([asked("Oslo", "Rome"), "It is 20."], 20, 1, (1, 0)),
        ([asked("Oslo"), "It is warm."], 20, 3, (0, 0)),
        (["It is warm."], 20, 1, (0, 0)),
        ([asked("Oslo"), asked("Oslo"), "It is 20."], 20, 3, (1, 0)),
    ],
    ids=["other return", "other call", "more calls", "other answer", "no call", "one more step"],
)
def test_the_first_divergence_of_real_runs(journal, responses, celsius, messages, calls):
    store = JournalSessionStore(journal)
    one, other = run(
        script(store, "s1", [asked("Oslo"), "It is 20."], 20),
        script(store, "s2", responses, celsius),
    )
    diff = diff_runs(journal, one.run_id, other.run_id)
    divergence = diff.divergence
    assert divergence.messages == messages
    assert divergence.beginning is None
    assert (divergence.a.next.at, divergence.b.next.at) == (messages, messages)
    a, b = (replay(journal, each.run_id, each.cursor) for each in (divergence.a, divergence.b))
    sides = [Compared(each, across=True) for each in (a, b)]
    assert sides[0].fingerprints() == sides[1].fingerprints()
    assert a.live.status == b.live.status
    assert (len(diff.calls.only_b), len(diff.calls.returned_differently)) == calls


def test_a_run_seen_up_to_a_cursor_is_the_beginning_of_its_twin(journal):
    store = JournalSessionStore(journal)
    one, other = run(
        script(store, "s1", [asked("Oslo"), "It is 20."], 20),
        script(store, "s2", [asked("Oslo"), "It is 20."], 20),
    )
    assert diff_runs(journal, one.run_id, other.run_id).same
    last = replay(journal, one.run_id).live.last_sequence
    begun = 0
    for sequence in range(last):
        diff = diff_runs(journal, one.run_id, other.run_id, f"stream:{sequence}")
        if diff.divergence is not None:
            assert diff.divergence.beginning == "a"
            begun += 1
        assert diff_runs(
            journal, one.run_id, other.run_id, f"stream:{sequence}", f"stream:{sequence}"
        ).same
    assert begun > last // 2
