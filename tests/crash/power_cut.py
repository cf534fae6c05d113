"""What a disk holds after a power cut, made from the log of what was written to it.

Safe is what was synced before the cut. Of the later writes some stand and some do not, in
any combination, also parts of one: a disk writes sectors of 512 bytes.
"""

from pathlib import Path

from tests.crash.recording_disk import (
    Created,
    Deleted,
    NamesSynced,
    Noted,
    Present,
    Synced,
    Truncated,
    Written,
)

SECTOR = 512


class Disk:
    """Follows a log and makes cuts, at rising points.

    Args:
        log: a recording's.
        obeys_syncs: False for a disk that lies, as `PRAGMA synchronous=OFF` does.
    """

    def __init__(self, log, *, obeys_syncs=True):
        self._log = log
        self._obeys_syncs = obeys_syncs
        self._at = 0
        self._safe = {}
        """What is safe of each file."""
        self._safe_names = {}
        self._later = []
        """Changes of files that are not safe yet, with their places in the log."""
        self._later_names = []
        self.noted = []
        """What the program noted before the cut."""

    def run_to(self, cut):
        """Go on to the moment after so many steps."""
        for at in range(self._at, cut):
            self._step(at, self._log[at])
        self._at = cut

    def _step(self, at, step):
        match step:
            case Noted(what):
                self.noted.append(what)
            case Present(file, path, data):
                self._safe[file] = bytearray(data)
                self._safe_names[path] = file
            case Created(file):
                self._safe[file] = bytearray()
                self._later_names.append(step)
            case Deleted():
                self._later_names.append(step)
            case Written() | Truncated():
                self._later.append((at, step))
            case Synced(file, since) if self._obeys_syncs:
                later, self._later = self._later, []
                for written_at, change in later:
                    if change.file == file and written_at < since:
                        _apply(self._safe[file], change)
                    else:
                        self._later.append((written_at, change))
            case NamesSynced() if self._obeys_syncs:
                for change in self._later_names:
                    _name(self._safe_names, change)
                self._later_names = []

    def cut_into(self, folder, chance):
        """Write what the power cut leaves into a folder.

        Returns:
            How many changes were not safe.
        """
        keeps = chance.choice([_nothing, _everything, _first_ones, _any, _sectors])
        names = dict(self._safe_names)
        for change in self._later_names:
            if chance.random() < 0.5:
                _name(names, change)
        held = {file: bytearray(self._safe[file]) for file in names.values()}
        for change in keeps([step for _, step in self._later if step.file in held], chance):
            _apply(held[change.file], change)
        for path, file in names.items():
            (folder / Path(path).name).write_bytes(held[file])
            if path.endswith("-wal") and chance.random() < 0.3:
                # The shared memory beside a log is never synced: anything may stand in it.
                shared = Path(path).name.removesuffix("-wal") + "-shm"
                (folder / shared).write_bytes(chance.randbytes(32768))
        return len(self._later)


def _apply(held, change):
    match change:
        case Truncated(_, size):
            del held[size:]
            held.extend(bytes(size - len(held)))
        case Written(_, at, data):
            held.extend(bytes(max(0, at - len(held))))
            held[at : at + len(data)] = data


def _name(names, change):
    match change:
        case Created(file, path):
            names[path] = file
        case Deleted(path):
            names.pop(path, None)


def _nothing(_changes, _chance):
    return []


def _everything(changes, _chance):
    return changes


def _first_ones(changes, chance):
    return changes[: chance.randint(0, len(changes))]


def _any(changes, chance):
    return [change for change in changes if chance.random() < 0.5]


def _sectors(changes, chance):
    for change in changes:
        if isinstance(change, Truncated):
            yield from [change] * chance.randrange(2)
            continue
        start, end = change.at, change.at + len(change.data)
        for sector in range(start // SECTOR * SECTOR, end, SECTOR):
            low, high = max(start, sector), min(end, sector + SECTOR)
            if chance.random() < 0.5:
                yield Written(change.file, low, change.data[low - start : high - start])
