"""Credentials in a text: found by their shape, before anything is kept."""

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple


class Secret(NamedTuple):
    kind: str
    start: int
    end: int


class _Shape(NamedTuple):
    kind: str
    signs: str
    """One of these characters is in every text that can match; empty: there is none to tell by."""
    marks: tuple[str, ...]
    """So is one of these."""
    pattern: str
    """What providers publish; a group named `value` is the secret itself, otherwise the whole match is."""
    real: Callable[[re.Match[str]], bool] = lambda _: True
    """What the shape cannot say: whether it is a secret or only looks like one."""


# Compiled when a text first looks as if it held a secret: most never do.
# Placeholders people write where a secret would stand: words, templates, and values taken from somewhere else.
_PLACEHOLDER = (
    r"(?i)example|your|change|placeholder|dummy|redacted|sample|insert|x{3}|\*{3}|\.{3}|…|^[<$%{\[(]|^test|environ|getenv"
    r"|(?:^|\.)env\b|^(?:user|username|pass|passwd|password|pwd|secret|token|key|api_?key|none|null|true|false|foo|bar|baz)$"
)
_NAME = r"[A-Za-z_]\w{0,30}(?:(?:\.|->|::)[A-Za-z_]\w{0,30})+\W?"  # settings.API_KEY_2: a place, not a value
_HEX = r"[0-9a-fA-F]{32,}"


def _kinds(value: str) -> int:
    """How many kinds of characters there are: small, capital, digits, others."""
    return (
        any(c.islower() for c in value)
        + any(c.isupper() for c in value)
        + any(c.isdigit() for c in value)
        + any(not c.isalnum() for c in value)
    )


def _drawn(match: re.Match[str]) -> bool:
    """Whether it looks drawn by lot rather than written by a person, as a name with hyphens is."""
    value = match[0].replace("-", "")
    return bool(re.search(_HEX, value)) or (any(c.isdigit() for c in value) and _kinds(value) >= 3)


def _assigned(match: re.Match[str]) -> bool:
    value = match["value"]
    random = bool(re.fullmatch(_HEX, value)) or (any(c.isdigit() for c in value) and _kinds(value) >= 3)
    return random and not re.search(_PLACEHOLDER, value) and not re.fullmatch(_NAME, value)


def _in_url(match: re.Match[str]) -> bool:
    """Any word may be a password; not so a placeholder, or a user's name said twice, as local databases have it."""
    return match["value"] != match["user"] and not re.search(_PLACEHOLDER, match["value"])


# Every pattern starts at the beginning of a word and has bounds, so that the work grows with the text, never faster.
_SHAPES = (
    _Shape(
        "private key",
        "-",
        ("PRIVATE KEY",),
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]{0,300}?[A-Za-z0-9+/]{40}[A-Za-z0-9+/=\s\\]*+"
        r"(?:-----END [A-Z0-9 ]{0,60}-----)?",
    ),
    _Shape("AWS access key", "", ("AKIA", "ASIA"), r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b", lambda key: "EXAMPLE" not in key[0]),
    _Shape(
        "GitHub token",
        "_",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{40,255})\b",
    ),
    _Shape("GitLab token", "-", ("glpat-", "glptt-", "gldt-"), r"\bgl(?:pat|ptt|dt)-[A-Za-z0-9_-]{20,255}"),
    _Shape("API key", "-", ("sk-",), r"(?<![A-Za-z0-9_-])sk-[A-Za-z0-9_-]{24,255}", _drawn),
    _Shape("Stripe key", "_", ("_live_", "_test_"), r"\b[sr]k_(?:live|test)_[0-9A-Za-z]{16,255}\b"),
    _Shape("Slack token", "-", ("xox",), r"(?<![A-Za-z0-9-])xox[abeoprs]-[A-Za-z0-9-]{10,255}", _drawn),
    _Shape("Slack webhook", ".", ("hooks.slack.com",), r"hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9+/]{20,255}"),
    _Shape("Google API key", "", ("AIza",), r"\bAIza[0-9A-Za-z_-]{35}(?![0-9A-Za-z_-])"),
    _Shape("npm token", "_", ("npm_",), r"\bnpm_[A-Za-z0-9]{36}\b"),
    _Shape("PyPI token", "-", ("pypi-",), r"(?<![A-Za-z0-9_-])pypi-[A-Za-z0-9_-]{50,255}", _drawn),
    _Shape("Hugging Face token", "_", ("hf_",), r"\bhf_[A-Za-z0-9]{30,255}\b"),
    _Shape("SendGrid key", ".", ("SG.",), r"\bSG\.[A-Za-z0-9_-]{20,64}\.[A-Za-z0-9_-]{40,64}"),
    _Shape(
        "JSON web token",
        ".",
        ("eyJ",),
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,2000}+\.eyJ[A-Za-z0-9_-]{8,4000}+\.[A-Za-z0-9_-]{10,1000}",
    ),
    _Shape(
        "password in a URL",
        ":",
        ("://",),
        r"(?i)(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,20}://(?P<user>[!$-.0-9;=A-~]{0,64}):(?P<value>[!$-.0-;=A-~]{3,128})@",
        _in_url,
    ),
    _Shape(
        "bearer token",
        "",
        ("earer ", "EARER "),
        r"(?i)\bbearer\s{1,3}(?P<value>[A-Za-z0-9+/_.~=-]{12,2000})",
        _assigned,
    ),
    _Shape(
        "assigned secret",
        ":=：＝は",
        ("assword", "asswd", "ASSW", "ecret", "ECRET", "oken", "OKEN", "ey", "EY", "スワード"),
        r"(?i:password|passwd|パスワード|secret|api[_-]?key|access[_-]?key|private[_-]?key|token)[\"'」]?\s{0,3}[:=：＝は]\s{0,3}"
        r"[\"'「`]?(?P<value>[A-Za-z0-9+/_.~!@#%^&*=-]{12,255})",
        _assigned,
    ),
)  # fmt: skip


_SIGNS = sorted({sign for shape in _SHAPES for sign in shape.signs})


def found(text: str) -> Iterable[Secret]:
    """The secrets of a text, by kind; overlapping ones may come twice."""
    shapes = _suspected(text)
    return _found(text, shapes) if shapes else ()


def _found(text: str, shapes: list[_Shape]) -> Iterator[Secret]:
    for shape in dict.fromkeys(shapes):
        for match in _compiled(shape.pattern).finditer(text):
            if shape.real(match):
                group = "value" if "value" in match.groupdict() else 0
                yield Secret(shape.kind, match.start(group), match.end(group))


def _suspected(text: str) -> list[_Shape]:
    """The shapes whose mark stands in the text. Every write comes through here, so it looks for single signs first."""
    signs = "".join([sign for sign in _SIGNS if sign in text])
    return [shape for mark, shape in _marks(signs) if mark in text]


@functools.cache
def _marks(signs: str) -> list[tuple[str, _Shape]]:
    """What to look for in a text that holds these signs and none of the others."""
    possible = (shape for shape in _SHAPES if not shape.signs or set(shape.signs) & set(signs))
    return [(mark, shape) for shape in possible for mark in shape.marks]


def redacted(text: str) -> str:
    """The text with every secret replaced by its kind."""
    kept: list[str] = []
    end = 0
    for secret in sorted(found(text), key=lambda secret: (secret.start, -secret.end)):
        if secret.start >= end:
            kept += text[end : secret.start], f"[redacted: {secret.kind}]"
        end = max(end, secret.end)
    return "".join([*kept, text[end:]])


# Compiled when first needed: most texts hold no mark at all, and compiling them all would slow every start.
@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # ASCII: in Japanese no space parts a token from the words around it, and yet it begins and ends there.
    return re.compile(pattern, re.ASCII)
