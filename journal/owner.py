"""Who holds a lease: a journal object of a process of a machine."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from pathlib import Path
from uuid import uuid4
from weakref import WeakValueDictionary

from journal.stores.interface import Lease

_PROC = Path("/proc")

_owners: WeakValueDictionary[str, Owner] = WeakValueDictionary()
"""Owners of this process that may still write, by id."""


@cache
def machine() -> str:
    """Name this machine, as far as process ids reach: a container is one of its own."""
    node = socket.gethostname()
    parts = [node, _read(Path("/etc/machine-id")), _link(_PROC / "self/ns/pid")]
    return f"{node}:{blake2b(repr(parts).encode(), digest_size=4).hexdigest()}"


def started(process: int) -> str | None:
    """Tell when a process of this machine started, to tell a reused process id apart.

    Returns:
        The boot's id and the clock ticks since (field 22 of proc(5)'s `stat`); None where
        the system does not say.
    """
    stat = _read(_PROC / str(process) / "stat")
    boot = _read(_PROC / "sys/kernel/random/boot_id")
    if not stat or not boot:
        return None
    return f"{boot}/{_after_name(stat)[19]}"


@dataclass(frozen=True, eq=False)
class Owner:
    """An open journal, as the owner of leases; every one is an owner of its own."""

    id: str = field(default_factory=lambda: uuid4().hex)
    host: str = field(default_factory=machine)
    process: int = field(default_factory=os.getpid)
    started: str = field(default_factory=lambda: started(os.getpid()) or "")

    def __post_init__(self) -> None:
        _owners[self.id] = self

    def retire(self) -> None:
        """Say that it writes no more: what it did not release may be taken at once."""
        _owners.pop(self.id, None)


def is_gone(lease: Lease) -> bool:
    """Tell whether the owner of a lease surely writes no more.

    True only when its process ran on this machine and is not there any more, or it is a
    journal of this process that was closed. An owner elsewhere is never known to be gone.
    """
    if lease.host != machine():
        return False
    if lease.process == os.getpid() and lease.started == (started(os.getpid()) or ""):
        return lease.owner not in _owners
    if not is_running(lease.process):
        return True
    now = started(lease.process)
    return bool(now and lease.started) and now != lease.started


def named(lease: Lease) -> str:
    """Name the owner of a lease for people."""
    return f"process {lease.process} on {lease.host}"


def is_running(process: int) -> bool:
    """Tell whether a process of this machine runs; True where the system does not say."""
    if os.name != "posix":
        return True  # there, asking by signal 0 would end it
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    stat = _read(_PROC / str(process) / "stat")
    # A process that ended and was not waited for still has its number.
    return not stat or _after_name(stat)[0] not in {"Z", "X"}


def _after_name(stat: str) -> list[str]:
    # The name in brackets may hold spaces and brackets itself.
    return stat[stat.rindex(")") + 1 :].split()


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace").strip()
    except OSError:
        return ""


def _link(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:
        return ""
