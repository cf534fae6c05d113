"""Damage of rows that others name, and of the dictionary, is noticed and named."""

import random
from contextlib import closing

import pytest

from journal.compress import DICTIONARY, LIMIT, PLAIN, REPEATED, Compressor
from journal.errors import CorruptEvent, DamagedFile, StorageFailed
from journal.stores import open_store, sqlite_dictionary
from journal.stores.repeated import MOST_BASES, Copy, Repeated, decode, encode
from tests.unit.dictionary import DICTIONARY_2
from tests.unit.packed_rows import RUN, blob_of, codecs, data_of, holding, rewrite, text
from tests.unit.sqlite_files import connect

EVENTS = [
    holding(1, text(1), text(2)),
    holding(2, "small"),
    holding(3, text(1)),
    holding(4, text(2), text(1)),
]
OTHERS = [holding(1, text(1), stream="run:2"), holding(2, text(1), stream="run:2")]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "runs.db"
    with closing(open_store(path, create=True)) as store:
        store.append(EVENTS, now=1)
        store.append(OTHERS, now=1)
    assert [codec == REPEATED for codec, _ in codecs(path)] == [False, False, True, True]
    return path


def opened(path):
    return closing(open_store(path, create=False))


READS = {
    "find": lambda store: store.find(RUN, 3),
    "alone": lambda store: store.read_stream(RUN, after=2, limit=1),
    "newest first": lambda store: store.read_stream(RUN, upto=3, newest_first=True),
    "all": lambda store: store.read_all(after=2, limit=1),
}


def must_be_told(path, version, *words):
    """Every way to read version 3 tells of it and of what it names."""
    for read in READS.values():
        with opened(path) as store, pytest.raises(CorruptEvent) as corrupt:
            read(store)
        assert (corrupt.value.stream, corrupt.value.version) == (RUN, version)
        for word in words:
            assert word in corrupt.value.reason


def test_a_damaged_row_is_told_by_those_that_name_it(path, flip):
    flip(path, RUN, 1)
    must_be_told(path, 3, "it repeats values of version 1", "version 1 is damaged", "checksum")
    with opened(path) as store:
        with pytest.raises(CorruptEvent) as corrupt:
            store.read_stream(RUN)
        assert corrupt.value.version == 1


def test_the_damage_reaches_its_own_run_only_and_there_only_what_names_it(path, flip):
    flip(path, RUN, 1)
    with opened(path) as store:
        assert data_of(store.read_stream("run:2")) == data_of(OTHERS)
        assert store.find(RUN, 2).data == EVENTS[1].data
        assert data_of(store.read_all(after=4)) == data_of(OTHERS)


def test_a_run_with_damage_goes_on_and_names_none_of_it(path, flip):
    flip(path, RUN, 1)
    with closing(open_store(path, create=True)) as store:
        store.append([holding(5, text(1)), holding(6, text(1))], now=2)
        assert data_of(store.read_stream(RUN, after=4)) == data_of(
            [holding(5, text(1)), holding(6, text(1))]
        )
    assert [codec == REPEATED for codec, _ in codecs(path)][4:] == [False, True]


def test_a_row_that_is_gone_is_told_by_those_that_name_it(path):
    with connect(path) as connection:
        [(guard,)] = connection.execute(
            "SELECT sql FROM sqlite_schema WHERE name = 'events_delete_guard'"
        ).fetchall()
        connection.execute("DROP TRIGGER events_delete_guard")
        connection.execute("DELETE FROM events WHERE position = 1")
        connection.execute(guard)
    must_be_told(path, 3, "it repeats values of version 1", "version 1 is not there")


@pytest.mark.parametrize("distance", [1, 3, 2**40])
def test_a_wrong_distance_is_told(path, distance):
    row = decode(blob_of(path, 3))
    assert row.distances == [2]
    rewrite(path, 3, REPEATED, encode(row._replace(distances=[distance])))
    must_be_told(path, 3, f"it repeats values of version {3 - distance}:")


def test_a_wrong_row_of_the_same_length_is_told(path):
    other = holding(1, text(3), text(2))
    assert len(other.data) == len(EVENTS[0].data)
    rewrite(path, 1, PLAIN, other.data)
    must_be_told(path, 3, "it repeats values of version 1", "not what was stored")


def test_a_row_that_names_one_that_names_others_is_told(path):
    row = decode(blob_of(path, 4))
    rewrite(path, 4, REPEATED, encode(row._replace(distances=[1])))
    with opened(path) as store, pytest.raises(CorruptEvent) as corrupt:
        store.find(RUN, 4)
    assert corrupt.value.version == 4
    assert "version 3 is damaged" in corrupt.value.reason


def test_a_row_that_is_none_of_its_codec_is_told(path):
    literals = Compressor(DICTIONARY_2).compress(b"{}")
    copies = [Copy(0, 0, 0, 10)]
    good = Repeated(0, [2], copies, literals)
    whole = encode(good)
    wrong = {
        b"": "cut short",
        whole[:5]: "cut short",
        b"\0\0\0\0" + b"\xff" * 20: "too long",
        encode(good._replace(distances=[])): "it names 0 rows",
        encode(good._replace(distances=[1] * (MOST_BASES + 1))): "it names 65 rows",
        encode(good._replace(distances=[0])): "names itself",
        encode(good._replace(copies=[Copy(0, 1, 0, 10)])): "does not name",
        encode(good._replace(copies=[Copy(0, 0, 0, LIMIT + 1)])): "too much",
        encode(good._replace(literals=b"\x20")): "zstd frame",
        whole: "not what was stored",
    }
    for blob, reason in wrong.items():
        rewrite(path, 3, REPEATED, blob)
        must_be_told(path, 3, reason)


def test_random_bytes_are_told_and_never_a_traceback(path):
    dice = random.Random(11)
    for _ in range(25):
        head = bytes([dice.randrange(4), dice.randrange(6)])
        rewrite(path, 3, REPEATED, dice.randbytes(4) + head + dice.randbytes(dice.randrange(40)))
        with opened(path) as store, pytest.raises(CorruptEvent) as corrupt:
            store.find(RUN, 3)
        assert (corrupt.value.stream, corrupt.value.version) == (RUN, 3)


def test_copies_that_grow_past_the_limit_are_refused_before_they_are_made(path):
    base = b'{"' + b"x" * 1_000_000 + b'":0}'
    rewrite(path, 1, *Compressor(DICTIONARY_2).pack(base))
    many = [Copy(number * 10**6, 0, 2, 10**6) for number in range(LIMIT // 10**6 + 1)]
    literals = Compressor(DICTIONARY_2).compress(b"x" * 2_000_000)
    rewrite(path, 3, REPEATED, encode(Repeated(0, [2], many[:-1], literals)))
    must_be_told(path, 3, f"more than {LIMIT} bytes")


def test_rows_named_together_have_a_limit(path, monkeypatch):
    monkeypatch.setattr("journal.stores.sqlite_bases.MOST_BYTES", 3000)
    must_be_told(path, 3, "together they are over 3000 bytes")


class TestDictionary:
    def change(self, path, statement):
        with connect(path) as connection:
            guards = connection.execute(
                "SELECT name, sql FROM sqlite_schema WHERE tbl_name = 'dictionaries' "
                "AND type = 'trigger'"
            ).fetchall()
            for name, _ in guards:
                connection.execute(f"DROP TRIGGER {name}")
            connection.execute(statement)
            for _, sql in guards:
                connection.execute(sql)

    def test_a_file_holds_the_dictionary_its_rows_need(self, path):
        with connect(path) as connection:
            found = connection.execute("SELECT codec, data FROM dictionaries").fetchall()
        assert found == [(DICTIONARY, DICTIONARY_2)]

    def test_a_file_is_read_with_its_own_copy(self, path, monkeypatch):
        def gone(_location):
            raise AssertionError("the packaged dictionary was asked for")

        monkeypatch.setattr(sqlite_dictionary, "_packaged", gone)
        with opened(path) as store:
            assert data_of(store.read_stream(RUN)) == data_of(EVENTS)
        with closing(open_store(path, create=True)) as store:
            store.append([holding(5, text(1))], now=2)
            assert store.find(RUN, 5).data == holding(5, text(1)).data

    @pytest.mark.parametrize(
        ("statement", "how"),
        [
            ("DELETE FROM dictionaries", "missing"),
            ("UPDATE dictionaries SET data = CAST(substr(data, 2) AS BLOB)", "changed"),
            ("UPDATE dictionaries SET data = x''", "changed"),
        ],
    )
    def test_damage_is_named_and_events_without_it_stay_readable(self, path, statement, how):
        rewrite(path, 2, PLAIN, EVENTS[1].data)
        self.change(path, statement)
        with opened(path) as store:
            for read in READS.values():
                with pytest.raises(DamagedFile, match=f"its dictionary 2 is {how}"):
                    read(store)
            assert store.find(RUN, 2).data == EVENTS[1].data
            assert store.head(RUN) == 4

    def test_nothing_is_written_with_a_changed_one(self, path):
        self.change(path, "UPDATE dictionaries SET data = x'00'")
        with closing(open_store(path, create=True)) as store:
            with pytest.raises(DamagedFile, match=r"cannot write to .*dictionary 2 is changed"):
                store.append([holding(5, text(1))], now=2)
            assert store.head(RUN) == 4

    def test_a_lost_one_comes_back_with_the_next_write(self, path):
        self.change(path, "DELETE FROM dictionaries")
        with closing(open_store(path, create=True)) as store:
            store.append([holding(5, text(9))], now=2)
            assert data_of(store.read_stream(RUN, upto=4)) == data_of(EVENTS)

    def test_a_package_that_lost_its_own_makes_no_file_unreadable(self, tmp_path, monkeypatch):
        monkeypatch.setattr(sqlite_dictionary, "CHECKSUM", 1)
        with closing(open_store(tmp_path / "new.db", create=True)) as store:
            with pytest.raises(StorageFailed, match="install runjournal again"):
                store.append([holding(1, text(1))], now=1)
            assert store.last_position() == 0
