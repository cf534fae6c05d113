"""Which runs, and which of what happened in them, a question is about."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from journal.errors import InvalidFilter
from journal.stores.audit import Wanted
from journal.times import EARLIEST, LATEST, now
from projections.audit.times import parse_when


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """What every question of the audit can be narrowed by; each that is given must hold.

    All values are data: no character in them means anything but itself.

    Raises:
        InvalidFilter: a value that nothing can have, or `since` after `until`.
    """

    since: int | None = None
    """Only what was recorded at or after this time, in microseconds since the epoch."""
    until: int | None = None
    """Only what was recorded before."""
    session: str | None = None
    """Only this session."""
    run: str | None = None
    """Only this run."""
    status: str | None = None
    """Only runs that stand so now: as recorded last, or `crashed`."""
    limit: int | None = None
    """At most so many answers, at least 1."""

    def __post_init__(self) -> None:
        for name in ("since", "until"):
            _check_time(name, getattr(self, name))
        if self.since is not None and self.until is not None and self.since > self.until:
            raise InvalidFilter("since", self.since, f"it is after until, {self.until}")
        for name in ("session", "run", "status"):
            check_text(name, getattr(self, name))
        limit = self.limit
        if limit is not None and (type(limit) is not int or limit < 1):
            raise InvalidFilter("limit", limit, "expected a whole number of at least 1")

    @classmethod
    def of(  # noqa: PLR0913 - the filters
        cls,
        *,
        since: str | None = None,
        until: str | None = None,
        session: str | None = None,
        run: str | None = None,
        status: str | None = None,
        limit: int | None = None,
    ) -> AuditFilter:
        """Make one of times as people give them, see `parse_when`; ages count from now.

        Raises:
            InvalidFilter: see the class.
        """
        at = now()
        return cls(
            since=None if since is None else parse_when(since, at),
            until=None if until is None else parse_when(until, at),
            session=session,
            run=run,
            status=status,
            limit=limit,
        )

    def wanted(
        self,
        kinds: Collection[str] | None = None,
        *,
        statuses: Collection[str] | None = None,
        tool: str | None = None,
    ) -> Wanted:
        """Say which rows it takes in, as far as rows tell."""
        return Wanted(self.since, self.until, self.session, self.run, kinds, statuses, tool)

    def without_limit(self) -> AuditFilter:
        """Take in all that this would without its limit."""
        return replace(self, limit=None)

    @property
    def is_narrow(self) -> bool:
        """Tell whether anything is left out, besides what is beyond the limit."""
        return self.without_limit() != EVERYTHING

    def takes(self, at: int) -> bool:
        """Tell whether a time is within its bounds."""
        return (self.since is None or at >= self.since) and (self.until is None or at < self.until)


def check_text(name: str, value: Any) -> None:
    """Check that a value can be asked for: a text that can be written as UTF-8, or None.

    Raises:
        InvalidFilter: it is something else.
    """
    if value is None:
        return
    if not isinstance(value, str):
        raise InvalidFilter(name, value, "expected a text")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        reason = f"character {error.start} is a lone surrogate, which no recorded text has"
        raise InvalidFilter(name, value, reason) from error


def _check_time(name: str, value: Any) -> None:
    if value is None:
        return
    if type(value) is not int or not EARLIEST <= value <= LATEST:
        reason = "expected microseconds since 1970, within the years 1 to 9999"
        raise InvalidFilter(name, value, reason)


EVERYTHING = AuditFilter()
"""Takes in everything."""
