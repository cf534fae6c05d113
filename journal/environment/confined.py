"""Walking to a path below allowed directories without ever being led out of them.

Each step opens one name in a directory that is open already, and follows no link: a link is
read, and what it says is walked in the same way. So what was checked is what is used, also
while somebody swaps directories and links. Where a walk ends is told by the names of real
directories that it went through.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import NoReturn

from journal.errors import PathRefused

MAX_LINKS = 40
"""Links on one way, as in Linux; also how often a step is repeated because somebody swaps."""

DIRECTORY = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
STEP = DIRECTORY | getattr(os, "O_PATH", os.O_RDONLY)
"""Going through a directory takes no right to list it, where the system knows such a way."""

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """The end of a walk: a name in an open directory, inside the allowed ones."""

    asked: str
    """The path that was asked for."""
    directory: int
    """Descriptor of the directory, open while the place is held."""
    name: str
    """In the directory; of `/` itself, a dot."""
    found: os.stat_result | None
    """What has the name; never a link that was to be followed; None for nothing."""
    is_root: bool
    """It is one of the allowed directories itself, whose name stands outside of them."""


class Confined:
    """Directories that nothing leads out of."""

    def __init__(self, roots: Sequence[str]) -> None:
        """Confine to directories.

        Args:
            roots: absolute paths, without links.
        """
        self.roots = tuple(roots)
        self._inside = [_names(root) for root in roots]

    def holds(self, real: str) -> bool:
        """Tell whether an absolute path without links is one of the roots or below one."""
        return _holds(self._inside, _names(real))

    @contextmanager
    def place(
        self,
        base: str,
        path: str,
        *,
        follow: bool = True,
        make: bool = False,
    ) -> Iterator[Place]:
        """Walk to a path, and hold its directory open.

        Args:
            base: absolute path of the directory that a relative path starts in.
            path: as it was asked for.
            follow: also follow a link that the path ends with.
            make: make directories that are missing on the way.

        Raises:
            PathRefused: it is no path, or leads out of the roots.
            OSError: a directory on the way is missing, is none, or cannot be entered.
        """
        walk = _Walk(path, self._inside, follow=follow, make=make)
        try:
            yield walk.to([*_names(base), *_asked(path)] if path[:1] != "/" else [*_asked(path)])
        finally:
            walk.close()


class _Walk:
    """One walk: where it is, and which names are to come."""

    def __init__(
        self,
        asked: str,
        roots: Sequence[Names],
        *,
        follow: bool,
        make: bool,
    ) -> None:
        self._asked = asked
        self._roots = roots
        self._follow = follow
        self._make = make
        self._links = 0
        self._names: Names = ()
        self._directory = os.open("/", STEP)

    def close(self) -> None:
        """Close the directory that it is in."""
        os.close(self._directory)

    def to(self, names: Sequence[str]) -> Place:
        """Walk from the top through all names."""
        ahead = [*reversed(names)]
        while ahead:
            name = ahead.pop()
            if name == "..":  # a link says so
                ahead += reversed(self._names[:-1])
                self._restart()
                continue
            try:
                found = self._look(name, last=not ahead)
                if found is not None and stat.S_ISLNK(found.st_mode) and (ahead or self._follow):
                    target = os.readlink(name, dir_fd=self._directory)
                    self._count()
                    if target.startswith("/"):
                        self._restart()
                    ahead += [part for part in reversed(target.split("/")) if part not in _NOTHING]
                elif ahead:
                    self._enter(name)
                else:
                    return self._place(name, found)
            except OSError as error:
                if error.errno in _SWAPPED and self._is_swapped(name):
                    self._count()
                    ahead.append(name)
                    continue
                self._refuse_outside((*self._names, name))
                raise
        return self._place(".", os.stat(".", dir_fd=self._directory))  # no name: `/` itself

    def _look(self, name: str, *, last: bool) -> os.stat_result | None:
        try:
            return os.stat(name, dir_fd=self._directory, follow_symlinks=False)
        except FileNotFoundError:
            if last:
                return None
            if not self._make or not _holds(self._roots, self._names):
                raise
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=self._directory)
        return os.stat(name, dir_fd=self._directory, follow_symlinks=False)

    def _enter(self, name: str) -> None:
        below = os.open(name, STEP, dir_fd=self._directory)
        os.close(self._directory)
        self._directory = below
        self._names = (*self._names, name)

    def _is_swapped(self, name: str) -> bool:
        """Tell whether what was no directory, or no link, is one by now."""
        try:
            mode = os.stat(name, dir_fd=self._directory, follow_symlinks=False).st_mode
        except OSError:
            return False
        return stat.S_ISLNK(mode) or stat.S_ISDIR(mode)

    def _place(self, name: str, found: os.stat_result | None) -> Place:
        names = self._names if name == "." else (*self._names, name)
        if not _holds(self._roots, names):
            self._outside()
        return Place(self._asked, self._directory, name, found, names in self._roots)

    def _restart(self) -> None:
        top = os.open("/", STEP)
        os.close(self._directory)
        self._directory = top
        self._names = ()

    def _count(self) -> None:
        self._links += 1
        if self._links > MAX_LINKS:
            raise PathRefused(self._asked, f"more than {MAX_LINKS} links on the way")

    def _refuse_outside(self, names: Names) -> None:
        """Refuse before anything is told of what is outside."""
        leads_to_root = any(root[: len(names)] == names for root in self._roots)
        if not leads_to_root and not _holds(self._roots, names):
            self._outside()

    def _outside(self) -> NoReturn:
        raise PathRefused(
            self._asked, "it is outside the directories that the host's policy allows"
        )


_NOTHING = ("", ".")
"""Names in a path that lead nowhere."""

_SWAPPED = (errno.ENOTDIR, errno.ELOOP, errno.EINVAL)
"""What a step fails with where a name is another kind of thing than a moment before."""


def _holds(roots: Sequence[Names], names: Names) -> bool:
    return any(names[: len(root)] == root for root in roots)


def _names(path: str) -> Names:
    return tuple(part for part in path.split("/") if part not in _NOTHING)


def _asked(path: str) -> Names:
    """Check a path as it was asked for, and give its names."""
    if "\0" in path:
        raise PathRefused(path, "it has a NUL character")
    try:
        os.fsencode(path)
    except UnicodeEncodeError as error:
        raise PathRefused(path, "no file name can hold it") from error
    names = _names(path)
    if ".." in names:
        raise PathRefused(path, "name it without `..`")
    return names
