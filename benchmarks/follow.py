"""Following a journal in one process while four others append to it.

    python benchmarks/follow.py [--events 100000] [--writers 4] [--batch 10] [--size 300]
                                [--idle 5] [--repeat 3] [--folder DIR] [--json]

Each writer appends to a run of its own, durably, `batch` records a call. Each record holds the
time just before its append, so that the lag, until the follower has the event, takes in the
commit. The follower checks that every position comes exactly once and in order, and fails
otherwise. Then it stays idle, and its processor time is measured. The writers' throughput is
measured with and without a follower, in turn; the median counts.
"""

from __future__ import annotations

import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from records import make
from report import Row, arguments, show

from journal import Journal, Subscription

PATIENCE = 60.0
"""Seconds without an event after which something is wrong."""

MS = 1e6
"""Nanoseconds."""


class Load(NamedTuple):
    """What one writer appends."""

    path: Path
    number: int
    events: int
    batch: int
    size: int


class Followed(NamedTuple):
    """What the follower saw; times in seconds, of its own processor where not said otherwise."""

    lags: list[int]
    """Of each record, in nanoseconds of time."""
    busy: float
    """While events came."""
    idle: float
    """While none came."""


def write(pipe: Connection, load: Load) -> None:
    """Append when told to; gives when it began and ended."""
    records = make(load.events, load.size, seed=load.number).dicts
    with Journal.open(load.path) as journal:
        run = journal.run(f"run{load.number}", session_id="session")
        pipe.send("ready")
        pipe.recv()
        began = time.perf_counter()
        for first in range(0, load.events, load.batch):
            some = records[first : first + load.batch]
            now = time.time_ns()
            run.append_many([{**record, "at": now} for record in some])
        pipe.send((began, time.perf_counter()))


def follow(pipe: Connection, path: Path, events: int, idle: float) -> None:
    """Follow until so many records came, and then for a while in which none does."""
    with Journal.open(path, create=False) as journal, journal.subscribe() as subscription:
        pipe.send("ready")
        before = time.process_time()
        lags = take(subscription, events)
        between = time.process_time()
        while subscription.get(idle) is not None:
            between = time.process_time()
        pipe.send(Followed(lags, between - before, time.process_time() - between))


def take(subscription: Subscription, records: int) -> list[int]:
    """Take every event, until so many stream records came; gives how late each was.

    Raises:
        RuntimeError: an event is missing, came again or out of order, or none comes.
    """
    lags = []
    while len(lags) < records:
        last = subscription.position
        event = subscription.get(PATIENCE)
        now = time.time_ns()
        if event is None:
            raise RuntimeError(f"{len(lags)} of {records} records came")
        if event.position != last + 1:
            raise RuntimeError(f"position {event.position} came after {last}")
        if "record" in event.data:
            lags.append(now - event.data["record"]["at"])
    return lags


def measure(path: Path, loads: Sequence[Load], idle: float | None) -> tuple[float, Followed | None]:
    """Let all writers append at once, with a follower unless `idle` is None.

    Returns:
        Events a second, and what the follower saw.
    """
    Journal.open(path).close()
    writers = [_start(write, load) for load in loads]
    events = sum(load.events for load in loads)
    follower = None if idle is None else _start(follow, path, events, idle)
    for pipe in writers if follower is None else [*writers, follower]:
        pipe.recv()
    for pipe in writers:
        pipe.send("go")
    times = [pipe.recv() for pipe in writers]
    rate = events / (max(end for _, end in times) - min(began for began, _ in times))
    if follower is None:
        return rate, None
    with closing(follower):
        seen: Followed = follower.recv()
    return rate, seen


def _start(work: Any, *given: Any) -> Connection:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    context.Process(target=work, args=(theirs, *given), daemon=True).start()
    theirs.close()
    return ours


def quantile(values: list[int], part: float) -> float:
    """Give the value, in ms, below which this part of them lies."""
    return sorted(values)[min(int(part * len(values)), len(values) - 1)] / MS


def rows(rates: dict[bool, list[float]], seen: list[Followed], events: int) -> list[Row]:
    """Make the two rows of the table."""
    lags = [lag for one in seen for lag in one.lags]
    blank = dict.fromkeys(("lag p50 ms", "lag p99 ms", "lag max ms", "busy CPU s", "idle CPU s"))
    measured = {
        "lag p50 ms": quantile(lags, 0.5),
        "lag p99 ms": quantile(lags, 0.99),
        "lag max ms": max(lags) / MS,
        "busy CPU s": statistics.median(one.busy for one in seen),
        "idle CPU s": statistics.median(one.idle for one in seen),
    }
    return [
        {
            "follower": name,
            "events": events,
            "events/s": statistics.median(rates[followed]),
            **(measured if followed else blank),
        }
        for name, followed in (("none", False), ("one", True))
    ]


def main() -> None:
    """Run and print."""
    parser = arguments(__doc__.splitlines()[0])
    parser.set_defaults(repeat=3)
    parser.add_argument("--events", type=int, default=100_000, help="records in all")
    parser.add_argument("--writers", type=int, default=4, help="processes that append")
    parser.add_argument("--batch", type=int, default=10, help="records a call")
    parser.add_argument("--size", type=int, default=300, help="bytes of a record: 100, 300, 4000")
    parser.add_argument("--idle", type=float, default=5.0, help="seconds to stay idle")
    parser.add_argument("--folder", type=Path, help="where to put the file; a temporary one")
    chosen = parser.parse_args()
    share = chosen.events // chosen.writers
    rates: dict[bool, list[float]] = {False: [], True: []}
    seen: list[Followed] = []
    for _ in range(chosen.repeat):
        for followed, idle in ((False, None), (True, chosen.idle)):
            with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
                path = Path(folder) / "runs.db"
                loads = [
                    Load(path, number, share, chosen.batch, chosen.size)
                    for number in range(chosen.writers)
                ]
                rate, saw = measure(path, loads, idle)
                rates[followed].append(rate)
                seen += [] if saw is None else [saw]
    table = rows(rates, seen, share * chosen.writers)
    without, with_one = (row["events/s"] for row in table)
    p99 = table[1]["lag p99 ms"]
    show(
        "follow",
        table,
        as_json=chosen.json,
        measured={"throughput with a follower": with_one / without},
        aims=[f"lag p99 at most 250 ms: {'yes' if p99 <= 250 else 'no'} ({p99:.1f} ms)"],
    )


if __name__ == "__main__":
    main()
