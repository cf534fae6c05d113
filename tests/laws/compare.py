"""Comparing views so that a difference is easy to see."""

from journal.compare import first_difference
from journal.json_door import equal


def assert_same_view(seen, expected):
    """Compare two views by JSON type and say where they first differ."""
    if not equal(seen, expected):
        path, found, wanted = first_difference(seen, expected)
        cursor = expected["cursor"]["requested"]
        raise AssertionError(f"at {cursor}, {path}: found {found!r}, expected {wanted!r}")
