"""Verifying an archive names every segment and file that is wrong; the others still count."""

import json
import shutil
from hashlib import sha256

import pyarrow.parquet as pq
import pytest

from journal import Journal
from journal.dropping import InArchive
from journal.errors import (
    ArchiveIncomplete,
    ArchiveNotFound,
    ArchiveOfAnotherJournal,
    InvalidArchiveLocation,
)
from journal.events import ArchivedSegment
from journal.findings import Severity
from journal.ids import Version
from journal.stores.interface import StoredEvent
from projections.archive.filesystem import find_place
from projections.archive.layout import KINDS
from projections.archive.manifest import ArchiveSegment
from projections.archive.verify import verify
from tests.unit import archive_files
from tests.unit.archive_files import Clock, archive, journal_at, segments, stored, tell, three_days
from tests.unit.care_files import behind_the_guards, rewrite


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        three_days(folder / "runs.db", patch)
    archive(folder / "runs.db", folder / "archive")
    return folder


@pytest.fixture
def path(made, tmp_path):
    return shutil.copy(made / "runs.db", tmp_path / "runs.db")


@pytest.fixture
def to(made, tmp_path):
    shutil.copytree(made / "archive", tmp_path / "archive")
    return tmp_path / "archive"


def found(to, **options):
    """What a verification finds, each as code, segment and file; it changes nothing."""
    before = archive_files.files(to)
    verified = verify(to, **options)
    assert archive_files.files(to) == before
    assert verified.is_sound is not any(
        each.severity is Severity.WRONG for each in verified.findings
    )
    return [(each.code, each.segment, each.file) for each in verified.findings]


def test_nothing_is_wrong_with_an_archive_as_it_was_written(path, to):
    verified = verify(to)
    assert verified.is_sound
    assert verified.findings == ()
    assert (verified.segments, verified.events) == (3, len(stored(path)))
    assert verified.bytes == sum(each.bytes for one in segments(to) for each in one.files)
    with Journal.open(path) as journal:
        again = verify(to, journal=journal)
    assert (again.is_sound, again.compared) == (True, verified.events)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_a_flipped_bit_is_found_wherever_it_is(to, kind, place):
    name = segments(to)[1].file(kind).path
    content = bytearray((to / name).read_bytes())
    content[int(place * (len(content) - 1))] ^= 0x10
    (to / name).write_bytes(content)
    assert found(to) == [("file.changed", 2, name)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("change", ["removed", "cut", "longer", "empty", "folder"])
def test_a_file_that_is_not_as_it_was_is_found(to, kind, change):
    name = segments(to)[0].file(kind).path
    content = (to / name).read_bytes()
    (to / name).unlink()
    if change == "folder":
        (to / name).mkdir()
    elif change != "removed":
        changed = {"cut": content[:-1], "longer": content + b"\0", "empty": b""}[change]
        (to / name).write_bytes(changed)
    codes = {"removed": "file.missing", "folder": "file.unreadable"}
    assert found(to) == [(codes.get(change, "file.changed"), 1, name)]


def test_every_fault_is_found_and_the_rest_still_counts(to, made):
    first, second, third = segments(to)
    (to / first.file("events").path).unlink()
    shutil.copy(to / first.file("rows").path, to / second.file("rows").path)
    (to / "segments/00000003.json").write_bytes(b"{}")
    assert found(to) == [
        ("file.missing", 1, first.file("events").path),
        ("file.changed", 2, second.file("rows").path),
        ("manifest.damaged", 3, "segments/00000003.json"),
    ]
    verified = verify(to)
    assert verified.events == first.events + second.events
    assert third.segment == 3


def test_a_missing_manifest_is_found_and_its_files_are_not_left_overs(to):
    (to / "segments/00000002.json").unlink()
    assert found(to) == [("manifest.damaged", 2, "segments/00000002.json")]
    assert "is missing" in verify(to).findings[0].what


def test_segments_missing_between_are_found_at_once(to):
    for number in (1, 2):
        (to / f"segments/{number:08}.json").unlink()
    assert found(to) == [("manifest.damaged", 1, "segments/00000001.json")]
    assert "up to segment 2" in verify(to).findings[0].what


def test_a_changed_manifest_breaks_the_chain_after_it(to):
    manifest = to / "segments/00000002.json"
    manifest.write_bytes(manifest.read_bytes().replace(b'"created_at": 1', b'"created_at": 2'))
    assert found(to) == [("manifest.damaged", 3, "segments/00000003.json")]
    assert "names another SHA-256 than that of segment 2" in verify(to).findings[0].what


def test_a_newer_segment_is_named_and_the_others_are_examined(to):
    manifest = to / "segments/00000002.json"
    body = json.loads(manifest.read_bytes()) | {"schema_version": 7, "shape": "unknown"}
    manifest.write_text(json.dumps(body))
    (to / segments(to)[0].file("runs").path).unlink()
    assert [each[:2] for each in found(to)] == [("file.missing", 1), ("segment.newer", 2)]
    assert "schema version 7" in verify(to).findings[1].what


def test_a_manifest_in_the_place_of_another_is_found(to):
    shutil.copy(to / "segments/00000001.json", to / "segments/00000002.json")
    assert ("manifest.damaged", 2, "segments/00000002.json") in found(to)


def test_files_that_no_manifest_names_are_listed_and_nothing_is_wrong(to):
    left = ["events/day=2031-01-01/00000004.parquet", "rows/day=2024-10-04/x.parquet"]
    for name in left:
        (to / name).parent.mkdir(exist_ok=True)
        (to / name).write_bytes(b"half")
    assert found(to) == [("file.left", 4, left[0]), ("file.left", None, left[1])]
    assert verify(to).is_sound
    assert "archiving on removes it" in verify(to).findings[0].what


def resealed(to, number, change):
    """Seal a segment of which a file was written anew, as a faulty program would."""
    segment = segments(to)[number - 1]
    files = []
    for each in segment.files:
        content = (to / each.path).read_bytes()
        rows = pq.read_metadata(to / each.path).num_rows
        files.append(
            {
                "path": each.path, "bytes": len(content), "rows": rows,
                "sha256": sha256(content).hexdigest(),
            }
        )  # fmt: skip
    body = json.loads(segment.to_bytes()) | {"files": files} | change
    kept = {key: value for key, value in body.items() if key not in ("schema", "schema_version")}
    sealed = ArchiveSegment(**kept | {"files": segment.files})
    raw = sealed.to_bytes()
    for old, new in zip(segment.files, files, strict=True):
        raw = raw.replace(old.sha256.encode(), new["sha256"].encode())
        raw = raw.replace(f'"bytes": {old.bytes},'.encode(), f'"bytes": {new["bytes"]},'.encode())
    (to / f"segments/{number:08}.json").write_bytes(raw)


def rewritten(to, kind, change):
    """Write a file of the last segment anew, and its manifest to match."""
    name = to / segments(to)[-1].file(kind).path
    table = pq.read_table(name, partitioning=None)
    pq.write_table(change(table), name, store_schema=False)
    resealed(to, len(segments(to)), {})


def doubled(table):
    return table.take([0, 0, *range(2, table.num_rows)])


def test_events_that_are_not_those_of_the_manifest_are_found(to):
    rewritten(to, "events", doubled)
    name = segments(to)[-1].file("events").path
    assert found(to) == [("file.wrong", 3, name)]
    assert "has not the events" in verify(to).findings[0].what


def test_a_file_with_fewer_rows_than_its_manifest_says_is_found(to):
    rewritten(to, "rows", lambda table: table.slice(1))
    name = segments(to)[-1].file("rows").path
    assert found(to) == [("file.wrong", 3, name)]


def test_a_file_with_other_columns_is_found(to):
    rewritten(to, "runs", lambda table: table.drop_columns(["state"]))
    assert found(to) == [("file.wrong", 3, segments(to)[-1].file("runs").path)]


def test_an_event_that_differs_from_the_journals_is_found(path, to):
    event = next(each for each in stored(path) if b"turn 0" in each.data)
    changed = event.data.replace(b"turn 0", b"turn 1")
    rewrite(path, event.stream, event.version, data=changed, codec=0)
    with Journal.open(path) as journal:
        findings = verify(to, journal=journal).findings
    assert [each.code for each in findings] == ["event.differs"]
    assert findings[0].segment == 1
    assert f"event {event.position} of the journal is another: another data" in findings[0].what


def test_events_that_the_journal_lost_are_found(path, to):
    behind_the_guards(path, "DELETE FROM events WHERE position BETWEEN 5 AND 9")
    with Journal.open(path) as journal:
        findings = verify(to, journal=journal).findings
    assert [(each.code, each.segment) for each in findings] == [("event.differs", 1)]
    assert "lacks event 5 and 4 more" in findings[0].what


@pytest.fixture
def dropped(path, to):
    """The journal, without a run that was dropped into the archive."""
    with Journal.open(path, create=False) as journal:
        journal.set_status("run-0", "completed")
    archive(path, to)
    with Journal.open(path, create=False) as journal:
        version = journal.reader.head("run-0")
        named = [ArchivedSegment(segment=each.segment, sha256=each.sha256) for each in segments(to)]
        there = InArchive(Version(version), journal.reader.journal_id, tuple(named), "completed")
        journal.dropping(["run-0"]).drop("run-0", there)
        assert len(stored(path)) < segments(to)[-1].last_position
        yield journal


def test_events_that_were_dropped_are_not_missed(dropped, to):
    assert found(to, journal=dropped) == []
    assert 0 < verify(to, journal=dropped).compared < verify(to).events


def test_a_last_segment_that_is_missing_is_told_by_the_journal(dropped, to):
    last = segments(to)[-1]
    (to / f"segments/{last.segment:08}.json").unlink()
    for each in last.files:
        (to / each.path).unlink()
    assert found(to) == []
    name = f"segments/{last.segment:08}.json"
    assert found(to, journal=dropped) == [("segment.lost", last.segment, name)]


def test_a_last_segment_that_is_another_is_told_by_the_journal(dropped, to):
    last = segments(to)[-1]
    manifest = to / f"segments/{last.segment:08}.json"
    manifest.write_bytes(manifest.read_bytes().replace(b'"created_at": 1', b'"created_at": 2'))
    assert found(to) == []
    name = f"segments/{last.segment:08}.json"
    assert found(to, journal=dropped) == [("segment.lost", last.segment, name)]


def test_archiving_goes_on_after_a_drop_and_only_with_this_archive(dropped, path, to, tmp_path):
    with dropped.run("later", session_id="s0") as run:
        tell(run)
    before = verify(to).events
    other = tmp_path / "other"
    with pytest.raises(ArchiveIncomplete, match=segments(to)[-1].sha256) as caught:
        archive(path, other)
    assert caught.value.location == str(other)
    archive(path, to)
    assert verify(to).events > before
    assert found(to, journal=dropped) == []


def test_the_journal_of_another_archive_is_refused(to, tmp_path, monkeypatch):
    with journal_at(tmp_path / "other.db", monkeypatch, Clock()) as other:
        with other.run("r", session_id="s") as run:
            tell(run)
        with pytest.raises(ArchiveOfAnotherJournal):
            verify(to, journal=other)


def test_what_is_no_archive_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    for location in (tmp_path / "none", tmp_path / "empty"):
        with pytest.raises(ArchiveNotFound, match="there is no archive at"):
            verify(location)
    with pytest.raises(InvalidArchiveLocation):
        verify("")


def test_progress_tells_the_bytes_and_the_events(path, to):
    told = []
    with Journal.open(path) as journal:
        verified = verify(to, journal=journal, progress=lambda *each: told.append(each))
    last = {what: (done, total) for what, done, total in told}
    assert last == {
        "verify": (verified.bytes, verified.bytes),
        "compare": (verified.events, verified.events),
    }


def test_it_is_the_same_by_url(to):
    assert found(to) == []
    assert verify(to.as_uri()).findings == ()
    assert find_place(to.as_uri()).root == str(to)
    assert StoredEvent._fields[0] == "position"
