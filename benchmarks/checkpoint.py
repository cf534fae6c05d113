"""Taking a checkpoint, against orjson.dumps of its state.

    python benchmarks/checkpoint.py [--steps 60] [--repeat 3] [--json]

The state starts at a size and grows by one message of 2 KB a step. It is handed in as objects
that were parsed just before (a host that gets it from another language), as objects of which
the old messages are those of the step before (a host in Python), or as JSON bytes. In
`compaction` the history falls to a summary and its last four messages every sixth step; only
those steps count, and their reference is the state before, which they compact. In memory, so
that no disk is measured. All figures are medians, in microseconds; `x` is the whole call by
the reference in the same run, and the parts are measured apart from it.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import orjson
from report import Row, arguments, show
from texts import words

from journal import Journal
from journal.documents import Tip, next_tip
from journal.ids import Version, run_stream
from journal.run_offers import RunOffers

MESSAGE = 2000
KEPT = 4
"""Messages that a compaction keeps at the end."""

EVERY = 6
"""Steps from one compaction to the next."""

USAGE = dict.fromkeys(
    ("requests", "input_tokens", "output_tokens", "total_tokens", "tool_calls"), 10
)
TEXTS = words(400, MESSAGE)


@cache
def message(number: int) -> dict[str, Any]:
    """Make a message of 2 KB: a tool's answer, or the model's."""
    text = f"{number} {TEXTS[number % len(TEXTS)]}"
    about = {"run_id": "run", "conversation_id": "conversation", "timestamp": f"t{number}"}
    if number % 2:
        parts = [
            {"kind": "text", "text": text},
            {"kind": "tool_call", "id": f"call_{number}", "name": "read", "arguments": {"page": 1}},
        ]
        return {"kind": "response", "parts": parts, "usage": USAGE, **about}
    answer = {"tool_call_id": f"call_{number - 1}", "name": "read", "content": text}
    parts = [{"kind": "tool_return", **answer, "is_error": False}]
    return {"kind": "request", "parts": parts, **about}


def checkpoint(step: int, history: list[dict[str, Any]]) -> dict[str, Any]:
    """Make the checkpoint of a step."""
    names = {"run_id": "run", "conversation_id": "conversation"}
    usage = {**USAGE, "requests": step}
    cursor = {
        "model_request_attempt": step,
        "output_validation_attempt": 0,
        "stream_cursor": step,
        "message_cursor": len(history),
    }
    evidence = {
        "node": "tool_return",
        "status": "running",
        "run_step": step,
        "cursor": cursor,
        "usage": usage,
        "pending_approval_count": 0,
        "deferred_tool_count": 0,
    }
    state = {
        **names,
        "message_history": history,
        "usage": usage,
        "run_step": step,
        "status": "running",
        "latest_response": {k: v for k, v in message(step | 1).items() if k != "kind"},
    }
    return {
        "checkpoint_id": f"checkpoint_{step}",
        **names,
        "node": "tool_return",
        "run_step": step,
        "resume": evidence,
        "state": state,
    }


def growing(size: int, steps: int) -> Iterator[dict[str, Any]]:
    """Yield the checkpoints of a run whose history grows from `size` bytes on."""
    first = max(size // (MESSAGE + 200), 1)
    for step in range(first, first + steps):
        yield checkpoint(step, [message(number) for number in range(step)])


def compacted(size: int, steps: int) -> Iterator[dict[str, Any]]:
    """Yield checkpoints that grow, and are compacted every sixth step."""
    length = max(size // (MESSAGE + 200), KEPT + 1)
    dice = random.Random(3)
    start = 0
    for step in range(steps):
        grown = step % EVERY
        if not grown:
            start = dice.randrange(1_000_000)
        history = [message(start + number) for number in range(length + grown)]
        if grown == EVERY - 1:
            history = [message(start - 1), *history[-KEPT:]]
        yield checkpoint(step, history)


Take = Callable[[Any], Any]
Sources = list[Callable[[], Any]]
"""Makes what is handed in, a checkpoint each."""


def timed(work: Take, given: Any, into: list[float]) -> Any:
    """Do a part of the work and note how long it takes, in microseconds."""
    start = time.perf_counter()
    made = work(given)
    into.append((time.perf_counter() - start) * 1e6)
    return made


def whole_calls(sources: Sources) -> list[float]:
    """Time `run.checkpoint` for each of a run's checkpoints."""
    taken: list[float] = []
    with Journal.open("memory://") as journal:
        run = journal.run("run", session_id="session")
        for make in sources:
            timed(run.checkpoint, make(), taken)
    return taken


def parts(sources: Sources) -> tuple[list[float], list[float]]:
    """Time the offer (door, validation) and the difference, apart from the writing."""
    offered: list[float] = []
    compared: list[float] = []
    offers = RunOffers("run", "session", "conversation")
    stream = run_stream("run")
    tip: Tip | None = None
    for version, make in enumerate(sources, 2):
        offer = timed(offers.checkpoint, make(), offered)
        place = (stream, Version(version))
        _, tip = timed(
            lambda made, tip=tip, place=place: next_tip(tip, *place, made.value, made.size),
            offer,
            compared,
        )
    return offered, compared


def references(checkpoints: list[dict[str, Any]]) -> list[float]:
    """Time orjson.dumps of each checkpoint, parsed just before."""
    taken: list[float] = []
    for one in checkpoints:
        timed(orjson.dumps, orjson.loads(orjson.dumps(one)), taken)
    return taken


def measure(
    name: str, checkpoints: list[dict[str, Any]], sources: Sources, repeat: int, counts: slice
) -> Row:
    """Measure one kind of run; `counts` picks the steps that count."""
    compacts = counts.step is not None
    columns: list[list[float]] = [[], [], [], []]
    for _ in range(repeat):
        reference = references(checkpoints)
        columns[0] += reference[EVERY - 2 :: EVERY] if compacts else reference[counts]
        for number, found in enumerate((whole_calls(sources), *parts(sources)), 1):
            columns[number] += found[counts]
    dumps, call, offer, difference = map(statistics.median, columns)
    return {
        "run": name,
        "bytes": round(statistics.median([len(orjson.dumps(one)) for one in checkpoints])),
        "dumps us": dumps,
        "checkpoint us": call,
        "x": call / dumps,
        "offer us": offer,
        "difference us": difference,
        "rest us": call - offer - difference,
    }


def forms(checkpoints: list[dict[str, Any]]) -> dict[str, Sources]:
    """Make the ways in which a host hands in its checkpoints."""
    texts = [orjson.dumps(one) for one in checkpoints]
    return {
        "parsed": [lambda text=text: orjson.loads(text) for text in texts],
        "kept": [lambda one=one: one for one in checkpoints],
        "bytes": [lambda text=text: text for text in texts],
    }


def main() -> None:
    """Run and print."""
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=60, help="checkpoints a run")
    chosen = parser.parse_args()
    rows = []
    for size in (30_000, 300_000, 3_000_000):
        runs = {
            "grows": (list(growing(size, chosen.steps)), slice(1, None)),
            "compaction": (list(compacted(size, chosen.steps)), slice(EVERY - 1, None, EVERY)),
        }
        rows += [
            measure(f"{name}, {form}", made, sources, chosen.repeat, counts)
            for name, (made, counts) in runs.items()
            for form, sources in forms(made).items()
        ]
    show("checkpoint", rows, as_json=chosen.json)


if __name__ == "__main__":
    main()
