"""Settings: defaults, then config.toml, then OMOIDE_* variables, then flags; checked once, each knowing its origin."""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from omoide.errors import Unreadable
from omoide.model import TYPES, Role


class Settings(msgspec.Struct, frozen=True):
    store: str
    project: str
    actor: str
    run: str
    type: str
    types: tuple[str, ...]
    secrets: str
    max_content: int
    limit: int
    wait: float
    role: Role
    agents: dict[str, Role]
    workers_global: bool
    ttl_days: int
    max_entries: int
    retire: str
    max_backups: int
    memories_enabled: bool
    memories_inject: str
    embedder: str
    embedder_key: str
    autotag: str
    origins: dict[str, str] = {}
    """Where each value came from, in words."""

    @property
    def all_types(self) -> tuple[str, ...]:
        return TYPES + self.types


class Setting(NamedTuple):
    name: str
    help: str
    default: Callable[[], Any]
    read: Callable[[Any], Any]
    """The checked value, from text (a variable, a flag) or TOML; raises ValueError with what is expected."""
    also: tuple[str, ...] = ()
    """Variables of other programs that mean the same, for those who come from there."""

    @property
    def variable(self) -> str:
        return f"OMOIDE_{self.name.upper()}"

    def variable_in(self, environment: Mapping[str, str]) -> str | None:
        """The variable that tells, ours first; one of another program that is empty tells nothing."""
        if environment.get(self.variable) is not None:
            return self.variable
        return next((name for name in self.also if environment.get(name)), None)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a text in quotes")
    return value


def _run(value: Any) -> str:
    name = str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else " "
    if not re.fullmatch(r"[\w.:/#@+-]{0,200}", name):
        raise ValueError("the id of a run: letters, digits and . : / # @ + - _")
    return name


def _path(value: Any) -> str:
    return str(Path(_text(value)).expanduser().absolute()) if value else _store()


def _type(value: Any) -> str:
    name = _text(value)
    if not re.fullmatch(r"[^\W_][\w-]{0,39}", name) or name != name.lower():
        raise ValueError("a type name in small letters, digits and -")
    return name


def _types(value: Any) -> tuple[str, ...]:
    names = [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value
    if not isinstance(names, list):
        raise ValueError('a list of type names, such as ["runbook", "persona"]')
    return tuple(_type(name) for name in names)


def _secrets(value: Any) -> str:
    if value not in ("refuse", "redact"):
        raise ValueError('"refuse" or "redact"')
    return str(value)


def _role(value: Any) -> Role:
    try:
        return Role(value)
    except ValueError:
        raise ValueError(" or ".join(f'"{role}"' for role in Role)) from None


def _agents(value: Any) -> dict[str, Role]:
    if isinstance(value, str):
        value = dict(part.rpartition("=")[::2] for part in value.split(",") if part.strip())
    wanted = 'names with their roles: planner = "admin", or in a variable planner=admin,builder=worker'
    if not isinstance(value, dict):
        raise ValueError(wanted)
    agents: dict[str, Role] = {}
    for name, role in value.items():
        try:
            agents[" ".join(name.split())] = _role(role.strip() if isinstance(role, str) else role)
        except ValueError:
            raise ValueError(wanted) from None
    if "" in agents:
        raise ValueError(wanted)
    return agents


def _retire(value: Any) -> str:
    if value not in ("auto", "manual"):
        raise ValueError('"auto" or "manual"')
    return str(value)


def _boolean(value: Any) -> bool:
    words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    truth = words.get(value.strip().lower()) if isinstance(value, str) else value
    if not isinstance(truth, bool):
        raise ValueError("true or false")
    return truth


def _inject(value: Any) -> str:
    if value not in ("auto", "manual", "none"):
        raise ValueError('"auto", "manual" or "none"')
    return str(value)


def _embedder(value: Any) -> str:
    name = _text(value)
    if name in ("auto", "off", "bundled", "fastembed") or re.fullmatch(r"fastembed:\S+|https?://[^\s#]+#\S+", name):
        return name
    raise ValueError('"auto", "off", "bundled", "fastembed:MODEL" or "http://host/v1#MODEL"')


def _autotag(value: Any) -> str:
    if value not in ("off", "suggest", "apply"):
        raise ValueError('"off", "suggest" or "apply"')
    return str(value)


def _integer(least: int, most: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        try:
            number = int(value) if isinstance(value, (int, str)) and not isinstance(value, bool) else None
        except ValueError:
            number = None
        if number is None or not least <= number <= most:
            raise ValueError(f"a whole number from {least:,} to {most:,}")
        return number

    return read


def _seconds(value: Any) -> float:
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = -1
    if not 0 <= seconds <= 3600:
        raise ValueError("seconds from 0 to 3600")
    return seconds


def _store() -> str:
    import platformdirs  # noqa: PLC0415 - 5 ms that only the default place needs

    return str(Path(platformdirs.user_data_dir("omoide")) / "memory.db")


def _login() -> str:
    return os.environ.get("USER") or os.environ.get("USERNAME") or "owner"


SETTINGS = (
    Setting("store", "the database file", _store, _path),
    Setting("project", "the project to work in; empty: found from the git root of the working directory", str, _text),
    Setting("actor", "who acts, as it stands in the event history", _login, _text),
    Setting("run", "the run of an agent that what is remembered comes from, where nothing else is said", str, _run),
    Setting("type", "the type of a memory that names none", lambda: "note", _type),
    Setting("types", "type names of your own, beside the built-in ones", tuple, _types),
    Setting("secrets", 'what to do with a credential in a text: "refuse" it or "redact" it', lambda: "refuse", _secrets),
    Setting("max_content", "the largest content of a memory, in bytes", lambda: 1_000_000, _integer(1_000, 100_000_000)),
    Setting("limit", "how many memories recall and list answer", lambda: 10, _integer(1, 1_000)),
    Setting("wait", "how long to wait for another writer, in seconds", lambda: 30.0, _seconds),
    Setting("role", "the role of this process: owner, admin or worker", lambda: Role.OWNER, _role),
    Setting("agents", "the role of each agent that names itself; all others are workers", dict, _agents),
    Setting("workers_global", "whether workers may write to the global layer", lambda: True, _boolean),
    Setting(
        "ttl_days", "after so many days without use a memory is archived; 0: never", lambda: 90, _integer(0, 36_500),
        ("MCP_MEMORY_TTL_DAYS",),
    ),
    Setting(
        "max_entries", "so many memories a layer may hold before the longest unused are archived; 0: any number",
        lambda: 1_000, _integer(0, 1_000_000_000), ("MCP_MEMORY_MAX_ENTRIES",),
    ),
    Setting(
        "max_backups", "so many backups of a project, and of a file that omoide rewrites, are kept", lambda: 5,
        _integer(1, 1_000),
    ),
    Setting("retire", '"auto": archive by itself, once a day; "manual": only `omoide retire` does', lambda: "auto", _retire),
    Setting("memories_enabled", "whether `omoide memories` works with .agent/memories.md", lambda: True, _boolean),
    Setting(
        "memories_inject", 'whether `omoide memories inject` prints: "auto", "manual" (when asked to), "none"',
        lambda: "auto", _inject,
    ),
    Setting(
        "embedder", 'what makes vectors: "auto", "off", "bundled", "fastembed:MODEL" or "http://host/v1#MODEL"',
        lambda: "auto", _embedder,
    ),
    Setting("embedder_key", "the key for an embedder behind http", str, _text),
    Setting("autotag", 'tags from the text itself: "off", "suggest" or "apply"', lambda: "off", _autotag),
)  # fmt: skip


def config_file(environment: Mapping[str, str] = os.environ) -> Path:
    if environment.get("OMOIDE_CONFIG"):
        return Path(environment["OMOIDE_CONFIG"]).expanduser()
    import platformdirs  # noqa: PLC0415 - see _store

    return Path(platformdirs.user_config_dir("omoide")) / "config.toml"


def load_settings(flags: Mapping[str, Any] | None = None, environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings in force. A value that cannot be used is an error that says where it stands and what is expected."""
    file = config_file(environment)
    table, text = _table(file)
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for setting in SETTINGS:
        raw: Any = None
        if (flags or {}).get(setting.name) is not None:
            raw, origin = (flags or {})[setting.name], "flag"
        elif (variable := setting.variable_in(environment)) is not None:
            raw, origin = environment[variable], variable
        elif setting.name in table:
            raw, origin = table[setting.name], f"{file}, line {_line_of(text, setting.name)}"
        else:
            values[setting.name], origins[setting.name] = setting.default(), "default"
            continue
        try:
            values[setting.name] = setting.read(raw)
        except ValueError as error:
            raise Unreadable(f"{origin}: {setting.name} is {raw!r}, but should be {error}") from error
        origins[setting.name] = origin
    return Settings(**values, origins=origins)


def _table(file: Path) -> tuple[dict[str, Any], str]:
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}, ""
    except (OSError, UnicodeDecodeError) as error:
        raise Unreadable(f"{file} cannot be read ({error}): mend it, or name another with OMOIDE_CONFIG") from error
    import tomllib  # noqa: PLC0415 - most people have no file

    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Unreadable(f"{file} is not TOML: {error}") from error
    unknown = sorted(set(table) - {setting.name for setting in SETTINGS})
    if unknown:
        names = ", ".join(setting.name for setting in SETTINGS)
        line = _line_of(text, unknown[0])
        raise Unreadable(f"{file}, line {line}: there is no setting {unknown[0]!r}: the settings are {names}")
    return table, text


def _line_of(text: str, name: str) -> int:
    """Where a top-level name stands; tomllib does not say."""
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(rf"""\s*\[?["']?{re.escape(name)}["']?\s*[=\].]""", line):
            return number
    return 1
