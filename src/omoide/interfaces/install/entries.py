"""Put omoide's entries into the text of a settings file, and remove them from it."""

import json
from collections.abc import Collection
from typing import Any

from omoide.errors import Conflict
from omoide.interfaces.install import json_parser
from omoide.interfaces.install.hook_entries import canonical, find_hooks, is_hook, recorded_hook, set_hooks
from omoide.interfaces.install.json_text import JsonText
from omoide.interfaces.install.server_entry import NAME, describe, set_server, starts_omoide
from omoide.interfaces.install.toml_text import TomlText
from omoide.interfaces.install.wiring import Wiring

SCRIPT_MARK = "omoide install opencode"
"""What the first line of a script of omoide contains."""


def edit(text: str, wiring: Wiring, recorded: Collection[str] = (), original: str | None = None) -> str:
    """Return a file with exactly the entries that `wiring` names, and everything else unchanged.

    `recorded` has the entries that omoide wrote before, as JSON; `original` is the file as it was before omoide. Raise
    Unreadable if the file is broken, InvalidInput if its hooks or servers have the wrong type, and Conflict if it is a
    script that is not omoide's, or cannot be edited without changing anything else.
    """
    if wiring.is_script:
        return _edit_script(text, wiring)
    document = parse(text, wiring)
    keep = None if original is None else parse(original, wiring)
    changed = document
    if wiring.table:
        changed = set_server(changed, wiring.table, wiring.server, recorded, keep)
    if wiring.hooks is not None and isinstance(changed, JsonText):
        changed.check_type([], dict)
        if wiring.hooks and wiring.version is not None and not changed.has(["version"]):
            changed = changed.put(["version"], wiring.version)
        changed = set_hooks(changed, wiring.hooks, recorded, keep if isinstance(keep, JsonText) else None)
    if _others(document) != _others(changed):
        raise Conflict(
            f"{wiring.path} cannot be edited without changing something else: edit it by hand (omoide mcp config)"
        )
    return text if changed is document else changed.text


def parse(text: str, wiring: Wiring) -> JsonText | TomlText:
    """Parse a settings file by the ending of its name. Raise Unreadable if it is broken."""
    kind = TomlText if wiring.path.suffix == ".toml" else JsonText
    return kind(text, str(wiring.path))


def present(text: str, wiring: Wiring) -> list[Any]:
    """Return the entries of omoide in a file."""
    if wiring.is_script:
        return [text] if SCRIPT_MARK in text.partition("\n")[0] else []
    document = parse(text, wiring)
    found = []
    if wiring.table:
        server = document.get([wiring.table, NAME])
        found += [server] if starts_omoide(server) else []
    if wiring.hooks is not None and isinstance(document, JsonText):
        found += [document.get(place.entry) for place in find_hooks(document)]
    return found


def current_entries(text: str, wiring: Wiring) -> tuple[str, ...]:
    """Return the entries of omoide in a file that are as omoide writes them now, as JSON for the record."""
    if wiring.is_script:
        return ()
    document = parse(text, wiring)
    found = []
    if wiring.server and document.get([wiring.table, NAME]) == wiring.server:
        found.append(canonical(wiring.server))
    if wiring.hooks and isinstance(document, JsonText):
        for place in find_hooks(document):
            entry = document.get(place.entry)
            if entry == wiring.hooks.get(place.event):
                found.append(recorded_hook(place.event, entry))
    return tuple(found)


def is_empty(text: str, wiring: Wiring) -> bool:
    """Return whether nothing is left in a file that omoide made."""
    if wiring.is_script:
        return not text
    document = parse(text, wiring)
    if isinstance(document, TomlText):
        return not text.strip()
    has_comments = json_parser.trivia_end(text, document.root.start + 1, document.root.end - 1) > document.root.start + 1
    outside = (document.text[: document.root.start] + document.text[document.root.end :]).strip()
    return document.root.value in ({}, {"version": wiring.version}) and not has_comments and not outside


def notes(text: str, wiring: Wiring) -> list[str]:
    """Return what the user should know of entries that were left as they are."""
    if wiring.is_script or not wiring.table or wiring.server is None:
        return []
    document = parse(text, wiring)
    found = []
    server = document.get([wiring.table, NAME])
    if server is not None and not starts_omoide(server):
        found.append(f"{wiring.path} has a server omoide that is not this one ({describe(server)}): it was left as it is")
    hooks = document.get(["hooks"]) if isinstance(document, TomlText) else None
    if isinstance(hooks, dict) and set(hooks) - {"state"}:
        found.append(f"{wiring.path} has hooks of its own: Codex runs them and those of hooks.json, with a warning")
    return found


def _edit_script(text: str, wiring: Wiring) -> str:
    if text and SCRIPT_MARK not in text.partition("\n")[0]:
        if wiring.script is None:
            return text
        raise Conflict(f"{wiring.path} is there and is not omoide's: move or remove it first")
    return wiring.script or ""


def _others(document: JsonText | TomlText) -> Any:
    """What a file says beside omoide's entries, to check that an edit changed nothing else."""
    data = json.loads(json.dumps(document.root.value if isinstance(document, JsonText) else document.data, default=str))
    if not isinstance(data, dict):
        return data
    data.pop("version", None)
    for table in ("mcpServers", "servers", "mcp", "mcp_servers"):
        if isinstance(data.get(table), dict):
            data[table].pop(NAME, None)
    hooks = data.get("hooks")
    for event, groups in list(hooks.items()) if isinstance(hooks, dict) else []:
        if isinstance(groups, list):
            data["hooks"][event] = [one for one in map(_other_hooks, groups) if one]
    return _prune(data)


def _other_hooks(group: Any) -> Any:
    if is_hook(group):
        return None
    if isinstance(group, dict) and isinstance(group.get("hooks"), list):
        others = [one for one in group["hooks"] if not is_hook(one)]
        return {**group, "hooks": others} if others or not group["hooks"] else None
    return group


def _prune(data: dict[str, Any]) -> dict[str, Any]:
    """Without empty tables and lists of the levels that omoide adds."""
    for name in ("hooks", "mcpServers", "servers", "mcp", "mcp_servers"):
        if isinstance(data.get(name), dict):
            data[name] = {key: value for key, value in data[name].items() if value not in ([], {})}
            if not data[name]:
                del data[name]
    return data
