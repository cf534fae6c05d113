"""Accepting a document beside the last one, so that only what is new in it is parsed.

A host hands in its whole state each time, and nearly all of it was there before. Of the
last document accepted, its large lists are remembered with their JSON text. An item that has
the same text as before, and that Python finds equal to the item of before (text alone would
let NaN pass, which is written as null), becomes that very object: neither the check of the
record nor the difference from the last document looks into it again.

What comes out is what `journal.json_door.accept` gives, value and error alike: whatever is
unusual goes through it whole.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from journal.errors import InvalidJSON
from journal.json_door import JSON, MAX_BYTES, accept, dumps
from journal.known_list import NOTHING, KnownList

LARGE = 4096
"""Bytes of JSON from which on a list is remembered."""

DEEP = 5
"""Objects around a remembered list, at most."""

FEW = 64
"""Members up to which an object is searched for large lists."""

TRIES = 4
"""Places of a text at which a remembered list is looked for."""

Path: TypeAlias = tuple[str, ...]
"""Keys from the root to a list."""


class LastDocument(NamedTuple):
    """A document as it was accepted; the next one is accepted beside it."""

    value: JSON
    """Frozen: later documents share its parts."""
    size: int
    """Bytes of its compact JSON."""
    lists: Mapping[Path, KnownList]
    """Its large lists."""

    def new_in(self, items: list[JSON]) -> list[JSON]:
        """Give the items of one of its lists that were not in the document before it."""
        for known in self.lists.values():
            if known.items is items:
                return items[known.head : len(items) - known.tail]
        return items


class LastDocuments:
    """The last documents of an open run, one a kind.

    Safe for threads: it is a hint, and which of two documents is the last does not matter.
    """

    def __init__(self) -> None:
        self._of: dict[str, LastDocument] = {}

    def accept(self, kind: str, source: Any, *, wrapped: int) -> LastDocument:
        """Check a document at the door, beside the last of its kind; see `accept_beside`."""
        known = dict(self._of)
        last = known.pop(kind, None)
        return accept_beside(source, last, known.values(), wrapped=wrapped)

    def keep(self, kind: str, document: LastDocument) -> None:
        """Remember a document that has passed every check of its kind."""
        self._of[kind] = document

    def forget(self) -> None:
        """Give the memory back; what comes next is looked at as a whole."""
        self._of = {}


def accept_beside(
    source: Any, last: LastDocument | None, others: Iterable[LastDocument] = (), *, wrapped: int
) -> LastDocument:
    """Check a document at the door.

    Args:
        source: as for `journal.json_door.accept`.
        last: the last document of its kind.
        others: documents of other kinds, which may hold the same lists.
        wrapped: as for `accept`.

    Raises:
        InvalidJSON: with the path of the first offender.
    """
    before = last.lists if last is not None else {}
    found = None
    try:
        if before and type(source) is dict:
            found = _objects(source, before, wrapped)
        elif before and type(source) is bytes:
            found = _text(source, before, wrapped)
    except (InvalidJSON, TypeError, ValueError, RecursionError):
        pass  # looked at as a whole, which names the first offender
    if found is None or found.size > MAX_BYTES:
        value, raw = accept(source, wrapped=wrapped)
        found = LastDocument(value, len(raw), {})
    remembered = sum([len(known.text) for known in found.lists.values()])
    if found.size - remembered < max(LARGE, found.size // 4):
        return found
    candidates = [before, *[other.lists for other in others]]
    return found._replace(lists={**_remembered(found, candidates), **found.lists})


def _objects(
    source: dict[str, Any], before: Mapping[Path, KnownList], wrapped: int
) -> LastDocument | None:
    """Accept a mapping: its known lists apart, the rest as always."""
    rest = source
    taken: list[tuple[Path, KnownList, list[Any]]] = []
    for path, known in before.items():
        given = _list_at(source, path)
        if given is not None:
            taken.append((path, known, given))
            rest = _emptied(rest, path)
    if not taken:
        return None
    value, raw = accept(rest, wrapped=wrapped)
    size = len(raw)
    lists = {}
    for path, known, given in taken:
        found = known.accept(given, wrapped - len(path))
        if found is None:
            return None
        _put(value, path, found.items)
        lists[path] = found
        size += len(found.text) - len("[]")
    return LastDocument(value, size, lists)


def _text(source: bytes, before: Mapping[Path, KnownList], wrapped: int) -> LastDocument | None:
    """Accept JSON text: what begins a known list is cut out, and the rest parsed.

    A mark stands for what is cut. Where the parser finds it as the first item of the list
    at the known path, the text cut out stood in its place, and was complete items.
    """
    cuts = sorted(_cuts(source, before))
    if not cuts or len(source) > MAX_BYTES:
        return None
    nonce = os.urandom(16).hex()
    marks = [f"{nonce} {number}" for number in range(len(cuts))]
    pieces = []
    at = 0
    for mark, (start, head, path) in zip(marks, cuts, strict=True):
        if start < at:
            return None
        pieces += [source[at : start + 1], dumps(mark)]
        at = start + before[path].ends[head - 1]
    value, raw = accept(b"".join([*pieces, source[at:]]), wrapped=wrapped)
    size = len(raw)
    lists = {}
    for mark, (_, head, path) in zip(marks, cuts, strict=True):
        known = before[path]
        given = _list_at(value, path)
        if not given or given[0] != mark:
            return None
        items = [*known.items[:head], *given[1:]]
        kept = memoryview(known.text)[: known.ends[head - 1]]
        text = b"".join([kept, *[b"," + dumps(item) for item in given[1:]], b"]"])
        lists[path] = known.followed_by(items, text, head, 0)
        _put(value, path, items)
        size += known.ends[head - 1] - 1 - len(dumps(mark))
    return LastDocument(value, size, lists)


def _cuts(source: bytes, before: Mapping[Path, KnownList]) -> Iterator[tuple[int, int, Path]]:
    """Find where known lists begin in a text, and how many of their items it has."""
    taken = set()
    for path, known in before.items():
        name = dumps(path[-1]) + b":["
        at = -1
        for _ in range(TRIES):
            at = source.find(name, at + 1)
            if at < 0:
                break
            start = at + len(name) - 1
            head = known.head_in(source, start) if start not in taken else 0
            if head:
                taken.add(start)
                yield start, head, path
                break


def _remembered(
    document: LastDocument, candidates: list[Mapping[Path, KnownList]]
) -> dict[Path, KnownList]:
    """Remember large lists of a document that is ours alone, sharing items with known ones."""
    found = {}
    for path, items in _lists(document.value):
        if path in document.lists:
            continue
        text = dumps(items)
        if len(text) < LARGE:
            continue
        known = candidates[0].get(path)
        counts = known is not None
        known = known or _namesake(path, candidates)
        head = known.head_in(text, 0)
        tail = known.tail_in(items, head)
        items[:head] = known.items[:head]
        if tail:
            items[-tail:] = known.items[-tail:]
        measured = known.followed_by(items, text, head, tail)
        # What stood at another path may never have been checked for this one.
        found[path] = measured if counts else measured._replace(head=0, tail=0)
    return found


def _namesake(path: Path, candidates: list[Mapping[Path, KnownList]]) -> KnownList:
    """Find a known list of the same name at any path."""
    for lists in candidates:
        for other, known in lists.items():
            if other[-1] == path[-1]:
                return known
    return NOTHING


def _lists(document: JSON) -> Iterator[tuple[Path, list[JSON]]]:
    todo: list[tuple[Path, JSON]] = [((), document)]
    while todo:
        path, node = todo.pop()
        if type(node) is list and path:
            yield path, node
        elif type(node) is dict and len(path) < DEEP and len(node) <= FEW:
            todo += [((*path, key), item) for key, item in node.items()]


def _list_at(document: Any, path: Path) -> list[Any] | None:
    node = document
    for key in path:
        if type(node) is not dict or key not in node:
            return None
        node = node[key]
    return node if type(node) is list else None


def _emptied(node: dict[str, Any], path: Path) -> dict[str, Any]:
    """Give an object with an empty list at a path, itself unchanged."""
    key, *inner = path
    return {**node, key: _emptied(node[key], tuple(inner)) if inner else []}


def _put(document: JSON, path: Path, items: list[JSON]) -> None:
    for key in path[:-1]:
        document = document[key]
    document[path[-1]] = items
