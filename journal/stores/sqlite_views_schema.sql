-- The views file, format 1. VIEWS.md beside this file explains every table and column.
--
-- Every open compares the text SQLite stored with this text: a change, also of a comment inside
-- a statement, is a new format with a new user_version. Files of a past format are thrown away.

PRAGMA application_id = 1383427670; -- "RunV"
PRAGMA user_version = 1;

CREATE TABLE meta (
    key TEXT NOT NULL PRIMARY KEY, -- file, journal
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The table of the eventsourcing library, in its own words: how far each stream was read.
CREATE TABLE tracking (
    application_name TEXT, -- name of the stream's rows
    notification_id INTEGER, -- position of the last event they take in
    PRIMARY KEY (application_name)
) WITHOUT ROWID;

CREATE TABLE streams (
    key INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again
    revision INTEGER NOT NULL,
    name TEXT UNIQUE, -- "revision:stream"; NULL when its rows are to be removed
    version INTEGER, -- of the last event that the rows take in
    state BLOB, -- packed
    checksum INTEGER
) STRICT;

CREATE TABLE pages (
    stream INTEGER NOT NULL,
    first BLOB NOT NULL, -- place in logical order at which it begins
    entries BLOB NOT NULL, -- packed
    fold BLOB, -- packed; NULL where it is not known
    epoch INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    step INTEGER NOT NULL,
    newest INTEGER NOT NULL, -- version
    latest INTEGER NOT NULL, -- microseconds since 1970-01-01T00:00:00Z
    checksum INTEGER NOT NULL,
    PRIMARY KEY (stream, first)
) STRICT; -- with rowids: SQLite keeps rows of this size whole only so

CREATE INDEX pages_by_messages ON pages (stream, epoch, messages, first) WHERE fold IS NOT NULL;
CREATE INDEX pages_by_step ON pages (stream, step, first) WHERE fold IS NOT NULL;
CREATE INDEX pages_by_newest ON pages (stream, newest, first) WHERE fold IS NOT NULL;
CREATE INDEX pages_by_latest ON pages (stream, latest, first) WHERE fold IS NOT NULL;

CREATE TABLE chunks (
    key INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again
    stream INTEGER NOT NULL,
    digest BLOB NOT NULL, -- 16-byte BLAKE2b of the plain bytes
    checksum INTEGER NOT NULL,
    data BLOB NOT NULL -- packed
) STRICT;

CREATE UNIQUE INDEX chunks_by_digest ON chunks (stream, digest);

CREATE TABLE documents (
    stream INTEGER NOT NULL,
    version INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    root BLOB NOT NULL, -- packed
    PRIMARY KEY (stream, version)
) STRICT; -- as pages

CREATE TABLE returns (
    stream INTEGER NOT NULL,
    call BLOB NOT NULL, -- 16 bytes that stand for a tool call's id
    version INTEGER NOT NULL,
    place BLOB NOT NULL, -- in logical order
    checksum INTEGER NOT NULL,
    PRIMARY KEY (stream, call, version)
) STRICT, WITHOUT ROWID;
