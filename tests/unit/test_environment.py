"""Environments are restored from exported states, each by the factory of its kind."""

import asyncio
import gc
import subprocess
import sys

import pytest

from journal import AsyncJournal, Journal
from journal.environment import (
    EnvironmentProviderRegistry,
    LocalPolicy,
    LocalProvider,
    ResourceRestoreRegistry,
    VirtualProvider,
)
from journal.errors import (
    EnvironmentNotFound,
    FileNotInEnvironment,
    InvalidEnvelope,
    InvalidRecord,
    NoRestoreFactory,
    RunNotFound,
)
from journal.records import ENVIRONMENT_STATE, EnvironmentState, wrap
from projections import StreamCursor
from projections.environment import arestore_environment, restore_environment
from tests.samples import record

DATABASE = {"id": "db", "uri": "db://old", "metadata": {"resource_kind": "database", "n": 1}}
NOTE = {"id": "note", "uri": "note://1", "more": [1, None]}
PROCESS = {
    "process_id": "process_1",
    "command": "make",
    "status": "completed",
    "stdout": "ok\n",
    "stderr": "",
    "return_code": 0,
}


def state(kind="virtual", **fields):
    return {"provider_id": "ws", "metadata": {"provider_kind": kind}, **fields}


def reconnected(resource):
    return {**resource.to_json(), "uri": resource.uri.replace("old", "new")}


@pytest.fixture
def registry():
    return EnvironmentProviderRegistry.portable()


@pytest.mark.parametrize("wrapped", [False, True], ids=["bare", "enveloped"])
def test_the_portable_registry_restores_files_processes_and_resources(registry, wrapped):
    held = state(files={"a.txt": "été", "../b": "2"}, processes=[PROCESS], resources=[NOTE])
    provider = registry.restore(wrap(held, ENVIRONMENT_STATE) if wrapped else held)
    assert provider.provider_id == "ws"
    assert provider.paths() == ["../b", "a.txt"]
    assert provider.read_text("a.txt") == "été"
    assert [one.to_json() for one in provider.processes] == [PROCESS]
    assert [one.to_json() for one in provider.resources] == [NOTE]
    assert provider.export_state() == held


def test_what_is_done_to_a_restored_environment_changes_no_record(registry):
    held = state(files={"a": "1", "b": "2"})
    provider = registry.restore(held)
    provider.write_text("c", "3")
    provider.delete("a")
    assert provider.export_state() == state(files={"b": "2", "c": "3"})
    assert held == state(files={"a": "1", "b": "2"})
    for gone in (provider.read_text, provider.delete):
        with pytest.raises(FileNotInEnvironment, match=r"'ws' has nothing at 'a'"):
            gone("a")


def test_a_state_without_files_is_exported_as_it_came(registry):
    assert registry.restore(state()).export_state() == state()


def test_content_that_is_no_text_is_refused(registry):
    with pytest.raises(InvalidRecord, match=r'at \$\.files\["a b"\]: a text is needed, found 5'):
        registry.restore(state(files={"a b": 5}))


def test_typed_resources_are_restored_first_and_untyped_ones_kept(registry):
    seen = []
    registry.resources.register("database", reconnected)
    registry.register("mine", lambda ready: seen.append(ready.to_json()) or "provider")
    held = state("mine", resources=[NOTE, DATABASE, NOTE], other={"kept": 1})
    assert registry.restore(held) == "provider"
    assert seen == [
        state("mine", resources=[NOTE, {**DATABASE, "uri": "db://new"}, NOTE], other={"kept": 1})
    ]
    assert DATABASE["uri"] == "db://old"


def test_a_null_kind_of_a_resource_is_none(registry):
    untyped = {"id": "x", "uri": "x://", "metadata": {"resource_kind": None}}
    [kept] = registry.restore(state(resources=[untyped])).resources
    assert kept.to_json() == untyped


@pytest.mark.parametrize(
    "made",
    [
        lambda resource: resource.model_copy(update={"uri": "db://new"}),
        reconnected,
        lambda resource: type("Ref", (), {"to_dict": lambda _: reconnected(resource)})(),
    ],
    ids=["a record", "a mapping", "an object with to_dict"],
)
def test_a_factory_gives_a_resource_in_any_form(made):
    resources = ResourceRestoreRegistry().register("database", made)
    provider = EnvironmentProviderRegistry.portable(resources).restore(state(resources=[DATABASE]))
    assert [one.uri for one in provider.resources] == ["db://new"]


@pytest.mark.parametrize(
    ("made", "error"),
    [
        (None, r"at \$\.resources\[0\]: its factory gave NoneType, which is no resource"),
        ({"id": "db"}, r"at \$\.resources\[0\]\.uri: a string is needed"),
    ],
)
def test_what_is_no_resource_is_refused(registry, made, error):
    registry.resources.register("database", lambda _: made)
    with pytest.raises(InvalidRecord, match=error):
        registry.restore(state(resources=[DATABASE]))


def test_a_typed_resource_without_a_factory_is_named_and_nothing_is_restored(registry):
    called = []
    registry.resources.register("database", called.append)
    queue = {"id": "q1", "uri": "q://", "metadata": {"resource_kind": "queue"}}
    with pytest.raises(NoRestoreFactory) as error:
        registry.restore(state(resources=[DATABASE, queue]))
    assert (error.value.kind, error.value.known) == ("queue", ("database",))
    assert "resource 'q1' of environment 'ws' is of kind 'queue'" in str(error.value)
    assert "register one" in str(error.value)
    assert called == []


def test_an_unknown_provider_kind_is_named_before_any_resource_is_touched(registry):
    called = []
    registry.resources.register("database", called.append)
    with pytest.raises(NoRestoreFactory, match=r"environment 'ws' is of kind 'docker'.*virtual"):
        registry.restore(state("docker", resources=[DATABASE]))
    assert called == []


def test_a_local_environment_needs_a_factory_of_the_host(registry, tmp_path):
    held = state("local")
    held["metadata"]["root"] = str(tmp_path)
    with pytest.raises(NoRestoreFactory, match="'local'"):
        registry.restore(held)
    registry.register("local", lambda ready: LocalProvider(ready, LocalPolicy([tmp_path])))
    assert registry.restore(held).roots == (str(tmp_path.resolve()),)
    assert registry.kinds == ("local", "virtual")


@pytest.mark.parametrize(
    ("metadata", "found"),
    [
        ({}, "nothing"),
        (None, "nothing"),
        ({"provider_kind": 5}, "5"),
        ({"provider_kind": ""}, "''"),
    ],
)
def test_a_state_without_a_kind_is_refused_by_name(registry, metadata, found):
    with pytest.raises(InvalidRecord) as error:
        registry.restore({"provider_id": "ws", "metadata": metadata})
    assert error.value.path == "$.metadata.provider_kind"
    assert "environment 'ws'" in str(error.value)
    assert f"found {found}" in str(error.value)


def test_a_resource_whose_kind_is_no_name_is_refused_by_name(registry):
    odd = {"id": "x", "uri": "x://", "metadata": {"resource_kind": ["a"]}}
    with pytest.raises(InvalidRecord, match=r"resource 'x' .*\$\.resources\[0\]\.metadata\.res"):
        registry.restore(state(resources=[odd]))


def test_what_is_no_environment_state_is_refused(registry):
    with pytest.raises(InvalidRecord, match="provider_id"):
        registry.restore({"metadata": {"provider_kind": "virtual"}})
    with pytest.raises(InvalidEnvelope, match=r"starweaver\.environment\.state"):
        registry.restore({"schema": "other", "version": 1, "payload": state()})
    with pytest.raises(InvalidEnvelope, match="version 2"):
        registry.restore({**wrap(state(), ENVIRONMENT_STATE), "version": 2})


def test_a_factory_that_fails_says_what_it_was_restoring(registry):
    def fails(_resource):
        raise ConnectionError("refused")

    registry.resources.register("database", fails)
    with pytest.raises(ConnectionError, match="refused") as error:
        registry.restore(state(resources=[DATABASE]))
    assert error.value.__notes__ == [
        "while resource 'db' of environment 'ws' was being restored",
    ]


def test_asynchronous_factories_are_awaited_and_refused_where_nothing_can(registry):
    async def connect(resource):
        await asyncio.sleep(0)
        return reconnected(resource)

    async def provide(ready):
        await asyncio.sleep(0)
        return VirtualProvider(ready)

    held = state(resources=[DATABASE])
    registry.resources.register("database", connect)
    with pytest.raises(TypeError, match=r"arestore"):
        registry.restore(held)
    registry.register("virtual", provide)
    with pytest.raises(TypeError, match=r"environment 'ws' is asynchronous"):
        registry.restore(state())
    gc.collect()  # what was not awaited would warn
    provider = asyncio.run(registry.arestore(held))
    assert [one.uri for one in provider.resources] == ["db://new"]


def test_the_environment_of_a_cursor_is_the_one_exported_last_before_it(registry):
    with Journal.open("memory://") as journal, journal.run("r", session_id="s") as run:
        run.append(record(0))
        run.export_environment(state(files={"a": "1"}))
        run.append(record(1))
        run.export_environment(state(files={"a": "2"}))
        for at, content in ((0, "1"), (1, "2")):
            provider = restore_environment(journal, "r", StreamCursor(at), registry=registry)
            assert provider.read_text("a") == content


def test_a_run_without_an_environment_there_is_told_apart(registry):
    with Journal.open("memory://") as journal, journal.run("r", session_id="s") as run:
        run.append(record(0))
        run.append(record(1))
        run.export_environment(state())
        with pytest.raises(
            EnvironmentNotFound, match="run 'r' has no environment state at stream:0"
        ):
            restore_environment(journal, "r", "stream:0", registry=registry)
        assert restore_environment(journal, "r", registry=registry).paths() == []
        with pytest.raises(RunNotFound):
            restore_environment(journal, "nobody", registry=registry)


def test_it_is_restored_without_blocking_the_loop(registry, tmp_path):
    async def main():
        async with (
            AsyncJournal.open(tmp_path / "runs.db") as journal,
            await journal.run("r", session_id="s") as run,
        ):
            await run.append(record(0))
            await run.export_environment(state(files={"a": "1"}), stream_cursor=0)
            with pytest.raises(EnvironmentNotFound):
                await arestore_environment(journal, "r", "version:1", registry=registry)
            return await arestore_environment(journal, "r", registry=registry)

    assert asyncio.run(main()).read_text("a") == "1"


def test_importing_the_registry_imports_no_runtime():
    code = "import sys, journal.environment; sys.exit('starweaver' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_state_can_be_restored_from_its_record():
    record = EnvironmentState.from_json(state(files={"a": "1"}))
    assert EnvironmentProviderRegistry.portable().restore(record).read_text("a") == "1"
