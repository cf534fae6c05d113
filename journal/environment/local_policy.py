"""What the host lets a restored local environment reach on this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from journal.environment.confined import Confined
from journal.errors import InvalidRecord, PathRefused, brief
from journal.json_door import JSON
from journal.records import EnvironmentState
from journal.records.checks import shown

NEEDED = "a list of absolute paths is needed"


class LocalPolicy:
    """Directories of this machine that the host allows, and whether to write there.

    The directories are looked up once, here; links among their own names are followed then,
    and never again. A state that wants any other directory is refused as a whole.
    """

    def __init__(
        self, allowed_roots: Sequence[str | os.PathLike[str]], *, writable: bool = False
    ) -> None:
        """Allow directories.

        Args:
            allowed_roots: directories that there are; what is below them is allowed, too.
            writable: also to write; reading is always allowed.

        Raises:
            PathRefused: one is no directory.
        """
        self.writable = writable
        paths = [os.fspath(root) for root in allowed_roots]
        roots = [_real(path) for path in paths]
        for path, root in zip(paths, roots, strict=True):
            _must_be_directory(path, root)
        self._allowed = Confined(roots)

    @property
    def allowed_roots(self) -> tuple[str, ...]:
        """The directories, as absolute paths without links."""
        return self._allowed.roots

    def roots_of(self, state: EnvironmentState) -> tuple[str, ...]:
        """Find the directories that a state's environment reaches, its own root first.

        They are `metadata.root` and `metadata.allowed_paths`, as the host of the state
        exported them.

        Returns:
            Absolute paths without links.

        Raises:
            InvalidRecord: the state has no root, or what it has is no path.
            PathRefused: one of them is no directory here, or outside of what is allowed.
        """
        what = f"environment {brief(state.provider_id)}"
        others = state.metadata.get("allowed_paths")
        if others is None:
            others = []
        if type(others) is not list:
            reason = f"{NEEDED}, found {shown(others)}"
            raise InvalidRecord(what, "$.metadata.allowed_paths", reason)
        roots = [self._root(what, "$.metadata.root", state.metadata.get("root"))]
        for at, path in enumerate(others):
            root = self._root(what, f"$.metadata.allowed_paths[{at}]", path)
            if root not in roots:
                roots.append(root)
        return tuple(roots)

    def _root(self, what: str, place: str, path: JSON) -> str:
        if type(path) is not str or not path.startswith("/"):
            raise InvalidRecord(what, place, f"an absolute path is needed, found {shown(path)}")
        root = _real(path)
        if not self._allowed.holds(root):  # told first: nothing is told of what is elsewhere
            allowed = ", ".join(self.allowed_roots)
            reason = f"{what} wants it, and the host's policy allows {allowed} only"
            raise PathRefused(path, reason)
        _must_be_directory(path, root)
        return root


def _real(path: str) -> str:
    if not path:
        raise PathRefused(path, "it is empty; name the working directory with a dot")
    if "\0" in path:
        raise PathRefused(path, "it has a NUL character")
    try:
        return os.path.realpath(path)
    except (OSError, UnicodeError) as error:
        raise PathRefused(path, f"it cannot be looked up: {error}") from error


def _must_be_directory(path: str, real: str) -> None:
    try:
        is_directory = Path(real).is_dir()
    except OSError as error:
        raise PathRefused(path, error.strerror or str(error)) from error
    if not is_directory:
        raise PathRefused(path, "it is no directory, so it cannot be a root")
