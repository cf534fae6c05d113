"""The tail of a view: the stream records after its checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, overload

from journal.ids import Version
from journal.lineage import Bound
from projections.looked_up import LookedUp
from projections.order import RECORD_RANK, Ref, shaped
from projections.reach import Reach
from projections.run_index import RunIndex

HELD = 1000
"""Records up to which a tail is held in memory."""


class Tail(Sequence[dict[str, Any]]):
    """Stream records in logical order, those of children too.

    Up to 1,000 of them are held; of more, each look reads the journal, which must be open
    then. What is appended meanwhile does not change them.
    """

    def __init__(
        self,
        levels: Sequence[tuple[RunIndex, Reach]],
        after: Bound | None,
        records: int,
        *,
        left_out: int,
        looked_up: LookedUp,
    ) -> None:
        """Begin after a place.

        Args:
            levels: the run of the checkpoint first, then those that inherit from it.
            after: the place of the checkpoint, exclusive; None for everything.
            records: how many there are.
            left_out: how many of them are passed over, the first ones.
        """
        self._levels = levels
        self._after = after
        self._records = records - left_out
        self._left_out = left_out
        self._held: list[dict[str, Any]] | None = None
        if self._records <= HELD:
            self._held = list(self._read(0, looked_up)) if self._records else []

    def __len__(self) -> int:
        return self._records

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self.since(0)

    @overload
    def __getitem__(self, at: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, at: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, at: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        if isinstance(at, slice):
            chosen = range(self._records)[at]
            if not chosen:
                return []
            first = min(chosen[0], chosen[-1])
            stretch = list(islice(self.since(first), abs(chosen[-1] - chosen[0]) + 1))
            return [stretch[number - first] for number in chosen]
        number = range(self._records)[at]
        return next(self.since(number))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Tail, list, tuple)):
            return NotImplemented
        return len(self) == len(other) and all(
            one == another for one, another in zip(self, other, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def since(self, first: int) -> Iterator[dict[str, Any]]:
        """Give the records from one on, by their number from 0; what is before is not read."""
        if self._held is not None:
            return islice(self._held, first, None)
        return self._read(first, None)

    def _read(self, first: int, looked_up: LookedUp | None) -> Iterator[dict[str, Any]]:
        skip = self._left_out + first
        after = self._after
        for index, reach in self._levels:
            for places in index.places(reach, after):
                refs = [
                    Ref(index.stream, Version(version))
                    for _, rank, version in places
                    if rank == RECORD_RANK and version <= reach.version
                ]
                if reach.until is None and skip >= len(refs):
                    skip -= len(refs)
                    continue
                for event in (looked_up or LookedUp(index.reader)).all(refs):
                    if not reach.takes(event.version, event.recorded_at):
                        continue
                    if skip:
                        skip -= 1
                        continue
                    with shaped(event):
                        record: dict[str, Any] = event.data["record"]
                    yield record
            after = None
