-- The journal file, format 3: what it changes of formats 1 and 2. FORMAT.md beside this file
-- explains every table and column.
--
-- Never edit a statement of a released format, not even a comment inside it: every open
-- compares the text SQLite stored with this text. The statements run in one transaction,
-- after those of the formats before in a new file, alone in a file of format 2.

PRAGMA user_version = 3;

-- Events of archived runs are let go: those of a stream below its run.archived event, which
-- stays. So the last position, the last version of each stream and the last recorded time are
-- always there, and none is used twice.

DROP TRIGGER events_delete_guard;

CREATE TRIGGER events_delete_guard BEFORE DELETE ON events
BEGIN
    SELECT RAISE(ABORT, 'runjournal: only events below a run.archived of their stream are deleted')
    WHERE NOT EXISTS (
        SELECT 1 FROM events
        WHERE stream = OLD.stream AND version > OLD.version
            AND name = (SELECT code FROM names WHERE name = 'run.archived.v1')
    );
END;
