"""Where a journal is: a path or a URL, and the engine it asks for."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from journal.errors import InvalidLocation, brief

SUPPORTED = "use a path, sqlite:///relative/path, sqlite:////absolute/path or memory://"

DURABILITIES = ("full", "relaxed")

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class SQLiteLocation:
    """A journal in an SQLite file."""

    path: Path
    """As given; a relative one is relative to the working directory."""

    def __str__(self) -> str:
        return str(self.path)


@dataclass(frozen=True, slots=True)
class MemoryLocation:
    """A journal in this process's memory, gone when it is closed."""

    def __str__(self) -> str:
        return "memory://"


def parse_location(location: str | os.PathLike[str]) -> SQLiteLocation | MemoryLocation:
    """Read a location as the user gave it.

    A string with a scheme is a URL; any other string, and every `os.PathLike`, is a path.
    Paths are taken literally, also in URLs: no percent decoding, no `~`.

    Raises:
        InvalidLocation: another scheme, a URL with options, or an empty path.
    """
    if not isinstance(location, str):
        return _path(str(Path(location)), str(Path(location)))
    url = _SCHEME.fullmatch(location)
    if url is None:
        if location == ":memory:" or location.startswith(("file:", "sqlite:", "memory:")):
            raise InvalidLocation(location, f"neither a URL nor a plain path; {SUPPORTED}")
        return _path(location, location)
    scheme, rest = url[1].lower(), url[2]
    if scheme == "memory":
        if rest:
            raise InvalidLocation(location, f"memory:// takes nothing after it; {SUPPORTED}")
        return MemoryLocation()
    if scheme != "sqlite":
        raise InvalidLocation(location, f"no storage engine for {scheme}://; {SUPPORTED}")
    if not rest.startswith("/"):
        raise InvalidLocation(location, f"a host is not possible, three slashes are; {SUPPORTED}")
    if "?" in rest:
        raise InvalidLocation(
            location, "options after ? are not supported; give a file so named as a plain path"
        )
    return _path(rest[1:], location)


def parse_durability(durability: str, location: str | os.PathLike[str]) -> str:
    """Check what a user wrote as durability.

    Raises:
        InvalidLocation: neither `full` nor `relaxed`.
    """
    if durability not in DURABILITIES:
        reason = f"its durability is to be 'full' or 'relaxed', not {brief(durability)}"
        raise InvalidLocation(str(location), reason)
    return durability


def _path(path: str, location: str) -> SQLiteLocation:
    if not path.strip():
        raise InvalidLocation(location, f"it names no file; {SUPPORTED}")
    if "\0" in path:
        raise InvalidLocation(location, "a path cannot hold a NUL character")
    return SQLiteLocation(Path(path))
