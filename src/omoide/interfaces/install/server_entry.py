"""Find, add, update and remove the MCP server `omoide` in a settings file, in JSON or TOML."""

from collections.abc import Collection, Sequence
from itertools import pairwise
from pathlib import PurePath
from typing import Any

from omoide.interfaces.install.hook_entries import canonical
from omoide.interfaces.install.json_text import JsonText
from omoide.interfaces.install.toml_text import TomlText

NAME = "omoide"


def starts_omoide(entry: Any) -> bool:
    """Return whether an entry starts `omoide mcp`, itself or through another program such as uvx."""
    return any(_is_program(word) and following == "mcp" for word, following in _pairs(_words(entry)))


def describe(entry: Any) -> str:
    """Return what an entry starts or connects to, for a message."""
    words = _words(entry)
    if words:
        return " ".join(words)
    url = entry.get("url", entry.get("httpUrl")) if isinstance(entry, dict) else None
    return str(url) if url else "something else"


def set_server(
    document: JsonText | TomlText,
    table: str,
    wanted: dict[str, Any] | None,
    recorded: Collection[str] = (),
    keep: JsonText | TomlText | None = None,
) -> JsonText | TomlText:
    """Return the file with this server, or without it if `wanted` is None.

    An entry that omoide wrote and nobody changed (`recorded` has it, as JSON) becomes the new one. In one that somebody
    changed only the program is updated, and an entry that does not start omoide is left alone. A table that becomes empty is
    removed, unless `keep`, the file as it was before omoide, has it. Raise InvalidInput if the table has the wrong type.
    """
    path = [table, NAME]
    if document.has([table]):
        document.check_type([table], dict)
    present = document.get(path)
    if present is None:
        return document if wanted is None else document.put(path, wanted)
    if not starts_omoide(present):
        return document
    if wanted is None:
        while starts_omoide(document.get(path)):  # of two members with one name, the earlier one counts now
            document = _remove(document, table, keep)
        return document
    if canonical(present) in recorded:
        return document.put(path, wanted)
    return _update(document, path, present, wanted)


def _update(
    document: JsonText | TomlText, path: Sequence[str], present: dict[str, Any], wanted: dict[str, Any]
) -> JsonText | TomlText:
    """Update the program of an entry that somebody edited: the arguments and everything else are theirs."""
    words = _words(present)
    if not _is_program(words[0]):
        return document
    program = _words(wanted)[0]
    if isinstance(present["command"], list):
        return document.put([*path, "command"], [program, *words[1:]])
    return document.put([*path, "command"], program)


def _remove(document: JsonText | TomlText, table: str, keep: JsonText | TomlText | None) -> JsonText | TomlText:
    document = document.remove([table, NAME])
    if document.is_blank([table]) and not (keep is not None and keep.has([table])):
        document = document.remove([table])
    return document


def _words(entry: Any) -> list[str]:
    """The command line of an entry: `command` is a text with `args` beside it, or all of it."""
    if not isinstance(entry, dict):
        return []
    command, arguments = entry.get("command"), entry.get("args", [])
    words = [*(command if isinstance(command, list) else [command]), *(arguments if isinstance(arguments, list) else [])]
    return words if all(isinstance(word, str) for word in words) else []


def _pairs(words: Sequence[str]) -> list[tuple[str, str]]:
    return list(pairwise(words))


def _is_program(word: str) -> bool:
    return PurePath(word.replace("\\", "/")).name.removesuffix(".exe") == NAME
