"""A local environment of the runtime that nothing leads out of."""

from __future__ import annotations

import asyncio
import builtins
import stat
from typing import Any

from starweaver.environment import PythonEnvironmentProvider

from journal.environment import LocalProvider


class GuardedLocalEnvironment(PythonEnvironmentProvider):  # type: ignore[misc] # not typed
    """Files of this machine for the runtime, through a `LocalProvider`; no shell.

    The verbs and their arguments are the runtime's.
    """

    def __init__(self, local: LocalProvider) -> None:
        super().__init__(id=local.provider_id)
        self._local = local

    async def read_text(self, path: str) -> str:
        """Give a text file's content."""
        return await asyncio.to_thread(self._local.read_text, path)

    async def read_bytes(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        """Give a part of a file's content, in bytes."""
        return await asyncio.to_thread(self._local.read_bytes, path, offset, length)

    async def write_text(self, path: str, content: str) -> None:
        """Make or replace a text file."""
        await asyncio.to_thread(self._local.write_text, path, content)

    async def create_dir(self, path: str, parents: bool = True) -> None:  # noqa: FBT001, FBT002
        """Make a directory."""
        await asyncio.to_thread(self._local.create_dir, path, parents=parents)

    async def delete_path(self, path: str, recursive: bool = False) -> None:  # noqa: FBT001, FBT002
        """Remove a file, a link or a directory."""
        await asyncio.to_thread(self._local.delete, path, recursive=recursive)

    async def move_path(
        self,
        src: str,
        dst: str,
        overwrite: bool = False,  # noqa: FBT001, FBT002
    ) -> None:
        """Give a file, a link or a directory another path."""
        await asyncio.to_thread(self._local.move, src, dst, overwrite=overwrite)

    async def copy_path(
        self,
        src: str,
        dst: str,
        overwrite: bool = False,  # noqa: FBT001, FBT002
    ) -> None:
        """Copy a file."""
        await asyncio.to_thread(self._local.copy, src, dst, overwrite=overwrite)

    async def stat(self, path: str) -> dict[str, Any]:
        """Tell what is at a path: sizes in bytes, times in seconds since 1970."""
        found = await asyncio.to_thread(self._local.stat, path)
        is_file = stat.S_ISREG(found.st_mode)
        return {
            "size": found.st_size if is_file else 0,
            "is_file": is_file,
            "is_dir": stat.S_ISDIR(found.st_mode),
            "modified_unix_seconds": int(found.st_mtime),
        }

    async def list(self, path: str = "") -> builtins.list[str]:
        """Give the names in a directory."""
        return await asyncio.to_thread(self._local.names, path)

    async def run_shell(self, _command: Any) -> dict[str, Any]:
        """Refuse: a policy about paths does not hold a program.

        Raises:
            PermissionError: always.
        """
        raise PermissionError("a restored local environment has no shell")

    async def export_state(self) -> dict[str, Any]:
        """Give the state that it was restored from."""
        return self._local.export_state()
