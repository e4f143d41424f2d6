"""The language of a piece of code, as it is written behind a Markdown fence: given, recognised, or from tags. Pure.

A language is recognised by what only it writes: each sign has a weight, and the language with the most weight wins. Where
the signs are too few, nothing is guessed.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

UNKNOWN = "text"
_READ = 4_000
"""Characters that are looked at: the first lines of a piece of code tell its language."""
_ENOUGH = 2
"""The least weight of the signs that makes a language certain enough."""

_BLOCK = re.compile(r"\s*(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^\n]*\n((?:(?!\1)[^\n]*\n)*)\1\s*")
"""A text that is one fenced block: the fence, its language and the code."""


Signs = tuple[tuple[str, int], ...]
"""Patterns, each with its weight."""


class FencedCode(NamedTuple):
    """The code of an example and its language."""

    code: str
    language: str


def read_example(example: str, tags: Iterable[str] = ()) -> FencedCode:
    """Return the code of an example and its language.

    An example that is a fenced block gives its language itself. Otherwise it is recognised by the code, then by the first
    tag that names a language; one that is not recognised is `text`.
    """
    block = _BLOCK.fullmatch(example)
    code = block[3].removesuffix("\n") if block else example
    given = block[2].lower() if block else ""
    from_tags = next((_NAMES[tag.casefold()] for tag in tags if tag.casefold() in _NAMES), "")
    return FencedCode(code, given or recognise(code) or from_tags or UNKNOWN)


def recognise(code: str) -> str:
    """Return the language of a piece of code; empty if it is not recognised."""
    text = code[:_READ]
    if text.lstrip()[:1] in ("{", "[") and _is_json(code):
        return "json"
    weights = {language: _weight(text, signs) for language, signs in _SIGNS.items()}
    weights["yaml"] = _yaml_weight(text)
    weights["sh"] += _command_weight(text)
    if weights["typescript"]:
        weights["typescript"] += weights["javascript"]
    best = max(weights, key=weights.__getitem__)
    return best if weights[best] >= _ENOUGH else ""


def _weight(text: str, signs: Signs) -> int:
    # Compiled when they are used, and cached by `re`: most programs that load this module show no code.
    return sum(weight for sign, weight in signs if re.search(sign, text, re.MULTILINE))


def _is_json(text: str) -> bool:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):  # the answer of this function
        return False
    return isinstance(value, dict | list)


_YAML_LINE = re.compile(r"[ \t]*(?:- .*|(?:- )?[\w.\"'/-]+:(?:[ \t].*)?|#.*|---)")
_YAML_KEY = re.compile(r"^[ \t]*(?:- )?[\w.\"'/-]+:(?:[ \t]|$)", re.MULTILINE)


def _yaml_weight(text: str) -> int:
    """Several lines that are all keys or items: a single one may be anything."""
    lines = [line for line in text.splitlines() if line.strip()]
    is_yaml = len(lines) > 1 and all(map(_YAML_LINE.fullmatch, lines)) and len(_YAML_KEY.findall(text)) > 1
    return 4 if is_yaml else 0


_COMMANDS = frozenset([
    "apt", "apt-get", "brew", "bun", "cargo", "cat", "cd", "chmod", "cp", "curl", "deno", "docker", "echo", "export", "git",
    "go", "grep", "helm", "kubectl", "ls", "make", "mkdir", "mv", "node", "npm", "npx", "omoide", "pip", "pipx", "pnpm",
    "poetry", "psql", "python", "python3", "rm", "sed", "source", "sqlite3", "ssh", "sudo", "systemctl", "terraform", "uv",
    "wget", "yarn",
])  # a table: several entries per line  # fmt: skip
_PROSE = re.compile(r"[.。,、] |[.。!?]$|(?<!\S)(?:the|an?|to|is|are|it|sure|all)(?!\S)")
"""What a sentence has and a command has not: several commands are English words, too."""


def _command_weight(text: str) -> int:
    lines = [line.split() for line in text.splitlines() if line.split() and not _PROSE.search(line)]
    return 3 if any(words[0] in _COMMANDS and (len(words) > 1 or len(lines) == 1) for words in lines) else 0


_SIGNS: dict[str, Signs] = {
    "rust": (
        (r"^\s*(?:pub(?:\(\w+\))?\s+)?(?:async\s+)?(?:unsafe\s+)?fn \w+", 3),
        (r"\blet mut\b", 3),
        (r"^\s*(?:pub )?use \w+(?:::[\w{}*, ]+)+;", 3),
        (r"^\s*#!?\[\w+", 2),
        (r"\b(?:println|format|vec|panic|assert_eq|anyhow|bail)!", 3),
        (r"^\s*(?:pub )?(?:impl|trait|mod|struct|enum)\b[^:;]*\{", 1),
        (r"\.await\b", 2),
        (r"\w::\w", 1),
        (r"\bResult<|\bOption<|&str\b|&mut\b", 1),
    ),
    "python": (
        (r"^\s*(?:async )?def \w+\(.*", 1),
        (r"^\s*(?:async )?def \w+\(.*\)(?: -> .+)?:", 3),
        (r"^\s*class \w+(?:\([\w., =]*\))?:\s*$", 3),
        (r"^\s*(?:from [\w.]+ import [\w.*, (]+|import [\w.]+(?: as \w+)?(?:, [\w.]+)*)$", 3),
        (r"^\s*(?:if|for|while|with|try|elif|else|except)\b[^{]*:\s*$", 2),
        (r"\bself\.\w|\b__\w+__\b", 2),
        (r"\bprint\(", 1),
        (r"\b(?:None|True|False)\b", 1),
    ),
    "typescript": (
        (r"^\s*(?:export )?(?:interface \w+.*\{|type \w+(?:<.*>)? =|enum \w+ \{)", 3),
        (r"[\w)?\]]: (?:string|number|boolean|void|unknown|any|never|Promise<|Record<|\w+\[\])", 2),
        (r"\breadonly \w+\??:", 2),
        (r"\bas const\b|\bimport type\b", 2),
    ),
    "javascript": (
        (r"\bimport .+ from [\"']", 3),
        (r"\brequire\([\"']", 3),
        (r"\bconsole\.\w+\(", 3),
        (r"\b(?:const|let|var) (?:\w+|\{.*\}|\[.*\]) = ", 2),
        (r"\bfunction\b\s*\w*\(", 2),
        (r"\)\s*=> |\w => ", 2),
        (r"[!=]==", 2),
        (r"\bexport (?:default|const|function|class)\b", 2),
    ),
    "go": (
        (r"^package \w+$", 3),
        (r"^func (?:\(\w+ \*?\w+\) )?\w+\(", 3),
        (r"\bif err != nil\b", 3),
        (r"\w := ", 2),
        (r"\bfmt\.\w+\(", 3),
    ),
    "java": (
        (r"\bpublic (?:static |final |abstract )*(?:class|void|interface|enum)\b", 3),
        (r"\bSystem\.(?:out|err)\.", 3),
        (r"^import (?:static )?[\w.]+(?:\.\*)?;$", 3),
        (r"^\s*@Override\b", 3),
    ),
    "kotlin": ((r"\bfun (?:\w+\.)?\w+\(", 3), (r"\bdata class\b", 3), (r"\bval \w+(?:: \w+)? = ", 2)),
    "swift": ((r"^import (?:Foundation|SwiftUI|UIKit)$", 3), (r"\bguard let\b|\bif let \w+ = ", 2)),
    "csharp": (
        (r"^using [\w.]+;$", 3), (r"\bConsole\.Write", 3), (r"^\s*namespace [\w.]+;?\s*\{?$", 2), (r"\basync Task\b", 3)
    ),
    "c": ((r"^#include [<\"][\w/]+\.h[>\"]", 3), (r"\bint main\(", 2), (r"\b(?:char|int|void) \*\w+", 2)),
    "cpp": ((r"^#include <\w+>", 4), (r"\bstd::\w", 4), (r"\btemplate ?<", 3)),
    "ruby": (
        (r"^\s*end$", 2), (r"^\s*def [\w.?!=]+(?:\(.*\))?$", 2), (r"\bdo \|.*\|", 3), (r"^\s*require ['\"]", 3),
        (r"\bputs ", 2), (r"\battr_(?:accessor|reader)\b", 3),
    ),
    "php": ((r"<\?php\b", 5), (r"\$\w+ = ", 2), (r"\$this->", 3)),
    "sql": (
        (r"(?i)^\s*(?:insert into|delete from|update \w+ set|alter table|drop table)\b", 3),
        (r"(?i)^\s*create (?:virtual |temp |unique )?(?:table|index|view|trigger)\b", 3),
        (r"(?i)^\s*(?:with \w+ as \(|select\b[\s\S]+?\bfrom\b)", 3),
    ),
    "sh": (
        (r"^#!.*\b(?:ba|z|da)?sh\b", 5),
        (r"^\s*\$ \S", 3),
        (r"\S && \S", 1),
        (r"\| (?:grep|awk|sed|head|tail|xargs|jq|sort)\b", 3),
        (r"^\s*(?:fi|done|esac)$|; (?:then|do)$", 3),
        (r"\s--[a-z][\w-]+", 1),
    ),
    "toml": ((r"^\[\[?[\w.\"-]+\]\]?$", 2), (r"^[\w.-]+ = (?:[\"'\[{\d]|true|false)", 1)),
    "html": ((r"(?i)<!doctype html|<(?:html|body|head|div|span|form|table|script)\b", 3), (r"</\w+>", 1)),
    "xml": ((r"^<\?xml\b", 5),),
    "css": ((r"^[.#@]?[\w-]+[^;{}\n]*\{\s*\n?\s*[\w-]+:\s*[^;{}]+;", 4),),
    "dockerfile": ((r"^FROM \S+", 3), (r"^(?:RUN|COPY|ENTRYPOINT|CMD|WORKDIR|EXPOSE) \S", 2)),
    "makefile": ((r"^[\w.-]+:[^=\n]*\n\t\S", 4),),
    "diff": ((r"^(?:diff --git |\+\+\+ b/|@@ -\d)", 6),),
    "mermaid": ((r"^\s*(?:(?:graph|flowchart) (?:TB|TD|LR|RL|BT)|sequenceDiagram|erDiagram|classDiagram)\b", 6),),
}  # a table: several entries per line  # fmt: skip

_NAMES = {
    **{language: language for language in (*_SIGNS, "json", "yaml")},
    "bash": "sh", "c++": "cpp", "c#": "csharp", "cs": "csharp", "docker": "dockerfile", "golang": "go", "js": "javascript",
    "node": "javascript", "py": "python", "rb": "ruby", "rs": "rust", "shell": "sh", "sqlite": "sql", "ts": "typescript",
    "yml": "yaml", "zsh": "sh", "tokio": "rust", "react": "javascript", "postgresql": "sql",
}  # a table: several entries per line  # fmt: skip
"""The tags that name a language."""
