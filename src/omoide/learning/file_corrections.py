"""Find what a person corrected in lines that an agent wrote, by comparing texts of files. Pure.

What a formatter does is no correction: other spaces, line ends, quotes, commas or the order of lines.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher, unified_diff
from typing import NamedTuple

from omoide.compiled_patterns import load_pattern
from omoide.model import AgentFile, AgentHunk

_MOST_LINES = 4_000
"""Lines of a file that are compared."""
_MOST_HUNKS = 20
"""Places of a file that changed; with more of them the person wrote another file, which corrects nothing in particular."""
_MOST_CHANGED = 100
"""Lines of the agent in a file that were changed and not just reverted; with more of them it is the same."""
_MOST_OF_FILE = 5
"""Corrections that are drawn from one file."""
_SHORTEST_QUOTE, _LONGEST_QUOTE = 4, 100
_MOST_EVIDENCE = 1_200
"""Characters of the diff that is the evidence of a correction."""
_SIMILAR = 0.4
"""How similar two lines are at least, so that one replaces the other."""
_GENERATED = load_pattern(r"(?:^|/)(?:[\w.-]*[.-]lock(?:\.\w+)?|[\w.-]+\.(?:min\.\w+|map|snap|lockb)|go\.sum)$")
_TOKEN = load_pattern(r"\w+|\s+|[^\w\s]")
_CODE_WORD = load_pattern(r"""\w+|[^\w\s"'`,;()\\]""")
"""What formatters of code leave alone: everything but spaces, quotes, commas, semicolons and parentheses."""
_MARKUP_WORD = load_pattern(r"[^\W_]+")
_NO_GLOB = load_pattern(r"[\[\]*?!\\,#]|^\s|\s$")


class Correction(NamedTuple):
    """What a person changed in lines that an agent wrote."""

    text: str
    """In a sentence."""
    glob: str
    """Of the files that it is about; empty if their path cannot be a glob."""
    evidence: str
    """The change, as a diff."""


def is_generated(path: str) -> bool:
    """Whether a file is written by tools, so that nobody corrects it by hand."""
    return bool(_GENERATED.search(path))


def agent_hunks(before: str, after: str) -> tuple[AgentHunk, ...]:
    """Return what differs between the text of a file before an agent's run and after it."""
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > _MOST_LINES:
        return ()
    return tuple(
        AgentHunk(new_start, new_end, tuple(old[old_start:old_end]))
        for kind, old_start, old_end, new_start, new_end in SequenceMatcher(None, old, new).get_opcodes()
        if kind != "equal"
    )


def find_corrections(file: AgentFile, now: str | None) -> list[Correction]:
    """Return what a person changed in the lines that an agent wrote. `now` is the present text; None: the file is gone."""
    if now is None:
        return [_deletion(file)] if file.added and file.text.strip() else []
    old, new = file.text.splitlines(), now.splitlines()
    if len(new) > _MOST_LINES or _is_formatting(file.path, old, new):
        return []
    changes = [opcode for opcode in SequenceMatcher(None, old, new).get_opcodes() if opcode[0] != "equal"]
    rewritten = sum(min(old_end - old_start, new_end - new_start) for _, old_start, old_end, new_start, new_end in changes)
    if len(changes) > _MOST_HUNKS or rewritten > _MOST_CHANGED:
        return []
    found: dict[str, Correction] = {}
    for _, old_start, old_end, new_start, new_end in changes:
        written, present = old[old_start:old_end], new[new_start:new_end]
        hunk = _hunk_at(file.hunks, old_start, old_end)
        if hunk is None or _is_formatting(file.path, written, present):
            continue
        evidence = _evidence(file.path, written, present)
        for sentence in _describe(hunk, written, present, whole=hunk.end - hunk.start == old_end - old_start):
            correction = Correction(f"In {_place(file.path)}, {sentence}", glob_of(file.path), evidence)
            found.setdefault(correction.text, correction)
    return list(found.values())[:_MOST_OF_FILE]


def glob_of(path: str) -> str:
    """Return a glob for the files beside this one with the same suffix; empty if the path cannot be one."""
    if _NO_GLOB.search(path):
        return ""
    directory, _, name = path.rpartition("/")
    stem, _, suffix = name.rpartition(".")
    return f"{directory}/*.{suffix}" if stem else f"/{path}"


def _place(path: str) -> str:
    return glob_of(path).removeprefix("/") or path


def _hunk_at(hunks: Sequence[AgentHunk], start: int, end: int) -> AgentHunk | None:
    """The lines of the agent that a change touches. An insertion touches only the place of lines that the agent deleted."""
    for hunk in hunks:
        if start == end:
            if hunk.start == hunk.end == start:
                return hunk
        elif hunk.start < end and start < hunk.end:
            return hunk
    return None


def _is_formatting(path: str, old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether two texts differ only in what formatters change."""
    words = _MARKUP_WORD if path.endswith((".md", ".markdown", ".rst", ".txt")) else _CODE_WORD
    return Counter(words.findall("\n".join(old))) == Counter(words.findall("\n".join(new)))


def _describe(hunk: AgentHunk, written: Sequence[str], present: Sequence[str], *, whole: bool) -> Iterator[str]:
    """Sentences about one change."""
    if whole and _strip_all(present) == _strip_all(hunk.before):
        if not written:
            yield f"the person restored what the agent had deleted: {_quote(present)}"
        elif present:
            yield f"the person reverted the agent's {_quote(written)} to {_quote(present)}"
        else:
            yield f"the person removed what the agent had added: {_quote(written)}"
    elif not present:
        yield f"the person removed what the agent had written: {_quote(written)}"
    elif not written:
        return
    elif len(written) == len(present) and all(map(_is_similar, written, present)):
        for old, new in zip(written, present, strict=True):
            if old.strip() != new.strip():
                yield _replacement(old, new)
    else:
        yield f"the person rewrote the agent's {_quote(written)} as {_quote(present)}"


def _strip_all(lines: Sequence[str]) -> list[str]:
    return [line.strip() for line in lines if line.strip()]


def _is_similar(old: str, new: str) -> bool:
    return SequenceMatcher(None, old.strip(), new.strip(), autojunk=False).ratio() >= _SIMILAR


def _quote(lines: Sequence[str]) -> str:
    """The first line that says something, in quotes; dots stand for the others."""
    texts = _strip_all(lines)
    first = max(texts[:3], key=lambda text: (len(re.findall(r"\w", text)) >= 3, -texts.index(text)), default="")
    more = " …" if len(texts) > 1 else ""
    return f'"{_shorten(first)}{more}"'


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}…"


def _replacement(old: str, new: str) -> str:
    """What differs between two lines, as whole names: `requests.get(` and not `requests`."""
    before, after = _TOKEN.findall(old.strip()), _TOKEN.findall(new.strip())
    start = next((n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after)))
    least = min(len(before), len(after)) - start
    tail = next((n for n in range(least) if before[-1 - n] != after[-1 - n]), least)
    while start and (_joins(before[start - 1]) or before[start - 1] == "="):
        start -= 1
    while tail and _joins(before[-tail]):
        tail -= 1
    if tail and before[-tail] == "(":
        tail -= 1
    one, other = ("".join(tokens[start : len(tokens) - tail]).strip() for tokens in (before, after))
    if min(len(one), len(other)) < _SHORTEST_QUOTE:  # the whole lines show what it is about
        one, other = old.strip(), new.strip()
    return f'the person replaced "{_shorten(one)}" with "{_shorten(other)}"'


def _joins(token: str) -> bool:
    """Whether a token belongs to the name beside it."""
    return token in (".", "_", "-", ":", "/", "@", "$") or token.isalnum() or "_" in token


def _deletion(file: AgentFile) -> Correction:
    lines = file.text.splitlines()
    return Correction(
        f"In {_place(file.path)}, the person deleted {file.path}, which the agent had added: {_quote(lines)}",
        glob_of(file.path),
        _evidence(file.path, lines, []),
    )


def _evidence(path: str, old: Sequence[str], new: Sequence[str]) -> str:
    diff = list(unified_diff(old, new, f"{path} (agent)", f"{path} (person)", lineterm="", n=0))
    text = "\n".join(line for line in diff if not line.startswith("@@"))
    return text if len(text) <= _MOST_EVIDENCE else f"{text[:_MOST_EVIDENCE]}\n…"
