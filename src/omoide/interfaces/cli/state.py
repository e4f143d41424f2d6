"""forget, restore, archive, pin, promote and link: commands that change the state of memories."""

from collections.abc import Callable, Sequence

import click

from omoide.errors import OmoideError
from omoide.interfaces import serialize
from omoide.interfaces.cli import report_error
from omoide.interfaces.cli.options import Target, json_option, open_memory, target_options
from omoide.interfaces.cli.output import escape_control, headline, print_json
from omoide.model import LinkKind, Memory, Scope
from omoide.service import Service

_refs = click.argument("refs", metavar="REF...", nargs=-1, required=True)

Change = Callable[[Service, str, Scope], Memory]


def _change_each(refs: Sequence[str], target: Target, action: str, change: Change, *, as_json: bool) -> None:
    """Change one memory after the other and print each. One that fails does not stop the others; the exit code shows it."""
    changed, code = [], 0
    with open_memory(target) as (memory, scope):
        for ref in refs:
            try:
                new = change(memory, ref, scope)
            except OmoideError as error:  # fallback: the next one; the exit code shows it
                code = max(code, report_error(error))
                continue
            changed.append(new)
            if not as_json:
                click.echo(f"{action}  {headline(new)}")
    if as_json and (changed or len(refs) > 1):
        records = [serialize.memory(each) for each in changed]
        print_json(records[0] if len(refs) == 1 else {"memories": records})
    click.get_current_context().exit(code)


@click.command("forget")
@_refs
@target_options
@json_option
def forget_command(refs: tuple[str, ...], target: Target, as_json: bool) -> None:
    """Forget memories: no search finds them; restore brings them back.

    \b
    omoide forget 12
    omoide forget 12 13 api-auth
    """
    _change_each(refs, target, "forgotten", lambda memory, ref, scope: memory.forget(ref, scope=scope), as_json=as_json)


@click.command("restore")
@_refs
@click.option("--version", type=click.IntRange(min=1), help="Bring back what a memory said in this version.")
@target_options
@json_option
def restore_command(refs: tuple[str, ...], version: int | None, target: Target, as_json: bool) -> None:
    """Bring back forgotten, archived or inactive memories.

    \b
    omoide restore 12
    omoide restore 12 --version 3
    """

    def change(memory: Service, ref: str, scope: Scope) -> Memory:
        return memory.restore(ref, scope=scope, version=version)

    _change_each(refs, target, "restored", change, as_json=as_json)


@click.command("archive")
@_refs
@target_options
@json_option
def archive_command(refs: tuple[str, ...], target: Target, as_json: bool) -> None:
    """Archive memories: found only with --archived.

    \b
    omoide archive 12
    omoide recall --archived deploy
    """
    _change_each(refs, target, "archived", lambda memory, ref, scope: memory.archive(ref, scope=scope), as_json=as_json)


@click.command("pin")
@_refs
@click.option("--unpin", is_flag=True, help="Remove the pin.")
@target_options
@json_option
def pin_command(refs: tuple[str, ...], unpin: bool, target: Target, as_json: bool) -> None:
    """Pin memories: never archived automatically, first in resume.

    \b
    omoide pin 12
    omoide pin 12 --unpin
    """

    def change(memory: Service, ref: str, scope: Scope) -> Memory:
        return memory.unpin(ref, scope=scope) if unpin else memory.pin(ref, scope=scope)

    _change_each(refs, target, "unpinned" if unpin else "pinned", change, as_json=as_json)


@click.command("promote")
@_refs
@click.option("--to", type=click.Choice(["project", "global"]), help="The new layer; by default one step wider.")
@target_options
@json_option
def promote_command(refs: tuple[str, ...], to: str | None, target: Target, as_json: bool) -> None:
    """Move memories to a wider scope: session to project, project to global.

    \b
    omoide promote 12
    omoide promote 12 --to global
    """

    def change(memory: Service, ref: str, scope: Scope) -> Memory:
        wider = {None: None, "global": Scope.everywhere(), "project": Scope(scope.path)}[to]
        return memory.promote(ref, scope=scope, to=wider)

    _change_each(refs, target, "promoted", change, as_json=as_json)


@click.command("link")
@click.argument("ref")
@click.argument("kind", type=click.Choice([kind.value for kind in LinkKind]))
@click.argument("other")
@click.option("--remove", is_flag=True, help="Remove the link.")
@target_options
@json_option
def link_command(ref: str, kind: str, other: str, remove: bool, target: Target, as_json: bool) -> None:
    """Link two memories.

    \b
    omoide link 12 supersedes 7
    omoide link 12 supersedes 7 --remove
    """
    with open_memory(target) as (memory, scope):
        if remove:
            changed = memory.unlink(ref, kind, other, scope=scope)
        else:
            changed = memory.link(ref, kind, other, scope=scope).is_new
        start, end = memory.show(ref, scope=scope), memory.show(other, scope=scope)
    action = ("unlinked" if remove else "linked") if changed else "unchanged"
    if as_json:
        print_json({"action": action, "source": start.id, "kind": kind, "target": end.id})
        return
    topics = f"{escape_control(start.topic)} → {escape_control(end.topic)}"
    click.echo(f"{action}  #{start.number} {kind} #{end.number}  {topics}")
