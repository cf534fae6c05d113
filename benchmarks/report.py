"""How every benchmark reports: one table for people, or JSON for scripts."""

from __future__ import annotations

import argparse
import json
import platform
import sqlite3
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

Row = dict[str, Any]


def arguments(description: str) -> argparse.ArgumentParser:
    """Make a parser that knows `--json` and `--repeat`."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each; the median counts")
    return parser


def median_seconds(work: Callable[[], Any], repeat: int) -> float:
    """Time `work` several times; the median in seconds."""
    taken = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def show(
    name: str,
    rows: list[Row],
    *,
    as_json: bool,
    measured: Mapping[str, float | str] = MappingProxyType({}),
    aims: Sequence[str] = (),
) -> None:
    """Print the rows, which all have the columns of the first, and what else was measured.

    Args:
        aims: of the project, each with whether it is reached.
    """
    if as_json:
        machine = {"python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
        print(
            json.dumps(
                {
                    "schema": f"runjournal.benchmark.{name}",
                    "schema_version": 1,
                    "machine": machine | measured,
                    "rows": rows,
                }
                | ({"aims": list(aims)} if aims else {})
            )
        )
        return
    for what, value in measured.items():
        print(f"{what}: {_cell(value)}")
    columns = list(rows[0])
    table = [columns, *([_cell(row[column]) for column in columns] for row in rows)]
    widths = [max(len(line[at]) for line in table) for at in range(len(columns))]
    for number, line in enumerate(table):
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)))
        if number == 0:
            print("  ".join("-" * width for width in widths))
    for aim in aims:
        print(aim)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.2f}" if abs(value) < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
