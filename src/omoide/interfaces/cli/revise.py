"""revise and edit: change what a memory says."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from omoide.errors import InvalidInput
from omoide.interfaces import serialize
from omoide.interfaces.cli.options import (
    Target,
    field_options,
    json_option,
    open_memory,
    read_stdin,
    tags_of,
    target_options,
)
from omoide.interfaces.cli.output import headline, print_json
from omoide.interfaces.time_input import parse_time
from omoide.model import Memory, Scope, fields
from omoide.model.fields import Field

if TYPE_CHECKING:  # YAML takes 15 ms that only edit needs
    from omoide.markdown.frontmatter import Document

_CLEARING_FLAGS = {"no_key": "key", "no_expiry": "expires_at"}
"""Flags that take a field's value away."""


@click.command("revise")
@click.argument("ref")
@click.argument("content", required=False)
@field_options
@click.option("--add-tag", multiple=True, help="Add a tag to the present ones.")
@click.option("--remove-tag", multiple=True, help="Remove a tag.")
@click.option("--no-key", is_flag=True, help="Remove its key.")
@click.option("--no-expiry", is_flag=True, help="Remove its expiry.")
@click.option("--active/--inactive", default=None, help="Switch it on or off.")
@click.option("--fix", is_flag=True, help="Fix its relevance: outcomes of runs no longer move it.")
@click.option("--release", is_flag=True, help="Let outcomes of runs move its relevance again.")
@click.option("--if-version", type=int, metavar="N", help="Only if nobody changed it since version N.")
@target_options
@json_option
def revise_command(
    ref: str, content: str | None, if_version: int | None, target: Target, as_json: bool, **flags: Any
) -> None:
    """Change a memory's text or fields; the old version stays in its history.

    --tag and --tags replace all tags, --example all examples; other fields stay as they are.

    \b
    omoide revise 12 "有効期限は 30 分" --confidence 0.9
    omoide revise api-auth --add-tag security --expires 90d
    """
    changes = _changes(flags)
    if flags["fix"] and flags["release"]:
        raise InvalidInput("--fix cannot be combined with --release: choose one")
    if flags["fix"] or flags["release"]:
        changes["fixed_relevance"] = flags["fix"]
    if content is not None:
        changes["content"] = read_stdin() if content == "-" else content
    with open_memory(target) as (memory, scope):
        old = memory.show(ref, scope=scope)
        new = memory.revise(old.id, scope=scope, if_version=if_version, **changes)
    action = "relevance fixed" if flags["fix"] else "relevance released" if flags["release"] else "unchanged"
    _print_change(old, new, action, as_json=as_json)


def _changes(flags: Mapping[str, Any]) -> dict[str, Any]:
    """What the flags set, as `revise` names it."""
    changes = _values(flags)
    for name in ("source_run_id", "original_prompt"):
        if changes.get(name) == "":
            changes[name] = None
    for flag, name in _CLEARING_FLAGS.items():
        if flags[flag]:
            if name in changes:
                raise InvalidInput(
                    f"--{flag.replace('_', '-')} cannot be combined with the flag that sets {name}: choose one"
                )
            changes[name] = None
    return changes


def _values(flags: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the flags that were given, by the names of their fields."""
    gives_tags = flags["tag"] or flags["tags"] is not None
    values = {
        **{name: flags.get(name) for name in (*fields.REVISABLE, "active")},
        "type": flags["type_"],
        "tags": tags_of(flags["tag"], flags["tags"]) if gives_tags else None,
        "add_tags": flags["add_tag"] or None,
        "remove_tags": flags["remove_tag"] or None,
        "examples": flags["example"] or None,
        "expires_at": None if flags["expires"] is None else parse_time(flags["expires"], "expires", future=True),
    }
    return {name: value for name, value in values.items() if value is not None}


def _print_change(old: Memory, new: Memory, action: str = "unchanged", *, as_json: bool) -> None:
    """Print a changed memory. `action`: what was done where there is no new version."""
    if as_json:
        print_json(serialize.memory(new))
    else:
        click.echo(f"{action if new.version == old.version else 'revised'}  {headline(new)}")


@click.command("edit")
@click.argument("ref")
@target_options
@json_option
def edit_command(ref: str, target: Target, as_json: bool) -> None:
    """Change a memory in your editor.

    It opens in $VISUAL or $EDITOR with its fields on top and its text below. Your text is never lost: if it cannot be
    saved, the message names the file that holds it.

    \b
    omoide edit 12
    EDITOR="code --wait" omoide edit api-auth
    """
    from omoide.interfaces.cli.editor import edit_text  # lazy: only edit needs it
    from omoide.markdown import frontmatter  # lazy: YAML takes 15 ms that only edit needs

    with open_memory(target) as (memory, scope):
        old = memory.show(ref, scope=scope)
    header = {field.name: _editable_value(field, old) for field in _header_fields()}
    text = frontmatter.render(header, old.content, _NOTE.format(number=old.number))
    with edit_text(text, str(old.number)) as edited:
        changes = _edits(frontmatter.parse(text), frontmatter.parse(edited))
        new = _save(old, changes, target, scope) if changes else old
    _print_change(old, new, as_json=as_json)


_NOTE = """memory #{number}: change what you like, save, and close the editor
an empty topic is made from the text; deleting a line changes nothing"""


def _save(old: Memory, changes: Mapping[str, Any], target: Target, scope: Scope) -> Memory:
    # Opened again: no connection stays open while a person writes.
    with open_memory(target) as (memory, _):
        return memory.revise(old.id, scope=scope, if_version=old.version, **changes)


def _header_fields() -> list[Field]:
    """The fields above the text."""
    return [field for field in fields.FIELDS if field.revisable and field.name != "content"]


def _editable_value(field: Field, memory: Memory) -> Any:
    """A field's value, as it stands in the editor."""
    value = getattr(memory, field.name)
    if field.name == "topic":
        return value if memory.topic_given else None
    if field.kind in ("tags", "texts"):
        return list(value)
    return serialize.format_time(value) if field.kind == "moment" else value


def _edits(before: "Document", after: "Document") -> dict[str, Any]:
    """What the person changed, as `revise` names it."""
    unknown = sorted(set(after.fields) - set(before.fields))
    if unknown:
        raise InvalidInput(f"there is no field {unknown[0]!r}: the fields are {', '.join(before.fields)}")
    changes = {
        name: _edited_value(fields.get(name), value) for name, value in after.fields.items() if value != before.fields[name]
    }
    if after.body != before.body:
        changes["content"] = after.body
    return changes


def _edited_value(field: Field, value: Any) -> Any:
    """A value from the editor, as `revise` takes it."""
    if field.kind in ("tags", "texts"):
        return _edited_list(field, value)
    if value is None and field.optional:
        return None
    if not isinstance(value, str):
        raise InvalidInput(f"{field.name} must be a single value, not {'nothing' if value is None else 'a list'}")
    if field.kind == "moment":
        return parse_time(value, field.name, future=True)
    if field.kind == "share":
        try:
            return float(value)
        except ValueError:
            raise InvalidInput(f"{field.name} must be a number from 0 to 1, got {value!r}") from None
    return value


def _edited_list(field: Field, value: Any) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise InvalidInput(f"{field.name} must be a list of texts, such as [api, auth]")
    return value
