"""Appending for a long time: memory, latency and size of the log, from the first tenth to the last.

    python benchmarks/soak.py [--records 10000000] [--batch 1] [--runs 1] [--durability full]
                              [--folder DIR] [--json]

One process appends small records to a journal and reads nothing. For each tenth of them it
reports the resident memory and the size of the write-ahead log at its end, and the latency
of its calls. Latencies are counted in steps of 2 %, so that counting takes no memory.
"""

from __future__ import annotations

import argparse
import math
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from records import delta
from report import Row, show

from journal import Journal, Run

TENTHS = 10
MEGABYTE = 1e6


class Latencies:
    """How long calls took: a count for each 2 % of length."""

    _STEP = math.log(1.02)

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()
        self.longest = 0.0

    def add(self, seconds: float) -> None:
        """Count one call."""
        self._counts[round(math.log(seconds) / self._STEP)] += 1
        self.longest = max(self.longest, seconds)

    def quantile(self, part: float) -> float:
        """Tell below which length, in seconds, this part of the calls stayed."""
        left = part * self._counts.total()
        for step, count in sorted(self._counts.items()):
            left -= count
            if left <= 0:
                return math.exp(step * self._STEP)
        return self.longest


def resident_bytes() -> int:
    """Tell how much memory this process holds now, or at most so far where none says."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
    return pages * resource.getpagesize()


def append(run: Run, numbers: range, batch: int, latencies: Latencies) -> None:
    """Append the records of these numbers, `batch` a call."""
    for first in range(numbers.start, numbers.stop, batch):
        made = [
            delta(number, f"{number:08x}")
            for number in range(first, min(first + batch, numbers.stop))
        ]
        before = time.perf_counter()
        if batch == 1:
            run.append(made[0])
        else:
            run.append_many(made)
        latencies.add(time.perf_counter() - before)


def soak(path: Path, chosen: argparse.Namespace) -> Iterator[Row]:
    """Append everything; yields a row for each tenth."""
    log = path.with_name(path.name + "-wal")
    each = chosen.records // TENTHS
    with Journal.open(path, durability=chosen.durability) as journal:
        runs = [journal.run(f"run{at}", session_id="session") for at in range(chosen.runs)]
        for tenth in range(TENTHS):
            latencies = Latencies()
            began = time.perf_counter()
            share = each // len(runs)
            for run in runs:
                append(run, range(tenth * share, (tenth + 1) * share), chosen.batch, latencies)
            yield {
                "records": (tenth + 1) * share * len(runs),
                "records/s": share * len(runs) / (time.perf_counter() - began),
                "memory MB": resident_bytes() / MEGABYTE,
                "log MB": log.stat().st_size / MEGABYTE,
                "file MB": path.stat().st_size / MEGABYTE,
                "p50 us": latencies.quantile(0.5) * 1e6,
                "p99 us": latencies.quantile(0.99) * 1e6,
                "longest ms": latencies.longest * 1e3,
            }


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--records", type=int, default=10_000_000, help="records in all")
    parser.add_argument("--batch", type=int, default=1, help="records a call")
    parser.add_argument("--runs", type=int, default=1, help="runs that take turns")
    parser.add_argument("--durability", choices=["full", "relaxed"], default="full")
    parser.add_argument("--folder", type=Path, help="where to put the file; a temporary one")
    chosen = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        for row in soak(Path(folder) / "runs.db", chosen):
            rows.append(row)
            print(f"{row['records']:,} records, {row['memory MB']:.0f} MB", file=sys.stderr)
    show("soak", rows, as_json=chosen.json)


if __name__ == "__main__":
    main()
