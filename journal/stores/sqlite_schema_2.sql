-- The journal file, format 2: what it adds to `sqlite_schema.sql`. FORMAT.md beside this file
-- explains every table and column.
--
-- Never edit a statement of a released format, not even a comment inside it: every open
-- compares the text SQLite stored with this text. The statements run in one transaction,
-- after those of format 1 in a new file, alone in a file of format 1.

PRAGMA user_version = 2;

CREATE TABLE leases (
    stream INTEGER PRIMARY KEY REFERENCES streams (key),
    generation INTEGER NOT NULL, -- 1, 2, 3, ...
    owner TEXT NOT NULL,
    host TEXT NOT NULL,
    process INTEGER NOT NULL,
    started TEXT NOT NULL,
    expires_at INTEGER NOT NULL -- microseconds since 1970-01-01T00:00:00Z, 0 released
) STRICT;

CREATE TABLE dictionaries (
    codec INTEGER PRIMARY KEY, -- the codec that packs with it
    data BLOB NOT NULL
) STRICT;

-- Guards. A lease is the one row of a journal that changes: its generation never falls, and
-- as its row is never deleted, neither by INSERT OR REPLACE, it is never counted anew.

CREATE TRIGGER leases_insert_guard BEFORE INSERT ON leases
BEGIN
    SELECT CASE
        WHEN EXISTS (SELECT 1 FROM leases WHERE stream = NEW.stream)
        THEN RAISE(ABORT, 'runjournal: the stream has a lease already')
        WHEN NOT EXISTS (SELECT 1 FROM streams WHERE key = NEW.stream)
        THEN RAISE(ABORT, 'runjournal: a lease is of a stream')
        WHEN NEW.generation < 1
        THEN RAISE(ABORT, 'runjournal: the first generation is 1')
    END;
END;

CREATE TRIGGER leases_update_guard BEFORE UPDATE ON leases
BEGIN
    SELECT RAISE(ABORT, 'runjournal: a lease stays with its stream, its generation never falls')
    WHERE NEW.stream IS NOT OLD.stream OR NEW.generation < OLD.generation;
END;

CREATE TRIGGER leases_delete_guard BEFORE DELETE ON leases
BEGIN
    SELECT RAISE(ABORT, 'runjournal: leases are never deleted');
END;

CREATE TRIGGER dictionaries_insert_guard BEFORE INSERT ON dictionaries
BEGIN
    SELECT RAISE(ABORT, 'runjournal: the codec has its dictionary already')
    WHERE EXISTS (SELECT 1 FROM dictionaries WHERE codec = NEW.codec);
END;

CREATE TRIGGER dictionaries_update_guard BEFORE UPDATE ON dictionaries
BEGIN
    SELECT RAISE(ABORT, 'runjournal: dictionaries never change');
END;

CREATE TRIGGER dictionaries_delete_guard BEFORE DELETE ON dictionaries
BEGIN
    SELECT RAISE(ABORT, 'runjournal: dictionaries are never deleted');
END;
