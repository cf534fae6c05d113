"""A journal in numbers: runs, events, tokens and tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from journal.stores.interface import NameSize
from projections.audit.calls import list_calls
from projections.audit.durations import Durations
from projections.audit.failures import runs_asked
from projections.audit.filters import AuditFilter
from projections.audit.known_runs import KnownRuns
from projections.audit.usage import Usage, sum_usage

UNTOLD = "unknown"
"""Stands for the status of runs of which nothing tells one."""


@dataclass(frozen=True, slots=True)
class ToolStats:
    """A tool in numbers."""

    tool: str | None
    calls: int
    failed: int
    """Calls that returned an error."""
    missing: int
    """Calls of which no return was recorded."""
    p50_ms: int | None
    """Half of the durations that are known are at most this; to three digits."""
    p99_ms: int | None

    @property
    def failure_rate(self) -> float:
        """The share of the calls that failed, from 0 to 1."""
        return self.failed / self.calls

    def to_json(self) -> dict[str, Any]:
        """Give the object of `runjournal.audit.stats`."""
        return {
            "tool": self.tool,
            "calls": self.calls,
            "failed": self.failed,
            "missing": self.missing,
            "failure_rate": self.failure_rate,
            "p50_ms": self.p50_ms,
            "p99_ms": self.p99_ms,
        }


@dataclass(frozen=True, slots=True)
class EventStats:
    """Events of a stored name in numbers."""

    name: str
    events: int
    bytes: int
    """Of those in a journal's file as they are packed there; of others, of their JSON."""

    def to_json(self) -> dict[str, Any]:
        """Give the object of `runjournal.audit.stats`."""
        return {"name": self.name, "events": self.events, "bytes": self.bytes}


@dataclass(frozen=True, slots=True)
class Stats:
    """A journal in numbers."""

    runs: Mapping[str, int]
    """Runs by the status they stand in now, the most frequent first."""
    events: tuple[EventStats, ...] | None
    """The most frequent first; None where the question was narrowed: they are counted all
    together."""
    usage: Usage
    """What models used, its `key` empty."""
    tools: tuple[ToolStats, ...]
    """Those called most often first, as many as were asked for."""
    more_tools: int
    """How many others there are."""

    def to_json(self) -> dict[str, Any]:
        """Give the `runjournal.audit.stats` object."""
        return {
            "schema": "runjournal.audit.stats",
            "schema_version": 1,
            "runs": dict(self.runs),
            "events": None if self.events is None else [each.to_json() for each in self.events],
            "usage": self.usage.to_json(),
            "tools": [each.to_json() for each in self.tools],
            "more_tools": self.more_tools,
        }


class _Tool:
    """Counts the calls of a tool."""

    def __init__(self) -> None:
        self.calls = self.failed = self.missing = 0
        self.durations = Durations()

    def stats(self, tool: str | None) -> ToolStats:
        """Tell them."""
        durations = self.durations
        return ToolStats(
            tool,
            self.calls,
            self.failed,
            self.missing,
            durations.percentile(50),
            durations.percentile(99),
        )


def make_stats(known: KnownRuns, asked: AuditFilter, sizes: list[NameSize] | None) -> Stats:
    """Count everything; see `Audit.stats`.

    Args:
        sizes: of all events; a name may come twice.
    """
    every = asked.without_limit()
    tools = _tools(known, every)
    most = len(tools) if asked.limit is None else asked.limit
    return Stats(
        _runs(known, every),
        None if sizes is None else _events(sizes),
        next(sum_usage(known, every, ()), NOTHING_USED),
        tuple(tools[:most]),
        max(0, len(tools) - most),
    )


NOTHING_USED = Usage({}, 0, 0, 0, 0, 0, 0, 0, 0)
"""What no response used."""


def _runs(known: KnownRuns, asked: AuditFilter) -> dict[str, int]:
    counts: dict[str, int] = {}
    for facts in runs_asked(known, asked):
        known.remember([facts])
        status = known.status(facts.run_id)
        if asked.status is None or status == asked.status:
            name = status or UNTOLD
            counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def _events(sizes: list[NameSize]) -> tuple[EventStats, ...]:
    sums: dict[str, EventStats] = {}
    for name, events, size in sizes:
        before = sums.get(name, EventStats(name, 0, 0))
        sums[name] = EventStats(name, before.events + events, before.bytes + size)
    return tuple(sorted(sums.values(), key=lambda each: (-each.events, each.name)))


def _tools(known: KnownRuns, asked: AuditFilter) -> list[ToolStats]:
    counted: dict[str | None, _Tool] = {}
    for call in list_calls(known, asked):
        tool = counted.get(call.tool)
        if tool is None:
            tool = counted[call.tool] = _Tool()
        tool.calls += 1
        tool.failed += call.failed
        tool.missing += call.returned_at is None
        if call.duration_ms is not None:
            tool.durations.add(call.duration_ms)
    found = [tool.stats(name) for name, tool in counted.items()]
    return sorted(found, key=lambda each: (-each.calls, each.tool is None, each.tool or ""))
