"""meter: which injected memories agents used, ignored or contradicted, and what they cost."""

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omoide import model
from omoide.errors import Unwritable
from omoide.interfaces import serialize
from omoide.interfaces.cli.options import Target, json_option, open_memory, target_options
from omoide.interfaces.cli.output import count_of, headline, print_json, print_table
from omoide.service.hook_calls import learn_if_waiting

if TYPE_CHECKING:
    from omoide.service.meter import MeterReport, MeterRow

_BAR = 24
"""Characters of a bar."""
_LEARN_SECONDS = 3.0
"""For judging the turns that wait in the inbox."""


@click.command("meter")
@click.option("--days", type=click.IntRange(1, 3_650), default=30, show_default=True, help="How many days to look back.")
@click.option("--limit", type=click.IntRange(1, 1_000), default=20, show_default=True, help="How many memories to show.")
@click.option("--plot", metavar="FILE", type=click.Path(dir_okay=False), help="Write the bars as an SVG file, too.")
@target_options
@json_option
def meter_command(days: int, limit: int, plot: str | None, target: Target, as_json: bool) -> None:
    """Show which injected memories agents used, ignored or contradicted, and what they cost.

    Counts what hooks injected. A use is recognised by names, numbers and words that the agent's answer, commands and changes
    have in common with a memory: an agent may follow one without repeating a word of it. A judgement is clear if one sign,
    or all signs together, leave little doubt. Every other judgement is only the most probable one, and many of them are
    wrong. Only clear ones lead to advice.

    \b
    omoide meter
    omoide meter --days 7 --plot meter.svg
    """
    with open_memory(target) as (memory, scope):
        learn_if_waiting(memory, seconds=_LEARN_SECONDS)  # the last turn counts, too
        report = memory.meter(scope=scope, since=model.now() - timedelta(days=days))
    if plot is not None:
        _write_plot(Path(plot), report, limit)
    if as_json:
        print_json(_report_record(report))
    elif not report.injections:
        click.echo(f"hooks injected nothing in {scope} in {days} days: `omoide install` connects an agent", err=True)
    else:
        _print_report(report, limit)


def _report_record(report: "MeterReport") -> dict[str, Any]:
    return {
        "since": report.since.isoformat(),
        "prompts": report.prompts,
        "session_starts": report.session_starts,
        "injections": report.injections,
        "tokens": report.tokens,
        "used": report.used,
        "ignored": report.ignored,
        "contradicted": report.contradicted,
        "clear": report.clear._asdict(),
        "share_used": report.share_used,
        "memories": [
            {
                "memory": serialize.memory(row.memory),
                "prompts": row.prompts,
                "session_starts": row.session_starts,
                "tokens": row.tokens,
                "used": row.used,
                "ignored": row.ignored,
                "contradicted": row.contradicted,
                "clear": row.clear._asdict(),
                "never_used": row.is_never_used,
            }
            for row in report.rows
        ],
    }


def _print_report(report: "MeterReport", limit: int) -> None:
    share = "not judged yet" if report.share_used is None else f"{report.share_used:.0%} used"
    click.echo(
        f"{count_of(len(report.rows), 'memory', 'memories')} in {_calls(report)}, "
        f"{count_of(report.tokens, 'token', 'tokens')}: {share}"
        f" ({report.used:,} used, {report.ignored:,} ignored, {report.contradicted:,} contradicted;"
        f" {sum(report.clear):,} of them clear)\n"
    )
    rows = [
        (
            f"{row.times:,}",
            f"{row.tokens:,}",
            _bar(row),
            _counts(row),
            click.unstyle(headline(row.memory)),  # a table escapes control characters, and those of colours too
        )
        for row in report.rows[:limit]
    ]
    print_table(["times", "tokens", "used █ ignored ░ contradicted ✗", "", "memory"], rows, flexible=(4,))
    _print_advice("contradicted, review them", [row for row in report.rows if row.is_contradicted], "omoide show")
    _print_advice("never used, retire them", [row for row in report.rows if row.is_never_used], "omoide archive")


def _calls(report: "MeterReport") -> str:
    """What memories were injected into: `48 prompts and 4 session starts`."""
    counts = (report.prompts, "prompt", "prompts"), (report.session_starts, "session start", "session starts")
    return " and ".join(count_of(*count) for count in counts if count[0])


def _counts(row: "MeterRow") -> str:
    return f"{row.used}/{row.ignored}/{row.contradicted}"


def _bar(row: "MeterRow") -> str:
    """How often agents used, ignored or contradicted a memory, as characters: the whole bar, divided in proportion."""
    judged = row.used + row.ignored + row.contradicted
    if not judged:
        return "·" * _BAR
    used, wrong = round(_BAR * row.used / judged), round(_BAR * row.contradicted / judged)
    return "█" * used + "░" * (_BAR - used - wrong) + "✗" * wrong


def _print_advice(what: str, rows: "list[MeterRow]", command: str) -> None:
    if rows:
        numbers = " ".join(str(row.memory.number) for row in rows[:10])
        more = f" and {len(rows) - 10} more" if len(rows) > 10 else ""
        click.echo(f"\n{len(rows)} {what}? {command} {numbers}{more}")


def _write_plot(file: Path, report: "MeterReport", limit: int) -> None:
    from omoide.interfaces.meter_plot import draw_meter  # lazy: only for a plot

    try:
        file.write_text(draw_meter(report.rows[:limit]), encoding="utf-8")
    except OSError as error:
        raise Unwritable(f"cannot write {file} ({error.strerror}): name another file") from error
