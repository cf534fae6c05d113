"""Removing a directory with all that is in it, however deep that goes."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass

from journal.environment.confined import DIRECTORY

_LIST = DIRECTORY | os.O_RDONLY


@dataclass(frozen=True, slots=True)
class _Level:
    """A directory that is being emptied."""

    name: str
    """In the directory above."""
    identity: tuple[int, int]
    left: list[str]
    """Names in it that are still to be removed."""


def remove_tree(name: str, above: int) -> None:
    """Remove a directory and everything below it; links are removed, never followed.

    One directory is open at a time, and the way back up must lead to where the way down came
    from: so neither depth nor somebody who moves directories meanwhile leads anywhere else.

    Args:
        name: of the directory.
        above: descriptor of the directory that the name is in.

    Raises:
        OSError: something cannot be removed, or was moved meanwhile; some of it may be gone.
    """
    current = os.open(name, _LIST, dir_fd=above)
    try:
        levels = [_level(name, current)]
        while True:
            if levels[-1].left:
                each = levels[-1].left.pop()
                found = os.stat(each, dir_fd=current, follow_symlinks=False)
                if stat.S_ISDIR(found.st_mode):
                    current = _go(each, current)
                    levels.append(_level(each, current))
                else:
                    os.unlink(each, dir_fd=current)
                continue
            emptied = levels.pop()
            if not levels:
                break
            current = _go("..", current)
            if _identity(current) != levels[-1].identity:
                raise OSError(errno.EBUSY, "somebody moves directories while they are removed")
            os.rmdir(emptied.name, dir_fd=current)
    finally:
        os.close(current)
    os.rmdir(name, dir_fd=above)


def _go(name: str, current: int) -> int:
    there = os.open(name, _LIST, dir_fd=current)
    os.close(current)
    return there


def _level(name: str, directory: int) -> _Level:
    return _Level(name, _identity(directory), os.listdir(directory))


def _identity(directory: int) -> tuple[int, int]:
    found = os.fstat(directory)
    return found.st_dev, found.st_ino
