"""Settings from defaults, config.toml, OMOIDE_* variables and flags, in this order; checked once, each with its origin."""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from omoide import setting_values
from omoide.errors import Unreadable
from omoide.model import TYPES, Layout, Role
from omoide.setting_values import boolean as _boolean, choice as _choice, integer as _integer
from omoide.user_directories import config_directory, default_store

Documented = TypeVar("Documented")


class Setting(msgspec.Struct, frozen=True):
    """One row of the table of settings."""

    name: str
    description: str
    default: Callable[[], Any]
    parse: Callable[[Any], Any]
    """Return the checked value of a string (a variable, a flag) or of TOML; raise ValueError with what is expected."""
    aliases: tuple[str, ...] = ()
    """Variables of other programs with the same meaning."""

    @property
    def variable(self) -> str:
        """The environment variable."""
        return f"OMOIDE_{self.name.upper()}"

    def variable_in(self, environment: Mapping[str, str]) -> str | None:
        """Return the variable that is set, omoide's first, or None. An empty alias counts as not set."""
        if environment.get(self.variable) is not None:
            return self.variable
        return next((name for name in self.aliases if environment.get(name)), None)


def _path(value: Any) -> str:
    return str(Path(setting_values.text(value)).expanduser().absolute()) if value else default_store()


def _tree_root(value: Any) -> str:
    return value if value in ("", "off") else str(Path(setting_values.text(value)).expanduser().absolute())


def _login() -> str:
    return os.environ.get("USER") or os.environ.get("USERNAME") or "owner"


SETTINGS = (
    Setting("store", "the database file", default_store, _path),
    Setting(
        "tree_root",
        'the directory of the projects\' trees; empty: `projects` beside the store; "off": no trees',
        str,
        _tree_root,
    ),
    Setting(
        "project",
        "the project to work in; empty: that of the git repository of the working directory",
        str,
        setting_values.text,
    ),
    Setting("actor", "the name of the actor in the event history", _login, setting_values.text),
    Setting(
        "run", "the id of the agent's run, stored with each memory unless a call gives another", str, setting_values.run
    ),
    Setting(
        "source",
        "where the actions of this process come from, such as slack:C123/1700000000.0001; empty: its interface",
        str,
        setting_values.source,
    ),
    Setting("type", "the type of a memory that is given none", lambda: "note", setting_values.type),
    Setting("types", "names of your own types, in addition to the built-in ones", tuple, setting_values.types),
    Setting(
        "secrets",
        'what to do with a credential in a text: "refuse" the text or "redact" the credential',
        lambda: "refuse",
        _choice("refuse", "redact"),
    ),
    Setting("max_content", "the maximum size of a content, in bytes", lambda: 1_000_000, _integer(1_000, 100_000_000)),
    Setting("limit", "how many memories recall and list return", lambda: 10, _integer(1, 1_000)),
    Setting("compose_limit", "how many memories a composed prompt contains at most", lambda: 10, _integer(0, 1_000)),
    Setting(
        "budget_bytes",
        "the maximum size of a composed prompt, in bytes; 0: no limit",
        lambda: 200_000,
        _integer(0, 1_000_000_000),
    ),
    Setting(
        "budget_tokens",
        "the maximum size of a composed prompt, in estimated tokens; 0: no limit",
        lambda: 0,
        _integer(0, 1_000_000_000),
    ),
    Setting(
        "select",
        'what ranks the memories of a prompt: "relevance", or "task": how well they match the task\'s text, then relevance',
        lambda: "relevance",
        _choice("relevance", "task"),
    ),
    Setting(
        "holdout",
        "the share of runs that are composed without memories, from 0 to 1, to compare their outcomes",
        lambda: 0.0,
        setting_values.share,
    ),
    Setting(
        "prompt_layout",
        'how `omoide before` and `omoide run` lay out a prompt: "sections", "list" (the list of the repository before the'
        ' message) or "project" (the block of the project after it)',
        lambda: "sections",
        _choice("sections", "list", "project"),
    ),
    Setting("learn_relevance", "whether outcomes of runs move the relevance of memories", lambda: True, _boolean),
    Setting(
        "max_injection_size",
        "the maximum size of the block of a project in a prompt, in bytes; 0: no limit",
        lambda: 20_000,
        _integer(0, 1_000_000_000),
    ),
    Setting("profiles", "named templates for the section Role of a composed prompt", dict, setting_values.profiles),
    Setting(
        "min_score",
        "recall returns nothing if its best hit scores less; 0: never",
        lambda: 0.02,
        setting_values.share,
    ),
    Setting(
        "inject_min_score",
        "no memories are added to a prompt automatically if the best hit scores less",
        lambda: 0.25,
        setting_values.share,
    ),
    Setting(
        "inject_tokens",
        "how many tokens of memories a hook adds to a prompt at most, as estimated",
        lambda: 1_000,
        _integer(0, 100_000),
    ),
    Setting(
        "inject_start_tokens",
        "how many tokens of memories a hook adds at the start of a session at most, as estimated",
        lambda: 2_000,
        _integer(0, 100_000),
    ),
    Setting(
        "hook_seconds",
        "how long a hook of an agent may take, in seconds, before its process ends itself without an answer",
        lambda: 0.85,
        setting_values.hook_seconds,
    ),
    Setting(
        "learn_from_sessions",
        "whether the hooks of agents leave conversations in an inbox that is learnt from",
        lambda: True,
        _boolean,
    ),
    Setting("wait", "how long to wait for another process that writes, in seconds", lambda: 30.0, setting_values.seconds),
    Setting("role", "the role of this process: owner, admin or worker", lambda: Role.OWNER, setting_values.role),
    Setting("agents", "the role of each agent, by the id it gives; all others are workers", dict, setting_values.agents),
    Setting("workers_global", "whether workers may write to the global layer", lambda: True, _boolean),
    Setting(
        "ttl_days",
        "archive a memory after this many days without use; 0: never",
        lambda: 90,
        _integer(0, 36_500),
        ("MCP_MEMORY_TTL_DAYS",),
    ),
    Setting(
        "max_entries",
        "archive the longest unused memories of a layer that has more than this many; 0: no limit",
        lambda: 1_000,
        _integer(0, 1_000_000_000),
        ("MCP_MEMORY_MAX_ENTRIES",),
    ),
    Setting(
        "max_backups",
        "how many backups to keep of a project, and of a file that omoide rewrites",
        lambda: 5,
        _integer(1, 1_000),
    ),
    Setting(
        "summarize_threshold",
        "a project is due for a summary if MEMORY.md and its sessions are larger than this, in bytes; 0: never",
        lambda: 50_000,
        _integer(0, 1_000_000_000),
    ),
    Setting(
        "summarize_types",
        "the types of the entries that a summary replaces; all others stay as they are",
        lambda: ("note", "activity"),
        setting_values.types,
    ),
    Setting(
        "retire",
        '"auto": archive memories that are due once a day; "manual": only `omoide retire` does',
        lambda: "auto",
        _choice("auto", "manual"),
    ),
    Setting("memories_enabled", "whether `omoide memories` works with the list of the repository", lambda: True, _boolean),
    Setting(
        "memories_inject",
        'when `omoide memories inject` prints: "auto" (always), "manual" (only with --manual) or "none"',
        lambda: "auto",
        _choice("auto", "manual", "none"),
    ),
    Setting(
        "memories_directory",
        "the directory of a repository that contains its list, memories.md, and its own settings, config.toml",
        lambda: ".agent",
        setting_values.directory,
    ),
    Setting(
        "file_confidence",
        "the confidence of entries that the first sync of an existing file imports, 0 to 1",
        lambda: 0.7,
        setting_values.share,
    ),
    Setting(
        "embedder",
        'what computes vectors: "auto", "off", "bundled", "bundled+english", "fastembed:MODEL" or "http://host/v1#MODEL"',
        lambda: "auto",
        setting_values.embedder,
    ),
    Setting("embedder_key", "the API key of an embedder over HTTP", str, setting_values.text),
    Setting(
        "autotag",
        'tags from the text of a memory: "off", "suggest" or "apply"',
        lambda: "off",
        _choice("off", "suggest", "apply"),
    ),
    Setting(
        "llm",
        'the language model: "off", "claude", "claude:MODEL", "anthropic:MODEL", "openai:MODEL" or "http://host/v1#MODEL"',
        lambda: "off",
        setting_values.llm,
    ),
    Setting("llm_key", "the API key of the language model; empty: that of the environment", str, setting_values.text),
    Setting("llm_timeout", "how long to wait for the language model, in seconds", lambda: 60.0, setting_values.seconds),
    Setting(
        "llm_daily_tokens",
        "how many tokens of the language model to use in a day, read and written; 0: no limit",
        lambda: 200_000,
        _integer(0, 1_000_000_000),
    ),
    Setting(
        "llm_price",
        'the price of the language model, in US dollars for a million tokens read/written, such as "1/5"; empty: unknown',
        lambda: None,
        setting_values.price,
    ),
)
"""Every setting. `Settings`, the docstring of `omoide.open`, `omoide config` and docs/settings.md name the same ones."""


def add_setting_list(documented: Documented) -> Documented:
    """Append a line for each setting to a docstring: decorate what takes or holds all of them."""
    lines = [f"    {setting.name}: {setting.description}" for setting in SETTINGS]
    documented.__doc__ = "\n".join([(documented.__doc__ or "").rstrip(), "", "    Settings:", "", *lines, "    "])
    return documented


@add_setting_list
class Settings(msgspec.Struct, frozen=True):
    """The settings in force, checked. Load them with `load_settings`; `origins` says where each value comes from."""

    store: str
    tree_root: str
    project: str
    actor: str
    run: str
    source: str
    type: str
    types: tuple[str, ...]
    secrets: str
    max_content: int
    limit: int
    compose_limit: int
    budget_bytes: int
    budget_tokens: int
    select: str
    holdout: float
    prompt_layout: Layout
    learn_relevance: bool
    max_injection_size: int
    profiles: dict[str, str]
    min_score: float
    inject_min_score: float
    inject_tokens: int
    inject_start_tokens: int
    hook_seconds: float
    learn_from_sessions: bool
    wait: float
    role: Role
    agents: dict[str, Role]
    workers_global: bool
    ttl_days: int
    max_entries: int
    retire: str
    max_backups: int
    summarize_threshold: int
    summarize_types: tuple[str, ...]
    memories_enabled: bool
    memories_inject: str
    file_confidence: float
    memories_directory: str
    embedder: str
    embedder_key: str
    autotag: str
    llm: str
    llm_key: str
    llm_timeout: float
    llm_daily_tokens: int
    llm_price: tuple[float, float] | None
    origins: dict[str, str] = {}

    @property
    def tree_directory(self) -> Path | None:
        """The directory of the projects' trees; None: there are none."""
        if self.tree_root:
            return None if self.tree_root == "off" else Path(self.tree_root)
        store = Path(self.store)
        # Not `memory`: `mirror add --entries --global` has its files there.
        return store.with_name("projects" if store.name == "memory.db" else f"{store.name}.projects")

    @property
    def all_types(self) -> tuple[str, ...]:
        """The built-in types and your own."""
        return TYPES + self.types


def config_file(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the path of config.toml, which need not exist."""
    if environment.get("OMOIDE_CONFIG"):
        return Path(environment["OMOIDE_CONFIG"]).expanduser()
    return config_directory() / "config.toml"


def load_settings(flags: Mapping[str, Any] | None = None, environment: Mapping[str, str] = os.environ) -> Settings:
    """Load the settings: each from `flags`, else its environment variable, else config.toml, else its default.

    Raise Unreadable, with the origin, for a value that is not valid and for a name that is no setting.
    """
    flags = flags or {}
    _check_names(flags, "flag")
    file = config_file(environment)
    table, text = _read_config(file)
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for setting in SETTINGS:
        raw: Any = None
        if flags.get(setting.name) is not None:
            raw, origin = flags[setting.name], "flag"
        elif (variable := setting.variable_in(environment)) is not None:
            raw, origin = environment[variable], variable
        elif setting.name in table:
            raw, origin = table[setting.name], f"{file}, line {_line_of(text, setting.name)}"
        else:
            values[setting.name], origins[setting.name] = setting.default(), "default"
            continue
        values[setting.name] = _parse_value(setting.parse, raw, f"{origin}: {setting.name}")
        origins[setting.name] = origin
    return Settings(**values, origins=origins)


REPOSITORY_TABLE = "memories"
REPOSITORY_KEYS = {"enabled": "memories_enabled", "inject": "memories_inject"}
"""What the file of a repository may set, in its table `memories`: nothing that reaches beyond the repository's own list."""


def override_for_repository(settings: Settings, text: str, file: Path) -> tuple[Settings, list[str]]:
    """Return the settings with what the file of a repository sets, and a warning for each of its names that has no meaning.

    It overrides what the user has set, except by a flag. Raise Unreadable, with the file, if it is not valid TOML or a value
    is not valid.
    """
    table = _parse_toml(text, file)
    warnings = [_not_for_repositories(file, name) for name in table if name != REPOSITORY_TABLE]
    given = table.get(REPOSITORY_TABLE, {})
    if not isinstance(given, dict):
        raise Unreadable(
            f"{file}: {REPOSITORY_TABLE} must be a table, got {given!r}: write [{REPOSITORY_TABLE}] above its lines"
        )
    warnings += [_not_for_repositories(file, f"{REPOSITORY_TABLE}.{key}") for key in given if key not in REPOSITORY_KEYS]
    parsers = {setting.name: setting.parse for setting in SETTINGS}
    changed: dict[str, Any] = {"origins": dict(settings.origins)}
    for key, name in REPOSITORY_KEYS.items():
        if key in given and settings.origins.get(name) != "flag":
            origin = f"{file}, line {_line_of(text, key)}"
            changed[name] = _parse_value(parsers[name], given[key], f"{origin}: {key}")
            changed["origins"][name] = origin
    return msgspec.structs.replace(settings, **changed), warnings


def _not_for_repositories(file: Path, name: str) -> str:
    known = " and ".join(f"{REPOSITORY_TABLE}.{key}" for key in REPOSITORY_KEYS)
    return f"{file}: {name} is ignored: a repository can set only {known}"


def _parse_value(parse: Callable[[Any], Any], raw: Any, what: str) -> Any:
    try:
        return parse(raw)
    except ValueError as error:
        raise Unreadable(f"{what} must be {error}, got {raw!r}") from error


def _read_config(file: Path) -> tuple[dict[str, Any], str]:
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}, ""
    except (OSError, UnicodeDecodeError) as error:
        raise Unreadable(f"cannot read {file} ({error}): repair it, or name another file with OMOIDE_CONFIG") from error
    table = _parse_toml(text, file)
    for name in table:
        _check_names([name], f"{file}, line {_line_of(text, name)}")
    return table, text


def _parse_toml(text: str, file: Path) -> dict[str, Any]:
    import tomllib  # lazy: start-up: most users have no file

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Unreadable(f"{file} is not valid TOML: {error}") from error


def _check_names(names: Iterable[str], origin: str) -> None:
    known = [setting.name for setting in SETTINGS]
    for name in names:
        if name not in known:
            raise Unreadable(f"{origin}: there is no setting {name!r}: use one of {', '.join(known)}")


def _line_of(text: str, name: str) -> int:
    """Return the line of a top-level name, which tomllib does not tell."""
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(rf"""\s*\[?["']?{re.escape(name)}["']?\s*[=\].]""", line):
            return number
    return 1
