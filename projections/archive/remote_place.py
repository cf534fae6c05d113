"""An archive in a place that pyarrow knows by a URL, such as an object store."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, cast

from pyarrow import fs

from projections.archive.filesystem import Place

BLOCK = 1024 * 1024


class RemotePlace(Place):
    """A place without locks and links: only one archiver may be at work on it at a time.

    An object appears when it was written to its end, so that no half file is ever seen. That
    a name is not taken is looked up before it is written: two archivers at the same moment
    could both find it free, and pyarrow has no way to ask for more.
    """

    @property
    def directory(self) -> Path | None:
        """It is no directory of this machine."""
        return None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep nobody out, as there are no locks: the caller must see to it; see `Place`."""
        yield

    @contextmanager
    def making(self, path: str) -> Iterator[BinaryIO]:
        """Write a file that appears when the block ends; see `Place`."""
        with self.writing(path), TemporaryFile() as file:
            yield cast("BinaryIO", file)
            file.seek(0)
            self._put(path, cast("BinaryIO", file))

    def create(self, path: str, content: bytes) -> bool:
        """Make a file that is never overwritten; see `Place`."""
        if self.size(path) is not None:
            return False
        with self.making(path) as file:
            file.write(content)
        return True

    def remove(self, path: str) -> None:
        """Remove a file that counts for nothing; see `Place`."""
        with self.writing(path):
            if self.filesystem.get_file_info(self.full(path)).type == fs.FileType.File:
                self.filesystem.delete_file(self.full(path))

    def clean(self) -> None:
        """Do nothing: what was not written to its end was never there."""

    def _put(self, path: str, file: BinaryIO) -> None:
        full = self.full(path)
        self.filesystem.create_dir(full.rpartition("/")[0], recursive=True)
        with self.filesystem.open_output_stream(full) as target:
            shutil.copyfileobj(file, target, BLOCK)
