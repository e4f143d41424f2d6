"""Checks of everything that is stored: each returns the value as it will be stored, or raises what to change.

The rules, for every interface:
- Content, original prompt and examples are stored byte for byte. Only NUL and lone surrogates are refused (no database or
  file could hold them), and texts over `max_content` bytes.
- Topic, source and tags are single lines: white space is folded; control characters and those that change the direction of
  text are refused, because they could make a list show something else than it contains.
- No stored text contains a secret. Texts and lines are refused or redacted, depending on the settings; names (keys,
  projects, sessions, agents, paths of files) are always refused, because a redacted name would be another one.
- Words that only look different (NFC or NFD, full or half width, upper or lower case) are stored as they were written; the
  index treats them as the same.
"""

import functools
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec

from omoide.errors import InvalidInput, SecretFound
from omoide.guard import secrets
from omoide.model import CONTROL, Actor, Draft, Memory, Scope, State, Task, check_segment, derive_topic, fields
from omoide.settings import Settings

_LINE_LENGTH = 500
_TAG_LENGTH = 200
_TAGS = 100
_EXAMPLES = 100
_LARGEST_LIMIT = 1_000_000

T = TypeVar("T")


def check_draft(draft: Draft, settings: Settings) -> Draft:
    """Return the draft as it will be stored: texts folded or redacted where the rules say so.

    Raises InvalidInput for a missing scope or a value that breaks a rule, SecretFound for a secret.
    """
    check_scope(scope_of(draft))
    changed: dict[str, Any] = {}
    name = ""
    try:
        for name, check, default in _DRAFT_CHECKS:
            value = getattr(draft, name)
            if value is not default:
                checked = check(value, name, settings)
                if checked is not value:
                    changed[name] = checked
    except InvalidInput as error:
        error.field = name
        raise
    return msgspec.structs.replace(draft, **changed) if changed else draft


def check_memory(memory: Memory, settings: Settings) -> Memory:
    """Return a memory from another store as it will be stored here; a derived topic follows the checked content.

    Raises InvalidInput for a value that breaks a rule, SecretFound for a secret.
    """
    values = msgspec.structs.asdict(memory)
    if not memory.topic_given:
        values["topic"] = None
    checked = check_fields(values, settings)
    if not memory.topic_given:
        checked["topic"] = derive_topic(checked["content"])
    return Memory(**checked)


def check_fields(values: Mapping[str, Any], settings: Settings, allowed: Collection[str] = fields.NAMES) -> dict[str, Any]:
    """Return the values of these fields as they will be stored.

    Raises InvalidInput for a name that is no field, one that is not among the `allowed`, and a value that breaks a
    rule; SecretFound for a secret. None is let through where a memory can be without the field.
    """
    checked: dict[str, Any] = {}
    for name, value in values.items():
        field = fields.get(name)
        if name not in allowed:
            raise InvalidInput(f"{name} cannot be set here: what can be set is {', '.join(allowed)}")
        if value is None and field.optional:
            checked[name] = None
            continue
        try:
            checked[name] = _CHECKS[field.kind](value, name, settings)
        except InvalidInput as error:
            error.field = name
            raise
    return checked


def scope_of(draft: Draft) -> Scope:
    """Return the scope of a draft; raise InvalidInput if it has none."""
    if draft.scope is None:
        raise InvalidInput("the scope is missing: give Scope.everywhere(), Scope.project(…) or Scope.session(…)")
    return draft.scope


def check_key(text: str) -> str:
    return check_name(check_segment(_require(text, str, "key"), "key"), "key")


def check_scope(place: Scope) -> Scope:
    """Return the scope; raise SecretFound if the name of its project or session contains a secret."""
    if place.path:
        check_name(place.path, "project")
    if place.name:
        check_name(place.name, "session")
    return place


def check_session_scope(place: Scope) -> Scope:
    """Return a scope whose session may come from the name of a file; raise InvalidInput if that is no valid name."""
    _require(place, Scope, "scope")
    return check_scope(Scope.session(place.path, place.name) if place.name else place)


def check_actor(who: Actor) -> Actor:
    _require(who, Actor, "author")
    _refuse_control(check_name(who.name, "name of the agent"), "name of the agent")
    return who


def check_name(text: str, what: str) -> str:
    """Return the name; raise SecretFound if it contains a secret, whatever the settings are. `what` is for the message."""
    kind = secret_in(_require(text, str, what))
    if kind:
        raise SecretFound(f"the {what} seems to hold a secret ({kind}): choose a name without it")
    return text


@functools.lru_cache(maxsize=1024)
def secret_in(text: str) -> str:
    """Return the kind of the first secret in a name, or an empty text. Cached: every write has the same few names."""
    return next((secret.kind for secret in secrets.find(text)), "")


def check_content(text: str, settings: Settings, what: str = "content") -> str:
    if not isinstance(text, str):
        raise InvalidInput(f"{what} should be a text, not {type(text).__name__}")
    if not text or text.isspace():
        raise InvalidInput(f"the {what} is empty: give it a text")
    return _check_text(text, what, settings)


def check_examples(texts: Sequence[str], settings: Settings) -> tuple[str, ...]:
    if not texts:
        return ()
    if isinstance(texts, str) or not isinstance(texts, Collection) or len(texts) > _EXAMPLES:
        raise InvalidInput(f"examples should be a list of at most {_EXAMPLES} texts")
    return tuple(_check_text(text, "example", settings) for text in texts)


def check_task(task: Task, settings: Settings) -> Task:
    """Return a task as it will be rendered, and stored with its run: each text checked as a content is, but may be empty."""
    _require(task, Task, "task")
    checked: dict[str, Any] = {}
    for name in Task.__struct_fields__:
        value, what = getattr(task, name), f"task's {name}"
        if isinstance(getattr(_EMPTY_TASK, name), str):
            checked[name] = _check_text(value, what, settings)
        elif isinstance(value, str) or not isinstance(value, Collection):
            raise InvalidInput(f"the {what} should be a list of texts, got {value!r:.100}")
        else:
            checked[name] = tuple(_check_text(text, what, settings) for text in value)
    return Task(**checked)


_EMPTY_TASK = Task()


def check_note(text: str, settings: Settings) -> str:
    """Return a note about a run: a text that may be empty."""
    return _check_text(text, "note", settings)


def check_line(text: str, what: str, settings: Settings) -> str:
    """Return a text as a single line, white space folded."""
    folded = " ".join(_check_text(text, what, settings).split())
    if not folded:
        raise InvalidInput(f"the {what} is empty: leave it out, or give it a text")
    if len(folded) > _LINE_LENGTH:
        raise InvalidInput(f"the {what} has {len(folded)} characters, at most {_LINE_LENGTH}: put the rest into the content")
    _refuse_control(folded, what)
    return folded


def _refuse_control(text: str, what: str) -> None:
    odd = CONTROL.search(text)
    if odd:
        raise InvalidInput(f"the {what} contains the control character U+{ord(odd[0]):04X}: remove it")


def check_tags(names: Sequence[str], settings: Settings) -> tuple[str, ...]:
    if not names:
        return ()
    if isinstance(names, str) or not isinstance(names, Collection):
        raise InvalidInput(f'tags should be a list, such as ["{names}"]')
    if len(names) > _TAGS:
        raise InvalidInput(f"{len(names)} tags are too many: {_TAGS} at most")
    checked: dict[str, str] = {}
    for name in names:
        tag = unicodedata.normalize("NFC", check_line(name, "tag", settings))
        if "," in tag:
            raise InvalidInput(f"tag {tag!r} contains a comma, which separates tags: remove it")
        if len(tag) > _TAG_LENGTH:
            raise InvalidInput(f"tag {tag[:20]!r}… has {len(tag)} characters, at most {_TAG_LENGTH}: choose a shorter one")
        checked.setdefault(tag.casefold(), tag)
    return tuple(checked.values())


def check_type(name: str, settings: Settings) -> str:
    if name not in settings.all_types:
        known = ", ".join(settings.all_types)
        raise InvalidInput(f"there is no type {name!r}: use one of {known}, or add it to `types` in the settings")
    return name


def check_share(value: float, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise InvalidInput(f"{what} must be a number from 0 to 1, got {value!r}")
    return float(value)


def check_flag(value: bool, what: str) -> bool:
    return _require(value, bool, what)


def check_count(value: int, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidInput(f"{what} must be a whole number of at least 0, got {value!r}")
    return value


def check_state(value: State, what: str) -> State:
    return _require(value, State, what)


def check_limit(asked: int | None, settings: Settings) -> int:
    most = settings.limit if asked is None else asked
    if not 1 <= most <= _LARGEST_LIMIT:
        bound = "at least 1" if most < 1 else f"at most {_LARGEST_LIMIT:,}"
        raise InvalidInput(f"limit must be {bound}, got {most}")
    return most


def require_alone(whole: str, **beside: object) -> None:
    """Raise InvalidInput if single values are given beside a whole one, which would make them ineffective.

    `whole`: what the whole value is, for the message. `beside`: the other parameters; None and an empty tuple are not given.
    """
    given = [name for name, value in beside.items() if value is not None and value != ()]
    if given:
        raise InvalidInput(f"{', '.join(given)} cannot be given beside a {whole}: set them in it")


def check_aware(moment: datetime, what: str) -> datetime:
    if _require(moment, datetime, what).tzinfo is None:
        raise InvalidInput(f"{what} has no time zone: write it like 2026-02-05T10:00:00Z")
    if not 1970 <= moment.year <= 9998:
        raise InvalidInput(f"{what} must be in a year from 1970 to 9998, got {moment.year}")
    return moment if moment.tzinfo is UTC else moment.astimezone(UTC)  # as it will be read from the store


def _require(value: T, type: type, what: str) -> T:
    if not isinstance(value, type):
        raise InvalidInput(f"{what} must be a {type.__name__}, got {value!r:.100}")
    return value


def _check_text(text: str, what: str, settings: Settings) -> str:
    if not isinstance(text, str):
        raise InvalidInput(f"the {what} should be a text, not {type(text).__name__}")
    try:
        size = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"the {what} contains half a character at position {error.start} (a lone surrogate): decode the text properly"
        ) from error
    if "\0" in text:
        raise InvalidInput(f"the {what} contains a NUL character at position {text.index(chr(0))}: remove it")
    if size > settings.max_content:
        raise InvalidInput(
            f"the {what} has {size:,} bytes, at most {settings.max_content:,}: split it, or raise `max_content`"
        )
    for secret in secrets.find(text):
        if settings.secrets == "redact":
            return secrets.redact(text)
        raise SecretFound(
            f"the {what} seems to hold a secret ({secret.kind}, at position {secret.start}): remove it,"
            ' or set `secrets` to "redact"'
        )
    return text


_CHECKS: dict[fields.Kind, Callable[[Any, str, Settings], Any]] = {
    "id": lambda value, name, _: check_name(value, name),
    "count": lambda value, name, _: check_count(value, name),
    "scope": lambda value, _, __: check_session_scope(value),
    "key": lambda value, _, __: check_key(value),
    "type": lambda value, _, settings: check_type(value, settings),
    "line": check_line,
    "run": lambda value, name, settings: check_line(str(value) if type(value) is int else value, name, settings),
    "text": lambda value, name, settings: check_content(value, settings, name),
    "tags": lambda value, _, settings: check_tags(value, settings),
    "texts": lambda value, _, settings: check_examples(value, settings),
    "share": lambda value, name, _: check_share(value, name),
    "flag": lambda value, name, _: check_flag(value, name),
    "state": lambda value, name, _: check_state(value, name),
    "moment": lambda value, name, _: check_aware(value, name),
    "actor": lambda value, _, __: check_actor(value),
}
"""By the kind of a field: the value as it will be stored, or an error."""

_DRAFT_CHECKS = tuple(
    (name, _CHECKS[fields.get(name).kind], default)
    for name, default in zip(Draft.__struct_fields__, (msgspec.NODEFAULT, *Draft.__struct_defaults__), strict=True)
    if name != "scope"
)
"""The fields of a draft, and the value that stands for one that is left out; the scope is checked before them."""
