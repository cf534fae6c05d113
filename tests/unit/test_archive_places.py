"""An archive is made in a directory or by a URL, of whole files that are never overwritten."""

import pytest
from pyarrow import fs

from journal import Journal
from journal.errors import StorageFailed
from journal.stores.sqlite_errors import explain
from projections.archive import writing
from projections.archive.filesystem import find_place
from projections.archive.local_place import LocalPlace
from projections.archive.remote_place import RemotePlace
from projections.archive.verify import verify
from tests.unit.archive_files import EVER, archive, archived, stored, three_days


@pytest.fixture(params=["directory", "elsewhere", "in memory"])
def place(request, tmp_path):
    if request.param == "directory":
        return LocalPlace(str(tmp_path / "a"), tmp_path / "a")
    if request.param == "elsewhere":
        return RemotePlace("elsewhere://a", fs.LocalFileSystem(), str(tmp_path / "a"))
    return RemotePlace("mock://a", fs._MockFileSystem(), "bucket/a")


def write(place, path, content):
    with place.making(path) as file:
        file.write(content)


def test_what_is_written_is_read(place):
    assert not place.exists()
    assert (place.read("events/a"), place.size("events/a"), place.open("events/a")) == (None,) * 3
    assert place.names("events") == []
    with place.locked():
        write(place, "events/day=1/a", b"abc")
        write(place, "events/b", b"")
        assert place.names("events") == ["events/b", "events/day=1/a"]
        assert place.names("") == ["events/b", "events/day=1/a"]
        assert (place.read("events/day=1/a"), place.size("events/day=1/a")) == (b"abc", 3)
        with place.open("events/day=1/a") as file:
            file.seek(1)
            assert file.read() == b"bc"
        assert place.exists()


def test_a_file_that_counts_is_never_overwritten(place):
    with place.locked():
        assert place.create("segments/1", b"one") is True
        assert place.create("segments/1", b"two") is False
        assert place.read("segments/1") == b"one"
        assert place.names("segments") == ["segments/1"]


def test_a_file_whose_writing_fails_never_appears(place):
    with place.locked():
        write(place, "events/b", b"first")

        def broken(path):
            with place.making(path) as file:
                file.write(b"half")
                raise KeyboardInterrupt

        for path in ("events/a", "events/b"):
            with pytest.raises(KeyboardInterrupt):
                broken(path)
        assert place.names("") == ["events/b"]
        assert place.read("events/b") == b"first"
        write(place, "events/b", b"second")
        assert place.read("events/b") == b"second"


def test_removing_removes_once(place):
    with place.locked():
        write(place, "events/day=1/a", b"abc")
        place.remove("events/day=1/a")
        place.remove("events/day=1/a")
        place.clean()
        assert place.names("") == []


def test_a_file_in_the_place_of_a_folder_is_told(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    place = LocalPlace("a", tmp_path / "a")
    with pytest.raises(StorageFailed, match="cannot write a"), place.locked():
        pass


def test_a_failure_of_the_system_has_its_reason():
    error = explain(OSError(5, "Input/output error"), location="a", operation="write")
    assert isinstance(error, StorageFailed)


@pytest.mark.parametrize("url", ["file://{}", "file://localhost{}"])
def test_a_file_url_is_a_directory(tmp_path, url):
    place = find_place(url.format(tmp_path / "a%20b"))
    assert place.directory == tmp_path / "a b"
    assert place.location.endswith("a%20b")


def test_a_path_is_taken_literally(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert find_place("a%20b").directory == tmp_path / "a%20b"
    assert find_place(tmp_path / "s3:" / "x").directory == tmp_path / "s3:" / "x"


def test_an_archive_elsewhere_is_the_same(tmp_path, monkeypatch):
    path = three_days(tmp_path / "runs.db", monkeypatch, runs=2)
    archive(path, tmp_path / "here")
    place = RemotePlace("elsewhere://a", fs.LocalFileSystem(), str(tmp_path / "a"))
    monkeypatch.setattr(writing, "find_place", lambda _: place)
    with Journal.open(path, create=False) as journal:
        written = writing.write_archive(journal, "elsewhere://a", before=EVER)
        again = writing.write_archive(journal, "elsewhere://a", before=EVER)
    assert written.location == "elsewhere://a"
    assert again.segments == ()
    assert archived(tmp_path / "a") == archived(tmp_path / "here") == stored(path)
    assert verify(tmp_path / "a").findings == ()
