"""Quote the text of a memory inside a prompt, so that none of its lines is taken for a line of the prompt. Pure."""

from omoide.compiled_patterns import load_pattern
from omoide.markdown.fence import SEPARATORS
from omoide.model import CONTROL

INDENT = " " * 6
"""Of the further lines of a memory: four columns more than the text of its list item. So Markdown sees no heading, list,
fence or rule in them, and not a character of the text is changed."""
_LINE_END = load_pattern(f"\r\n|[{SEPARATORS}]")


def lines(text: str) -> list[str]:
    """Return the lines of a text, split at every character that any program takes for the end of a line.

    Empty lines at the beginning and the end are left out, and control characters are escaped.
    """
    parts = _LINE_END.split(text)
    while len(parts) > 1 and not parts[-1].strip():
        parts.pop()
    while len(parts) > 1 and not parts[0].strip():
        parts.pop(0)
    return [escape_controls(part).rstrip() for part in parts]


def escape_controls(line: str) -> str:
    """Replace control characters, and those that change the direction of text, by escapes such as \\u0007; tabs stay."""
    if line.isprintable():
        return line
    return CONTROL.sub(lambda match: match[0] if match[0] == "\t" else f"\\u{ord(match[0]):04x}", line)


def list_item(prefix: str, text: str) -> str:
    """Return a text as a list item of one or more lines, with a line end. `prefix`: what stands before its first line."""
    first, *others = lines(text)
    rest = "".join(f"{INDENT}{other}\n" if other else "\n" for other in others)
    return f"- {prefix}{first}\n{rest}"


def one_line(text: str) -> str:
    """Return a text on one line, without its empty lines."""
    return " ".join(part for part in lines(text) if part)
