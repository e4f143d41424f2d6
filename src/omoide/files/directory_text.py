"""A directory as a text that can be stored and shown, also where its path is not UTF-8."""

import os
from pathlib import Path, PurePath


def directory_text(path: PurePath) -> str:
    """Return the text that stands for a directory: its path, or where that is not UTF-8, its path as a shell quotes it.

    No two directories have the same text: an absolute path never begins with `$'`.
    """
    text = str(path)
    try:
        text.encode()
    except UnicodeEncodeError:  # fallback: what is not printable ASCII as `\x83`
        quoted = (chr(byte) if 32 <= byte < 127 and byte not in b"\\'" else f"\\x{byte:02x}" for byte in os.fsencode(text))
        return f"$'{''.join(quoted)}'"
    return text


def directory_path(text: str) -> Path:
    """Return the directory for which a text of `directory_text` stands."""
    if not text.startswith("$'"):
        return Path(text)
    return Path(os.fsdecode(text[2:-1].encode().decode("unicode_escape").encode("latin-1")))
