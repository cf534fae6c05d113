"""Reading and replaying a run, against sqlite3 with orjson and the library's reading.

    python benchmarks/replay.py [--records 100000] [--repeat 3] [--json]

The run has a checkpoint every 50 records with a growing history. References, of the same
events in the same run: `sqlite3 + orjson` selects the rows and parses them; `library
recorder` is its select_events as shipped, rows fetched whole, with orjson parsing; `library
log.get` is its event-sourced log as shipped, events mapped to their class, and the same read
in pages of 1000. All are read in turns, and the medians count. The peak is of Python's own
memory.
"""

from __future__ import annotations

import random
import sqlite3
import statistics
import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
from eventsourcing.persistence import StoredEvent
from eventsourcing.sqlite import SQLiteApplicationRecorder, SQLiteDatastore
from library_log import read_log, read_log_in_pages, write_log
from records import make
from report import Row, arguments, median_seconds, show

from journal import Journal
from projections import LATEST, StreamCursor, replay

USAGE = dict.fromkeys(("requests", "input_tokens", "output_tokens", "total_tokens"), 1)
LIBRARY_LOG = "library log.get"


def checkpoint(number: int, sequence: int, history: list[Any]) -> dict[str, Any]:
    """Make a checkpoint with the history so far."""
    cursor = {
        "model_request_attempt": number,
        "output_validation_attempt": 0,
        "stream_cursor": sequence,
        "message_cursor": len(history),
    }
    common = {"run_step": number, "usage": USAGE, "status": "running"}
    return {
        "checkpoint_id": f"k{number}",
        "run_id": "run",
        "conversation_id": "c",
        "node": "model_response",
        "run_step": number,
        "resume": {
            "node": "model_response",
            "cursor": cursor,
            "pending_approval_count": 0,
            "deferred_tool_count": 0,
            **common,
        },
        "state": {
            "run_id": "run",
            "conversation_id": "c",
            "message_history": list(history),
            **common,
        },
    }


def write(path: Path, records: int) -> None:
    """Write the run: record by record, a checkpoint every 50, messages up to 200."""
    history: list[Any] = []
    made = make(records, 300).dicts
    with Journal.open(path) as journal:
        run = journal.run("run", session_id="s", conversation_id="c")
        for start in range(0, records, 50):
            run.append_many(made[start : start + 50])
            if len(history) >= 200:
                history = history[-20:]
            content = made[start]["event"]["tool_return"]["content"]
            text = {"kind": "text", "text": f"answer {start}: {content}"}
            history.append({"kind": "response", "parts": [text], "usage": USAGE})
            run.checkpoint(checkpoint(start // 50 + 1, start + 49, history))


def plain(path: Path, copy: Path, log: Path) -> None:
    """Copy the unpacked events into a plain table, the library's recorder and its log."""
    with Journal.open(path, create=False) as journal:
        events = [(event.version, event.data) for event in journal.reader.run_events("run")]
    rows = [(version, orjson.dumps(data)) for version, data in events]
    db = sqlite3.connect(copy)
    db.execute("CREATE TABLE plain (version INTEGER PRIMARY KEY, data BLOB)")
    db.executemany("INSERT INTO plain VALUES (?, ?)", rows)
    db.commit()
    db.close()
    store = SQLiteDatastore(str(copy), originator_id_type="text")
    recorder = SQLiteApplicationRecorder(store)
    recorder.create_table()
    recorder.insert_events([StoredEvent("run", v, "x", data) for v, data in rows])
    store.close()
    write_log(log, (data for _, data in events))


def read_plain(copy: Path) -> None:
    """Select and parse with nothing in between."""
    db = sqlite3.connect(copy)
    for (data,) in db.execute("SELECT data FROM plain ORDER BY version"):
        orjson.loads(data)
    db.close()


def read_library(copy: Path) -> None:
    """Read through the library's recorder as shipped."""
    store = SQLiteDatastore(str(copy), originator_id_type="text")
    for event in SQLiteApplicationRecorder(store).select_events("run"):
        orjson.loads(event.state)
    store.close()


def peak_mb(work: Callable[[], Any]) -> float:
    """Measure the peak of Python's own memory during `work`, in MB."""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def works(journal: Journal, copy: Path, log: Path, records: int) -> dict[str, Callable[[], Any]]:
    """Give what is measured, by name, the references first."""

    def read_events() -> None:
        for _ in journal.reader.run_events("run"):
            pass

    dice = random.Random(7)
    places = [dice.randrange(records) for _ in range(5)]

    def cursors() -> None:
        for place in places:
            replay(journal, "run", at=StreamCursor(place))

    return {
        "sqlite3 + orjson": lambda: read_plain(copy),
        LIBRARY_LOG: lambda: read_log(log),
        f"{LIBRARY_LOG}, paged": lambda: read_log_in_pages(log),
        "library recorder": lambda: read_library(copy),
        "read events": read_events,
        "replay latest": lambda: replay(journal, "run", at=LATEST),
        "replay 5 random cursors": cursors,
    }


def main() -> None:
    """Run and print."""
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=100_000, help="records of the run")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        path, copy, log = (Path(name) / file for file in ("runs.db", "plain.db", "log.db"))
        write(path, chosen.records)
        plain(path, copy, log)
        with Journal.open(path, create=False) as journal:
            measured = works(journal, copy, log, chosen.records)
            taken = [
                {what: median_seconds(work, 1) for what, work in measured.items()}
                for _ in range(chosen.repeat)
            ]
            peaks = {what: peak_mb(work) for what, work in measured.items()}
    seconds = {what: statistics.median(times[what] for times in taken) for what in measured}
    rows: list[Row] = [
        {
            "what": what,
            "ms": seconds[what] * 1000,
            "x sqlite3 + orjson": seconds["sqlite3 + orjson"] / seconds[what],
            f"x {LIBRARY_LOG}": seconds[LIBRARY_LOG] / seconds[what],
            "peak MB": peaks[what],
        }
        for what in measured
    ]
    show("replay", rows, as_json=chosen.json)


if __name__ == "__main__":
    main()
