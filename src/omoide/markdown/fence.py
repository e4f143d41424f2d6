"""Quote the text of a memory inside another text, so that none of its lines is taken for a line of that text. Pure."""

import re

SEPARATORS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""Every character after which some program begins a new line."""
# Compiled when they are first used: every process loads this module, and few need them.
_LINE_END = f"\r\n|[{SEPARATORS}]"
_WITHIN_LINE = "[\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029](?=[^\n])"
_FENCES = r"`{3,}|~{3,}"


def indent(text: str, indent: str = "  ") -> str:
    """Indent every line of a text, whatever separates the lines; the separators stay."""
    return indent + re.sub(_LINE_END, rf"\g<0>{indent}", text)


def split_lines(text: str) -> list[str]:
    """Return the lines of a text, split at every line separator."""
    return re.split(_LINE_END, text)


def indent_separated(line: str) -> str:
    """Indent what follows a line separator within a line of a file, so that it stays indented if an editor or a formatter
    makes line ends of them: else it could become an entry of its own."""
    return re.sub(_WITHIN_LINE, r"\g<0>  ", line)


def unindent_separated(text: str) -> str:
    """Undo `indent_separated`."""
    return re.sub(f"({_WITHIN_LINE})  ", r"\1", text) if "  " in text else text


def one_line(text: str) -> str:
    """Put a text on one line: every run of line separators becomes a space."""
    return re.sub(f"[{SEPARATORS}]+", " ", text)


def fence(text: str, language: str = "") -> str:
    """Put a text in a code block of this language, whose fence is longer than any run of backticks or tildes in it."""
    longest = max(map(len, re.findall(_FENCES, text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
