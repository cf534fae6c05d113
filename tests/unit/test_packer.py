"""A value that is repeated within a stream is stored once."""

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from journal.compress import DICTIONARY, REPEATED, ZSTD
from journal.errors import IdentityTaken, VersionConflict
from journal.stores import open_store
from tests.unit.dictionary import DICTIONARY_2
from tests.unit.packed_rows import RUN, codecs, data_of, holding, must_hold, numbers, text
from tests.unit.sqlite_files import connect, event

FORMAT_1 = Path(__file__).parents[1] / "fixtures" / "journals" / "format-1.journal"
ALONE = {DICTIONARY, ZSTD}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.db"


@pytest.fixture
def store(path):
    with closing(open_store(path, create=True)) as opened:
        yield opened


def test_what_an_event_repeats_costs_next_to_nothing(store, path):
    events = [holding(1, text(1), "a"), holding(2, "b", text(1)), holding(3, [{"c": text(1)}])]
    for one in events:
        store.append([one], now=1)
    first, *later = codecs(path)
    assert first[0] in ALONE
    assert first[1] > 800
    assert [codec for codec, _ in later] == [REPEATED, REPEATED]
    assert all(size < 60 for _, size in later)
    must_hold(store, events)


def test_a_batch_repeats_what_it_holds_itself(store, path):
    events = [holding(1, text(1)), holding(2, text(1), text(1)), holding(3, text(1))]
    store.append(events, now=1)
    assert numbers(path) == [DICTIONARY, REPEATED, REPEATED]
    must_hold(store, events)


def test_values_of_several_rows_are_put_together(store, path):
    events = [holding(number, text(number)) for number in range(1, 6)]
    events += [holding(6, *map(text, range(1, 6))), holding(7, text(5), text(1), text(5))]
    for one in events:
        store.append([one], now=1)
    assert numbers(path)[5:] == [REPEATED, REPEATED]
    must_hold(store, events)


def test_more_rows_than_may_be_named_are_named_as_far_as_that_goes(store, path):
    events = [holding(number, text(number, 300)) for number in range(1, 81)]
    events.append(holding(81, *[text(number, 300) for number in range(1, 81)]))
    store.append(events, now=1)
    assert codecs(path)[80][0] == REPEATED
    must_hold(store, events)


@pytest.mark.parametrize("size", [199, 200])
def test_a_value_is_large_from_200_characters(store, path, size):
    store.append([holding(1, "ü" * size), holding(2, "ü" * size)], now=1)
    assert (numbers(path)[1] == REPEATED) == (size == 200)
    must_hold(store, [holding(1, "ü" * size), holding(2, "ü" * size)])


def test_an_event_that_brings_more_than_it_repeats_is_packed_by_itself(store, path):
    events = [
        holding(1, text(1, 500)),
        holding(2, text(1, 500), text(2, 2000)),
        holding(3, text(1, 500), text(2, 2000)),
        holding(4, text(1, 500), text(3, 400)),
    ]
    store.append(events, now=1)
    assert [number == REPEATED for number in numbers(path)] == [False, False, True, True]
    must_hold(store, events)


def test_no_row_that_others_name_names_others(store, path):
    events = [
        holding(1, text(1)),
        holding(2, text(1), text(2, 300)),
        holding(3, text(2, 300)),
        holding(4, text(2, 300)),
    ]
    for one in events:
        store.append([one], now=1)
    assert [number == REPEATED for number in numbers(path)] == [False, True, False, True]
    must_hold(store, events)


def test_a_stream_names_no_row_of_another(store, path):
    mine, other = holding(1, text(1)), holding(1, text(1), stream="run:2")
    store.append([mine, other], now=1)
    assert REPEATED not in numbers(path) + numbers(path, "run:2")
    must_hold(store, [mine])
    must_hold(store, [other], "run:2")


@pytest.mark.parametrize(
    "value",
    [
        '"quoted" \\ back\\\\slash\\" ' * 20,
        "\\" * 300,
        '"' * 300,
        "line\nline\ttab\u0000\u2028" * 30,
        "漢字かな交じり文😀" * 30,
        '{"a":["b",{"c":"d"}]}' * 20,
        '","' * 100,
    ],
)
def test_values_of_any_characters_are_found(store, path, value):
    events = [holding(1, value), holding(2, {"key": value, "more": [value, "x"]})]
    for one in events:
        store.append([one], now=1)
    assert numbers(path)[1] == REPEATED
    must_hold(store, events)


def test_pictures_of_several_megabytes_are_stored_once(store, path):
    picture = text(1, 3_000_000)
    events = [holding(number, {"data": picture, "at": number}) for number in (1, 2, 3)]
    for one in events:
        store.append([one], now=1)
    sizes = [size for _, size in codecs(path)]
    assert sizes[0] > 1_000_000
    assert max(sizes[1:]) < 100
    must_hold(store, events)


def test_a_batch_that_came_to_nothing_is_named_by_no_later_row(store, path):
    store.append([event(1, RUN, identity=1)], now=1)
    with pytest.raises(VersionConflict):
        store.append([holding(2, text(1)), holding(4, text(1))], now=1)
    with pytest.raises(IdentityTaken):
        store.append([holding(2, text(2)), holding(3, "x")._replace(identity=1)], now=1)
    events = [holding(2, "small"), holding(3, text(1)), holding(4, text(2)), holding(5, text(1))]
    for one in events:
        store.append([one], now=1)
    assert [number == REPEATED for number in numbers(path)[1:]] == [False, False, False, True]
    must_hold(store, [event(1, RUN), *events])


def test_a_version_that_is_taken_is_refused_though_later_rows_hold_its_values(store, path):
    events = [holding(1, text(1)), holding(2, text(2))]
    store.append(events, now=1)
    for wrong in (1, 2):
        with pytest.raises(VersionConflict):
            store.append([holding(wrong, text(2))], now=1)
    must_hold(store, events)


def test_two_stores_on_a_new_file_give_it_one_dictionary(path):
    events = [holding(number, text(number)) for number in (1, 2, 3)]
    with (
        closing(open_store(path, create=True)) as one,
        closing(open_store(path, create=True)) as other,
    ):
        with pytest.raises(VersionConflict):
            one.append([holding(7, text(7))], now=1)
        for number, store in enumerate((other, one, other)):
            store.append([events[number]], now=1)
        must_hold(one, events)
    with connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM dictionaries").fetchone() == (1,)


def test_a_value_that_changed_is_stored_anew(store, path):
    changed = text(1)[:-1] + "!"
    events = [holding(1, text(1)), holding(2, changed), holding(3, text(1), changed)]
    for one in events:
        store.append([one], now=1)
    assert [number == REPEATED for number in numbers(path)] == [False, False, True]
    must_hold(store, events)


@pytest.mark.parametrize("create", [True, False])
def test_a_file_of_format_1_is_read_as_it_is_and_written_on(path, create):
    shutil.copyfile(FORMAT_1, path)
    with closing(open_store(path, create=False)) as store:
        old = store.read_all()
    with connect(path) as connection:
        assert not connection.execute(
            "SELECT 1 FROM sqlite_schema WHERE name = 'dictionaries'"
        ).fetchall()
    with closing(open_store(path, create=create)) as store:
        head = store.head("run:r")
        events = [holding(head + number, text(1), stream="run:r") for number in (1, 2)]
        for one in events:
            store.append([one], now=1)
        assert store.read_all() == old + store.read_stream("run:r", after=head)
        assert data_of(store.read_stream("run:r", after=head)) == data_of(events)
    assert numbers(path, "run:r")[head:] == [DICTIONARY, REPEATED]
    with connect(path) as connection:
        found = connection.execute("SELECT * FROM dictionaries").fetchall()
    assert found == [(DICTIONARY, DICTIONARY_2)]
