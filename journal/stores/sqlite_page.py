"""One page of rows: as many as their data fills."""

from __future__ import annotations

import sqlite3
import sys
from typing import Any

PAGE_BYTES = 16 * 1024 * 1024
"""Bytes of packed data after which a page ends."""


def fetch_page(rows: sqlite3.Cursor) -> list[tuple[Any, ...]]:
    """Fetch rows until their data, which stands last, fills a page; closes the cursor."""
    page = []
    size = 0
    for row in rows:
        page.append(row)
        size += sys.getsizeof(row[-1])  # also of what damage made of it
        if size >= PAGE_BYTES:
            break
    rows.close()
    return page
