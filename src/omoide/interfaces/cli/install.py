"""install, uninstall: wire agent clients to omoide and unwire them."""

import difflib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from omoide.errors import InvalidInput
from omoide.files.git import work_tree
from omoide.interfaces.cli.output import escape_control, truncate
from omoide.interfaces.install import installer, wiring
from omoide.interfaces.install.install_record import InstallRecord
from omoide.interfaces.install.installer import InstallResult, PlannedFile
from omoide.interfaces.install.wiring import Installation
from omoide.interfaces.mcp.client_config import CLIENTS

_WIDEST = 160
"""Columns of a line of a diff: a minified file is one long line."""


def _scope_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing."),
        click.option("--user", "scope", flag_value="user", default="user", help="For all your projects (the default)."),
        click.option("--project", "scope", flag_value="project", help="For the project of this directory only."),
        click.argument("clients", nargs=-1, metavar="CLIENT..."),
    ):
        command = option(command)
    return command


@click.command("install")
@click.option("--no-hooks", is_flag=True, help="Register the MCP server only: nothing is added to prompts automatically.")
@_scope_options
def install_command(clients: tuple[str, ...], scope: str, dry_run: bool, no_hooks: bool) -> None:
    """Wire agent clients to omoide: the MCP server and the hooks.

    CLIENT is claude-code, codex, gemini, copilot, cursor, vscode or opencode. Shows what changes in which file, and copies
    each file first. Everything else in the files stays as it is. Run again, it updates its entries.

    \b
    omoide install claude-code
    omoide install codex gemini --dry-run
    omoide install cursor --project
    """
    program, note = wiring.stable_program()
    installations = _installations(clients, scope, program, hooks=not no_hooks, probe=True)
    record = InstallRecord()
    plans = _plan_all(installer.plan_install, installations, record, dry_run=dry_run)
    for installation, plan in zip(installations, plans, strict=True):
        results = [InstallResult(one, None) for one in plan] if dry_run else installer.install(installation, record)
        _report(installation, results, "is installed already", dry_run=dry_run)
        if not dry_run and any(result.planned.changes for result in results):
            _print_steps(installation)
    if note:
        click.echo(escape_control(note), err=True)


@click.command("uninstall")
@_scope_options
def uninstall_command(clients: tuple[str, ...], scope: str, dry_run: bool) -> None:
    """Remove omoide from agent clients, and restore their files.

    A file that nobody else has changed since gets its old bytes back. In any other only omoide's entries are removed.

    \b
    omoide uninstall claude-code
    omoide uninstall cursor --project --dry-run
    """
    record = InstallRecord()
    installations = _installations(clients, scope, "omoide")
    plans = _plan_all(installer.plan_uninstall, installations, record, dry_run=dry_run)
    for installation, plan in zip(installations, plans, strict=True):
        results = [InstallResult(one, None) for one in plan] if dry_run else installer.uninstall(installation, record)
        _report(installation, results, "is not installed", dry_run=dry_run)


def _installations(
    clients: Sequence[str], scope: str, program: str, *, hooks: bool = True, probe: bool = False
) -> list[Installation]:
    if not clients:
        raise InvalidInput(f"name a client: {', '.join(wiring.NAMES)}")
    root = Path.cwd()
    if scope == "project":
        root = work_tree(root) or root
    names = dict.fromkeys(clients)
    return [wiring.installation(client, scope, root, program, hooks=hooks, probe=probe) for client in names]


def _plan_all(
    plan: Callable[[Installation, InstallRecord], list[PlannedFile]],
    installations: Sequence[Installation],
    record: InstallRecord,
    *,
    dry_run: bool,
) -> list[list[PlannedFile]]:
    """Plan the changes of all clients: an error of any of them comes before the first write."""
    plans = [plan(installation, record) for installation in installations]
    if not dry_run:
        for planned in plans:
            installer.check_writable(planned)
    return plans


def _report(installation: Installation, results: Sequence[InstallResult], otherwise: str, *, dry_run: bool) -> None:
    """Print the diff of each file, where its backup is, and what was left as it is."""
    title = CLIENTS[installation.client].title
    where = "this project" if installation.scope == "project" else "all projects"
    changed = [result for result in results if result.planned.changes]
    for planned, backup in changed:
        for line in _diff(planned):
            click.echo(line)
        if backup is not None:
            click.echo(escape_control(f"backup: {backup}"), err=True)
    for planned, _ in results:
        for note in planned.notes:
            click.echo(escape_control(note), err=True)
    if not changed:
        click.echo(f"{title} ({where}): {otherwise}")
    elif dry_run:
        click.echo(f"{title} ({where}): nothing was changed, this was --dry-run")
    else:
        click.echo(f"{title} ({where}): {len(changed)} {'file' if len(changed) == 1 else 'files'} changed")


def _print_steps(installation: Installation) -> None:
    for step in installation.steps:
        click.echo(f"next: {step}")


def _diff(planned: PlannedFile) -> list[str]:
    """The change of a file, for a terminal."""
    old, new = (
        [] if data is None else data.decode("utf-8-sig", "replace").splitlines()
        for data in (planned.file.data, planned.data)
    )
    path = str(planned.file.path)
    names = ("/dev/null" if planned.file.data is None else path, "/dev/null" if planned.data is None else path)
    colours = {"+": "green", "-": "red", "@": "cyan"}
    lines = difflib.unified_diff(old, new, *names, lineterm="")
    return [
        click.style(truncate(escape_control(line), _WIDEST), fg=colours.get(line[:1]), bold=line[:3] in ("+++", "---"))
        for line in lines
    ]
