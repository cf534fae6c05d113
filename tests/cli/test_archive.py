"""`runjournal archive` writes and verifies archives, and says what is in them."""

import pytest

from journal import Journal
from tests.cli.conftest import PACKAGES, one_line, record_a_run
from tests.unit.archive_files import archived, segments, stored, three_days


@pytest.fixture
def path(tmp_path, monkeypatch):
    return three_days(tmp_path / "runjournal.db", monkeypatch)


def test_a_day_is_archived_and_then_the_rest(cli, path, tmp_path):
    first = cli("archive", "--before", "2024-10-05", "--to", "a")
    assert first.code == 0
    assert "segments     1\n" in first.out
    assert "days         2024-10-04\n" in first.out
    events = stored(path)
    assert f"ends         with event {len(archived(tmp_path / 'a'))} of the journal" in first.out
    rest = cli("archive", "--before", "1h", "--to", "a", "--json").document
    assert rest["schema"] == "runjournal.archive.written"
    assert (rest["segments"], rest["last_position"]) == ([2, 3], len(events))
    assert rest["events"] == len(events) - segments(tmp_path / "a")[0].events
    assert archived(tmp_path / "a") == events


@pytest.mark.parametrize("when", ["2024-10-05T00:00:00Z", "2024-10-05T02:00:00+02:00"])
def test_a_moment_is_read_with_its_zone(cli, path, tmp_path, when):
    assert cli("archive", "--before", when, "--to", "a").code == 0
    assert [each.day for each in segments(tmp_path / "a")] == ["2024-10-04"]


def test_nothing_new_is_said_and_is_no_failure(cli, path, tmp_path):
    cli("archive", "--before", "1d", "--to", "a")
    again = cli("archive", "--before", "2024-10-05", "--to", "a")
    assert again.code == 0
    assert "nothing: all that was stored before 2024-10-05T00:00:00.000000Z is in it" in again.out
    assert cli("archive", "--before", "1d", "--to", "a", "--json").document["segments"] == []


def test_an_archive_by_url(cli, path, tmp_path):
    assert cli("archive", "--before", "1d", "--to", (tmp_path / "a").as_uri()).code == 0
    assert cli("archive", "verify", (tmp_path / "a").as_uri()).code == 0
    assert archived(tmp_path / "a") == stored(path)


def test_a_sound_archive_is_verified(cli, path, tmp_path):
    cli("archive", "--before", "1d", "--to", "a")
    count = len(stored(path))
    for options in ((), ("--against-journal",)):
        done = cli("archive", "verify", "a", *options)
        assert (done.code, done.err) == (0, "")
        assert "nothing wrong" in done.out
        assert f"3 segments, {count} events" in done.out
        assert (f"{count} events with the journal" in done.out) is bool(options)
    path.unlink()
    assert cli("archive", "verify", "a").code == 0


def test_what_is_wrong_is_named_and_fails(cli, path, tmp_path):
    cli("archive", "--before", "1d", "--to", "a")
    _, second, third = segments(tmp_path / "a")
    (tmp_path / "a" / second.file("rows").path).unlink()
    file = tmp_path / "a" / third.file("events").path
    file.write_bytes(file.read_bytes()[:-1] + b"X")
    done = cli("archive", "verify", "a")
    assert done.code == 1
    assert one_line(done, "a: 2 findings are wrong")
    assert f"segment 2, {second.file('rows').path} is missing" in done.out
    assert f"segment 3, {third.file('events').path} has the SHA-256" in done.out
    document = cli("archive", "verify", "a", "--json").document
    assert document["schema"] == "runjournal.archive.verification"
    assert not document["sound"]
    assert [(each["code"], each["segment"], each["file"]) for each in document["findings"]] == [
        ("file.missing", 2, second.file("rows").path),
        ("file.changed", 3, third.file("events").path),
    ]


def test_left_overs_are_listed_and_do_not_fail(cli, path, tmp_path):
    cli("archive", "--before", "1d", "--to", "a")
    left = tmp_path / "a/events/day=2024-10-04/\x1b[31m00000009.parquet"
    left.write_bytes(b"")
    done = cli("archive", "verify", "a")
    assert done.code == 0
    assert "notice  no segment, events/day=2024-10-04/\\x1b[31m00000009.parquet" in done.out


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--before", "1d"),
        ("--to", "a"),
        ("--before", "1d", "--to", "a", "verify", "a"),
    ],
)
def test_wrong_usage(cli, path, tmp_path, arguments):
    assert cli("archive", *arguments).code == 2
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(
    "when", ["yesterday", "2024-10-05T00:00:00", "", "7", "-3d", "1d; DROP TABLE events"]
)
def test_what_is_no_time_is_wrong_usage(cli, path, tmp_path, when):
    done = cli("archive", "--before", when, "--to", "a")
    assert done.code == 2
    assert one_line(done, "expected a time")
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--before", "1d", "--to", "nosuch://a"), "cannot use 'nosuch://a' as an archive"),
        (("--before", "1d", "--to", ""), "names no directory"),
        (("verify", "nowhere"), "there is no archive at nowhere"),
    ],
)
def test_what_cannot_be_done_is_said_on_one_line(cli, path, arguments, reason):
    done = cli("archive", *arguments)
    assert done.code == 1
    assert one_line(done, reason)


def test_no_journal_is_made_where_there_is_none(cli, tmp_path):
    done = cli("archive", "--before", "1d", "--to", "a")
    assert one_line(done, "runjournal.db")
    assert list(tmp_path.iterdir()) == []


def test_the_archive_of_another_journal_is_refused(cli, path, tmp_path):
    cli("archive", "--before", "1d", "--to", "a")
    with Journal.open(tmp_path / "other.db") as other:
        record_a_run(other)
    for arguments in (("--before", "0s", "--to", "a"), ("verify", "a", "--against-journal")):
        done = cli("archive", *arguments, "--db", "other.db")
        assert done.code == 1
        assert one_line(done, "the archive a is of the journal")


@pytest.mark.parametrize("package", ["pyarrow", "duckdb"])
def test_it_needs_its_extra_only_when_it_is_asked_for(process, path, tmp_path, package):
    hidden = tmp_path / "hidden" / package
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text(f"raise ModuleNotFoundError('none', name={package!r})\n")
    env = {"PYTHONPATH": f"{hidden.parent}:{PACKAGES}"}
    assert process("runs", env=env).code == 0
    for asked in (("archive", "--before", "1d", "--to", "a"), ("stats", "--archive", "a")):
        done = process(*asked, env=env)
        assert done.code == 1
        assert one_line(done, "needs pip install 'runjournal[archive]'")


@pytest.mark.parametrize(
    "asked",
    [
        ("archive", "verify"),
        ("archive", "--before", "1d", "--to"),
        ("stats", "--archive"),
        ("sql", "SELECT 1", "--archive"),
        ("audit", "tools", "--archive"),
        ("log", "r", "--archive"),
        ("replay", "r", "--archive"),
        ("export", "r", "--archive"),
    ],
    ids=" ".join,
)
def test_a_place_that_is_not_utf_8_is_refused(cli, path, asked):
    done = cli(*asked, "a\udcff")
    assert (done.code, done.out) == (1, "")
    assert one_line(done, "cannot use 'a\\udcff' as an archive", "not UTF-8")
