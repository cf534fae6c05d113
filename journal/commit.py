"""An evidence commit: everything a host knows of a finished run, all or nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeAlias

from journal import facts, offers
from journal.errors import InvalidJSON, InvalidRecord, RecordConflict, RedactionFailed
from journal.events import RunCommitted
from journal.ids import run_stream
from journal.json_door import MAX_BYTES, canonical, dumps
from journal.offers import Offer, Source
from journal.reader import Reader
from journal.receipt import Receipt
from journal.records import (
    APPROVAL_RECORD,
    CHECKPOINT,
    DEFERRED_TOOL_RECORD,
    ENVIRONMENT_STATE,
    RESUMABLE_STATE,
    RUN_RECORD,
    STREAM_RECORD,
    unwrap,
    validate_evidence_commit,
)
from journal.redact import Redactor
from journal.run_offers import RunOffers

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


_KINDS = {
    "run": ("run", RUN_RECORD),
    "context_state": ("context_state", RESUMABLE_STATE),
    "environment_state": ("environment_state", ENVIRONMENT_STATE),
    "stream_records": ("stream_record", STREAM_RECORD),
    "checkpoints": ("checkpoint", CHECKPOINT),
    "approvals": ("approval", APPROVAL_RECORD),
    "deferred_tools": ("deferred_tool", DEFERRED_TOOL_RECORD),
    "stream_cursors": ("stream_cursor", ""),
}
"""What the items of a member are, and the schema of the envelope they may be in."""

Marks: TypeAlias = dict[tuple[str, int], Sequence[str]]
"""By member and place in it, the paths at which an item was redacted."""

MAX_BUNDLE_BYTES = 1024**3
"""Largest bundle, in bytes. Each item has the limit of its own kind, and so has the rest."""


class BundleWriter(Protocol):
    """What a bundle is written with: a journal."""

    def held(self, offer: Offer) -> Receipt | None:
        """Tell the first receipt of an offer that is recorded; None for a new one."""
        ...

    def write_offers(self, made: list[Offer]) -> list[Receipt]:
        """Write offers in one transaction."""
        ...


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


def write_bundle(  # noqa: PLR0913 - what is written, and what with
    reader: Reader,
    write: BundleWriter,
    bundle: dict[str, Any],
    sha256: str,
    opening: list[Offer],
    *,
    redactor: Redactor | None = None,
) -> Receipt:
    """Write a bundle's items not yet held, then `run.committed`, in one transaction.

    Args:
        redactor: runs the journal's hook over each item, as a record of its own kind; the
            SHA-256 is that of what is left then.

    Raises:
        RedactionFailed: the hook failed, or what it left is refused.
        RecordConflict: the run was committed with another bundle, or an item of it is
            recorded with different JSON; nothing was written.
    """
    marks: Marks = {}
    if redactor is not None:
        bundle, sha256, marks = redact_bundle(bundle, redactor)
    run, _ = unwrap(bundle["run"], RUN_RECORD)
    run_id = run["run_id"]
    earlier = committed(reader, run_id)
    if earlier is not None:
        if earlier[1] == sha256:
            return earlier[0]
        raise RecordConflict(
            run_id, "evidence commit", earlier[0].version, "$ (SHA-256)", earlier[1], sha256
        )
    made = [offer for offer in _items(bundle, run, marks) if write.held(offer) is None]
    rest = rest_of(bundle)
    size = len(dumps(rest))
    if size > MAX_BYTES:
        kept = ", ".join(sorted(rest))
        reason = f"{kept} together are {size} bytes, over the limit of {MAX_BYTES}"
        raise InvalidRecord("evidence commit", "$", reason)
    fields = {"run": run, "rest": rest, "sha256": sha256}
    committing = facts.fact(run_stream(run_id), RunCommitted.NAME, fields)
    change = offers.marked(committing, marks.get(("run", 0), ()))
    return write.write_offers([*opening, *made, *facts.noted(change, run["session_id"])])[-1]


def redact_bundle(bundle: dict[str, Any], redactor: Redactor) -> tuple[dict[str, Any], str, Marks]:
    """Show the items of a bundle to the journal's hook, each as a record of its own kind.

    Returns:
        What is left of the bundle, its SHA-256, and where it was redacted.

    Raises:
        RedactionFailed: the hook failed, or what it left is refused.
    """
    own: dict[str, Any] = {}
    marks: Marks = {}
    for key, (kind, schema) in _KINDS.items():
        items = []
        for at, item in enumerate(items_at(bundle, key)):
            enveloped = bool(schema) and unwrap(item, schema)[0] is not item
            left, paths = redactor.redact(item, kind, ("payload",) if enveloped else ())
            items.append(left)
            marks[key, at] = paths
        if key in bundle:
            one = items[0] if items else bundle[key]
            own[key] = items if isinstance(bundle[key], list) else one
    rest, paths = redactor.redact(rest_of(bundle), "run_evidence")
    marks["run", 0] = sorted([*("$.run" + path[1:] for path in marks["run", 0]), *paths])
    with redactor.blamed("run_evidence"):
        value, sha256 = read_bundle({**offers.as_object(rest, "evidence commit"), **own})
    for key in ("run_id", "session_id", "conversation_id"):
        was, now = (unwrap(one["run"], RUN_RECORD)[0][key] for one in (bundle, value))
        if was != now:
            raise RedactionFailed("run", f"$.{key}", "an id of the run must stay as it is")
    return value, sha256, marks


def rest_of(bundle: dict[str, Any]) -> dict[str, Any]:
    """Give what the event of the commit keeps of a bundle, besides the run record."""
    return {key: value for key, value in bundle.items() if key not in OWN_EVENTS}


def items_at(bundle: dict[str, Any], key: str) -> list[Any]:
    """Give the items of a member of a bundle, which may be one or none."""
    given = bundle.get(key)
    return given if isinstance(given, list) else [given] if given else []


def _items(bundle: dict[str, Any], run: dict[str, Any], marks: Marks) -> list[Offer]:
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
        many = isinstance(bundle.get(key), list)
        for at, item in enumerate(items_at(bundle, key)):
            try:
                made.append(offers.marked(make(item), marks.get((key, at), ())))
            except (InvalidJSON, InvalidRecord) as error:
                place = f"$.{key}[{at}]" if many else f"$.{key}"
                raise replace(error, path=place + error.path[1:]) from error
    return made
