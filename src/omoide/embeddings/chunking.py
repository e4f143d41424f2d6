"""What of a text is embedded: its chunks, each short enough that one vector can represent it."""

import re

from omoide.embeddings.language import is_dense

CHUNK_CHARACTERS = 400
"""Characters of a chunk, half of them in Japanese: the vector of a longer text is a blur."""
MAX_CHUNKS = 8
"""Chunks of one memory: a longer one is cut into larger chunks."""
MAX_CHARACTERS = 16_000
"""Characters of a memory that are embedded: beyond, it is found by words alone."""
MAX_QUERY_CHARACTERS = 2_000
"""Characters of a query that are embedded."""

_TIME = r"(?:\d{1,2}:\d\d(?::\d\d)?\s*(?:[ap]m)?|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{4}年\d{1,2}月\d{1,2}日)"
_WORDS = r"(?:on|at|\([A-Za-z月火水木金土日]{1,9}\)|\d{1,2}\s+[A-Z][a-z]{2,8},?\s+\d{4}|[A-Z][a-z]{2,8}\s+\d{1,2},?\s+\d{4})"
_stamp = re.compile(rf"^[\[(]?{_TIME}(?:[\sT,]+(?:{_TIME}|{_WORDS}))*[\])]?[\s:,-]+", re.MULTILINE)
_sentence_end = re.compile(r"(?<=[。！？!?\n])|(?<=\.\s)")


def strip_timestamps(text: str) -> str:
    """Return the text without the times at the start of its lines: a vector of "12:15" is noise."""
    return _stamp.sub("", text)


def chunks(topic: str, content: str) -> list[str]:
    """Return the texts to embed of a memory: the chunks of its content, each under the topic if one was given."""
    text = strip_timestamps(content[:MAX_CHARACTERS])
    size = max(CHUNK_CHARACTERS // 2 if is_dense(text) else CHUNK_CHARACTERS, -(-len(text) // MAX_CHUNKS))
    found = [text] if len(text) <= 1.5 * size else _split(text, size)
    return [f"{topic}\n{chunk}" for chunk in found] if topic else found


def _split(text: str, size: int) -> list[str]:
    """Join whole sentences as long as they fit, and cut what is longer than two chunks anywhere."""
    found, chunk = [], ""
    for sentence in _sentence_end.split(text):
        if chunk and len(chunk) + len(sentence) > size:
            found.append(chunk)
            chunk = ""
        chunk += sentence
        while len(chunk) > 2 * size:
            found.append(chunk[:size])
            chunk = chunk[size:]
    if chunk.strip() or not found:
        found.append(chunk)
    return found
