"""The application: its global options, and what makes a function a command."""
# ruff: noqa: PLC0415 - what a command needs is imported when it runs: --help answers at once

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from journal.cli.failures import WRONG_USAGE, guarded
from journal.cli.output import Output

if TYPE_CHECKING:
    from journal import Journal
    from projections.reading import HasReader

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

    @contextmanager
    def reading(self, archive: str | None) -> Iterator[HasReader]:
        """Open what runs are read from: the journal, together with its archive if one is named.

        With an archive the journal may be missing.
        """
        if archive is None:
            with self.journal() as journal:
                yield journal
            return
        from journal.cli.audit_options import opened
        from projections.archive.union import with_archive

        with opened(self, archive) as (live, archived):
            assert archived is not None  # noqa: S101 - one was named
            if live is None:
                yield archived
                return
            with closing(with_archive(live, archived)) as both:
                yield both

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


def command(function: Callable[..., None]) -> None:
    """Make a function a command; a word of Python's own, such as `import_`, loses its end."""
    name = function.__name__.rstrip("_").replace("_", "-")
    app.command(name, epilog=EVERY_COMMAND)(guarded(function))


def group(function: Callable[..., None], *commands: Callable[..., None]) -> None:
    """Make a function a command that has commands of its own; it runs before each of them."""
    made = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
    made.callback(epilog=EVERY_COMMAND)(guarded(function))
    for each in commands:
        made.command(epilog=EVERY_COMMAND)(guarded(each))
    app.add_typer(made, name=function.__name__)


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
