"""A damaged row of the views is noticed whenever it is read, and its stream is named."""

import os
import sqlite3
from contextlib import closing

import pytest

from journal.stores.sqlite_views_rows import chunk_checksum
from journal.stores.views import Tracked, ViewsUnusable
from tests.unit.view_files import CALL, RUN, connect, fill, journal_file, open_beside, views_of

READS = {
    "tracked": lambda rows, key: rows.tracked(RUN),
    "page_at": lambda rows, key: rows.page_at(RUN, b"9"),
    "pages_after": lambda rows, key: rows.pages_after(RUN, b"", limit=9),
    "page_within": lambda rows, key: rows.page_within(RUN, b"9", newest=9, latest=99),
    "page_by_messages": lambda rows, key: rows.page_by_messages(RUN, 1, 9),
    "page_by_step": lambda rows, key: rows.page_by_step(RUN, 9),
    "chunks": lambda rows, key: rows.chunks(RUN, [key]),
    "document": lambda rows, key: rows.document(RUN, 9),
    "returns": lambda rows, key: rows.returns(RUN, CALL),
}
PAGES = ("page_at", "pages_after", "page_within", "page_by_messages", "page_by_step")

FLIPPED = "CAST(x'ff' || substr({0}, 2) AS BLOB)"
CHANGES = [
    ("streams", "version = 8", ["tracked"]),
    ("streams", f"state = {FLIPPED.format('state')}", ["tracked"]),
    ("streams", "checksum = checksum + 1", ["tracked"]),
    ("streams", "state = NULL", ["tracked"]),
    ("streams", "state = x'', checksum = NULL", ["tracked"]),
    ("tracking", "notification_id = notification_id + 1", ["tracked"]),
    ("tracking", "notification_id = 'x'", ["tracked"]),
    ("pages", f"entries = {FLIPPED.format('entries')}", PAGES),
    ("pages", f"fold = {FLIPPED.format('fold')}", PAGES),
    ("pages", "entries = x''", PAGES),
    ("pages", "messages = messages + 1", PAGES),
    ("pages", "epoch = epoch - 1", PAGES),
    ("pages", "step = step - 1", PAGES),
    ("pages", "newest = newest - 1", PAGES),
    ("pages", "latest = latest - 1", PAGES),
    ("pages", f"first = {FLIPPED.format('first')} WHERE step = 2", PAGES[1:]),
    ("chunks", f"data = {FLIPPED.format('data')}", ["chunks"]),
    ("chunks", "data = substr(data, 1, 5)", ["chunks"]),
    ("chunks", "checksum = checksum + 1", ["chunks"]),
    ("chunks", "key = key + 1", ["chunks"]),
    ("chunks", "stream = stream + 1", ["chunks"]),
    ("documents", f"root = {FLIPPED.format('root')}", ["document"]),
    ("documents", "version = version + 1", ["document"]),
    ("returns", f"place = {FLIPPED.format('place')}", ["returns"]),
    ("returns", "version = version + 1", ["returns"]),
]


@pytest.fixture
def path(tmp_path):
    return journal_file(tmp_path / "runs.db")


@pytest.fixture
def views(path):
    with closing(open_beside(path)) as views:
        yield views


@pytest.mark.parametrize(("table", "change", "noticed"), CHANGES, ids=lambda value: str(value)[:40])
def test_a_changed_row_is_noticed_and_its_stream_named(path, views, table, change, noticed):
    key = fill(views)
    with connect(views_of(path)) as db:
        assert db.execute(f"UPDATE {table} SET {change}").rowcount
    for name, read in READS.items():
        if name in noticed:
            with pytest.raises(ViewsUnusable) as raised, views.reading() as rows:
                read(rows, key)
            assert (name, raised.value.stream) == (name, RUN)
        else:
            with views.reading() as rows:
                assert read(rows, key)


def test_a_chunk_that_is_gone_is_noticed(path, views):
    key = fill(views)
    with connect(views_of(path)) as db:
        db.execute("DELETE FROM chunks")
    with pytest.raises(ViewsUnusable, match=f"chunk {key}") as raised, views.reading() as rows:
        rows.chunks(RUN, [key])
    assert raised.value.stream == RUN


def test_what_does_not_unpack_is_noticed_whatever_its_checksum(path, views):
    key = fill(views)
    blob = b"\x07 of no codec"
    with connect(views_of(path)) as db:
        db.execute("UPDATE chunks SET data = ?, checksum = ?", (blob, chunk_checksum(1, key, blob)))
    with pytest.raises(ViewsUnusable, match="unknown codec 7") as raised, views.reading() as rows:
        rows.chunks(RUN, [key])
    assert raised.value.stream == RUN


def test_limits_that_are_raised_hide_no_damage(path, views):
    fill(views)
    with connect(views_of(path)) as db:
        db.execute("UPDATE pages SET newest = newest + 1")
    with views.writing() as rows:
        rows.raise_limits(RUN, b"", newest=500, latest=500)
    with pytest.raises(ViewsUnusable) as raised, views.reading() as rows:
        rows.page_at(RUN, b"9")
    assert raised.value.stream == RUN


def test_a_destroyed_file_is_of_no_use_and_left_alone(path):
    with closing(open_beside(path)) as views:
        for at in range(200):
            with views.writing() as rows:
                rows.put_document(RUN, at + 1, os.urandom(500))

    def read_documents():
        with closing(open_beside(path)) as views, views.reading() as rows:
            for at in range(200):
                rows.document(RUN, at + 1)

    file = views_of(path)
    whole = file.read_bytes()
    for start, end in ((0, 200), (100, len(whole)), (4096, len(whole)), (40, 60)):
        file.write_bytes(whole[:start] + b"\xa5" * (end - start) + whole[end:])
        broken = file.read_bytes()
        with pytest.raises(ViewsUnusable) as raised:
            read_documents()
        assert raised.value.stream is None
        assert file.read_bytes() == broken
    file.write_bytes(whole)
    with closing(open_beside(path)) as views, views.reading() as rows:
        assert rows.document(RUN, 7)[0] == 7


def test_any_byte_that_is_flipped_changes_no_answer(path):
    with closing(open_beside(path)) as views:
        key = fill(views)
        with views.reading() as rows:
            sound = {name: read(rows, key) for name, read in READS.items()}
    file = views_of(path)
    whole = bytearray(file.read_bytes())
    noticed = 0
    for at in range(0, len(whole), 97):
        if not any(whole[max(0, at - 8) : at + 8]):
            continue  # unused
        whole[at] ^= 0x55
        file.write_bytes(whole)
        whole[at] ^= 0x55
        try:
            views = open_beside(path)
        except ViewsUnusable:
            noticed += 1
            continue
        with closing(views):
            for name, read in READS.items():
                try:
                    with views.reading() as rows:
                        answer = read(rows, key)
                except ViewsUnusable:
                    noticed += 1
                else:
                    # A row that is no longer found is made again.
                    assert answer in (sound[name], None, []), (at, name)
    assert noticed > 10


def test_what_sqlite_refuses_within_a_transaction_is_told_as_ours(path, views):
    fill(views)
    with connect(views_of(path)) as db:
        db.execute("DROP TABLE documents")
    calls = (lambda rows: rows.document(RUN, 9), lambda rows: rows.put_document(RUN, 9, b""))
    for call in calls:
        with views.writing() as rows, pytest.raises(ViewsUnusable, match="documents") as raised:
            call(rows)
        assert raised.value.stream is None
        assert isinstance(raised.value.__cause__, sqlite3.Error)
    with pytest.raises(ViewsUnusable, match="its tables are not those"):
        open_beside(path)
    with pytest.raises(ViewsUnusable, match="documents"), views.writing() as rows:
        rows.forget(RUN)  # what is forgotten is removed before the commit
    with connect(views_of(path)) as db:
        db.execute("DROP TABLE tracking")
    with pytest.raises(ViewsUnusable, match="tracking"):
        views._recorder.max_tracking_id("1:run:1")
    with pytest.raises(ViewsUnusable, match="tracking"), views.writing() as rows:
        rows.forget(RUN)
    with pytest.raises(ViewsUnusable, match="tracking"), views.writing() as rows:
        rows.track(Tracked(RUN, 1, 1, b""))
