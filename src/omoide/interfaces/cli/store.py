"""stats, backup, config and completion: commands about the store and its settings."""

from pathlib import Path

import click

from omoide import app
from omoide.files.git import git_root
from omoide.files.sizes import format_size
from omoide.interfaces import serialize
from omoide.interfaces.cli.options import (
    Target,
    json_option,
    open_for_command,
    settings_for,
    store_option,
    warn,
    working_directory,
)
from omoide.interfaces.cli.output import count_of, day, escape_control, print_json, print_table
from omoide.service.stats import StoreStats
from omoide.settings import SETTINGS, config_file, load_settings


@click.command("stats")
@store_option
@json_option
def stats_command(target: Target, as_json: bool) -> None:
    """Count memories, and describe the database.

    \b
    omoide stats
    omoide stats --json
    """
    stats = open_for_command(settings_for(target)).stats()
    engine, schema = app.engine_info()
    if as_json:
        print_json(_stats_record(stats, engine, schema))
    else:
        _print_stats(stats, f"{engine}, schema {schema}")


def _stats_record(stats: StoreStats, engine: str, schema: int) -> dict[str, object]:
    return {
        "store": stats.location,
        "bytes": stats.bytes,
        "engine": engine,
        "schema": schema,
        "memories": stats.count,
        "by_state": stats.by_state,
        "by_type": stats.by_type,
        "by_project": [{"project": path or None, "memories": count} for path, count in stats.by_project.items()],
        "vectors": serialize.coverage(stats.vectors),
        "newest_change": serialize.format_time(stats.newest_change),
    }


def _print_stats(stats: StoreStats, engine: str) -> None:
    groups = {"state": stats.by_state, "type": stats.by_type, "project": stats.by_project}
    rows = [
        (by, name or "(global)", f"{count:>8,}") for by, counts in groups.items() for name, count in counts.items() if count
    ]
    if rows:
        print_table(["by", "name", "memories"], rows, flexible=(1,))
        click.echo()
    changed = "no changes yet" if stats.newest_change is None else f"last change {day(stats.newest_change)}"
    click.echo(f"{count_of(stats.count, 'memory', 'memories')}, {format_size(stats.bytes)}, {changed}")
    click.echo(f"{escape_control(stats.location)} ({engine})")
    vectors = stats.vectors
    if vectors.embedder is not None:
        click.echo(f"{vectors.embedded:,} embedded, {vectors.pending:,} pending ({escape_control(vectors.embedder)})")


@click.command("backup")
@click.argument("file", required=False)
@store_option
@json_option
def backup_command(file: str | None, target: Target, as_json: bool) -> None:
    """Copy the whole database while others use it.

    Without a file name the copy is written beside the store and named by the time; a name that ends with .gz is
    compressed. To use a copy, point --store at it, or put it in the place of the store while nothing runs.

    \b
    omoide backup
    omoide backup /mnt/disk/memory.db
    """
    copy = open_for_command(settings_for(target)).backup(Path(file).absolute() if file else None)
    bytes_written = copy.stat().st_size
    if as_json:
        print_json({"file": str(copy), "bytes": bytes_written})
    else:
        click.echo(f"{escape_control(str(copy))}  {format_size(bytes_written)}")


@click.command("config")
@json_option
def config_command(as_json: bool) -> None:
    """Show the settings in force, and where each comes from.

    A flag overrides the file of the repository, which can set few of them; that overrides an OMOIDE_ variable, which
    overrides your own file, which overrides the default.

    \b
    omoide config
    OMOIDE_LIMIT=20 omoide config --json
    """
    file = config_file()
    from omoide.files.repo_config import with_repository_settings  # lazy: the other commands of this module need none of it

    here = working_directory()
    settings, warnings = with_repository_settings(load_settings(), git_root(here) or here)
    for warning in warnings:
        warn(warning)
    values = {setting.name: getattr(settings, setting.name) for setting in SETTINGS}
    if as_json:
        records = {
            setting.name: {
                "value": values[setting.name],
                "origin": settings.origins[setting.name],
                "help": setting.description,
            }
            for setting in SETTINGS
        }
        print_json({"file": str(file), "exists": file.exists(), "settings": records})
        return
    rows = [(name, _format_value(value), settings.origins[name]) for name, value in values.items()]
    print_table(["setting", "value", "origin"], rows, flexible=(1, 2))
    missing = "" if file.exists() else " (does not exist: create it to change a setting)"
    click.echo(f"\n{escape_control(str(file))}{missing}")


def _format_value(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={role}" for name, role in value.items())
    if isinstance(value, tuple):
        return ", ".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print the script that completes commands in your shell.

    \b
    omoide completion bash >> ~/.bashrc
    omoide completion zsh >> ~/.zshrc
    omoide completion fish > ~/.config/fish/completions/omoide.fish
    """
    from click.shell_completion import get_completion_class  # lazy: only this command needs it

    from omoide.interfaces.cli import cli  # lazy: the group that loads this module

    completion = get_completion_class(shell)
    if completion is not None:
        click.echo(completion(cli, {}, "omoide", "_OMOIDE_COMPLETE").source())
