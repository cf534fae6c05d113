"""The library's event-sourced log as shipped, as reference for reading events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

from eventsourcing.application import Application, EventSourcedLog
from eventsourcing.domain import DomainEvent, datetime_now_with_tzinfo

LOG = UUID(int=7)


class Recorded(DomainEvent):
    """An event of the log: the JSON of one of the journal's."""

    data: dict[str, Any]


def _application(path: Path) -> Application[UUID]:
    return Application(
        env={"PERSISTENCE_MODULE": "eventsourcing.sqlite", "SQLITE_DBNAME": str(path)}
    )


def write_log(path: Path, events: Iterable[dict[str, Any]]) -> None:
    """Store events as the library maps them, a thousand a transaction."""
    application = _application(path)
    made = (
        Recorded(
            originator_id=LOG,
            originator_version=version,
            timestamp=datetime_now_with_tzinfo(),
            data=data,
        )
        for version, data in enumerate(events, 1)
    )
    while page := list(islice(made, 1000)):
        application.events.put(page)
    application.close()


def read_log(path: Path) -> None:
    """Read every event, mapped back to its class."""
    application = _application(path)
    log: EventSourcedLog[Recorded] = EventSourcedLog(application.events, LOG, Recorded)
    for _ in log.get():
        pass
    application.close()


def read_log_in_pages(path: Path, page: int = 1000) -> None:
    """Read the same page by page, which the library leaves to its caller."""
    application = _application(path)
    log: EventSourcedLog[Recorded] = EventSourcedLog(application.events, LOG, Recorded)
    for _ in _pages(log, page):
        pass
    application.close()


def _pages(log: EventSourcedLog[Recorded], page: int) -> Iterator[Recorded]:
    after = 0
    while events := list(log.get(gt=after, limit=page)):
        yield from events
        after = events[-1].originator_version
