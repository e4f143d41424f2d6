"""Find, add, update and remove the hooks of omoide in a JSON settings file."""

import json
import re
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from omoide.interfaces.install.json_text import JsonText

_PROGRAM = r"""(?:"[^"]*[/\\]omoide(?:\.exe)?"|'[^']*[/\\]omoide(?:\.exe)?'|(?:\S*[/\\])?omoide(?:\.exe)?)"""
_WRITTEN = re.compile(rf"{_PROGRAM} hook(?: copilot \w+)?")
"""A command as omoide writes it, now or in an older version."""
_EDITED = re.compile(rf"(?:^|[\s;&|]){_PROGRAM}\s+hook(?=$|[\s;&|])")
"""A command that calls it among other things: somebody edited it."""
_IDENTITY = ("type", "command", "bash", "server", "tool", "input")
"""The fields that say what is called. All others, such as a time limit, are the user's to change."""


class HookPlace(NamedTuple):
    """A hook of omoide in a file."""

    event: str
    path: tuple[str | int, ...]
    """The path of the hook itself."""
    entry: tuple[str | int, ...]
    """The path of the element of the event's list that it is, or is in."""
    alone: bool
    """Whether nothing else is in that element."""
    written: bool
    """Whether it calls omoide as omoide writes it; otherwise somebody edited it."""


def is_hook(handler: Any) -> bool:
    """Return whether a hook calls omoide."""
    return _form(handler) is not None


def _form(handler: Any) -> str | None:
    if not isinstance(handler, dict):
        return None
    if handler.get("type") == "mcp_tool":
        return "written" if (handler.get("server"), handler.get("tool")) == ("omoide", "hook") else None
    command = handler.get("command", handler.get("bash"))
    if not isinstance(command, str):
        return None
    if _WRITTEN.fullmatch(command.strip()):
        return "written"
    return "edited" if _EDITED.search(command) else None


def find_hooks(document: JsonText) -> Iterator[HookPlace]:
    """Yield the hooks of omoide. Raise InvalidInput if the file's hooks have the wrong type."""
    hooks = document.get(["hooks"])
    if hooks is None:
        return
    document.check_type(["hooks"], dict)
    for event, entries in hooks.items():
        if not isinstance(entries, list):
            continue  # switches beside the events, such as Gemini's `disabled`
        for index, entry in enumerate(entries):
            inner = entry.get("hooks") if isinstance(entry, dict) else None
            here = ("hooks", event, index)
            if isinstance(inner, list):
                for number, handler in enumerate(inner):
                    if form := _form(handler):
                        path = (*here, "hooks", number)
                        yield HookPlace(event, path, here, len(inner) == 1, form == "written")
            elif form := _form(entry):
                yield HookPlace(event, here, here, alone=True, written=form == "written")


def set_hooks(
    document: JsonText, wanted: dict[str, Any], recorded: Collection[str] = (), keep: JsonText | None = None
) -> JsonText:
    """Return the file with exactly these hooks of omoide: one entry for each event.

    What is there is updated in place. An entry that omoide wrote and nobody changed (`recorded` has it, as JSON) becomes the
    new one; in all others the fields that somebody changed stay. Lists and tables that become empty are removed, unless
    `keep`, the file as it was before omoide, has them. Raise InvalidInput if the file's hooks have the wrong type.
    """
    for event in wanted:
        if document.has(["hooks", event]):
            document.check_type(["hooks", event], list)
    seen = set()
    for place in list(find_hooks(document)):
        if place.event in wanted and place.event not in seen:
            seen.add(place.event)
            document = _update(document, place, wanted[place.event], recorded)
    while (surplus := _last_surplus(document, wanted)) is not None:
        document = _remove(document, surplus, keep)
    for event, entry in wanted.items():
        if event not in seen:
            document = document.append(["hooks", event], entry)
    return document


def _last_surplus(document: JsonText, wanted: Collection[str]) -> HookPlace | None:
    """The last hook of omoide that is for another event than these, or not the first one for its event.

    Look for it again after each removal: what was beside another hook may be alone then.
    """
    seen, last = set(), None
    for place in find_hooks(document):
        if place.event in wanted and place.event not in seen:
            seen.add(place.event)
        else:
            last = place
    return last


def _update(document: JsonText, place: HookPlace, entry: Any, recorded: Collection[str]) -> JsonText:
    present = document.get(place.entry)
    if place.alone and recorded_hook(place.event, present) in recorded:
        return document.put(place.entry, entry)
    if not place.written:
        return document
    handler = document.get(place.path)
    wanted = entry["hooks"][0] if "hooks" in entry else entry
    identity = {key: handler[key] for key in _IDENTITY if key in handler}
    if identity == {key: wanted[key] for key in _IDENTITY if key in wanted}:
        return document
    others = {key: value for key, value in handler.items() if key not in _IDENTITY and key in wanted}
    extra = {key: value for key, value in handler.items() if key not in _IDENTITY and key not in wanted}
    return document.put(place.path, {**wanted, **others, **extra})


def _remove(document: JsonText, place: HookPlace, keep: JsonText | None) -> JsonText:
    document = document.remove(place.entry if place.alone else place.path)
    for path in (["hooks", place.event], ["hooks"]):
        if document.is_blank(path) and not (keep is not None and keep.has(path)):
            document = document.remove(path)
    return document


def recorded_hook(event: str, entry: Any) -> str:
    """Return an entry of an event as the record has it: that of one event may be what somebody made of another's."""
    return canonical({event: entry})


def canonical(value: Any) -> str:
    """Return a value as JSON that is the same for the same value."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
