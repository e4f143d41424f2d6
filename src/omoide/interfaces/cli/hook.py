"""hook: answer the hooks of agents, and show how they went."""

import sys
from collections.abc import Sequence

import click

from omoide.errors import StoreError
from omoide.interfaces.cli.options import Target, json_option, open_for_command, settings_for, store_option
from omoide.interfaces.cli.output import count_of, escape_control, print_json, print_table
from omoide.model import Actor, HookRecord, HookState
from omoide.settings import Settings


class _HookGroup(click.Group):
    """A group whose other arguments are those of a hook: any client may give any."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args[:1] != ["log"]:
            answer_hook(args)
        return super().resolve_command(ctx, args)


@click.group("hook", cls=_HookGroup, invoke_without_command=True)
@click.pass_context
def hook_command(ctx: click.Context) -> None:
    """Answer a hook of an agent, or show how the last ones went.

    A client calls it with JSON on standard input: at the start of a session and with each prompt it prints the memories that
    help, at the end of a turn it notes what there is to learn from. CLIENT and EVENT are for clients that do not send them.

    \b
    omoide hook [CLIENT [EVENT]]
    omoide hook log
    """
    if ctx.invoked_subcommand is None:
        if sys.stdin.isatty():
            click.echo(ctx.get_help())
            return
        answer_hook([])


def answer_hook(arguments: list[str]) -> None:
    """Answer a call, and end the process."""
    from omoide.interfaces.hooks.process import main  # lazy: it replaces the command

    main(arguments)


@hook_command.command("log")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="How many calls to show.")
@store_option
@json_option
def log_command(limit: int, target: Target, as_json: bool) -> None:
    """Show the last calls of hooks, newest first.

    Each with its client, event, duration, what was injected, and its fault. If the database cannot be read: the faults that
    are logged beside it.

    \b
    omoide hook log
    omoide hook log --limit 100 --json
    """
    calls, fault = _read_log(settings_for(target), limit)
    if as_json:
        print_json([_record(call) for call in calls])
    elif calls:
        _print_calls(calls)
    elif fault is None:
        click.echo("no hook has called yet: `omoide install` connects an agent", err=True)
    if fault is not None:
        raise fault


def _read_log(settings: Settings, limit: int) -> tuple[Sequence[HookRecord], StoreError | None]:
    """The last calls, and why only those that are logged beside the database could be read."""
    try:
        return open_for_command(settings).hook_calls(limit=limit), None
    except StoreError as error:  # fallback: what is logged beside it, most likely because of the same error
        from omoide.service.hook_faults import logged_faults  # lazy: only for a database that cannot be read

        return logged_faults(settings.store, Actor(settings.actor, settings.role, "cli"))[:limit], error


def _print_calls(calls: Sequence[HookRecord]) -> None:
    print_table(
        ["at", "client", "event", "ms", "memories", "tokens", "result"],
        [
            (
                call.at.astimezone().strftime("%Y-%m-%d %H:%M:%S"),
                escape_control(call.client) or "-",
                call.event.value,
                f"{call.seconds * 1000:.0f}",
                f"{call.memories:,}",
                f"{call.tokens:,}",
                _result(call),
            )
            for call in calls
        ],
        flexible=(6,),
    )
    failed = sum(call.state is HookState.FAILED for call in calls)
    if failed:
        click.echo(f"{count_of(failed, 'call', 'calls')} failed: the agents worked on without memories", err=True)


def _result(call: HookRecord) -> str:
    if call.state is HookState.RUNNING:
        return "did not end"
    return escape_control(call.fault) or call.state.value


def _record(call: HookRecord) -> dict[str, object]:
    return {
        "at": call.at.isoformat(),
        "client": call.client,
        "event": call.event.value,
        "session": call.session,
        "state": call.state.value,
        "seconds": round(call.seconds, 4),
        "memories": call.memories,
        "tokens": call.tokens,
        "fault": call.fault,
    }
