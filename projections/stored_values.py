"""JSON values in a run's rows: their roots, and the chunks that they share."""

from __future__ import annotations

from journal.ids import StreamId
from journal.json_door import JSON
from journal.stores.views import Page, ViewReader, ViewWriter
from projections.chunks import join, split
from projections.fold import RunFold
from projections.fold_json import fold_from_json, fold_to_json


def stored_value(rows: ViewReader, stream: StreamId, root: bytes) -> JSON:
    """Give a value that `store_value` kept.

    Raises:
        BrokenChunks: the rows hold something else.
        ViewsUnusable: some are damaged or missing.
    """
    return join(root, lambda keys: rows.chunks(stream, keys))


def store_value(rows: ViewWriter, stream: StreamId, value: JSON) -> bytes:
    """Keep a value; gives its root."""
    return split(value, lambda data: rows.put_chunk(stream, data))


def stored_fold(rows: ViewReader, stream: StreamId, page: Page) -> RunFold:
    """Give the fold of what comes before a page that has one.

    Raises:
        BrokenFold, BrokenChunks, ViewsUnusable: the rows hold something else.
    """
    return fold_from_json(stored_value(rows, stream, page.fold), stream)


def store_fold(rows: ViewWriter, stream: StreamId, fold: RunFold) -> bytes:
    """Keep a fold; gives its root."""
    return store_value(rows, stream, fold_to_json(fold, stream))
