"""Two hundred forks of a run of 500 checkpoints add less than 2 % to the file."""

import random

from journal import Journal
from projections import StreamCursor, replay
from tests import samples

STEPS = 500
RECORDS = 25
FORKS = 200


def text(dice, words, size):
    return " ".join(dice.choices(words, k=size // 6))


def test_forks_add_less_than_2_percent(tmp_path):
    path = tmp_path / "runs.db"
    dice = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(dice.choices(letters, k=dice.randint(2, 9))) for _ in range(2000)]
    messages = []
    with (
        Journal.open(path) as journal,
        journal.run("run_1", session_id="session", conversation_id="conversation") as run,
    ):
        for step in range(STEPS):
            first = step * RECORDS
            messages.append(samples.answer(text(dice, words, 2000)))
            tokens = (samples.delta(first + at, dice.choice(words)) for at in range(RECORDS))
            run.append_many(tokens)
            taken = samples.checkpoint(
                f"checkpoint_{step}",
                "run_1",
                stream_cursor=first + RECORDS - 1,
                messages=messages,
                step=step,
                conversation_id="conversation",
            )
            run.checkpoint(taken)
    before = path.stat().st_size
    with Journal.open(path) as journal:
        for at in range(FORKS):
            cursor = StreamCursor(at * STEPS * RECORDS // FORKS)
            journal.fork(replay(journal, "run_1", at=cursor, tail=0), f"fork_{at}").release()
    added = path.stat().st_size - before
    assert added < before * 2 / 100, (added, before)
    assert added / FORKS < 250
