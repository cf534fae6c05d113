"""The recorded calls of a real runtime (tests/fixtures/corpus), as they were made."""

import gzip
import json
from pathlib import Path

FOLDER = Path(__file__).parent / "fixtures" / "corpus"

FILES = (
    "approval",
    "cancel",
    "deferred",
    "env",
    "long",
    "modelfail",
    "session",
    "steer",
    "stream",
    "structured",
    "subagent",
    "text",
    "toolerror",
    "tools",
)


def lines(name):
    """Read the lines of a file: `{"op", "args"}` each, or records in `stream.live`."""
    with gzip.open(FOLDER / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]
