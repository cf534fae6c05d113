"""The demo: a real agent on the real runtime, journaled live, then replayed.

The model is scripted, so that no network is needed; the runtime, its tools and its records
are the real ones.
"""

from __future__ import annotations

import asyncio
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from journal.cli.messages import Said, call_text, shown
from journal.cli.output import Output
from journal.cli.page import (
    evidence_json,
    field,
    heading,
    show_fields,
    show_message,
    show_said,
    status,
)
from journal.hosts.starweaver import JournalSessionStore, graceful_shutdown, record
from journal.journal import Journal
from projections import LATEST, Cursor, MessageCursor, RunView, StreamCursor, log, replay

if TYPE_CHECKING:
    from starweaver.testing import TestModel

PROMPT = "Paris or Kyoto this weekend? Book the train to the warmer one."
ANSWER = "Kyoto, 24 °C and sunny. Your train leaves on Saturday at 9:12."
WEATHER = {"Paris": {"celsius": 11, "sky": "rain"}, "Kyoto": {"celsius": 24, "sky": "晴れ"}}


class Moment(NamedTuple):
    """A point of the demo's run, and why it is worth a look."""

    about: str
    view: RunView


def run_demo(journal: Journal, db: str, output: Output) -> None:
    """Run the agent, then show its run, three moments of it, and its resume evidence."""
    if not output.json:
        output.line("An agent with a scripted model runs on Starweaver, and each of its stream")
        output.line("records is journaled as it passes.")
        heading(output, "live")
        show_said(output, "", Said("user", PROMPT))
    run_id = asyncio.run(_run_agent(journal, output))
    moments = _moments(journal, run_id)
    if output.json:
        output.document(_document(journal, db, moments))
        return
    for moment in moments:
        _show_moment(output, moment)
    heading(output, "resume evidence at latest")
    show_fields(output, moments[-1].view.evidence or {})
    heading(output, "look further")
    output.line(("  the journal is ", "dim"), _location(journal), whole=True)
    for line in _commands(db, run_id, moments):
        output.line("  ", (line, "bold"), whole=True)


async def _run_agent(journal: Journal, output: Output) -> str:
    asyncio.get_running_loop().set_exception_handler(ignore_late_answers)
    async with graceful_shutdown():
        return await _converse(journal, output)


def ignore_late_answers(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report an error of the event loop, save one that follows from Ctrl-C.

    The runtime still answers futures that were cancelled with the run.
    """
    if not isinstance(context.get("exception"), asyncio.InvalidStateError):
        loop.default_exception_handler(context)


async def _converse(journal: Journal, output: Output) -> str:
    from starweaver import Tool, create_agent_runtime  # noqa: PLC0415 - the adapter found it

    runtime = create_agent_runtime(
        model=_model(),
        tools=[Tool(get_weather), Tool(book_train)],
        session_store=JournalSessionStore(journal),
        durable_session_id=f"demo-{uuid4().hex[:8]}",
    )
    run = runtime.stream(PROMPT)
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


def _model() -> TestModel:
    from starweaver.testing import TestModel  # noqa: PLC0415 - the adapter found it

    def call(name: str, **arguments: Any) -> dict[str, Any]:
        return {"id": f"{name}_{uuid4().hex[:8]}", "name": name, "arguments": arguments}

    forecasts = [call("get_weather", city=city) for city in WEATHER]
    train = [call("book_train", to="Kyoto", day="Saturday")]
    return TestModel.responses(
        [TestModel.tool_call_response(forecasts), TestModel.tool_call_response(train), ANSWER]
    )


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


def _moments(journal: Journal, run_id: str) -> list[Moment]:
    first_call = next(log(journal, run_id, kinds=["tool_call"]))

    def moment(about: str, cursor: Cursor) -> Moment:
        return Moment(about, replay(journal, run_id, at=cursor))

    return [
        moment("the first tool is about to run", StreamCursor(first_call.anchor)),
        moment("both forecasts are in the history", MessageCursor(3)),
        moment("the run is over", LATEST),
    ]


def _show_moment(output: Output, moment: Moment) -> None:
    view = moment.view
    live = view.live
    heading(output, view.cursor.requested, (f"  {moment.about}", "dim"))
    field(output, "  status", status(live.status), f" at {live.node}, step {live.step}")
    field(output, "  messages", f"{len(view.messages)}, the last one:")
    show_message(output, len(view.messages), view.messages[-1])
    for call in live.open_tool_calls:
        text = call_text(call.name, call.arguments)
        field(output, "  open call", (f"{text}  ", "yellow"), (call.id, "dim"))


def _document(journal: Journal, db: str, moments: list[Moment]) -> dict[str, Any]:
    last = moments[-1].view
    return {
        "schema": "runjournal.demo",
        "schema_version": 1,
        "location": _location(journal),
        "run_id": last.run_id,
        "session_id": last.session_id,
        "views": [moment.view.to_json() for moment in moments],
        "evidence": evidence_json(last),
        "commands": _commands(db, last.run_id, moments),
    }


def _location(journal: Journal) -> str:
    location = journal.location
    return location if location == "memory://" else _readable(str(Path(location).resolve()))


def _readable(path: str) -> str:
    """Read a path as UTF-8 where the system's encoding is another, and could not."""
    return os.fsencode(path).decode(errors="backslashreplace")


def _commands(db: str, run_id: str, moments: list[Moment]) -> list[str]:
    known = db == "runjournal.db" or db == os.environ.get("RUNJOURNAL_DB")
    program = "runjournal" if known else f"runjournal --db {shlex.quote(_readable(db))}"
    first = moments[0].view.cursor.requested
    return [
        f"{program} runs",
        f"{program} log {run_id} --kind tool_call --kind tool_return",
        f"{program} replay {run_id} --at {first}",
        f"{program} diff {run_id} {first} latest",
        f"{program} evidence {run_id} --json",
    ]
