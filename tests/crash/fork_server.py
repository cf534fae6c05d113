"""Starts programs at once: a process that has imported everything forks one for each order.

The programs are processes of their own, with connections of their own; what they share is
only the code that was loaded. `python -m tests.crash.fork_server MODULE...` reads orders from
its standard input and answers on its standard output, a JSON array a line.
"""

import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

import journal

ROOT = Path(__file__).parents[2]
PACKAGES = Path(journal.__file__).parents[1]
"""Where this process found the package under test: a checkout or an installation."""


class ForkServer:
    """The other end: start programs, kill them, and learn how they ended.

    Args:
        modules: where the programs are, by name; each is a function whose arguments are JSON.
    """

    def __init__(self, *modules):
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.fork_server", *modules],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": f"{PACKAGES}{os.pathsep}{ROOT}"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._running = set()

    def start(self, program, /, **arguments):
        """Start a program; returns its process id."""
        pid = self._ask("start", program, arguments)
        self._running.add(pid)
        return pid

    def kill(self, pid):
        """Kill a program that must be running still, and wait for its end."""
        os.kill(pid, signal.SIGKILL)
        ended = self.wait(pid)
        assert ended == -signal.SIGKILL, f"the program ended by itself with {ended}"

    def wait(self, pid):
        """Wait for a program's end; returns its exit code, or minus the signal it got."""
        self._running.discard(pid)
        return self._ask("wait", pid)

    def close(self):
        """Kill what still runs, and end."""
        for pid in list(self._running):
            os.kill(pid, signal.SIGKILL)
            self.wait(pid)
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()

    def _ask(self, *order):
        self._process.stdin.write(json.dumps(order, default=str).encode() + b"\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def serve(modules):
    """Take orders until the standard input ends."""
    programs = {}
    for module in modules:
        programs |= vars(importlib.import_module(module))
    with tempfile.TemporaryDirectory() as folder, journal.Journal.open(f"{folder}/warm.db") as warm:
        warm.run("r", session_id="s")
    for line in iter(sys.stdin.buffer.readline, b""):
        match json.loads(line):
            case ["start", program, arguments]:
                pid = os.fork()
                if pid == 0:
                    _run(programs[program], arguments)
                _answer(pid)
            case ["wait", pid]:
                _answer(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def _run(program, arguments):
    code = 1
    try:
        os.close(0)
        os.close(1)
        program(**arguments)
        code = 0
    except BaseException:  # noqa: BLE001 - nothing may return into the server's loop
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _answer(value):
    os.write(1, json.dumps(value).encode() + b"\n")


if __name__ == "__main__":
    serve(sys.argv[1:])
