"""A journal in numbers, as a page of bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from journal.cli.bars import Bar, show_bars
from journal.cli.output import Column, Output, Part
from journal.cli.page import STATUS_STYLES, heading
from journal.cli.quantities import count, counted, dollars, duration, percent, size

if TYPE_CHECKING:
    from projections.audit import EventStats, Stats, ToolStats, Usage

KINDS = 12
"""Kinds of events that have a bar of their own; `full` shows all."""


def show_stats(output: Output, stats: Stats) -> None:
    """Print runs by status, events and bytes by kind, tokens and costs, and tools."""
    _show_runs(output, stats)
    if stats.events is not None:
        _show_events(output, stats.events)
    _show_usage(output, stats.usage)
    _show_tools(output, stats)


def _show_runs(output: Output, stats: Stats) -> None:
    runs = sum(stats.runs.values())
    output.line(("runs", "bold"), (f"  {count(runs)}", "dim"))
    show_bars(
        output,
        [
            Bar(name, number, (count(number), percent(number, runs)), STATUS_STYLES.get(name, ""))
            for name, number in stats.runs.items()
        ],
    )


def _show_events(output: Output, events: tuple[EventStats, ...]) -> None:
    number, taken = sum(each.events for each in events), sum(each.bytes for each in events)
    heading(output, "events", (f"  {count(number)}, {size(taken)}", "dim"))
    shown = events if output.full or len(events) <= KINDS + 1 else events[:KINDS]
    bars = [_event_bar(each.name, each.events, each.bytes) for each in shown]
    rest = events[len(shown) :]
    if rest:
        sums = sum(each.events for each in rest), sum(each.bytes for each in rest)
        bars.append(_event_bar(counted(len(rest), "other name"), *sums))
    show_bars(output, bars)


def _event_bar(name: str, events: int, taken: int) -> Bar:
    return Bar(name, taken, (count(events), size(taken)), "cyan")


def _show_usage(output: Output, used: Usage) -> None:
    cost = f", {dollars(used.cost_micros)}" if used.cost_micros else ""
    heading(output, "tokens", (f"  {counted(used.responses or 0, 'response')}{cost}", "dim"))
    kinds = {
        "input": used.input_tokens,
        "output": used.output_tokens,
        "read from cache": used.cache_read_tokens,
        "written to cache": used.cache_write_tokens,
    }
    bars = [Bar(name, number or 0, (count(number or 0),), "blue") for name, number in kinds.items()]
    show_bars(output, bars)


def _show_tools(output: Output, stats: Stats) -> None:
    heading(output, "tools", (f"  {count(len(stats.tools) + stats.more_tools)}", "dim"))
    columns = [Column("TOOL", folds=True)]
    columns += [
        Column(title, right=True) for title in ("CALLS", "FAILED", "RATE", "MISSING", "P50", "P99")
    ]
    output.table(columns, map(_tool_row, stats.tools), "no tool calls")
    if stats.more_tools:
        more = counted(stats.more_tools, "more tool")
        output.line(("... ", "dim"), (f"{more}; --limit N shows more", "dim"))


def _tool_row(tool: ToolStats) -> list[Part]:
    failed = "red" if tool.failed else ""
    return [
        tool.tool or "-",
        count(tool.calls),
        (count(tool.failed), failed),
        (percent(tool.failed, tool.calls), failed),
        (count(tool.missing), "red" if tool.missing else ""),
        duration(tool.p50_ms),
        duration(tool.p99_ms),
    ]
