"""Why a journal's files cannot be written: SQLite tells that it failed, and not why."""

from __future__ import annotations

import errno
import os
import tempfile
from glob import escape
from pathlib import Path

try:
    import resource
except ImportError:  # Windows
    HAS_LIMITS = False
else:
    HAS_LIMITS = True

_PROBE = 4 * 1024 * 1024
"""Bytes written to see whether there is room."""

_NEAR = 64 * 1024
"""Bytes by which SQLite makes its files longer at once, and some."""


def find_cause(path: Path) -> OSError | None:
    """Find out what keeps a file and its log from growing, by trying it beside them.

    Returns:
        The system's own error; None when nothing is found (any more).
    """
    limit = _largest_size()
    if limit is not None:
        largest = max(map(_size, path.parent.glob(f"{escape(path.name)}*")), default=0)
        if largest + _NEAR > limit:
            text = f"a file may have {limit} bytes in this process (`ulimit -f`)"
            return OSError(errno.EFBIG, text)
    try:
        with tempfile.TemporaryFile(dir=path.parent) as probe:
            probe.write(bytes(_PROBE if limit is None else min(_PROBE, limit)))
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        return error
    return None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # it went away meanwhile


def _largest_size() -> int | None:
    """Tell how many bytes a file may have in this process; None without a limit."""
    if not HAS_LIMITS:
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    return None if limit == resource.RLIM_INFINITY else limit
