"""Views to test with, and ways to look at and into a views file."""

import sqlite3
from contextlib import closing

from journal.ids import StreamId
from journal.stores import NewEvent, open_store, open_views
from journal.stores.views import Page, Tracked

RUN = StreamId("run:1")
CALL = b"c" * 16


def page(at, messages=None, **fields):
    """A page at a place, whose fold counts as many messages; without a fold for None."""
    known = {} if messages is None else {"fold": b"fold %d" % at, "messages": messages, "epoch": 1}
    return Page(place(at), b"entries %d" % at, **({"fold": b""} | known | fields))


def place(at):
    return b"%04d" % at


def journal_file(path):
    """A journal of one event; gives its path."""
    with closing(open_store(path, create=True)) as store:
        store.append([NewEvent(RUN, 1, "noted.v1", b"{}")], now=1)
    return path


def open_beside(path, revision=1):
    """Open the views beside a journal that is closed again."""
    with closing(open_store(path, create=False)) as store:
        return open_views(store, revision, in_memory=False)


def views_of(path):
    return path.with_name(path.name + ".views")


def fill(views, stream=RUN, version=9):
    """Put one row of each kind, and give the chunk's key."""
    with views.writing() as rows:
        key = rows.put_chunk(stream, b"chunk of %b " % stream.encode() * 100)
        rows.put_page(stream, page(1, 0))
        rows.put_page(stream, page(2, 5, step=2, newest=4, latest=40))
        rows.put_document(stream, 3, b"[%d]" % key)
        rows.put_return(stream, CALL, 4, place(2))
        rows.track(Tracked(stream, version, version * 10, b"state"))
    return key


def connect(path):
    return closing(sqlite3.connect(path, isolation_level=None))
