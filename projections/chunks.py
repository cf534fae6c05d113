"""JSON values stored as trees of shared chunks: values that share parts share rows.

A chunk is a node, in JSON: `[value]` where nothing was taken out of the value, else
`[skeleton, parts]`. The skeleton is the value with null in place of what was taken out, and a
part tells where that goes and what it is: `[path, kind, level, keys]`.

`path` is a list of object keys and list places that leads into the skeleton; empty, it means
all of it. `kind` is `list` (chunks are lists of its items), `object` (lists of its members,
each `[key, value]`) or `text` (strings). At `level` 0 the keys are of these chunks, in order;
at a level above they are of chunks which list the keys of the level below.

Lists are cut after items whose checksum is low for their size, so that where a list is cut
depends on the items near it alone: a list that grows, is cut, loses its first items or is
rewritten somewhere keeps all its other chunks. Texts are cut at fixed places, for growth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias
from zlib import crc32

from journal.json_door import JSON, dumps, loads

Put: TypeAlias = Callable[[bytes], int]
"""Stores a chunk and gives its key; equal chunks have one key."""

Get: TypeAlias = Callable[[Sequence[int]], Mapping[int, bytes]]
"""Gives chunks by their keys."""


class BrokenChunks(ValueError):
    """Chunks do not make up a value: one is missing, or is not what `split` writes."""


class _Sizes(NamedTuple):
    """How a list is cut, in bytes of its items."""

    least: int
    mean: int
    most: int


_GROUPS = _Sizes(least=2 * 1024, mean=12 * 1024, most=48 * 1024)
_KEY_LISTS = _Sizes(least=256, mean=1024, most=4096)

_IN_ROOT = 4 * 1024
_IN_CHUNK = 16 * 1024
# Bytes of JSON up to which a value stands in the root, or an item in its chunk, as it is.

_PIECE = 8 * 1024
# Characters of a text in one chunk.

_MOST_KEYS = 64
# Keys that a part lists itself.

_HIGHEST_KEY = 2**63 - 1
# What a key of a row can be.

_PART = 64
# Bytes reckoned for a part, so that a node cannot fill up with them.


def split(value: JSON, put: Put) -> bytes:
    """Store the large parts of a value in chunks, and give the root: the node that is left.

    The same value, with its keys in the same order, gives the same root. A root takes a few
    kilobytes at most, whatever the size of the value.

    Args:
        value: accepted JSON; it is not changed.
        put: called for every chunk, also for those stored before.
    """
    raw = dumps(value)
    if len(raw) <= _IN_ROOT:
        return b"[%b]" % raw
    splitter = _Splitter(put, _IN_ROOT)
    skeleton = splitter.bare(value, [], _IN_ROOT)
    return dumps([skeleton, splitter.parts])


class _Splitter:
    """Takes parts out of the values of one node."""

    def __init__(self, put: Put, limit: int) -> None:
        self._put = put
        self._limit = limit
        self.parts: list[JSON] = []

    def bare(self, value: JSON, path: list[str | int], room: int) -> JSON:
        """Give what is left of a value above the limit, in at most `room` bytes or so."""
        if type(value) is str:
            pieces = (value[at : at + _PIECE] for at in range(0, len(value), _PIECE))
            self._take(path, "text", [self._put(b"[%b]" % dumps(piece)) for piece in pieces])
            return None
        named = type(value) is dict
        keys: Sequence[str | int] = list(value) if named else range(len(value))
        names = list(map(dumps, value)) if named else []
        raws = list(map(dumps, value.values() if named else value))
        large = [key for key, raw in zip(keys, raws, strict=True) if len(raw) > self._limit]
        small = sum(len(raw) for raw in raws if len(raw) <= self._limit)
        left = small + sum(map(len, names)) + _PART * len(large)
        if large and left <= room:
            skeleton = value.copy()
            for key in large:
                skeleton[key] = self.bare(value[key], [*path, key], (room - left) // len(large))
            return skeleton
        if named:
            value = list(map(list, value.items()))
            raws = [b"[%b,%b]" % member for member in zip(names, raws, strict=True)]
        groups = [self._put_group(value, raws, *cut) for cut in _cuts(raws, _GROUPS)]
        self._take(path, "object" if named else "list", groups)
        return None

    def _take(self, path: list[str | int], kind: str, keys: list[int]) -> None:
        level = 0
        while len(keys) > _MOST_KEYS:
            raws = list(map(dumps, keys))
            cuts = _cuts(raws, _KEY_LISTS)
            keys = [self._put(b"[[%b]]" % b",".join(raws[first:end])) for first, end in cuts]
            level += 1
        self.parts.append([path, kind, level, keys])

    def _put_group(self, items: list[JSON], raws: list[bytes], first: int, end: int) -> int:
        group = raws[first:end]
        large = [at for at, raw in enumerate(group) if len(raw) > _IN_CHUNK]
        if not large:
            return self._put(b"[[%b]]" % b",".join(group))
        inner = _Splitter(self._put, _IN_CHUNK)
        for at in large:
            group[at] = dumps(inner.bare(items[first + at], [at], _IN_CHUNK))
        return self._put(b"[[%b],%b]" % (b",".join(group), dumps(inner.parts)))


def _cuts(raws: Sequence[bytes], sizes: _Sizes) -> Iterator[tuple[int, int]]:
    """Give the first place of every group, and the place after its last."""
    least, mean, most = sizes
    scale = 2**32 // mean
    first = size = 0
    for at, raw in enumerate(raws):
        length = len(raw)
        if size and size + length > most:
            yield first, at
            first, size = at, 0
        size += length
        if size >= least and crc32(raw) < length * scale:
            yield first, at + 1
            first, size = at + 1, 0
    if size:
        yield first, len(raws)


class _Hole(NamedTuple):
    """A null of a skeleton, and the keys of what belongs there."""

    box: Any
    at: str | int
    kind: str
    level: int
    keys: list[int]
    above: frozenset[int]
    """The chunks that led here: chunks in a circle would never end."""


def join(root: bytes, get: Get) -> JSON:
    """Rebuild a value from its root, exactly.

    Args:
        root: what `split` gave.
        get: called once for each level of the tree, with all keys of that level.

    Raises:
        BrokenChunks: the root or a chunk is not what `split` writes, or a chunk is missing.
    """
    whole = _node(root)
    holes = _holes(whole, frozenset())
    filled: list[tuple[_Hole, list[JSON]]] = []
    while holes:
        found = get(list(dict.fromkeys(key for hole in holes for key in hole.keys)))
        deeper: list[_Hole] = []
        for hole in holes:
            nodes = [_found(found, key) for key in hole.keys]
            if hole.level:
                keys = [key for node in nodes for key in _next_keys(node)]
                above = hole.above.union(hole.keys)
                deeper.append(_checked(hole._replace(level=hole.level - 1, keys=keys, above=above)))
                continue
            filled.append((hole, nodes))
            for key, node in zip(hole.keys, nodes, strict=True):
                if len(node) > 1:
                    deeper += _holes(node, hole.above | {key})
        holes = deeper
    # What is inside a chunk was found after it, so that it is filled in before.
    for hole, nodes in reversed(filled):
        if _entered(hole.box, hole.at) is not None:
            raise BrokenChunks("two parts of a chunk belong to one place")
        hole.box[hole.at] = _value(hole.kind, [node[0] for node in nodes])
    return whole[0]


def _node(raw: bytes) -> list[JSON]:
    try:
        node = loads(raw)
    except ValueError as error:
        raise BrokenChunks(f"a chunk is not JSON: {error}") from None
    if type(node) is not list or not 1 <= len(node) <= 2:
        raise BrokenChunks("a chunk is not a node")
    return node


def _found(chunks: Mapping[int, bytes], key: int) -> list[JSON]:
    if key not in chunks:
        raise BrokenChunks(f"chunk {key} is missing")
    return _node(chunks[key])


def _next_keys(node: list[JSON]) -> list[JSON]:
    if len(node) != 1 or type(node[0]) is not list:
        raise BrokenChunks("a chunk is not a list of keys")
    return node[0]


def _are(values: JSON, kind: type) -> bool:
    return type(values) is list and all(type(value) is kind for value in values)


def _holes(node: list[JSON], above: frozenset[int]) -> list[_Hole]:
    if len(node) == 1:
        return []
    if not _are(node[1], list):
        raise BrokenChunks("the parts of a chunk are not a list of lists")
    return [_hole(node, part, above) for part in node[1]]


def _hole(node: list[JSON], part: list[JSON], above: frozenset[int]) -> _Hole:
    if len(part) != 4:
        raise BrokenChunks("a part of a chunk has not four members")
    path, kind, level, keys = part
    if type(path) is not list or type(level) is not int or type(kind) is not str:
        raise BrokenChunks("a part of a chunk has members of the wrong type")
    box: Any = node
    at: str | int = 0
    for step in path:
        box, at = _entered(box, at), step
    if _entered(box, at) is not None:
        raise BrokenChunks("a part of a chunk belongs where something else is")
    return _checked(_Hole(box, at, kind, level, keys, above))


def _entered(box: JSON, at: str | int) -> JSON:
    if type(box) is dict and type(at) is str and at in box:
        return box[at]
    if type(box) is list and type(at) is int and 0 <= at < len(box):
        return box[at]
    raise BrokenChunks(f"a part of a chunk belongs to {at!r}, which is not there")


def _checked(hole: _Hole) -> _Hole:
    if not hole.keys or not _are(hole.keys, int) or max(hole.keys) > _HIGHEST_KEY or hole.level < 0:
        raise BrokenChunks("a part of a chunk has no keys, or some that are none")
    if not hole.above.isdisjoint(hole.keys):
        raise BrokenChunks("a chunk is inside itself")
    return hole


def _value(kind: JSON, values: list[JSON]) -> JSON:
    if kind == "text" and _are(values, str):
        return "".join(values)
    if kind in {"list", "object"} and _are(values, list):
        items = [item for value in values for item in value]
        return items if kind == "list" else _object(items)
    raise BrokenChunks("chunks are not of the kind that their part names")


def _object(pairs: list[JSON]) -> dict[str, JSON]:
    if not _are(pairs, list) or any(len(pair) != 2 or type(pair[0]) is not str for pair in pairs):
        raise BrokenChunks("a chunk of an object has an item that is not a member of it")
    members = dict(pairs)
    if len(members) != len(pairs):
        raise BrokenChunks("a key of an object is in two chunks")
    return members
