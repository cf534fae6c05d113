-- The journal file, format 1. FORMAT.md beside this file explains every table and column.
--
-- Never edit a statement of a released format, not even a comment inside it: every open
-- compares the text SQLite stored with this text. A change is a new format with a new
-- user_version. The statements run in one transaction.

PRAGMA application_id = 1383427658; -- "RunJ"
PRAGMA user_version = 1;

CREATE TABLE meta (
    key TEXT NOT NULL PRIMARY KEY,
    value ANY NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE names (
    code INTEGER PRIMARY KEY, -- 1, 2, 3, ...
    name TEXT NOT NULL UNIQUE -- stored event name
) STRICT;

CREATE TABLE streams (
    key INTEGER PRIMARY KEY, -- position of the stream's first event
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE events (
    position INTEGER PRIMARY KEY, -- place in the journal: 1, 2, 3, ...
    stream INTEGER NOT NULL REFERENCES streams (key),
    version INTEGER NOT NULL, -- place in the stream: 1, 2, 3, ...
    name INTEGER NOT NULL REFERENCES names (code),
    codec INTEGER NOT NULL, -- how data is packed: 0 plain, 1 zstd
    recorded_at INTEGER NOT NULL, -- microseconds since 1970-01-01T00:00:00Z
    identity ANY, -- NULL, integer or 16-byte blob
    checksum INTEGER NOT NULL, -- CRC-32 of the row and its two names, signed
    data BLOB NOT NULL -- JSON, packed
) STRICT;

-- The name is in the index so that a search for few events of a long stream stays in it.
-- That a version is unique in its stream is the insert guard's doing.
CREATE UNIQUE INDEX events_by_version ON events (stream, version, name);

CREATE UNIQUE INDEX events_by_identity ON events (stream, identity)
    WHERE identity IS NOT NULL;

-- Guards. The conditions of the insert guards also cover INSERT OR REPLACE, which deletes
-- the old row without firing its delete trigger.

CREATE TRIGGER events_insert_guard BEFORE INSERT ON events
BEGIN
    SELECT CASE
        WHEN NEW.position IS NOT
            coalesce((SELECT max(position) FROM events), 0) + 1
        THEN RAISE(ABORT, 'runjournal: position must be the last one plus 1')
        WHEN NEW.version IS NOT
            coalesce((SELECT max(version) FROM events WHERE stream = NEW.stream), 0) + 1
        THEN RAISE(ABORT, 'runjournal: version must be the last one of the stream plus 1')
        WHEN NEW.version = 1 AND (
            NEW.stream <> NEW.position
            OR NOT EXISTS (SELECT 1 FROM streams WHERE key = NEW.stream)
        )
        THEN RAISE(ABORT, 'runjournal: a stream begins with its key as position')
        WHEN NEW.recorded_at <
            (SELECT recorded_at FROM events WHERE position = NEW.position - 1)
        THEN RAISE(ABORT, 'runjournal: recorded_at must not go back')
        WHEN NEW.identity IS NOT NULL AND EXISTS (
            SELECT 1 FROM events WHERE stream = NEW.stream AND identity = NEW.identity
        )
        THEN RAISE(ABORT, 'runjournal: the identity is in the stream already')
    END;
END;

CREATE TRIGGER events_update_guard BEFORE UPDATE ON events
BEGIN
    SELECT RAISE(ABORT, 'runjournal: events never change');
END;

CREATE TRIGGER events_delete_guard BEFORE DELETE ON events
BEGIN
    SELECT RAISE(ABORT, 'runjournal: events are never deleted');
END;

CREATE TRIGGER streams_insert_guard BEFORE INSERT ON streams
BEGIN
    SELECT RAISE(ABORT, 'runjournal: the stream exists, or its key is not a position to come')
    WHERE NEW.key <= coalesce((SELECT max(position) FROM events), 0)
        OR EXISTS (SELECT 1 FROM streams WHERE key = NEW.key OR name = NEW.name);
END;

CREATE TRIGGER streams_update_guard BEFORE UPDATE ON streams
BEGIN
    SELECT RAISE(ABORT, 'runjournal: streams never change');
END;

CREATE TRIGGER streams_delete_guard BEFORE DELETE ON streams
BEGIN
    SELECT RAISE(ABORT, 'runjournal: streams are never deleted');
END;

CREATE TRIGGER names_insert_guard BEFORE INSERT ON names
BEGIN
    SELECT RAISE(ABORT, 'runjournal: the name exists, or its code is not the last one plus 1')
    WHERE NEW.code IS NOT coalesce((SELECT max(code) FROM names), 0) + 1
        OR EXISTS (SELECT 1 FROM names WHERE name = NEW.name);
END;

CREATE TRIGGER names_update_guard BEFORE UPDATE ON names
BEGIN
    SELECT RAISE(ABORT, 'runjournal: names never change');
END;

CREATE TRIGGER names_delete_guard BEFORE DELETE ON names
BEGIN
    SELECT RAISE(ABORT, 'runjournal: names are never deleted');
END;

CREATE TRIGGER meta_insert_guard BEFORE INSERT ON meta
BEGIN
    SELECT RAISE(ABORT, 'runjournal: the key is set already')
    WHERE EXISTS (SELECT 1 FROM meta WHERE key = NEW.key);
END;

CREATE TRIGGER meta_update_guard BEFORE UPDATE ON meta
BEGIN
    SELECT RAISE(ABORT, 'runjournal: meta never changes');
END;

CREATE TRIGGER meta_delete_guard BEFORE DELETE ON meta
BEGIN
    SELECT RAISE(ABORT, 'runjournal: meta is never deleted');
END;
