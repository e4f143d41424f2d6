"""Changing where a memory stands: forget, restore, archive, pin, promote, link."""

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


def _each(
    refs: Sequence[str], place: Target, word: str, change: Callable[[Service, str, Scope], Memory], *, as_json: bool
) -> None:
    """Changes one after the other and tells of each; one that cannot be changed does not keep the others from it."""
    done, code = [], 0
    with open_memory(place) as (memory, scope):
        for ref in refs:
            try:
                changed = change(memory, ref, scope)
            except OmoideError as error:  # plan B: the next one; the exit code remembers
                code = max(code, report_error(error))
                continue
            done.append(changed)
            if not as_json:
                click.echo(f"{word}  {headline(changed)}")
    if as_json and (done or len(refs) > 1):
        shapes = [serialize.memory(one) for one in done]
        print_json(shapes[0] if len(refs) == 1 else {"memories": shapes})
    click.get_current_context().exit(code)


@click.command("forget")
@_refs
@target_options
@json_option
def forget_command(refs: tuple[str, ...], place: Target, as_json: bool) -> None:
    """Forget memories: no search finds them; restore brings them back.

    \b
    omoide forget 12
    omoide forget 12 13 api-auth
    """
    _each(refs, place, "forgotten", lambda memory, ref, scope: memory.forget(ref, scope=scope), as_json=as_json)


@click.command("restore")
@_refs
@target_options
@json_option
def restore_command(refs: tuple[str, ...], place: Target, as_json: bool) -> None:
    """Bring forgotten, archived or inactive memories back.

    \b
    omoide restore 12
    """
    _each(refs, place, "restored", lambda memory, ref, scope: memory.restore(ref, scope=scope), as_json=as_json)


@click.command("archive")
@_refs
@target_options
@json_option
def archive_command(refs: tuple[str, ...], place: Target, as_json: bool) -> None:
    """Retire memories: out of daily searches, found on request.

    \b
    omoide archive 12
    omoide recall --archived deploy
    """
    _each(refs, place, "archived", lambda memory, ref, scope: memory.archive(ref, scope=scope), as_json=as_json)


@click.command("pin")
@_refs
@click.option("--unpin", is_flag=True, help="Take the pin off.")
@target_options
@json_option
def pin_command(refs: tuple[str, ...], unpin: bool, place: Target, as_json: bool) -> None:
    """Pin memories: never retired, never summarised away.

    \b
    omoide pin 12
    omoide pin 12 --unpin
    """

    def change(memory: Service, ref: str, scope: Scope) -> Memory:
        return memory.unpin(ref, scope=scope) if unpin else memory.pin(ref, scope=scope)

    _each(refs, place, "unpinned" if unpin else "pinned", change, as_json=as_json)


@click.command("promote")
@_refs
@click.option("--to", type=click.Choice(["project", "global"]), help="How far; one step wider if it is not said.")
@target_options
@json_option
def promote_command(refs: tuple[str, ...], to: str | None, place: Target, as_json: bool) -> None:
    """Move memories to a wider scope: session to project, project to global.

    \b
    omoide promote 12
    omoide promote 12 --to global
    """

    def change(memory: Service, ref: str, scope: Scope) -> Memory:
        target = None if to is None else Scope.everywhere() if to == "global" else Scope(scope.path)
        return memory.promote(ref, scope=scope, to=target)

    _each(refs, place, "promoted", change, as_json=as_json)


@click.command("link")
@click.argument("ref")
@click.argument("kind", type=click.Choice([kind.value for kind in LinkKind]))
@click.argument("other")
@click.option("--remove", is_flag=True, help="Take the link away.")
@target_options
@json_option
def link_command(ref: str, kind: str, other: str, remove: bool, place: Target, as_json: bool) -> None:
    """Say how one memory stands to another.

    \b
    omoide link 12 supersedes 7
    omoide link 12 supersedes 7 --remove
    """
    with open_memory(place) as (memory, scope):
        change = memory.unlink if remove else memory.link
        changed = change(ref, kind, other, scope=scope)
        source, target = memory.show(ref, scope=scope), memory.show(other, scope=scope)
    action = ("unlinked" if remove else "linked") if changed else "unchanged"
    if as_json:
        print_json({"action": action, "source": source.id, "kind": kind, "target": target.id})
        return
    topics = f"{escape_control(source.topic)} → {escape_control(target.topic)}"
    click.echo(f"{action}  #{source.number} {kind} #{target.number}  {topics}")
