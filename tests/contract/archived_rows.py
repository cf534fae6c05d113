"""An archive of audit rows made up for a test, in segments cut between positions."""

from contextlib import contextmanager
from hashlib import sha256

import pyarrow as pa

from projections.archive.filesystem import find_place
from projections.archive.layout import EVENTS, KINDS, ROWS, RUNS, data_path, day_of, manifest_path
from projections.archive.manifest import ArchiveSegment
from projections.archive.opened import open_archive
from projections.archive.schema import SCHEMAS
from projections.archive.sealing import STREAM, write_file

STORED_AT = 1_700_000_000_000_000
SMALLEST = 4
"""Positions of a segment, at least."""


@contextmanager
def archived(tmp_path):
    """Lend a way to read rows that were archived."""
    made = 0

    @contextmanager
    def reader_of(rows, runs):
        nonlocal made
        made += 1
        folder = tmp_path / f"archive {made}"
        write(folder, rows, runs)
        with open_archive(folder) as archive:
            yield archive.reading()

    yield reader_of


def write(folder, rows, runs):
    """Write an archive of rows, and of the facts of runs, in a few segments."""
    place = find_place(folder)
    last = max([each.position for each in (*rows, *runs)], default=1)
    before = None
    cut = max(SMALLEST, last // 8)
    for first in range(1, last + 1, cut):
        within = range(first, min(first + cut, last + 1))
        before = _segment(place, within, rows, runs, before)


def _segment(place, within, rows, runs, before):
    number = 1 if before is None else before.segment + 1
    day = day_of(STORED_AT)
    mine = [each for each in rows if each.position in within]
    tables = {
        EVENTS: _table(EVENTS, [_event(position) for position in within]),
        ROWS: _table(ROWS, mine),
        RUNS: _table(RUNS, list(_catalogue(within, mine, runs))),
    }
    with place.locked():
        files = [
            write_file(place, data_path(kind, day, number), tables[kind], kind) for kind in KINDS
        ]
    times = [each.recorded_at for each in mine] or [STORED_AT]
    segment = ArchiveSegment(
        journal="a journal",
        segment=number,
        previous=None if before is None else before.sha256,
        first_position=within[0],
        last_position=within[-1],
        first_stored_at=STORED_AT,
        last_stored_at=STORED_AT,
        first_recorded_at=min(times),
        last_recorded_at=max(times),
        day=day,
        events=files[0].rows,
        rows=files[1].rows,
        runs=files[2].rows,
        files=tuple(files),
        created_at=STORED_AT,
    )
    assert place.create(manifest_path(number), segment.to_bytes())
    assert segment.sha256 == sha256(segment.to_bytes()).hexdigest()
    return segment


def _event(position):
    stream = "session:s"
    return (
        *(position, None, "s", position, "x.v1", STORED_AT, STORED_AT, -1, 1, "{}"),
        stream,
    )


def _catalogue(within, rows, runs):
    for run in runs:
        touched = [each.position for each in rows if each.run_id == run.run_id]
        if run.position in within:
            touched.append(run.position)
        if touched:
            now = run._replace(position=max(touched))
            yield (*now, min(touched), max(touched), STORED_AT, STORED_AT)


def _table(kind, rows):
    schema = SCHEMAS[kind]
    if kind == EVENTS:
        schema = schema.append(pa.field(STREAM, pa.string(), nullable=False))
    columns = [[row[at] for row in rows] for at in range(len(schema))]
    arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)
