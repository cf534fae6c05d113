"""What every restored environment has of the state that it was restored from."""

from __future__ import annotations

from journal.records import EnvironmentProcess, EnvironmentResource, EnvironmentState


class Restored:
    """An environment as its state tells of it."""

    _state: EnvironmentState

    @property
    def provider_id(self) -> str:
        """The id that it was exported under."""
        return self._state.provider_id

    @property
    def processes(self) -> tuple[EnvironmentProcess, ...]:
        """The processes as they were when the state was exported; none was started again."""
        return tuple(self._state.processes)

    @property
    def resources(self) -> tuple[EnvironmentResource, ...]:
        """The resources, typed ones as their factories restored them."""
        return tuple(self._state.resources)
