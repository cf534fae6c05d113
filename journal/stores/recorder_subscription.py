"""The library's subscription to a recorder, for both engines."""

from __future__ import annotations

from collections.abc import Sequence

from eventsourcing.persistence import ApplicationRecorder, ListenNotifySubscription

from journal.ids import Position
from journal.stores.arrivals import Arrivals

SLICE = 0.25
"""Seconds after which it is looked again whether the subscription was stopped."""


class RecorderSubscription(ListenNotifySubscription[ApplicationRecorder]):
    """Gives notifications in order and waits for more, from this process or another.

    The library's own wait for what their process appends.
    """

    def __init__(
        self,
        recorder: ApplicationRecorder,
        arrivals: Arrivals,
        gt: int | None,
        topics: Sequence[str],
    ) -> None:
        self._arrivals = arrivals
        super().__init__(recorder, gt, topics)  # this starts the thread

    def _loop_on_pull(self) -> None:
        try:
            while not self._has_been_stopped:
                # Before they are pulled: not all of them need to be of the topics asked for.
                last = self._recorder.max_notification_id() or 0
                self._pull()
                self._last_notification_id = max(self._last_notification_id or 0, last)
                self._wait(Position(self._last_notification_id))
        except BaseException as error:  # noqa: BLE001 - whoever iterates gets it
            self._thread_error = error
            self.stop()

    def _wait(self, after: Position) -> None:
        while not (self._has_been_stopped or self._arrivals.wait_for(after, SLICE)):
            pass
