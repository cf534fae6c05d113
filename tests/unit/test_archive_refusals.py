"""Archiving refuses what would make a wrong archive, says why, and leaves what is sealed."""

import json
import os
import resource
import shutil
from contextlib import contextmanager

import pytest

from journal import Journal
from journal.errors import (
    ArchiveBusy,
    ArchiveDiffers,
    ArchiveIncomplete,
    ArchiveOfAnotherJournal,
    CorruptEvent,
    DamagedArchive,
    DiskFull,
    InvalidArchiveLocation,
    NewerArchive,
    ReadOnly,
    StorageFailed,
)
from projections.archive import sealing
from projections.archive.filesystem import find_place
from tests.unit import archive_files
from tests.unit.archive_files import (
    EVER,
    HOUR,
    NOON,
    Clock,
    archive,
    archived,
    journal_at,
    segments,
    stored,
    tell,
    three_days,
)
from tests.unit.care_files import behind_the_guards, rewrite
from tests.unit.privileges import public_directory, without_privileges

EVENING = NOON + 4 * HOUR


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A journal, and an archive of its first day."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        three_days(folder / "runs.db", patch)
    archive(folder / "runs.db", folder / "archive", EVENING)
    return folder


@pytest.fixture
def path(made, tmp_path):
    return shutil.copy(made / "runs.db", tmp_path / "runs.db")


@pytest.fixture
def to(made, tmp_path):
    shutil.copytree(made / "archive", tmp_path / "archive")
    return tmp_path / "archive"


@contextmanager
def refused(kind, to, match):
    """Expect an error of archiving, and that it changes no file."""
    before = archive_files.files(to)
    with pytest.raises(kind, match=match) as caught:
        yield caught
    assert archive_files.files(to) == before


def test_the_archive_of_another_journal(tmp_path, to, monkeypatch):
    with journal_at(tmp_path / "other.db", monkeypatch, Clock()) as other:
        with other.run("r", session_id="s") as run:
            tell(run)
        ours = other.reader.journal_id
    with refused(ArchiveOfAnotherJournal, to, "is of the journal") as caught:
        archive(tmp_path / "other.db", to)
    assert caught.value.journal == ours
    assert caught.value.archived == segments(to)[0].journal


def test_a_journal_that_ends_before_the_archive(path, to, made):
    archive(path, to)
    last = len(stored(path))
    behind_the_guards(path, "DELETE FROM events WHERE position > ?", last - 5)
    with refused(ArchiveDiffers, to, f"ends with event {last - 5}"):
        archive(path, to)


def test_a_journal_whose_last_archived_event_is_another(path, to):
    last = archived(to)[-1]
    rewrite(path, last.stream, last.version, recorded_at=last.recorded_at + 1)
    with refused(ArchiveDiffers, to, "another recorded at") as caught:
        archive(path, to)
    assert caught.value.position == last.position


def test_a_journal_that_lacks_the_next_event(path, to):
    last = segments(to)[-1].last_position
    behind_the_guards(path, "DELETE FROM events WHERE position = ?", last + 1)
    with refused(ArchiveIncomplete, to, "no event of the journal tells which") as caught:
        archive(path, to)
    assert (caught.value.first_position, caught.value.last_position) == (last + 1, last + 1)


def test_a_journal_that_lacks_events_and_an_empty_archive(path, tmp_path):
    behind_the_guards(path, "DELETE FROM events WHERE position BETWEEN 2 AND 4")
    with pytest.raises(ArchiveIncomplete, match="lacks the events 2 to 4"):
        archive(path, tmp_path / "empty")
    assert archive_files.files(tmp_path / "empty") == {}


def test_events_lost_in_the_middle_stop_it_after_the_segments_before(path, to):
    events = stored(path)
    at = next(each for each in events if each.recorded_at > NOON + 30 * HOUR).position
    behind_the_guards(path, "DELETE FROM events WHERE position BETWEEN ? AND ?", at, at + 2)
    with pytest.raises(ArchiveIncomplete, match=f"lacks the events {at} to {at + 2}"):
        archive(path, to)
    assert archived(to) == events[: len(archived(to))]


def test_a_damaged_event_is_named_and_what_is_sealed_before_it_stays(path, to):
    events = stored(path)
    damaged = next(
        each for each in events
        if each.recorded_at > NOON + 30 * HOUR and each.name == "stream.recorded.v1"
    )  # fmt: skip
    rewrite(path, damaged.stream, damaged.version, data=b"{", codec=0)
    for _ in range(2):
        with pytest.raises(CorruptEvent) as caught:
            archive(path, to)
        assert (caught.value.stream, caught.value.version) == (damaged.stream, damaged.version)
        assert archived(to) == events[: len(archived(to))]
    rewrite(path, damaged.stream, damaged.version, data=damaged.data, codec=0)
    archive(path, to)
    assert archived(to) == events


def test_a_record_without_a_sequence_is_a_damaged_event(path, to):
    damaged = [each for each in stored(path) if each.name == "stream.recorded.v1"][-1]
    rewrite(path, damaged.stream, damaged.version, data=b'{"record":{"event":{}}}', codec=0)
    with pytest.raises(CorruptEvent) as caught:
        archive(path, to)
    assert (caught.value.stream, caught.value.version) == (damaged.stream, damaged.version)


@pytest.mark.parametrize("number", [1, 2])
def test_a_damaged_manifest_is_named(path, to, number):
    archive(path, to)
    manifest = to / f"segments/{number:08}.json"
    manifest.write_bytes(manifest.read_bytes().replace(b'"rows": ', b'"rows":  ', 1))
    with refused(DamagedArchive, to, f"segments/{number:08}.json is no manifest") as caught:
        archive(path, to)
    assert caught.value.segment == number


def test_a_missing_manifest_is_named(path, to):
    archive(path, to)
    (to / "segments/00000002.json").unlink()
    with refused(DamagedArchive, to, r"segments/00000002\.json is missing"):
        archive(path, to)


def test_a_manifest_that_does_not_follow_is_named(path, to):
    archive(path, to)
    first = to / "segments/00000001.json"
    first.write_bytes(first.read_bytes().replace(b'"created_at": 1', b'"created_at": 2'))
    with refused(DamagedArchive, to, "names another SHA-256 than that of segment 1") as caught:
        archive(path, to)
    assert caught.value.segment == 2


def test_a_newer_manifest_is_named(path, to):
    manifest = to / "segments/00000002.json"
    body = json.loads((to / "segments/00000001.json").read_bytes())
    manifest.write_text(json.dumps(body | {"schema_version": 2, "segment": 2}))
    with refused(NewerArchive, to, "upgrade runjournal") as caught:
        archive(path, to)
    assert (caught.value.segment, caught.value.found, caught.value.known) == (2, 2, 1)


def test_a_catalogue_that_is_needed_and_damaged_is_named(path, to):
    file = to / segments(to)[-1].file("runs").path
    file.write_bytes(file.read_bytes()[:200])
    with refused(DamagedArchive, to, "cannot be read") as caught:
        archive(path, to)
    assert caught.value.file == segments(to)[-1].file("runs").path


@pytest.mark.parametrize("kind", ["events", "runs"])
def test_a_file_that_is_needed_and_missing_is_named(path, to, kind):
    (to / segments(to)[-1].file(kind).path).unlink()
    with refused(DamagedArchive, to, "is missing"):
        archive(path, to)


def test_a_second_archiver_is_refused(path, to):
    with find_place(to).locked(), refused(ArchiveBusy, to, "another process"):
        archive(path, to)
    archive(path, to)
    assert archived(to) == stored(path)


def test_a_segment_that_another_wrote_meanwhile_is_not_touched(path, to, tmp_path, monkeypatch):
    """As it can be in a place without locks."""
    other = tmp_path / "other"
    shutil.copytree(to, other)
    archive(path, other)
    write_file = sealing.write_file

    def late(place, name, table, kind):
        written = write_file(place, name, table, kind)
        shutil.copy(other / "segments/00000002.json", to / "segments/00000002.json")
        shutil.copy(other / name, to / name)
        return written

    monkeypatch.setattr(sealing, "write_file", late)
    with pytest.raises(ArchiveBusy):
        archive(path, to)
    monkeypatch.undo()
    archive(path, to)
    assert archived(to) == stored(path)


@contextmanager
def files_up_to(size):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("size", [0, 3, 500, 2000, 5000])
def test_wherever_there_is_no_room_nothing_of_a_segment_is_left(path, to, size):
    with Journal.open(path, create=False) as journal:
        tables = sum(each.bytes for each in segments(to)[0].files)
        assert tables > size
        with files_up_to(size), refused(DiskFull, to, "cannot write"):
            archive_files.write_archive(journal, to, before=EVER)
        assert list((to / ".tmp").iterdir()) == []
        archive_files.write_archive(journal, to, before=EVER)
    assert archived(to) == stored(path)


@pytest.mark.parametrize("closed", ["segments", "events/day=2024-10-04", ".tmp"])
def test_a_directory_that_cannot_be_written_is_named(made, closed):
    with public_directory() as folder:
        shutil.copy(made / "runs.db", folder / "runs.db")
        shutil.copytree(made / "archive", folder / "archive")
        for each in (folder, *folder.rglob("*")):
            os.chown(each, 65534, 65534) if os.geteuid() == 0 else None
        (folder / "archive" / closed).chmod(0o500)
        with (
            without_privileges(),
            Journal.open(folder / "runs.db", create=False) as journal,
            refused(ReadOnly, folder / "archive", "permission denied"),
        ):
            archive_files.write_archive(journal, folder / "archive", before=EVER)
        (folder / "archive" / closed).chmod(0o700)


def test_a_directory_that_cannot_be_made_is_named(path, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageFailed, match=r"not a directory|file exists"):
        archive(path, tmp_path / "file" / "archive")
    with pytest.raises(StorageFailed):
        archive(path, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b""


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("", "names no directory"),
        ("  ", "names no directory"),
        ("a\0b", "names no directory"),
        ("nosuch://bucket/place", "nosuch"),
        ("file://host/place", "file:///directory"),
        ("file://", "file:///directory"),
        ("file:///place?x=1", "file:///directory"),
        ("a\udcff", "not UTF-8"),
        ("file:///place/\udcff", "not UTF-8"),
        ("file:///place/%ff", "not UTF-8"),
    ],
)
def test_what_names_no_place_is_refused(path, location, reason):
    with pytest.raises(InvalidArchiveLocation, match=reason):
        archive(path, location)


def test_left_overs_of_an_archiver_that_was_killed_are_removed(path, to):
    left = [
        to / "events/day=2024-10-05/00000002.parquet",
        to / "rows/day=2031-01-01/00000007.parquet",
        to / ".tmp/events-day=2024-10-05-00000002.parquet",
    ]
    for each in left:
        each.parent.mkdir(parents=True, exist_ok=True)
        each.write_bytes(b"half")
    other = to / "events/day=2024-10-04/notes.txt"
    other.write_bytes(b"mine")
    archive(path, to, EVENING)
    assert not any(each.exists() for each in left)
    assert not (to / "rows/day=2031-01-01").exists()
    assert other.read_bytes() == b"mine"
    archive(path, to)
    assert archived(to) == stored(path)


def test_a_text_that_cannot_be_a_manifest_is_no_manifest(path, to):
    good = (to / "segments/00000001.json").read_bytes()
    body = json.loads(good)
    first, *others = body["files"]
    for wrong in (
        b"", b"[]", b"{}", b"null", good[:-5], good + b" ",
        *(json.dumps({k: v for k, v in body.items() if k != each}).encode() for each in body),
        *(
            json.dumps(body | change).encode()
            for change in (
                {"schema": "other"}, {"schema_version": "1"}, {"schema_version": 0},
                {"schema_version": True}, {"segment": 3}, {"events": 1.0}, {"journal": ""},
                {"journal": 5}, {"more": 1}, {"day": "2024-10-05"}, {"first_position": 0},
                {"last_position": 10**6}, {"previous": "x"}, {"files": others},
                {"files": [first | {"path": "../../etc/passwd"}, *others]},
                {"files": [first | {"sha256": "0"}, *others]},
                {"files": [first | {"bytes": -1.5}, *others]},
            )
        ),
    ):  # fmt: skip
        (to / "segments/00000001.json").write_bytes(wrong)
        with pytest.raises(DamagedArchive, match=r"00000001\.json is no manifest"):
            archive(path, to)
