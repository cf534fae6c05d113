"""Environment providers, each restored by the factory of its kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, TypeAlias

from journal.environment.kinds import PROVIDER_KIND, at_once, named_kind, restoring, settled
from journal.environment.resources import ResourceRestoreRegistry
from journal.environment.virtual import VirtualProvider
from journal.errors import NoRestoreFactory, brief
from journal.offers import Source, plain
from journal.records import EnvironmentState
from journal.records.checks import MISSING

ProviderFactory: TypeAlias = Callable[[EnvironmentState], Any]
"""Makes a provider of a state whose resources are restored, now or when it is awaited."""


class EnvironmentProviderRegistry:
    """Factories of environment providers by `metadata.provider_kind`.

    A new one knows no kind. Typed resources are restored first, by `resources`.
    """

    def __init__(self, resources: ResourceRestoreRegistry | None = None) -> None:
        self.resources = ResourceRestoreRegistry() if resources is None else resources
        """Restores the typed resources of a state before its provider."""
        self._factories: dict[str, ProviderFactory] = {}

    @classmethod
    def portable(cls, resources: ResourceRestoreRegistry | None = None) -> Self:
        """Make a registry that restores what reaches nothing outside itself: virtual ones."""
        return cls(resources).register("virtual", VirtualProvider)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that are registered, in the order of their names."""
        return tuple(sorted(self._factories))

    def register(self, kind: str, factory: ProviderFactory) -> Self:
        """Let a factory restore the providers of a kind, in place of one registered before.

        Returns:
            This registry.
        """
        self._factories[kind] = factory
        return self

    def restore(self, state: Source) -> Any:
        """Restore a provider from an exported state, enveloped or bare.

        No factory is called before the state's kind and those of its resources have one.

        Returns:
            What the factory of its kind makes.

        Raises:
            InvalidJSON, InvalidEnvelope, InvalidRecord: the state is none, or names no kind.
            NoRestoreFactory: its kind, or that of a resource, is not registered.
            TypeError: a factory is asynchronous.
        """
        read, what, factory = self._chosen(state)
        ready = self.resources.restore(read)
        with restoring(what):
            return at_once(factory(ready), what)

    async def arestore(self, state: Source) -> Any:
        """Restore a provider as `restore` does, awaiting factories that are asynchronous."""
        read, what, factory = self._chosen(state)
        ready = await self.resources.arestore(read)
        with restoring(what):
            return await settled(factory(ready))

    def _chosen(self, state: Source) -> tuple[EnvironmentState, str, ProviderFactory]:
        read = EnvironmentState.from_json(plain(state))
        what = f"environment {brief(read.provider_id)}"
        found = read.metadata.get(PROVIDER_KIND, MISSING)
        kind = named_kind(found, what, f"$.metadata.{PROVIDER_KIND}")
        factory = self._factories.get(kind)
        if factory is None:
            raise NoRestoreFactory(what, kind, self.kinds)
        return read, what, factory
