"""Starweaver session databases made by hand, so that any row of them can be wrong."""

import json
import sqlite3
from contextlib import closing
from importlib.resources import files

from tests import samples
from tests.unit.record_store_samples import APPROVAL, CLAIM, DEFERRED, RUN, SESSION

TIME = "2026-11-29T20:44:38.571306789+00:00"
SCHEMA = files("journal.hosts.starweaver_import").joinpath("schema.sql").read_text()
PLAIN_RUN = {
    **{key: RUN[key] for key in ("session_id", "conversation_id", "created_at", "updated_at")},
    "status": "waiting",
    "revision": 3,
}


def enveloped(schema, payload, version=1):
    return {"schema": f"starweaver.{schema}", "version": version, "payload": payload}


class StarweaverFile:
    """A database that is being made; it is closed after each change."""

    def __init__(self, path):
        self.path = path
        self.execute(SCHEMA)

    def execute(self, script):
        with closing(sqlite3.connect(self.path)) as connection:
            connection.executescript(f"PRAGMA synchronous=OFF; BEGIN; {script}; COMMIT")

    def insert(self, table, *values):
        """Add a row; objects become JSON."""
        texts = [json.dumps(value) if isinstance(value, dict) else value for value in values]
        marks = ", ".join("?" * len(values))
        with closing(sqlite3.connect(self.path)) as connection, connection:
            connection.execute("PRAGMA synchronous=OFF")
            connection.execute(f"INSERT INTO {table} VALUES ({marks})", texts)

    def session(self, session_id="s", record=None):
        payload = {**SESSION, "session_id": session_id, "deletion_fence": {"state": "stable"}}
        made = enveloped("session.session_record", payload, 2) if record is None else record
        self.insert("session_records", session_id, made, TIME, TIME)

    def run(self, run_id="r", session_id="s", record=None, number=1, **fields):
        payload = {**PLAIN_RUN, "session_id": session_id, "run_id": run_id, "sequence_no": number}
        made = enveloped("session.run_record", {**payload, **fields}, 2)
        row = made if record is None else record
        self.insert("run_records", session_id, run_id, row, number, TIME, TIME)

    def stream(self, sequence, run_id="r", session_id="s", record=None):
        made = enveloped("runtime.stream_record", samples.record(sequence))
        row = made if record is None else record
        self.insert("stream_records", session_id, run_id, sequence, row)

    def checkpoint(self, checkpoint_id, run_id="r", session_id="s", record=None, **fields):
        payload = samples.checkpoint(checkpoint_id, run_id, **fields)
        row = enveloped("runtime.checkpoint", payload) if record is None else record
        self.insert("checkpoint_records", session_id, run_id, 0, checkpoint_id, row, TIME)

    def approval(self, **fields):
        made = {**APPROVAL, **fields}
        row = enveloped("session.approval_record", made)
        self.insert("approval_records", "s", made["run_id"], made["approval_id"], row, TIME)

    def deferred_tool(self, **fields):
        made = {**DEFERRED, **fields}
        row = enveloped("session.deferred_tool_record", made)
        self.insert("deferred_tool_records", "s", made["run_id"], made["deferred_id"], row, TIME)

    def claim(self, state="preflight"):
        row = enveloped("session.hitl_resume_claim", {**CLAIM, "state": state})
        self.insert("hitl_resume_claims", "s", "r", CLAIM["claim_id"], row, TIME)

    def seal(self, digest="ab" * 32, run_id="r", session_id="s"):
        self.insert("run_evidence_commits", session_id, run_id, digest, TIME)

    def publication(self, *, archive, replay):
        record = enveloped("session.stream_publication", {})
        row = ("p", "s", "r", record, int(archive), int(replay), TIME, TIME)
        self.insert("stream_publication_outbox", *row)

    def display(self, sequence, scope="run:r", **event):
        made = {"kind": "display_message", "sequence": sequence, **event}
        row = enveloped("stream.replay_event", {"scope": scope, "event": made})
        self.insert("display_message_records", scope, sequence, row, TIME)


def small_file(path):
    """A database of one session with one run of two records and a checkpoint."""
    made = StarweaverFile(path)
    made.session()
    made.run()
    made.stream(0)
    made.stream(1)
    made.checkpoint("k", stream_cursor=0)
    return made
