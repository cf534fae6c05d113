"""Bytes on disk of a Starweaver run, against the runtime's own SQLite store.

    python benchmarks/disk.py [--steps 100,200] [--bytes 2000] [--forks 200] [--json]

One run of N tool steps, each with different text as result (about 25 events a step), on the
real runtime without network, recorded live. The same run goes through the runtime's own
`SqliteSessionStore`. Both files are measured closed, with whatever lies beside them.
`content` is the tool results once.

With `--forks` it measures what so many forks add to the journal of such a run, and to one of
as many checkpoints with one record each: in all and by table, the pages that grew.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from typing import Any

from forks import measure_forks, write_few
from report import Row, arguments, show
from starweaver import SqliteSessionStore, Tool, create_agent_runtime
from starweaver.testing import FunctionModel
from texts import words

from journal import Journal
from journal.hosts.starweaver import JournalSessionStore, graceful_shutdown, record


async def run_steps(store: Any, texts: list[str], *, live: bool) -> None:
    """Run an agent that calls a tool once for each text, then answers."""
    asked = 0

    def read(page: int) -> str:
        """Read a page, counted from 1."""
        return texts[page - 1]

    def answer(_messages: list[Any], _info: dict[str, Any]) -> Any:
        nonlocal asked
        asked += 1
        if asked > len(texts):
            return "done"
        call = {"id": f"call_{asked}", "name": "read", "arguments": {"page": asked}}
        return {"tool_calls": [call]}

    runtime = create_agent_runtime(
        model=FunctionModel(answer),
        tools=[Tool(read, description="Read a page.")],
        session_store=store,
        durable_session_id=f"steps-{len(texts)}",
    )
    if not live:
        await runtime.run("read it all")
        return
    run = runtime.stream("read it all")
    async for _ in record(run):
        pass
    await run.result()


async def journal_run(path: Path, texts: list[str]) -> None:
    """Record the run in a journal, as it happens."""
    with Journal.open(path) as journal:
        async with graceful_shutdown():
            await run_steps(JournalSessionStore(journal), texts, live=True)


async def starweaver_run(path: Path, texts: list[str]) -> None:
    """Record the run in the runtime's own store."""
    async with graceful_shutdown():
        await run_steps(SqliteSessionStore.open(path), texts, live=False)


def size(path: Path) -> int:
    """Add up the file and what lies beside it, in bytes, without the views: they are derived."""
    parts = path.parent.glob(path.name + "*")
    return sum(part.stat().st_size for part in parts if ".views" not in part.name)


def measure(steps: int, bytes_per_result: int) -> Row:
    """Measure one length."""
    texts = words(steps, bytes_per_result)
    content = sum(map(len, texts))
    with tempfile.TemporaryDirectory() as name:
        ours, theirs = Path(name) / "runs.db", Path(name) / "starweaver.db"
        start = time.perf_counter()
        asyncio.run(journal_run(ours, texts))
        middle = time.perf_counter()
        asyncio.run(starweaver_run(theirs, texts))
        end = time.perf_counter()
        with Journal.open(ours, create=False) as journal:
            events = sum(1 for _ in journal.reader.all_events())
        return {
            "steps": steps,
            "events": events,
            "content bytes": content,
            "journal bytes": size(ours),
            "journal x": size(ours) / content,
            "starweaver bytes": size(theirs),
            "starweaver x": size(theirs) / content,
            "journal s": middle - start,
            "starweaver s": end - middle,
        }


def forks(steps: int, bytes_per_result: int, count: int) -> list[Row]:
    """Measure what forks add to two runs of a length."""
    texts = words(steps, bytes_per_result)
    with tempfile.TemporaryDirectory() as name:
        real, few = Path(name) / "runs.db", Path(name) / "few.db"
        asyncio.run(journal_run(real, texts))
        write_few(few, steps, bytes_per_result)
        return [
            measure_forks(f"{steps} steps", real, count),
            measure_forks(f"{steps} checkpoints", few, count),
        ]


def main() -> None:
    """Run and print."""
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--steps", default="100,200", help="numbers of steps, with commas")
    parser.add_argument("--bytes", type=int, default=2000, help="bytes of one tool result")
    parser.add_argument("--forks", type=int, help="measure so many forks instead")
    chosen = parser.parse_args()
    lengths = map(int, chosen.steps.split(","))
    if chosen.forks:
        rows = [row for steps in lengths for row in forks(steps, chosen.bytes, chosen.forks)]
        show("forks", rows, as_json=chosen.json)
        return
    rows = [measure(steps, chosen.bytes) for steps in lengths]
    show("disk", rows, as_json=chosen.json)


if __name__ == "__main__":
    main()
