"""The command line. Commands live in the modules beside this one and are loaded when they are called."""

import os
import sys
from importlib import import_module
from typing import Any, NamedTuple

import click

from omoide import __version__
from omoide.errors import OmoideError


class CommandEntry(NamedTuple):
    section: str
    module: str
    help: str


_KEEP, _FIND, _CHANGE, _CARRY, _SERVE, _CARE = "Keep", "Find", "Change", "Carry", "Serve", "Look after"
_PROJECTS, _FILES = "Projects", "Files"

# The help stands here as well, so that `omoide --help` need not load every command; a test keeps both the same.
COMMANDS: dict[str, CommandEntry] = {
    "remember": CommandEntry(_KEEP, "remember", "Keep something: an argument, - for standard input, or your editor."),
    "revise": CommandEntry(_KEEP, "revise", "Change a memory's text or fields; the old version stays in its history."),
    "edit": CommandEntry(_KEEP, "revise", "Change a memory in your editor."),
    "recall": CommandEntry(_FIND, "query", "Find what answers a question, best first; without one, the newest."),
    "list": CommandEntry(_FIND, "query", "List memories, last changed first."),
    "show": CommandEntry(_FIND, "query", "Show memories whole: the text, every field, the links."),
    "similar": CommandEntry(_FIND, "reindex", "Show what is most like a memory, best first."),
    "history": CommandEntry(_FIND, "history", "Show every version of a memory and what changed between them."),
    "events": CommandEntry(_FIND, "history", "Show what happened, newest first."),
    "forget": CommandEntry(_CHANGE, "state", "Forget memories: no search finds them; restore brings them back."),
    "restore": CommandEntry(_CHANGE, "state", "Bring forgotten, archived or inactive memories back."),
    "archive": CommandEntry(_CHANGE, "state", "Retire memories: out of daily searches, found on request."),
    "pin": CommandEntry(_CHANGE, "state", "Pin memories: never retired, never summarised away."),
    "promote": CommandEntry(_CHANGE, "state", "Move memories to a wider scope: session to project, project to global."),
    "link": CommandEntry(_CHANGE, "state", "Say how one memory stands to another."),
    "purge": CommandEntry(_CHANGE, "purge", "Destroy forgotten memories and their history, for good."),
    "project": CommandEntry(_PROJECTS, "project", "Make projects, list them, and look into one."),
    "session": CommandEntry(_PROJECTS, "session", "Start sessions of a project, add to them, and read them."),
    "export": CommandEntry(_CARRY, "export", "Write memories to a file or standard output."),
    "import": CommandEntry(_CARRY, "import_", "Take in memories: a file of them, or what another tool keeps."),
    "document": CommandEntry(_CARRY, "document", "Write memories as documents: a page for each type, the surest first."),
    "memories": CommandEntry(_FILES, "memories", "Work with the list of this repository, .agent/memories.md."),
    "mirror": CommandEntry(_FILES, "mirror", "Keep files and memories in step, both ways."),
    "worktree": CommandEntry(_FILES, "worktree", "Make git worktrees that share one .agent/memories.md."),
    "mcp": CommandEntry(_SERVE, "mcp", "Serve agents over MCP: on standard input and output, or over HTTP."),
    "stats": CommandEntry(_CARE, "store", "Count memories, and tell about the database."),
    "doctor": CommandEntry(_CARE, "doctor", "Check the database, its index and permissions, and say how to mend."),
    "scan": CommandEntry(_CARE, "scan", "Look for secrets in what is stored already; --fix redacts them."),
    "retire": CommandEntry(_CARE, "retire", "Archive what has expired, is long unused, or crowds its layer."),
    "reindex": CommandEntry(_CARE, "reindex", "Merge near twins, drop what is forgotten, make index and vectors anew."),
    "backup": CommandEntry(_CARE, "store", "Copy the whole database, while others use it."),
    "config": CommandEntry(_CARE, "store", "Show the settings in force, and where each comes from."),
    "completion": CommandEntry(_CARE, "store", "Print the script that completes commands in your shell."),
}

EXAMPLES = """
  omoide remember "認証は JWT を採用" --topic "API auth" --type decision --tag api
  omoide recall 認証
  omoide list --type decision
  omoide export --format jsonl > memories.jsonl
"""


def _width() -> int:
    """Columns for help, as click counts them, but without loading shutil and all it can compress with."""
    columns = os.environ.get("COLUMNS", "")
    if not columns.isdecimal() or not int(columns):
        try:
            columns = str(os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ else 1).columns)
        except (OSError, ValueError):  # plan B: no terminal, so what most have
            columns = "80"
    return max(min(int(columns), 80) - 2, 50)


class Commands(click.Group):
    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        return super().make_context(info_name, args, parent, **{"terminal_width": _width(), **extra})

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002 - the same
        entry = COMMANDS.get(name)
        if entry is None:
            return None
        module = import_module(f"omoide.interfaces.cli.{entry.module}")
        command: click.Command = getattr(module, name + "_command")
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches  # noqa: PLC0415 - only for a typing error

            near = get_close_matches(args[0], COMMANDS, 1)
            hint = f"did you mean {near[0]}?" if near else "see `omoide --help`"
            raise click.UsageError(f"there is no command {args[0]!r}: {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - the same
        for section in dict.fromkeys(entry.section for entry in COMMANDS.values()):
            with formatter.section(section):
                formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items() if entry.section == section])
        with formatter.section("Examples"):
            formatter.write(EXAMPLES.lstrip("\n"))

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Runs a command and leaves with its exit code: 0 done, 1 it could not be, 2 ask differently, 130 Ctrl-C."""
        extra["standalone_mode"] = False
        if not standalone_mode:
            return super().main(*args, **extra)
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a character is no reason to stop
        try:
            code = super().main(*args, **extra)
        except OmoideError as error:
            code = report_error(error)
        except click.ClickException as error:
            error.show()
            code = error.exit_code
        except click.Abort:
            code = 130
        sys.exit(code if isinstance(code, int) else 0)


def report_error(error: OmoideError) -> int:
    """Print the error as one line on standard error, and return the exit code."""
    from omoide.interfaces.cli.output import escape_control  # noqa: PLC0415 - only when something went wrong
    from omoide.interfaces.errors import codes_for  # noqa: PLC0415 - only when something went wrong

    click.echo(f"omoide: {escape_control(str(error))}", err=True)
    return codes_for(error).exit_code


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="omoide")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """omoide (思い出): one memory for every AI agent you run.

    Works in the project of the git repository you are in; elsewhere, in the global layer. A memory is called by its
    number (12 or #12), its key or its id.
    """
    if os.environ.get("NO_COLOR"):
        ctx.color = False


def main() -> None:
    cli.main(prog_name="omoide")
