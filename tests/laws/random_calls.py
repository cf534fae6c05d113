"""Random calls of a session store: what hosts do, in any order, sensible or not."""

from journal.events import Operator
from projections import replay
from tests.contract import host_records as h

SESSIONS = ("s1", "s2")
RUNS = ("r0", "r1", "r2", "r3")
FORKS = ("f0", "f1")
STATUSES = ("running", "waiting", "completed", "failed", "cancelled", "queued")
OPERATOR = Operator(user="u", host="h", name="n")


class RandomCalls:
    """Makes one call after the other; what it makes depends on the numbers alone."""

    def __init__(self, store, numbers):
        self.store, self.journal, self.numbers = store, store.journal, numbers
        self.calls = [
            getattr(self, name) for name in sorted(dir(type(self))) if name.startswith("call_")
        ]

    def one(self):
        """Make a call, which may raise one of the journal's errors."""
        run_id = self.any(RUNS)
        self.any(self.calls)(run_id, "s2" if run_id == "r3" else "s1")

    def any(self, values):
        return self.numbers.choice(values)

    def number(self, bound):
        return self.numbers.randrange(bound)

    def status(self):
        """Any status, with what a record of it must have."""
        status = self.any(STATUSES)
        why = {"terminal_error": {"code": "c", "message": "m"}} if status == "failed" else {}
        return status, why

    def state(self):
        return {**h.STATE, "handoff_message": f"m{self.number(3)}"}

    def environment(self):
        return {"provider": "p", "reference": f"{self.number(2)}"}

    def checkpoint(self, run_id):
        status = self.any(("running", "waiting", "failed"))
        return h.checkpoint(f"k{self.number(5)}", run_id, status=status)

    def records(self):
        return [h.record(self.number(12), f"z{self.number(2)}") for _ in range(2)]

    def cursor(self, run_id):
        family = self.any(("display", "replay_event"))
        return h.cursor(self.number(9), family, f"run:{run_id}")

    def approval(self, run_id, session_id):
        fields = {"status": "approved", "decision": h.APPROVED} if self.number(2) else {}
        return h.approval(f"a{self.number(3)}", run_id, session_id=session_id, **fields)

    def evidence(self, run_id, session_id, **fields):
        status, why = self.status()
        of_run = {"session_id": session_id, **why}
        if self.number(2):
            of_run["environment_state"] = self.environment()
        return h.evidence(
            run_id,
            status,
            of_run={**of_run, **fields.pop("of_run", {})},
            **{
                "context_state": self.state(),
                "publication_targets": {key: self.number(2) > 0 for key in ("archive", "replay")},
                "stream_records": self.records()[:1],
                "approvals": [self.approval(run_id, session_id)],
                "checkpoints": [self.checkpoint(run_id) for _ in range(self.number(3))],
                "stream_cursors": [self.cursor(run_id)],
                **fields,
            },
        )

    def call_session(self, _, session_id):
        revision = self.any((1, 1, 5, 30))
        fields = {"environment_state": self.environment()} if self.number(2) else {}
        made = h.session(session_id, title=f"t{self.number(3)}", revision=revision, **fields)
        self.store.save_session(made)

    def call_session_status(self, _, session_id):
        self.store.update_session_status(session_id, self.any(("active", "archived")))

    def call_context(self, _, session_id):
        self.store.save_context_state(session_id, self.state())

    def call_environment(self, _, session_id):
        state = {"provider_id": "v", "files": {"a": f"{self.number(2)}"}}
        self.store.save_environment_state(session_id, self.any((self.environment(), state)))

    def call_run(self, run_id, session_id):
        status, why = self.status()
        numbers = {"sequence_no": self.any((0, 0, 0, 2, 5)), "revision": self.any((1, 1, 9))}
        self.store.append_run(h.run(run_id, status, session_id=session_id, **why, **numbers))

    def call_status(self, run_id, session_id):
        self.store.update_run_status(session_id, run_id, self.status()[0], self.any((None, "p")))

    def call_checkpoint(self, run_id, session_id):
        self.store.commit_checkpoint(session_id, self.checkpoint(run_id))

    call_checkpoint_too = call_checkpoint

    def call_records(self, run_id, session_id):
        self.store.append_stream_records(session_id, run_id, self.records())

    def call_cursor(self, run_id, session_id):
        self.store.save_stream_cursor(session_id, run_id, self.cursor(run_id))

    def call_approval(self, run_id, session_id):
        self.store.append_approval(self.approval(run_id, session_id))

    def call_deferred(self, run_id, session_id):
        status = self.any(("pending", "waiting", "running", "completed"))
        fields = {"response": 1} if status == "completed" else {}
        made = h.deferred(f"d{self.number(3)}", run_id, status, session_id=session_id, **fields)
        self.store.append_deferred_tool(made)

    def call_claim(self, run_id, session_id):
        made = h.claim(f"c{self.number(2)}", run_id)
        self.store.claim_hitl_resume({**made, "session_id": session_id})

    def call_start(self, run_id, session_id):
        self.store.mark_hitl_resume_started(session_id, run_id, f"c{self.number(2)}")

    def call_release(self, run_id, session_id):
        self.store.release_hitl_resume_claim(session_id, run_id, f"c{self.number(2)}")

    def call_evidence(self, run_id, session_id):
        made = self.evidence(run_id, session_id)
        self.journal.commit_run_evidence(made, suspended=self.any((None, None, "why")))

    call_evidence_too = call_evidence

    def call_continuation(self, run_id, session_id):
        source = self.any(RUNS[:3])
        update = {
            "run_id": source,
            "expected_status": "waiting",
            "status": self.any(("completed", "cancelled")),
            "resume_claim_id": f"c{self.number(2)}",
        }
        of_run = {"restore_from_run_id": source}
        made = self.evidence(run_id, session_id, of_run=of_run, related_run_updates=[update])
        self.store.commit_run_evidence(made)

    def call_acknowledge(self, run_id, session_id):
        target = self.any(("archive", "replay"))
        self.store.acknowledge_stream_publication(
            f'publication:["{session_id}","{run_id}"]', target
        )

    def call_suspend(self, run_id, _):
        self.journal.request_suspend(run_id, "because", OPERATOR)

    def call_allow(self, run_id, _):
        self.journal.allow_resume(run_id, OPERATOR, trust_imported=True)

    def call_fork(self, _, __):
        point = replay(self.journal, self.any(RUNS[:3]))
        fork_id = self.any(FORKS)
        with self.journal.fork(point, fork_id):
            self.store.commit_checkpoint(point.session_id, self.checkpoint(fork_id))
