"""Environments of the Starweaver runtime, restored from the states that were recorded.

registry = starweaver_environments()
register_local(registry, LocalPolicy(["/work"], writable=True))
environment = await registry.arestore(replay(journal, run_id, at=cursor).environment_state)

What reaches this machine is restored only where the host registers it, with its policy.
"""

from __future__ import annotations

from starweaver import LocalEnvironment, VirtualEnvironment
from starweaver.environment import ShellProcess

from journal.environment import (
    EnvironmentProviderRegistry,
    LocalPolicy,
    LocalProvider,
    ResourceRestoreRegistry,
    VirtualProvider,
)
from journal.hosts.starweaver.guarded import GuardedLocalEnvironment
from journal.json_door import equal
from journal.records import EnvironmentProcess, EnvironmentState


def starweaver_environments(
    resources: ResourceRestoreRegistry | None = None,
) -> EnvironmentProviderRegistry:
    """Make the portable registry whose virtual environments are the runtime's own.

    Its factory is asynchronous: restore with `await registry.arestore(...)` or
    `await arestore_environment(...)`.
    """
    return EnvironmentProviderRegistry(resources).register(
        "virtual", RestoredVirtualEnvironment.restored
    )


class RestoredVirtualEnvironment(VirtualEnvironment):  # type: ignore[misc] # not typed
    """A virtual environment of the runtime with the files and processes of a state.

    The runtime's states leave out empty directories, scratch files and what its scripted shell
    answers, and the runtime takes of a resource its id, its uri and its metadata only.
    """

    def __init__(self, state: EnvironmentState) -> None:
        provider = VirtualProvider(state)
        super().__init__(
            id=state.provider_id,
            files={path: provider.read_text(path) for path in provider.paths()},
            resources=[resource.to_json() for resource in state.resources],
        )
        self.process_snapshots = provider.processes
        """The processes as they were when the state was exported."""
        self.lost_processes: tuple[EnvironmentProcess, ...] = ()
        """Those that the runtime cannot hold as they were: it numbers processes itself, and none
        of a virtual environment ends by itself or says anything. They are missing, or killed."""

    @classmethod
    async def restored(cls, state: EnvironmentState) -> RestoredVirtualEnvironment:
        """Restore an environment, its processes included: none of them ever runs anything.

        Raises:
            InvalidRecord: a file's content is no text.
        """
        environment = cls(state)
        lost = []
        made = 0
        for snapshot in environment.process_snapshots:
            if snapshot.process_id != f"process_{made + 1}":
                lost.append(snapshot)
                continue
            made += 1
            process = await environment.remake_process(snapshot)
            if not equal(process.to_dict(), snapshot.to_json()):
                lost.append(snapshot)
        environment.lost_processes = tuple(lost)
        return environment

    async def remake_process(self, snapshot: EnvironmentProcess) -> ShellProcess:
        """Make the next process like one of a state, as far as the runtime can."""
        process = await self.start_process(snapshot.command)
        known = snapshot.metadata
        if isinstance(said := known.get("last_input"), str):
            closes = known.get("close_stdin") is True
            process = await self.input_process(process, said, close_stdin=closes)
        if isinstance(signal := known.get("last_signal"), int):
            process = await self.signal_process(process, signal)
        return process if snapshot.status == "running" else await self.kill_process(process)


def register_local(
    registry: EnvironmentProviderRegistry, policy: LocalPolicy
) -> EnvironmentProviderRegistry:
    """Let local environments be restored for file access, under a policy of this host.

    The runtime reaches files through `LocalProvider`, which also holds while somebody swaps
    directories and links; there is no shell. Restore inside the event loop that uses it.

    Returns:
        The registry.
    """
    return registry.register(
        "local",
        lambda state: GuardedLocalEnvironment(
            LocalProvider(state, policy)
        ).as_environment_provider(),
    )


def register_runtime_local(
    registry: EnvironmentProviderRegistry,
    policy: LocalPolicy,
    *,
    allow_shell: bool = False,
    allowed_programs: tuple[str, ...] = (),
) -> EnvironmentProviderRegistry:
    """Let the runtime's own `LocalEnvironment` be restored, under a policy of this host.

    The policy says which directories it is given. Inside, the runtime looks where links lead
    when a path is used, and opens it after that: whoever can swap a directory for a link
    between the two gets out. So do the programs of a shell.

    Returns:
        The registry.
    """

    def made(state: EnvironmentState) -> LocalEnvironment:
        roots = policy.roots_of(state)
        return LocalEnvironment(
            roots[0],
            id=state.provider_id,
            allowed_paths=roots,
            writable=policy.writable,
            allow_shell=allow_shell,
            allowed_programs=allowed_programs,
        )

    return registry.register("local", made)
