"""The file of faults that a hook could not write to the database: beside it, small, never with what anybody said."""

import os
from contextlib import suppress
from pathlib import Path

import msgspec

from omoide.errors import OmoideError
from omoide.guard import secrets
from omoide.model import HookRecord
from omoide.settings import Settings

_LARGEST = 64_000
"""Bytes; the older half is dropped from a file that is larger."""


def fault_file(store: str) -> Path:
    """Return the file of faults of a store."""
    path = Path(store)
    return path.with_name(f"{path.name}.hook-faults")


def append_fault(store: str, record: HookRecord) -> None:
    """Add a fault to the file of a store. Where that is not possible nothing is done: nobody could be informed."""
    file = fault_file(store)
    line = msgspec.json.encode(record) + b"\n"
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if file.exists() and file.stat().st_size > _LARGEST:
            _drop_older_half(file)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)


def read_faults(settings: Settings) -> list[HookRecord]:
    """Return the faults in the file of the settings' store, newest first; lines that cannot be read are left out."""
    try:
        lines = fault_file(settings.store).read_bytes().splitlines()
    except OSError:  # fallback: no file, no faults
        return []
    found = []
    for line in lines:
        with suppress(msgspec.DecodeError):
            found.append(msgspec.json.decode(line, type=HookRecord))
    return found[::-1]


def describe(error: Exception) -> str:
    """Return a fault as one line without secrets; of a bug, only where it is: its message may contain anything."""
    if isinstance(error, (OmoideError, OSError)):
        return " ".join(secrets.redact(str(error)).split())[:300]
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    file = "" if trace is None else trace.tb_frame.f_code.co_filename.replace("\\", "/").rpartition("/")[2]
    place = "" if trace is None else f" in {file}, line {trace.tb_lineno}"
    return f"{type(error).__name__}{place}: please report it"


def _drop_older_half(file: Path) -> None:
    rest = file.read_bytes()[-_LARGEST // 2 :].partition(b"\n")[2]
    new = file.with_name(f"{file.name}.{os.getpid()}")
    new.write_bytes(rest)
    new.chmod(0o600)
    new.replace(file)
