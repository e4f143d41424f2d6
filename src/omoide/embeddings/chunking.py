"""What of a text is embedded: its pieces, each short enough that one vector can stand for it."""

import re

CHUNK_CHARACTERS = 400
"""Characters that one vector stands for, half of them in Japanese; a vector of more is a blur of it all."""
MAX_CHUNKS = 8
"""Of one memory at the most: a longer one is cut into larger pieces,"""
READ = 16_000
"""and beyond so many characters it is found by its words alone."""
ASKED = 2_000
"""Characters of a question."""

_TIME = r"(?:\d{1,2}:\d\d(?::\d\d)?\s*(?:[ap]m)?|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{4}年\d{1,2}月\d{1,2}日)"
_WORDS = r"(?:on|at|\([A-Za-z月火水木金土日]{1,9}\)|\d{1,2}\s+[A-Z][a-z]{2,8},?\s+\d{4}|[A-Z][a-z]{2,8}\s+\d{1,2},?\s+\d{4})"
_stamp = re.compile(rf"^[\[(]?{_TIME}(?:[\sT,]+(?:{_TIME}|{_WORDS}))*[\])]?[\s:,-]+", re.MULTILINE)
_sentence_end = re.compile(r"(?<=[。！？!?\n])|(?<=\.\s)")


def strip_timestamps(text: str) -> str:
    """Without the times at the start of its lines: a vector of "12:15" is noise."""
    return _stamp.sub("", text)


def chunks(topic: str, content: str) -> list[str]:
    """What of a memory is embedded: its content piece by piece, each under the topic if one was given."""
    text = strip_timestamps(content[:READ])
    dense = sum(character >= "\u3040" for character in text[:CHUNK_CHARACTERS]) > min(len(text), CHUNK_CHARACTERS) / 4
    size = max(CHUNK_CHARACTERS // 2 if dense else CHUNK_CHARACTERS, -(-len(text) // MAX_CHUNKS))
    found = [text] if len(text) <= 1.5 * size else _split(text, size)
    return [f"{topic}\n{piece}" for piece in found] if topic else found


def _split(text: str, size: int) -> list[str]:
    """Whole sentences together as long as they fit, and what is longer than two pieces cut anywhere."""
    found, open = [], ""
    for sentence in _sentence_end.split(text):
        if open and len(open) + len(sentence) > size:
            found.append(open)
            open = ""
        open += sentence
        while len(open) > 2 * size:
            found.append(open[:size])
            open = open[size:]
    if open.strip() or not found:
        found.append(open)
    return found
