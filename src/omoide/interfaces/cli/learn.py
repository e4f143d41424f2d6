"""learn and review: learn memories from conversations, and decide on what was proposed."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from omoide.errors import InvalidInput, NotFound, OmoideError, Unreadable
from omoide.interfaces import serialize
from omoide.interfaces.cli.editor import edit_text
from omoide.interfaces.cli.options import (
    Target,
    directory_if_readable,
    json_option,
    open_for_command,
    open_memory,
    settings_for,
    target_options,
)
from omoide.interfaces.cli.output import count_of, day, escape_control, headline, print_json
from omoide.learning.transcript import read_lines, read_turns
from omoide.model import Memory, Scope
from omoide.service import Service
from omoide.service.candidate_store import LearningReport
from omoide.service.inbox import learn_pending

_MOST_PROPOSALS = 1_000
_LEARN_SECONDS = 3.0
"""For learning from the inbox before a review."""


@click.command("learn")
@click.argument("file", metavar="[FILE]", required=False, type=click.Path(dir_okay=False, allow_dash=True))
@click.option(
    "--corrections",
    metavar="DIRECTORY",
    type=click.Path(file_okay=False),
    help="Learn from what a person changed in this work tree since the last run, instead of from a conversation.",
)
@click.option("--run", metavar="ID", help="The id of the agent's run that the conversation belongs to.")
@click.option(
    "--known",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="A file with what was injected into the conversation: it is not learnt again.",
)
@click.option("--no-model", is_flag=True, help="Do not ask the language model, even if one is configured.")
@target_options
@json_option
def learn_command(
    file: str | None,
    corrections: str | None,
    run: str | None,
    known: str | None,
    no_model: bool,
    target: Target,
    as_json: bool,
) -> None:
    """Learn memories from a conversation.

    FILE is a transcript of Claude Code (JSONL), a rollout of Codex, the events of Copilot CLI, or plain text with lines such
    as `User: …`; - reads standard input. Without FILE: what the hooks of agents left in the inbox, each line once. What a
    person asked for or decided is stored as active; what is less certain waits in `omoide review`.

    \b
    omoide learn
    omoide learn ~/.claude/projects/my-project/session.jsonl
    omoide learn --no-model notes.txt
    omoide learn --corrections .
    """
    if file is not None and corrections is not None:
        raise click.UsageError("give a FILE, or --corrections with a directory")
    if file is None and corrections is None:
        if run or known or target.names_scope:
            raise InvalidInput("the inbox knows its runs and projects itself: name a FILE, or leave the other options out")
        memory = open_for_command(settings_for(target))
        report = learn_pending(memory, directory_if_readable(), ask=not no_model)
    else:
        with open_memory(target, writing=True) as (memory, scope):
            if corrections is not None:
                report = memory.learn_corrections(corrections, scope=scope)
            else:
                texts = [read_text(known)] if known else []
                with open_transcript(file or "-") as lines:
                    turns = read_turns(lines, strict=True)
                    report = memory.learn(turns, scope=scope, run=run, known=texts, ask=not no_model)
    if as_json:
        print_json(report_record(report))
    else:
        print_report(report)


@contextmanager
def open_transcript(file: str) -> Iterator[Iterator[bytes]]:
    """Yield the lines of a transcript. They are read one by one: it may be large."""
    if file == "-":
        yield read_lines(sys.stdin.buffer)
        return
    try:
        with Path(file).open("rb") as lines:
            yield read_lines(lines)
    except OSError as error:
        raise Unreadable(f"cannot read {file} ({error.strerror}): give the path of a transcript") from error


def read_text(file: str) -> str:
    """Return the text of a file. Raises Unreadable."""
    try:
        return Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise Unreadable(f"cannot read {file} ({error.strerror}): name another file") from error


def report_record(report: LearningReport) -> dict[str, object]:
    """Return what was learnt, as JSON."""
    return {
        "kept": [serialize.memory(memory) for memory in report.kept],
        "proposed": [serialize.memory(memory) for memory in report.proposed],
        "confirmed": [serialize.memory(memory) for memory in report.confirmed],
        "replaced": [serialize.memory(memory) for memory in report.replaced],
        "rejected": [rejection._asdict() for rejection in report.rejected],
        "trouble": report.trouble,
    }


def print_report(report: LearningReport, *, err: bool = False) -> None:
    """Print what was learnt; with `err`, all of it to standard error."""
    groups = (report.kept, report.proposed, report.confirmed, report.replaced)
    for label, memories in zip(("kept", "proposed", "confirmed", "replaced"), groups, strict=True):
        for memory in memories:
            click.echo(f"{label}  {headline(memory)}", err=err)
    if report.trouble:
        click.echo(f"omoide: the language model did not help: {escape_control(report.trouble)}", err=True)
    counts = f"{len(report.kept)} kept, {len(report.proposed)} proposed, {len(report.confirmed)} confirmed"
    replaced = f", {len(report.replaced)} replaced" if report.replaced else ""
    rejected = f", {len(report.rejected)} left out" if report.rejected else ""
    hint = ": `omoide review` decides on what is proposed" if report.proposed else ""
    click.echo(f"{counts}{replaced}{rejected}{hint}", err=True)


@click.command("review")
@click.option("--keep", "keep", metavar="REF", multiple=True, help="Confirm this proposal; may be given more than once.")
@click.option("--drop", "drop", metavar="REF", multiple=True, help="Drop this proposal; may be given more than once.")
@click.option("--never", "never", metavar="REF", multiple=True, help="Drop it, and propose nothing of its kind here again.")
@target_options
@json_option
def review_command(
    keep: tuple[str, ...], drop: tuple[str, ...], never: tuple[str, ...], target: Target, as_json: bool
) -> None:
    """Decide on what was learnt: keep, edit or drop each proposal.

    On a terminal it asks about one after the other. Elsewhere, and with --json, it lists them; --keep, --drop and --never
    decide by number.

    \b
    omoide review
    omoide review --keep 12 --drop 13
    """
    with open_memory(target) as (memory, scope):
        with suppress(OmoideError):  # fallback: without what waits to be learnt
            learn_pending(memory, directory_if_readable(), seconds=_LEARN_SECONDS, ask=False)
        decided = _decide(memory, scope, keep, drop, never)
        if decided:
            if as_json:
                print_json({"decided": decided})
            return
        proposals = memory.proposals(scope=scope, limit=_MOST_PROPOSALS)
        if as_json:
            print_json({"proposals": [serialize.memory(proposal) for proposal in proposals]})
        elif not proposals:
            click.echo(f"nothing to review in {scope}", err=True)
        elif sys.stdin.isatty() and sys.stdout.isatty():
            _ask_about_each(memory, scope, proposals)
        else:
            for proposal in proposals:
                _print_proposal(proposal)


def _decide(
    memory: Service, scope: Scope, keep: Sequence[str], drop: Sequence[str], never: Sequence[str]
) -> list[dict[str, object]]:
    """Carry out what the flags say, and report each decision."""
    decided: list[dict[str, object]] = []
    for action, refs in (("kept", keep), ("dropped", drop), ("never", never)):
        for ref in refs:
            if action == "kept":
                done = memory.approve(ref, scope=scope)
            else:
                done = memory.reject(ref, scope=scope, never=action == "never")
            decided.append({"action": action, "number": done.number})
            click.echo(f"{action}  {headline(done)}", err=True)
    return decided


def _print_proposal(proposal: Memory) -> None:
    click.echo(headline(proposal))
    click.echo(f"    {escape_control(proposal.content)}")
    for example in proposal.examples:
        click.echo("\n".join(f"    | {escape_control(line)}" for line in example.splitlines()))
    run = f" · run {escape_control(proposal.source_run_id)}" if proposal.source_run_id else ""
    click.echo(f"    {day(proposal.created_at)} · confidence {proposal.confidence:.2f}{run}")


_QUESTION = "[k]eep, [e]dit, [d]rop, [n]ever this kind, [s]kip, [q]uit"


def _ask_about_each(memory: Service, scope: Scope, proposals: Sequence[Memory]) -> None:
    answers: list[str] = []
    for place, proposal in enumerate(proposals, 1):
        click.echo(f"\n{place} of {len(proposals)}")
        _print_proposal(proposal)
        answer = click.prompt(_QUESTION, type=click.Choice(list("kednsq")), show_choices=False, default="s")
        if answer == "q":
            break
        try:
            _carry_out(memory, scope, proposal, answer)
        except (InvalidInput, NotFound) as error:  # fallback: the next proposals
            click.echo(f"omoide: {escape_control(str(error))}", err=True)
        else:
            answers.append(answer)
    kept, dropped = sum(answer in "ke" for answer in answers), sum(answer in "dn" for answer in answers)
    left = count_of(len(memory.proposals(scope=scope, limit=_MOST_PROPOSALS)), "proposal", "proposals")
    click.echo(f"{kept} kept, {dropped} dropped, {left} left", err=True)


def _carry_out(memory: Service, scope: Scope, proposal: Memory, answer: str) -> None:
    if answer == "k":
        memory.approve(proposal.id, scope=scope)
    elif answer == "e":
        with edit_text(proposal.content, f"proposal-{proposal.number}") as content:
            memory.approve(proposal.id, scope=scope, content=content.removesuffix("\n"))
    elif answer in "dn":
        memory.reject(proposal.id, scope=scope, never=answer == "n")
