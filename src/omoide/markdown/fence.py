"""Quote the text of a memory inside another text, so that none of its lines is taken for a line of that text. Pure."""

import re

SEPARATORS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""Every character after which some program begins a new line."""
_LINE_END = re.compile(f"\r\n|[{SEPARATORS}]")
_FENCES = re.compile(r"`{3,}|~{3,}")


def indent(text: str, indent: str = "  ") -> str:
    """Indent every line of a text, whatever separates the lines; the separators stay."""
    return indent + _LINE_END.sub(rf"\g<0>{indent}", text)


def one_line(text: str) -> str:
    """Put a text on one line: every run of line separators becomes a space."""
    return re.sub(f"[{SEPARATORS}]+", " ", text)


def fence(text: str, language: str = "") -> str:
    """Put a text in a code block of this language, whose fence is longer than any run of backticks or tildes in it."""
    longest = max(map(len, _FENCES.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
