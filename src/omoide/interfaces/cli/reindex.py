"""Looking after what is meant: reindex and similar."""

import glob
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

import click

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
from omoide.interfaces.cli.output import escape_control, headline, print_json, print_table, size
from omoide.lifecycle.deduplication import MergePlan, ReindexResult

_STEP_LABELS = 20
_ARCHIVES_KEPT = 5
"""Databases of before, the newest ones."""
_DAY = 86_400


@click.command("reindex")
@click.option("--dry-run", is_flag=True, help="Only tell what would be merged and dropped.")
@click.option("--pending", is_flag=True, help="Only make the vectors that are missing.")
@click.option("--verbose", is_flag=True, help="Show the texts, and all rows of the plan.")
@store_option
@json_option
def reindex_command(dry_run: bool, pending: bool, verbose: bool, place: Target, as_json: bool) -> None:
    """Merge near twins, drop what is forgotten, make index and vectors anew.

    The database as it was is kept, compressed, beside the store; of these the newest five. Others can go on reading and
    writing: all of it takes effect in one step at the end. Memories that differ in a number, a version, a negation or a
    name are never merged, only shown: they may contradict each other.

    \b
    omoide reindex --dry-run --verbose
    omoide reindex
    omoide reindex --pending
    """
    memory = open_for_command(settings_for(place))
    if pending:
        vectors = memory.coverage()
        with progress("embedding", vectors.pending) as tick:
            made = memory.embed_pending(tick)
        if as_json:
            print_json({"embedder": vectors.embedder, "embedded": made})
        else:
            without = "no embedder is set: words alone find (see the setting `embedder`)"
            click.echo(without if vectors.embedder is None else f"{made:,} memories got their vector", err=True)
        return
    if dry_run:
        done, kept = memory.reindex(dry_run=True), None
        waiting = memory.coverage()
        if waiting.embedder is not None and waiting.pending:
            click.echo(f"{waiting.pending:,} have no vector yet: of these only the words were compared", err=True)
    else:
        store = Path(memory.place)
        stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S-%f")
        kept = store.with_name(f"{store.stem}-before-{stamp}{store.suffix}.gz")
        bar = _ProgressBars()
        done = memory.reindex(archive=kept, watch=bar)
        bar.end()
        _prune_archives(store)
    if as_json:
        print_json(_result_record(done, kept, dry_run=dry_run))
        return
    _print_plan(done.plan, verbose=verbose)
    merged = sum(len(merge.others) for merge in done.plan.merges)
    if kept is None:
        click.echo(f"{merged:,} would be merged, {done.dropped:,} forgotten ones dropped", err=True)
    else:
        click.echo(
            f"{done.merged:,} merges, {done.dropped:,} forgotten ones dropped, {done.indexed:,} indexed,"
            f" {done.embedded:,} embedded", err=True,
        )  # fmt: skip
        if done.trouble:
            click.echo(f"not all vectors could be made: {escape_control(done.trouble)}", err=True)
        click.echo(f"before: {escape_control(str(kept))}  {size(kept.stat().st_size)}", err=True)


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


def _prune_archives(store: Path) -> None:
    """Of the databases of before, the newest stay; what a killed reindex left of one goes a day later."""
    before = f"{glob.escape(store.stem)}-before-*"
    for old in sorted(store.parent.glob(f"{before}{glob.escape(store.suffix)}.gz"))[:-_ARCHIVES_KEPT]:
        old.unlink(missing_ok=True)
    for left in store.parent.glob(f"{before}.part*"):
        if left.stat().st_mtime < time.time() - _DAY:
            left.unlink(missing_ok=True)


def _print_plan(plan: MergePlan, *, verbose: bool) -> None:
    merges = [
        (f"#{merge.into.number}", ", ".join(f"#{other.number}" for other in merge.others), f"{merge.likeness:.2f}",
         merge.merged.content if verbose else merge.into.topic)
        for merge in plan.merges
    ]  # fmt: skip
    doubts = [
        (f"#{doubt.one.number}", f"#{doubt.other.number}", f"{doubt.likeness:.2f}", doubt.why,
         f"{doubt.one.content} / {doubt.other.content}" if verbose else doubt.one.topic)
        for doubt in plan.contradictions
    ]  # fmt: skip
    most = None if verbose else _STEP_LABELS
    if merges:
        print_table(["into", "merged", "alike", "text"], merges[:most], flexible=(3,))
    if doubts:
        click.echo(("\n" if merges else "") + "perhaps contradicting each other, never merged:")
        print_table(["one", "other", "alike", "why", "text"], doubts[:most], flexible=(4,))
    if most is not None and max(len(merges), len(doubts)) > most:
        click.echo("… --verbose shows all", err=True)


def _result_record(done: ReindexResult, kept: Path | None, *, dry_run: bool) -> dict[str, object]:
    return {
        "dry_run": dry_run,
        "merges": [serialize.merge(one) for one in done.plan.merges],
        "contradictions": [serialize.doubt(one) for one in done.plan.contradictions],
        "merged": done.merged,
        "dropped": done.dropped,
        "indexed": done.indexed,
        "embedded": done.embedded,
        "trouble": done.trouble,
        "before": None if kept is None else str(kept),
    }


@click.command("similar")
@click.argument("ref")
@click.option("--limit", type=int, help="How many at the most.")
@target_options
@json_option
def similar_command(ref: str, limit: int | None, place: Target, as_json: bool) -> None:
    """Show what is most like a memory, best first.

    \b
    omoide similar 12
    """
    with open_memory(place) as (memory, scope):
        found = memory.similar(ref, scope=scope, limit=limit)
    if as_json:
        print_json({"memories": [serialize.hit(hit) for hit in found.hits], "total_count": found.total})
        return
    for hit in found.hits:
        click.echo(headline(hit.memory))
        click.echo(click.style(f"    {hit.score:.2f} · {escape_control(hit.why)}", dim=True))
    if not found.hits:
        click.echo("nothing is like it", err=True)
