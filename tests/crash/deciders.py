"""A program that decides about the same things as others do at the same time."""

import time
from pathlib import Path

from journal import Journal
from journal.errors import Conflict
from tests import samples
from tests.crash.receipts import PATIENCE, ReceiptFile


def decide(path, receipts, name, rounds, go):
    """Claim each run, decide each approval, open a run of ones own and move the cursor."""
    log = ReceiptFile(receipts)
    with Journal.open(path) as journal:
        log.note("ready")
        give_up = time.monotonic() + PATIENCE
        while not Path(go).exists():
            assert time.monotonic() < give_up
        for number in range(rounds):
            for what, attempt in _attempts(journal, name, number):
                try:
                    repeated = attempt().repeated
                except Conflict:
                    continue
                if not repeated:
                    log.note(what)


def _attempts(journal, name, number):
    run_id = f"w{number}"
    claim = samples.resume_claim(run_id) | {"claim_id": name}
    yield f"claimed {run_id}", lambda: journal.claim_resume(claim)
    decided = samples.approval("approved", run_id)
    decided["decision"]["decided_by"] = name
    yield f"decided {run_id}", lambda: journal.approval(decided)
    yield (
        f"ended {run_id}",
        lambda: journal.deferred_tool(samples.deferred_tool("completed", run_id, response=name)),
    )
    own = samples.run_record(f"{name}-{number}", status="running")
    yield "opened", lambda: journal.save_run(own)
    cursor = samples.stream_cursor(number, "w0") | {"metadata": {"by": name}}
    yield f"moved {number}", lambda: journal.save_cursor("s", "w0", cursor)
