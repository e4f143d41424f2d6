"""before, after and run: memory around the task of an agent."""

import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omoide.interfaces import serialize
from omoide.interfaces.cli.compose import read_task
from omoide.interfaces.cli.learn import open_transcript, print_report, read_text, report_record
from omoide.interfaces.cli.options import (
    Target,
    json_option,
    open_memory,
    project_options,
    read_stdin,
    settings_for,
    warn,
    working_directory,
)
from omoide.interfaces.cli.output import count_of, escape_control, headline, print_json
from omoide.interfaces.cli.summarize import summary_record
from omoide.model import Layout, RunResult, Task

if TYPE_CHECKING:  # they load when a command runs
    from omoide.conversation.pipeline import Conversation, ConversationReport, PreparedPrompt
    from omoide.learning.transcript import Turn
    from omoide.service.candidate_store import LearningReport
    from omoide.service.summaries import SummaryResult

_LAYOUT = click.option(
    "--layout",
    type=click.Choice(["sections", "list", "project"]),
    help="How the prompt is laid out, instead of the setting `prompt_layout`.",
)
_INJECT = click.option("--inject", is_flag=True, help="Add memories also if the setting `memories_inject` is manual.")


@click.command("before")
@click.argument("message")
@click.option("--session", metavar="NAME", help="The session of the conversation; it is started if it is new.")
@click.option("--context", "context_file", metavar="FILE", help="The text of the channel that the message came from.")
@click.option("--run", metavar="ID", help="The id of the run; by default one is made.")
@_LAYOUT
@_INJECT
@project_options
@json_option
def before_command(
    message: str,
    session: str | None,
    context_file: str | None,
    run: str | None,
    layout: Layout | None,
    inject: bool,
    target: Target,
    as_json: bool,
) -> None:
    """Print the prompt for a message, with the memories that fit it, and record it as a run.

    The message, or - for standard input, is routed to its project; --project names one. `omoide after` records the
    outcome.

    \b
    omoide before "The login fails after a second try" --session C042-1738
    omoide before - --layout project --context thread.txt < message.txt
    """
    text = read_stdin() if message == "-" else message
    context = "" if context_file is None else read_text(context_file)
    prepared = _open(target, layout).before(text, session, context=context, run=run, inject=inject)
    _print_problems(prepared)
    if as_json:
        print_json(_prepared_record(prepared))
        return
    _print_preparation(prepared)
    click.echo(prepared.text.encode(), nl=False)


@click.command("after")
@click.argument("run")
@click.option("--transcript", metavar="FILE", help="The transcript of the agent, or - for standard input.")
@click.option("--output", "output_file", metavar="FILE", help="What the agent printed, if it left no transcript.")
@click.option(
    "--result", type=click.Choice([result.value for result in RunResult]), help="How it ended; by default by the exit code."
)
@click.option("--exit-code", type=int, help="The exit code of the agent's process.")
@click.option("--duration", type=float, metavar="SECONDS", help="How long it took; by default the time since `before`.")
@click.option("--note", default="", help="How it went, in words.")
@project_options
@json_option
def after_command(
    run: str,
    transcript: str | None,
    output_file: str | None,
    result: str | None,
    exit_code: int | None,
    duration: float | None,
    note: str,
    target: Target,
    as_json: bool,
) -> None:
    """Record the end of a run: what was learnt, an entry of its session, a line of activity, and its outcome.

    The transcript is one of Claude Code, Codex or Copilot CLI (JSONL), or plain text. In the output of an agent, `User: …`
    is not what the person said.

    \b
    omoide after build-42 --exit-code 0 --transcript session.jsonl
    my-agent < prompt.txt | tee answer.txt; omoide after 3 --output answer.txt
    """
    from omoide.conversation.pipeline import AgentResult  # lazy: see the top

    conversation = _open(target)
    output = "" if output_file is None else read_text(output_file)
    with _open_turns(transcript) as turns:
        ended = AgentResult(turns, output, result=result, exit_code=exit_code, duration=duration, note=note)
        report = conversation.after(ended, run)
    if as_json:
        print_json(_report_record(report))
    else:
        _print_report(report)


@click.command("run", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--task", "task_file", metavar="FILE", help="The task as TOML or JSON, as for `omoide compose`.")
@click.option("-m", "--message", help="What the agent is to do, or - for standard input.")
@click.option("--session", metavar="NAME", help="A session of the project; it is started if it is new.")
@click.option("--transcript", metavar="FILE", help="The transcript that the agent writes; by default its output is read.")
@_LAYOUT
@_INJECT
@click.option("--print-prompt", is_flag=True, help="Print the prompt to standard error before the agent starts.")
@project_options
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@click.pass_context
def run_command(
    context: click.Context,
    task_file: str | None,
    message: str | None,
    session: str | None,
    transcript: str | None,
    layout: Layout | None,
    inject: bool,
    print_prompt: bool,
    target: Target,
    command: tuple[str, ...],
) -> None:
    """Run an agent with memory: compose its prompt, and keep what it learnt.

    COMMAND gets the prompt as its standard input, or in an argument: {prompt} is the prompt itself, {prompt_file} the path
    of a file with it. Its output is passed on, signals too, and its exit code is the one of this command.

    \b
    omoide run -m "Fix the login" -- claude -p
    omoide run --task task.toml -- codex exec {prompt}
    """
    from omoide.conversation.agent_run import AgentCommand, message_of, run_with_memory  # lazy: see the top

    task = read_task(task_file, {}) if task_file is not None else None
    text = message_of(task or Task(), read_stdin() if message == "-" else message)
    store = None if target.store is None else Path(target.store).resolve()

    def show(prepared: "PreparedPrompt") -> None:
        _print_problems(prepared)
        _print_learnt(prepared.corrections)
        _print_pinned(prepared)
        if print_prompt:
            click.echo(prepared.text.encode(), err=True)

    done = run_with_memory(
        AgentCommand(command, working_directory(), settings_for(target), store),
        lambda: _open(target, layout, fixed=True),
        text,
        task=task,
        session=session,
        inject=inject,
        open_turns=lambda: _open_turns(_existing(transcript)),
        show=show,
        warn=warn,
    )
    with suppress(OSError):  # fallback: the terminal is gone, and with it who would read this
        if done.lost:
            warn(f"the output of the agent could not be passed on ({done.lost})")
        if done.problem:
            warn(done.problem)
        if done.report is not None:
            _print_report(done.report)
    context.exit(done.exit_code)


def _existing(transcript: str | None) -> str | None:
    """The transcript that an agent wrote; None if it wrote none, so that its output is read."""
    if transcript is None or transcript == "-":
        return transcript
    try:
        with Path(transcript).open("rb"):
            return transcript
    except OSError as error:
        warn(f"cannot read {transcript} ({error.strerror}): what the agent printed is read instead")
        return None


def _open(target: Target, layout: Layout | None = None, *, fixed: bool = False) -> "Conversation":
    """Open the conversation until the command ends. `fixed`: it belongs to the project of this directory, whatever the
    message is about."""
    from omoide import app  # lazy: see the top

    with open_memory(target, writing=True) as (memory, scope):
        given = scope if fixed or memory.settings.project else None
        return app.open_conversation(memory, working_directory(), scope=given, layout=layout)


@contextmanager
def _open_turns(transcript: str | None) -> "Iterator[Iterable[Turn]]":
    """Yield the turns of a transcript, which are read one by one; none without a transcript."""
    if transcript is None:
        yield ()
        return
    from omoide.learning.transcript import read_turns  # lazy: see the top

    with open_transcript(transcript) as lines:
        yield read_turns(lines, strict=True)


def _prepared_record(prepared: "PreparedPrompt") -> dict[str, Any]:
    return {
        "prompt": prepared.text,
        "project": prepared.scope.path or None,
        "session": prepared.scope.name or None,
        "session_started": prepared.session is not None,
        "route": None if prepared.route is None else serialize.route(prepared.route),
        "run": None if prepared.run is None else serialize.run(prepared.run),
        "pinned": [serialize.memory(memory) for memory in prepared.pinned],
        "corrections": None if prepared.corrections is None else report_record(prepared.corrections),
        "problems": list(prepared.problems),
    }


def _print_problems(prepared: "PreparedPrompt") -> None:
    for problem in prepared.problems:
        warn(problem)
    if prepared.route is not None and prepared.route.trouble:
        warn(f"the language model did not help to find the project: {prepared.route.trouble}")


def _print_preparation(prepared: "PreparedPrompt") -> None:
    """Print to standard error the project of the prompt, and how to report the outcome."""
    if prepared.run is None:
        return
    project = ["--project", prepared.scope.path] if prepared.scope.path else []
    report = shlex.join(["omoide", "after", prepared.run.id, *project])
    click.echo(f"run {prepared.run.number} of {escape_control(str(prepared.scope))}", err=True)
    _print_learnt(prepared.corrections)
    _print_pinned(prepared)
    click.echo(f"report it with: {escape_control(report)}", err=True)


def _print_learnt(report: "LearningReport | None") -> None:
    if report is not None and (report.kept or report.proposed or report.replaced or report.trouble):
        print_report(report, err=True)


def _print_pinned(prepared: "PreparedPrompt") -> None:
    for memory in prepared.pinned:
        click.echo(f"omoide: pinned {headline(memory)}", err=True)


def _report_record(report: "ConversationReport") -> dict[str, Any]:
    return {
        "run": serialize.run(report.run),
        "learnt": None if report.learnt is None else report_record(report.learnt),
        "entry": None if report.entry is None else serialize.memory(report.entry),
        "activity": None if report.activity is None else serialize.memory(report.activity),
        "summary": None if report.summary is None else summary_record(report.summary),
        "problems": list(report.problems),
    }


def _print_report(report: "ConversationReport") -> None:
    """Print to standard error what was kept: standard output is the agent's."""
    for problem in report.problems:
        warn(problem)
    outcome = report.run.outcome
    if outcome is not None:
        click.echo(f"omoide: run {report.run.number} {outcome.result.value}", err=True)
    _print_learnt(report.learnt)
    if report.summary is not None:
        _print_summary(report.summary)


def _print_summary(summary: "SummaryResult") -> None:
    if not summary.success:
        warn(f"the project's memory is not summarised, nothing was changed: {summary.trouble}")
        return
    if summary.trouble:
        warn(summary.trouble)
    entries = count_of(summary.entries_summarized, "entry", "entries")
    sizes = f"{summary.original_size:,} to {summary.new_size:,} bytes"
    click.echo(f"omoide: summarised {entries}, {sizes}: `omoide summarize --undo` brings them back", err=True)
