"""An evidence commit: everything a host knows of a finished run, all or nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from journal import facts, offers
from journal.errors import InvalidJSON, InvalidRecord, RecordConflict
from journal.events import RunCommitted
from journal.ids import run_stream
from journal.json_door import MAX_BYTES, canonical, dumps
from journal.offers import Offer, Source
from journal.reader import Reader
from journal.receipt import Receipt
from journal.records import RUN_RECORD, unwrap, validate_evidence_commit
from journal.run_offers import RunOffers
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
"""Largest bundle, in bytes. Each item has the limit of its own kind, and so has the rest."""


def read_bundle(source: Source) -> tuple[dict[str, Any], str]:
    """Check a bundle and name it.

    Returns:
        The bundle and its SHA-256 as compact JSON with sorted keys.
    """
    bundle, _ = offers.read(
        source, "evidence commit", max_bytes=MAX_BUNDLE_BYTES, wrapped=offers.WRAPPED
    )
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
    made = [offer for offer in _items(bundle, run) if writer.held(offer) is None]
    rest = {key: value for key, value in bundle.items() if key not in OWN_EVENTS}
    size = len(dumps(rest))
    if size > MAX_BYTES:
        kept = ", ".join(sorted(rest))
        reason = f"{kept} together are {size} bytes, over the limit of {MAX_BYTES}"
        raise InvalidRecord("evidence commit", "$", reason)
    fields = {"run": run, "rest": rest, "sha256": sha256}
    made.append(facts.fact(run_stream(run_id), RunCommitted.NAME, fields))
    return writer.write([*opening, *made])[-1]


def _items(bundle: dict[str, Any], run: dict[str, Any]) -> list[Offer]:
    """Offer a bundle's items; an error names the place in the bundle."""
    ours = RunOffers(run["run_id"], run["session_id"], run["conversation_id"])
    makers: dict[str, Callable[[Source], Offer]] = {
        "stream_records": ours.record,
        "checkpoints": ours.checkpoint,
        "approvals": ours.approval,
        "deferred_tools": ours.deferred_tool,
        "stream_cursors": ours.cursor,
        "environment_state": ours.environment,
        "context_state": ours.context,
    }
    made = []
    for key, make in makers.items():
        given = bundle.get(key)
        many = isinstance(given, list)
        items: list[Any] = given if isinstance(given, list) else [given] if given else []
        for at, item in enumerate(items):
            try:
                made.append(make(item))
            except (InvalidJSON, InvalidRecord) as error:
                place = f"$.{key}[{at}]" if many else f"$.{key}"
                raise replace(error, path=place + error.path[1:]) from error
    return made
