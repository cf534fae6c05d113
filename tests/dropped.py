"""Runs that end, and their dropping as if an archive had them."""

from journal.dropping import InArchive
from journal.events import ArchivedSegment
from journal.ids import Version
from journal.run_status import current_status
from tests import samples

SEGMENTS = (
    ArchivedSegment(segment=1, sha256="ab" * 32),
    ArchivedSegment(segment=2, sha256="0" * 64),
)


def history(count, tag=""):
    return [
        make(f"{tag}{number} " + "word " * 40)
        for number in range(count)
        for make in (samples.user, samples.answer)
    ]


def write_run(journal, run_id, session="s", *, records=3, messages=2, status="completed"):
    """Write a run with records, a checkpoint and an end; gives its last version."""
    with journal.run(run_id, session_id=session) as run:
        run.append_many([samples.record(number) for number in range(records)])
        run.checkpoint(
            samples.checkpoint(
                f"k-{run_id}",
                run_id,
                messages=history(messages),
                stream_cursor=max(records - 1, 0),
                step=1,
            )
        )
    if status is not None:
        journal.set_status(run_id, status)
    return journal.reader.head(run_id)


def in_archive(journal, run_id):
    status = current_status(journal.reader, run_id)
    return InArchive(Version(journal.reader.head(run_id)), "an-archive", SEGMENTS, status)


def drop(journal, *run_ids):
    """Drop runs in the order given; gives what became of each."""
    dropping = journal.dropping(run_ids)
    return [dropping.drop(run_id, in_archive(journal, run_id)) for run_id in run_ids]
