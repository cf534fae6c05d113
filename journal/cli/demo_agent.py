"""The demo's agent: a scripted model on the real runtime, whose records are journaled live."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from journal.cli.messages import Said, call_text, shown
from journal.cli.output import Output
from journal.cli.page import show_said
from journal.hosts.starweaver import JournalSessionStore, graceful_shutdown, record

if TYPE_CHECKING:
    from starweaver.testing import TestModel

WEATHER = {"Paris": {"celsius": 11, "sky": "rain"}, "Kyoto": {"celsius": 24, "sky": "晴れ"}}

Call = tuple[str, dict[str, Any]]


class Talk(NamedTuple):
    """What the person asks, and what the model does about it."""

    prompt: str
    calls: tuple[tuple[Call, ...], ...]
    """Names and arguments of the tools that each response calls."""
    answer: str


FIRST = Talk(
    "Paris or Kyoto this weekend? Book the train to the warmer one.",
    (
        (("get_weather", {"city": "Paris"}), ("get_weather", {"city": "Kyoto"})),
        (("book_train", {"to": "Kyoto", "day": "Saturday"}),),
    ),
    "Kyoto, 24 °C and sunny. Your train leaves on Saturday at 9:12.",
)
INSTEAD = Talk(
    "Book Paris all the same: it is my mother's birthday.",
    ((("book_train", {"to": "Paris", "day": "Saturday"}),),),
    "Paris, 11 °C and rain. Your train leaves on Saturday at 9:12.",
)


def run_agent(
    store: JournalSessionStore,
    output: Output,
    talk: Talk,
    session_id: str,
    state: dict[str, Any] | None = None,
) -> str:
    """Run the agent, printing what it does; gives the run's id.

    Args:
        state: what it goes on from.
    """
    if not output.json:
        show_said(output, "", Said("user", talk.prompt))
    return asyncio.run(_run(store, output, talk, session_id, state))


async def _run(
    store: JournalSessionStore,
    output: Output,
    talk: Talk,
    session_id: str,
    state: dict[str, Any] | None,
) -> str:
    asyncio.get_running_loop().set_exception_handler(ignore_late_answers)
    async with graceful_shutdown():
        return await _converse(store, output, talk, session_id, state)


def ignore_late_answers(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report an error of the event loop, save one that follows from Ctrl-C.

    The runtime still answers futures that were cancelled with the run.
    """
    if not isinstance(context.get("exception"), asyncio.InvalidStateError):
        loop.default_exception_handler(context)


async def _converse(
    store: JournalSessionStore,
    output: Output,
    talk: Talk,
    session_id: str,
    state: dict[str, Any] | None,
) -> str:
    from starweaver import Tool, create_agent_runtime  # noqa: PLC0415 - the adapter found it

    runtime = create_agent_runtime(
        model=_model(talk),
        tools=[Tool(get_weather), Tool(book_train)],
        session_store=store,
        durable_session_id=session_id,
        state=state,
    )
    run = runtime.stream(talk.prompt)
    async for event in record(run):
        if not output.json:
            _show_record(output, event.raw["event"])
    result = await run.result()
    return str(result.raw_state["run_id"])


def get_weather(city: str) -> dict[str, Any]:
    """Tell the weather in a city."""
    return {"city": city, **WEATHER[city]}


def book_train(to: str, day: str) -> dict[str, Any]:
    """Book a train."""
    return {"to": to, "day": day, "departs": "9:12"}


def _model(talk: Talk) -> TestModel:
    from starweaver.testing import TestModel  # noqa: PLC0415 - the adapter found it

    def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return {"id": f"{name}_{uuid4().hex[:8]}", "name": name, "arguments": arguments}

    responses = [[call(*each) for each in calls] for calls in talk.calls]
    return TestModel.responses([*map(TestModel.tool_call_response, responses), talk.answer])


def _show_record(output: Output, event: dict[str, Any]) -> None:
    match event["kind"]:
        case "tool_call":
            call = event["call"]
            said_now = Said("call", call_text(call["name"], call["arguments"]))
        case "tool_return":
            answer = event["tool_return"]
            said_now = Said("return", f"{answer['name']}: {shown(answer['content'])}")
        case "run_complete":
            said_now = Said("assistant", event["output"])
        case _:
            return
    show_said(output, "", said_now)
