"""A segment that is being collected: its columns, page by page, in any order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

import pyarrow as pa

from journal.codec import RecordedEvent
from journal.stores.audit import LARGEST, AuditRow, RunFacts
from projections.archive.groups import Group
from projections.archive.layout import EVENTS, ROWS, RUNS, day_of
from projections.archive.schema import EVENT_SCHEMA, ROW_SCHEMA, RUN_SCHEMA
from projections.order import BEFORE_RECORDS, FACT_RANK, anchored

STREAM = "stream"
"""The name of an event's stream, by which events are sorted; it is in no file."""

_COLLECTED = EVENT_SCHEMA.append(pa.field(STREAM, pa.string(), nullable=False))

_position = attrgetter("position")


class Draft:
    """The columns of a segment, and the facts of its runs."""

    def __init__(self) -> None:
        self._events: list[Any] = []
        self._rows: list[Any] = []
        self.facts: dict[str, RunFacts] = {}
        """The runs it touches, as after its last event so far."""
        self._spans: dict[str, list[int]] = {}
        self._ends: tuple[RecordedEvent, RecordedEvent] | None = None
        self.recorded_at: tuple[int, int] = (0, 0)
        """The smallest and the largest of its events."""

    @property
    def span(self) -> tuple[RecordedEvent, RecordedEvent]:
        """Its first and its last event.

        Raises:
            ValueError: it has none.
        """
        if self._ends is None:
            raise ValueError("a segment has at least one event")
        return self._ends

    @property
    def day(self) -> str:
        """The UTC day of its events."""
        return day_of(self.span[0].stored_at)

    def take(
        self,
        groups: Sequence[Group],
        rows: Sequence[AuditRow],
        facts: Sequence[RunFacts],
        largest: Mapping[str, int],
    ) -> None:
        """Take in the next events.

        Args:
            groups: the events.
            rows: made of them.
            facts: of the runs they are of, as after them.
            largest: the largest anchor before them of each run that has one.

        Raises:
            CorruptEvent: an event has no place.
        """
        self.facts.update((each.run_id, each) for each in facts)
        columns: list[list[Any]] = [[] for _ in _COLLECTED]
        for group in groups:
            for column, values in zip(columns, self._columns(group, largest), strict=True):
                column.extend(values)
        self._events.append(_batch(columns, _COLLECTED))
        if rows:
            self._rows.append(_batch(zip(*rows, strict=True), ROW_SCHEMA))

    def _columns(self, group: Group, largest: Mapping[str, int]) -> Iterable[Sequence[Any]]:
        run_id, events = group.run_id, group.events
        session_id: str | None = group.session_id
        count = len(events)
        positions, streams, versions, names, times, data = zip(*events, strict=True)
        recorded = [
            at if "imported" not in each else event.recorded_at
            for event, at, each in zip(events, times, data, strict=True)
        ]
        self._note(group, min(recorded), max(recorded))
        anchors: Sequence[int] = [BEFORE_RECORDS] * count
        ranks: Sequence[int] = [FACT_RANK] * count
        if run_id is not None:
            session_id = self.facts[run_id].session_id
            before = largest.get(run_id, BEFORE_RECORDS)
            anchors, ranks, _, _ = zip(*anchored(events, before), strict=True)
            if max(anchors) > LARGEST:
                anchors = [min(each, LARGEST) for each in anchors]
        return (
            positions, [run_id] * count, [session_id] * count, versions, names, times, recorded,
            anchors, ranks, group.data, streams,
        )  # fmt: skip

    def _note(self, group: Group, smallest: int, largest: int) -> None:
        """Take in a group's ends and its smallest and largest recorded time."""
        first, last = group.events[0], group.events[-1]
        if self._ends is None:
            self._ends = (first, last)
            self.recorded_at = (smallest, largest)
        self._ends = (
            min(self._ends[0], first, key=_position),
            max(self._ends[1], last, key=_position),
        )
        self.recorded_at = (min(self.recorded_at[0], smallest), max(self.recorded_at[1], largest))
        if group.run_id is None:
            return
        span = self._spans.setdefault(
            group.run_id, [first.version, last.version, smallest, largest]
        )
        span[1] = last.version
        span[2] = min(span[2], smallest)
        span[3] = max(span[3], largest)

    def tables(self) -> dict[str, Any]:
        """Give its tables by kind, in any order, and forget them."""
        runs = [(*each, *self._spans[each.run_id]) for each in self.facts.values()]
        catalogue = [_batch(zip(*runs, strict=True), RUN_SCHEMA)] if runs else []
        return {
            EVENTS: _joined(self._events, _COLLECTED),
            ROWS: _joined(self._rows, ROW_SCHEMA),
            RUNS: _joined(catalogue, RUN_SCHEMA),
        }


def _joined(batches: list[Any], schema: Any) -> Any:
    """Join batches column by column, each of which is let go at once; empties the list."""
    columns: list[Any] = [[batch.column(at) for batch in batches] for at in range(len(schema))]
    batches.clear()
    for at, field in enumerate(schema):
        columns[at] = pa.concat_arrays(columns[at] or [pa.array([], field.type)])
    return pa.Table.from_arrays(columns, schema=schema)


def _batch(columns: Iterable[Sequence[Any]], schema: Any) -> Any:
    arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
