"""The options that all questions of the audit share, and what a command makes of them."""
# ruff: noqa: PLC0415 - what a command needs is imported when it runs: --help answers at once

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any

import typer

from journal.cli.options import ArchivePlace, Full, Limit, OfRun, Session, Status
from journal.cli.output import Output, T

if TYPE_CHECKING:
    from journal import Journal
    from journal.cli.app import Settings
    from projections.archive.opened import Archive
    from projections.audit import Audit, AuditFilter

WHEN = "RFC 3339, a date, or an age such as 7d or 3h."
Since = Annotated[
    str | None, typer.Option("--since", metavar="TIME", help=f"Recorded then or later: {WHEN}")
]
Until = Annotated[
    str | None, typer.Option("--until", metavar="TIME", help="Recorded before, likewise.")
]
Csv = Annotated[
    bool, typer.Option("--csv", help="Print CSV; take a leading ' off a text to have it as it is.")
]


@dataclass(frozen=True, slots=True)
class Asked:
    """What all questions take: which runs, which times, where from, and how to print."""

    settings: Settings
    filter: AuditFilter
    archive: str | None
    csv: bool
    full: bool

    def audit(self) -> AbstractContextManager[Audit]:
        """Open what is asked."""
        return audited(self.settings, self.archive)

    def each(
        self, answers: Iterable[T], show: Callable[[Output, Iterable[T]], None], columns: str
    ) -> None:
        """Print the answers as they come.

        Args:
            show: prints them for people.
            columns: those of the CSV, see `journal.cli.audit_columns`.
        """
        if self.csv:
            from journal.cli.delimited import print_answers

            print_answers(columns.split(), answers)
        else:
            self.settings.output(full=self.full).each(answers, show)

    def one(self, answer: T, show: Callable[[Output, T], None]) -> None:
        """Print the only answer."""
        self.settings.output(full=self.full).one(answer, show)


@contextmanager
def audited(settings: Settings, location: str | None) -> Iterator[Audit]:
    """Open the journal, its archive or both for questions; what was recorded is taken in."""
    from journal.cli.failures import complain
    from journal.cli.progress import phases
    from projections.audit import Audit, catch_up

    with opened(settings, location) as (journal, archive):
        if journal is not None:
            with phases() as progress:
                catch_up(journal, progress)
        audit = Audit(journal, archive)
        left_out = audit.left_out()
        if left_out:
            runs = "1 run is" if left_out == 1 else f"{left_out:,} runs are"
            complain(f"{runs} in an archive only, and not in this answer; give --archive")
        yield audit


@contextmanager
def opened(
    settings: Settings, location: str | None
) -> Iterator[tuple[Journal | None, Archive | None]]:
    """Open the journal, and its archive where one is named; then the journal may be missing."""
    if location is None:
        with settings.journal() as journal:
            yield journal, None
        return
    from journal.errors import JournalNotFound
    from projections.archive.opened import open_archive

    with ExitStack() as stack:
        archive = stack.enter_context(open_archive(location))
        try:
            alive = stack.enter_context(settings.journal())
        except JournalNotFound:
            alive = None
        yield alive, archive


def filtered(
    function: Callable[..., None], *, without: Collection[str] = ()
) -> Callable[..., None]:
    """Give a command the options that all questions share, as `Asked` in its first place.

    Args:
        without: names of those that it has not.
    """

    def command(  # noqa: PLR0913 - the options
        *,
        ctx: typer.Context,
        since: Since = None,
        until: Until = None,
        session: Session = None,
        of_run: OfRun = None,
        status: Status = None,
        limit: Limit = None,
        csv: Csv = False,
        archive: ArchivePlace = None,
        full: Full = False,
        **own: Any,
    ) -> None:
        from projections.audit import AuditFilter

        refuse_both(ctx.obj, csv=csv)
        asked = AuditFilter.of(
            since=since, until=until, session=session, run=of_run, status=status, limit=limit
        )
        function(Asked(ctx.obj, asked, archive, csv, full), **own)

    context, *shared, _ = _parameters(command)
    shared = [each for each in shared if each.name not in without]
    _, *own = _parameters(function)
    parameters = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in (context, *own, *shared)]
    made = wraps(function)(command)
    made.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    made.__annotations__ = {each.name: each.annotation for each in parameters}
    return made


def refuse_both(settings: Settings, *, csv: bool) -> None:
    """Refuse to print two things at once.

    Raises:
        typer.BadParameter: --csv came with --json.
    """
    if csv and settings.json:
        raise typer.BadParameter("--csv and --json exclude each other")


def _parameters(function: Callable[..., None]) -> list[Parameter]:
    return list(signature(function, eval_str=True).parameters.values())
