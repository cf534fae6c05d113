"""An archive in a directory of this machine: whole files, synced, under their names at once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from pyarrow import fs

from journal.errors import ArchiveBusy
from journal.stores.sqlite_turnstile import HAS_LOCKS
from projections.archive.filesystem import Place
from projections.archive.layout import TEMPORARY

if HAS_LOCKS:
    import fcntl


class LocalPlace(Place):
    """A directory; readable by its owner only, like a journal."""

    def __init__(self, location: str, directory: Path) -> None:
        self._directory = directory.absolute()
        super().__init__(location, fs.LocalFileSystem(), self._directory.as_posix())

    @property
    def directory(self) -> Path | None:
        """The archive as a directory of this machine."""
        return self._directory

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Make the directory where there is none, and keep other writers out; see `Place`."""
        with self.writing(""):
            self._make_folder(self._directory / TEMPORARY)
            descriptor = os.open(self._directory / TEMPORARY, os.O_RDONLY | os.O_CLOEXEC)
        try:
            self._lock(descriptor)
            yield
        finally:
            os.close(descriptor)

    def _lock(self, descriptor: int) -> None:
        if not HAS_LOCKS:
            return
        with self.writing(""):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ArchiveBusy(self.location) from None

    @contextmanager
    def making(self, path: str) -> Iterator[BinaryIO]:
        """Write a file that appears when the block ends; see `Place`."""
        made = self._temporary(path)
        target = self._directory / path
        try:
            with self.writing(path), _private(made) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            with self.writing(path):
                self._make_folder(target.parent)
                made.replace(target)
                _sync(target.parent)
        finally:
            made.unlink(missing_ok=True)

    def create(self, path: str, content: bytes) -> bool:
        """Make a file that is never overwritten; see `Place`."""
        made = self._temporary(path)
        target = self._directory / path
        with self.writing(path):
            try:
                with _private(made) as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                self._make_folder(target.parent)
                return _put(made, target)
            finally:
                made.unlink(missing_ok=True)

    def remove(self, path: str) -> None:
        """Remove a file that counts for nothing; see `Place`."""
        target = self._directory / path
        with self.writing(path):
            target.unlink(missing_ok=True)
            with suppress(OSError):  # others are in it
                target.parent.rmdir()

    def clean(self) -> None:
        """Remove what a writer that was killed left; see `Place`."""
        with self.writing(TEMPORARY):
            for left in (self._directory / TEMPORARY).iterdir():
                if left.is_dir():
                    shutil.rmtree(left)
                else:
                    left.unlink()

    def _temporary(self, path: str) -> Path:
        return self._directory / TEMPORARY / path.replace("/", "-")

    def _make_folder(self, folder: Path) -> None:
        if folder.is_dir():
            return
        self._make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        _sync(folder.parent)


def _private(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb")


def _put(made: Path, target: Path) -> bool:
    """Give a file its name, unless there is one of that name."""
    try:
        os.link(made, target)
    except FileExistsError:
        return False
    except OSError:  # a file system without links; the lock keeps other writers out
        if target.exists():
            return False
        made.replace(target)
    _sync(target.parent)
    return True


def _sync(folder: Path) -> None:
    if os.name == "nt":
        return  # directories cannot be synced there
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
