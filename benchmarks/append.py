"""Appending stream records, against raw sqlite3 and the library's recorder as shipped.

    python benchmarks/append.py [--records 2000] [--repeat 5] [--json]

Every commit is synced (`synchronous=FULL`). The reference `raw` inserts the very rows that
the journal wrote into a second file of the same schema, guards included, with the same
number of rows a transaction. Ratios are rows per second against it, in the same run.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
from eventsourcing.persistence import StoredEvent
from eventsourcing.sqlite import SQLiteApplicationRecorder, SQLiteDatastore
from report import Row, arguments, median_seconds, show

from journal import Journal


def record(sequence: int, size: int) -> dict[str, Any]:
    """Make a token delta of about `size` bytes of JSON."""
    text = f"{sequence:08x}".ljust(max(8, size - 120), "x")
    delta = {"kind": "part_delta", "index": 0, "delta_kind": "text", "text": text}
    return {"sequence": sequence, "event": {"kind": "model_stream", "step": 1, "event": delta}}


def batches(count: int, batch: int) -> Iterator[range]:
    """Cut `count` numbers into batches."""
    for start in range(0, count, batch):
        yield range(start, min(start + batch, count))


def journal_work(folder: Path, form: str, records: list[Any], batch: int) -> Callable[[], None]:
    """Append through the journal, one transaction a batch, to a new file each time."""
    attempts = iter(range(1000))

    def work() -> None:
        with Journal.open(folder / f"{form}{next(attempts)}.db") as journal:
            run = journal.run("run", session_id="session")
            for numbers in batches(len(records), batch):
                if batch == 1:
                    run.append(records[numbers[0]])
                else:
                    run.append_many([records[n] for n in numbers])

    return work


def raw_work(folder: Path, rows: list[tuple[Any, ...]], schema: str, batch: int) -> Any:
    """Insert the same rows into the same schema with nothing in between."""
    attempts = iter(range(1000))

    def work() -> None:
        db = sqlite3.connect(folder / f"raw{next(attempts)}.db", isolation_level=None)
        db.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;" + schema)
        db.execute("BEGIN IMMEDIATE")
        stream = rows[0][1]
        for code in range(1, max(row[3] for row in rows) + 1):
            db.execute("INSERT INTO names VALUES (?, ?)", (code, f"name{code}"))
        db.execute("INSERT INTO streams VALUES (?, 'run:run')", (stream,))
        db.execute("COMMIT")
        insert = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        for numbers in batches(len(rows), batch):
            db.execute("BEGIN IMMEDIATE")
            db.executemany(insert, rows[numbers[0] : numbers[-1] + 1])
            db.execute("COMMIT")
        db.close()

    return work


def library_work(folder: Path, records: list[bytes], batch: int) -> Callable[[], None]:
    """Insert the same bytes through the library's recorder as shipped."""
    attempts = iter(range(1000))

    def work() -> None:
        store = SQLiteDatastore(
            str(folder / f"library{next(attempts)}.db"), originator_id_type="text"
        )
        recorder = SQLiteApplicationRecorder(store)
        recorder.create_table()
        for numbers in batches(len(records), batch):
            events = [StoredEvent("run", n + 1, "stream.recorded.v1", records[n]) for n in numbers]
            recorder.insert_events(events)
        store.close()

    return work


def rows_of(path: Path) -> tuple[list[tuple[Any, ...]], str, int]:
    """Read back what the journal wrote: its rows from position 1, its schema, its size."""
    db = sqlite3.connect(path)
    rows = db.execute(
        "SELECT position, stream, version, name, codec, recorded_at, identity, checksum, data "
        "FROM events WHERE stream = 1 ORDER BY position"
    ).fetchall()
    # The session's one event is left out, so positions are closed up.
    rows = [(at, *row[1:]) for at, row in enumerate(rows, 1)]
    schema = ";".join(
        sql for (sql,) in db.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
    )
    db.close()
    return rows, schema, path.stat().st_size


def measure(count: int, size: int, batch: int, repeat: int) -> Row:
    """Measure one batch size."""
    records = [record(n, size) for n in range(count)]
    texts = [orjson.dumps(one) for one in records]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        dicts = median_seconds(journal_work(folder, "dicts", records, batch), repeat)
        bytes_ = median_seconds(journal_work(folder, "bytes", texts, batch), repeat)
        rows, schema, disk = rows_of(folder / "dicts0.db")
        raw = median_seconds(raw_work(folder, rows, schema, batch), repeat)
        library = median_seconds(library_work(folder, texts, batch), repeat)
    content = sum(map(len, texts))
    return {
        "batch": batch,
        "bytes": round(content / count),
        "raw rows/s": count / raw,
        "library": raw / library,
        "journal, dicts": raw / dicts,
        "journal, bytes": raw / bytes_,
        "disk x": disk / content,
    }


def main() -> None:
    """Run and print."""
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=2000, help="records a measurement")
    chosen = parser.parse_args()
    rows = [
        measure(chosen.records, size, batch, chosen.repeat)
        for size in (100, 300, 4000)
        for batch in (1, 10, 100, 1000)
    ]
    show("append", rows, as_json=chosen.json)


if __name__ == "__main__":
    main()
