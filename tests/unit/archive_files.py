"""Journals to archive, stored at times of one's choice, and what their archives hold."""

import json
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from journal import Journal, times
from journal.stores.audit import AuditRow, RunFacts
from projections.archive.chain import read_chain
from projections.archive.compared import archived_events
from projections.archive.filesystem import find_place
from projections.archive.layout import DAY
from projections.archive.writing import write_archive
from projections.audit.maker import RowMaker
from tests import samples

NOON = 20_000 * DAY + DAY // 2
"""12:00 UTC of 2024-10-04."""
HOUR = DAY // 24
EVER = times.LATEST


class Clock:
    """The time at which a journal stores."""

    def __init__(self, now=NOON):
        self.now = now

    def __call__(self):
        return self.now


@contextmanager
def journal_at(path, monkeypatch, clock):
    """A journal whose clock is that one, not the system's."""
    with monkeypatch.context() as patched:
        patched.setattr(times, "now", clock)
        with Journal.open(path) as journal:
            yield journal


def call(number):
    arguments = {"query": f"what is {number}?"}
    return {"id": f"call-{number}", "name": "search", "arguments": arguments}


def tell(run, start=0, steps=3, text="word"):
    """Record some steps of a run: requests, deltas, responses, calls and returns."""
    at = start
    for step in range(steps):
        usage = samples.ZERO | {"requests": 1, "input_tokens": 10 + step, "total_tokens": 10 + step}
        response = {"parts": [{"kind": "text", "text": f"{text} {at}"}], "usage": usage}
        answer = {
            "tool_call_id": f"call-{at}", "name": "search", "content": f"{text} {step}",
            "is_error": step % 2 == 1,
        }  # fmt: skip
        run.append_many(
            [
                samples.record(at, "model_request", step=step),
                samples.delta(at + 1, f"{text} {at}", step=step),
                samples.record(at + 2, "model_response", step=step, response=response),
                samples.record(at + 3, "tool_call", step=step, call=call(at)),
                samples.record(at + 4, "tool_return", step=step, tool_return=answer),
            ]
        )
        at += 5
    return at


def three_days(path, monkeypatch, *, runs=4, steps=3):
    """A journal of runs that go on over three days, some in one session; 06:00, 12:00, 18:00."""
    clock = Clock(NOON - 6 * HOUR)
    ends = dict.fromkeys(range(runs), 0)
    with journal_at(path, monkeypatch, clock) as journal:
        for turn in range(9):
            for number in range(runs):
                if (turn + number) % 3 == 2:
                    continue
                clock.now += 1_000_000
                with journal.run(f"run-{number}", session_id=f"s{number % 2}") as run:
                    ends[number] = tell(run, ends[number], steps, f"turn {turn}")
                    if turn % 4 == 0:
                        messages = [samples.user(f"question {each}") for each in range(turn + 1)]
                        made = samples.checkpoint(
                            f"k{turn}", f"run-{number}", stream_cursor=ends[number] - 1,
                            messages=messages, step=turn,
                        )  # fmt: skip
                        run.checkpoint(made)
            clock.now += 6 * HOUR if turn % 3 != 2 else 12 * HOUR
    return path


def archive(path, to, before=EVER, **options):
    """Archive a journal file."""
    with Journal.open(path, create=False) as journal:
        return write_archive(journal, to, before=before, **options)


def stored(path):
    """All events of a journal file, as they are stored."""
    with Journal.open(path, create=False) as journal:
        found, after = [], 0
        while page := journal.reader.stored_events(after=after):
            found += page
            after = page[-1].position
        return found


def segments(to):
    return read_chain(find_place(to)).segments


def archived(to):
    """All events of an archive, by position."""
    place = find_place(to)
    found = [event for each in segments(to) for event in archived_events(place, each)]
    return sorted(found, key=lambda event: event.position)


def table(to, kind):
    """All rows of the files of a kind, in order of segment."""
    files = [Path(to) / each.file(kind).path for each in segments(to)]
    return pa.concat_tables([pq.read_table(file, partitioning=None) for file in files])


def archived_rows(to):
    """The audit rows of an archive, by position and part."""
    columns = table(to, "rows").select(AuditRow._fields).to_pydict()
    found = map(AuditRow._make, zip(*columns.values(), strict=True))
    return sorted(found, key=lambda row: (row.position, row.part))


def archived_facts(to):
    """The facts of the runs of an archive, as they stand last."""
    columns = table(to, "runs").select(RunFacts._fields).to_pydict()
    return {each[0]: RunFacts._make(each) for each in zip(*columns.values(), strict=True)}


def made_at_once(path):
    """The rows and facts of a journal file, made in one go."""
    with Journal.open(path, create=False) as journal:
        maker = RowMaker(lambda _: {}, journal.reader.document)
        rows, facts = maker.take(list(journal.reader.all_events()))
        return rows, {each.run_id: each for each in facts}


def files(to):
    """The files of an archive by path, but for what is hidden, with the SHA-256 of each."""
    found = (each for each in Path(to).rglob("*") if each.is_file())
    names = {each.relative_to(to).as_posix(): each for each in found}
    return {
        name: sha256(each.read_bytes()).hexdigest()
        for name, each in sorted(names.items())
        if not name.startswith(".")
    }


def without_times(to):
    """The manifests of an archive, without what differs from one archiving to the next."""
    found = []
    for each in segments(to):
        body = json.loads(each.to_bytes())
        del body["created_at"], body["previous"]
        found.append(body)
    return found
