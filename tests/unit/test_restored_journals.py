"""A journal that was put back and went on differently answers for what it holds now."""

import shutil
from pathlib import Path

from journal import Journal
from projections import log, replay
from tests import samples


def go_on(run, word):
    for number in range(1, 60):
        run.append(samples.delta(number, word))
    for at in range(20):
        history = [samples.user(f"{word}{number}" * 50) for number in range(at + 1)]
        run.checkpoint(samples.checkpoint(f"{word}{at}", stream_cursor=59, messages=history))


def answers(journal, *runs):
    views = [replay(journal, run, at).to_json() for run in runs for at in ("latest", "version:2")]
    return views, [[entry.summary for entry in log(journal, run)] for run in runs]


def test_what_was_derived_before_is_not_taken_for_its_own(tmp_path):
    path, kept = tmp_path / "runs.db", tmp_path / "kept.db"
    with Journal.open(path) as journal:
        with journal.run("r", session_id="s") as run:
            run.append(samples.record(0))
            journal.backup(kept)
            go_on(run, "first")
        answers(journal, "r")
    for end in ("", "-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)
    shutil.copy(kept, path)
    with Journal.open(path) as journal:
        with journal.run("r", session_id="s") as run:
            go_on(run, "second")
        with journal.run("based", session_id="s") as other:
            history = [samples.user(f"second{number}" * 50) for number in range(21)]
            other.checkpoint(samples.checkpoint("k", "based", messages=history))
        based = replay(journal, "based").to_json()
        seen = answers(journal, "r", "based")
    Path(f"{path}.views").unlink()
    with Journal.open(path) as journal:
        assert replay(journal, "based").to_json() == based
        assert answers(journal, "r", "based") == seen
