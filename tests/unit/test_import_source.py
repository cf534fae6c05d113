"""A database is only read, and only when it is what it should be."""

import os
import shutil
import sqlite3
from contextlib import closing

import pytest

from journal import Journal
from journal.errors import DamagedSource, InvalidSource, SourceBusy
from journal.hosts.starweaver_import import database as database_module
from journal.hosts.starweaver_import import import_database
from tests.unit.privileges import public_directory, without_privileges
from tests.unit.starweaver_files import StarweaverFile, small_file


@pytest.fixture
def path(tmp_path):
    return small_file(tmp_path / "sw.db").path


@pytest.fixture
def imported():
    with Journal.open("memory://") as journal:
        yield journal


def refusal(journal, path, kind=InvalidSource):
    """The message of the refusal; nothing was imported."""
    with pytest.raises(kind) as caught:
        import_database(journal, path)
    assert journal.reader.last_position() == 0
    return str(caught.value)


def change(path, *statements):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema=ON")
        for statement in statements:
            connection.execute(statement)


def use_log(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")


def contents(directory):
    return {each.name: each.read_bytes() for each in directory.iterdir()}


# What is not there, or is something else.


def test_a_path_that_leads_to_no_database_is_refused(tmp_path, imported):
    assert "no such file" in refusal(imported, tmp_path / "missing.db")
    assert "not a regular file" in refusal(imported, tmp_path)
    (tmp_path / "empty.db").touch()
    assert "an empty file" in refusal(imported, tmp_path / "empty.db")
    (tmp_path / "text.db").write_text("no database at all " * 100)
    assert "not an SQLite database" in refusal(imported, tmp_path / "text.db")
    os.mkfifo(tmp_path / "pipe")
    assert "not a regular file" in refusal(imported, tmp_path / "pipe")
    (tmp_path / "link").symlink_to("nowhere")
    assert "no such file" in refusal(imported, tmp_path / "link")
    assert "NUL" in refusal(imported, "a\0b")


def test_a_file_that_may_not_be_read_is_refused(imported):
    with public_directory() as directory:
        made = small_file(directory / "sw.db")
        made.path.chmod(0o000)
        with without_privileges():
            assert "no permission" in refusal(imported, made.path)
        made.path.chmod(0o600)


def test_another_programs_database_is_refused(tmp_path, imported):
    with Journal.open(tmp_path / "runs.db"):
        pass
    message = refusal(imported, tmp_path / "runs.db")
    assert (
        "not a Starweaver session database, it has no table starweaver_schema_migrations" in message
    )


# Damage.


def damage(path, *, begin, length=4096):
    content = bytearray(path.read_bytes())
    content[begin : begin + length] = b"\xaa" * len(content[begin : begin + length])
    path.write_bytes(content)


def root_page(path, name):
    with closing(sqlite3.connect(path)) as connection:
        [(page,)] = connection.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,)
        ).fetchall()
    return page


@pytest.mark.parametrize("name", ["stream_records", "sqlite_autoindex_stream_records_1"])
def test_damaged_pages_are_told(path, imported, name):
    damage(path, begin=(root_page(path, name) - 1) * 4096)
    with pytest.raises(DamagedSource, match="damaged"):
        import_database(imported, path)


def test_a_damaged_schema_is_told(path, imported):
    damage(path, begin=100, length=3000)
    assert "is damaged" in refusal(imported, path, DamagedSource)
    change_to = path.with_name("other.db")
    made = StarweaverFile(change_to)
    change(
        made.path, "UPDATE sqlite_schema SET sql = 'CREATE NONSENSE' WHERE name = 'stream_records'"
    )
    assert "malformed database schema" in refusal(imported, made.path, DamagedSource)


def test_a_file_that_was_cut_short_is_told(path, imported):
    path.write_bytes(path.read_bytes()[: 4096 * 5])
    with pytest.raises(DamagedSource):
        import_database(imported, path)


def test_an_index_that_lost_a_row_is_noticed(path, imported):
    """Rows are found by an index and counted without: one that is missing there is told."""
    ours = small_file(path.with_name("other.db"))
    before = root_page(ours.path, "sqlite_autoindex_stream_records_1")
    content = ours.path.read_bytes()
    kept = content[(before - 1) * 4096 : before * 4096]
    ours.stream(2)
    changed = bytearray(ours.path.read_bytes())
    changed[(before - 1) * 4096 : before * 4096] = kept
    ours.path.write_bytes(changed)
    result = import_database(imported, ours.path)
    assert result.recorded["stream_record"] == 2
    assert [(one.what, one.count) for one in result.not_mapped] == [("stream_records", 1)]


def test_an_index_with_rows_that_are_gone_is_noticed(path, imported):
    ours = small_file(path.with_name("other.db"))
    ours.stream(2)
    page = root_page(ours.path, "sqlite_autoindex_stream_records_1")
    kept = ours.path.read_bytes()[(page - 1) * 4096 : page * 4096]
    ours.execute("DELETE FROM stream_records WHERE sequence_no = 2")
    changed = bytearray(ours.path.read_bytes())
    changed[(page - 1) * 4096 : page * 4096] = kept
    ours.path.write_bytes(changed)
    with pytest.raises(DamagedSource, match="names a row that is missing"):
        import_database(imported, ours.path)


# Reading leaves everything as it is.


@pytest.mark.parametrize("log", [False, True])
def test_a_database_that_nobody_uses_is_left_as_it_is(path, imported, log):
    if log:
        use_log(path)
    before = contents(path.parent)
    assert import_database(imported, path).recorded["run"] == 1
    assert contents(path.parent) == before


@pytest.mark.parametrize("log", [False, True])
def test_a_directory_that_cannot_be_written_does_not_matter(imported, log):
    with public_directory() as directory:
        made = small_file(directory / "sw.db")
        if log:
            use_log(made.path)
        made.path.chmod(0o444)
        directory.chmod(0o555)
        with without_privileges():
            assert import_database(imported, made.path).recorded["run"] == 1
        directory.chmod(0o777)


def test_a_log_that_was_left_is_read_with_its_database(path, imported, tmp_path):
    use_log(path)
    with closing(sqlite3.connect(path)) as writer, writer:
        writer.execute(
            "UPDATE session_records SET record = replace(record, '\"active\"', '\"archived\"')"
        )
        writer.commit()
        copied = tmp_path / "copied"
        copied.mkdir()
        for name in ("sw.db", "sw.db-wal"):
            shutil.copy(tmp_path / name, copied / name)
    import_database(imported, copied / "sw.db")
    assert imported.session_record("s")["status"] == "archived"


def test_a_log_that_cannot_be_read_where_it_is_says_what_to_do(imported):
    with public_directory() as directory:
        made = small_file(directory / "sw.db")
        use_log(made.path)
        copied = directory / "copied"
        copied.mkdir()
        with closing(sqlite3.connect(made.path)) as writer, writer:
            writer.execute("DELETE FROM stream_records")
            writer.commit()
            for name in ("sw.db", "sw.db-wal"):
                shutil.copy(directory / name, copied / name)
                (copied / name).chmod(0o444)
        copied.chmod(0o555)
        with without_privileges():
            message = refusal(imported, copied / "sw.db")
        copied.chmod(0o777)
    assert "what is in sw.db-wal belongs to it" in message
    assert "copy both to a directory that can be written" in message


def begin_to_write(writer):
    """Write so much that a part of the transaction is in the file before it ends."""
    writer.execute("PRAGMA cache_size=1")
    writer.execute("BEGIN EXCLUSIVE")
    writer.execute("UPDATE stream_records SET record = 'half'")
    for number in range(200):
        writer.execute("INSERT INTO replay_snapshots VALUES (?, ?, '')", (str(number), "x" * 4000))


def test_a_transaction_that_was_broken_off_is_not_read(path, imported, tmp_path):
    copied = tmp_path / "copied"
    copied.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        begin_to_write(writer)
        for name in ("sw.db", "sw.db-journal"):
            shutil.copy(tmp_path / name, copied / name)
        writer.execute("ROLLBACK")
    assert "what is in sw.db-journal belongs to it" in refusal(imported, copied / "sw.db")


# Somebody else is at it.


def test_a_database_in_use_is_read_as_it_was_at_one_moment(path, imported):
    use_log(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("UPDATE run_records SET updated_at = updated_at")
        asked = []

        def meanwhile(*_):
            if not asked:
                asked.append(1)
                writer.execute("DELETE FROM stream_records")

        result = import_database(imported, path, progress=meanwhile)
        assert asked
        assert result.recorded["stream_record"] == 2
        assert not writer.execute("SELECT count(*) FROM stream_records").fetchone()[0]
        before = {each.name for each in path.parent.iterdir()}
        assert before == {"sw.db", "sw.db-wal", "sw.db-shm"}


@pytest.mark.parametrize("log", [False, True])
def test_somebody_who_begins_to_write_it_is_noticed(path, imported, log):
    if log:
        use_log(path)
    asked = []

    def meanwhile(*_):
        if not asked:
            asked.append(1)
            change(path, "DELETE FROM stream_records")

    with pytest.raises(SourceBusy, match="import it again") as caught:
        import_database(imported, path, progress=meanwhile)
    assert "written to" in str(caught.value)
    assert import_database(imported, path).refused == {}


def test_a_file_that_goes_away_is_noticed(path, imported):
    with pytest.raises(SourceBusy, match="written to"):
        import_database(imported, path, progress=lambda *_: path.unlink(missing_ok=True))


def test_a_locked_database_is_told(path, imported, monkeypatch):
    monkeypatch.setattr(database_module, "BUSY_TIMEOUT", 0.01)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        begin_to_write(writer)
        assert "locked" in refusal(imported, path, SourceBusy)
        writer.execute("ROLLBACK")
    assert import_database(imported, path).recorded["run"] == 1


def test_paths_with_characters_of_urls_are_taken_as_they_are(tmp_path, imported):
    odd = tmp_path / "a?mode=rwc#b%20 é.db"
    small_file(odd)
    assert import_database(imported, odd).recorded["run"] == 1
    assert {each.name for each in tmp_path.iterdir()} == {odd.name}


def test_a_key_that_is_no_text_is_refused(tmp_path):
    made = small_file(tmp_path / "sw.db")
    made.session("t")
    made.run("u", number=2)
    made.execute(
        "UPDATE session_records SET session_id = CAST('t' AS BLOB) WHERE session_id = 't';"
        "UPDATE run_records SET run_id = CAST('u' AS BLOB) WHERE run_id = 'u';"
        "INSERT INTO session_records SELECT CAST('s' AS BLOB), record, created_at, updated_at "
        "FROM session_records WHERE session_id = 's';"
        "INSERT INTO run_records SELECT CAST('s' AS BLOB), run_id, record, 9, created_at, "
        "updated_at FROM run_records WHERE run_id = 'r'"
    )
    with Journal.open("memory://") as journal:
        result = import_database(journal, made.path)
    assert result.refused == {"session_records": 2, "run_records": 1}
    assert all("is no text, but blob" in row.reason for row in result.refused_rows)
    assert (result.recorded["session"], result.recorded["run"]) == (1, 1)
    assert {"run_records": 1}.items() <= {
        each.what: each.count for each in result.not_mapped
    }.items()
