"""What a run's usage snapshots say that it cost.

A snapshot tells what was spent so far; the rows get what was added since the one before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from projections.audit.cells import digest, saturated
from projections.audit.event_cells import EventCells
from projections.order import BEFORE_RECORDS

KIND = "custom:usage_snapshot"

NO_MODEL = ""
"""Stands for all models where the host does not tell them apart."""


def usage_snapshot(cells: EventCells, payload: Mapping[str, Any]) -> None:
    """Write the rows of a usage snapshot: one for each model that it gives a price for.

    Where it prices only the whole, or nothing, that is one row without a model. A child, and
    each run id that a host gives, has an account of its own. An amount below the one before
    means that counting began anew, unless it comes late: what was added up to it is in the
    later one already.

    A snapshot after a response that was recorded before is of an attempt that goes over it
    again: it tells where that one's counting stands, and adds only what is more than the
    account ever told.
    """
    amounts = _amounts(payload)
    if not amounts:
        cells.put(KIND)
        return
    costs = cells.run.costs
    name = digest([cells.account, payload.get("run_id") or ""])
    at, account, larger = costs.get(name, (BEFORE_RECORDS, {}, {}))
    anchor = cells.place[0]
    is_late = anchor < at
    repeats = cells.run.responses.repeats(cells.account)
    costs[name] = max(at, anchor), account, larger
    for model, amount in amounts.items():
        before = account.get(model, 0)
        if is_late and amount <= before:
            cells.put(KIND, model=model or None, cost=0)
            continue
        account[model] = amount
        most = max(before, larger.pop(model, before))
        if amount < most:
            larger[model] = most
        if repeats:
            added = max(0, amount - most)
        else:
            added = amount - before if amount >= before else amount
        cells.put(KIND, model=model or None, cost=saturated(added))


def _amounts(payload: Mapping[str, Any]) -> dict[str, int]:
    found: dict[str, int] = {}
    by_model = payload.get("model_estimate_pricing")
    for model, estimate in by_model.items() if type(by_model) is dict else ():
        _take(found, model, estimate)
    if not found:
        _take(found, NO_MODEL, payload.get("estimate_pricing"))
    return found


def _take(found: dict[str, int], model: str, estimate: Any) -> None:
    """Take an estimate that names an amount; a host's payload may hold anything."""
    amount = estimate.get("amount_micros_usd") if type(estimate) is dict else None
    if type(amount) is float:
        amount = round(amount)
    if type(amount) is int:
        found[model] = saturated(amount)
