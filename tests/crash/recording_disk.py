"""A disk that remembers: what SQLite writes and syncs in this process, in order.

A VFS, registered in the very SQLite library that Python's `sqlite3` uses, passes everything
on to the operating system's and writes it into a log first. A journal uses it unawares, as
SQLite's default.
"""

import _sqlite3
import ctypes
import sqlite3
from contextlib import closing, contextmanager
from ctypes import POINTER, c_char_p, c_int, c_int64, c_void_p
from pathlib import Path
from typing import NamedTuple

NAME = b"recording"

OPEN_CREATE = 0x4
OPEN_MAIN_DB = 0x100
NAME_SYNCED = 0x800 | 0x4000 | 0x80000
"""Kinds of files (rollback journals and logs) whose first sync SQLite extends to their
directory."""


class Present(NamedTuple):
    """A file that was there before, safe as it is."""

    file: int
    path: str
    data: bytes


class Created(NamedTuple):
    file: int
    path: str


class Written(NamedTuple):
    file: int
    at: int
    data: bytes


class Truncated(NamedTuple):
    file: int
    size: int


class Synced(NamedTuple):
    file: int
    since: int
    """Length of the log when the sync began: what came later is not covered."""


class NamesSynced(NamedTuple):
    """The directory itself."""


class Deleted(NamedTuple):
    path: str


class Noted(NamedTuple):
    """What the program said at this point, such as a receipt."""

    what: object


def _pointers(names):
    return [(name, c_void_p) for name in names.split()]


class _Methods(ctypes.Structure):
    """`sqlite3_io_methods`."""

    _fields_ = [
        ("iVersion", c_int),
        *_pointers("xClose xRead xWrite xTruncate xSync xFileSize xLock xUnlock"),
        *_pointers("xCheckReservedLock xFileControl xSectorSize xDeviceCharacteristics"),
        *_pointers("xShmMap xShmLock xShmBarrier xShmUnmap xFetch xUnfetch"),
    ]


_METHODS_SIZE = {1: _Methods.xShmMap.offset, 2: _Methods.xFetch.offset}


class _VFS(ctypes.Structure):
    """`sqlite3_vfs`, version 3."""

    _fields_ = [
        ("iVersion", c_int),
        ("szOsFile", c_int),
        ("mxPathname", c_int),
        ("pNext", c_void_p),
        ("zName", c_char_p),
        *_pointers("pAppData xOpen xDelete xAccess xFullPathname xDlOpen xDlError xDlSym xDlClose"),
        *_pointers("xRandomness xSleep xCurrentTime xGetLastError xCurrentTimeInt64"),
        *_pointers("xSetSystemCall xGetSystemCall xNextSystemCall"),
    ]


_Open = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, c_void_p)
_Delete = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_int)
_Write = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
_Truncate = ctypes.CFUNCTYPE(c_int, c_void_p, c_int64)
_Sync = ctypes.CFUNCTYPE(c_int, c_void_p, c_int)


class RecordingDisk:
    """The VFS and its log."""

    def __init__(self, library):
        self.log = []
        self._files = {}
        """The number of the file behind each open `sqlite3_file`."""
        self._paths = {}
        """The number of the file at each path."""
        self._names_due = set()
        """Files whose next sync is one of their directory, too."""
        self._count = 0
        self._methods = {}
        self._kept = []
        library.sqlite3_vfs_find.restype = POINTER(_VFS)
        self.plain = library.sqlite3_vfs_find(None)
        assert self.plain.contents.iVersion >= 3
        self.vfs = _VFS.from_buffer_copy(self.plain.contents)
        self.vfs.zName = NAME
        self.vfs.xOpen = self._address(_Open(self._open))
        self.vfs.xDelete = self._address(_Delete(self._delete))

    def note(self, what):
        """Put something of the program's own into the log."""
        self.log.append(Noted(what))

    def wrote(self, path, since):
        """Tell whether a file was written to since the log had this length."""
        file = self._paths.get(str(path))
        return any(isinstance(step, Written) and step.file == file for step in self.log[since:])

    def _open(self, _vfs, name, file, flags, out):
        path = ctypes.string_at(name).decode() if name else None
        size = None if path is None else _size(path)
        code = _Open(self.plain.contents.xOpen)(self._plain(), name, file, flags, out)
        methods = c_void_p.from_address(file)
        if path is not None and methods.value:
            if size is None or path not in self._paths:
                self._new_file(path, size or 0, flags)
            self._files[file] = self._paths[path]
            methods.value = ctypes.addressof(self._recording(methods.value))
        return code

    def _new_file(self, path, size, flags):
        self._count += 1
        file = self._paths[path] = self._count
        if size:
            self.log.append(Present(file, path, Path(path).read_bytes()))
            return
        self.log.append(Created(file, path))
        if flags & NAME_SYNCED:
            self._names_due.add(file)

    def _delete(self, _vfs, name, sync):
        path = ctypes.string_at(name).decode()
        code = _Delete(self.plain.contents.xDelete)(self._plain(), name, sync)
        if self._paths.pop(path, None) is not None:
            self.log.append(Deleted(path))
            if sync:
                self.log.append(NamesSynced())
        return code

    def _plain(self):
        return ctypes.addressof(self.plain.contents)

    def _recording(self, address):
        """Make the methods of a file, once for each kind of file."""
        if address not in self._methods:
            version = c_int.from_address(address).value
            copy = _Methods()
            size = _METHODS_SIZE.get(version, ctypes.sizeof(_Methods))
            ctypes.memmove(ctypes.byref(copy), address, size)
            write, truncate = _Write(copy.xWrite), _Truncate(copy.xTruncate)
            sync = _Sync(copy.xSync)

            def on_write(file, data, size, at):
                self.log.append(Written(self._files[file], at, ctypes.string_at(data, size)))
                return write(file, data, size, at)

            def on_truncate(file, size):
                self.log.append(Truncated(self._files[file], size))
                return truncate(file, size)

            def on_sync(file, flags):
                since = len(self.log)
                code = sync(file, flags)
                number = self._files[file]
                self.log.append(Synced(number, since))
                if number in self._names_due:
                    self._names_due.discard(number)
                    self.log.append(NamesSynced())
                return code

            copy.xWrite = self._address(_Write(on_write))
            copy.xTruncate = self._address(_Truncate(on_truncate))
            copy.xSync = self._address(_Sync(on_sync))
            self._methods[address] = copy
        return self._methods[address]

    def _address(self, function):
        self._kept.append(function)
        return ctypes.cast(function, c_void_p).value


_for_ever = []
"""What SQLite may still point to."""


@contextmanager
def recording():
    """Make a recording disk the default of this process for a while.

    Every connection opened meanwhile must be closed at the end.
    """
    library = _library()
    disk = RecordingDisk(library)
    _for_ever.append(disk)
    assert library.sqlite3_vfs_register(ctypes.byref(disk.vfs), 1) == 0
    try:
        assert _reaches_sqlite3(), "the VFS was registered in another SQLite than Python's"
        yield disk
    finally:
        library.sqlite3_vfs_unregister(ctypes.byref(disk.vfs))
        library.sqlite3_vfs_register(disk.plain, 1)


def _library():
    """Load the SQLite library that Python's module uses, already in this process."""
    for path in (*_mapped(), _sqlite3.__file__ if hasattr(_sqlite3, "__file__") else None, None):
        library = ctypes.CDLL(path)
        if hasattr(library, "sqlite3_vfs_register"):
            return library
    raise AssertionError(
        "Python's _sqlite3 hides the functions of its SQLite; run these tests with a Python "
        "whose SQLite is a shared library"
    )


def _mapped():
    maps = Path("/proc/self/maps")
    lines = maps.read_text().splitlines() if maps.exists() else []
    return sorted({line.split()[-1] for line in lines if "/libsqlite3" in line})


def _reaches_sqlite3():
    try:
        with closing(sqlite3.connect(f"file:x?vfs={NAME.decode()}&mode=memory", uri=True)) as db:
            db.execute("SELECT 1")
    except sqlite3.OperationalError:
        return False
    return True


def _size(path):
    try:
        return Path(path).stat().st_size
    except FileNotFoundError:
        return None
