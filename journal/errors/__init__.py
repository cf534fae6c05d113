"""Every error of the journal, grouped by what the caller does next.

    JournalError
    +-- RetryUnchanged           the same call may succeed later
    |   +-- JournalBusy
    |   +-- RunIsLeased
    |   +-- DiskFull
    |   +-- CommitInterrupted
    |   +-- SourceBusy
    |   +-- ArchiveBusy
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
    |   +-- InvalidSource
    |   +-- TargetExists
    |   +-- CannotFork
    |   +-- UnknownEvent
    |   +-- NoRestoreFactory
    |   +-- PathRefused
    |   +-- InvalidArchiveLocation
    |   +-- ArchiveOfAnotherJournal
    |   +-- ArchiveIncomplete
    |   +-- RunIsArchived
    |   +-- AmbiguousId
    |   +-- InvalidFilter
    |   +-- SQLRefused
    |   +-- LimitReached
    |   +-- NotFound
    |       +-- RunNotFound
    |       |   +-- RunNotInSession
    |       +-- SessionNotFound
    |       +-- CheckpointNotFound
    |       +-- JournalNotFound
    |       +-- EnvironmentNotFound
    |       +-- FileNotInEnvironment
    |       +-- WaitingNotFound
    |       +-- ArchiveNotFound
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
        +-- Suspended
        +-- DamagedSource
        +-- ArchiveDiffers
        +-- DamagedArchive
        +-- NewerArchive

Each error carries its facts as fields; the message is derived from them and says what
failed, why, and what to do. Errors are picklable.
"""

from journal.errors.archive import (
    ArchiveBusy,
    ArchiveDiffers,
    ArchiveIncomplete,
    ArchiveNotFound,
    ArchiveOfAnotherJournal,
    DamagedArchive,
    InvalidArchiveLocation,
    NewerArchive,
    RunIsArchived,
)
from journal.errors.audit import InvalidFilter, LimitReached, SQLRefused
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
    InvalidSource,
    JournalNotFound,
    NotFound,
    PositionOutOfRange,
    RedactionFailed,
    RunNotFound,
    RunNotInSession,
    SessionNotFound,
    TargetExists,
    UnknownEvent,
)
from journal.errors.people import AmbiguousId, WaitingNotFound
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
    SourceBusy,
)
from journal.errors.stop import (
    AgentExecutorError,
    BrokenBase,
    CorruptEvent,
    DamagedFile,
    DamagedSource,
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
    Suspended,
)

__all__ = [
    "AgentExecutorError",
    "AmbiguousId",
    "ArchiveBusy",
    "ArchiveDiffers",
    "ArchiveIncomplete",
    "ArchiveNotFound",
    "ArchiveOfAnotherJournal",
    "BatchConflict",
    "BrokenBase",
    "CannotFork",
    "CheckpointNotFound",
    "CommitInterrupted",
    "Conflict",
    "CorruptEvent",
    "CursorOutOfRange",
    "DamagedArchive",
    "DamagedFile",
    "DamagedSource",
    "DiskFull",
    "EnvironmentNotFound",
    "FileMoved",
    "FileNotInEnvironment",
    "FixInput",
    "GuardsMissing",
    "IdentityTaken",
    "InvalidArchiveLocation",
    "InvalidCursor",
    "InvalidEnvelope",
    "InvalidFilter",
    "InvalidJSON",
    "InvalidLine",
    "InvalidLocation",
    "InvalidRecord",
    "InvalidSource",
    "JournalBusy",
    "JournalClosed",
    "JournalError",
    "JournalForked",
    "JournalNotFound",
    "LeaseMoved",
    "LimitReached",
    "NewerArchive",
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
    "RunIsArchived",
    "RunIsLeased",
    "RunNotFound",
    "RunNotInSession",
    "SQLRefused",
    "SessionNotFound",
    "SourceBusy",
    "StaleWriter",
    "StateConflict",
    "Stop",
    "StorageFailed",
    "Suspended",
    "TargetExists",
    "UnknownEvent",
    "VersionConflict",
    "WaitingNotFound",
    "brief",
]
