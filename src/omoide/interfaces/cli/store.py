"""Looking after the store: stats, backup, config, completion."""

from collections import Counter
from datetime import datetime
from pathlib import Path

import click

from omoide import app
from omoide.interfaces import serialize
from omoide.interfaces.cli.options import Target, json_option, open_for_command, settings_for, store_option
from omoide.interfaces.cli.output import day, escape_control, print_json, print_table, size
from omoide.model import Scope, State
from omoide.settings import SETTINGS, config_file, load_settings


@click.command("stats")
@store_option
@json_option
def stats_command(place: Target, as_json: bool) -> None:
    """Count memories, and tell about the database.

    \b
    omoide stats
    omoide stats --json
    """
    memory = open_for_command(settings_for(place))
    counts, latest, where = memory.tally(), memory.latest(), Path(memory.place)
    weight = sum(file.stat().st_size for file in (where, Path(f"{where}-wal")) if file.exists())
    engine, schema = app.engine_info()
    vectors = memory.coverage()
    by_project, by_type, by_state = Counter[Scope](), Counter[str](), Counter[str]()
    for scope, kind, state, count in counts:
        by_project[Scope(scope.path)] += count
        by_type[kind] += count
        by_state[state] += count
    if as_json:
        print_json({
            "store": str(where),
            "bytes": weight,
            "engine": engine,
            "schema": schema,
            "memories": sum(by_state.values()),
            "by_state": {state.value: by_state[state.value] for state in State},
            "by_type": dict(by_type.most_common()),
            "by_project": [{"project": one.path or None, "memories": n} for one, n in by_project.most_common()],
            "vectors": {"embedder": vectors.embedder, "embedded": vectors.embedded, "pending": vectors.pending},
            "newest_change": None if latest is None else serialize.format_time(latest.at),
        })  # fmt: skip
        return
    rows = [("state", state.value, by_state[state.value]) for state in State if by_state[state.value]]
    rows += [("type", kind, count) for kind, count in by_type.most_common()]
    rows += [("project", one.path or "(global)", count) for one, count in by_project.most_common()]
    print_table(["by", "name", "memories"], [(by, name, f"{count:>8,}") for by, name, count in rows], flexible=(1,))
    changed = "nothing has happened yet" if latest is None else f"last change {day(latest.at)}"
    click.echo(f"\n{sum(by_state.values()):,} memories, {size(weight)}, {changed}")
    click.echo(f"{escape_control(str(where))} ({engine}, schema {schema})")
    if vectors.embedder is not None:
        click.echo(f"{vectors.embedded:,} embedded, {vectors.pending:,} to go ({escape_control(vectors.embedder)})")


@click.command("backup")
@click.argument("file", required=False)
@store_option
@json_option
def backup_command(file: str | None, place: Target, as_json: bool) -> None:
    """Copy the whole database, while others use it.

    Without a file name the copy stands beside the store, named by the time; a name that ends with .gz has it compressed.
    To use a copy, point --store at it, or put it in the store's place while nothing runs.

    \b
    omoide backup
    omoide backup /mnt/disk/memory.db
    """
    memory = open_for_command(settings_for(place))
    store = Path(memory.place)
    stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    target = Path(file).absolute() if file else store.with_name(f"{store.stem}-{stamp}{store.suffix}")
    memory.backup(target)
    weight = target.stat().st_size
    if as_json:
        print_json({"file": str(target), "bytes": weight})
    else:
        click.echo(f"{escape_control(str(target))}  {size(weight)}")


@click.command("config")
@json_option
def config_command(as_json: bool) -> None:
    """Show the settings in force, and where each comes from.

    A flag goes before an OMOIDE_ variable, that before the file, that before the default.

    \b
    omoide config
    OMOIDE_LIMIT=20 omoide config --json
    """
    file = config_file()
    settings = load_settings()
    values = {setting.name: getattr(settings, setting.name) for setting in SETTINGS}
    if as_json:
        shapes = {
            name: {"value": values[name], "origin": settings.origins[name], "help": help} for name, help, *_ in SETTINGS
        }
        print_json({"file": str(file), "exists": file.exists(), "settings": shapes})
        return
    rows = [(name, _format_value(value), settings.origins[name]) for name, value in values.items()]
    print_table(["setting", "value", "origin"], rows, flexible=(1, 2))
    click.echo(f"\n{escape_control(str(file))}" + ("" if file.exists() else " (none yet: make one to change a setting)"))


def _format_value(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={role}" for name, role in value.items())
    return ", ".join(value) if isinstance(value, tuple) else f"{value:g}" if isinstance(value, float) else str(value)


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print the script that completes commands in your shell.

    \b
    omoide completion bash >> ~/.bashrc
    omoide completion zsh >> ~/.zshrc
    omoide completion fish > ~/.config/fish/completions/omoide.fish
    """
    from click.shell_completion import get_completion_class  # noqa: PLC0415 - once in a lifetime

    from omoide.interfaces.cli import cli  # noqa: PLC0415 - the group that loads this module

    made = get_completion_class(shell)
    if made is not None:
        click.echo(made(cli, {}, "omoide", "_OMOIDE_COMPLETE").source())
