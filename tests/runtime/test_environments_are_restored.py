"""The environment of a run of the real runtime is restored as it was at any cursor."""

import asyncio
import os

import pytest
from starweaver import (
    LocalEnvironment,
    PythonEnvironmentProvider,
    Tool,
    VirtualEnvironment,
    create_agent_runtime,
    environment_toolsets,
)
from starweaver.environment import EnvironmentProvider
from starweaver.errors import StateError
from starweaver.testing import TestModel as ScriptedModel

from journal import AsyncJournal, Journal
from journal.environment import LocalPolicy
from journal.errors import NoRestoreFactory, PathRefused
from journal.events import CheckpointTaken, EnvironmentExported
from journal.hosts.starweaver import JournalSessionStore, graceful_shutdown, record
from journal.hosts.starweaver.boundaries import export_environment
from journal.hosts.starweaver.environment import (
    RestoredVirtualEnvironment,
    register_local,
    register_runtime_local,
    starweaver_environments,
)
from projections import CheckpointCursor, StepCursor, StreamCursor, replay
from projections.environment import restore_environment

START = {"README.md": "hello"}
WRITES = {1: ("a.txt", "1"), 3: ("b.txt", "3"), 5: ("a.txt", "5")}


@pytest.fixture
def held():
    """A journal in memory, where it does not matter how it is stored."""
    with Journal.open("memory://") as opened:
        yield opened


def run(work):
    async def main():
        async with graceful_shutdown():
            return await work

    return asyncio.run(main())


def scripted(*turns):
    answers = []
    for number, turn in enumerate(turns, 1):
        name, arguments = ("look", {}) if turn is None else turn
        call = {"id": f"call_{number}", "name": name, "arguments": arguments}
        answers.append(ScriptedModel.tool_call_response([call]))
    return ScriptedModel.responses([*answers, "done"])


def writing():
    """An agent that writes at steps 1, 3 and 5, and looks around between them."""
    turns = []
    for step in range(1, 6):
        path, content = WRITES.get(step, (None, None))
        turns.append(path and ("write", {"file_path": path, "content": content}))
    return scripted(*turns)


async def agent(journal, environment, model, session_id="s"):
    """Run an agent to its end with its environment recorded; give the run's id."""
    runtime = create_agent_runtime(
        model=model,
        session_store=JournalSessionStore(journal),
        durable_session_id=session_id,
        environment=environment,
        toolsets=environment_toolsets(),
        tools=[Tool(lambda: "nothing new", name="look", description="Look around.")],
    )
    stream = runtime.stream("go")
    async for _ in record(stream, environment=environment):
        pass
    return (await stream.result()).raw_state["run_id"]


def files_after(*steps):
    return START | dict(WRITES[step] for step in steps)


def written_by(step, node):
    """The writes done when a checkpoint is taken: the tool of a step runs after `tool_call`."""
    done = node not in ("model_response", "tool_call")
    return [each for each in WRITES if each < step or (each == step and done)]


def exported(journal, run_id):
    return list(journal.reader.run_events(run_id, names=(EnvironmentExported.NAME,)))


async def files_at(journal, run_id, at):
    """Restore an environment and read its files out of it."""
    state = replay(journal, run_id, at=at).environment_state
    environment = await starweaver_environments().arestore(state)
    assert isinstance(environment, VirtualEnvironment)
    assert await environment.export_state() == state["payload"]
    return {path: await environment.read_text(path) for path in await environment.list()}


def test_it_has_the_files_of_the_moment_before_and_after_each_write(journal):
    async def main():
        environment = VirtualEnvironment(id="ws", files=START)
        run_id = await agent(journal, environment, writing())
        moments = {0: (), 1: (1,), 2: (1,), 3: (1, 3), 4: (1, 3), 5: (1, 3, 5), 6: (1, 3, 5)}
        for step, steps in moments.items():
            assert await files_at(journal, run_id, StepCursor(step)) == files_after(*steps)
        seen = set()
        taken = list(journal.reader.run_events(run_id, names=(CheckpointTaken.NAME,)))
        for event in taken:
            steps = written_by(event.data["step"], event.data["node"])
            expected = files_after(*steps)
            at = CheckpointCursor(event.data["checkpoint_id"])
            assert await files_at(journal, run_id, at) == expected
            at = StreamCursor(event.data["stream_cursor"])
            assert await files_at(journal, run_id, at) == expected
            seen.add(tuple(steps))
        assert seen == {(), (1,), (1, 3), (1, 3, 5)}
        assert len(exported(journal, run_id)) == 4

    run(main())


def test_before_its_first_checkpoint_and_without_recording_there_is_none(held):
    async def main():
        environment = VirtualEnvironment(id="ws", files=START)
        run_id = await agent(held, environment, scripted(None))
        assert replay(held, run_id, at="stream:3").environment_state is None
        assert await files_at(held, run_id, "stream:4") == START
        store = JournalSessionStore(held)
        runtime = create_agent_runtime(
            model=writing(),
            session_store=store,
            durable_session_id="other",
            environment=environment,
            toolsets=environment_toolsets(),
            tools=[Tool(lambda: "", name="look", description="Look around.")],
        )
        stream = runtime.stream("go")
        async for _ in record(stream):
            pass
        run_id = (await stream.result()).raw_state["run_id"]
        [only] = exported(held, run_id)
        assert await files_at(held, run_id, "latest") == files_after(1, 3, 5)
        assert replay(held, run_id, at=StepCursor(5)).environment_state is None
        assert only.version > 100

    run(main())


def test_an_agent_goes_on_in_it(held):
    async def main():
        first = await agent(held, VirtualEnvironment(id="ws", files=START), writing())
        state = replay(held, first, at=StepCursor(3)).environment_state
        restored = await starweaver_environments().arestore(state)
        model = scripted(("write", {"file_path": "c.txt", "content": "other"}))
        second = await agent(held, restored, model, session_id="again")
        expected = {**files_after(1, 3), "c.txt": "other"}
        assert await files_at(held, second, "latest") == expected
        assert await files_at(held, first, "latest") == files_after(1, 3, 5)

    run(main())


def test_runs_at_the_same_time_have_their_own():
    """More of them than the runtime has threads: none waits for another."""

    async def one(journal, number):
        environment = VirtualEnvironment(id=f"ws{number}", files={"n": str(number)})
        write = ("write", {"file_path": "a.txt", "content": str(number)})
        return await agent(journal, environment, scripted(write, None), session_id=environment.id)

    async def main(journal):
        many = 3 * (os.cpu_count() or 1) + 2
        async with asyncio.timeout(120):
            ids = await asyncio.gather(*(one(journal, number) for number in range(many)))
        for number, run_id in enumerate(ids):
            states = [
                journal.reader.document(event)["payload"] for event in exported(journal, run_id)
            ]
            assert {state["provider_id"] for state in states} == {f"ws{number}"}
            before = {"n": str(number)}
            assert [state["files"] for state in states] == [
                before,
                {**before, "a.txt": str(number)},
            ]

    with Journal.open("memory://") as journal:
        run(main(journal))


def test_one_written_in_python_is_recorded_in_its_own_loop(held):
    class Kept(PythonEnvironmentProvider):
        def __init__(self):
            super().__init__(id="kept")
            self.files = {}
            self.loops = set()

        async def stat(self, path):
            return {"size": 1, "is_file": path in self.files, "is_dir": path not in self.files}

        async def write_text(self, path, content):
            self.files[path] = content

        async def export_state(self):
            self.loops.add(asyncio.get_running_loop())
            return {
                "provider_id": "kept",
                "files": dict(self.files),
                "metadata": {"provider_kind": "kept"},
            }

    async def main():
        environment = Kept()
        run_id = await agent(held, environment, writing())
        assert environment.loops == {asyncio.get_running_loop()}
        states = [held.reader.document(event) for event in exported(held, run_id)]
        assert [state["payload"].get("files", {}) for state in states] == [
            {},
            {"a.txt": "1"},
            {"a.txt": "1", "b.txt": "3"},
            {"a.txt": "5", "b.txt": "3"},
        ]
        with pytest.raises(NoRestoreFactory, match="'kept'"):
            await starweaver_environments().arestore(states[0])

    run(main())


def test_processes_come_back_as_far_as_the_runtime_holds_them():
    async def main():
        environment = VirtualEnvironment(id="ws", files=START)
        await environment.start_process("serve")
        said = await environment.start_process("cat")
        await environment.input_process(said, "hello", close_stdin=True)
        await environment.signal_process(said, "TERM")
        await environment.kill_process(await environment.start_process("sleep"))
        state = await environment.export_state()
        assert len(state["processes"]) == 3
        restored = await starweaver_environments().arestore(state)
        assert await restored.export_state() == state
        assert [one.to_json() for one in restored.process_snapshots] == state["processes"]
        assert restored.lost_processes == ()
        assert (await restored.start_process("next")).process_id == "process_4"

        ended = {
            **state["processes"][0],
            "process_id": "process_4",
            "status": "completed",
            "stdout": "out",
            "return_code": 0,
        }
        foreign = {**ended, "process_id": "a:process_1"}
        state["processes"] += [ended, foreign]
        restored = await starweaver_environments().arestore(state)
        assert [one.to_json() for one in restored.process_snapshots] == state["processes"]
        assert [one.to_json() for one in restored.lost_processes] == [ended, foreign]
        listed = await restored.list_processes()
        assert [one.status for one in listed] == ["running", "running", "killed", "killed"]

    run(main())


def test_resources_are_restored_first():
    async def main():
        state = {
            "provider_id": "ws",
            "resources": [
                {"id": "db", "uri": "db://old", "metadata": {"resource_kind": "database"}},
                {"id": "note", "uri": "note://1"},
            ],
            "metadata": {"provider_kind": "virtual"},
        }
        registry = starweaver_environments()
        with pytest.raises(NoRestoreFactory, match="'database'"):
            await registry.arestore(state)

        async def reconnect(resource):
            return {**resource.to_json(), "uri": "db://new"}

        registry.resources.register("database", reconnect)
        restored = await registry.arestore(state)
        state["resources"][0]["uri"] = "db://new"
        assert await restored.export_state() == state

    run(main())


@pytest.fixture
def top(tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "f").write_text("F")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "f").write_text("SECRET")
    (tmp_path / "root" / "link").symlink_to("../out")
    return tmp_path


def local_state(root):
    """What the runtime exports of a local environment."""

    async def main():
        return await LocalEnvironment(root, id="loc").export_state()

    return run(main())


@pytest.mark.parametrize("register", [register_local, register_runtime_local])
def test_a_local_one_reaches_what_its_policy_allows(top, register):
    root, out = top / "root", top / "out"
    state = local_state(root)

    async def main():
        with pytest.raises(NoRestoreFactory, match="'local'"):
            await starweaver_environments().arestore(state)
        with pytest.raises(PathRefused, match="policy allows"):
            await register(starweaver_environments(), LocalPolicy([out])).arestore(state)
        wider = {**state, "metadata": {**state["metadata"], "allowed_paths": [str(top)]}}
        with pytest.raises(PathRefused, match="policy allows"):
            await register(starweaver_environments(), LocalPolicy([root])).arestore(wider)

        reading = await register(starweaver_environments(), LocalPolicy([root])).arestore(state)
        assert isinstance(reading, EnvironmentProvider)
        assert (await reading.read_text("f"), reading.id) == ("F", "loc")
        with pytest.raises(StateError):
            await reading.write_text("g", "G")
        policy = LocalPolicy([root], writable=True)
        writing = await register(starweaver_environments(), policy).arestore(state)
        await writing.write_text("deep/g", "G")
        assert (root / "deep" / "g").read_text() == "G"
        for path in ("link/f", "../out/f", str(out / "f"), "link"):
            for attempt in (writing.read_text(path), writing.write_text(path, "W")):
                with pytest.raises(StateError):
                    await attempt
        with pytest.raises(StateError, match=r"shell|denied"):
            await writing.run_shell("cat f")

    run(main())
    assert (out / "f").read_text() == "SECRET"


def test_a_guarded_one_serves_an_agent(held, top):
    state = local_state(top / "root")
    registry = register_local(starweaver_environments(), LocalPolicy([top / "root"], writable=True))

    async def main():
        environment = await registry.arestore(state)
        run_id = await agent(
            held,
            environment,
            scripted(
                ("write", {"file_path": "new/a.txt", "content": "A"}),
                ("write", {"file_path": "link/f", "content": "W"}),
                ("move", {"pairs": [{"src": "new/a.txt", "dst": "b.txt"}]}),
                ("copy", {"pairs": [{"src": "b.txt", "dst": "c.txt"}]}),
                ("mkdir", {"paths": ["d"]}),
                ("delete", {"paths": ["new"]}),
                ("view", {"file_path": "f"}),
                ("ls", {"path": ""}),
            ),
        )
        view = replay(held, run_id)
        returns = [
            (part["content"], part["is_error"])
            for message in view.messages
            for part in message["parts"]
            if part["kind"] == "tool_return"
        ]
        assert view.environment_state["payload"] == state
        assert [failed for _, failed in returns] == [False, True, *[False] * 6]
        assert "'link/f' is refused: it is outside" in returns[1][0]["error"]
        assert (returns[6][0], returns[7][0]["entries"][:3]) == ("F", ["b.txt", "c.txt", "d"])

    run(main())
    assert (top / "out" / "f").read_text() == "SECRET"
    assert sorted(one.name for one in (top / "root").iterdir()) == [
        "b.txt",
        "c.txt",
        "d",
        "f",
        "link",
    ]


def test_a_host_may_export_when_it_wants(tmp_path):
    async def main():
        environment = VirtualEnvironment(id="ws", files=START)
        async with (
            AsyncJournal.open(tmp_path / "runs.db") as journal,
            await journal.run("r", session_id="s") as opened,
        ):
            first = await export_environment(opened, environment)
            again = await export_environment(opened.sync, environment, stream_cursor=4)
            assert (again.version, again.repeated) == (first.version, True)
            await environment.write_text("a.txt", "1")
            await export_environment(opened.sync, environment, stream_cursor=4)
        with Journal.open(tmp_path / "runs.db", create=False) as journal:
            with pytest.raises(TypeError, match="arestore"):
                restore_environment(journal, "r", registry=starweaver_environments())
            assert await files_at(journal, "r", "latest") == {**START, "a.txt": "1"}

    run(main())


def test_it_restores_what_a_plain_environment_shows():
    async def main():
        files = {"": "no name", "../up": "2", "a b": "é", ".starweaver/scratch/x": "scratch"}
        environment = VirtualEnvironment(id="ws", files=files)
        state = await environment.export_state()
        restored = await starweaver_environments().arestore(state)
        assert isinstance(restored, RestoredVirtualEnvironment)
        assert await restored.export_state() == state
        assert state["files"] == files

    run(main())
