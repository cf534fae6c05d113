"""Agents on the real Starweaver runtime, each brought into one situation; none needs a network.

A scenario is an async function. It takes the session store that the runtime writes to and,
for live recording, a `tap`: a function from an `AgentRun` to the async iterator that is read
in its place. It returns one `Outcome` a run, in order.
"""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any

from starweaver import (
    ApprovalRequired,
    CallDeferred,
    OutputSchema,
    Subagent,
    Tool,
    VirtualEnvironment,
    create_agent,
    create_agent_runtime,
    environment_toolsets,
)
from starweaver.model import ProviderModel
from starweaver.testing import FunctionModel, TestModel

from .outcome import Outcome, drive
from .responses_server import MODEL_NAME, Call, ResponsesServer, Say

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from starweaver import AgentRun, AgentRuntime

    from .outcome import Tap


async def text(store: Any, tap: Tap | None = None) -> list[Outcome]:
    """One text answer."""
    return [await drive(_runtime(store, "text", TestModel.text("Hello there.")), "Hi", tap)]


async def parallel_tools(store: Any, tap: Tap | None = None) -> list[Outcome]:
    """Two tool calls in one response, with unicode results."""
    calls = _calls(_weather_call("Paris"), _weather_call("Kyoto"))
    model = TestModel.responses([calls, "Paris 25, Kyoto 25"])
    runtime = _runtime(
        store, "tools", model, tools=[_weather()], instructions=["You are a weather assistant."]
    )
    return [await drive(runtime, "Weather in Paris and Kyoto?", tap)]


async def provider_stream(store: Any, tap: Tap | None = None) -> list[Outcome]:
    """A provider that streams tool arguments, then text, and reports tokens."""
    words = ("In ", "San ", "Sebastián ", "it ", "is ", "warm ", "and ", "晴れ. ") * 12
    turns = [
        Call("get_weather", {"city": "San Sebastián"}, input_tokens=120, output_tokens=15),
        Say(words, input_tokens=210, output_tokens=96),
    ]
    with ResponsesServer(turns) as server:
        model = ProviderModel.openai_responses(
            MODEL_NAME, api_key="none", base_url=server.base_url, stream_transport="http"
        )
        return [await drive(_runtime(store, "stream", model, tools=[_weather()]), "Weather?", tap)]


async def tool_error(store: Any, tap: Tap | None = None) -> list[Outcome]:
    """A tool raises; the model goes on."""

    def boom() -> None:
        raise RuntimeError("disk on fire")

    model = TestModel.responses([_calls(_call("boom")), "it failed, sorry"])
    return [await drive(_runtime(store, "toolerror", model, tools=[_tool(boom)]), "try it", tap)]


async def model_failure(store: Any, tap: Tap | None = None) -> list[Outcome]:
    """The model fails after one tool step."""

    def answer(messages: list[Any], _params: dict[str, Any]) -> Any:
        if len(messages) > 1:
            raise RuntimeError("the model is down")
        return _calls(_weather_call("Oslo"))

    runtime = _runtime(store, "modelfail", FunctionModel(answer), tools=[_weather()])
    return [await drive(runtime, "hello", tap)]


async def cancellation(store: Any, tap: Tap | None = None) -> list[Outcome]:
    """The user interrupts a running tool."""
    started = asyncio.Event()

    async def slow() -> None:
        started.set()
        await asyncio.sleep(3600)

    async def stop(run: AgentRun) -> None:
        await started.wait()
        run.interrupt("the user pressed stop")

    model = TestModel.responses([_calls(_call("slow")), "never said"])
    runtime = _runtime(store, "cancel", model, tools=[_tool(slow)])
    return [await drive(runtime, "go", tap, stop)]


async def approval(store: Any, tap: Tap | None = None) -> list[Outcome]:
    """The run suspends until a person approves a tool call."""

    def deploy() -> None:
        raise ApprovalRequired("deploy production", metadata={"risk": "high"})

    model = TestModel.responses([_calls(_call("deploy")), "never said"])
    runtime = _runtime(store, "approval", model, tools=[_tool(deploy)])
    return [await drive(runtime, "deploy it", tap)]


async def deferred_tool(store: Any, tap: Tap | None = None) -> list[Outcome]:
    """The run suspends until a worker answers a tool call."""

    def report() -> None:
        raise CallDeferred("a worker does it", metadata={"queue": "reports"})

    model = TestModel.responses([_calls(_call("report")), "never said"])
    runtime = _runtime(store, "deferred", model, tools=[_tool(report)])
    return [await drive(runtime, "make the report", tap)]


async def structured_output(store: Any, tap: Tap | None = None) -> list[Outcome]:
    """The first output does not fit the schema; the model is asked again."""
    schema = OutputSchema(
        "answer",
        {
            "type": "object",
            "properties": {"answer": {"type": "integer"}},
            "required": ["answer"],
            "additionalProperties": False,
        },
    )
    model = TestModel.responses(["not json", '{"answer": 42}'])
    runtime = _runtime(store, "structured", model, output_schema=schema)
    return [await drive(runtime, "answer", tap)]


async def subagent(store: Any, tap: Tap | None = None) -> list[Outcome]:
    """A delegated child run is merged into the parent's stream."""
    worker = create_agent(
        model=TestModel.responses([_calls(_weather_call("Oslo")), "worker done"]),
        tools=[_weather()],
        name="worker",
    )
    delegate = _call("delegate", subagent_name="worker", prompt="do work")
    runtime = _runtime(
        store,
        "subagent",
        TestModel.responses([_calls(delegate), "parent done"]),
        subagents=[Subagent("worker", worker, description="does the work")],
    )
    return [await drive(runtime, "delegate", tap)]


async def virtual_environment(store: Any, tap: Tap | None = None) -> list[Outcome]:
    """A virtual environment is written to and exported at the end."""
    write = _call("write", file_path="notes.txt", content="remember")
    runtime = _runtime(
        store,
        "env",
        TestModel.responses([_calls(write), "written"]),
        environment=VirtualEnvironment(
            id="ws", files={"README.md": "hello", "src/a.py": "print(1)"}
        ),
        toolsets=environment_toolsets(),
    )
    return [await drive(runtime, "write a note", tap)]


async def three_runs(store: Any, tap: Tap | None = None) -> list[Outcome]:
    """Three runs in one session, the second with a tool."""
    model = TestModel.responses(["one", _calls(_weather_call("Lima")), "two", "three"])
    runtime = _runtime(store, "session", model, tools=[_weather()])
    return [await drive(runtime, prompt, tap) for prompt in ("first", "second", "third")]


async def steering(store: Any, tap: Tap | None = None) -> list[Outcome]:
    """The user steers while a tool runs."""
    started, steered = asyncio.Event(), asyncio.Event()

    async def wait() -> dict[str, bool]:
        started.set()
        await steered.wait()
        return {"ok": True}

    async def steer(run: AgentRun) -> None:
        await started.wait()
        await run.steer("Use the safe rollout path.", id="ui-1")
        steered.set()

    model = TestModel.responses([_calls(_call("wait")), "safe path taken"])
    runtime = _runtime(store, "steer", model, tools=[_tool(wait)])
    return [await drive(runtime, "roll out", tap, steer)]


async def many_steps(
    store: Any, steps: int, bytes_per_result: int, tap: Tap | None = None, *, seed: int = 7
) -> list[Outcome]:
    """`steps` tool calls one after the other, each answered with different text.

    The scripted model keeps every request it was sent: memory grows with the square of `steps`
    (0.6 GB at 400 steps of 2 KB).
    """
    results = texts(steps, bytes_per_result, seed)

    def read() -> str:
        return next(results)

    model = TestModel.responses([*[_calls(_call("read"))] * steps, "done"])
    runtime = _runtime(store, f"steps-{steps}", model, tools=[_tool(read)])
    return [await drive(runtime, "read it all", tap)]


SCENARIOS: dict[str, Callable[..., Awaitable[list[Outcome]]]] = {
    scenario.__name__: scenario
    for scenario in (
        text,
        parallel_tools,
        provider_stream,
        tool_error,
        model_failure,
        cancellation,
        approval,
        deferred_tool,
        structured_output,
        subagent,
        virtual_environment,
        three_runs,
        steering,
    )
}


def texts(count: int, size: int, seed: int) -> Iterator[str]:
    """Give `count` different texts of `size` ASCII characters, made of pseudo-random words."""
    chance = random.Random(seed)
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    weights = [26 - at for at in range(26)]
    words = ["".join(chance.choices(letters, weights, k=chance.randint(2, 9))) for _ in range(5000)]
    for _ in range(count):
        found = " ".join(chance.choices(words, k=size // 3 + 1))
        yield found[:size]


def _runtime(store: Any, session_id: str, model: Any, **options: Any) -> AgentRuntime:
    return create_agent_runtime(
        model=model, session_store=store, durable_session_id=session_id, **options
    )


def _call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": f"call_{name}", "name": name, "arguments": arguments}


def _calls(*calls: dict[str, Any]) -> dict[str, Any]:
    return TestModel.tool_call_response(list(calls))


def _weather_call(city: str) -> dict[str, Any]:
    return {"id": f"call_{city}", "name": "get_weather", "arguments": {"city": city}}


def _weather() -> Tool:
    def get_weather(city: str) -> dict[str, Any]:
        """Tell the weather in a city."""
        return {"city": city, "celsius": 20 + len(city), "note": "été ☀️ 晴れ"}

    return Tool(get_weather)


def _tool(function: Callable[..., Any]) -> Tool:
    return Tool(function, description=f"The tool {function.__name__}.")
