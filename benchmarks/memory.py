"""Memory that processes hold."""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def resident_bytes(process: int) -> int:
    """Tell how much memory a process holds now; 0 where the system does not say."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text("ascii").split()[1])
    except (OSError, IndexError):
        return 0
    return pages * resource.getpagesize()


def peak_bytes() -> int:
    """Tell how much memory this process held at most so far.

    Where the system keeps no record of that, what the process was started from counts, too.
    """
    try:
        status = Path("/proc/self/status").read_text("ascii")
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024
    except (OSError, IndexError):
        pass
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
