"""A virtual environment: files in memory, and what is known of its processes."""

from __future__ import annotations

from collections.abc import Mapping

from journal.environment.restored import Restored
from journal.errors import FileNotInEnvironment, InvalidRecord
from journal.json_door import JSON
from journal.json_text import member
from journal.records import EnvironmentState
from journal.records.checks import shown


class VirtualProvider(Restored):
    """A virtual environment restored from its state; it reaches nothing outside itself.

    A path is the whole name of a file, compared as it is: `a/../b` is another than `b`.
    """

    def __init__(self, state: EnvironmentState) -> None:
        """Take the state's files, processes and resources.

        Raises:
            InvalidRecord: a file's content is no text.
        """
        self._state = state
        self._files = _texts(state.files)

    def paths(self) -> list[str]:
        """Give the paths of its files, in the order of their names."""
        return sorted(self._files)

    def read_text(self, path: str) -> str:
        """Give a file's content.

        Raises:
            FileNotInEnvironment: there is no such file.
        """
        try:
            return self._files[path]
        except KeyError:
            raise FileNotInEnvironment(self.provider_id, path) from None

    def write_text(self, path: str, content: str) -> None:
        """Make or replace a file."""
        self._files[path] = content

    def delete(self, path: str) -> None:
        """Remove a file.

        Raises:
            FileNotInEnvironment: there is no such file.
        """
        self.read_text(path)
        del self._files[path]

    def export_state(self) -> dict[str, JSON]:
        """Give the state as it is now, bare; for `Run.export_environment`."""
        value = self._state.to_json()
        if self._files or "files" in value:
            value["files"] = dict(self._files)
        return value


def _texts(files: Mapping[str, JSON]) -> dict[str, str]:
    for path, content in files.items():
        if type(content) is not str:
            reason = f"a text is needed, found {shown(content)}"
            raise InvalidRecord("virtual environment", member("$.files", path), reason)
    return {path: str(content) for path, content in files.items()}
