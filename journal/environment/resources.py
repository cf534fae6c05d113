"""Typed resources of an environment, each restored by the host's factory of its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Self, TypeAlias

from journal.environment.kinds import RESOURCE_KIND, at_once, named_kind, restoring, settled
from journal.errors import InvalidJSON, InvalidRecord, NoRestoreFactory, brief
from journal.json_door import JSON
from journal.records import EnvironmentResource, EnvironmentState

ResourceFactory: TypeAlias = Callable[[EnvironmentResource], Any]
"""Restores a resource and gives what stands for it from now on: a resource, a mapping of its
fields, or an object whose `to_dict()` gives one, now or when it is awaited."""


class ResourceRestoreRegistry:
    """Factories of resources by `metadata.resource_kind`."""

    def __init__(self) -> None:
        self._factories: dict[str, ResourceFactory] = {}

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that are registered, in the order of their names."""
        return tuple(sorted(self._factories))

    def register(self, kind: str, factory: ResourceFactory) -> Self:
        """Let a factory restore the resources of a kind, in place of one registered before.

        Returns:
            This registry.
        """
        self._factories[kind] = factory
        return self

    def restore(self, state: EnvironmentState) -> EnvironmentState:
        """Rewrite a state with its typed resources restored, in order.

        An untyped resource is kept as it is. No factory is called before each typed resource
        has one.

        Raises:
            NoRestoreFactory: a resource is of a kind that is not registered.
            InvalidRecord, InvalidJSON: a resource's kind is no name, or what a factory gave is
                no resource.
            TypeError: a factory is asynchronous.
        """
        made: dict[int, Any] = {}
        for at, what, resource, factory in self._typed(state):
            with restoring(what):
                made[at] = at_once(factory(resource), what)
        return _rewritten(state, made)

    async def arestore(self, state: EnvironmentState) -> EnvironmentState:
        """Rewrite a state as `restore` does, awaiting factories that are asynchronous."""
        made: dict[int, Any] = {}
        for at, what, resource, factory in self._typed(state):
            with restoring(what):
                made[at] = await settled(factory(resource))
        return _rewritten(state, made)

    def _typed(
        self, state: EnvironmentState
    ) -> list[tuple[int, str, EnvironmentResource, ResourceFactory]]:
        found = []
        for at, resource in enumerate(state.resources):
            kind = resource.metadata.get(RESOURCE_KIND)
            if kind is None:
                continue
            what = f"resource {brief(resource.id)} of environment {brief(state.provider_id)}"
            path = f"$.resources[{at}].metadata.{RESOURCE_KIND}"
            factory = self._factories.get(named_kind(kind, what, path))
            if factory is None:
                raise NoRestoreFactory(what, kind, self.kinds)
            found.append((at, what, resource, factory))
        return found


def _rewritten(state: EnvironmentState, made: Mapping[int, Any]) -> EnvironmentState:
    if not made:
        return state
    value = state.to_json()
    for at, resource in made.items():
        value["resources"][at] = _as_json(resource, f"$.resources[{at}]")
    return EnvironmentState.from_json(value)


def _as_json(made: Any, path: str) -> dict[str, JSON]:
    if isinstance(made, EnvironmentResource):
        return made.to_json()
    to_dict = getattr(made, "to_dict", None)
    if callable(to_dict):
        made = to_dict()
    if not isinstance(made, Mapping):
        reason = f"its factory gave {type(made).__name__}, which is no resource"
        raise InvalidRecord("restored environment state", path, reason)
    try:
        return EnvironmentResource.from_json(made).to_json()
    except (InvalidJSON, InvalidRecord) as error:
        raise replace(error, path=path + error.path[1:]) from error
