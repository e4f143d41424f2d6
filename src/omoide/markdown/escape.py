"""File names and messages as text that a terminal, a log line and JSON can show."""

import unicodedata

_HARMFUL = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode categories of characters that move the cursor, reverse or end the line, or are no characters."""
_BYTES = range(0xDC80, 0xDD00)
"""How Python represents the bytes 0x80 to 0xFF of a file name that is not UTF-8."""


def escape(text: str) -> str:
    """Replace control characters, line separators and bytes that are not UTF-8 by escapes."""
    if text.isprintable():
        return text
    return "".join(_escape_character(c) if unicodedata.category(c) in _HARMFUL else c for c in text)


def is_utf8(name: str) -> bool:
    """Whether a file name, as the operating system gave it, is UTF-8."""
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:  # the answer of this function
        return False
    return True


def _escape_character(c: str) -> str:
    if c == "\u200d":  # joins emoji
        return c
    if ord(c) in _BYTES:
        return f"\\x{ord(c) - 0xDC00:02x}"
    return c.encode("unicode_escape", "surrogatepass").decode() if ord(c) < 0xD800 else f"\\u{ord(c):04x}"
