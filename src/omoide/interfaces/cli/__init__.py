"""The command line. Commands live in the modules beside this one and are loaded when they are called."""

import os
import sys
from importlib import import_module
from typing import NamedTuple

import click

from omoide import __version__
from omoide.errors import OmoideError


class Entry(NamedTuple):
    section: str
    module: str
    help: str


_KEEP, _FIND, _CHANGE, _CARE = "Keep", "Find", "Change", "Look after"

# The help stands here as well, so that `omoide --help` need not load every command; a test keeps both the same.
COMMANDS: dict[str, Entry] = {
    "remember": Entry(_KEEP, "keep", "Keep something: an argument, - for standard input, or your editor."),
    "recall": Entry(_FIND, "find", "Find what answers a question, best first; without one, the newest."),
}

EXAMPLES = """
  omoide remember "認証は JWT を採用" --topic "API auth" --type decision --tag api
  omoide recall 認証
  omoide list --type decision
  omoide export --format jsonl > memories.jsonl
"""


class Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        entry = COMMANDS.get(name)
        if entry is None:
            return None
        module = import_module(f"omoide.interfaces.cli.{entry.module}")
        command: click.Command = getattr(module, name.replace("-", "_") + "_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches  # noqa: PLC0415 - only for a typing error

            near = get_close_matches(args[0], COMMANDS, 1)
            hint = f"did you mean {near[0]}?" if near else "see `omoide --help`"
            raise click.UsageError(f"there is no command {args[0]!r}: {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for section in dict.fromkeys(entry.section for entry in COMMANDS.values()):
            with formatter.section(section):
                formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items() if entry.section == section])
        with formatter.section("Examples"):
            formatter.write(EXAMPLES.lstrip("\n"))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="omoide")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """omoide (思い出): one memory for every AI agent you run.

    Works in the project of the git repository you are in; elsewhere, in the global layer.
    """
    if os.environ.get("NO_COLOR"):
        ctx.color = False


def main() -> None:
    try:
        cli(prog_name="omoide")
    except OmoideError as error:
        from omoide.interfaces.wire import exit_code  # noqa: PLC0415 - only when something went wrong

        click.echo(f"omoide: {error}", err=True)
        sys.exit(exit_code(error))
