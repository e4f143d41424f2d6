"""Credentials in a text: found by their shape, before anything is kept."""

import functools
import re
from collections.abc import Iterator
from typing import NamedTuple


class Secret(NamedTuple):
    kind: str
    start: int
    end: int


class _Shape(NamedTuple):
    kind: str
    marks: tuple[str, ...]
    """One of these stands in every text that can match: looking for them costs next to nothing."""
    pattern: str
    """What providers publish; a group named `value` is the secret itself, otherwise the whole match is."""


_SHAPES = (
    _Shape(
        "private key",
        ("PRIVATE KEY",),
        r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----END))*(?:-----END [A-Z0-9 ]*-----)?",
    ),
    _Shape("AWS access key", ("AKIA", "ASIA"), r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    _Shape(
        "GitHub token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{40,255})\b",
    ),
    _Shape("GitLab token", ("glpat-", "glptt-", "gldt-"), r"\bgl(?:pat|ptt|dt)-[A-Za-z0-9_-]{20,255}"),
    _Shape("API key", ("sk-",), r"\bsk-(?:[a-z0-9]{2,12}-){0,2}(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{24,255}"),
    _Shape("Stripe key", ("_live_", "_test_"), r"\b[sr]k_(?:live|test)_[0-9A-Za-z]{16,255}\b"),
    _Shape("Slack token", ("xox",), r"\bxox[abeoprs]-[A-Za-z0-9-]{10,255}"),
    _Shape("Slack webhook", ("hooks.slack.com",), r"hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9+/]{20,255}"),
    _Shape("Google API key", ("AIza",), r"\bAIza[0-9A-Za-z_-]{35}(?![0-9A-Za-z_-])"),
    _Shape("npm token", ("npm_",), r"\bnpm_[A-Za-z0-9]{36}\b"),
    _Shape("PyPI token", ("pypi-",), r"\bpypi-[A-Za-z0-9_-]{50,255}"),
    _Shape("Hugging Face token", ("hf_",), r"\bhf_[A-Za-z0-9]{30,255}\b"),
    _Shape("SendGrid key", ("SG.",), r"\bSG\.[A-Za-z0-9_-]{20,64}\.[A-Za-z0-9_-]{40,64}"),
    _Shape("JSON web token", ("eyJ",), r"\beyJ[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{10,1000}"),
    _Shape("password in a URL", ("://",), r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"'<>]{1,64}:(?P<value>[^\s/@\"'<>]{3,128})@"),
    _Shape(
        "assigned secret",
        ("assword", "asswd", "ASSW", "ecret", "ECRET", "oken", "OKEN", "ey", "EY"),
        r"(?i:password|passwd|secret|api[_-]?key|access[_-]?key|private[_-]?key|token)[\"']?\s{0,3}[:=]\s{0,3}"
        r"[\"']?(?P<value>[A-Za-z0-9+/_.~!@#%^&*=-]{12,255})",
    ),
)  # fmt: skip

_PLACEHOLDER = re.compile(r"(?i)example|your|change|placeholder|dummy|redacted|xxxx|\*\*\*|\.\.\.|%[sd(]|^test|^env\.|environ")


def found(text: str) -> Iterator[Secret]:
    """The secrets of a text, by kind; overlapping ones may come twice."""
    for shape in _SHAPES:
        if any(mark in text for mark in shape.marks):
            for match in _compiled(shape.pattern).finditer(text):
                group = "value" if "value" in match.groupdict() else 0
                if group == 0 or _real(match[group]):
                    yield Secret(shape.kind, match.start(group), match.end(group))


def redacted(text: str) -> str:
    """The text with every secret replaced by its kind."""
    end = len(text)
    for secret in sorted(found(text), key=lambda secret: secret.end, reverse=True):
        if secret.start < end:
            text = f"{text[: secret.start]}[redacted: {secret.kind}]{text[min(secret.end, end) :]}"
            end = secret.start
    return text


def _real(value: str) -> bool:
    """Whether an assigned value looks like a secret rather than a word, a name or a placeholder."""
    kinds = (
        any(c.islower() for c in value)
        + any(c.isupper() for c in value)
        + any(c.isdigit() for c in value)
        + any(not c.isalnum() for c in value)
    )
    return kinds >= 3 and any(c.isdigit() for c in value) and not _PLACEHOLDER.search(value)


# Compiled when first needed: most texts hold no mark at all, and compiling them all would slow every start.
@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
