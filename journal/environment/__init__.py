"""Environments restored from the states that runs exported.

    registry = EnvironmentProviderRegistry.portable()
    registry.resources.register("database", reconnect)
    registry.register("local", lambda state: LocalProvider(state, LocalPolicy(["/work"])))
    provider = registry.restore(view.environment_state)

The portable registry restores virtual environments, which reach nothing outside themselves.
What reaches this machine is there only when the host registers it, with its policy: a state
is data, maybe of another machine, and says nothing about what it may reach here.

The state is described in `journal.records.environment`.
"""

from journal.environment.local import LocalProvider
from journal.environment.local_policy import LocalPolicy
from journal.environment.registry import EnvironmentProviderRegistry, ProviderFactory
from journal.environment.resources import ResourceFactory, ResourceRestoreRegistry
from journal.environment.virtual import VirtualProvider

__all__ = [
    "EnvironmentProviderRegistry",
    "LocalPolicy",
    "LocalProvider",
    "ProviderFactory",
    "ResourceFactory",
    "ResourceRestoreRegistry",
    "VirtualProvider",
]
