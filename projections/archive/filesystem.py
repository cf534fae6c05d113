"""Where an archive is: a directory, or a place that pyarrow knows by a URL such as s3://."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from pyarrow import fs

from journal.errors import InvalidArchiveLocation, JournalError, StorageFailed
from journal.stores.sqlite_errors import explain

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://.*", re.DOTALL)
_NOT_FOUND = (FileNotFoundError, NotADirectoryError)


class Place(ABC):
    """The files of an archive, by their paths relative to it, always with slashes."""

    def __init__(self, location: str, filesystem: Any, root: str) -> None:
        """Look at an archive, which need not exist.

        Args:
            location: as the user named it, for messages.
            filesystem: of pyarrow.
            root: path of the archive in the file system.
        """
        self.location = location
        self.filesystem = filesystem
        self.root = root.rstrip("/") or root

    @property
    @abstractmethod
    def directory(self) -> Path | None:
        """The archive as a directory of this machine; None where it is elsewhere."""

    def full(self, path: str) -> str:
        """Give the path of a file in `filesystem`."""
        return f"{self.root}/{path}"

    def exists(self) -> bool:
        """Tell whether anything is there.

        Raises:
            StorageFailed: it cannot be looked at.
        """
        with self.reading(""):
            found = self.filesystem.get_file_info(self.root)
        return bool(found.type != fs.FileType.NotFound)

    def names(self, folder: str) -> list[str]:
        """List the files in a folder and below, sorted; without what is hidden.

        Raises:
            StorageFailed: it cannot be listed.
        """
        base = self.full(folder) if folder else self.root
        selector = fs.FileSelector(base, allow_not_found=True, recursive=True)
        with self.reading(folder):
            found = self.filesystem.get_file_info(selector)
        files = (each.path for each in found if each.type != fs.FileType.Directory)
        names = (each[each.index(self.root) + len(self.root) + 1 :] for each in files)
        return sorted(name for name in names if "/." not in f"/{name}")

    def size(self, path: str) -> int | None:
        """Tell the bytes of a file; None where there is no such file.

        Raises:
            StorageFailed: it cannot be looked at.
        """
        with self.reading(path):
            found = self.filesystem.get_file_info(self.full(path))
        return found.size if found.type == fs.FileType.File else None

    def read(self, path: str) -> bytes | None:
        """Give a file's bytes; None where there is no such file.

        Raises:
            StorageFailed: it cannot be read.
        """
        with self.reading(path):
            try:
                with self.filesystem.open_input_stream(self.full(path)) as file:
                    content: bytes = file.read()
            except _NOT_FOUND:
                return None
        return content

    def open(self, path: str) -> Any:
        """Open a file of pyarrow's to read anywhere in it; None where there is no such file.

        Raises:
            StorageFailed: it cannot be opened.
        """
        with self.reading(path):
            try:
                return self.filesystem.open_input_file(self.full(path))
            except _NOT_FOUND:
                return None

    @contextmanager
    def reading(self, path: str) -> Iterator[None]:
        """Raise the journal's errors in place of pyarrow's and the system's.

        Raises:
            StorageFailed: in place of them.
        """
        try:
            yield
        except (OSError, pa.ArrowException) as error:
            reason = _reason(error)
            raise StorageFailed(self._named(path), "read", reason) from error

    @contextmanager
    def writing(self, path: str) -> Iterator[None]:
        """Do the same where something is written.

        Raises:
            DiskFull, ReadOnly, StorageFailed: in place of them.
        """
        try:
            yield
        except OSError as error:
            raise self._explained(error, path) from error
        except pa.ArrowException as error:
            raise StorageFailed(self._named(path), "write", _reason(error)) from error

    @abstractmethod
    def locked(self) -> AbstractContextManager[None]:
        """Make the archive's folder where there is none, and keep other writers out.

        Raises:
            ArchiveBusy: another process writes it.
            DiskFull, ReadOnly, StorageFailed: it cannot be made.
        """

    @abstractmethod
    def making(self, path: str) -> AbstractContextManager[BinaryIO]:
        """Write a file that appears when the block ends, whole and synced, or not at all.

        It replaces one of that name: a file that no manifest names counts for nothing.

        Raises:
            DiskFull, ReadOnly, StorageFailed: it cannot be written.
        """

    @abstractmethod
    def create(self, path: str, content: bytes) -> bool:
        """Make a file that is never overwritten; it is synced, and so are all made before.

        Returns:
            False where there is one of that name already, which stays as it is.

        Raises:
            DiskFull, ReadOnly, StorageFailed: it cannot be written.
        """

    @abstractmethod
    def remove(self, path: str) -> None:
        """Remove a file that counts for nothing; none does nothing.

        Raises:
            ReadOnly, StorageFailed: it cannot be removed.
        """

    @abstractmethod
    def clean(self) -> None:
        """Remove what a writer that was killed left of unfinished files.

        Raises:
            ReadOnly, StorageFailed: it cannot be removed.
        """

    def _named(self, path: str) -> str:
        return f"{self.location}/{path}" if path else self.location

    def _explained(self, error: OSError, path: str) -> JournalError:
        if error.errno is None:
            return StorageFailed(self._named(path), "write", _reason(error))
        return explain(error, location=self._named(path), operation="write")


def find_place(location: str | os.PathLike[str]) -> Place:
    """Find where an archive is, or is to be; nothing is made.

    Args:
        location: a path, a file:// URL, or another URL that pyarrow knows, such as s3://.

    Raises:
        InvalidArchiveLocation: it names no place.
    """
    from projections.archive.local_place import LocalPlace  # noqa: PLC0415 - it builds on this
    from projections.archive.remote_place import RemotePlace  # noqa: PLC0415

    named = os.fspath(location)
    if not isinstance(named, str) or not named.strip() or "\0" in named:
        raise InvalidArchiveLocation(str(named), "it names no directory")
    url = _SCHEME.fullmatch(named)
    if not isinstance(location, str) or url is None:
        return LocalPlace(named, _absolute(named, Path(named)))
    if url[1].lower() == "file":
        return LocalPlace(named, _absolute(named, _local_path(named)))
    try:
        filesystem, root = fs.FileSystem.from_uri(named)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise InvalidArchiveLocation(named, _reason(error)) from error
    if not root:
        raise InvalidArchiveLocation(named, "it names no directory")
    return RemotePlace(named, filesystem, root)


def _local_path(url: str) -> Path:
    parts = urlsplit(url)
    if parts.netloc not in {"", "localhost"} or not parts.path or parts.query or parts.fragment:
        raise InvalidArchiveLocation(url, "write it as file:///directory")
    return Path(unquote(parts.path, errors="surrogateescape"))


def _absolute(named: str, directory: Path) -> Path:
    """Make a path absolute; neither pyarrow nor DuckDB opens one that is not UTF-8."""
    path = directory.absolute()
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise InvalidArchiveLocation(named, "the path is not UTF-8; rename it") from error
    return path


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return " ".join(str(error).split())
