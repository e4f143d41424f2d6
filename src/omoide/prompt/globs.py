"""Match glob tags with the files that a task may write, by the rules of git. Pure."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from omoide.compiled_patterns import load_pattern

_GLOB = load_pattern(r"[*?\[/!]")
_WILDCARD = load_pattern(r"[*?\[]")
_LITERAL = load_pattern(r"[^*?\[\\]*")


class Pattern(NamedTuple):
    """A compiled glob."""

    regex: re.Pattern[str]
    include: bool
    """False for a glob that begins with `!`: it takes out what an earlier tag of the memory matches."""
    prefix: str
    """What every path that it matches begins with."""


class WriteScope(NamedTuple):
    """The paths that a task may write, sorted, each with and without a slash at its end."""

    paths: tuple[str, ...]
    problems: tuple[str, ...] = ()


def is_glob(tag: str) -> bool:
    """Return whether a tag is a glob: it has one of the characters * ? [ / and !."""
    return _GLOB.search(tag) is not None


def has_wildcard(entry: str) -> bool:
    """Return whether an entry of a write scope is a glob, and so stands for the files that it matches."""
    return _WILDCARD.search(entry) is not None


@lru_cache(maxsize=4096)
def compile_glob(glob: str) -> Pattern | None:
    """Compile a glob as a line of .gitignore; return None if it is broken (a `[` without `]`, say) or matches nothing."""
    import pathspec  # lazy: 20 ms that only a task with a write scope needs
    from pathspec.patterns.gitignore import GitIgnorePatternError  # lazy: the same

    line = unicodedata.normalize("NFC", glob)
    try:
        (pattern,) = pathspec.GitIgnoreSpec.from_lines([f"\\{line}" if line.startswith("#") else line]).patterns
    except GitIgnorePatternError:  # fallback: reported as broken
        return None
    regex = getattr(pattern, "regex", None)
    if pattern.include is None or regex is None:
        return None
    body = line.removeprefix("!")
    anchored = "/" in body.rstrip("/")
    literal = _LITERAL.match(body)
    prefix = literal[0].lstrip("/").rstrip("/") if anchored and literal else ""
    return Pattern(regex, bool(pattern.include), prefix)


def resolve_scope(entries: Iterable[str], files: Sequence[str] | None) -> WriteScope:
    """Return the paths that the entries of a write scope stand for, and what is wrong with the entries.

    `files`: the files of the work tree, relative to it; None: not known. A glob stands for the files that it matches; where
    it matches none, for the directory before its first wildcard.
    """
    paths: set[str] = set()
    problems: list[str] = []
    for entry in entries:
        path = _normalize(entry)
        if not has_wildcard(path):
            paths.add(path)
            continue
        pattern = compile_glob(path)
        if pattern is None:
            problems.append(f"the write scope {entry!r} is not a valid glob and is skipped: close its [ with ]")
            continue
        matched = [file for file in files or () if pattern.regex.match(unicodedata.normalize("NFC", file))]
        directory = _directory_before_wildcard(path)
        if matched:
            paths.update(_normalize(file) for file in matched)
        elif directory:
            paths.add(directory)
        else:
            problems.append(f"the write scope {entry!r} matches no file of the work tree")
    paths.discard("")
    return WriteScope(tuple(sorted({variant for path in paths for variant in (path, f"{path}/")})), tuple(problems))


def _normalize(path: str) -> str:
    """The path relative to the work tree, in NFC, without ./ and slashes at its ends."""
    parts = unicodedata.normalize("NFC", path).replace("\\", "/").split("/")
    return "/".join(part for part in parts if part not in ("", "."))


def _directory_before_wildcard(glob: str) -> str:
    parts = glob.split("/")
    literal = [part for part in parts[: next(n for n, part in enumerate(parts) if has_wildcard(part))] if part]
    return "/".join(literal)


class TagMatcher:
    """A matcher of the tags of many memories with one write scope. Each glob is compiled and matched once."""

    def __init__(self, scope: WriteScope):
        self.problems = list(scope.problems)
        self._paths = scope.paths
        self._found: dict[str, str] = {}
        self._matched: dict[tuple[str, ...], str] = {}

    def match(self, tags: tuple[str, ...]) -> str:
        """Return the first path of the scope that these tags match, an empty text if they match none.

        As in .gitignore, the last of the tags that matches a path decides: one with `!` takes out what others match.
        """
        if not self._paths:
            return ""
        known = self._matched.get(tags)
        if known is None:
            known = self._matched[tags] = self._match(tags)
        return known

    def _match(self, tags: tuple[str, ...]) -> str:
        globs = [tag for tag in tags if is_glob(tag)]
        if any(glob.startswith("!") for glob in globs):
            return self._match_in_order(globs)
        return min((path for glob in globs if (path := self._first(glob))), default="")

    def _match_in_order(self, globs: Sequence[str]) -> str:
        patterns = [pattern for glob in globs if (pattern := self._compile(glob)) is not None]
        for path in self._paths:
            last = next((pattern for pattern in reversed(patterns) if pattern.regex.match(path)), None)
            if last is not None and last.include:
                return path.rstrip("/")
        return ""

    def _first(self, glob: str) -> str:
        """The first path that one glob matches."""
        known = self._found.get(glob)
        if known is None:
            known = self._found[glob] = self._search(glob)
        return known

    def _search(self, glob: str) -> str:
        pattern = self._compile(glob)
        if pattern is not None:
            for path in islice(self._paths, bisect_left(self._paths, pattern.prefix), None):
                if not path.startswith(pattern.prefix):
                    break
                if pattern.regex.match(path):
                    return path.rstrip("/")
        return ""

    def _compile(self, glob: str) -> Pattern | None:
        pattern = compile_glob(glob)
        if pattern is None:
            problem = f"the tag {glob!r} is not a valid glob and is skipped: close its [ with ], or rename it"
            if problem not in self.problems:
                self.problems.append(problem)
        return pattern
