"""Regular expressions that are lists of phrases: each phrase stands in a line of its own, in English or Japanese."""

import re


def any_of(*phrases: str) -> str:
    """Return a pattern that matches any of these phrases, each itself a pattern."""
    return f"(?:{'|'.join(phrases)})"


def phrases(*alternatives: str) -> re.Pattern[str]:
    """Compile a pattern that finds any of these phrases, in upper or lower case."""
    return re.compile(any_of(*alternatives), re.I)


def listed(text: str) -> str:
    """Return a pattern that matches any of the phrases in a text, which commas and line ends separate."""
    return any_of(*(phrase for phrase in re.split(r",\s*|\s*\n\s*", text.strip()) if phrase))


def words(text: str) -> str:
    """Return a pattern that matches any of the phrases in a text as whole words."""
    return rf"\b{listed(text)}\b"
