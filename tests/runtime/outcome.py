"""What the real runtime says of a run, and how a run is driven to its end."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import starweaver
from starweaver.errors import StarweaverError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from starweaver import AgentRun, AgentRuntime, StreamEvent

    Tap = Callable[[AgentRun], AsyncIterator[StreamEvent]]
    Meanwhile = Callable[[AgentRun], Awaitable[None]]


@dataclass(frozen=True)
class Outcome:
    """What the runtime says of a run that ended."""

    session_id: str
    run_id: str
    status: str
    output: str | None
    structured_output: Any
    messages: list[dict[str, Any]]
    usage: dict[str, int]
    error: str | None = None
    live: list[dict[str, Any]] = field(default_factory=list)
    """The stream records in the order the live iterator gave them; empty where it was not read as one."""


async def drive(
    runtime: AgentRuntime, prompt: str, tap: Tap | None, meanwhile: Meanwhile | None = None
) -> Outcome:
    """Run one prompt to its end: collected where nobody taps or steps in, else as a stream."""
    live: list[dict[str, Any]] = []
    error: StarweaverError | None = None
    result = None
    try:
        if tap is None and meanwhile is None:
            result = await runtime.run(prompt)
        else:
            run = runtime.stream(prompt)
            await asyncio.gather(_read(run, tap, live), *([meanwhile(run)] if meanwhile else []))
            result = await run.result()
    except StarweaverError as raised:
        error = raised
    session_id = str(runtime.durable_session_id)
    if result is None:
        state = runtime.export_full_state()
        stopped = isinstance(error, starweaver.StreamError)
        return Outcome(
            session_id=session_id,
            run_id=state["run_id"],
            status="cancelled" if stopped else "failed",
            output=None,
            structured_output=None,
            messages=state["message_history"],
            usage=starweaver.Usage(state.get("usage")).to_dict(),
            error=str(error),
            live=live,
        )
    return Outcome(
        session_id=session_id,
        run_id=result.raw_state["run_id"],
        status=result.status,
        output=result.output,
        structured_output=result.structured_output,
        messages=result.messages,
        usage=result.usage.to_dict(),
        live=live,
    )


async def _read(run: AgentRun, tap: Tap | None, into: list[dict[str, Any]]) -> None:
    async for event in run if tap is None else tap(run):
        into.append(event.raw)  # noqa: PERF401 - what came before an error stays
