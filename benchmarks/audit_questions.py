"""The six questions of the audit's benchmark, with the things that are asked about."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from audit_peers import DAY, Peer

from journal import Journal
from journal.codec import RecordedEvent
from journal.events import StreamRecorded
from projections.audit import Audit, AuditFilter

JSON = dict[str, Any]
Item = TypeVar("Item")

QUESTIONS = ("tools in a day", "trace", "phrase search", "timeline", "failures", "usage")
"""Usage is by session and day."""

SHOWN = 20
"""Hits of a search."""

WORDS = 3
"""Of a phrase that is searched for."""

LOOKED_AT = 50_000
"""Runs looked at to find what to ask about."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked about: as much of each as there was to be found."""

    tools: list[tuple[str, int, int]]
    """Names, each with a day in which it was called, in microseconds."""
    traces: list[str]
    phrases: list[str]
    runs: list[str]


@dataclass(frozen=True, slots=True)
class Question:
    """One of the six, about one thing."""

    of_audit: Callable[[Audit], Iterator[Any]]
    of_peer: Callable[[Peer], int]


def find_asked(path: Path, count: int, seed: int) -> Asked:
    """Choose what to ask a journal about, out of runs here and there."""
    dice = random.Random(seed)
    asked = Asked([], [], [], [])
    with Journal.open(path, create=False) as journal:
        runs = list(islice(journal.reader.run_ids(), LOOKED_AT))
        for run_id in dice.sample(runs, min(len(runs), 3 * count)):
            events = list(journal.reader.run_events(run_id))
            asked.runs.append(run_id)
            asked.tools.extend(_one(dice, _tools(events)))
            asked.traces.extend(_one(dice, _traces(events)))
            asked.phrases.extend(_one(dice, _phrases(events, dice)))
    fewest = min(count, *map(len, (asked.tools, asked.traces, asked.phrases, asked.runs)))
    if not fewest:
        raise SystemExit(f"{path}: no runs with tools, traces and answers to ask about")
    return Asked(
        asked.tools[:count], asked.traces[:count], asked.phrases[:count], asked.runs[:count]
    )


def _one(dice: random.Random, some: list[Item]) -> list[Item]:
    """Draw one, where there is any."""
    return dice.sample(some, min(len(some), 1))


def _recorded(events: list[RecordedEvent], kind: str) -> Iterator[tuple[int, JSON]]:
    for event in events:
        if event.name != StreamRecorded.NAME:
            continue
        record = event.data["record"]
        if record["event"].get("kind") == kind and "source" not in record:
            yield event.recorded_at, record["event"]


def _tools(events: list[RecordedEvent]) -> list[tuple[str, int, int]]:
    return [
        (event["call"]["name"], at // DAY * DAY, at // DAY * DAY + DAY)
        for at, event in _recorded(events, "tool_call")
    ]


def _traces(events: list[RecordedEvent]) -> list[str]:
    contexts = (event.data.get("run", {}).get("trace_context") or {} for event in events)
    return [context["trace_id"] for context in contexts if context.get("trace_id")]


def _phrases(events: list[RecordedEvent], dice: random.Random) -> list[str]:
    found = []
    for _, event in _recorded(events, "run_complete"):
        words = str(event["output"]).split()
        if len(words) >= WORDS:
            at = dice.randint(0, len(words) - WORDS)
            found.append(" ".join(words[at : at + WORDS]))
    return found


def questions(name: str, asked: Asked) -> list[Question]:
    """Give one of `QUESTIONS` about everything that it can be asked about."""
    if name == "tools in a day":
        return [_of_tool(*each) for each in asked.tools]
    if name == "trace":
        return [
            Question(lambda audit, it=each: audit.trace(it), lambda peer, it=each: peer.trace(it))
            for each in asked.traces
        ]
    if name == "phrase search":
        shown = AuditFilter(limit=SHOWN)
        return [
            Question(
                lambda audit, it=each: audit.search(it, shown),
                lambda peer, it=each: peer.search(it),
            )
            for each in asked.phrases
        ]
    if name == "timeline":
        return [
            Question(
                lambda audit, it=each: audit.timeline(it), lambda peer, it=each: peer.timeline(it)
            )
            for each in asked.runs
        ]
    if name == "failures":
        return [Question(lambda audit: audit.failures(), lambda peer: peer.failures())]
    by = ("session", "day")
    return [Question(lambda audit: audit.usage(by=by), lambda peer: peer.usage())]


def _of_tool(tool: str, since: int, until: int) -> Question:
    day = AuditFilter(since=since, until=until)
    return Question(
        lambda audit: audit.tools(day, tool=tool), lambda peer: peer.tools(tool, since, until)
    )
