"""reindex and similar: near-duplicates, and the index and vectors that find them."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import click

from omoide.errors import InvalidInput
from omoide.files.sizes import format_size
from omoide.interfaces import serialize
from omoide.interfaces.cli.options import (
    Target,
    json_option,
    open_for_command,
    open_memory,
    progress,
    settings_for,
    store_option,
    target_options,
)
from omoide.interfaces.cli.output import count_of, escape_control, headline, print_json, print_table
from omoide.lifecycle.deduplication import Contradiction, Merge, MergePlan, Proposal, ReindexResult
from omoide.service import Service

_ROWS = 20
"""Rows of each table without --verbose."""


@click.command("reindex")
@click.option("--dry-run", is_flag=True, help="Only show what would be merged and dropped.")
@click.option("--pending", is_flag=True, help="Only compute the vectors that are missing.")
@click.option("--similar", is_flag=True, help="Also merge what says the same in other words.")
@click.option("--review", is_flag=True, help="Ask about each pair that says the same in other words.")
@click.option("--verbose", is_flag=True, help="Show the texts, and all rows of the plan.")
@store_option
@json_option
def reindex_command(
    dry_run: bool, pending: bool, similar: bool, review: bool, verbose: bool, target: Target, as_json: bool
) -> None:
    """Merge near-duplicates, drop forgotten memories, rebuild index and vectors.

    The database as it was is archived, compressed, in archive/ beside the store; the newest five archives stay. Others
    can go on reading and writing: all changes take effect in one step at the end. What says the same in other
    words is shown with both texts, and merged with --similar or after --review. Memories that differ in a number, a
    negation or a name are never merged; those that may contradict each other are shown.

    \b
    omoide reindex --dry-run --verbose
    omoide reindex
    omoide reindex --review
    omoide reindex --pending
    """
    if sum((review, similar, pending)) > 1 or (review and (dry_run or as_json)):
        raise InvalidInput("--review asks on the terminal: give it without --similar, --pending, --dry-run and --json")
    memory = open_for_command(settings_for(target))
    if pending:
        _embed_pending(memory, as_json=as_json)
        return
    approved = _review(memory) if review else ()
    result = _dry_run(memory, similar=similar) if dry_run else _reindex(memory, similar=similar, approved=approved)
    if as_json:
        print_json(_result_record(result, dry_run=dry_run))
        return
    _print_plan(result.plan, verbose=verbose)
    _print_summary(result, dry_run=dry_run)


def _embed_pending(memory: Service, *, as_json: bool) -> None:
    vectors = memory.coverage()
    with progress("embedding", vectors.pending) as tick:
        embedded = memory.embed_pending(tick)
    if as_json:
        print_json({"embedder": vectors.embedder, "embedded": embedded})
    elif vectors.embedder is None:
        click.echo("no embedder is set: recall matches words only (see the setting `embedder`)", err=True)
    else:
        click.echo(f"{embedded:,} memories embedded", err=True)


_ANSWERS = {"m": "merge", "k": "keep", "c": "contradiction", "n": "never ask again"}


def _review(memory: Service) -> list[tuple[int, int]]:
    """Ask about each proposal; return the pairs to merge. A contradiction and "never ask again" are stored at once."""
    from omoide.service.merge_review import keep_both, pairs_to_review  # lazy: only for a review

    approved = []
    for pair in pairs_to_review(memory):
        one, other = sorted((pair.one, pair.other), key=lambda its: its.number)
        for memory_shown in (one, other):
            click.echo(f"\n{headline(memory_shown)}\n    {escape_control(memory_shown.content)}")
        question = f"{pair.similarity:.2f}: " + ", ".join(f"{key} = {what}" for key, what in _ANSWERS.items())
        answer = click.prompt(question, type=click.Choice([*_ANSWERS]), default="k", show_choices=False)
        if answer == "m":
            approved.append((one.number, other.number))
        elif answer != "k":
            keep_both(memory, one, other, contradict=answer == "c")
    return approved


def _dry_run(memory: Service, *, similar: bool) -> ReindexResult:
    result = memory.reindex(dry_run=True, similar=similar)
    vectors = memory.coverage()
    if vectors.embedder is not None and vectors.pending:
        click.echo(f"{vectors.pending:,} memories have no vector yet: only their words were compared", err=True)
    return result


def _reindex(memory: Service, *, similar: bool, approved: Sequence[tuple[int, int]]) -> ReindexResult:
    bars = _ProgressBars()
    result = memory.reindex(similar=similar, approved=approved, archive=True, watch=bars)
    bars.end()
    return result


class _ProgressBars:
    """A bar for each step, one after the other."""

    def __init__(self) -> None:
        self._step = ""
        self._shown = ExitStack()
        self._tick: Callable[[float], None] = lambda _: None

    def __call__(self, step: str, more: int, total: int) -> None:
        if step != self._step:
            self.end()
            self._step, self._tick = step, self._shown.enter_context(progress(step, total))
        self._tick(more)

    def end(self) -> None:
        self._shown.close()


def _merge_row(merge: Merge, *, verbose: bool) -> list[str]:
    others = ", ".join(f"#{other.number}" for other in merge.others)
    text = merge.merged.content if verbose else merge.into.topic
    return [f"#{merge.into.number}", others, f"{merge.similarity:.2f}", text]


def _contradiction_row(pair: Contradiction, *, verbose: bool) -> list[str]:
    one, other = (its.content if verbose else its.topic for its in (pair.one, pair.other))
    return [f"#{pair.one.number}", f"#{pair.other.number}", f"{pair.similarity:.2f}", pair.why, f"{one} / {other}"]


def _proposal_row(pair: Proposal) -> list[str]:
    texts = f"{pair.one.content} / {pair.other.content}"
    return [f"#{pair.one.number}", f"#{pair.other.number}", f"{pair.similarity:.2f}", texts]


def _print_plan(plan: MergePlan, *, verbose: bool) -> None:
    merges = [_merge_row(merge, verbose=verbose) for merge in plan.merges]
    contradictions = [_contradiction_row(pair, verbose=verbose) for pair in plan.contradictions]
    rows = None if verbose else _ROWS
    if merges:
        print_table(["into", "merged", "similarity", "text"], merges[:rows], flexible=(3,))
    if plan.proposals:
        click.echo(("\n" if merges else "") + "the same in other words? --review asks about each, --similar merges all:")
        proposals = [_proposal_row(pair) for pair in plan.proposals[:rows]]
        print_table(["one", "other", "similarity", "texts"], proposals, flexible=(3,))
    if contradictions:
        click.echo(("\n" if merges or plan.proposals else "") + "possible contradictions, never merged:")
        print_table(["one", "other", "similarity", "why", "texts"], contradictions[:rows], flexible=(4,))
    if rows is not None and max(len(merges), len(plan.proposals), len(contradictions)) > rows:
        click.echo("… --verbose shows all", err=True)


def _print_summary(result: ReindexResult, *, dry_run: bool) -> None:
    if dry_run:
        merged = sum(len(merge.others) for merge in result.plan.merges)
        click.echo(f"{merged:,} would be merged, {result.dropped:,} forgotten ones dropped", err=True)
        return
    merges = count_of(result.merged, "merge", "merges")
    counts = f"{merges}, {result.dropped:,} forgotten ones dropped, {result.indexed:,} indexed"
    click.echo(f"{counts}, {result.embedded:,} embedded", err=True)
    if result.trouble:
        click.echo(f"some vectors are missing: {escape_control(result.trouble)}", err=True)
    if result.archive is not None:
        bytes_written = Path(result.archive).stat().st_size
        click.echo(f"archive: {escape_control(result.archive)}  {format_size(bytes_written)}", err=True)


def _result_record(result: ReindexResult, *, dry_run: bool) -> dict[str, object]:
    return {
        "dry_run": dry_run,
        "merges": [serialize.merge(merge) for merge in result.plan.merges],
        "proposals": [serialize.proposal(pair) for pair in result.plan.proposals],
        "contradictions": [serialize.contradiction(pair) for pair in result.plan.contradictions],
        "merged": result.merged,
        "dropped": result.dropped,
        "indexed": result.indexed,
        "embedded": result.embedded,
        "trouble": result.trouble,
        "before": result.archive,
    }


@click.command("similar")
@click.argument("ref")
@click.option("--limit", type=int, help="How many to show at most.")
@target_options
@json_option
def similar_command(ref: str, limit: int | None, target: Target, as_json: bool) -> None:
    """Show the memories most similar to one, best first.

    \b
    omoide similar 12
    """
    with open_memory(target) as (memory, scope):
        found = memory.similar(ref, scope=scope, limit=limit)
    if as_json:
        print_json({"memories": [serialize.hit(hit) for hit in found.hits], "total_count": found.total})
        return
    for hit in found.hits:
        click.echo(headline(hit.memory))
        click.echo(click.style(f"    {hit.score:.2f} · {escape_control(hit.why)}", dim=True))
    if not found.hits:
        click.echo("nothing similar found", err=True)
