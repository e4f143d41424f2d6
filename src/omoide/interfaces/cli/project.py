"""project create, list, show, activity, replace, describe, bind, rename, merge and backup."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omoide.errors import InvalidInput
from omoide.files.directory_text import directory_path
from omoide.files.git import git_root
from omoide.files.sizes import format_size
from omoide.interfaces import serialize
from omoide.interfaces.cli.options import (
    Target,
    json_option,
    open_for_command,
    open_memory,
    project_options,
    read_stdin,
    settings_for,
    store_option,
    target_options,
)
from omoide.interfaces.cli.output import count_of, day, escape_control, headline, layer, print_json, print_table
from omoide.model import Memory, Project, Scope

if TYPE_CHECKING:  # they load with the store
    from omoide.service.projects import ProjectDetails, ProjectOverview
    from omoide.service.trees import ProjectFile


@click.group("project")
def project_command() -> None:
    """Create, list, show, describe, bind, rename, merge and back up projects.

    \b
    omoide project create backend/python/shop --description "The web shop"
    omoide project list
    omoide project show
    """


@project_command.command("create")
@click.argument("path")
@click.option("--description", default="", metavar="TEXT", help="What it is about, in one line.")
@click.option("--root", metavar="DIR", help="The repository of this project, such as . for this one.")
@store_option
@json_option
def create_command(path: str, description: str, root: str | None, target: Target, as_json: bool) -> None:
    """Create a project, and the files of its tree.

    Its path has one to three names: `shop`, or `backend/python/shop` with the categories it belongs to. The first memory
    of a project creates it as well, without files.

    \b
    omoide project create shop
    omoide project create backend/python/shop --description "The web shop" --root .
    """
    directory = None if root is None else _directory(root)
    memory = open_for_command(settings_for(target))
    project = memory.create_project(path, description=description, root=directory)
    files = memory.project_files(project.path)
    tree = None if files is None else files.directory
    if as_json:
        print_json({**serialize.project(project), "tree": tree})
        return
    _print_project("created", project, as_json=False)
    if tree is not None:
        click.echo(f"  {escape_control(tree)}")


def _print_project(action: str, project: Project, *, as_json: bool) -> None:
    if as_json:
        print_json(serialize.project(project))
    else:
        name = click.style(escape_control(project.path), bold=True)
        click.echo(f"{action}  {name}  {escape_control(project.description)}".rstrip())


def _directory(name: str) -> Path:
    try:
        directory = Path(name).resolve(strict=True)
        return git_root(directory) or directory
    except OSError as error:
        raise InvalidInput(f"{name} cannot be read ({error.strerror}): name a directory that exists") from error


@project_command.command("list")
@store_option
@json_option
def list_command(target: Target, as_json: bool) -> None:
    """List all projects with their sessions, last changed first.

    \b
    omoide project list
    omoide project list --json
    """
    overviews = open_for_command(settings_for(target)).catalogue()
    if as_json:
        print_json({"projects": [serialize.project_overview(overview) for overview in overviews]})
    elif overviews:
        rows = [_overview_row(overview) for overview in overviews]
        print_table(["name", "category", "description", "updated", "sessions"], rows, flexible=(2, 4, 0), optional=(1, 4, 2))
    else:
        click.echo("there are no projects yet: the first memory of a project creates it, or omoide project create", err=True)


@project_command.command("show")
@click.argument("path", required=False)
@click.option(
    "--limit", type=click.IntRange(1, 1_000), default=10, show_default=True, help="How many memories in each list at most."
)
@click.option("--full", is_flag=True, help="The texts of its files, instead of the lists.")
@store_option
@json_option
def show_command(path: str | None, limit: int, full: bool, target: Target, as_json: bool) -> None:
    """Show a project: sessions, memories, files of its tree.

    Without a path, the project of this directory. One that does not exist is not an error: --json prints null.

    \b
    omoide project show
    omoide project show backend/python/shop --full
    omoide project show backend/python/shop --json
    """
    with open_memory(target) as (memory, scope):
        path = _project_scope(path, scope).path
        detail = memory.project(path, limit=limit)
    if as_json:
        print_json(None if detail is None else _detail_record(detail))
    elif detail is None:
        click.echo(f"there is no project {escape_control(path)}", err=True)
    else:
        _print_detail(detail, full=full)


@project_command.command("describe")
@click.argument("path")
@click.argument("text")
@store_option
@json_option
def describe_command(path: str, text: str, target: Target, as_json: bool) -> None:
    """Describe a project in one line.

    An empty text removes the description.

    \b
    omoide project describe shop "The web shop"
    """
    project = open_for_command(settings_for(target)).describe_project(path, text)
    _print_project("described", project, as_json=as_json)


@project_command.command("bind")
@click.argument("directory", required=False, metavar="[PATH]")
@target_options
@json_option
def bind_command(directory: str | None, target: Target, as_json: bool) -> None:
    """Bind a repository to a project.

    Without --project, to the project whose history it shares, or whose directory is gone. If it was recognised as another
    project before, that one stays: `project merge` moves its memories.

    \b
    omoide project bind --project shop
    omoide project bind ../shop-fork --project shop
    """
    root = _directory(directory or ".")
    project = open_for_command(settings_for(target)).bind_project(root, target.project)
    if as_json:
        print_json(serialize.project(project))
    else:
        click.echo(f"bound  {escape_control(str(root))}  to project {click.style(escape_control(project.path), bold=True)}")


@project_command.command("rename")
@click.argument("path")
@click.argument("name")
@store_option
@json_option
def rename_command(path: str, name: str, target: Target, as_json: bool) -> None:
    """Give a project another path.

    Its memories, sessions, files and directories stay with it.

    \b
    omoide project rename shop backend/python/shop
    """
    project = open_for_command(settings_for(target)).rename_project(path, name)
    if as_json:
        print_json(serialize.project(project))
    else:
        click.echo(f"renamed  {escape_control(path)}  to {click.style(escape_control(project.path), bold=True)}")


@project_command.command("merge")
@click.argument("source")
@click.argument("into", metavar="TARGET")
@click.option("--dry-run", is_flag=True, help="Only show what would happen.")
@store_option
@json_option
def merge_command(source: str, into: str, dry_run: bool, target: Target, as_json: bool) -> None:
    """Move everything of a project into another, and delete it.

    \b
    omoide project merge shop-2 shop --dry-run
    omoide project merge shop-2 shop
    """
    plan = open_for_command(settings_for(target)).merge_projects(source, into, dry_run=dry_run)
    if as_json:
        print_json(
            {
                "source": source,
                "target": into,
                "memories": plan.memories,
                "sessions": plan.sessions,
                "new_keys": [{"old": old, "new": new} for old, new in plan.new_keys],
                "directories": plan.directories,
                "dry_run": dry_run,
            }
        )
        return
    done = "would move" if dry_run else "moved"
    click.echo(
        f"{done}  {count_of(plan.memories, 'memory', 'memories')} of {escape_control(source)} into {escape_control(into)}"
    )
    for label, names in (("session", plan.sessions), ("directory", plan.directories)):
        for name in names:
            click.echo(f"  {label}  {escape_control(name)}")
    for old, new in plan.new_keys:
        click.echo(f"  key  {escape_control(old)}, which {escape_control(into)} has, becomes {escape_control(new)}")


@project_command.command("replace")
@click.argument("path")
@click.argument("file", metavar="FILE")
@store_option
@json_option
def replace_command(path: str, file: str, target: Target, as_json: bool) -> None:
    """Replace the content of a project's MEMORY.md.

    The new content is read from a file, or from standard input for -. The old one is copied first, and the path of the
    copy is printed; as many copies stay as the setting `max_backups` says. An entry that is not in the new content is
    archived, as if it had been deleted from the file.

    \b
    omoide project replace backend/python/shop shorter.md
    summarise < MEMORY.md | omoide project replace backend/python/shop -
    """
    text = _read_text(file)
    done = open_for_command(settings_for(target)).replace_memory_file(path, text)
    if as_json:
        print_json(done._asdict())
    else:
        click.echo(f"replaced  {escape_control(done.path)}  {done.bytes_before:,} → {done.bytes_after:,} bytes")
        click.echo(f"  backup  {escape_control(done.backup)}")


def _read_text(file: str) -> str:
    if file == "-":
        return f"{read_stdin()}\n"
    try:
        return Path(file).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{file} is not UTF-8 (byte {error.start}): convert it with iconv first") from error
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read ({error.strerror}): name a file that exists, or -") from error


@project_command.command("activity")
@click.argument("content")
@click.option("--source", help="Where it comes from, such as slack:C123/1700000000.0001.")
@project_options
@json_option
def activity_command(content: str, source: str | None, target: Target, as_json: bool) -> None:
    """Append a dated line to the recent activity of a project.

    The text is an argument, or - for standard input. The same text again is another line.

    \b
    omoide project activity "Deployed 1.4" --project backend/python/shop
    omoide project activity "リリース 1.4 を公開" --source slack:C123/1700000000.0001
    """
    text = read_stdin() if content == "-" else content
    with open_memory(target, writing=True) as (memory, scope):
        added = memory.append_activity(text, scope=_project_scope(None, scope), source=source)
    if as_json:
        print_json(serialize.memory(added))
    else:
        click.echo(f"appended  {headline(added)}")


@project_command.command("backup")
@click.argument("path", required=False)
@click.option("--output", "-o", metavar="DIR", help="The directory to write to, instead of one beside the store.")
@store_option
@json_option
def backup_command(path: str | None, output: str | None, target: Target, as_json: bool) -> None:
    """Copy a project with its sessions into a file for `import`.

    The newest copies stay, as many as the setting `max_backups` says.

    \b
    omoide project backup
    omoide project backup backend/python/shop --output /mnt/disk/shop
    """
    from omoide.transfer.backup import back_up_project  # lazy: only a backup needs it

    with open_memory(target) as (memory, scope):
        directory = Path(output).absolute() if output else None
        backup = back_up_project(memory, _project_scope(path, scope), directory, settings_for(target).max_backups)
    bytes_written = backup.file.stat().st_size
    if as_json:
        removed = [str(file) for file in backup.removed]
        print_json({"file": str(backup.file), "memories": backup.memories, "bytes": bytes_written, "removed": removed})
    else:
        click.echo(f"{escape_control(str(backup.file))}  {backup.memories:,} memories, {format_size(bytes_written)}")


def _project_scope(path: str | None, scope: Scope) -> Scope:
    """The project that was named, or the one of this directory."""
    if path is None and not scope.path:
        raise InvalidInput("this directory has no project: name one, or go into a git repository")
    return Scope(scope.path) if path is None else Scope.project(path)


def _overview_row(overview: "ProjectOverview") -> list[str]:
    project = overview.project
    category, _, name = project.path.rpartition("/")
    sessions = ", ".join(session.scope.name for session in overview.sessions)
    return [name, category, project.description, day(overview.updated_at), sessions]


def _detail_record(detail: "ProjectDetails") -> dict[str, Any]:
    return {
        **serialize.project_overview(detail.overview),
        "sessions": [serialize.session(session) for session in detail.overview.sessions],
        "total_count": detail.summary.count,
        "bytes": detail.summary.bytes if detail.files.directory is None else detail.files.total_bytes,
        "by_type": detail.summary.by_type,
        "pinned": [serialize.memory(memory) for memory in detail.pinned],
        "recent": [serialize.memory(memory) for memory in detail.recent],
        "files": serialize.project_files(detail.files),
    }


def _print_detail(detail: "ProjectDetails", *, full: bool) -> None:
    project, updated_at, sessions = detail.overview
    files = detail.files
    click.echo(click.style(escape_control(project.path), bold=True))
    if project.description:
        click.echo(escape_control(project.description))
    types = ", ".join(f"{name} {count}" for name, count in detail.summary.by_type.items())
    size = f"{detail.summary.count:,}, {format_size(detail.summary.bytes)}" + (f" ({types})" if types else "")
    tree = None if files.directory is None else f"{files.directory} ({format_size(files.total_bytes)})"
    root = _root_line(project)
    for label, value in (("memories", size), ("updated", day(updated_at)), ("directory", root), ("tree", tree)):
        if value is not None:
            click.echo(f"  {click.style(f'{label:<9}', dim=True)}  {escape_control(value)}")
    if sessions:
        click.echo(click.style("\nsessions", dim=True))
        rows = [(each.scope.name, each.source, f"{each.memories:,}", day(each.updated_at)) for each in sessions]
        print_table(["name", "source", "memories", "updated"], rows, flexible=(0, 1))
    if full:
        for file in (files.memory, files.pinned, files.decisions, *files.sessions):
            _print_file(file)
        return
    _print_memories("pinned", detail.pinned)
    _print_memories("recent", detail.recent)


def _root_line(project: Project) -> str | None:
    """The directory of a project, and whether it is gone."""
    if project.root is None or directory_path(project.root).exists():
        return project.root
    return f"{project.root} is gone: if it was moved, run `omoide project bind PATH --project {project.path}`"


def _print_file(file: "ProjectFile") -> None:
    """Print a file of the tree below its path, size and time; without a file, the text that it would have."""
    if not file.text.strip():
        return
    title = file.path or (f"session {file.session}" if file.session else "project")
    at = "" if file.updated_at is None else f", {day(file.updated_at)}"
    click.echo(click.style(f"\n{escape_control(title)}  {format_size(file.bytes)}{at}", dim=True))
    click.echo(escape_control(file.text.rstrip("\n")))


def _print_memories(title: str, memories: Sequence[Memory]) -> None:
    if memories:
        click.echo(click.style(f"\n{title}", dim=True))
    for memory in memories:
        session = f"  {escape_control(layer(memory.scope))}" if memory.scope.name else ""
        click.echo(f"{day(memory.updated_at)}  {headline(memory)}{session}")


@project_command.command("inject")
@click.argument("prompt", required=False)
@click.option("--context", default="", help="The context of the channel; it is printed between the prompt and the block.")
@click.option(
    "--secondary", multiple=True, metavar="PATH", help="Another project to summarise; may be given more than once."
)
@click.option("--max-bytes", type=click.IntRange(min=0), help="The size of the block at most.")
@target_options
@json_option
def inject_command(
    prompt: str | None, context: str, secondary: tuple[str, ...], max_bytes: int | None, target: Target, as_json: bool
) -> None:
    """Print the memory of a project, for the end of a prompt.

    PROMPT, or - for one on standard input, is printed before it.

    \b
    omoide project inject "Fix the login"
    omoide project inject --secondary backend/python/bank --max-bytes 8000
    """
    text = read_stdin() if prompt == "-" else prompt or ""
    with open_memory(target) as (memory, scope):
        block = memory.project_block(scope=scope, secondary=secondary, max_bytes=max_bytes)
    from omoide.prompt.project_block import inject_project_block  # lazy: only for this command

    whole = inject_project_block(text, context, block)
    if as_json:
        print_json({"block": block, "prompt": whole})
    else:
        click.echo(whole.encode(), nl=False)
