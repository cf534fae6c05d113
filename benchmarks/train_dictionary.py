"""Train the dictionary that short events are compressed with, or measure the shipped one.

    python benchmarks/train_dictionary.py [--write FILE] [--json]

The samples are events as the journal stores them: the calls of a real runtime
(tests/fixtures/corpus), with every id, time, count and text replaced, are given to a
journal again and again, with sorted keys and in the order of the record models; then token
deltas, and facts that nobody recorded. So the dictionary holds shapes and no texts. What is
printed is measured on events that have no part in the training; for that, a second
dictionary is trained without the runs that are measured.

The number of a dictionary is for ever: a better one gets the next number and its own codec,
and never takes the place of one that was shipped.
"""

from __future__ import annotations

import gzip
import itertools
import json
import pydoc_data.topics
import random
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import zstandard
from records import SIZES, make
from report import Row, arguments, median_seconds, show

from journal import Journal, events
from journal.codec import encode
from journal.compress import MAGIC, Compressor
from journal.hosts.starweaver import JournalSessionStore
from journal.json_door import JSON, dumps
from journal.records import AgentCheckpoint, Record, RunEvidenceCommit, SessionRecord

CORPUS = Path(__file__).parents[1] / "tests" / "fixtures" / "corpus"
HELD_OUT = ("env", "subagent", "tools")
LONG = ("long.jsonl.gz", 90)
"""A file of which the first calls show every shape."""

BYTES = 16 * 1024
VARIANTS = 8
DELTAS = 400
"""Token deltas a variant."""

WHOLE = 2000
"""Bytes at the dictionary's end that are the most common events, whole."""

REPEAT_OFFSETS = bytes([1, 0, 0, 0, 4, 0, 0, 0, 8, 0, 0, 0])
"""The end of a dictionary's tables (RFC 8878, section 5); then comes its content."""

MODELS: dict[str, type[Record]] = {
    "commit_checkpoint": AgentCheckpoint,
    "commit_run_evidence": RunEvidenceCommit,
    "save_session": SessionRecord,
}
ID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b|\b\d{19}\b"
)
TIME = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.(\d+)(Z|\+00:00)")
TEXT = re.compile(r"[ \n]|.{60}", re.DOTALL)
TEXTS = frozenset(
    ("text", "content", "output", "output_preview", "arguments_delta", "reason", "message")
)
FIXED = frozenset(("kind", "status", "node", "delta_kind", "part_kind", "finish_reason"))


class Variation:
    """Replaces what a host and a model make up: the same by the same, throughout a file."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._words = " ".join(pydoc_data.topics.topics.values()).split()
        self._start = dice.randint(1_750_000_000, 1_900_000_000)
        self._made: dict[Any, Any] = {}
        self._texts: set[str] = set()
        self._fixed: set[str] = set()

    def learn(self, value: JSON, key: str = "") -> None:
        """Note which strings are texts: they are, wherever else they stand."""
        for inner, item in _items(value, key):
            self.learn(item, inner)
        if isinstance(value, str):
            if key in FIXED:
                self._fixed.add(value)
            elif key in TEXTS or TEXT.search(value):
                self._texts.add(value)

    def of(self, value: JSON, key: str = "") -> JSON:
        """Give the value with everything replaced."""
        if isinstance(value, dict):
            return {name: self.of(item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [self.of(item, key) for item in value]
        if isinstance(value, str):
            return self._string(value)
        if type(value) is int and value and key.endswith("_tokens"):
            return self._made.setdefault((key, value), self._dice.randint(1, 60_000))
        return value

    def text(self, length: int) -> str:
        """Give some English of that many characters."""
        at = self._dice.randrange(len(self._words) - length - 8)
        return " ".join(self._words[at : at + length + 8])[self._dice.randrange(8) :][:length]

    def id(self) -> str:
        """Give a new UUID."""
        return str(UUID(int=self._dice.getrandbits(128), version=4))

    def time(self, digits: int = 6, zone: str = "Z") -> str:
        """Give a time near the others."""
        at = datetime.fromtimestamp(self._start + self._dice.randrange(100_000), UTC)
        fraction = "".join(self._dice.choices("0123456789", k=digits))
        return f"{at:%Y-%m-%dT%H:%M:%S}.{fraction}{zone}"

    def _string(self, value: str) -> str:
        if value not in self._made:
            time = TIME.fullmatch(value)
            if time:
                self._made[value] = self.time(len(time[1]), time[2])
            elif ID.search(value):
                self._made[value] = ID.sub(self._other_id, value)
            elif value in self._texts - self._fixed:
                length = round(len(value) * self._dice.uniform(0.4, 2))
                self._made[value] = self.text(min(300, max(1, length)))
            else:
                return value
        return self._made[value]

    def _other_id(self, match: re.Match[str]) -> str:
        old = match[0]
        if old not in self._made:
            new = self.id()
            number = str(UUID(new).int)[:19]
            self._made[old] = {36: new, 32: new.replace("-", "")}.get(len(old), number)
        return self._made[old]


def _items(value: JSON, key: str) -> Iterator[tuple[str, JSON]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from ((key, item) for item in value)


def declared(value: Any) -> JSON:
    """Put the keys of records in the order of their models."""
    if isinstance(value, Record):
        named = {name: declared(getattr(value, name)) for name in type(value).model_fields}
        given = value.to_json()
        return {name: named.get(name, given[name]) for name in [*named, *given] if name in given}
    if isinstance(value, dict):
        return {name: declared(item) for name, item in value.items()}
    if isinstance(value, list):
        return [declared(item) for item in value]
    return str(value) if isinstance(value, str) else value


def run(path: Path, vary: Variation | None, *, ordered: bool = False) -> Iterator[bytes]:
    """Give the calls of one file to a journal, and yield the events it stored."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        most = LONG[1] if path.name == LONG[0] else None
        calls = [json.loads(line) for line in itertools.islice(lines, most)]
    if vary is not None:
        vary.learn([call["args"] for call in calls])
    with Journal.open("memory://") as journal:
        store = JournalSessionStore(journal).store
        for call in calls:
            args = call["args"] if vary is None else vary.of(call["args"])
            if ordered and call["op"] in MODELS:
                args[-1] = declared(MODELS[call["op"]].from_json(args[-1]))
            getattr(store, call["op"])(*args)
        for event in journal.reader.all_events():
            yield dumps(event.data)


def deltas(dice: random.Random, *, ordered: bool) -> Iterator[bytes]:
    """Yield what a model streams, a few characters each."""
    vary = Variation(dice)
    sequence = step = 0
    for _ in range(DELTAS):
        far = dice.random() < 0.05
        sequence = dice.randrange(10 ** dice.randrange(1, 7)) if far else sequence + 1
        step = dice.randrange(30) if far else step
        kind = dice.choices(("text", "thinking", "tool_call_arguments"), (6, 2, 2))[0]
        text = vary.text(dice.choice((2, 4, 5, 7, 9, 12, 30, 60)))
        key = "arguments_delta" if kind == "tool_call_arguments" else "text"
        part = {"kind": "part_delta", "index": dice.choice((0, 0, 0, 1, 2)), "delta_kind": kind}
        event = {"kind": "model_stream", "step": step, "event": part | {key: text}}
        record: JSON = {"sequence": sequence, "event": event}
        if not ordered:
            record = json.loads(json.dumps(record, sort_keys=True))
        yield dumps({"record": record})


def facts(dice: random.Random) -> Iterator[bytes]:
    """Yield the facts that no recorded run has."""
    vary = Variation(dice)
    run_id, session_id, claim_id = f"run_{vary.id()}", f"session_{vary.id()}", f"claim_{vary.id()}"
    yield encode(events.RunOpened(run_id=run_id, session_id=session_id))
    for status in ("queued", "running", "waiting", "completed", "failed", "cancelled"):
        yield encode(events.RunStatusChanged(status=status, reason=vary.text(30)))
    yield encode(events.RunSuspended(reason=vary.text(20), checkpoint_id=f"ckpt_{vary.id()}"))
    yield encode(events.RunResumed(attempt=dice.randint(2, 9)))
    for taken in ("unowned", "released", "expired", "gone", "takeover"):
        number, process = dice.randint(1, 9), dice.randint(1, 99_999)
        lease = {"owner": vary.id(), "host": vary.id(), "process": process, "taken": taken}
        yield encode(events.RunLeaseTaken(generation=number, **lease))
    claim = {"claim_id": claim_id, "session_id": session_id, "run_id": run_id}
    claim |= {"state": "preflight", "created_at": vary.time()}
    yield encode(events.ResumeClaimed(claim=claim))
    yield encode(events.ResumeStarted(claim_id=claim_id))
    yield encode(events.ResumeReleased(claim_id=claim_id))


def train(without: tuple[str, ...] = ()) -> bytes:
    """Make the samples, but for some runs, and train."""
    dice = random.Random(1)
    samples: list[bytes] = []
    paths = [path for path in sorted(CORPUS.glob("*.jsonl.gz")) if ".live" not in path.name]
    for path, variant in itertools.product(paths, range(VARIANTS)):
        if path.name.split(".")[0] not in without:
            samples += run(path, Variation(dice), ordered=variant % 2 == 1)
    for variant in range(VARIANTS):
        samples += deltas(dice, ordered=variant % 2 == 1)
        samples += itertools.chain.from_iterable(facts(dice) for _ in range(5))
    made = zstandard.train_dictionary(BYTES, samples, dict_id=2, level=3, k=1000, d=6)
    return with_whole_events(made.as_bytes(), samples)


def with_whole_events(dictionary: bytes, samples: list[bytes]) -> bytes:
    """End a dictionary with an event of each of the most common shapes, whole.

    The low levels try one place of the dictionary only for each match. There are the most
    valuable bytes at the end, and the first ones make room.
    """
    shapes: dict[str, list[bytes]] = {}
    for sample in samples:
        shapes.setdefault(str(shape(json.loads(sample))), []).append(sample)
    whole = b""
    for same in sorted(shapes.values(), key=len, reverse=True):
        one = sorted(same, key=len)[len(same) // 4]
        if len(whole) + len(one) > WHOLE:
            break
        whole = one + whole
    head = dictionary.index(REPEAT_OFFSETS) + len(REPEAT_OFFSETS)
    return dictionary[:head] + dictionary[head + len(whole) :] + whole


def shape(value: JSON, key: str = "") -> Any:
    """Tell the keys and kinds of a value, which make two events alike."""
    if isinstance(value, dict):
        return [(name, shape(item, name)) for name, item in value.items()]
    if isinstance(value, list):
        return [shape(item, key) for item in value[:1]]
    return value if key in {"kind", "delta_kind"} else None


def measure(what: str, rows: list[bytes], dictionary: bytes, repeat: int) -> Row:
    """Measure bytes and time a row, without and with a dictionary."""
    row: Row = {"events": what, "JSON bytes": sum(map(len, rows)) / len(rows)}
    for name, used in (("zstd", Compressor()), ("dictionary", Compressor(dictionary))):
        blobs = [used.compress(data) for data in rows]
        extra = len(MAGIC) if name == "zstd" else 0
        row[f"{name} bytes"] = sum(len(blob) + extra for blob in blobs) / len(rows)
        packing = median_seconds(lambda: [used.compress(data) for data in rows], repeat)  # noqa: B023
        reading = median_seconds(lambda: [used.decompress(blob) for blob in blobs], repeat)  # noqa: B023
        row[f"{name} pack us"] = packing / len(rows) * 1e6
        row[f"{name} unpack us"] = reading / len(rows) * 1e6
    return row


def main() -> None:
    """Run and print."""
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path, help="where to write the trained dictionary")
    chosen = parser.parse_args()
    if chosen.write is not None:
        chosen.write.write_bytes(train())
        sys.stderr.write(f"wrote {chosen.write}\n")
    dictionary = train(without=HELD_OUT)
    rows = []
    for size in SIZES:
        made = [b'{"record":' + text + b"}" for text in make(1000, size).texts]
        rows.append(measure(f"records of {size}", made, dictionary, chosen.repeat))
    for name in HELD_OUT:
        recorded = list(run(CORPUS / f"{name}.jsonl.gz", None)) * 5
        rows.append(measure(f"run {name}", recorded, dictionary, chosen.repeat))
    show("dictionary", rows, as_json=chosen.json)


if __name__ == "__main__":
    main()
