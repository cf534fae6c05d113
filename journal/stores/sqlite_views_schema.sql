-- The views file, format 2. VIEWS.md beside this file explains every table and column.
--
-- Every open compares the text SQLite stored with this text: a change, also of a comment inside
-- a statement, is a new format with a new user_version. Files of a past format are thrown away.

PRAGMA application_id = 1383427670; -- "RunV"
PRAGMA user_version = 2;

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

-- What the audit asks across all runs. Columns marked `name` hold keys of audit_names.

CREATE TABLE audit_state (
    key INTEGER PRIMARY KEY CHECK (key = 1),
    revision INTEGER NOT NULL, -- of the code that made the rows
    generation INTEGER NOT NULL -- rises whenever rows are removed
) STRICT;

CREATE TABLE audit_names (
    key INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again
    name TEXT NOT NULL UNIQUE,
    checksum INTEGER NOT NULL
) STRICT;

CREATE TABLE audit_rows (
    key INTEGER PRIMARY KEY, -- position * 2^20 + part
    version INTEGER NOT NULL,
    run_id INTEGER NOT NULL, -- name
    session_id INTEGER, -- name
    conversation_id INTEGER, -- name
    parent_run_id INTEGER, -- name
    agent INTEGER, -- name
    child_run_id INTEGER, -- name
    anchor INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL, -- microseconds since 1970-01-01T00:00:00Z
    host_at INTEGER,
    kind INTEGER NOT NULL, -- name
    node INTEGER, -- name
    step INTEGER,
    tool INTEGER, -- name
    call_id TEXT,
    item_id TEXT,
    status INTEGER, -- name
    error_kind INTEGER, -- name
    actor INTEGER, -- name
    trace_id INTEGER, -- name
    span_id TEXT,
    model INTEGER, -- name
    requests INTEGER,
    input_tokens INTEGER,
    output_tokens INTEGER,
    cache_read_tokens INTEGER,
    cache_write_tokens INTEGER,
    total_tokens INTEGER,
    cost_micros INTEGER,
    duration_ms INTEGER,
    from_state INTEGER NOT NULL, -- 0 or 1
    text TEXT,
    checksum INTEGER NOT NULL
) STRICT;

CREATE INDEX audit_rows_by_kind ON audit_rows (kind, status, recorded_at);
CREATE INDEX audit_rows_by_run ON audit_rows (run_id, anchor, rank, version);
CREATE INDEX audit_rows_by_session ON audit_rows (session_id, recorded_at)
    WHERE session_id IS NOT NULL;
CREATE INDEX audit_rows_by_tool ON audit_rows (tool, kind, recorded_at) WHERE tool IS NOT NULL;
CREATE INDEX audit_rows_by_call ON audit_rows (run_id, call_id, kind) WHERE call_id IS NOT NULL;
CREATE INDEX audit_rows_by_item ON audit_rows (run_id, item_id) WHERE item_id IS NOT NULL;
-- What the rows of a run used, summed by day, model and agent; 0 stands for a missing name.
CREATE TABLE audit_used (
    run_id INTEGER NOT NULL, -- name
    day INTEGER NOT NULL, -- days since 1970-01-01 of recorded_at
    session_id INTEGER NOT NULL, -- name
    agent INTEGER NOT NULL, -- name
    child_run_id INTEGER NOT NULL, -- name
    from_state INTEGER NOT NULL, -- 0 or 1
    model INTEGER NOT NULL, -- name
    first INTEGER NOT NULL, -- key of a row
    last INTEGER NOT NULL, -- key of a row
    from_at INTEGER NOT NULL, -- the smallest recorded_at
    to_at INTEGER NOT NULL, -- the largest
    responses INTEGER NOT NULL,
    requests INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cache_read_tokens INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    total_tokens INTEGER NOT NULL,
    cost_micros INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (run_id, day, session_id, agent, child_run_id, from_state, model)
) STRICT, WITHOUT ROWID;

-- The words of audit_rows.text, spaced; rowid is the row's key.
CREATE VIRTUAL TABLE audit_words USING fts5 (
    text, content = '', columnsize = 0,
    tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M*'"
);

CREATE TABLE audit_runs (
    run_id INTEGER PRIMARY KEY, -- name
    session_id INTEGER, -- name
    conversation_id INTEGER, -- name
    parent_run_id INTEGER, -- name
    agent INTEGER, -- name
    forked_from INTEGER, -- name
    status INTEGER, -- name
    opened_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    ended_at INTEGER,
    version INTEGER NOT NULL,
    position INTEGER NOT NULL,
    anchor INTEGER NOT NULL,
    records INTEGER NOT NULL,
    sequences TEXT NOT NULL,
    error_kind INTEGER, -- name
    error TEXT,
    last_tool INTEGER, -- name
    last_call_id TEXT,
    last_call_anchor INTEGER,
    last_text TEXT,
    last_text_anchor INTEGER,
    trace_ids TEXT NOT NULL, -- JSON
    archived INTEGER NOT NULL, -- 0 or 1
    state TEXT NOT NULL, -- JSON
    checksum INTEGER NOT NULL
) STRICT;

CREATE INDEX audit_runs_by_status ON audit_runs (status, updated_at, position);
CREATE INDEX audit_runs_archived ON audit_runs (archived) WHERE archived = 1;
CREATE INDEX audit_runs_by_session ON audit_runs (session_id) WHERE session_id IS NOT NULL;

CREATE TABLE audit_traces (
    run_id INTEGER NOT NULL, -- name
    trace_id INTEGER NOT NULL, -- name
    PRIMARY KEY (run_id, trace_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX audit_traces_by_trace ON audit_traces (trace_id, run_id);

CREATE TABLE audit_damage (
    position INTEGER PRIMARY KEY, -- of an event that could not be read
    reason TEXT NOT NULL,
    checksum INTEGER NOT NULL
) STRICT;

-- For people and `runjournal sql`: the same with names in place of their keys.

CREATE VIEW rows AS
SELECT
    r.key >> 20 AS position,
    r.key & 1048575 AS part,
    r.version,
    run.name AS run_id,
    session.name AS session_id,
    conversation.name AS conversation_id,
    parent.name AS parent_run_id,
    agent.name AS agent,
    child.name AS child_run_id,
    r.anchor,
    r.rank,
    r.recorded_at,
    r.host_at,
    kind.name AS kind,
    node.name AS node,
    r.step,
    tool.name AS tool,
    r.call_id,
    r.item_id,
    status.name AS status,
    error.name AS error_kind,
    actor.name AS actor,
    trace.name AS trace_id,
    r.span_id,
    model.name AS model,
    r.requests,
    r.input_tokens,
    r.output_tokens,
    r.cache_read_tokens,
    r.cache_write_tokens,
    r.total_tokens,
    r.cost_micros,
    r.duration_ms,
    r.from_state,
    r.text
FROM audit_rows AS r
LEFT JOIN audit_names AS run ON run.key = r.run_id
LEFT JOIN audit_names AS session ON session.key = r.session_id
LEFT JOIN audit_names AS conversation ON conversation.key = r.conversation_id
LEFT JOIN audit_names AS parent ON parent.key = r.parent_run_id
LEFT JOIN audit_names AS agent ON agent.key = r.agent
LEFT JOIN audit_names AS child ON child.key = r.child_run_id
LEFT JOIN audit_names AS kind ON kind.key = r.kind
LEFT JOIN audit_names AS node ON node.key = r.node
LEFT JOIN audit_names AS tool ON tool.key = r.tool
LEFT JOIN audit_names AS status ON status.key = r.status
LEFT JOIN audit_names AS error ON error.key = r.error_kind
LEFT JOIN audit_names AS actor ON actor.key = r.actor
LEFT JOIN audit_names AS trace ON trace.key = r.trace_id
LEFT JOIN audit_names AS model ON model.key = r.model;

CREATE VIEW runs AS
SELECT
    run.name AS run_id,
    session.name AS session_id,
    conversation.name AS conversation_id,
    parent.name AS parent_run_id,
    agent.name AS agent,
    source.name AS forked_from,
    status.name AS status,
    r.opened_at,
    r.updated_at,
    r.ended_at,
    r.version,
    r.position,
    r.anchor,
    r.records,
    r.sequences,
    error.name AS error_kind,
    r.error,
    tool.name AS last_tool,
    r.last_call_id,
    r.last_call_anchor,
    r.last_text,
    r.last_text_anchor,
    r.trace_ids,
    r.archived
FROM audit_runs AS r
LEFT JOIN audit_names AS run ON run.key = r.run_id
LEFT JOIN audit_names AS session ON session.key = r.session_id
LEFT JOIN audit_names AS conversation ON conversation.key = r.conversation_id
LEFT JOIN audit_names AS parent ON parent.key = r.parent_run_id
LEFT JOIN audit_names AS agent ON agent.key = r.agent
LEFT JOIN audit_names AS source ON source.key = r.forked_from
LEFT JOIN audit_names AS status ON status.key = r.status
LEFT JOIN audit_names AS error ON error.key = r.error_kind
LEFT JOIN audit_names AS tool ON tool.key = r.last_tool;

-- A call is one of its run, child run, call id and step, however often it was recorded; its
-- return is the last of its id in its step, else the last that is in no call's step. What a
-- child run or stream records tell as well is left out.
CREATE VIEW calls AS
SELECT
    c.key >> 20 AS position,
    c.version,
    run.name AS run_id,
    session.name AS session_id,
    agent.name AS agent,
    child.name AS child_run_id,
    c.anchor,
    c.step,
    tool.name AS tool,
    c.call_id,
    c.recorded_at AS called_at,
    b.recorded_at AS returned_at,
    CASE WHEN b.key IS NULL THEN 'missing' ELSE coalesce(outcome.name, 'ok') END AS outcome,
    coalesce(
        b.duration_ms,
        CASE WHEN b.recorded_at >= c.recorded_at THEN (b.recorded_at - c.recorded_at) / 1000 END
    ) AS duration_ms,
    error.name AS error_kind,
    c.text AS arguments,
    b.text AS result,
    trace.name AS trace_id,
    c.span_id
FROM audit_rows AS c
LEFT JOIN audit_rows AS b ON b.key = coalesce(
    (
        SELECT x.key FROM audit_rows AS x
        WHERE x.run_id = c.run_id AND x.call_id = c.call_id
            AND x.kind = (SELECT n.key FROM audit_names AS n WHERE n.name = 'tool_return')
            AND x.child_run_id IS c.child_run_id AND x.step IS c.step
        ORDER BY x.anchor DESC, x.rank DESC, x.version DESC, x.key DESC LIMIT 1
    ),
    (
        SELECT x.key FROM audit_rows AS x
        WHERE x.run_id = c.run_id AND x.call_id = c.call_id
            AND x.kind = (SELECT n.key FROM audit_names AS n WHERE n.name = 'tool_return')
            AND x.child_run_id IS c.child_run_id AND NOT EXISTS (
                SELECT 1 FROM audit_rows AS y
                WHERE y.run_id = x.run_id AND y.call_id = x.call_id AND y.kind = c.kind
                    AND y.child_run_id IS x.child_run_id AND y.step IS x.step
            )
        ORDER BY x.anchor DESC, x.rank DESC, x.version DESC, x.key DESC LIMIT 1
    )
)
LEFT JOIN audit_names AS run ON run.key = c.run_id
LEFT JOIN audit_names AS session ON session.key = c.session_id
LEFT JOIN audit_names AS agent ON agent.key = c.agent
LEFT JOIN audit_names AS child ON child.key = c.child_run_id
LEFT JOIN audit_names AS tool ON tool.key = c.tool
LEFT JOIN audit_names AS outcome ON outcome.key = b.status
LEFT JOIN audit_names AS error ON error.key = b.error_kind
LEFT JOIN audit_names AS trace ON trace.key = c.trace_id
WHERE c.kind = (SELECT n.key FROM audit_names AS n WHERE n.name = 'tool_call')
    AND NOT EXISTS (
        SELECT 1 FROM audit_rows AS z
        WHERE z.run_id = c.run_id AND z.call_id = c.call_id AND z.kind = c.kind
            AND z.child_run_id IS c.child_run_id AND z.step IS c.step
            AND (z.anchor, z.rank, z.version, z.key) > (c.anchor, c.rank, c.version, c.key)
    )
    AND NOT EXISTS (SELECT 1 FROM audit_runs AS k WHERE k.run_id = c.child_run_id)
    AND (
        c.from_state = 0
        OR NOT EXISTS (SELECT 1 FROM audit_runs AS k WHERE k.run_id = c.run_id AND k.records > 0)
    );
