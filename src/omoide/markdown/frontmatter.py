"""A text with YAML front matter: fields between two lines of ---, an empty line, then the body as it is.

The body survives byte for byte. Values are read as they are written: `no`, `12:30` and `2026-01-01` stay texts, and
only an empty value (or null) is None. Aliases are refused, size and depth capped: 306 bytes could else take 1 GiB.
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
    # By its first character YAML looks up what a plain value may be: here, a null or a text.
    yaml_implicit_resolvers: ClassVar = {
        first: [(tag, pattern) for tag, pattern in patterns if tag == "tag:yaml.org,2002:null"]
        for first, patterns in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


class _Dumper(yaml.SafeDumper):
    """Texts of several lines become blocks; those with line ends that YAML would not keep, double quotes."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT002 - PyYAML's names
        super().increase_indent(flow, indentless=False)  # lists stand under their name, indented


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = '"' if _ODD_ENDS.intersection(text) else "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_ODD_ENDS = frozenset("\r\x85\u2028\u2029\ufeff")
_Dumper.add_representer(str, _text)
_Dumper.add_representer(type(None), lambda dumper, _: dumper.represent_scalar("tag:yaml.org,2002:null", ""))


def render(fields: Mapping[str, Any], body: str, note: str = "") -> str:
    """The text of a document; `note` becomes comment lines above the fields."""
    comment = "".join(f"# {line}\n" for line in note.splitlines())
    return f"{_FENCE}\n{comment}{render_fields(fields)}{_FENCE}\n\n{body}\n"


def render_fields(fields: Mapping[str, Any]) -> str:
    """The lines of some fields, without a fence."""
    if all(_to_plain(value) for value in fields.values()):  # fifty times quicker than PyYAML, with the same bytes
        return "".join(map(_simple_line, fields, fields.values()))
    made: str = yaml.dump(dict(fields), Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=1_000_000)
    # Below a text that ends with empty lines PyYAML marks the end of all; here more may follow.
    return made.removesuffix("...\n") if made.endswith("\n...\n") else made


# Words that no YAML reader takes for anything else.
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
    """The fields and the body; a text without front matter is all body."""
    text = text.removeprefix("\ufeff")
    halves = split(text)
    if halves is None:
        return Document({}, text)
    head, below = halves
    ending = "\r\n" if text.partition("\n")[0].endswith("\r") else "\n"
    # The empty line above the body and the line end below it are the form's, not the text's.
    return Document(_fields(head), below.removeprefix(ending).removesuffix(ending))


def split(text: str) -> tuple[str, str] | None:
    """What stands between the fences, and what below them; None if the text does not begin with a fence."""
    first, end, rest = text.partition("\n")
    return _split(rest) if first.rstrip() == _FENCE and end else None


def _split(rest: str) -> tuple[str, str]:
    """What stands above the closing fence, and what below it."""
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
    """Refuses what could grow without measure, before anything is built from it, and a name that stands there twice."""
    depth, names, expecting = 0, set(), True
    for event in yaml.parse(head, Loader=_Parser):
        if isinstance(event, yaml.AliasEvent):
            raise Unreadable(f"the front matter holds an alias (*{event.anchor}): write the value out")
        if depth == 1 and isinstance(event, yaml.ScalarEvent) and expecting:
            if event.value in names:
                raise Unreadable(f"the front matter says {event.value!r} twice: keep one")
            names.add(event.value)
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _DEPTH:
                raise Unreadable(f"the front matter is nested deeper than {_DEPTH} levels: make it flat")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        else:
            expecting = not expecting if depth == 1 and isinstance(event, yaml.ScalarEvent) else expecting
            continue
        # A collection at the first level was a value: a name comes next.
        expecting = True if depth == 1 else expecting
