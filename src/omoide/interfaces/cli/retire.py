"""Retiring what has had its time: retire, as it also happens by itself once a day."""

import click

from omoide.interfaces import wire
from omoide.interfaces.cli.common import Place, jsonable, settings_of, stored, until_done
from omoide.interfaces.cli.screen import day, layer, print_json, print_table
from omoide.lifecycle.retire import Plan, Reason


@click.command("retire")
@click.option("--dry-run", is_flag=True, help="Only tell what would be archived.")
@stored
@jsonable
def retire_command(dry_run: bool, place: Place, as_json: bool) -> None:
    """Archive what has expired, is long unused, or crowds its layer.

    Nothing is deleted: `omoide recall --archived` finds it, `omoide restore` brings it back. What is pinned stays. It
    also happens by itself, once a day, unless the setting `retire` is "manual".

    \b
    omoide retire --dry-run
    omoide retire
    """
    settings = settings_of(place)
    plan = until_done(settings).retire(dry_run=dry_run)
    if as_json:
        print_json(_shape(plan, dry_run=dry_run))
        return
    words = {
        Reason.EXPIRED: "expired",
        Reason.UNUSED: f"unused for {settings.ttl_days} days",
        Reason.CROWDED: f"over {settings.max_entries:,} in its layer",
    }
    if plan.retirements:
        print_table(
            ["number", "project", "layer", "topic", "last used", "why"],
            [
                (f"#{it.number}", it.scope.path or "-", layer(it.scope), it.topic, day(it.used_at), words[one.reason])
                for one in plan.retirements
                for it in [one.memory]
            ],
            flexible=(3,),
            optional=(1, 2),
        )
    click.echo(f"{len(plan.retirements):,} {'would be ' if dry_run else ''}archived", err=True)


def _shape(plan: Plan, *, dry_run: bool) -> dict[str, object]:
    retired = [wire.retirement(one) for one in plan.retirements]
    return {"dry_run": dry_run, "total_count": len(retired), "retired": retired}
