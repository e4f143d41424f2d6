"""Projects from the command line: project create, list, show, describe, backup."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omoide.errors import InvalidInput, NotFound
from omoide.files.git import git_root
from omoide.files.sizes import format_size
from omoide.interfaces import serialize
from omoide.interfaces.cli.options import Target, json_option, open_for_command, open_memory, settings_for, store_option
from omoide.interfaces.cli.output import day, escape_control, headline, layer, print_json, print_table
from omoide.model import Project, Scope

if TYPE_CHECKING:  # see common
    from omoide.service.projects import ProjectDetail, ProjectOverview


@click.group("project")
def project_command() -> None:
    """Create, list, show, describe and back up projects.

    \b
    omoide project create backend/python/shop --description "The web shop"
    omoide project list
    omoide project show
    """


@project_command.command("create")
@click.argument("path")
@click.option("--description", default="", metavar="TEXT", help="What it is about, in a line.")
@click.option("--root", metavar="DIR", help="The repository that is to be found as this project, such as . for this one.")
@store_option
@json_option
def create_command(path: str, description: str, root: str | None, target: Target, as_json: bool) -> None:
    """Make a project before anything is kept in it.

    Its path has one to three names: `shop`, or `backend/python/shop` with the categories it belongs to. The first memory
    of a project makes it as well.

    \b
    omoide project create shop
    omoide project create backend/python/shop --description "The web shop" --root .
    """
    directory = None if root is None else _directory(root)
    made = open_for_command(settings_for(target)).create_project(path, description=description, root=directory)
    if as_json:
        print_json(serialize.project(made))
    else:
        click.echo(
            f"created  {click.style(escape_control(made.path), bold=True)}  {escape_control(made.description)}".rstrip()
        )


def _directory(name: str) -> Path:
    try:
        directory = Path(name).resolve(strict=True)
        return git_root(directory) or directory
    except OSError as error:
        raise InvalidInput(f"{name} cannot be read ({error.strerror}): name a directory that is there") from error


@project_command.command("list")
@store_option
@json_option
def list_command(target: Target, as_json: bool) -> None:
    """List all projects with their sessions, last changed first.

    \b
    omoide project list
    omoide project list --json
    """
    found = open_for_command(settings_for(target)).catalogue()
    if as_json:
        print_json({"projects": [_overview_record(one) for one in found]})
    elif found:
        rows = [
            [*_name_and_category(one.project), one.project.description, day(one.updated_at), _names(one)] for one in found
        ]
        print_table(["name", "category", "description", "updated", "sessions"], rows, flexible=(2, 4, 0), optional=(1, 4, 2))
    else:
        click.echo("there are no projects yet: the first memory of one makes it, or omoide project create", err=True)


@project_command.command("show")
@click.argument("path", required=False)
@click.option(
    "--limit", type=click.IntRange(1, 1_000), default=10, show_default=True, help="How many memories in each list."
)
@store_option
@json_option
def show_command(path: str | None, limit: int, target: Target, as_json: bool) -> None:
    """Show a project: what it is about, its size, its sessions, what is pinned and what is new.

    Without a path, the project of this directory. One that does not exist is no error: --json answers null.

    \b
    omoide project show
    omoide project show backend/python/shop --json
    """
    with open_memory(target) as (memory, scope):
        path = _project_scope(path, scope).path
        found = memory.project(path, limit=limit)
    if as_json:
        print_json(None if found is None else _detail_record(found))
    elif found is None:
        click.echo(f"there is no project {escape_control(path)}", err=True)
    else:
        _print_detail(found)


@project_command.command("describe")
@click.argument("path")
@click.argument("text")
@store_option
@json_option
def describe_command(path: str, text: str, target: Target, as_json: bool) -> None:
    """Say in a line what a project is about; an empty text takes the description off.

    \b
    omoide project describe shop "The web shop"
    """
    project = open_for_command(settings_for(target)).describe_project(path, text)
    if as_json:
        print_json(serialize.project(project))
    else:
        name = click.style(escape_control(project.path), bold=True)
        click.echo(f"described  {name}  {escape_control(project.description)}".rstrip())


@project_command.command("backup")
@click.argument("path", required=False)
@click.option("--output", "-o", metavar="DIR", help="Where to, instead of beside the store.")
@store_option
@json_option
def backup_command(path: str | None, output: str | None, target: Target, as_json: bool) -> None:
    """Copy a project with its sessions into a file that `import` takes in; the oldest copies go.

    \b
    omoide project backup
    omoide project backup backend/python/shop --output /mnt/disk/shop
    """
    from omoide.transfer.backup import back_up_project  # noqa: PLC0415 - only a backup needs it

    with open_memory(target) as (memory, scope):
        named = _project_scope(path, scope)
        if memory.project(named.path, limit=1) is None:
            raise NotFound(f"there is no project {named.path}: `omoide project list` shows those there are")
        directory = Path(output).absolute() if output else Path(memory.place).parent / "backups" / named.path
        done = back_up_project(memory, named, directory, settings_for(target).max_backups)
    weight = done.file.stat().st_size
    if as_json:
        removed = [str(file) for file in done.removed]
        print_json({"file": str(done.file), "memories": done.memories, "bytes": weight, "removed": removed})
    else:
        click.echo(f"{escape_control(str(done.file))}  {done.memories:,} memories, {format_size(weight)}")


def _project_scope(path: str | None, scope: Scope) -> Scope:
    """The project that was named, or the one of this directory."""
    if path is None and not scope.path:
        raise InvalidInput("this directory has no project: name one, or go into a git repository")
    return Scope(scope.path) if path is None else Scope.project(path)


def _name_and_category(project: Project) -> tuple[str, str]:
    """Its name, and the categories it belongs to."""
    category, _, name = project.path.rpartition("/")
    return name, category


def _names(one: "ProjectOverview") -> str:
    return ", ".join(session.scope.name for session in one.sessions)


def _overview_record(one: "ProjectOverview") -> dict[str, Any]:
    sessions = [session.scope.name for session in one.sessions]
    return {**serialize.project(one.project), "updated_at": serialize.format_time(one.updated_at), "sessions": sessions}


def _detail_record(found: "ProjectDetail") -> dict[str, Any]:
    return {
        **_overview_record(found.overview),
        "sessions": [serialize.session(session) for session in found.overview.sessions],
        "total_count": found.summary.count,
        "bytes": found.summary.bytes,
        "by_type": found.summary.by_type,
        "pinned": [serialize.memory(one) for one in found.pinned],
        "recent": [serialize.memory(one) for one in found.recent],
    }


def _print_detail(found: "ProjectDetail") -> None:
    project, updated_at, sessions = found.overview
    click.echo(click.style(escape_control(project.path), bold=True))
    if project.description:
        click.echo(escape_control(project.description))
    kinds = ", ".join(f"{escape_control(name)} {count}" for name, count in found.summary.by_type.items())
    for name, value in (
        ("memories", f"{found.summary.count:,}, {format_size(found.summary.bytes)}" + (f" ({kinds})" if kinds else "")),
        ("updated", day(updated_at)),
        ("directory", project.root),
    ):
        if value is not None:
            click.echo(f"  {click.style(f'{name:<9}', dim=True)}  {escape_control(value)}")
    if sessions:
        click.echo(click.style("\nsessions", dim=True))
        print_table(
            ["name", "source", "memories", "updated"],
            [(one.scope.name, one.source, f"{one.memories:,}", day(one.updated_at)) for one in sessions],
            flexible=(0, 1),
        )
    for title, memories in (("pinned", found.pinned), ("recent", found.recent)):
        if memories:
            click.echo(click.style(f"\n{title}", dim=True))
        for memory in memories:
            where = f"  {escape_control(layer(memory.scope))}" if memory.scope.name else ""
            click.echo(f"{day(memory.updated_at)}  {headline(memory)}{where}")
