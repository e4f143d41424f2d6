"""Texts with YAML front matter: fields between two lines of ---, an empty line, then the body.

The body is not changed by a byte. Values are read as they are written: `no`, `12:30` and `2026-01-01` stay texts, and
only an empty value (or null) is None. Aliases are refused, size and depth limited: 306 bytes could otherwise take 1 GiB.
"""

import re
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import yaml

from omoide.errors import Unreadable

_SIZE = 10_000_000
_DEPTH = 20
_FENCE = "---"
# PyYAML without libyaml still works, more slowly.
_Parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Document(NamedTuple):
    fields: dict[str, Any]
    body: str


class _Loader(_Parser):  # type: ignore[misc]  # the C loader if there is one
    # YAML looks up by the first character what a plain value may be: here, a null or a text.
    yaml_implicit_resolvers: ClassVar = {
        first: [(tag, pattern) for tag, pattern in patterns if tag == "tag:yaml.org,2002:null"]
        for first, patterns in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, and those with line ends that YAML would change in double quotes."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT002 - the signature of PyYAML
        super().increase_indent(flow, indentless=False)  # lists are indented under their name


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = '"' if _ODD_ENDS.intersection(text) else "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_ODD_ENDS = frozenset("\r\x85\u2028\u2029\ufeff")
_Dumper.add_representer(str, _text)
_Dumper.add_representer(type(None), lambda dumper, _: dumper.represent_scalar("tag:yaml.org,2002:null", ""))


def render(fields: Mapping[str, Any], body: str, note: str = "") -> str:
    """Return the text of a document; `note` becomes comment lines above the fields."""
    comment = "".join(f"# {line}\n" for line in note.splitlines())
    return f"{_FENCE}\n{comment}{render_fields(fields)}{_FENCE}\n\n{body}\n"


def render_fields(fields: Mapping[str, Any]) -> str:
    """Return the lines of some fields, without the lines of --- around them."""
    if all(_to_plain(value) for value in fields.values()):  # fifty times faster than PyYAML, with the same bytes
        return "".join(map(_simple_line, fields, fields.values()))
    made: str = yaml.dump(dict(fields), Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=1_000_000)
    # PyYAML marks the end of the document after a text that ends with empty lines; here more may follow.
    return made.removesuffix("...\n") if made.endswith("\n...\n") else made


# Texts that every YAML reader takes for texts.
_WORDS = re.compile(r"[^\W\d_](?:[\w./ -]*[\w])?")
_NOT_WORDS = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf"))


def _to_plain(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(one, str) and _to_plain(one) for one in value)
    return isinstance(value, str) and _WORDS.fullmatch(value) is not None and value.lower() not in _NOT_WORDS


def _simple_line(name: str, value: str | list[str]) -> str:
    if isinstance(value, str):
        return f"{name}: {value}\n"
    return f"{name}:\n" + "".join(f"  - {one}\n" for one in value)


def parse(text: str) -> Document:
    """Return the fields and the body of a text; without front matter it is all body.

    Raises Unreadable for front matter that has no end, is no YAML, or exceeds the limits.
    """
    text = text.removeprefix("\ufeff")
    halves = split(text)
    if halves is None:
        return Document({}, text)
    head, below = halves
    ending = "\r\n" if text.partition("\n")[0].endswith("\r") else "\n"
    # The empty line above the body and the line end below it belong to the format, not to the text.
    return Document(_fields(head), below.removeprefix(ending).removesuffix(ending))


def split(text: str) -> tuple[str, str] | None:
    """Return what is between the two lines of ---, and what is below them; None if the text does not begin with one."""
    first, end, rest = text.partition("\n")
    return _split(rest) if first.rstrip() == _FENCE and end else None


def _split(rest: str) -> tuple[str, str]:
    """Return what is above the closing line of ---, and what is below it."""
    start = 0
    while start < len(rest):
        end = rest.find("\n", start)
        end = len(rest) if end < 0 else end
        if rest[start:end].rstrip() == _FENCE:
            return rest[:start], rest[end + 1 :]
        start = end + 1
    raise Unreadable("the front matter has no end: put a line of --- below the fields")


def _fields(head: str) -> dict[str, Any]:
    if len(head) > _SIZE:
        raise Unreadable(f"the front matter has {len(head):,} characters, at most {_SIZE:,}: put the text below it")
    try:
        _check_limits(head)
        fields = yaml.load(head, Loader=_Loader)  # noqa: S506 - a safe loader, made stricter
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 2}" if error.problem_mark else ""
        raise Unreadable(f"the front matter is not YAML{line}: {error.problem}") from error
    except (yaml.YAMLError, ValueError) as error:
        raise Unreadable(f"the front matter is not YAML: {' '.join(str(error).split())}") from error
    if fields is None:
        return {}
    if not isinstance(fields, dict) or not all(isinstance(name, str) for name in fields):
        raise Unreadable("the front matter should be lines of `name: value`")
    return fields


def _check_limits(head: str) -> None:
    """Raise Unreadable for aliases, too many levels and a name that is there twice, before any value is built."""
    depth, names, is_name = 0, set[str](), True
    for event in yaml.parse(head, Loader=_Parser):
        if isinstance(event, yaml.AliasEvent):
            raise Unreadable(f"the front matter has an alias (*{event.anchor}): write the value out")
        depth += _levels(event)
        if depth > _DEPTH:
            raise Unreadable(f"the front matter is nested deeper than {_DEPTH} levels: make it flat")
        if depth != 1:
            continue
        if not isinstance(event, yaml.ScalarEvent):
            is_name = True  # the fields begin, or a collection has ended, which was a value
            continue
        if is_name and event.value in names:
            raise Unreadable(f"the front matter has {event.value!r} twice: keep one")
        if is_name:
            names.add(event.value)
        is_name = not is_name


def _levels(event: yaml.Event) -> int:
    """By how many levels an event goes deeper."""
    if isinstance(event, yaml.CollectionStartEvent):
        return 1
    return -1 if isinstance(event, yaml.CollectionEndEvent) else 0
