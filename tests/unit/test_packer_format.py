"""FORMAT.md says how rows are packed: its own program reads all of them."""

import re
import shutil
from contextlib import closing
from importlib import resources
from pathlib import Path
from zlib import crc32

import pytest

from journal.compress import DICTIONARY, LIMIT, PLAIN, REPEATED, ZSTD
from journal.stores import open_store
from journal.stores.repeated import MOST_BASES, MOST_BYTES
from journal.stores.sqlite_dictionary import CHECKSUM
from tests.unit.dictionary import DICTIONARY_2
from tests.unit.packed_rows import holding, numbers, text
from tests.unit.sqlite_files import connect, event

PAGE = resources.files("journal.stores").joinpath("FORMAT.md").read_text("utf-8")
FORMAT_1 = Path(__file__).parents[1] / "fixtures" / "journals" / "format-1.journal"


@pytest.fixture
def printed(tmp_path, monkeypatch, capsys):
    """Run the page's program on runs.db, and give the JSON it printed."""

    def run():
        [code] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
        monkeypatch.chdir(tmp_path)
        used = {}
        try:
            exec(compile(code, "FORMAT.md", "exec"), used)
        finally:
            used["database"].close()
        lines = capsys.readouterr().out.rstrip("\n").split("\n")
        return [line[line.index("{") :].encode() for line in lines]

    return run


def test_it_reads_rows_of_every_codec(tmp_path, printed):
    path = tmp_path / "runs.db"
    events = [
        event(1, "run:1", b'{"a":1}'),
        holding(2, text(1)),
        holding(3, text(2, 5000)),
        holding(4, text(2, 5000), "and", text(1), text(2, 5000)),
        holding(5, {"of": text(1)}),
    ]
    with closing(open_store(path, create=True)) as store:
        store.append(events, now=1)
        expected = [one.data for one in store.read_all()]
    assert numbers(path) == [PLAIN, DICTIONARY, ZSTD, REPEATED, REPEATED]
    assert printed() == expected


def test_it_reads_a_file_of_format_1(tmp_path, printed):
    shutil.copyfile(FORMAT_1, tmp_path / "runs.db")
    with closing(open_store(tmp_path / "runs.db", create=False)) as store:
        expected = [one.data for one in store.read_all()]
    assert printed() == expected


def test_it_notices_a_copy_from_the_wrong_row(tmp_path, printed):
    path = tmp_path / "runs.db"
    with closing(open_store(path, create=True)) as store:
        store.append([holding(1, text(1)), holding(2, text(1))], now=1)
        store.append([holding(1, text(2), stream="run:2")], now=1)
    with connect(path) as connection:
        connection.execute("DROP TRIGGER events_update_guard")
        connection.execute(
            "UPDATE events SET data = (SELECT data FROM events WHERE position = 3) "
            "WHERE position = 1"
        )
    with pytest.raises(AssertionError, match="event 1 of run:1 is damaged"):
        printed()


def test_its_numbers_are_those_of_the_code():
    assert f"{LIMIT:,} bytes" in PAGE
    assert MOST_BYTES == LIMIT
    assert f"1 to {MOST_BASES}" in PAGE
    assert f"0x{CHECKSUM:08X}" in PAGE
    assert f"{len(DICTIONARY_2):,} bytes" in PAGE
    assert crc32(DICTIONARY_2) == CHECKSUM
