"""What is recorded of a session as a whole, in the session's own stream."""

from __future__ import annotations

from typing import Any

from journal import facts, offers
from journal.errors import BrokenBase, CorruptEvent, SessionNotFound
from journal.events import SessionSaved, SessionStatusChanged
from journal.ids import Position, session_stream
from journal.offers import Offer, Source
from journal.operators import Operators
from journal.receipt import Receipt


class SessionVerbs(Operators):
    """The verbs of a `journal.Journal` that write a session."""

    def save_session(self, record: Source) -> Receipt:
        """Record a session record; one equal to the last is the same.

        It is not when something changed the session, or one of its runs, in between.
        """
        offer = offers.session(record, self.redactor)
        session_id = offer.value["session_id"]

        def decide() -> list[Offer]:
            last = self._last_saved(offer)
            if last is not None and self._went_on(session_id, last):
                return [offer._replace(last_of=())]
            return [offer]

        return self.decide((offer.stream,), decide)[0]

    def set_session_status(self, session_id: str, status: str) -> Receipt:
        """Record that somebody set a session's status; the same again is the same.

        Args:
            status: active, archived, failed or deleted.

        Raises:
            SessionNotFound: nothing of this session was ever recorded.
        """
        fields = {"status": offers.check_session_status(status)}
        made = facts.fact(session_stream(session_id), SessionStatusChanged.NAME, fields)
        names = (SessionStatusChanged.NAME, SessionSaved.NAME)
        return self._of_session(session_id, made._replace(last_of=names))

    def save_context(self, session_id: str, state: Source) -> Receipt:
        """Record a session's exported context state; one equal to the last is the same.

        Raises:
            SessionNotFound: nothing of this session was ever recorded.
            InvalidRecord: it is another durable session's, by its metadata.
        """
        made = offers.context(session_id, None, state, redactor=self.redactor)
        return self._of_session(session_id, made)

    def save_environment(self, session_id: str, ref_or_state: Source) -> Receipt:
        """Record a session's environment: where it is, or its state.

        Args:
            ref_or_state: an `EnvironmentStateRef`, or an `EnvironmentState`, which has a
                `provider_id` or comes in its envelope. One equal to the last is the same.

        Raises:
            SessionNotFound: nothing of this session was ever recorded.
        """
        return self._of_session(
            session_id, offers.session_environment(session_id, ref_or_state, self.redactor)
        )

    def session_record(self, session_id: str) -> dict[str, Any] | None:
        """Give the session record saved last, as handed in; None when none was saved.

        Raises:
            SessionNotFound: nothing of this session was ever recorded.
        """
        offers.check_id(session_id, "session id")
        event = self.reader.last_session_event(session_id, (SessionSaved.NAME,))
        return None if event is None else self.reader.document(event)

    def _last_saved(self, offer: Offer) -> Position | None:
        """Tell where the session record stands that an offer would repeat; None without one."""
        session_id = offer.value["session_id"]
        try:
            event = self.reader.last_session_event(session_id, offer.last_of)
            same = event is not None and self.is_same(offer, event)
        except (BrokenBase, CorruptEvent, SessionNotFound):
            return None
        return event.position if event is not None and same else None

    def _of_session(self, session_id: str, offer: Offer) -> Receipt:
        offers.check_id(session_id, "session id")
        if not self.reader.has_session(session_id):
            raise SessionNotFound(session_id)
        return self.write_offers([offer])[0]
