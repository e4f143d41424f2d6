"""Checks of the values of settings: each takes a string (a variable, a flag) or a value of TOML.

Each returns the value as `Settings` holds it, or raises ValueError with what is expected.
"""

import re
from collections.abc import Callable
from typing import Any

import msgspec

from omoide.errors import InvalidInput
from omoide.model import Role, require_source
from omoide.model.source import SOURCE_FORMS


def text(value: Any) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise ValueError("a string")
    return value


def choice(*values: str) -> Callable[[Any], str]:
    """Return a check for one of these values."""
    *others, last = (f'"{value}"' for value in values)

    def parse(value: Any) -> str:
        if value not in values:
            raise ValueError(f"{', '.join(others)} or {last}")
        return str(value)

    return parse


def boolean(value: Any) -> bool:
    """Return true or false, in any of their usual words."""
    words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    parsed = words.get(value.strip().lower()) if isinstance(value, str) else value
    if not isinstance(parsed, bool):
        raise ValueError("true or false")
    return parsed


def integer(minimum: int, maximum: int) -> Callable[[Any], int]:
    """Return a check for an integer within these bounds."""

    def parse(value: Any) -> int:
        try:
            number = int(value) if isinstance(value, (int, str)) and not isinstance(value, bool) else None
        except ValueError:  # refused below
            number = None
        if number is None or not minimum <= number <= maximum:
            raise ValueError(f"an integer from {minimum:,} to {maximum:,}")
        return number

    return parse


def run(value: Any) -> str:
    """Return the id of a run."""
    name = str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else " "
    if not re.fullmatch(r"[\w.:/#@+-]{0,200}", name):
        raise ValueError("the id of a run, of letters, digits and . : / # @ + - _")
    return name


def source(value: Any) -> str:
    """Return a source, in its text form; an empty one is none."""
    try:
        return str(require_source(text(value))) if value else ""
    except InvalidInput:
        raise ValueError(f"a source: {SOURCE_FORMS}") from None


def type(value: Any) -> str:
    """Return the name of a type."""
    name = text(value)
    if not re.fullmatch(r"[^\W_][\w-]{0,39}", name) or name != name.lower():
        raise ValueError("a type name of lower-case letters, digits and -")
    return name


def types(value: Any) -> tuple[str, ...]:
    """Return names of types; a string is split at commas."""
    names = [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value
    if not isinstance(names, list):
        raise ValueError('a list of type names, such as ["runbook", "persona"]')
    return tuple(type(name) for name in names)


def directory(value: Any) -> str:
    """Return a directory inside a repository."""
    parts = text(value).replace("\\", "/").rstrip("/").split("/")
    if any(part in ("", ".", "..", "~") for part in parts):
        raise ValueError("a directory inside a repository, such as .agent")
    return "/".join(parts)


def role(value: Any) -> Role:
    """Return a role."""
    try:
        return Role(value)
    except ValueError:
        raise ValueError(" or ".join(f'"{role}"' for role in Role)) from None


def agents(value: Any) -> dict[str, Role]:
    """Return the roles of agents by their ids."""
    if isinstance(value, str):
        value = dict(part.rpartition("=")[::2] for part in value.split(",") if part.strip())
    expected = 'names with their roles, such as planner = "admin", or in a variable planner=admin,builder=worker'
    if not isinstance(value, dict):
        raise ValueError(expected)
    roles: dict[str, Role] = {}
    for name, given in value.items():
        try:
            roles[" ".join(name.split())] = role(given.strip() if isinstance(given, str) else given)
        except ValueError:
            raise ValueError(expected) from None
    if "" in roles:
        raise ValueError(expected)
    return roles


def embedder(value: Any) -> str:
    """Return the name of an embedder."""
    name = text(value)
    if name in ("auto", "off", "bundled", "bundled+english", "fastembed") or re.fullmatch(
        r"fastembed:\S+|https?://[^\s#]+#\S+", name
    ):
        return name
    raise ValueError('"auto", "off", "bundled", "bundled+english", "fastembed:MODEL" or "http://host/v1#MODEL"')


def llm(value: Any) -> str:
    """Return the name of a language model."""
    name = text(value)
    if name in ("off", "claude") or re.fullmatch(r"(?:claude|anthropic|openai):[^\s#]+|https?://[^\s#]+#\S+", name):
        return name
    raise ValueError('"off", "claude", "claude:MODEL", "anthropic:MODEL", "openai:MODEL" or "http://host/v1#MODEL"')


def price(value: Any) -> tuple[float, float] | None:
    """Return the prices of a language model; None if there are none."""
    if value == "":
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)/(\d+(?:\.\d+)?)", text(value))
    if match is None:
        raise ValueError('US dollars for a million tokens, read and written, such as "1/5"')
    return float(match[1]), float(match[2])


def profiles(value: Any) -> dict[str, str]:
    """Return templates by their names; a string is JSON."""
    expected = 'names with their templates, such as builder = "You build …", or in a variable the same as JSON'
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value or "{}")
        except msgspec.DecodeError:
            raise ValueError(expected) from None
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise ValueError(expected)
    return dict(value)


def share(value: Any) -> float:
    """Return a number from 0 to 1."""
    try:
        number = float(value)
    except (TypeError, ValueError):  # refused below
        number = -1
    if isinstance(value, bool) or not 0 <= number <= 1:
        raise ValueError("a number from 0 to 1")
    return number


def seconds(value: Any) -> float:
    """Return a number of seconds."""
    try:
        seconds = float(value)
    except (TypeError, ValueError):  # refused below
        seconds = -1
    if not 0 <= seconds <= 3600:
        raise ValueError("a number of seconds from 0 to 3600")
    return seconds


def hook_seconds(value: Any) -> float:
    """Return how long a hook may take."""
    try:
        number = seconds(value)
    except ValueError:  # refused below
        number = 0.0
    if not 0.2 <= number <= 60:
        raise ValueError("a number of seconds from 0.2 to 60")
    return number
