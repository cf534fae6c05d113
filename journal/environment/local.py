"""A local environment: files of this machine, as far as the host's policy goes."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from journal.environment.confined import DIRECTORY, Confined, Place
from journal.environment.local_policy import LocalPolicy
from journal.environment.removal import remove_tree
from journal.environment.restored import Restored
from journal.errors import FileNotInEnvironment, PathRefused, StorageFailed
from journal.json_door import JSON
from journal.records import EnvironmentState

FILE = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
"""Opening never follows a link and never waits, for the other end of a pipe, say."""

MOST_READ = 256 * 1024 * 1024
"""Bytes of a file that are read at once."""

MOST_COPIED = 4 * 1024 * 1024 * 1024
"""Bytes of a file that are copied."""

_PIECE = 1024 * 1024
"""Bytes that a file is read by."""

_OF_PATHS = (
    *(errno.EACCES, errno.EBUSY, errno.EEXIST, errno.EINVAL, errno.EISDIR, errno.ELOOP),
    *(errno.ENAMETOOLONG, errno.ENOTDIR, errno.ENOTEMPTY, errno.ENXIO, errno.EPERM, errno.EROFS),
    *(errno.ETXTBSY, errno.EXDEV),
)
"""What a system call fails with because of its path; anything else is the storage's fault."""


class LocalProvider(Restored):
    """A local environment restored from its state, under a policy of this machine's host.

    Paths are absolute, or relative to the environment's root. Links are followed when a path
    is used, each at that moment, and where they lead must be inside the environment's own
    directories; so it stays inside them also while somebody swaps directories and links.
    """

    def __init__(self, state: EnvironmentState, policy: LocalPolicy) -> None:
        """Take the state's directories, processes and resources.

        Raises:
            InvalidRecord, PathRefused: see `LocalPolicy.roots_of`.
        """
        self._state = state
        self.roots = policy.roots_of(state)
        """The directories that it reaches, its own root first; absolute paths without links."""
        self.writable = policy.writable
        """Whether it may be written to."""
        self._confined = Confined(self.roots)

    def read_bytes(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        """Give a file's content, or a part of it.

        Args:
            offset: bytes before the part.
            length: bytes of it; less where the file ends; None for all to the end.

        Raises:
            FileNotInEnvironment: there is nothing at the path.
            PathRefused: it is outside, or no file; what is asked for is over `MOST_READ`
                bytes, or begins or ends before the file does.
        """
        if offset < 0 or (length is not None and length < 0):
            raise PathRefused(path, "a part has an offset and a length of 0 or more bytes")
        with self._place(path) as place, open(_opened(place, os.O_RDONLY), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if offset >= size > 0 or (offset and not size):
                return b""
            most = MOST_READ + 1 if length is None else min(length, MOST_READ + 1)
            large = min(size - offset, most) > MOST_READ
            file.seek(offset)
            content = b"" if large else b"".join(_pieces(file, most))
            if large or len(content) > MOST_READ:  # one that grows, or does not tell its size
                reason = f"over {MOST_READ} bytes are not read at once; read a part, or copy it"
                raise PathRefused(path, reason)
            return content

    def read_text(self, path: str) -> str:
        """Give a text file's content; see `read_bytes`.

        Raises:
            PathRefused: also where it is not UTF-8.
        """
        try:
            return self.read_bytes(path).decode()
        except UnicodeDecodeError as error:
            raise PathRefused(path, f"it is no UTF-8 text: {error.reason}") from error

    def write_bytes(self, path: str, content: bytes, *, overwrite: bool = True) -> None:
        """Make or replace a file, and the directories that lead to it.

        Raises:
            PathRefused: it is outside, no file, or a file with a second name, which may be
                outside; it is there, and not to be overwritten; or the policy does not let
                anybody write.
        """
        with self._written(path, overwrite=overwrite) as file:
            file.truncate()
            file.write(content)

    def write_text(self, path: str, content: str) -> None:
        """Make or replace a text file; see `write_bytes`."""
        try:
            encoded = content.encode()
        except UnicodeEncodeError as error:
            raise PathRefused(path, f"what is to be written is no text: {error.reason}") from error
        self.write_bytes(path, encoded)

    def names(self, path: str = "") -> list[str]:
        """Give the names in a directory, in their order; links are named and not followed."""
        with self._place(path) as place:
            _must_exist(place)
            listed = os.open(place.name, DIRECTORY | os.O_RDONLY, dir_fd=place.directory)
            try:
                return sorted(os.listdir(listed))  # noqa: PTH208 - a descriptor, no path
            finally:
                os.close(listed)

    def stat(self, path: str) -> os.stat_result:
        """Tell what is at a path, links followed."""
        with self._place(path) as place:
            return _must_exist(place)

    def create_dir(self, path: str, *, parents: bool = True) -> None:
        """Make a directory; with `parents` those that lead to it, and one may be there already."""
        with self._place(path, writes=True, make=parents) as place:
            if parents and place.found is not None and stat.S_ISDIR(place.found.st_mode):
                return
            os.mkdir(place.name, dir_fd=place.directory)

    def delete(self, path: str, *, recursive: bool = False) -> None:
        """Remove a file, a link (not what it leads to), or a directory.

        Args:
            recursive: also a directory that is not empty, with all that is in it.
        """
        with self._place(path, writes=True, follow=False) as place:
            found = _must_move(place)
            if not stat.S_ISDIR(found.st_mode):
                os.unlink(place.name, dir_fd=place.directory)
            elif recursive:
                remove_tree(place.name, place.directory)
            else:
                os.rmdir(place.name, dir_fd=place.directory)

    def move(self, path: str, to: str, *, overwrite: bool = False) -> None:
        """Give a file, a link or a directory another path."""
        with self._place(path, writes=True, follow=False) as place:
            _must_move(place)
            with self._place(to, writes=True, follow=False, make=True) as target:
                if target.is_root:
                    _must_move(target)
                if target.found is not None and not overwrite:
                    raise PathRefused(to, "there is something, and it is not to be overwritten")
                os.rename(
                    place.name,
                    target.name,
                    src_dir_fd=place.directory,
                    dst_dir_fd=target.directory,
                )

    def copy(self, path: str, to: str, *, overwrite: bool = False) -> None:
        """Copy a file, as long as it is when that begins.

        Raises:
            PathRefused: see `read_bytes` and `write_bytes`; it is the same file, or over
                `MOST_COPIED` bytes.
        """
        with self._place(path) as place, open(_opened(place, os.O_RDONLY), "rb") as source:
            size = os.fstat(source.fileno()).st_size
            if size > MOST_COPIED:
                raise PathRefused(path, f"{size} bytes are over the {MOST_COPIED} that are copied")
            with self._written(to, overwrite=overwrite) as target:
                if os.path.sameopenfile(source.fileno(), target.fileno()):
                    raise PathRefused(to, "it is the file that is to be copied")
                target.truncate()
                for piece in _pieces(source, size or MOST_COPIED):
                    target.write(piece)

    def export_state(self) -> dict[str, JSON]:
        """Give the state that it was restored from, bare; for `Run.export_environment`."""
        return self._state.to_json()

    @contextmanager
    def _written(self, path: str, *, overwrite: bool) -> Iterator[BinaryIO]:
        """Open a file for writing, as it is; whoever fills it cuts it first."""
        flags = os.O_WRONLY | os.O_CREAT | (0 if overwrite else os.O_EXCL)
        with (
            self._place(path, writes=True, make=True) as place,
            open(_opened(place, flags), "wb") as file,
        ):
            if os.fstat(file.fileno()).st_nlink > 1:
                reason = "it is a hard link, whose other name may be outside; delete it first"
                raise PathRefused(path, reason)
            yield file

    @contextmanager
    def _place(
        self, path: str, *, writes: bool = False, follow: bool = True, make: bool = False
    ) -> Iterator[Place]:
        if writes and not self.writable:
            reason = "the host's policy lets nobody write here; register one with writable=True"
            raise PathRefused(path, reason)
        try:
            with self._confined.place(self.roots[0], path, follow=follow, make=make) as place:
                if writes and place.is_root:
                    _must_exist(place)  # its name stands outside
                yield place
        except FileNotFoundError as error:
            raise FileNotInEnvironment(self.provider_id, path) from error
        except OSError as error:
            reason = error.strerror or str(error)
            if error.errno in _OF_PATHS:
                raise PathRefused(path, reason) from error
            raise StorageFailed(path, "use", reason) from error


def _opened(place: Place, flags: int) -> int:
    """Open a file and nothing else: looking at a device or a pipe first, as opening may act."""
    if place.found is not None and not stat.S_ISREG(place.found.st_mode):
        raise PathRefused(place.asked, "it is no file")
    opened = os.open(place.name, flags | FILE, 0o666, dir_fd=place.directory)
    if stat.S_ISREG(os.fstat(opened).st_mode):
        return opened
    os.close(opened)
    raise PathRefused(place.asked, "it is no file")


def _must_exist(place: Place) -> os.stat_result:
    if place.found is None:
        raise FileNotFoundError(place.name)
    return place.found


def _must_move(place: Place) -> os.stat_result:
    if place.is_root:
        raise PathRefused(place.asked, "it is a root of the environment, which stays where it is")
    return _must_exist(place)


def _pieces(file: BinaryIO, most: int) -> Iterator[bytes]:
    """Read a file in pieces to its end, at most so many bytes."""
    while most > 0 and (piece := file.read(min(most, _PIECE))):
        most -= len(piece)
        yield piece
