"""Archives a journal in a process of its own, to be killed: `JOURNAL ARCHIVE EVENTS`."""

import sys

from journal import Journal, times
from projections.archive import pieces
from projections.archive.writing import write_archive


def main(path, to, events):
    """Archive everything in segments of so many events, and say each time it goes on."""
    pieces.SEGMENT_EVENTS, pieces.REST = int(events), 0
    with Journal.open(path, create=False) as journal:
        sys.stdout.write("begins\n")
        sys.stdout.flush()
        write_archive(journal, to, before=times.LATEST)
    sys.stdout.write("done\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
