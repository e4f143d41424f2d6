"""Read the turns of a session from its transcript, or from what a hook was given, without those of omoide itself."""

import re
from collections.abc import Sequence
from pathlib import Path

from omoide.compiled_patterns import load_pattern
from omoide.files.transcript_lines import read_part, transcript_size
from omoide.learning.transcript import Speaker, Turn, read_turns
from omoide.model import InboxItem, TranscriptPosition

_OWN_TOOL = load_pattern(r"(?:^|[_./:])omoide(?:[_./:]|$)", re.IGNORECASE)
"""`mcp__omoide__recall`, `plugin_omoide_omoide.recall`, `omoide`."""
_OWN_COMMAND = load_pattern(r"\s*(?:\S*/)?omoide\s")
_NOT_OF_RUN = load_pattern(r"[^\w.:/#@+-]+")


def run_id(item: InboxItem) -> str | None:
    """Return the session of an item as the id of a run; None if it has no session."""
    return _NOT_OF_RUN.sub("-", item.session)[:200] or None


def has_transcript(item: InboxItem) -> bool:
    """Return whether the item names a transcript, and the file exists."""
    try:
        return bool(item.transcript) and Path(item.transcript).expanduser().is_file()
    except (OSError, ValueError, RuntimeError):  # fallback: a name that no file can have
        return False


def unread_bytes(transcript: str, start: int) -> int:
    """Return how many bytes of a transcript come after the first `start`; 0 if it cannot be read."""
    size = transcript_size(transcript)
    return size if size < start else size - start  # a shorter file is another one, and is read from its start


def read_lines(
    item: InboxItem, position: TranscriptPosition, *, is_last: bool
) -> tuple[list[bytes], int, TranscriptPosition]:
    """Return the next lines of an item's transcript, the byte where they end, and the position where they begin.

    `position`: how far the transcript was read. `is_last`: whether no later item is about the same session: then lines that
    were written after the item are read as well.
    """
    if not item.transcript:
        return [], position.bytes, position
    try:
        path = Path(item.transcript).expanduser()
        found = path.stat()
        if found.st_size < position.bytes:  # another file of this name
            position = TranscriptPosition()
        end = min(item.size, found.st_size)
        if is_last:  # the client writes the last lines after the hook; the position is recorded, so none is read twice
            end = found.st_size
        part = read_part(path, position.bytes, end)
    except (OSError, ValueError, RuntimeError):  # fallback: what the item itself holds
        return [], position.bytes, position
    return part.lines, part.end, position


def turns(lines: Sequence[bytes], before: int) -> list[Turn]:
    """Return the turns in these lines of a transcript. `before`: how many lines of the transcript come before them."""
    is_json = [line.lstrip().startswith(b"{") for line in lines]
    if any(is_json):  # the format is recognised by the first line, and that may be damaged
        lines = [line if is_object else b"" for line, is_object in zip(lines, is_json, strict=True)]
    return list(read_turns(lines, first_line=before + 1))


def turns_of_item(item: InboxItem) -> list[Turn]:
    """Return the turns that the item itself contains: the prompt and the last message."""
    said = ((Speaker.PERSON, item.prompt), (Speaker.AGENT, item.last_message))
    return [Turn(speaker, text, line) for line, (speaker, text) in enumerate(said, 1) if text]


def separate_own(turns: Sequence[Turn]) -> tuple[list[Turn], list[str]]:
    """Return the turns without calls of omoide's own tools and their results, and the texts of these results."""
    calls = {
        turn.call
        for turn in turns
        if turn.call and turn.speaker is Speaker.COMMAND and (_OWN_TOOL.search(turn.tool) or _OWN_COMMAND.match(turn.text))
    }
    is_own = [turn.speaker in (Speaker.COMMAND, Speaker.OUTPUT) and _is_own(turn, calls) for turn in turns]
    others = [turn for turn, own in zip(turns, is_own, strict=True) if not own]
    return others, [turn.text for turn, own in zip(turns, is_own, strict=True) if own and turn.speaker is Speaker.OUTPUT]


def _is_own(turn: Turn, calls: set[str]) -> bool:
    return turn.call in calls or bool(_OWN_TOOL.search(turn.tool))
