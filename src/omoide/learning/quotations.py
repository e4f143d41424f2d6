"""Hide quotations, code and names of files while a text is searched for words of asking. Pure."""

import re
from collections.abc import Callable

from omoide.learning.patterns import lazy_pattern

_LONGEST = 300
"""Characters of the longest quotation: a mark that is closed later than that was no opening one."""
_QUOTATION = lazy_pattern(
    "(?:"
    + "|".join(
        rf"(?P<o{number}>{opening})(?P<t{number}>[^{inside}\n]{{1,{_LONGEST}}}?)(?={closing})"
        for number, (opening, inside, closing) in enumerate(
            [
                ("「", "「」", "」"),
                ("『", "『』", "』"),
                ("“", "“”", "”"),
                (r"(?<![\w\"])\"(?=\S)", '"', '"'),
                (r"(?<![\w'])'(?=\S)", "'", r"(?<=\S)'(?!\w)"),
                (r"(?<!`)`", "`", "`(?!`)"),
            ]
        )
    )
    + r")|(?P<name>(?<![\w.])(?:[\w-]{1,60}\.(?:py|tsx?|jsx?|go|rs|rb|java|kt|md|sh|sql|ya?ml|toml|json|html|css)\b"
    r"|[A-Za-z]\w{0,60}\(\)|[A-Za-z]{1,60}_[A-Za-z_]{1,60}(?![\w(])))",
    re.A,
)
_FIRST, _LAST = 0xA000, 0xA48C
"""Letters of a script that nearly nobody writes to an agent: they stand for what is hidden, as a word would."""
_END = ".!?。！？"


def hide_quotations(text: str) -> tuple[str, Callable[[str], str]]:
    """Return a text of the same length whose quotations, code and names are hidden, and a function that restores a part.

    The marks, and a full stop at the end of a quotation, stay. A part that holds a piece of a hidden text gets all of it.
    """
    letters = (chr(code) for code in range(_FIRST, _LAST) if chr(code) not in text)
    hidden: dict[str, str] = {}

    def hide(match: re.Match[str]) -> str:
        groups = [(name, part) for name, part in match.groupdict().items() if part and not name.startswith("o")]
        inside = groups[0][1]
        end = inside[-1] if inside[-1] in _END and match["name"] is None else ""
        body = inside.removesuffix(end)
        letter = next(letters, "")
        if not letter or not body:
            return match[0]
        hidden[letter] = body
        return f"{match[0].removesuffix(inside)}{letter * len(body)}{end}"

    masked = _QUOTATION.sub(hide, text)
    if not hidden:
        return text, str
    run = re.compile("|".join(f"{letter}+" for letter in hidden))
    return masked, lambda part: run.sub(lambda match: hidden[match[0][0]], part)
