"""runs, why, replay, outcome and blame: what went into prompts, and their outcomes."""

import click

from omoide.interfaces import serialize
from omoide.interfaces.cli.options import Target, json_option, open_memory, target_options
from omoide.interfaces.cli.output import count_of, day, escape_control, print_json, print_table, truncate
from omoide.interfaces.cli.receipt import print_receipt
from omoide.interfaces.time_input import parse_time
from omoide.lifecycle.run_statistics import Interval, RunGroup, RunReport
from omoide.model import Run, RunResult
from omoide.service.replay import Blame, Explanation, RunComparison

_RESULTS = click.Choice([result.value for result in RunResult])
_PLOT = 41
"""Columns of an interval that is drawn."""
_WIDEST_TASK = 100
"""Columns of what a task is about: it may be a whole message."""


@click.group("runs", invoke_without_command=True)
@click.option("--outcome", "result", type=_RESULTS, help="Only runs with this outcome.")
@click.option("--pending", is_flag=True, help="Only runs without an outcome.")
@click.option("--agent", metavar="NAME", help="Only runs whose prompt this agent composed.")
@click.option("--memory", metavar="REF", help="Only runs with this memory in the prompt.")
@click.option("--since", metavar="WHEN", help="Only what started since: 2026-02-05, or 7d for seven days.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="How many to show at most.")
@target_options
@json_option
@click.pass_context
def runs_command(
    ctx: click.Context,
    result: str | None,
    pending: bool,
    agent: str | None,
    memory: str | None,
    since: str | None,
    limit: int,
    target: Target,
    as_json: bool,
) -> None:
    """List the runs of a project, newest first; show, compare and report them.

    RUN is the number of a run in its project, or its id.

    \b
    omoide runs --outcome failure --since 7d
    omoide runs show 3
    omoide runs report
    """
    if ctx.invoked_subcommand is not None:
        return
    with open_memory(target) as (service, scope):
        earliest = None if since is None else parse_time(since, "since", future=False)
        found = service.runs(
            scope=scope, result=result, agent=agent, memory=memory, since=earliest, pending=pending, limit=limit
        )
    if as_json:
        print_json({"runs": [serialize.run(each) for each in found]})
    elif found:
        rows = [_row(each) for each in found]
        print_table(["run", "id", "started", "agent", "memories", "outcome", "task"], rows, flexible=(1, 6), optional=(3, 1))
    else:
        click.echo(f"no runs in {scope}: `omoide compose --record` records one", err=True)


def _row(run: Run) -> list[str]:
    outcome = "" if run.outcome is None else run.outcome.result.value
    memories = "holdout" if run.receipt.holdout else str(len(run.receipt.memories))
    return [str(run.number), run.id, day(run.started_at), run.agent.name, memories, outcome, _subject(run)]


def _subject(run: Run) -> str:
    return truncate(run.task.subject, _WIDEST_TASK)


@runs_command.command("show")
@click.argument("run")
@target_options
@json_option
def show_command(run: str, target: Target, as_json: bool) -> None:
    """Show a run: its task, its receipt and its outcome.

    \b
    omoide runs show 3
    """
    with open_memory(target) as (service, scope):
        found = service.run(run, scope=scope)
    if as_json:
        print_json(serialize.run(found))
        return
    for name, value in _describe(found):
        click.echo(f"{name:<10} {escape_control(value)}")
    print_receipt(found.receipt)


def _describe(run: Run) -> list[tuple[str, str]]:
    lines = [
        ("run", f"{run.number}  {run.id}"),
        ("scope", str(run.scope)),
        ("task", f"{run.task.id}  {_subject(run)}".strip()),
        ("agent", f"{run.agent.name} ({run.agent.via})"),
        ("started", day(run.started_at)),
        ("sha256", run.receipt.sha256),
    ]
    outcome = run.outcome
    if outcome is None:
        return [*lines, ("outcome", "none yet")]
    lines.append(("outcome", f"{outcome.result}, {day(outcome.at)}, by {outcome.by}"))
    for name, numbers in (("helped", outcome.helped), ("harmed", outcome.harmed)):
        if numbers:
            lines.append((name, ", ".join(f"#{number}" for number in numbers)))
    if outcome.duration is not None:
        lines.append(("duration", f"{outcome.duration:,.1f} s"))
    if outcome.exit_code is not None:
        lines.append(("exit code", str(outcome.exit_code)))
    return [*lines, ("note", outcome.note)] if outcome.note else lines


@runs_command.command("diff")
@click.argument("run1")
@click.argument("run2")
@target_options
@json_option
def diff_command(run1: str, run2: str, target: Target, as_json: bool) -> None:
    """Compare the prompts of two runs: their memories, then their lines.

    \b
    omoide runs diff 3 4
    """
    with open_memory(target) as (service, scope):
        comparison = service.compare_runs(run1, run2, scope=scope)
    if as_json:
        print_json(serialize.run_comparison(comparison))
    else:
        _print_comparison(comparison)


def _print_comparison(comparison: RunComparison) -> None:
    for one in comparison.removed:
        click.echo(click.style(f"- #{one.number} version {one.version}: {one.reason}", fg="red"))
    for one in comparison.added:
        click.echo(click.style(f"+ #{one.number} version {one.version}: {one.reason}", fg="green"))
    for old, new in comparison.revised:
        click.echo(f"~ #{old.number} version {old.version} → {new.version}")
    if comparison.problem:
        click.echo(escape_control(comparison.problem), err=True)
    elif not comparison.diff:
        click.echo("the prompts are the same")
    for line in comparison.diff:
        click.echo(click.style(escape_control(line), fg={"+": "green", "-": "red", "@": "cyan"}.get(line[:1])))


@runs_command.command("report")
@target_options
@json_option
def report_command(target: Target, as_json: bool) -> None:
    """Compare runs with memories and runs without them.

    Runs without memories are a share of all runs, by the setting `holdout`.

    \b
    omoide runs report
    """
    with open_memory(target) as (service, scope):
        report = service.run_report(scope=scope)
    if as_json:
        print_json(serialize.run_report(report))
    else:
        _print_report(report)


def _print_report(report: RunReport) -> None:
    groups = {"with memories": report.with_memories, "without": report.without}
    rows = [[name, str(group.runs), _percent(group.success), _seconds(group)] for name, group in groups.items()]
    print_table(["", "runs", "success", "duration"], rows)
    if report.with_memories.success or report.without.success:
        click.echo(f"\n{'success':<14} 0 %{'50 %'.center(_PLOT - 8)}100 %")
        for name, group in groups.items():
            if group.success is not None:
                click.echo(f"{name:<14} {draw(group.success)}")
    if report.success is not None:
        click.echo(f"\ndifference     {_points(report.success)}")
    if report.pending:
        click.echo(f"{count_of(report.pending, 'run has', 'runs have')} no outcome yet", err=True)
    click.echo(f"\n{report.conclusion}")


def draw(interval: Interval) -> str:
    """Draw an interval between 0 and 1 as a line, with a dot at its value."""
    places = [round(each * (_PLOT - 1)) for each in (interval.low, interval.value, interval.high)]
    line = ["·"] * _PLOT
    line[places[0] : places[2] + 1] = "─" * (places[2] - places[0] + 1)
    line[places[0]], line[places[2]], line[places[1]] = "├", "┤", "●"
    return "".join(line)


def _percent(interval: Interval | None) -> str:
    if interval is None:
        return "–"
    return f"{interval.value:.0%} ({interval.low:.0%} to {interval.high:.0%})"


def _points(interval: Interval) -> str:
    low, value, high = (round(each * 100) for each in interval)
    return f"{value:+d} points ({low:+d} to {high:+d})"


def _seconds(group: RunGroup) -> str:
    seconds = group.seconds
    return "–" if seconds is None else f"{seconds.value:.3g} s ({seconds.low:.3g} to {seconds.high:.3g})"


@click.command("why")
@click.argument("run")
@click.argument("memory", required=False)
@target_options
@json_option
def why_command(run: str, memory: str | None, target: Target, as_json: bool) -> None:
    """Explain why memories were in the prompt of a run, or were not.

    \b
    omoide why 3
    omoide why 3 12
    """
    with open_memory(target) as (service, scope):
        found = service.why(run, memory, scope=scope)
    if as_json:
        print_json({"memories": [serialize.explanation(each) for each in found]})
        return
    rows = [_explanation_row(each) for each in found]
    print_table(["", "#", "version", "why", "memory"], rows, flexible=(3, 4))


def _explanation_row(one: Explanation) -> list[str]:
    version = "" if one.version is None else str(one.version)
    return [
        "chosen" if one.chosen else "left out",
        f"#{one.number}",
        version,
        one.reason,
        "gone" if one.memory is None else one.memory.topic,
    ]


@click.command("replay")
@click.argument("run")
@target_options
@json_option
def replay_command(run: str, target: Target, as_json: bool) -> None:
    """Print the prompt of a run again: the same bytes, from the history.

    \b
    omoide replay 3
    omoide replay 3 | sha256sum
    """
    with open_memory(target) as (service, scope):
        text = service.replay(run, scope=scope)
        found = service.run(run, scope=scope)
    if as_json:
        print_json({"run": found.number, "id": found.id, "sha256": found.receipt.sha256, "prompt": text})
    else:
        click.echo(text.encode(), nl=False)


@click.command("outcome")
@click.argument("run")
@click.argument("result", type=_RESULTS, required=False)
@click.option(
    "--helped", multiple=True, metavar="REF", help="A memory in the prompt that helped; may be given more than once."
)
@click.option(
    "--harmed", multiple=True, metavar="REF", help="A memory in the prompt that harmed; may be given more than once."
)
@click.option("--note", default="", help="What happened, in words.")
@click.option("--duration", type=float, metavar="SECONDS", help="How long it took; by default the time since it started.")
@click.option("--exit-code", type=int, help="The exit code of the agent's process.")
@click.option("--force", is_flag=True, help="Replace an outcome that was recorded before.")
@click.option("--undo", is_flag=True, help="Undo the outcome and the changes of relevance that it made.")
@target_options
@json_option
def outcome_command(
    run: str,
    result: str | None,
    helped: tuple[str, ...],
    harmed: tuple[str, ...],
    note: str,
    duration: float | None,
    exit_code: int | None,
    force: bool,
    undo: bool,
    target: Target,
    as_json: bool,
) -> None:
    """Record the outcome of a run: its memories become more or less relevant.

    \b
    omoide outcome 3 success --helped 12
    omoide outcome 3 --undo
    """
    if undo is (result is not None):
        raise click.UsageError("give success, failure or partial; or --undo alone")
    with open_memory(target) as (service, scope):
        if undo:
            done = service.undo_outcome(run, scope=scope)
        else:
            done = service.outcome(
                run,
                result or "",
                scope=scope,
                helped=helped,
                harmed=harmed,
                note=note,
                duration=duration,
                exit_code=exit_code,
                force=force,
            )
    if as_json:
        print_json(serialize.run(done))
    else:
        outcome = "no outcome" if done.outcome is None else done.outcome.result.value
        click.echo(f"run {done.number}  {escape_control(done.id)}  {outcome}")


@click.command("blame")
@click.argument("text")
@click.option("--run", metavar="RUN", help="Look only into the prompt of this run.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many to show at most.")
@target_options
@json_option
def blame_command(text: str, run: str | None, limit: int, target: Target, as_json: bool) -> None:
    """Find which memory put a text into which prompt.

    With --run, also show the prompt as it would have been without it.

    \b
    omoide blame "use the blue script"
    omoide blame "blue script" --run 3
    """
    with open_memory(target) as (service, scope):
        found = service.blame(text, scope=scope, run=run, limit=limit)
    if as_json:
        print_json({"blames": [serialize.blame(each) for each in found]})
        return
    for each in found:
        _print_blame(each, whole=run is not None)
    if not found:
        click.echo(f"no memory put this text into {'the prompt of this run' if run else f'a prompt of {scope}'}", err=True)


def _print_blame(blame: Blame, *, whole: bool) -> None:
    memory = blame.memory
    author = serialize.author(memory)
    click.echo(
        f"run {blame.run.number}  {day(blame.run.started_at)}  #{memory.number} version {memory.version}"
        f"  by {escape_control(author)}, source {escape_control(memory.source)}  {escape_control(memory.topic)}"
    )
    if whole:
        click.echo(f"\nwithout #{memory.number}:\n")
        click.echo(escape_control(blame.without))
