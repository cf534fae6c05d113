"""The options and arguments that commands share."""
# ruff: noqa: PLC0415 - what a command needs is imported when it runs: --help answers at once

from __future__ import annotations

from typing import Annotated

import typer


def known_status(text: str | None) -> str | None:
    """Refuse a status that no run can have, recorded or derived."""
    if text is None:
        return None
    from journal.errors.base import brief
    from journal.records.vocabulary import RunStatus
    from projections.standing import CRASHED

    statuses = [*[status.value for status in RunStatus], CRASHED]
    if text not in statuses:
        raise typer.BadParameter(f"{brief(text)} is none of {', '.join(statuses)}")
    return text


Session = Annotated[str | None, typer.Option("--session", metavar="S", help="Of this session.")]
Status = Annotated[
    str | None,
    typer.Option("--status", metavar="ST", callback=known_status, help="In this status."),
]
Limit = Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="At most N.")]
Unfinished = Annotated[
    bool, typer.Option("--unfinished", help="Those that wait, were suspended or crashed.")
]
Full = Annotated[bool, typer.Option("--full", help="Shorten nothing.")]
Run = Annotated[str, typer.Argument(metavar="RUN", help="Id of the run.")]
CURSORS = "latest, stream:N, message:N[@E], checkpoint:ID, step:N, version:N or time:RFC3339."
At = Annotated[str, typer.Option("--at", metavar="CURSOR", help=f"Where to stop: {CURSORS}")]
Cursor = Annotated[str, typer.Argument(metavar="CURSOR", help=f"As for replay: {CURSORS}")]
From = Annotated[int | None, typer.Option("--from", metavar="N", help="First stream sequence.")]
To = Annotated[int | None, typer.Option("--to", metavar="N", help="Last stream sequence.")]
Kinds = Annotated[
    list[str] | None,
    typer.Option("--kind", metavar="K", help="Only these events or records; may be repeated."),
]
Quick = Annotated[
    bool, typer.Option("--quick", help="Without integrity check and rebuilding of documents.")
]
Target = Annotated[str, typer.Argument(metavar="FILE", help="To be made; nothing is overwritten.")]
OfRun = Annotated[str | None, typer.Option("--run", metavar="RUN", help="Of this run.")]
Everything = Annotated[bool, typer.Option("--all", help="Also those that do not wait any more.")]
By = Annotated[
    str | None,
    typer.Option(
        "--by", metavar="NAME", help="Your name; the system's user is recorded in any case."
    ),
]
Reason = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why.")]
Why = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why.")]
ArchivePlace = Annotated[
    str | None,
    typer.Option("--archive", metavar="DIR|URL", help="Also what was archived there."),
]
