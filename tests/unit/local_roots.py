"""Directories for local environments, with something outside that nobody may reach."""

from contextlib import contextmanager
from pathlib import Path

from journal.records import EnvironmentState

SECRET = "SECRET"


def listed(directory):
    return sorted(one.name for one in Path(directory).iterdir())


def state(root, **metadata):
    metadata = {"provider_kind": "local", "root": str(root), **metadata}
    return EnvironmentState(provider_id="ws", metadata=metadata)


def attempts(local, path):
    """Every way to reach a path."""
    return {
        "read": lambda: local.read_text(path),
        "write": lambda: local.write_text(path, "W"),
        "names": lambda: local.names(path),
        "stat": lambda: local.stat(path),
        "create_dir": lambda: local.create_dir(path),
        "create_one_dir": lambda: local.create_dir(path, parents=False),
        "delete": lambda: local.delete(path),
        "delete_all": lambda: local.delete(path, recursive=True),
        "move_from": lambda: local.move(path, "moved"),
        "move_to": lambda: local.move("sub/f", path, overwrite=True),
        "copy_from": lambda: local.copy(path, "copied"),
        "copy_to": lambda: local.copy("sub/f", path, overwrite=True),
    }


@contextmanager
def guarded_top(tmp_path):
    """A root with a file in a directory, and outside of it a secret that must stay as it is."""
    (tmp_path / "root" / "sub").mkdir(parents=True)
    (tmp_path / "root" / "sub" / "f").write_text("F")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "f").write_text(SECRET)
    before = listed(tmp_path)
    yield
    assert (tmp_path / "out" / "f").read_text() == SECRET
    assert listed(tmp_path / "out") == ["f"]
    assert listed(tmp_path) == before
