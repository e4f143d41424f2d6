"""Edits of JSON and TOML texts: only what was asked for changes, and removing is the inverse of inserting."""

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given, strategies as st

from omoide.errors import Unreadable
from omoide.interfaces.install.json_text import JsonText
from omoide.interfaces.install.toml_text import TomlText

SERVER = {"command": "omoide", "args": ["mcp"]}
HOOK = {"hooks": [{"type": "command", "command": "omoide hook", "timeout": 5}]}

names = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)
scalars = st.one_of(st.none(), st.booleans(), st.integers(-(10**9), 10**9), st.text(max_size=12))
values = st.recursive(
    scalars, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3)), max_leaves=12
)
objects = st.dictionaries(names.filter(lambda name: name not in ("hooks", "mcpServers")), values, max_size=5)


@st.composite
def json_texts(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A text of an object with a style of its own, and its value."""
    value = draw(objects)
    if draw(st.booleans()):
        value["hooks"] = draw(st.dictionaries(names, st.lists(st.just({"hooks": []}), max_size=2), max_size=2))
    indent = draw(st.sampled_from([None, 1, 2, 4, "\t"]))
    separators = (",", ":") if indent is None and draw(st.booleans()) else None
    text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=draw(st.booleans()))
    if indent is not None and value and draw(st.booleans()):
        text = text[:-2] + draw(st.sampled_from([",", " // 最後", ", // last\n  // one more", " /* a,} */"])) + "\n}"
    text = draw(st.sampled_from(["", "\n", "// 先頭\n", "/* { */ "])) + text + draw(st.sampled_from(["", "\n", "\n// end"]))
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"]))), value


@given(json_texts())
def test_what_is_inserted_into_json_is_there_and_removing_it_gives_the_old_bytes(given: tuple[str, dict[str, Any]]) -> None:
    text, value = given
    document = JsonText(text, "settings.json")
    assert document.root.value == value
    had_hooks, had_event = "hooks" in value, "Stop" in value.get("hooks", {})
    changed = document.put(["mcpServers", "omoide"], SERVER).append(["hooks", "Stop"], HOOK)
    events = {**value.get("hooks", {}), "Stop": [*value.get("hooks", {}).get("Stop", []), HOOK]}
    assert changed.root.value == {**value, "mcpServers": {"omoide": SERVER}, "hooks": events}
    assert list(changed.root.value)[: len(value)] == list(value)
    restored = changed.remove(["hooks", "Stop", len(events["Stop"]) - 1])
    if not had_event:
        restored = restored.remove(["hooks", "Stop"])
    if not had_hooks:
        restored = restored.remove(["hooks"])
    restored = restored.remove(["mcpServers"])
    assert restored.root.value == value
    assert restored.text == text


@given(json_texts(), st.data())
def test_any_member_of_json_can_be_replaced_or_removed_and_the_others_stay(
    given: tuple[str, dict[str, Any]], data: st.DataObject
) -> None:
    text, value = given
    if not value:
        return
    key = data.draw(st.sampled_from(list(value)))
    document = JsonText(text, "settings.json")
    assert document.put([key], {"new": [1]}).root.value == {**value, key: {"new": [1]}}
    assert document.remove([key]).root.value == {name: one for name, one in value.items() if name != key}
    assert document.put([key], value[key]).text == text


@given(st.one_of(st.text(max_size=60), st.text('{}[]",:/*1\\n \t', max_size=30)))
def test_a_text_is_read_as_json_is_or_refused(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        expected = None
    try:
        found = JsonText(text, "settings.json").root.value
    except Unreadable:
        assert expected is None
        return
    assert expected is None or found == expected


PARTS = st.sampled_from(
    [
        'model = "x"  # 高速\n',
        "a.b.c = 1\n",
        "list = [ # [mcp_servers.omoide]\n  1,\n  2, ]\n",
        'text = """\n[mcp_servers.omoide]\n\\"""" \n',
        "raw = '''\n]]'''\n",
        "when = 1979-05-27 07:32:00 # time\n",
        'inline = { x = { "y z" = [1, { w = "}" }] }, v = \'{\' }\n',
        "\n",
        "# a comment\n",
    ]
)
TABLES = st.sampled_from(
    [
        "[tui]\nnotify = true\n",
        "[[skills]]\npath = '/a'\n[[skills]]\npath = '/b'\n",
        '[projects."/home/山田 太郎"]\ntrust_level = "trusted"\n\n',
        "[mcp_servers.docs]\ncommand = 'docs'\n",
        "  [mcp_servers.docs.env]\n  A = 'b'\n",
        "[last] # end",
    ]
)


@given(st.lists(PARTS, max_size=6, unique=True), st.lists(TABLES, max_size=4, unique=True), st.sampled_from(["\n", "\r\n"]))
def test_what_is_inserted_into_toml_is_there_and_removing_it_gives_the_old_bytes(
    parts: list[str], tables: list[str], newline: str
) -> None:
    tables.sort(key=lambda part: part.startswith("[last]"))  # it has no line end
    text = "".join([*parts, *tables]).replace("\n", newline)
    value = tomllib.loads(text)
    changed = TomlText(text, "config.toml").put(["mcp_servers", "omoide"], SERVER)
    servers = {**value.get("mcp_servers", {}), "omoide": SERVER}
    assert tomllib.loads(changed.text) == {**value, "mcp_servers": servers}
    restored = changed.remove(["mcp_servers", "omoide"]).text
    assert restored in (text, text + "\n", text + newline)  # a line end that was missing is not missed
    assert restored == text or not text.endswith("\n")
    updated = changed.put(["mcp_servers", "omoide", "command"], "/opt/omoide")
    assert updated.text == changed.text.replace('command = "omoide"', 'command = "/opt/omoide"')


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("mcp_servers = { a = 1 }\n", 'mcp_servers = { a = 1, omoide = { command = "omoide", args = ["mcp"] } }\n'),
        ("mcp_servers = {}\n", 'mcp_servers = { omoide = { command = "omoide", args = ["mcp"] } }\n'),
        ("[mcp_servers]\n", '[mcp_servers]\n\n[mcp_servers.omoide]\ncommand = "omoide"\nargs = ["mcp"]\n'),
    ],
)
def test_a_server_goes_where_the_table_is(before: str, after: str) -> None:
    changed = TomlText(before, "config.toml").put(["mcp_servers", "omoide"], SERVER)
    assert changed.text == after
    assert changed.remove(["mcp_servers", "omoide"]).text == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('[mcp_servers.omoide]\ncommand = "x"\n', '[mcp_servers.omoide]\ncommand = "x"\nargs = ["mcp"]\n'),
        ('mcp_servers.omoide.command = "x"\n', 'mcp_servers.omoide.command = "x"\nmcp_servers.omoide.args = ["mcp"]\n'),
        ('[mcp_servers]\nomoide = { command = "x" }\n', '[mcp_servers]\nomoide = { command = "x", args = ["mcp"] }\n'),
        ("[mcp_servers.omoide]\n", '[mcp_servers.omoide]\nargs = ["mcp"]\n'),
    ],
)
def test_a_value_that_is_missing_is_added_to_its_table(before: str, after: str) -> None:
    assert TomlText(before, "config.toml").put(["mcp_servers", "omoide", "args"], ["mcp"]).text == after
