"""tail prints the last events by arrival, and follows."""

import json
import os
import signal
import subprocess

import pytest

from journal import Journal
from projections.tail_event import tail_end
from tests import samples
from tests.cli.conftest import console_script, environment, one_line, record_a_run

PATIENCE = 60


@pytest.fixture
def follow(tmp_path):
    """Start a command that follows; it is killed at the end of the test."""
    started = []

    def start(*args, **options):
        process = subprocess.Popen(
            [*console_script(), "tail", "--follow", *args],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env=environment(),
            text=True,
            **options,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def ended(process):
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


@pytest.fixture
def two_runs(recorded):
    with Journal.open(recorded) as opened:
        record_a_run(opened, "other", "s")
    return recorded


def events(path, run_id=None):
    with Journal.open(path) as opened:
        reader = opened.reader
        return list(reader.all_events() if run_id is None else reader.run_events(run_id))


@pytest.mark.parametrize("run", [(), ("r",)], ids=["all", "run"])
@pytest.mark.parametrize("count", [None, 1, 3, 500])
def test_the_last_events_are_printed_in_order_of_arrival(two_runs, cli, run, count):
    done = cli("tail", *run, *(() if count is None else ("-n", str(count))), "--json")
    wanted = events(two_runs, *run)[-(count or 10) :]
    assert [one["position"] for one in done.documents] == [event.position for event in wanted]
    for one, event in zip(done.documents, wanted, strict=True):
        assert (one["schema"], one["schema_version"]) == ("runjournal.tail_event", 1)
        assert (one["run_id"], one["session_id"]) == (event.run_id, event.session_id)
        assert (one["version"], one["name"], one["data"]) == (
            event.version,
            event.name,
            event.data,
        )


@pytest.mark.parametrize("run", [(), ("r",)], ids=["all", "run"])
def test_any_position_goes_on_right_behind(two_runs, cli, run):
    wanted = [event.position for event in events(two_runs, *run)]
    for after in (0, 1, 5, wanted[-2], wanted[-1]):
        done = cli("tail", *run, "--after", str(after), "--json")
        assert [one["position"] for one in done.documents] == [w for w in wanted if w > after]


def test_a_line_tells_the_place_the_run_and_what_happened(two_runs, cli):
    titles, *lines = cli("tail", "-n", "200").out.splitlines()
    assert titles.split() == ["POSITION", "VERSION", "TIME", "RUN", "EVENT"]
    for event, line in zip(events(two_runs), lines, strict=True):
        position, version, _date, _time, run, *_ = line.split()
        assert (int(position), int(version)) == (event.position, event.version)
        assert run == (event.run_id or event.stream)
    assert "  run_complete         Kyoto is warm." in lines[-1]


def test_the_lines_of_one_run_do_not_name_it(two_runs, cli):
    titles, *lines = cli("tail", "other", "-n", "2").out.splitlines()
    assert titles.split() == ["POSITION", "VERSION", "TIME", "EVENT"]
    assert len(lines) == 2
    assert "other" not in "".join(lines)


def test_a_long_name_is_cut_in_its_middle_unless_all_is_wanted(cli, tmp_path):
    name = "begin" + "x" * 50 + "end"
    with Journal.open(tmp_path / "runjournal.db") as opened:
        opened.run(name, session_id="s").release()
    short = cli("tail", "-n", "2").out
    assert name not in short
    assert "beginxxx" in short
    assert "xxxend" in short
    assert f"  {name}  " in cli("tail", "-n", "2", "--full").out


def test_an_unknown_event_and_an_imported_one_are_marked(cli, tmp_path):
    lines = [
        {"type": "stream_record", "session_id": "s", "run_id": "r", "record": record}
        for record in (samples.record(0), samples.record(1, "never_seen", x=1))
    ]
    stdin = "\n".join(json.dumps({**line, "recorded_at": "2026-01-01T00:00:00Z"}) for line in lines)
    assert cli("ingest", "-", stdin=stdin.encode()).code == 0
    last = cli("tail", "r", "-n", "1").out.splitlines()[-1]
    assert "* " in last
    assert "never_seen (unknown)" in last
    assert cli("tail", "r", "-n", "1", "--json").document["known"] is False


@pytest.mark.parametrize("args", [["-n", "0"], ["--after", "14"]])
def test_no_events_are_told_as_such(recorded, cli, args):
    assert len(events(recorded)) == 14
    done = cli("tail", *args)
    assert (done.code, done.out) == (0, "no events\n")
    assert cli("tail", *args, "--json").out == ""


@pytest.mark.parametrize(
    ("args", "code", "told"),
    [
        (["nix"], 1, "no run 'nix'"),
        (["nix", "-f"], 1, "no run 'nix'"),
        (["nix", "--after", "3"], 1, "no run 'nix'"),
        (["--after", "999"], 1, "position 999 is outside runjournal.db, which reaches from 0 to"),
        (["-f", "--db", "none.db"], 1, "no journal at none.db"),
    ],
)
def test_what_cannot_be_followed_is_told(recorded, cli, args, code, told):
    done = cli("tail", *args)
    assert (done.code, done.out) == (code, "")
    assert one_line(done, told)


@pytest.mark.parametrize(
    "args", [["--after", "1", "-n", "2"], ["-n", "-1"], ["--after", "-1"], ["-n", "x"]]
)
def test_wrong_usage(recorded, cli, args):
    assert cli("tail", *args).code == 2


@pytest.mark.parametrize("run", [(), ("r2",)], ids=["all", "run"])
def test_what_another_process_appends_is_printed_as_it_comes(recorded, follow, run):
    with Journal.open(recorded) as opened, opened.run("r2", session_id="s") as appended:
        following = follow(*run, "-n", "1", "--json")
        first = json.loads(following.stdout.readline())
        assert first["position"] == tail_end(opened.reader, *(run or [None]))
        for number in range(5):
            receipt = appended.append(samples.record(number))
            shown = json.loads(following.stdout.readline())
            assert (shown["run_id"], shown["position"]) == ("r2", receipt.position)
        following.send_signal(signal.SIGINT)
        assert ended(following) == (130, "", "")


def test_lines_for_people_are_printed_as_they_come_too(recorded, follow):
    with Journal.open(recorded) as opened, opened.run("r2", session_id="s") as appended:
        following = follow("r2", "-n", "0")
        assert following.stdout.readline().split() == ["POSITION", "VERSION", "TIME", "EVENT"]
        appended.append(samples.delta(0, "one"))
        assert following.stdout.readline().endswith("  model_stream         text one\n")


def test_an_idle_follower_ends_when_nobody_reads_it(recorded, follow):
    following = follow("-n", "1", "--json")
    assert following.stdout.readline()
    following.stdout.close()
    assert following.wait(PATIENCE) == 0
    assert following.stderr.read() == ""


def test_a_busy_follower_ends_when_nobody_reads_it(recorded, follow):
    following = follow("-n", "1", "--json")
    assert following.stdout.readline()
    following.stdout.close()
    with Journal.open(recorded) as opened, opened.run("r2", session_id="s") as appended:
        appended.append_many([samples.record(number) for number in range(500)])
    assert following.wait(PATIENCE) == 0
    assert following.stderr.read() == ""


def test_the_output_may_be_a_file(recorded, tmp_path):
    with (tmp_path / "out").open("w+b") as out:
        command = [*console_script(), "tail", "-f", "--json"]
        with subprocess.Popen(command, stdout=out, cwd=tmp_path, env=environment()) as following:
            with Journal.open(recorded) as opened, opened.run("r2", session_id="s") as appended:
                last = appended.append(samples.record(0)).position
            while f'"position":{last},' not in (tmp_path / "out").read_text():
                assert following.poll() is None
                os.sched_yield()
            following.send_signal(signal.SIGINT)
            assert following.wait(PATIENCE) == 130


def test_a_file_that_is_moved_away_ends_it(recorded, follow):
    following = follow("-n", "1", "--json")
    assert following.stdout.readline()
    recorded.unlink()
    code, _, err = ended(following)
    assert code == 1
    assert err.startswith("runjournal: the file runjournal.db was removed or replaced")
