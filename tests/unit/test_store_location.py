"""A location is a path or a URL; anything else says what is supported."""

from pathlib import Path, PurePosixPath

import pytest

from journal.errors import InvalidLocation
from journal.stores import open_store
from journal.stores.location import MemoryLocation, SQLiteLocation, parse_location


@pytest.mark.parametrize(
    ("location", "path"),
    [
        ("runs.db", "runs.db"),
        ("./runs.db", "runs.db"),
        ("/var/lib/runs.db", "/var/lib/runs.db"),
        ("a dir/ü?x=1#y%20z.db", "a dir/ü?x=1#y%20z.db"),
        ("a:b.db", "a:b.db"),
        ("C:runs.db", "C:runs.db"),
        ("~/runs.db", "~/runs.db"),
        ("sqlite:///runs.db", "runs.db"),
        ("sqlite:///dir/runs.db", "dir/runs.db"),
        ("sqlite:////var/lib/runs.db", "/var/lib/runs.db"),
        ("SQLite:///runs.db", "runs.db"),
        ("sqlite:///50%25.db", "50%25.db"),
        (Path("runs.db"), "runs.db"),
        (Path("sqlite:/runs.db"), "sqlite:/runs.db"),
        (PurePosixPath("/runs.db"), "/runs.db"),
    ],
)
def test_paths_and_sqlite_urls_name_a_file(location, path):
    assert parse_location(location) == SQLiteLocation(Path(path))
    assert str(parse_location(location)) == path


@pytest.mark.parametrize("location", ["memory://", "MEMORY://"])
def test_memory_names_no_file(location):
    assert parse_location(location) == MemoryLocation()
    assert str(parse_location(location)) == "memory://"


@pytest.mark.parametrize(
    "location",
    [
        "postgresql://localhost/runs",
        "postgres://u:p@h:5432/db",
        "http://example.org/runs.db",
        "file:///runs.db",
        "file:runs.db",
        "s3://bucket/runs.db",
        "sqlite://runs.db",
        "sqlite://host/runs.db",
        "sqlite://",
        "sqlite:///",
        "sqlite:runs.db",
        "sqlite+pysqlite:///runs.db",
        "sqlite:///runs.db?mode=ro",
        "memory://runs",
        "memory:",
        ":memory:",
        "",
        "   ",
        "runs\0.db",
        "sqlite:///runs\0.db",
    ],
)
def test_anything_else_is_refused_by_name(location, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidLocation) as refused:
        open_store(location, create=True)
    assert refused.value.location == location
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("location", ["postgresql://localhost/runs", "", ":memory:", "sqlite://x"])
def test_the_refusal_says_what_is_supported(location):
    with pytest.raises(InvalidLocation, match=r"path, sqlite:///.*, sqlite:////.* or memory://"):
        parse_location(location)


def test_every_memory_journal_is_its_own():
    one, two = (open_store("memory://", create=create) for create in (True, False))
    assert one.location == two.location == "memory://"
    assert one.last_position() == two.last_position() == 0
    assert one is not two


def test_a_url_and_a_path_open_the_same_file(tmp_path):
    path = tmp_path / "runs.db"
    open_store(f"sqlite:///{path}", create=True).close()
    store = open_store(path, create=False)
    assert store.location == str(path)
    store.close()
