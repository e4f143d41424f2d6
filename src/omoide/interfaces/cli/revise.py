"""Changing what a memory says: revise and edit."""

from collections.abc import Mapping
from typing import Any

import click

from omoide.errors import InvalidInput
from omoide.interfaces import serialize
from omoide.interfaces.cli.field_options import field_options
from omoide.interfaces.cli.options import Target, json_option, open_memory, read_stdin, tags_of, target_options
from omoide.interfaces.cli.output import headline, print_json
from omoide.interfaces.time_input import parse_time
from omoide.model import Memory, Scope


@click.command("revise")
@click.argument("ref")
@click.argument("content", required=False)
@field_options
@click.option("--add-tag", multiple=True, help="One more tag beside those that are there.")
@click.option("--remove-tag", multiple=True, help="A tag to take off.")
@click.option("--no-key", is_flag=True, help="Take its key away.")
@click.option("--relevance", type=float, help="How useful it has proved, from 0 to 1.")
@click.option("--no-expiry", is_flag=True, help="It stays true for good.")
@click.option("--active/--inactive", default=None, help="Switch it on or off.")
@click.option("--if-version", type=int, metavar="N", help="Only if nobody changed it since version N.")
@target_options
@json_option
def revise_command(
    ref: str, content: str | None, if_version: int | None, target: Target, as_json: bool, **flags: Any
) -> None:
    """Change a memory's text or fields; the old version stays in its history.

    --tag and --tags replace all tags, --example all examples; what is not named stays as it is.

    \b
    omoide revise 12 "有効期限は 30 分" --confidence 0.9
    omoide revise api-auth --add-tag security --expires 90d
    """
    if content is not None:
        flags["content"] = read_stdin() if content == "-" else content
    changes = _changes(flags)
    with open_memory(target) as (memory, scope):
        old = memory.show(ref, scope=scope)
        if flags["add_tag"] or flags["remove_tag"]:
            changes["tags"] = _tags(changes.get("tags", old.tags), flags)
            if_version = old.version if if_version is None else if_version
        new = memory.revise(old.id, scope=scope, if_version=if_version, **changes)
    _report(old, new, as_json=as_json)


def _changes(flags: Mapping[str, Any]) -> dict[str, Any]:
    """What the flags name, as `revise` calls it."""
    changes = {
        name: flags[name]
        for name in ("content", "topic", "key", "source", "source_run_id", "confidence", "relevance", "active")
        if flags.get(name) is not None
    }
    if "source_run_id" in changes:
        changes["source_run_id"] = changes["source_run_id"] or None
    if flags["type_"] is not None:
        changes["type"] = flags["type_"]
    if flags["tag"] or flags["tags"] is not None:
        changes["tags"] = tags_of(flags["tag"], flags["tags"])
    if flags["example"]:
        changes["examples"] = flags["example"]
    if flags["expires"] is not None:
        changes["expires_at"] = parse_time(flags["expires"], "expires", future=True)
    for flag, name in (("no_key", "key"), ("no_expiry", "expires_at")):
        if flags[flag]:
            if name in changes:
                raise InvalidInput(f"--{flag.replace('_', '-')} takes away what another flag gives: choose one")
            changes[name] = None
    return changes


def _tags(tags: Any, flags: Mapping[str, Any]) -> list[str]:
    gone = {tag.casefold() for tag in flags["remove_tag"]}
    return [tag for tag in (*tags, *flags["add_tag"]) if tag.casefold() not in gone]


def _report(old: Memory, new: Memory, *, as_json: bool) -> None:
    if as_json:
        print_json(serialize.memory(new))
    else:
        click.echo(f"{'unchanged' if new.version == old.version else 'revised'}  {headline(new)}")


@click.command("edit")
@click.argument("ref")
@target_options
@json_option
def edit_command(ref: str, target: Target, as_json: bool) -> None:
    """Change a memory in your editor.

    It opens in $VISUAL or $EDITOR with its fields on top and its text below. What you wrote is never lost: if it cannot
    be saved, the message says which file keeps it.

    \b
    omoide edit 12
    EDITOR="code --wait" omoide edit api-auth
    """
    from omoide.interfaces.cli.editor import edit_text  # noqa: PLC0415 - the same
    from omoide.markdown import frontmatter  # noqa: PLC0415 - YAML takes 15 ms that only this command needs

    with open_memory(target) as (memory, scope):
        old = memory.show(ref, scope=scope)
    text = frontmatter.render(_fields(old), old.content, _NOTE.format(number=old.number))
    with edit_text(text, str(old.number)) as after:
        changes = _edits(frontmatter.parse(text), frontmatter.parse(after))
        new = _save(old, changes, target, scope) if changes else old
    _report(old, new, as_json=as_json)


_NOTE = """memory #{number}: change what you like, save, and close the editor
an empty topic is made from the text; a line taken away changes nothing"""


def _save(old: Memory, changes: Mapping[str, Any], target: Target, scope: Scope) -> Memory:
    # Opened anew: no connection is held while a person thinks.
    with open_memory(target) as (memory, _):
        return memory.revise(old.id, scope=scope, if_version=old.version, **changes)


def _fields(memory: Memory) -> dict[str, Any]:
    return {
        "topic": memory.topic if memory.topic_given else None,
        "type": memory.type,
        "tags": list(memory.tags),
        "key": memory.key,
        "source": memory.source,
        "source_run_id": memory.source_run_id,
        "confidence": memory.confidence,
        "relevance": memory.relevance,
        "expires_at": serialize.format_time(memory.expires_at),
        "examples": list(memory.examples),
    }


def _edits(before: Any, after: Any) -> dict[str, Any]:
    """What the person changed, as `revise` calls it."""
    unknown = sorted(set(after.fields) - set(before.fields))
    if unknown:
        raise InvalidInput(f"there is no field {unknown[0]!r}: the fields are {', '.join(before.fields)}")
    changes = {name: _value(name, value) for name, value in after.fields.items() if value != before.fields[name]}
    if after.body != before.body:
        changes["content"] = after.body
    return changes


def _value(name: str, value: Any) -> Any:
    if name in ("tags", "examples"):
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise InvalidInput(f"{name} should be a list of texts, such as [api, auth]")
        return value
    if value is None and name in ("topic", "key", "source_run_id", "expires_at"):
        return None
    if not isinstance(value, str):
        raise InvalidInput(f"{name} should be a single value, not {'nothing' if value is None else 'a list'}")
    if name == "expires_at":
        return parse_time(value, name, future=True)
    if name in ("confidence", "relevance"):
        try:
            return float(value)
        except ValueError:
            raise InvalidInput(f"{name} is {value!r}: a number from 0 to 1, please") from None
    return value
