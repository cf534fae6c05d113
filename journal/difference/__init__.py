"""The difference between two JSON values, exact by JSON type.

`apply(before, diff(before, after))` is `after`: 1, 1.0 and true are three values, and so
are 0.0 and -0.0. Objects get their keys back in the order of `after` where both have their
common keys in the same order (objects of more than 256 keys gain new keys at the end).

Made for documents that grow: a list that gains items at its end, is cut, or is rewritten
in the middle; objects that gain, lose or change keys at any depth; text that grows; parts
that move from one path to another. Time is near linear in the size of both values.

FORMAT (stored for ever; a change needs a new name beside the stored one)

A delta is a JSON array of operations, applied from first to last. An operation is an array:

    ["=", path, value]                  the value at path becomes `value`
    ["=", path, value, place]           the same for a new key, which becomes the object's
                                        key number `place` (0 is the first)
    ["<", path, source]                 the value at path becomes what stands at the path
    ["<", path, source, place]          `source` of `before`
    ["-", path]                         the object key at path is removed
    ["@", path, start, count, items]    in the list at path, `count` items from `start` on
                                        are replaced by the array `items`
    ["~", path, start, count, text]     in the string at path, `count` characters from
                                        `start` on are replaced by `text`

A path is an array of object keys (strings) and list indices (integers from 0), from the
root; `[]` is the root. Paths refer to the document as the operations before have left it,
except `source`, which always refers to `before`. "=" and "<" replace a list item that is
there, and add or replace an object key. Characters are Unicode code points. A value that
holds copied parts is written with null in their places, and "<" operations follow.
The empty delta changes nothing.
"""

from journal.difference.delta import Delta, DifferenceError, apply
from journal.difference.differ import diff
from journal.difference.sources import Sources

__all__ = ["Delta", "DifferenceError", "Sources", "apply", "diff"]
