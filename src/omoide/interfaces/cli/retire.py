"""retire: archive what is out of date, as omoide also does automatically once a day."""

from typing import TYPE_CHECKING

import click

from omoide.errors import InvalidInput
from omoide.interfaces import serialize
from omoide.interfaces.cli.options import Target, json_option, open_for_command, settings_for, store_option
from omoide.interfaces.cli.output import count_of, day, headline, layer, print_json, print_table
from omoide.lifecycle.retention import Reason, RetentionPlan

if TYPE_CHECKING:  # it loads with the store
    from omoide.service import Service


@click.command("retire")
@click.option("--dry-run", is_flag=True, help="Only show what would be archived.")
@click.option("--undo", is_flag=True, help="Restore what was last reported as archived automatically.")
@store_option
@json_option
def retire_command(dry_run: bool, undo: bool, target: Target, as_json: bool) -> None:
    """Archive what has expired, is long unused, or is over the limit.

    Nothing is deleted: `omoide recall --archived` finds it, `omoide restore` brings it back. Pinned memories stay. This
    also happens automatically, once a day, unless the setting `retire` is "manual".

    \b
    omoide retire --dry-run
    omoide retire
    omoide retire --undo
    """
    settings = settings_for(target)
    if undo:
        if dry_run:
            raise InvalidInput("--undo cannot be combined with --dry-run: choose one")
        _undo(open_for_command(settings), as_json=as_json)
        return
    plan = open_for_command(settings).retire(dry_run=dry_run)
    if as_json:
        print_json(_plan_record(plan, dry_run=dry_run))
        return
    reasons = {
        Reason.EXPIRED: "expired",
        Reason.UNUSED: f"unused for {settings.ttl_days} days",
        Reason.OVER_LIMIT: f"over {settings.max_entries:,} in its layer",
    }
    if plan.retirements:
        print_table(
            ["number", "project", "layer", "topic", "last used", "why"],
            [
                (
                    f"#{memory.number}",
                    memory.scope.path or "-",
                    layer(memory.scope),
                    memory.topic,
                    day(memory.used_at),
                    reasons[reason],
                )
                for memory, reason in ((each.memory, each.reason) for each in plan.retirements)
            ],
            flexible=(3,),
            optional=(1, 2),
        )
    number = count_of(len(plan.retirements), "memory", "memories")
    click.echo(f"{number} {'would be ' if dry_run else ''}archived", err=True)


def _undo(memory: "Service", *, as_json: bool) -> None:
    restored = memory.undo_retirement()
    if as_json:
        print_json({"restored": [serialize.memory(one) for one in restored]})
        return
    for one in restored:
        click.echo(f"restored  {headline(one)}")
    click.echo(f"{count_of(len(restored), 'memory', 'memories')} restored", err=True)


def _plan_record(plan: RetentionPlan, *, dry_run: bool) -> dict[str, object]:
    retired = [serialize.retirement(each) for each in plan.retirements]
    return {"dry_run": dry_run, "total_count": len(retired), "retired": retired}
