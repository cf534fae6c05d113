"""An evidence commit: everything a host knows of a finished run, all or nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from journal import offers
from journal.errors import InvalidJSON, InvalidRecord, RedactionFailed
from journal.json_door import JSON, canonical
from journal.offers import Offer, Source
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
            left, paths = _redacted_item(redactor, item, kind, schema)
            items.append(left)
            marks[key, at] = paths
        if key in bundle:
            one = items[0] if items else bundle[key]
            own[key] = items if isinstance(bundle[key], list) else one
    rest, paths = redact_rest(rest_of(bundle), redactor)
    marks["run", 0] = sorted([*("$.run" + path[1:] for path in marks["run", 0]), *paths])
    with redactor.blamed("run_evidence"):
        value, sha256 = read_bundle({**offers.as_object(rest, "evidence commit"), **own})
    for key in ("run_id", "session_id", "conversation_id"):
        was, now = (unwrap(one["run"], RUN_RECORD)[0][key] for one in (bundle, value))
        if was != now:
            raise RedactionFailed("run", f"$.{key}", "an id of the run must stay as it is")
    return value, sha256, marks


def redact_rest(rest: dict[str, Any], redactor: Redactor) -> tuple[JSON, list[str]]:
    """Show the hook what the event of the commit keeps besides the run record.

    The records in the update of another run are shown as what they are before that.

    Returns:
        What is left, and the paths at which it was redacted.
    """
    told: list[str] = []
    updates = []
    for at, update in enumerate(rest.get("related_run_updates") or ()):
        left = dict(update)
        for key in ("approvals", "deferred_tools"):
            if not isinstance(left.get(key), list):
                continue
            pairs = [_redacted_item(redactor, item, *_KINDS[key]) for item in left[key]]
            left[key] = [item for item, _ in pairs]
            for place, (_, paths) in enumerate(pairs):
                here = f"$.related_run_updates[{at}].{key}[{place}]"
                told += [here + path[1:] for path in paths if path not in redactor.known]
        updates.append(left)
    shown = {**rest, "related_run_updates": updates} if updates else rest
    value, paths = redactor.redact(shown, "run_evidence")
    return value, sorted({*told, *paths})


def _redacted_item(
    redactor: Redactor, item: dict[str, Any], kind: str, schema: str
) -> tuple[JSON, list[str]]:
    enveloped = bool(schema) and type(item) is dict and unwrap(item, schema)[0] is not item
    return redactor.redact(item, kind, ("payload",) if enveloped else ())


def rest_of(bundle: dict[str, Any]) -> dict[str, Any]:
    """Give what the event of the commit keeps of a bundle, besides the run record."""
    return {key: value for key, value in bundle.items() if key not in OWN_EVENTS}


def items_at(bundle: dict[str, Any], key: str) -> list[Any]:
    """Give the items of a member of a bundle, which may be one or none."""
    given = bundle.get(key)
    return given if isinstance(given, list) else [given] if given else []


def items_of(bundle: dict[str, Any], run: dict[str, Any], marks: Marks) -> list[Offer]:
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
