"""What the views keep comes back, in a file as in memory, and never another thing."""

import os
import threading
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from journal.ids import StreamId
from journal.stores import open_store, open_views
from journal.stores.views import Page, Tracked, ViewsUnusable
from tests.unit.view_files import CALL, RUN, fill, page, place

OTHER = StreamId("run:2")


@pytest.fixture(params=["file", "memory"])
def opener(request, tmp_path):
    """Opens revisions of one journal's views, which are closed at the end."""
    opened = []

    def open_revision(revision=1):
        opened.append(open_views(store, revision, in_memory=request.param == "memory"))
        return opened[-1]

    with closing(open_store(tmp_path / "runs.db", create=True)) as store:
        yield open_revision
        for views in opened:
            views.close()


@pytest.fixture
def views(opener):
    return opener()


def change(views, **by_name):
    """Call methods of one writing transaction by name, each with its arguments."""
    with views.writing() as rows:
        return {name: getattr(rows, name)(*arguments) for name, arguments in by_name.items()}


def put(views, *pages, stream=RUN):
    with views.writing() as rows:
        for each in pages:
            rows.put_page(stream, each)


def look(views, method, *arguments, **named):
    with views.reading() as rows:
        return getattr(rows, method)(*arguments, **named)


class TestNothingStored:
    @pytest.mark.parametrize(
        ("method", "arguments", "answer"),
        [
            ("tracked", (RUN,), None),
            ("page_at", (RUN, b"9"), None),
            ("page_by_messages", (RUN, 9, 9), None),
            ("page_by_step", (RUN, 9), None),
            ("chunks", (RUN, []), {}),
            ("document", (RUN, 9), None),
            ("returns", (RUN, CALL), []),
        ],
    )
    def test_nothing_is_found(self, views, method, arguments, answer):
        assert look(views, method, *arguments) == answer
        fill(views, OTHER)
        assert look(views, method, *arguments) == answer

    def test_no_page_is_found_within_limits(self, views):
        assert look(views, "page_within", RUN, b"9", newest=None, latest=None) is None
        assert look(views, "pages_after", RUN, b"", limit=9) == []

    def test_a_chunk_that_is_not_there_is_not_answered(self, views):
        for stream in (RUN, OTHER):
            with pytest.raises(ViewsUnusable, match="chunk 7 is missing") as raised:
                look(views, "chunks", stream, [7])
            assert raised.value.stream == stream
            fill(views, RUN)


class TestTracking:
    def test_the_last_is_told(self, views):
        for version, position in ((1, 5), (9, 50), (9, 50), (4, 20), (12, 2**40)):
            tracked = Tracked(RUN, version, position, os.urandom(50))
            change(views, track=[tracked])
            assert look(views, "tracked", RUN) == tracked
        assert look(views, "tracked", OTHER) is None

    def test_it_is_the_library_s_tracking_position(self, views):
        change(views, track=[Tracked(RUN, 3, 77, b"")])
        recorder = views._recorder
        assert recorder.max_tracking_id("1:run:1") == 77
        assert recorder.max_tracking_id("2:run:1") is None

    def test_rows_without_it_do_not_count_as_read(self, views):
        put(views, page(1))
        assert look(views, "tracked", RUN) is None
        assert look(views, "page_at", RUN, b"9") == page(1)


class TestPages:
    def test_the_last_at_or_before_a_key(self, views):
        put(views, page(10), page(20, 3, step=4, newest=5, latest=6), page(30))
        found = [look(views, "page_at", RUN, place(at)) for at in (5, 10, 19, 20, 25, 99)]
        twenty = page(20, 3, step=4, newest=5, latest=6)
        assert found == [None, page(10), page(10), twenty, twenty, page(30)]

    def test_those_after_a_key_in_order(self, views):
        put(views, *(page(at) for at in (30, 10, 20, 40)))
        assert look(views, "pages_after", RUN, place(10), limit=2) == [page(20), page(30)]
        assert look(views, "pages_after", RUN, b"", limit=9) == [page(a) for a in (10, 20, 30, 40)]

    def test_keys_compare_as_bytes(self, views):
        keys = [b"", b"\0", b"\0\0", b"a", b"ab", b"b", b"\x80", b"\xff", b"\xff\0"]
        put(views, *(Page(key, key, b"") for key in reversed(keys)))
        assert [each.first for each in look(views, "pages_after", RUN, b"", limit=99)] == keys[1:]
        assert look(views, "page_at", RUN, b"aa").first == b"a"

    def test_one_takes_another_s_place(self, views):
        put(views, page(10), page(10, 7))
        assert look(views, "pages_after", RUN, b"", limit=9) == [page(10, 7)]

    def test_large_ones_come_back(self, views):
        large = Page(b"1", os.urandom(200_000), b"fold " * 100_000)
        put(views, large)
        assert look(views, "page_at", RUN, b"1") == large

    def test_numbers_of_64_bits_come_back_and_others_are_refused(self, views):
        large = page(1, 2**63 - 1, step=2**63 - 1, newest=2**63 - 1, latest=-(2**63) + 1)
        put(views, large)
        assert look(views, "page_at", RUN, b"9") == large
        assert look(views, "page_by_step", RUN, 2**70) == large
        with pytest.raises(ViewsUnusable, match="64 bits") as raised:
            put(views, page(1, 1, step=2**63))
        assert raised.value.stream == RUN

    def test_limits_are_raised_after_a_key(self, views):
        put(views, *(page(at, at, newest=at, latest=at * 10) for at in (10, 20, 30, 40)))
        with views.writing() as rows:
            rows.raise_limits(RUN, place(10), newest=30, latest=250)
        after = look(views, "pages_after", RUN, b"", limit=9)
        assert [(each.newest, each.latest) for each in after] == [
            (10, 100), (30, 250), (30, 300), (40, 400),
        ]  # fmt: skip
        assert look(views, "page_within", RUN, b"9", newest=29, latest=None).first == place(10)

    def test_streams_do_not_mix(self, views):
        put(views, page(10, 1))
        put(views, page(20, 2), stream=OTHER)
        assert look(views, "page_at", RUN, b"9") == page(10, 1)
        assert look(views, "page_by_messages", OTHER, 1, 1) is None


@st.composite
def rows_of_pages(draw):
    """Pages whose counts never fall, some without a fold."""
    steps = draw(st.lists(st.tuples(*[st.integers(0, 3)] * 5, st.booleans()), max_size=12))
    epoch = messages = step = newest = latest = 0
    pages = []
    for at, (up, more, stepped, newer, later, known) in enumerate(steps, 1):
        epoch, messages = (epoch + 1, more) if up == 3 else (epoch, messages + more)
        step, newest, latest = step + stepped, newest + newer, latest + later
        counts = (epoch, messages, step, newest, latest) if known else ()
        pages.append(Page(place(at * 2), b"e", b"f" if known else b"", *counts))
    return pages


@examples(max_examples=60)
@given(rows_of_pages(), st.lists(st.integers(0, 25), min_size=4, max_size=4))
def test_pages_are_found_as_a_search_through_all_finds_them(pages, wanted):
    at, first, second, third = wanted
    folds = [each for each in pages if each.fold]

    def last(condition):
        return next((each for each in reversed(folds) if condition(each)), None)

    with (
        closing(open_store("memory://", create=True)) as store,
        closing(open_views(store, 1, in_memory=True)) as views,
    ):
        put(views, *pages)
        key = place(at)
        for newest, latest in ((first, None), (None, second), (first, second), (None, None)):
            within = look(views, "page_within", RUN, key, newest=newest, latest=latest)
            assert within == last(
                lambda each, newest=newest, latest=latest: (
                    each.first <= key
                    and (newest is None or each.newest <= newest)
                    and (latest is None or each.latest <= latest)
                )
            )
        found = look(views, "page_by_messages", RUN, first % 3, second)
        assert found == last(lambda each: (each.epoch, each.messages) <= (first % 3, second))
        assert look(views, "page_by_step", RUN, third) == last(lambda each: each.step <= third)


class TestChunks:
    def test_they_come_back_by_their_keys(self, views):
        data = [os.urandom(10), b"", b"[]" * 5000, b"x" * 100]
        with views.writing() as rows:
            keys = [rows.put_chunk(RUN, each) for each in data]
        assert look(views, "chunks", RUN, [*keys, keys[0]]) == dict(zip(keys, data, strict=True))

    def test_thousands_at_once(self, views):
        with views.writing() as rows:
            keys = {rows.put_chunk(RUN, b"%d" % at): b"%d" % at for at in range(1203)}
        assert look(views, "chunks", RUN, list(keys)) == keys

    def test_an_equal_one_is_there_once_in_a_stream(self, views):
        with views.writing() as rows:
            first, other = rows.put_chunk(RUN, b"a" * 99), rows.put_chunk(OTHER, b"a" * 99)
            assert first == rows.put_chunk(RUN, b"a" * 99) != other
        with views.writing() as rows:
            assert rows.put_chunk(RUN, b"a" * 99) == first

    def test_those_of_another_stream_are_not_given(self, views):
        key = fill(views, OTHER)
        fill(views, RUN)
        with pytest.raises(ViewsUnusable, match=f"chunk {key} ") as raised:
            look(views, "chunks", RUN, [key])
        assert raised.value.stream == RUN

    def test_a_key_is_never_given_again(self, views):
        seen = set()
        for at in range(4):
            with views.writing() as rows:
                key = rows.put_chunk(RUN, b"%d" % at)
                assert key not in seen
                seen.add(key)
                rows.forget(RUN)
            with pytest.raises(ViewsUnusable):
                look(views, "chunks", RUN, [key])


class TestDocumentsAndReturns:
    def test_the_last_document_at_or_below_a_version(self, views):
        with views.writing() as rows:
            for version in (5, 10, 10):
                rows.put_document(RUN, version, b"root %d" % version)
        found = [look(views, "document", RUN, version) for version in (4, 5, 9, 10, 2**70)]
        five, ten = (5, b"root 5"), (10, b"root 10")
        assert found == [None, five, five, ten, ten]

    def test_every_return_of_a_call_by_version(self, views):
        with views.writing() as rows:
            for version in (7, 3, 7):
                rows.put_return(RUN, CALL, version, place(version))
            rows.put_return(RUN, b"d" * 16, 5, place(5))
        assert look(views, "returns", RUN, CALL) == [(3, place(3)), (7, place(7))]


class TestTransactions:
    def test_what_raises_changes_nothing(self, views):
        fill(views)
        before = look(views, "pages_after", RUN, b"", limit=9)

        def put_and_fail():
            with views.writing() as rows:
                rows.put_page(RUN, page(3))
                rows.put_chunk(RUN, b"new")
                rows.track(Tracked(RUN, 99, 99, b""))
                rows.forget(OTHER)
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            put_and_fail()
        assert look(views, "pages_after", RUN, b"", limit=9) == before
        assert look(views, "tracked", RUN).version == 9
        fill(views, OTHER)

    def test_one_that_writes_sees_what_it_wrote(self, views):
        with views.writing() as rows:
            rows.put_page(RUN, page(1, 1))
            rows.track(Tracked(RUN, 1, 1, b"s"))
            assert rows.page_at(RUN, b"9") == page(1, 1)
            assert rows.tracked(RUN) == Tracked(RUN, 1, 1, b"s")
            key = rows.put_chunk(RUN, b"data")
            assert rows.chunks(RUN, [key]) == {key: b"data"}

    def test_one_within_another_is_refused_and_not_waited_for(self, views):
        with views.reading(), pytest.raises(RuntimeError, match="within another"), views.writing():
            pass
        fill(views)

    def test_forgetting_leaves_the_other_streams(self, views):
        fill(views, RUN)
        key = fill(views, OTHER)
        change(views, forget=[RUN])
        assert look(views, "tracked", RUN) is None
        assert look(views, "page_at", RUN, b"9") is None
        assert look(views, "tracked", OTHER).version == 9
        assert len(look(views, "chunks", OTHER, [key])) == 1
        fill(views, RUN, version=3)
        assert look(views, "tracked", RUN).version == 3

    def test_after_closing_nothing_is_answered(self, views):
        fill(views)
        views.close()
        views.close()
        for use in (views.reading, views.writing):
            with pytest.raises(ViewsUnusable, match="closed") as raised, use():
                pass
            assert raised.value.stream is None

    def test_closing_within_a_transaction_lets_it_end(self, views):
        with views.writing() as rows:
            views.close()
            rows.put_page(RUN, page(1))
        with pytest.raises(ViewsUnusable, match="closed"), views.reading():
            pass


def test_threads_read_whole_states_while_others_write(views):
    fill(views)
    failures, done = [], threading.Event()

    def write(stream):
        for version in range(1, 60):
            with views.writing() as rows:
                rows.track(Tracked(stream, version, version, b"%d" % version))
                rows.put_document(stream, version, b"%d" % version)

    def read(stream):
        while not done.is_set():
            with views.reading() as rows:
                tracked, document = rows.tracked(stream), rows.document(stream, 999)
                if tracked and (tracked.version, tracked.state) != document:
                    failures.append((tracked, document))

    streams = [StreamId(f"run:{at}") for at in (5, 6)]
    writers = [threading.Thread(target=write, args=[each]) for each in streams]
    readers = [threading.Thread(target=read, args=[each]) for each in streams]
    for thread in (*writers, *readers):
        thread.start()
    for thread in writers:
        thread.join(60)
    done.set()
    for thread in readers:
        thread.join(60)
    assert failures == []
    assert [look(views, "tracked", each).version for each in streams] == [59, 59]
