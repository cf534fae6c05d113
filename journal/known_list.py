"""A list as it was accepted, with its JSON text: what the next one may begin or end with."""

from __future__ import annotations

from typing import Any, NamedTuple

import orjson

from journal.json_door import JSON, STRICT, accept, dumps


class KnownList(NamedTuple):
    """A list as it was accepted; its items are frozen."""

    items: list[JSON]
    text: bytes
    """Its compact JSON."""
    ends: list[int]
    """Where each item ends in the text."""
    head: int = 0
    """So many items at its start were in the list before it."""
    tail: int = 0
    """So many items at its end were."""

    def head_in(self, text: bytes, start: int) -> int:
        """Count the items that a list in a text begins with, `text[start]` its bracket."""
        was, ends = memoryview(self.text), self.ends
        same, end = 0, 0
        upto = trial = len(ends)
        while same < upto:
            if text.startswith(was[end : ends[trial - 1]], start + end):
                same, end = trial, ends[trial - 1]
            else:
                upto = trial - 1
            trial = (same + upto + 1) // 2
        # 1 is how 12 begins.
        if same and text[start + end : start + end + 1] not in (b",", b"]"):
            same -= 1
        return same

    def tail_in(self, given: list[Any], head: int) -> int:
        """Count the items at the end of a list that are written as the last ones here.

        Args:
            head: so many at the start of both are the same; they do not count.
        """
        most = min(len(given), len(self.ends)) - head
        for back in range(1, most + 1):
            start = self._end_before(back)
            encoded = orjson.dumps(given[-back], option=STRICT)
            same = self.ends[-back] - start == len(encoded) + 1
            if not same or not self.text.startswith(encoded, start + 1):
                return back - 1
        return most

    def accept(self, given: list[Any], wrapped: int) -> KnownList | None:
        """Accept a host's list, with the objects of this one where they are the same.

        Args:
            wrapped: as for `journal.json_door.accept`.

        Returns:
            None where an item is written as before, but is not the same.

        Raises:
            InvalidJSON, TypeError, ValueError, RecursionError: it is refused; at what
                place must be found otherwise.
        """
        text = orjson.dumps(given, option=STRICT)
        head = self.head_in(text, 0)
        if given[:head] != self.items[:head]:
            return None
        tail = self.tail_in(given, head)
        if tail and given[-tail:] != self.items[-tail:]:
            return None
        middle, raw = accept(given[head : len(given) - tail], wrapped=wrapped)
        items = [*self.items[:head], *middle, *(self.items[-tail:] if tail else ())]
        found = self.followed_by(items, text, head, tail)
        # The text must be that of what was accepted, even if the list changed meanwhile.
        start = self.ends[head - 1] if head else 0
        stop = found.ends[len(items) - tail - 1] if len(items) > tail else 0
        end = found.ends[-1] if items else 1
        last = memoryview(self.text)[self._end_before(tail) + 1 : -1] if tail else b""
        same = (
            len(text) == end + 1
            and (not middle or text.startswith(memoryview(raw)[1:-1], start + 1))
            and text.startswith(last, stop + 1)
        )
        return found if same else None

    def followed_by(self, items: list[JSON], text: bytes, head: int, tail: int) -> KnownList:
        """Make the next list of its accepted items; only the new ones are measured."""
        ends = self.ends[:head]
        end = ends[-1] if head else 0
        for item in items[head : len(items) - tail]:
            end += 1 + len(dumps(item))
            ends.append(end)
        if tail:
            moved = end - self._end_before(tail)
            ends += [end + moved for end in self.ends[-tail:]]
        return KnownList(items, text, ends, head, tail)

    def _end_before(self, back: int) -> int:
        """Tell where the item before the last `back` ones ends; 0 where there is none."""
        return self.ends[-back - 1] if len(self.ends) > back else 0


NOTHING = KnownList([], b"[]", [])
"""A list without items."""
