"""Storage engines: where events are kept, behind one interface."""

from __future__ import annotations

import os

from journal.stores.audit import AuditStore
from journal.stores.interface import Identity, NewEvent, Store, StoredEvent
from journal.stores.location import MemoryLocation, parse_durability, parse_location
from journal.stores.views import ViewStore

__all__ = [
    "AuditStore",
    "Identity",
    "NewEvent",
    "Store",
    "StoredEvent",
    "open_audit",
    "open_store",
    "open_views",
]


def open_store(
    location: str | os.PathLike[str],
    *,
    create: bool,
    busy_timeout: float = 5.0,
    durability: str = "full",
) -> Store:
    """Open the store at a location.

    Args:
        location: a path, `sqlite:///path`, `sqlite:////absolute/path`, or `memory://`, which
            is empty each time.
        create: make the file where there is none, bring one of a past format to this one,
            and insist on being allowed to write it. False changes nothing, and opens what
            cannot be written for reading.
        busy_timeout: seconds to wait for another writer before `JournalBusy`.
        durability: `full`: what was appended survives a power cut. `relaxed`: it survives a
            crash of the program; a power cut may take the last appends, whole and from the
            end, about the last 4 MiB of log. In memory it means nothing.

    Raises:
        InvalidLocation: the location names no storage engine of ours, or the durability
            is none.
        JournalNotFound: there is no file, and `create` is False.
        NotAJournal: a directory, an empty file while `create` is False, something else.
        NewerFormat: written by a newer runjournal.
        GuardsMissing: the file's schema is not the one the journal wrote.
        ReadOnly: no permission to make or write it.
        DiskFull: no room to make it.
        DamagedFile: its pages are damaged.
        StorageFailed: no permission to read it, no such directory, an I/O error.
        JournalBusy: others kept it locked for longer than the wait.
    """
    durability = parse_durability(durability, location)
    # An engine is imported when it is used: not every command opens a journal.
    parsed = parse_location(location)
    if isinstance(parsed, MemoryLocation):
        from journal.stores.memory import open_memory  # noqa: PLC0415

        return open_memory()
    from journal.stores.sqlite import open_sqlite  # noqa: PLC0415

    return open_sqlite(parsed.path, create=create, busy_timeout=busy_timeout, durability=durability)


def open_views(store: Store, revision: int, *, in_memory: bool) -> ViewStore:
    """Open the rows of a revision of what is derived from a journal.

    Args:
        store: of the journal. Where its events are in no file, its views are not either.
        revision: of the code that makes the rows.
        in_memory: keep them in memory also where there is a file.

    Raises:
        ViewsUnusable: the file cannot be made or used.
        JournalClosed, JournalForked, DamagedFile, ...: the store cannot tell whose it is.
    """
    from journal.stores.sqlite_views import open_sqlite_views  # noqa: PLC0415

    return open_sqlite_views(None if in_memory else store.file, store.journal_id, revision)


def open_audit(store: Store, revision: int, *, in_memory: bool) -> AuditStore:
    """Open the audit rows of a journal.

    Args:
        store: of the journal. Where its events are in no file, the rows are not either.
        revision: of the code that makes the rows.
        in_memory: keep them in memory also where there is a file.

    Raises:
        ViewsUnusable: the file cannot be made or used.
        JournalClosed, JournalForked, DamagedFile, ...: the store cannot tell whose it is.
    """
    from journal.stores.sqlite_audit import open_sqlite_audit  # noqa: PLC0415

    return open_sqlite_audit(None if in_memory else store.file, store.journal_id, revision)
