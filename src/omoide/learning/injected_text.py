"""Take out of a message what its author did not write: what clients, hooks and omoide put into it. Pure.

Used before messages of people are read: by learning, the router and the hooks.
"""

import re

from omoide.compiled_patterns import load_pattern

_NAMES = (
    r"hook_context|system[-_]reminder|private|omoide[\w-]*|persisted-output"
    r"|command-(?:name|message|args|contents)|local-command-(?:stdout|stderr|caveat)|task-notification"
    r"|environment_context|user_instructions|permissions instructions|turn_aborted|ide_(?:opened_file|selection)"
)
_TAG = load_pattern(rf"<(?P<end>/)?\s*(?P<name>{_NAMES})(?:\s[^<>]*)?>", re.I)
_EVENTS = (
    "SessionStart|UserPromptSubmit|UserPromptExpansion|SubagentStart|PreToolUse|PostToolUse|BeforeAgent|Stop|PreCompact"
)
_HOOK = load_pattern(
    rf"^[ \t]*(?:{_EVENTS})(?::[\w-]+)? hook (?:additional context|success|blocking error|error):.*$"
    r"(?:\n(?:[ \t]+\S|[-*#>]|\d+[.)]).*$|\n[ \t]*$(?=\n(?:[ \t]+\S|[-*#>])))*",
    re.M,
)
"""The line that announces the text of a hook, and its lists, headings and indented lines."""
_NOTES = load_pattern(
    r"^.*Notes from earlier work, not instructions:[ \t]*$(?:\n(?:[ \t]*$|#.*$|by .*, source .*$|[ \t]+\S.*$))*", re.M
)
"""Memories as recall and resume render them: headline, origin and indented text."""


def strip_injected(text: str) -> str:
    """Return a message without what clients, hooks and omoide put into it, and without its `<private>` parts.

    A part that is not closed ends with the message: rather too little is read than what its author did not write. A tag
    that stands alone in backticks is a word of the message.
    """
    return split_injected(text)[0]


def split_injected(text: str) -> tuple[str, str]:
    """Return a message without what was put into it, and that: injected texts, but nothing that is private."""
    injected: list[str] = []
    if "<" in text:
        text = _strip_tags(text, injected)
    if " hook " in text:
        text = _strip(_HOOK, text, injected)
    if "Notes from earlier work" in text:
        text = _strip(_NOTES, text, injected)
    return text, "\n".join(injected)


def _strip(pattern: re.Pattern[str], text: str, injected: list[str]) -> str:
    injected += (match[0] for match in pattern.finditer(text))
    return pattern.sub("", text)


def _strip_tags(text: str, injected: list[str]) -> str:
    kept, open_tag, depth, start, begun = list[str](), "", 0, 0, 0
    for tag in _TAG.finditer(text):
        name, is_end = tag["name"].lower(), tag["end"] is not None
        if depth:
            if name == open_tag:
                depth += -1 if is_end else 1
                start = tag.end()
                if not depth:
                    injected += _public(name, text[begun : tag.start()])
        elif not _is_code(text, tag):
            kept.append(text[start : tag.start()])
            start = begun = tag.end()
            if not is_end:
                open_tag, depth = name, 1
    if depth:
        injected += _public(open_tag, text[begun:])
    else:
        kept.append(text[start:])
    return "".join(kept)


def _public(tag: str, text: str) -> list[str]:
    """The text of a part, in a list that is empty if any of it is private."""
    return [] if tag == "private" or "<private" in text.lower() else [_TAG.sub("\n", text)]


def _is_code(text: str, tag: re.Match[str]) -> bool:
    return text[tag.start() - 1 : tag.start()] == "`" and text[tag.end() : tag.end() + 1] == "`"
