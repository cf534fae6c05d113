"""A run of tool steps of the Starweaver runtime with its own `SqliteSessionStore`.

The store has one way to read the checkpoints of a run, `load_checkpoints`, which gives all;
reading one state takes it from there. It writes its file in WAL with SQLite's default of
synchronous=FULL, as the journal does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from disk import starweaver_run
from starweaver import SqliteSessionStore


def record(path: Path, texts: list[str]) -> None:
    """Run the agent."""
    asyncio.run(starweaver_run(path, texts))


class StoreReader:
    """Reads through the session store."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._loop = asyncio.Runner()

    def __enter__(self) -> Self:
        """Open the file and look up its only run."""
        self._loop.__enter__()
        self._store = SqliteSessionStore.open(self._path)
        self._session_id, self._run_id = self._loop.run(self._only_run())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the event loop."""
        self._loop.__exit__(kind, error, trace)

    async def _only_run(self) -> tuple[str, str]:
        [session] = await self._store.list_sessions()
        [run] = await self._store.list_runs(session.session_id)
        return session.session_id, run.run_id

    async def _load(self) -> list[dict[str, Any]]:
        return await self._store.load_checkpoints(self._session_id, self._run_id)

    def at(self, part: float) -> Callable[[], dict[str, Any]]:
        """Give the checkpoint at a part of all."""

        def read() -> dict[str, Any]:
            found = self._loop.run(self._load())
            return found[int(part * len(found))]

        return read

    def history(self) -> Iterator[dict[str, Any]]:
        """Read every checkpoint, oldest first."""
        yield from self._loop.run(self._load())

    def answer(self, state: dict[str, Any]) -> dict[str, Any]:
        """Give the checkpoint, which is JSON."""
        return state

    def results(self, state: dict[str, Any]) -> int:
        """Count the tool returns in the history."""
        return tool_returns(state)


def tool_returns(checkpoint: dict[str, Any]) -> int:
    """Count the tool returns in a checkpoint's history."""
    return sum(
        part["kind"] == "tool_return"
        for message in checkpoint["state"]["message_history"]
        for part in message["parts"]
    )
