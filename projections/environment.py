"""The environment of a run, restored as it was at a cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from journal.environment import EnvironmentProviderRegistry
from journal.errors import EnvironmentNotFound
from projections.cursors import LATEST, Cursor
from projections.reading import HasReader
from projections.replaying import areplay, replay
from projections.view import RunView

if TYPE_CHECKING:
    from journal.aio import AsyncJournal


def restore_environment(
    journal: HasReader,
    run_id: str,
    at: Cursor | str = LATEST,
    *,
    registry: EnvironmentProviderRegistry,
) -> Any:
    """Restore the environment of a run from the state that was exported last at a cursor.

    Args:
        at: a cursor, or its text form.
        registry: has the factory of the environment's kind, and those of its resources.

    Returns:
        What the factory makes; nothing is restored in an environment that still exists.

    Raises:
        EnvironmentNotFound: the run has no environment state there.
        JournalError: as `replay` and `EnvironmentProviderRegistry.restore` raise.
    """
    return registry.restore(_state(replay(journal, run_id, at=at, tail=0)))


async def arestore_environment(
    journal: AsyncJournal,
    run_id: str,
    at: Cursor | str = LATEST,
    *,
    registry: EnvironmentProviderRegistry,
) -> Any:
    """Restore it without blocking the event loop, and await factories that are asynchronous."""
    return await registry.arestore(_state(await areplay(journal, run_id, at=at, tail=0)))


def _state(view: RunView) -> dict[str, Any]:
    if view.environment_state is None:
        raise EnvironmentNotFound(view.run_id, view.cursor.requested)
    return view.environment_state
