"""The normal form of code in a Markdown text: what is left of it when what a formatter may change is set aside. Pure.

prettier formats code of some languages inside Markdown. What it leaves alone counts: names and their case, the texts of
strings, and the structure of data. Of other languages only white space that says nothing is set aside.
"""

import re
from collections.abc import Sequence
from textwrap import dedent

_JSON = frozenset(["json", "jsonc"])
_YAML = frozenset(["yaml", "yml"])
_SCRIPTS = frozenset(
    ["js", "jsx", "mjs", "cjs", "ts", "tsx", "javascript", "typescript", "json5", "graphql", "gql"],
)
_MARKUP = frozenset(["css", "scss", "less", "html", "vue"])
"""Languages in which upper and lower case are the same in many places, so that prettier changes it."""

_PROMPT = re.compile(r"^(\s*)\$ ")
_OPTIONAL = re.compile(r"\((?=\w+\)\s*=>)|(?<=\w)\)(?=\s*=>)|/(?=>)")
"""The parentheses of a single parameter, and the end of an empty element."""
_MARKUP_TOKEN = re.compile(r"\w+|[^\w\s;,'\"]")
_JSON_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|[\w.+-]+|[^\w\s]')
_SCRIPT_TOKEN = re.compile(
    r"""(?P<text>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")|(?P<template>`(?:\\.|[^`\\])*`)|[\w$]+|[^\w\s;,]"""
)
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
_QUOTE_ESCAPE = re.compile(r"""\\(['"])""")
_YAML_COMMENT = re.compile(r"(?:^|\s)(#.*)$", re.MULTILINE)


def code_form(language: str, lines: Sequence[str]) -> str:
    """Return the normal form of a piece of code."""
    name = language.lower()
    code = dedent("\n".join(lines))
    if name in _JSON:
        return " ".join(_JSON_TOKEN.findall(_TRAILING_COMMA.sub("", code)))
    if name in _YAML:
        return _yaml_form(code) or _lines_form(lines)
    if name in _SCRIPTS:
        return " ".join(_script_token(found) for found in _SCRIPT_TOKEN.finditer(_OPTIONAL.sub("", code)))
    if name in _MARKUP:
        return " ".join(_MARKUP_TOKEN.findall(_OPTIONAL.sub("", code).casefold()))
    return _lines_form(lines)


def _script_token(found: re.Match[str]) -> str:
    """A token without the quotes that a name may have as a key, and with the digits of a number in lower case."""
    token = found[0]
    if found["template"]:
        return token
    if found["text"]:
        text = _QUOTE_ESCAPE.sub(r"\1", token[1:-1])
        return text if _NAME.fullmatch(text) else f'"{text}"'
    return token.lower() if token[0].isdigit() else token


def _yaml_form(code: str) -> str:
    """The structure, the values and the comments of YAML; empty if it cannot be parsed: then prettier leaves it alone."""
    import yaml  # lazy: 15 ms that only code in YAML needs

    parts: list[str] = []
    try:
        for event in yaml.parse(code, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            parts += [type(event).__name__, getattr(event, "anchor", None) or "", getattr(event, "tag", None) or ""]
            if isinstance(event, yaml.ScalarEvent):
                parts.append(" ".join(event.value.split()) if event.style == ">" else event.value)
                # A number in quotes is another value, whichever quotes they are.
                parts.append("plain" if event.implicit[0] else event.style if event.style in ("|", ">") else "quoted")
    except (yaml.YAMLError, ValueError):  # fallback: its lines
        return ""
    comments = (" ".join(found.split()) for found in _YAML_COMMENT.findall(code))
    return " ".join(filter(None, (*parts, *comments)))


def _lines_form(lines: Sequence[str]) -> str:
    """The lines of code that no formatter knows: how far they are indented counts only in comparison with each other."""
    lines = [_PROMPT.sub(r"\1", line.replace("\t", " ").rstrip()) for line in lines]
    depths = sorted({len(line) - len(line.lstrip()) for line in lines if line})
    ranks = {depth: rank for rank, depth in enumerate(depths)}
    return "\n".join(" " * ranks[len(line) - len(line.lstrip())] + line.lstrip() if line else "" for line in lines)
