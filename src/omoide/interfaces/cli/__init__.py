"""The command line. Each command is in a module beside this one, which is loaded when the command runs."""

import os
import sys
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import click

from omoide import __version__
from omoide.errors import OmoideError
from omoide.interfaces.process_end import run_program


class CommandEntry(NamedTuple):
    """A command, as `omoide --help` lists it."""

    section: str
    module: str
    help: str


_WRITE, _FIND, _CHANGE, _PROJECTS, _PROMPTS = "Write", "Find", "Change", "Projects", "Prompts"
_TRANSFER, _FILES, _SERVE, _MAINTENANCE = "Import and export", "Files", "Serve", "Maintenance"

# The help is repeated here, so that `omoide --help` need not load every command. A test compares the two.
COMMANDS: dict[str, CommandEntry] = {
    "remember": CommandEntry(_WRITE, "remember", "Store a memory: an argument, - for standard input, or your editor."),
    "revise": CommandEntry(_WRITE, "revise", "Change a memory's text or fields; the old version stays in its history."),
    "edit": CommandEntry(_WRITE, "revise", "Change a memory in your editor."),
    "learn": CommandEntry(_WRITE, "learn", "Learn memories from a conversation."),
    "review": CommandEntry(_WRITE, "learn", "Decide on what was learnt: keep, edit or drop each proposal."),
    "recall": CommandEntry(_FIND, "query", "Find what answers a question, best first; without one, the newest."),
    "list": CommandEntry(_FIND, "query", "List memories, last changed first."),
    "show": CommandEntry(_FIND, "query", "Show a memory in full: the text, every field, the links."),
    "similar": CommandEntry(_FIND, "reindex", "Show the memories most similar to one, best first."),
    "resume": CommandEntry(
        _FIND, "resume", "Show what is needed to continue: the session's context, pinned memories, your preferences."
    ),
    "summary": CommandEntry(_FIND, "resume", "Count the memories of a layer, or of its archive, by type and tag."),
    "history": CommandEntry(_FIND, "history", "Show every version of a memory and what changed between them."),
    "events": CommandEntry(_FIND, "history", "Show what happened, newest first."),
    "forget": CommandEntry(_CHANGE, "state", "Forget memories: no search finds them; restore brings them back."),
    "restore": CommandEntry(_CHANGE, "state", "Bring back forgotten, archived or inactive memories."),
    "archive": CommandEntry(_CHANGE, "state", "Archive memories: found only with --archived."),
    "pin": CommandEntry(_CHANGE, "state", "Pin memories: never archived automatically, first in resume."),
    "promote": CommandEntry(_CHANGE, "state", "Move memories to a wider scope: session to project, project to global."),
    "link": CommandEntry(_CHANGE, "state", "Link two memories."),
    "purge": CommandEntry(_CHANGE, "purge", "Erase forgotten memories and their history for good."),
    "compose": CommandEntry(_PROMPTS, "compose", "Compose the prompt of a task, with the memories that fit it."),
    "before": CommandEntry(
        _PROMPTS, "conversation", "Print the prompt for a message, with the memories that fit it, and record it as a run."
    ),
    "after": CommandEntry(
        _PROMPTS,
        "conversation",
        "Record the end of a run: what was learnt, an entry of its session, a line of activity, and its outcome.",
    ),
    "run": CommandEntry(_PROMPTS, "conversation", "Run an agent with memory: compose its prompt, and keep what it learnt."),
    "runs": CommandEntry(_PROMPTS, "runs", "List the runs of a project, newest first; show, compare and report them."),
    "why": CommandEntry(_PROMPTS, "runs", "Explain why memories were in the prompt of a run, or were not."),
    "replay": CommandEntry(_PROMPTS, "runs", "Print the prompt of a run again: the same bytes, from the history."),
    "outcome": CommandEntry(_PROMPTS, "runs", "Record the outcome of a run: its memories become more or less relevant."),
    "blame": CommandEntry(_PROMPTS, "runs", "Find which memory put a text into which prompt."),
    "meter": CommandEntry(
        _PROMPTS, "meter", "Show which injected memories agents used, ignored or contradicted, and what they cost."
    ),
    "project": CommandEntry(_PROJECTS, "project", "Create, list, show, describe, bind, rename, merge and back up projects."),
    "summarize": CommandEntry(
        _PROJECTS, "summarize", "Replace the old entries of a project by a summary, and archive them."
    ),
    "session": CommandEntry(_PROJECTS, "session", "Start, extend, list and show the sessions of a project."),
    "route": CommandEntry(_PROJECTS, "route", "Show which project a message belongs to, and why."),
    "export": CommandEntry(_TRANSFER, "export", "Write memories to a file or standard output."),
    "import": CommandEntry(_TRANSFER, "import_", "Import memories from a file, or from another tool."),
    "document": CommandEntry(_TRANSFER, "document", "Write memories as Markdown documents, one page for each type."),
    "memories": CommandEntry(_FILES, "memories", "Work with the list of this repository, .agent/memories.md."),
    "mirror": CommandEntry(_FILES, "mirror", "Keep files and memories in sync, both ways."),
    "worktree": CommandEntry(_FILES, "worktree", "Create git worktrees that share one .agent/memories.md."),
    "install": CommandEntry(_SERVE, "install", "Wire agent clients to omoide: the MCP server and the hooks."),
    "uninstall": CommandEntry(_SERVE, "install", "Remove omoide from agent clients, and restore their files."),
    "mcp": CommandEntry(_SERVE, "mcp", "Serve agents over MCP: on standard input and output, or over HTTP."),
    "hook": CommandEntry(_SERVE, "hook", "Answer a hook of an agent, or show how the last ones went."),
    "serve": CommandEntry(_SERVE, "serve", "Serve REST and MCP over HTTP on one port."),
    "llm": CommandEntry(_MAINTENANCE, "llm", "Show what the language model was used for."),
    "stats": CommandEntry(_MAINTENANCE, "store", "Count memories, and describe the database."),
    "doctor": CommandEntry(_MAINTENANCE, "doctor", "Check the database, its index and permissions; --fix repairs them."),
    "scan": CommandEntry(_MAINTENANCE, "scan", "Find secrets in stored memories; --fix redacts them."),
    "retire": CommandEntry(_MAINTENANCE, "retire", "Archive what has expired, is long unused, or is over the limit."),
    "reindex": CommandEntry(
        _MAINTENANCE, "reindex", "Merge near-duplicates, drop forgotten memories, rebuild index and vectors."
    ),
    "backup": CommandEntry(_MAINTENANCE, "store", "Copy the whole database while others use it."),
    "config": CommandEntry(_MAINTENANCE, "store", "Show the settings in force, and where each comes from."),
    "completion": CommandEntry(_MAINTENANCE, "store", "Print the script that completes commands in your shell."),
}

WARNINGS = "omoide.warnings"
"""Where a command's context keeps the warnings that were printed."""

EXAMPLES = """
  omoide remember "認証は JWT を採用" --topic "API auth" --type decision --tag api
  omoide recall 認証
  omoide list --type decision
  omoide export --format jsonl > memories.jsonl
"""


def _width() -> int:
    """Columns for help, as click computes them, but without importing shutil, which takes longer than the help."""
    columns = os.environ.get("COLUMNS", "")
    if not columns.isdecimal() or not int(columns):
        try:
            columns = str(os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ else 1).columns)
        except (OSError, ValueError):  # fallback: no terminal, so the usual width
            columns = "80"
    return max(min(int(columns), 80) - 2, 50)


class Commands(click.Group):
    """The group of all commands. It imports a command's module only when the command is asked for."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        return super().make_context(info_name, args, parent, **{"terminal_width": _width(), **extra})

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        entry = COMMANDS.get(name)
        if entry is None:
            return None
        module = import_module(f"omoide.interfaces.cli.{entry.module}")
        command: click.Command = getattr(module, name + "_command")
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches  # lazy: only for an unknown command

            similar = get_close_matches(args[0], COMMANDS, 1)
            hint = f"did you mean {similar[0]}?" if similar else "see `omoide --help`"
            raise click.UsageError(f"there is no command {args[0]!r}: {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        for section in dict.fromkeys(entry.section for entry in COMMANDS.values()):
            with formatter.section(section):
                formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items() if entry.section == section])
        with formatter.section("Examples"):
            formatter.write(EXAMPLES.lstrip("\n"))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command. Where it fails for a reason that it has warned of already, the reason is not printed again."""
        try:
            return super().invoke(ctx)
        except OmoideError as error:
            if str(error) not in ctx.meta.get(WARNINGS, ()):
                raise
            from omoide.interfaces.errors import codes_for  # lazy: only when something went wrong

            raise click.exceptions.Exit(codes_for(error).exit_code) from error

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run a command and exit: 0 success, 1 could not be carried out, 2 wrong request, 130 Ctrl-C."""
        extra["standalone_mode"] = False
        if not standalone_mode:
            return super().main(*args, **extra)
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")  # for terminals that lack a character
        try:
            code = super().main(*args, **extra)
        except OmoideError as error:
            code = report_error(error)
        except click.ClickException as error:
            error.show()
            code = error.exit_code
        except click.Abort:  # Ctrl-C, or the end of the input at a question
            code = 130
        except OSError as error:
            if error.filename is not None:  # not of a stream
                raise
            click.echo(f"omoide: the output cannot be written: {error.strerror or error}", err=True)
            code = 1
        sys.exit(code if isinstance(code, int) else 0)


def report_error(error: OmoideError) -> int:
    """Print the error as one line on standard error, and return the exit code."""
    from omoide.interfaces.cli.output import escape_control  # lazy: only when something went wrong
    from omoide.interfaces.errors import codes_for  # lazy: only when something went wrong

    click.echo(f"omoide: {escape_control(str(error))}", err=True)
    return codes_for(error).exit_code


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="omoide")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """omoide (思い出): one memory for every AI agent you run.

    Works in the project of the git repository you are in; elsewhere, in the global layer. REF names a memory by its
    number (12 or #12), its key or its id.
    """
    if os.environ.get("NO_COLOR"):
        ctx.color = False


def main() -> None:
    run_program(partial(cli.main, prog_name="omoide"))
