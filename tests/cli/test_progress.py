"""A progress bar is shown on a terminal, for what takes longer than a second."""

import pytest

from journal.cli import progress
from journal.cli.progress import progress_bar
from tests.cli.test_ingest_and_export import record_line


@pytest.fixture
def clock(monkeypatch):
    class Clock:
        now = 0.0

        def monotonic(self):
            return self.now

    made = Clock()
    monkeypatch.setattr(progress, "time", made)
    return made


def test_nothing_is_shown_within_the_first_second(clock, attach):
    terminal = attach()
    with progress_bar("ingest", 100) as at:
        clock.now = 0.9
        at(50)
    assert terminal.getvalue() == ""


def test_a_known_total_is_shown_as_percent(clock, attach):
    terminal = attach()
    with progress_bar("ingest", 200) as at:
        clock.now = 1.5
        at(50)
        clock.now = 1.7
        at(100)
    assert "ingest" in terminal.getvalue()
    assert "50%" in terminal.getvalue()


def test_an_unknown_total_is_shown_as_a_count(clock, attach):
    terminal = attach()
    with progress_bar("export") as at:
        clock.now = 2.0
        at(12345)
    assert "12345/?" in terminal.getvalue()


def test_nothing_is_shown_where_nobody_looks(clock, capsys):
    with progress_bar("ingest", 100) as at:
        clock.now = 5.0
        at(50)
    assert capsys.readouterr().err == ""


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "PAUSE", 0.0)


@pytest.mark.usefixtures("impatient")
def test_ingest_and_export_show_their_progress(cli, attach, tmp_path):
    terminal = attach()
    (tmp_path / "lines.jsonl").write_bytes(b"".join(map(record_line, range(50))))
    assert cli("ingest", "lines.jsonl").code == 0
    assert "100%" in terminal.getvalue()
    assert cli("ingest", "-", stdin=b"".join(map(record_line, range(50, 60)))).code == 0
    assert "10/?" in terminal.getvalue()
    assert len(cli("export", "r").documents) == 61
    assert "export" in terminal.getvalue()


@pytest.mark.usefixtures("impatient")
def test_a_bad_line_ends_the_bar(cli, attach):
    terminal = attach()
    done = cli("ingest", "-", stdin=record_line(0) + b"nope\n")
    assert done.code == 1
    bar, line = terminal.getvalue().split("runjournal: ")
    assert bar.endswith("\x1b[2K")
    assert line.startswith("line 2: ")
