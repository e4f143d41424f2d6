"""The file of faults that a hook could not write to the database: small, beside it, without texts of conversations."""

import os
from contextlib import suppress
from pathlib import Path

import msgspec

from omoide.model import HookRecord

_LARGEST = 64_000
"""Bytes; the older half is dropped from a file that is larger."""


def append_fault(store: str, record: HookRecord) -> None:
    """Add a fault to the file of a store. Where that is not possible nothing is done: nobody could be informed."""
    file = _fault_file(store)
    line = msgspec.json.encode(record) + b"\n"
    with suppress(OSError):  # fallback: nobody could be informed
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if file.exists() and file.stat().st_size > _LARGEST:
            _drop_older_half(file)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)


def read_faults(store: str) -> list[HookRecord]:
    """Return the faults in the file of a store, newest first; lines that cannot be read are left out."""
    try:
        lines = _fault_file(store).read_bytes().splitlines()
    except OSError:  # fallback: no file, no faults
        return []
    found = []
    for line in lines:
        with suppress(msgspec.DecodeError):  # fallback: the other lines
            found.append(msgspec.json.decode(line, type=HookRecord))
    return found[::-1]


def _fault_file(store: str) -> Path:
    path = Path(store)
    return path.with_name(f"{path.name}.hook-faults")


def _drop_older_half(file: Path) -> None:
    rest = file.read_bytes()[-_LARGEST // 2 :].partition(b"\n")[2]
    new = file.with_name(f"{file.name}.{os.getpid()}")
    new.write_bytes(rest)
    new.chmod(0o600)
    new.replace(file)
