"""An evidence commit: everything a host knows of a finished run, all or nothing."""

from __future__ import annotations

import hashlib
from typing import Any

from journal import offers
from journal.errors import RecordConflict
from journal.events import RunCommitted
from journal.ids import run_stream
from journal.json_door import canonical
from journal.offers import Offer, Source
from journal.reader import Reader
from journal.receipt import Receipt
from journal.records import RUN_RECORD, unwrap, validate_evidence_commit
from journal.writer import Writer

OWN_EVENTS = (
    "run",
    "context_state",
    "environment_state",
    "stream_records",
    "checkpoints",
    "approvals",
    "deferred_tools",
    "stream_cursors",
)
"""Members of a bundle that become events of their own; the rest is kept verbatim."""


MAX_BUNDLE_BYTES = 1024**3
"""Largest bundle, in bytes; each item in it has the limit of its own kind."""


def read_bundle(source: Source) -> tuple[dict[str, Any], str]:
    """Check a bundle and name it.

    Returns:
        The bundle and its SHA-256 as compact JSON with sorted keys.
    """
    bundle, _ = offers.read(source, "evidence commit", MAX_BUNDLE_BYTES)
    validate_evidence_commit(bundle)
    return bundle, hashlib.sha256(canonical(bundle)).hexdigest()


def committed(reader: Reader, run_id: str) -> tuple[Receipt, str] | None:
    """Tell the receipt and the SHA-256 of the bundle a run was committed with."""
    event = reader.last_run_event(run_id, (RunCommitted.NAME,))
    if event is None:
        return None
    receipt = Receipt(event.version, event.position, event.stored_at, repeated=True)
    return receipt, event.data["sha256"]


def write_bundle(
    reader: Reader, writer: Writer, bundle: dict[str, Any], sha256: str, opening: list[Offer]
) -> Receipt:
    """Write a bundle's items not yet held, then `run.committed`, in one transaction.

    Raises:
        RecordConflict: the run was committed with another bundle, or an item of it is
            recorded with different JSON; nothing was written.
    """
    run, _ = unwrap(bundle["run"], RUN_RECORD)
    run_id = run["run_id"]
    earlier = committed(reader, run_id)
    if earlier is not None:
        if earlier[1] == sha256:
            return earlier[0]
        raise RecordConflict(
            run_id, "evidence commit", earlier[0].version, "$ (SHA-256)", earlier[1], sha256
        )
    made = [
        offer for offer in _items(bundle, run["session_id"], run_id) if writer.held(offer) is None
    ]
    rest = {key: value for key, value in bundle.items() if key not in OWN_EVENTS}
    event = RunCommitted(run=run, rest=rest, sha256=sha256)
    made.append(offers.fact(run_stream(run_id), event, "committed"))
    return writer.write([*opening, *made])[-1]


def _items(bundle: dict[str, Any], session_id: str, run_id: str) -> list[Offer]:
    made = [offers.record(run_id, item) for item in bundle.get("stream_records") or ()]
    made += [offers.checkpoint(item, run_id) for item in bundle.get("checkpoints") or ()]
    made += [offers.approval(item) for item in bundle.get("approvals") or ()]
    made += [offers.deferred_tool(item) for item in bundle.get("deferred_tools") or ()]
    made += [offers.stream_cursor(run_id, item) for item in bundle.get("stream_cursors") or ()]
    if bundle.get("environment_state") is not None:
        made.append(offers.environment(session_id, run_id, bundle["environment_state"]))
    if bundle.get("context_state") is not None:
        made.append(offers.context(session_id, run_id, bundle["context_state"]))
    return made
