"""The kinds in the metadata of exported states, and the factories that are found by them."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from typing import Any

from journal.errors import InvalidRecord
from journal.json_door import JSON
from journal.records.checks import shown

PROVIDER_KIND = "provider_kind"
RESOURCE_KIND = "resource_kind"


def named_kind(kind: JSON, what: str, path: str) -> str:
    """Take a kind that the metadata names.

    Raises:
        InvalidRecord: it is no name.
    """
    if type(kind) is not str or not kind:
        raise InvalidRecord(
            what, path, f"the name of a kind is needed, found {shown(kind)}; export it with one"
        )
    return kind


def at_once(made: Any, what: str) -> Any:
    """Give what a factory made, unless it is yet to be awaited.

    Raises:
        TypeError: it is; `arestore` awaits it.
    """
    if not inspect.isawaitable(made):
        return made
    if inspect.iscoroutine(made):
        made.close()
    raise TypeError(f"the factory of {what} is asynchronous; use `await registry.arestore(...)`")


async def settled(made: Any) -> Any:
    """Give what a factory made, awaiting it where it must be."""
    return await made if isinstance(made, Awaitable) else made


@contextmanager
def restoring(what: str) -> Iterator[None]:
    """Say in an error of a host's factory what it was restoring."""
    try:
        yield
    except Exception as error:
        error.add_note(f"while {what} was being restored")
        raise
