"""The command `runjournal`."""

from __future__ import annotations

from journal.cli.app import app, command, group
from journal.cli.commands.archive import archive, verify
from journal.cli.commands.audit import QUESTIONS, audit
from journal.cli.commands.bring import import_
from journal.cli.commands.care import backup, doctor
from journal.cli.commands.compare import diff
from journal.cli.commands.follow import tail
from journal.cli.commands.fork import fork
from journal.cli.commands.people import approvals, approve, cancel, complete, deferred, deny, fail
from journal.cli.commands.read import evidence, export, log, replay, runs, sessions
from journal.cli.commands.record import demo, ingest
from journal.cli.commands.snapshots import drop, snapshots
from journal.cli.commands.sql import sql
from journal.cli.commands.stats import stats
from journal.cli.commands.suspend import resume, suspend
from journal.cli.failures import ended, prepare_streams, writing

COMMANDS = (
    demo,
    ingest,
    import_,
    export,
    sessions,
    runs,
    log,
    tail,
    replay,
    evidence,
    diff,
    fork,
    approvals,
    approve,
    deny,
    suspend,
    resume,
    backup,
    doctor,
    sql,
    stats,
)
"""The commands, in the order of the help."""

for each in COMMANDS:
    command(each)
group(deferred, complete, fail, cancel)
group(snapshots, drop)
group(archive, verify)
group(audit, *QUESTIONS)


def main() -> None:
    """Run the command line and exit."""
    prepare_streams()
    try:
        with writing():  # commands see to their own failures: what is left is help that is printed
            app(prog_name="runjournal")
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - never a traceback
        raise SystemExit(ended(error)) from None
