"""What can be offered to one run: everything its verbs take, checked to be of that run.

Made where the caller is, outside every lock and before any thread is changed, so that what
the host does to its objects afterwards does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from journal import facts, offers
from journal.errors import InvalidJSON, InvalidRecord, RedactionFailed, RunConflict, brief
from journal.events import RunResumed, RunStatusChanged, RunSuspended, RunSuspendRequested
from journal.ids import run_stream
from journal.json_door import JSON
from journal.last_document import LastDocuments
from journal.offers import Offer, Source
from journal.redact import Redactor

_REASONED = (RunSuspended.NAME, RunSuspendRequested.NAME)
"""Facts that must say why."""


@dataclass(frozen=True, slots=True)
class RunOffers:
    """Makes the offers of one run."""

    run_id: str
    session_id: str
    conversation_id: str | None
    redactor: Redactor | None = None
    """Runs the journal's hook, where it has one."""
    memory: LastDocuments = field(default_factory=LastDocuments)
    """The last documents, so that the next ones cost what is new in them."""

    def record(self, source: Source) -> Offer:
        """Offer one stream record."""
        return offers.record(self.run_id, source, self.redactor)

    def records(self, sources: Iterable[Source]) -> list[Offer]:
        """Offer stream records; an error names the place of the bad one in its path."""
        if isinstance(sources, Mapping | str | bytes) or not isinstance(sources, Iterable):
            raise InvalidRecord("stream records", "$", f"expected a list, found {brief(sources)}")
        made = []
        for at, source in enumerate(sources):
            try:
                made.append(offers.record(self.run_id, source, self.redactor))
            except (InvalidJSON, InvalidRecord, RedactionFailed) as error:
                raise replace(error, path=f"$[{at}]{error.path[1:]}") from error
        return made

    def checkpoint(self, source: Source) -> Offer:
        """Offer a checkpoint of this run and, where it is known, its conversation."""
        made = offers.checkpoint(source, self.run_id, memory=self.memory, redactor=self.redactor)
        offered = made.fields["conversation_id"]
        if self.conversation_id not in (None, offered):
            raise RunConflict(self.run_id, "conversation", self.conversation_id, offered)
        return made

    def context(self, state: Source) -> Offer:
        """Offer an exported context state."""
        return offers.context(
            self.session_id, self.run_id, state, memory=self.memory, redactor=self.redactor
        )

    def environment(self, state: Source, stream_cursor: int | None = None) -> Offer:
        """Offer an exported environment state."""
        return offers.environment(
            self.session_id,
            self.run_id,
            state,
            stream_cursor=stream_cursor,
            redactor=self.redactor,
        )

    def approval(self, record: Source) -> Offer:
        """Offer an approval of this run."""
        return self._own(offers.approval(record, self.redactor))

    def deferred_tool(self, record: Source) -> Offer:
        """Offer a deferred tool call of this run."""
        return self._own(offers.deferred_tool(record, self.redactor))

    def cursor(self, cursor: Source) -> Offer:
        """Offer a saved stream cursor."""
        return offers.stream_cursor(self.run_id, cursor, self.redactor)

    def status(
        self,
        status: str,
        reason: str | None,
        output_preview: str | None = None,
        *,
        generation: int | None = None,
    ) -> Offer:
        """Offer that somebody set the run's status, without the evidence of it.

        A run that failed or was cancelled gets a general diagnostic, and no preview.

        Args:
            generation: of the lease of the host that says it; None for anybody else. It is
                recorded of a run that waits: that its host stopped tells that no tool runs.
        """
        diagnostic = facts.STATUS_DIAGNOSTICS.get(offers.check_status(status))
        fields = {
            "status": status,
            "reason": reason,
            "output_preview": output_preview if diagnostic is None else None,
            "terminal_error": diagnostic,
            "generation": generation if status == "waiting" else None,
        }
        return self.said(RunStatusChanged.NAME, fields)

    def suspended(self, reason: str, checkpoint_id: str | None) -> Offer:
        """Offer that the run stops at a boundary and waits."""
        fields = {"reason": reason, "checkpoint_id": checkpoint_id}
        return self.said(RunSuspended.NAME, fields)

    def resumed(self, fields: Mapping[str, JSON]) -> Offer:
        """Offer that a suspended or crashed run goes on.

        Args:
            fields: of `RunResumed`; those that are None are left out.
        """
        return facts.fact(run_stream(self.run_id), RunResumed.NAME, fields)

    def said(self, name: str, fields: JSON) -> Offer:
        """Offer a fact that says something in words, after the hook has seen it."""

        def make(value: JSON) -> Offer:
            said = offers.as_object(value, "event")
            if name in _REASONED:
                offers.check_id(said.get("reason"), "reason")
            if name == RunStatusChanged.NAME:
                offers.check_status(said.get("status"))
            return facts.fact(run_stream(self.run_id), name, said)

        return offers.redacted(self.redactor, "event", make(fields), make)

    def _own(self, offer: Offer) -> Offer:
        for key, ours in (("run_id", self.run_id), ("session_id", self.session_id)):
            if offer.value[key] != ours:
                what = offer.name.rsplit(".", 1)[0]
                reason = f"{offer.value[key]!r}, but it was given to {ours!r}"
                raise InvalidRecord(what, f"$.{key}", reason)
        return offer
