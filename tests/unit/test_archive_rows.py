"""What is damaged in an archive is an error of the answers that need it; the others come."""

import json

import pytest

from journal import Journal
from journal.errors import (
    ArchiveNotFound,
    DamagedArchive,
    InvalidArchiveLocation,
    NewerArchive,
    StorageFailed,
)
from journal.stores.audit import Wanted
from projections import replay
from projections.archive.files import SegmentFiles
from projections.archive.opened import open_archive
from projections.archive.query import select
from projections.audit import Audit, AuditFilter
from tests.unit.archive_files import DAY, NOON, Clock, archive, journal_at, segments, tell
from tests.unit.four_days import LIMITS, archived, file_of, flip, four_days, on_day, opener, reads


@pytest.fixture
def path(tmp_path, monkeypatch):
    return four_days(tmp_path / "runs.db", monkeypatch)


@pytest.fixture
def place(path):
    return archived(path)


@pytest.fixture
def opened(place):
    """Opens the archive, which is closed at the end."""
    with opener(place) as open_again:
        yield open_again


class TestDamage:
    def test_there_are_four_segments(self, place):
        assert [each.segment for each in segments(place)] == [1, 2, 3, 4]

    @pytest.mark.parametrize("damage", ["missing", "short", "flipped"])
    def test_events_are_missed_by_their_runs_only(self, place, opened, damage):
        file = file_of(place, 2, "events")
        if damage == "missing":
            file.unlink()
        elif damage == "short":
            file.write_bytes(file.read_bytes()[:-1])
        else:
            flip(file, -10)
        archive = opened()
        for run_id in ("day-0", "day-2", "day-3"):
            assert reads(archive, run_id)
        for run_id in ("day-1", "long"):
            with pytest.raises(DamagedArchive) as raised:
                reads(archive, run_id)
            assert raised.value.segment == 2
            assert raised.value.file == file.relative_to(place).as_posix()
        for day in range(4):
            assert list(archive.reading().rows(on_day(day)))
        with pytest.raises(DamagedArchive):
            list(archive.reader.run_ids())
        with pytest.raises(DamagedArchive):
            list(archive.reader.all_events())

    def test_rows_are_missed_by_their_day_only(self, place, opened):
        file_of(place, 3, "rows").unlink()
        rows = opened().reading()
        for day in (0, 1, 3):
            assert list(rows.rows(on_day(day)))
            assert list(rows.usage(on_day(day)))
            assert list(rows.matching(f"day {day}", on_day(day)))
        with pytest.raises(DamagedArchive) as raised:
            list(rows.rows(on_day(2)))
        assert raised.value.segment == 3
        with pytest.raises(DamagedArchive):
            list(rows.rows(Wanted()))
        assert list(rows.timeline("day-1"))
        with pytest.raises(DamagedArchive):
            list(rows.timeline("long"))
        assert {each.run_id for each in rows.runs()} == {"long", *(f"day-{d}" for d in range(4))}

    def test_usage_of_one_day_needs_no_other(self, place, opened):
        rows = opened().reading()
        everything = set(rows.usage(Wanted()))
        for number in (1, 2, 4):
            file_of(place, number, "rows").unlink()
        midnight = NOON + 2 * DAY - DAY // 2
        asked = Wanted(since=midnight, until=midnight + DAY)
        [day] = {part.day for part in opened().reading().usage(asked)}
        left = {part for part in everything if part.day == day}
        assert set(opened().reading().usage(asked)) == left
        assert left
        with pytest.raises(DamagedArchive):
            list(opened().reading().usage(Wanted()))

    def test_sums_that_were_interrupted_are_made_again(self, opened, monkeypatch):
        rows = opened().reading()
        with monkeypatch.context() as patch:

            def interrupted(*_):
                raise KeyboardInterrupt

            patch.setattr(SegmentFiles, "keep_all", interrupted)
            with pytest.raises(KeyboardInterrupt):
                list(rows.usage(Wanted()))
        found = list(rows.usage(Wanted()))
        assert found
        assert set(found) == set(opened().reading().usage(Wanted()))

    def test_without_a_catalogue_the_events_tell_whose_they_are(self, place, opened):
        flip(file_of(place, 2, "runs"), 100)
        archive = opened()
        for run_id in ("day-0", "day-1", "day-2", "day-3", "long"):
            assert reads(archive, run_id)
        assert list(archive.reading().timeline("day-1"))
        assert archive.reading().facts(["long", "day-3"])
        with pytest.raises(DamagedArchive):
            archive.reading().facts(["day-1"])
        with pytest.raises(DamagedArchive):
            list(archive.reading().runs())

    def test_a_segment_that_tells_nothing_is_missed_by_runs_that_may_be_in_it(self, place, opened):
        for kind in ("events", "runs"):
            file_of(place, 2, kind).unlink()
        archive = opened()
        # These begin after it; this one goes on in it; and these may.
        assert reads(archive, "day-2")
        assert reads(archive, "day-3")
        for run_id in ("long", "day-1", "day-0", "never heard of"):
            with pytest.raises(DamagedArchive) as raised:
                archive.reader.head(run_id)
            assert raised.value.segment == 2

    def test_a_newer_segment_is_an_error_of_what_needs_it(self, place, opened):
        manifest = place / "segments/00000002.json"
        manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"schema_version": 2}))
        archive = opened()
        assert archive.faults[0].segment == 2
        assert reads(archive, "day-0")
        for run_id in ("day-1", "long"):
            with pytest.raises(NewerArchive):
                reads(archive, run_id)
        rows = archive.reading()
        assert list(rows.rows(on_day(0)))
        with pytest.raises(NewerArchive):
            list(rows.rows(on_day(1)))

    @pytest.mark.parametrize("content", [None, b"{}", b"", b"\xff"])
    def test_a_lost_manifest_is_an_error_of_what_needs_it(self, place, opened, content):
        manifest = place / "segments/00000002.json"
        if content is None:
            manifest.unlink()
        else:
            manifest.write_bytes(content)
        archive = opened()
        assert reads(archive, "day-0")
        assert list(archive.reading().rows(on_day(0)))
        for answer in (
            lambda: reads(archive, "long"),
            lambda: list(archive.reading().rows(on_day(1))),
        ):
            with pytest.raises(DamagedArchive) as raised:
                answer()
            assert raised.value.segment == 2

    def test_where_nothing_tells_the_days_of_a_segment_any_day_may_need_it(self, place, opened):
        file_of(place, 2, "rows").unlink()
        (place / "segments/00000002.json").write_bytes(b"{}")
        with pytest.raises(DamagedArchive):
            list(opened().reading().rows(on_day(0)))

    def test_no_manifest_at_all_is_said_at_once(self, place):
        for manifest in (place / "segments").iterdir():
            manifest.write_bytes(b"{}")
        with pytest.raises(DamagedArchive):
            open_archive(place)

    def test_a_file_that_fails_though_it_is_right_is_no_damage(self, place, opened):
        archive = opened()
        with pytest.raises(StorageFailed):
            archive.files.ask("rows", archive.catalogue.parts, "SELECT nothing FROM source")

    def test_what_is_no_archive_is_said(self, tmp_path):
        with pytest.raises(ArchiveNotFound):
            open_archive(tmp_path / "nowhere")
        for location in ("", "nosuch://x", "file://host/x"):
            with pytest.raises(InvalidArchiveLocation):
                open_archive(location)


class TestPlaces:
    @pytest.mark.parametrize("name", ["pl'ace", "a [b] *?c", "ünï {1..2}", "day=1"])
    def test_an_archive_may_be_anywhere(self, path, name):
        place = path.parent / name / "archive"
        archive(path, place)
        with open_archive(place) as made, open_archive(place.as_uri()) as by_url:
            for each in (made, by_url):
                assert reads(each, "long")
                assert list(each.reading().rows(on_day(1)))
                query = select(each, None, "SELECT count(*) FROM rows", **LIMITS)
                assert next(iter(query.rows))[0] > 0

    def test_a_place_that_pyarrow_reads_gives_the_same(self, path, place, monkeypatch):
        with open_archive(place) as local:
            expected = answers(local)
        monkeypatch.setattr(
            "projections.archive.local_place.LocalPlace.directory", property(lambda _: None)
        )
        with open_archive(place) as remote:
            assert remote.files.place.directory is None
            assert answers(remote) == expected

    def test_nothing_is_written(self, place):
        before = {each: each.stat().st_mtime_ns for each in place.rglob("*")}
        with open_archive(place) as archive:
            answers(archive)
        assert {each: each.stat().st_mtime_ns for each in place.rglob("*")} == before


def answers(archive):
    """A little of everything."""
    audit = Audit(None, archive)
    rows = archive.reading()
    return [
        [json.dumps(replay(archive, run_id).to_json()) for run_id in archive.reader.run_ids()],
        [each.position for each in archive.reader.all_events()],
        [each.to_json() for each in audit.tools()],
        [each.to_json() for each in audit.usage(by=["session", "day"])],
        [each.to_json() for each in audit.search("said on")],
        [each.to_json() for each in audit.timeline("long")],
        [each.to_json() for each in audit.gaps()],
        list(rows.runs()),
        list(rows.open_calls(Wanted())),
        list(select(archive, None, "SELECT * FROM calls ORDER BY ALL", **LIMITS).rows),
        archive.reader.find("long", 7),
    ]


def test_hostile_filters_are_data(place, opened):
    rows = opened().reading()
    for text in ("' OR 1=1 --", "%", "_", '"', "\0", "$1", "?", "long'; DROP TABLE x"):
        assert list(rows.rows(Wanted(run_id=text))) == []
        assert list(rows.rows(Wanted(session_id=text))) == []
        assert list(rows.rows(Wanted(tool=text, kinds=[text], statuses=[text]))) == []
        assert list(rows.timeline(text)) == []
        assert rows.facts([text]) == {}
        assert rows.calls([(text, text), ("long", text)]) == []
        assert rows.on_trace(text) == []
        assert list(Audit(None, opened()).search(f"{text} zebra")) == []


def test_regular_expressions_in_a_phrase_are_words(path, monkeypatch):
    place = path.parent / "words"
    with (
        journal_at(path, monkeypatch, Clock(NOON + 9 * DAY)) as journal,
        journal.run("phrases", session_id="s") as run,
    ):
        tell(run, text="Straße (a|b)* [x] K\u212aelvin ﬁle İstanbul 日本語です")
    archive(path, place)
    with open_archive(place) as made, Journal.open(path) as journal:
        for phrase in (
            "a b", "(a|b)*", "[x]", "STRASSE", "strasse", "straße", "kkelvin", "file", "FILE",
            "istanbul", "İstanbul", "本語", "日 本", "語です", "a b x", "b a",
        ):  # fmt: skip
            live = [each.to_json() for each in Audit(journal).search(phrase)]
            assert [each.to_json() for each in Audit(None, made).search(phrase)] == live
        assert [each.to_json() for each in Audit(None, made).search("a b x")]
        assert not list(Audit(None, made).search("b a"))


def test_an_open_archive_asks_by_time(place, opened):
    audit = Audit(None, opened())
    asked = AuditFilter(since=NOON + DAY, until=NOON + 2 * DAY)
    assert {each.run_id for each in audit.tools(asked)} == {"day-1", "long"}
