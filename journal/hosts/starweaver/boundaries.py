"""The environment of a run, recorded at each of its checkpoints.

The runtime hands an environment over only when a run has ended. Exported inside the store's
`commit_checkpoint`, while the runtime waits, it is exactly that of the checkpoint; as its
records pass, the runtime is ahead of them, and tools have written more already.

The state is recorded right before the checkpoint, with its stream cursor: so it has its place
right before the checkpoint, and `checkpoint:ID` takes it in.
"""

from __future__ import annotations

from typing import TypeAlias

from starweaver.environment import EnvironmentProvider, PythonEnvironmentProvider

from journal.aio import AsyncRun
from journal.json_door import JSON
from journal.receipt import Receipt
from journal.records import ENVIRONMENT_STATE, wrap
from journal.run import Run

Environment: TypeAlias = EnvironmentProvider | PythonEnvironmentProvider
"""What `create_agent_runtime(environment=...)` takes."""


async def export_environment(
    run: Run | AsyncRun, environment: Environment, *, stream_cursor: int | None = None
) -> Receipt:
    """Record an environment as it is now, enveloped as the runtime does at the end of a run.

    A state equal to the run's last one is the same, and writes nothing.

    Args:
        run: open for writing.
        environment: the one that the runtime was given.
        stream_cursor: sequence of the last stream record before this moment, where records
            arrive later than what they tell of.
    """
    state = await exported_state(environment)
    target = run.sync if isinstance(run, AsyncRun) else run
    return (await target.write_soon([target.offers.environment(state, stream_cursor)]))[0]


async def exported_state(environment: Environment) -> dict[str, JSON]:
    """Export an environment as it is now, enveloped as the runtime does at the end of a run.

    It takes a thread of the runtime: waiting for it in one of these may be waiting for ever.
    """
    return wrap(await as_provider(environment).export_state(), ENVIRONMENT_STATE)


def as_provider(environment: Environment) -> EnvironmentProvider:
    """Give an environment as the runtime has it; one written in Python in the loop that runs."""
    if isinstance(environment, PythonEnvironmentProvider):
        return environment.as_environment_provider()
    return environment
