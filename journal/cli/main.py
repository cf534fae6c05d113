"""The command `runjournal`: each function parses, makes one library call, and prints."""
# ruff: noqa: PLC0415 - what a command needs is imported when it runs: --help answers at once

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from journal.cli.failures import (
    FAILED,
    WRONG_USAGE,
    ended,
    guarded,
    prepare_streams,
    writing,
)
from journal.cli.options import (
    At,
    Cursor,
    From,
    Full,
    Kinds,
    Limit,
    Quick,
    Run,
    Session,
    Status,
    Target,
    To,
)
from journal.cli.output import Output

if TYPE_CHECKING:
    from journal import Journal

ABOUT = """Record, replay and compare runs of AI agents.

Every record of a run is an immutable event; its state is replayed from them up to a CURSOR:
latest, stream:N, message:N, message:N@E, checkpoint:ID, step:N, version:N, time:RFC3339.
"""

NOTES = """--db and --json may also stand after the command. With --json the output is JSON only,
one document a line for lists. Put -- before an id that begins with a dash.
Exit codes: 0 done, 1 failed or the answer is no, 2 wrong usage."""

EVERY_COMMAND = "--db URL and --json may stand here, too; see runjournal --help."


@dataclass(frozen=True, slots=True)
class Settings:
    """The global options."""

    db: str
    json: bool

    @contextmanager
    def journal(self, *, create: bool = False) -> Iterator[Journal]:
        """Open the journal; a command that only reads never creates one."""
        from journal.journal import Journal

        with Journal.open(self.db, create=create) as journal:
            yield journal

    def output(self, *, full: bool = False) -> Output:
        """Make the output of a command."""
        return Output(json=self.json, full=full)


class GlobalOptions(TyperGroup):
    """Takes `--db` and `--json` wherever they stand before `--`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Move the global options to the front, where they are parsed."""
        parsed: list[str] = super().parse_args(ctx, globals_first(args))
        return parsed


def globals_first(args: list[str]) -> list[str]:
    """Give the arguments with `--json`, `--db URL` and `--db=URL` in front."""
    end = args.index("--") if "--" in args else len(args)
    ours: list[str] = []
    rest: list[str] = []
    words = iter(args[:end])
    for word in words:
        if word == "--db":
            ours += [word, *([value] if (value := next(words, None)) is not None else [])]
        elif word == "--json" or word.startswith("--db="):
            ours.append(word)
        else:
            rest.append(word)
    return [*ours, *rest, *args[end:]]


app = typer.Typer(
    name="runjournal",
    cls=GlobalOptions,
    epilog=NOTES,
    add_completion=False,
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Make a function a command."""
    app.command(epilog=EVERY_COMMAND)(guarded(function))
    return function


def show_version(ctx: typer.Context, asked: bool) -> None:  # noqa: FBT001 - typer calls it
    """Print the version, where it was asked for, and exit."""
    if not asked:
        return
    from importlib.metadata import version

    number = version("runjournal")
    output = Output(json=ctx.params.get("json", False))
    if output.json:
        output.document({"schema": "runjournal.version", "schema_version": 1, "version": number})
    else:
        output.line(f"runjournal {number}")
    raise typer.Exit


@app.callback(help=ABOUT)
def settings(
    ctx: typer.Context,
    db: Annotated[
        str,
        typer.Option("--db", metavar="URL", envvar="RUNJOURNAL_DB", help="A path, or a URL."),
    ] = "runjournal.db",
    *,
    json: Annotated[bool, typer.Option("--json", is_eager=True, help="Print JSON only.")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Keep the global options for the command."""
    del version  # it was printed when it was parsed
    ctx.obj = Settings(db, json)
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help(), err=True)
        raise typer.Exit(WRONG_USAGE)


@command
def demo(ctx: typer.Context) -> None:
    """Journal a real agent, live, and replay it."""
    from journal.cli.demo import run_demo

    with ctx.obj.journal(create=True) as journal:
        run_demo(journal, ctx.obj.db, ctx.obj.output())


@command
def ingest(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="Interchange lines; - for stdin.")],
    *,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Pass over bad lines and report them.")
    ] = False,
) -> None:
    """Append interchange lines of a file.

    In order; lines held already are not repeated. A bad line stops it; what came before stays.
    """
    from journal.cli.transfer import ingest_lines, opened

    with opened(file) as lines, ctx.obj.journal(create=True) as journal:
        if not ingest_lines(journal, lines, ctx.obj.output(), keep_going=keep_going):
            raise typer.Exit(FAILED)


@command
def export(
    ctx: typer.Context,
    run: Annotated[str | None, typer.Argument(metavar="RUN", help="Id of the run.")] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Every run and session.")] = False,
) -> None:
    """Print a run as interchange lines.

    These are JSON, one a line, that ingest reads; --json changes nothing.
    """
    if (run is None) is not everything:
        raise typer.BadParameter("name either a run or --all")
    from journal.cli.transfer import export_lines

    with ctx.obj.journal() as journal:
        export_lines(journal, run, ctx.obj.output())


@command
def sessions(ctx: typer.Context, *, full: Full = False) -> None:
    """List sessions, newest first."""
    from journal.cli.listing import show_sessions
    from projections import list_sessions

    output = ctx.obj.output(full=full)
    with ctx.obj.journal() as journal:
        output.each(list_sessions(journal), show_sessions)


@command
def runs(
    ctx: typer.Context,
    *,
    session: Session = None,
    status: Status = None,
    limit: Limit = None,
    full: Full = False,
) -> None:
    """List runs, newest first."""
    from journal.cli.listing import show_runs
    from projections import list_runs

    output = ctx.obj.output(full=full)
    with ctx.obj.journal() as journal:
        output.each(list_runs(journal, session, status, limit), show_runs)


@command
def log(  # noqa: PLR0913 - its options
    ctx: typer.Context,
    run: Run,
    *,
    frm: From = None,
    to: To = None,
    kind: Kinds = None,
    full: Full = False,
) -> None:
    """List a run's events in logical order.

    One a line; * after the version marks an event that came in by ingest.
    """
    from journal.cli.listing import show_log
    from projections import log as read_log

    output = ctx.obj.output(full=full)
    with ctx.obj.journal() as journal:
        output.each(read_log(journal, run, frm, to, kind or None), show_log)


@command
def replay(ctx: typer.Context, run: Run, *, at: At = "latest", full: Full = False) -> None:
    """Show a run as it was at a cursor."""
    from journal.cli.page import show_view
    from projections import parse_cursor
    from projections import replay as replay_run

    cursor = parse_cursor(at)
    output = ctx.obj.output(full=full)
    with ctx.obj.journal() as journal:
        output.one(replay_run(journal, run, at=cursor), show_view)


@command
def evidence(ctx: typer.Context, run: Run, *, at: At = "latest", full: Full = False) -> None:
    """Show the resume evidence at a cursor."""
    from journal.cli.page import show_evidence
    from projections import parse_cursor
    from projections import replay as replay_run

    cursor = parse_cursor(at)
    output = ctx.obj.output(full=full)
    with ctx.obj.journal() as journal:
        if not show_evidence(output, replay_run(journal, run, at=cursor)):
            raise typer.Exit(FAILED)


@command
def diff(ctx: typer.Context, run: Run, a: Cursor, b: Cursor, *, full: Full = False) -> None:
    """Show what changed in a run between two cursors."""
    from journal.cli.changes import show_diff
    from projections import parse_cursor, run_diff
    from projections import replay as replay_run

    first, second = parse_cursor(a), parse_cursor(b)
    output = ctx.obj.output(full=full)
    with ctx.obj.journal() as journal:
        before, after = replay_run(journal, run, at=first), replay_run(journal, run, at=second)
        output.one(run_diff(before, after), show_diff)


@command
def backup(ctx: typer.Context, file: Target) -> None:
    """Copy the journal to a file while it is being written, and verify the copy.

    The copy is a journal that opens at once. FILE appears when it is whole and synced.
    """
    from journal.cli.care import make_backup

    make_backup(ctx.obj.db, file, ctx.obj.output())


@command
def doctor(ctx: typer.Context, *, quick: Quick = False, full: Full = False) -> None:
    """Examine the journal file and say what to do; it changes nothing.

    Exits with 1 where something is wrong. It also examines what cannot be opened. The last
    events of all, deleted with everything that names them, leave no trace to be found.
    """
    from journal.cli.care import make_examination

    if not make_examination(ctx.obj.db, ctx.obj.output(full=full), quick=quick):
        raise typer.Exit(FAILED)


def main() -> None:
    """Run the command line and exit."""
    prepare_streams()
    try:
        with writing():  # commands see to their own failures: what is left is help that is printed
            app(prog_name="runjournal")
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - never a traceback
        raise SystemExit(ended(error)) from None
