"""Every error of the journal, grouped by what the caller does next.

    JournalError
    +-- RetryUnchanged           the same call may succeed later
    |   +-- JournalBusy
    |   +-- RunIsLeased
    |   +-- DiskFull
    |   +-- CommitInterrupted
    +-- ReadAgain                somebody else was there first: re-read, decide again
    |   +-- Conflict
    |   |   +-- RecordConflict
    |   |   +-- BatchConflict
    |   |   +-- RunConflict
    |   |   +-- StateConflict
    |   +-- VersionConflict
    |   |   +-- IdentityTaken
    |   +-- LeaseMoved
    +-- FixInput                 the call names or carries something wrong
    |   +-- InvalidJSON
    |   +-- InvalidRecord
    |   +-- InvalidEnvelope
    |   +-- RedactionFailed
    |   +-- InvalidLine
    |   +-- InvalidCursor
    |   +-- CursorOutOfRange
    |   +-- PositionOutOfRange
    |   +-- InvalidLocation
    |   +-- TargetExists
    |   +-- CannotFork
    |   +-- UnknownEvent
    |   +-- NoRestoreFactory
    |   +-- PathRefused
    |   +-- NotFound
    |       +-- RunNotFound
    |       +-- SessionNotFound
    |       +-- CheckpointNotFound
    |       +-- JournalNotFound
    |       +-- EnvironmentNotFound
    |       +-- FileNotInEnvironment
    +-- Stop                     no retry and no other input helps by itself
        +-- JournalClosed
        |   +-- JournalForked
        +-- CorruptEvent
        +-- BrokenBase
        +-- NotAJournal
        +-- NewerFormat
        +-- GuardsMissing
        +-- StorageFailed
        +-- FileMoved
        +-- ReadOnly
        +-- DamagedFile
        +-- StaleWriter
        +-- NotWritten
        +-- AgentExecutorError

Each error carries its facts as fields; the message is derived from them and says what
failed, why, and what to do. Errors are picklable.
"""

from journal.errors.base import (
    FixInput,
    JournalError,
    ReadAgain,
    RetryUnchanged,
    Stop,
    brief,
)
from journal.errors.environments import (
    EnvironmentNotFound,
    FileNotInEnvironment,
    NoRestoreFactory,
    PathRefused,
)
from journal.errors.fix_input import (
    CannotFork,
    CheckpointNotFound,
    CursorOutOfRange,
    InvalidCursor,
    InvalidEnvelope,
    InvalidJSON,
    InvalidLine,
    InvalidLocation,
    InvalidRecord,
    JournalNotFound,
    NotFound,
    PositionOutOfRange,
    RedactionFailed,
    RunNotFound,
    SessionNotFound,
    TargetExists,
    UnknownEvent,
)
from journal.errors.read_again import (
    BatchConflict,
    Conflict,
    IdentityTaken,
    LeaseMoved,
    RecordConflict,
    RunConflict,
    StateConflict,
    VersionConflict,
)
from journal.errors.retry import (
    CommitInterrupted,
    DiskFull,
    JournalBusy,
    RunIsLeased,
)
from journal.errors.stop import (
    AgentExecutorError,
    BrokenBase,
    CorruptEvent,
    DamagedFile,
    FileMoved,
    GuardsMissing,
    JournalClosed,
    JournalForked,
    NewerFormat,
    NotAJournal,
    NotWritten,
    ReadOnly,
    StaleWriter,
    StorageFailed,
)

__all__ = [
    "AgentExecutorError",
    "BatchConflict",
    "BrokenBase",
    "CannotFork",
    "CheckpointNotFound",
    "CommitInterrupted",
    "Conflict",
    "CorruptEvent",
    "CursorOutOfRange",
    "DamagedFile",
    "DiskFull",
    "EnvironmentNotFound",
    "FileNotInEnvironment",
    "FileMoved",
    "FixInput",
    "GuardsMissing",
    "IdentityTaken",
    "InvalidCursor",
    "InvalidEnvelope",
    "InvalidJSON",
    "InvalidLine",
    "InvalidLocation",
    "InvalidRecord",
    "JournalBusy",
    "JournalClosed",
    "JournalError",
    "JournalForked",
    "JournalNotFound",
    "LeaseMoved",
    "NewerFormat",
    "NoRestoreFactory",
    "NotAJournal",
    "NotFound",
    "NotWritten",
    "PathRefused",
    "PositionOutOfRange",
    "ReadAgain",
    "ReadOnly",
    "RecordConflict",
    "RedactionFailed",
    "RetryUnchanged",
    "RunConflict",
    "RunIsLeased",
    "RunNotFound",
    "SessionNotFound",
    "StaleWriter",
    "StateConflict",
    "Stop",
    "StorageFailed",
    "TargetExists",
    "UnknownEvent",
    "VersionConflict",
    "brief",
]
