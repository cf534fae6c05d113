"""Writes views for ever: `python -m tests.crash.views_writer JOURNAL STREAM...`."""

import itertools
import sys
from contextlib import closing

from journal.ids import StreamId
from journal.stores import open_store, open_views
from journal.stores.views import Page, Tracked, ViewsUnusable


def put(views, stream, version):
    """Store one whole state of a stream: everything in it tells the version.

    Gives that, which is above the last one.
    """
    with views.writing() as rows:
        last = rows.tracked(stream)
        version = max(version, last.version + 1 if last else 0)
        text = b"%d" % version
        key = rows.put_chunk(stream, b"chunk " + text)
        rows.put_page(stream, Page(b"first", text, b"%d" % key, 0, version, version))
        rows.put_document(stream, version, text)
        rows.track(Tracked(stream, version, version, text))
    return version


def look(views, stream):
    """Give the version a stream's rows are at, which all agree on; None without rows."""
    with views.reading() as rows:
        tracked = rows.tracked(stream)
        if tracked is None:
            return None
        text = b"%d" % tracked.version
        page = rows.page_at(stream, b"g")
        key = int(page.fold)
        assert (tracked.state, page.entries, page.messages) == (text, text, tracked.version)
        assert rows.chunks(stream, [key]) == {key: b"chunk " + text}
        assert rows.document(stream, 2**60) == (tracked.version, text)
        return tracked.version


def tell(what):
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def main(location, *streams):
    with closing(open_store(location, create=False)) as store:
        views = None
        for version in itertools.count(1):
            try:
                views = views or open_views(store, 1, in_memory=False)
                for stream in streams:
                    look(views, StreamId(stream))
                    put(views, StreamId(stream), version)
            except ViewsUnusable as unusable:
                if unusable.stream is not None:
                    raise
                if views is not None:
                    views.close()
                views = None
                tell(f"away {unusable.reason}")
            else:
                tell(version)


if __name__ == "__main__":
    main(*sys.argv[1:])
