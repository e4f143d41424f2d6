"""Install and uninstall: plan the change of each file of a client, then carry all of them out."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from omoide.errors import Changed, Unreadable
from omoide.interfaces.install import entries, settings_file
from omoide.interfaces.install.install_record import InstalledFile, InstallRecord, digest
from omoide.interfaces.install.settings_file import SettingsFile
from omoide.interfaces.install.wiring import Installation, Wiring

_TRIES = 5


class PlannedFile(NamedTuple):
    """A file of a client, and what it is to become."""

    wiring: Wiring
    file: SettingsFile
    """The file as it was read."""
    data: bytes | None
    """Its new bytes; None: no file."""
    notes: tuple[str, ...] = ()
    original: bytes | None = None
    """Of an installation: the file as it would be had omoide never been installed, where the record does not have it."""

    @property
    def changes(self) -> bool:
        """Whether there is anything to write."""
        return self.data != self.file.data


class InstallResult(NamedTuple):
    """A file that was written, or would be, and where its backup is."""

    planned: PlannedFile
    backup: Path | None


def plan_install(installation: Installation, record: InstallRecord) -> list[PlannedFile]:
    """Return what installing a client changes. Raise an error, before anything is written, if a file is broken."""
    recorded = record.files()
    planned = []
    for wiring in installation.files:
        file = settings_file.read(wiring.path)
        known = recorded.get(str(wiring.path))
        if file.data is None and not wiring.has_entries:
            continue
        if not wiring.has_entries and (others := _other_clients(known, installation.client)):
            planned.append(PlannedFile(wiring, file, file.data, (f"{wiring.path} stays: {', '.join(others)} uses it too",)))
            continue
        new = entries.edit(_text(file, wiring), wiring, known.entries if known else (), _original(record, known, wiring))
        data = None if wiring.is_script and not new else file.encode(new)
        original = None
        if not _has_original(known, file):
            original = _bytes_after_removal(wiring.without_entries, file, known, record)
        notes = (*entries.notes(new, wiring), *_link_notes(file, data))
        planned.append(PlannedFile(wiring, file, data, notes, original))
    return planned


def plan_uninstall(installation: Installation, record: InstallRecord) -> list[PlannedFile]:
    """Return what uninstalling a client changes: files that nobody else changed become what they were."""
    recorded = record.files()
    planned = []
    for wiring in reversed([one.without_entries for one in installation.files]):
        file = settings_file.read(wiring.path)
        known = recorded.get(str(wiring.path))
        if file.data is None or _other_clients(known, installation.client):
            planned.append(PlannedFile(wiring, file, file.data))
            continue
        data = _bytes_after_removal(wiring, file, known, record)
        planned.append(PlannedFile(wiring, file, data, _link_notes(file, data)))
    return planned


def _link_notes(file: SettingsFile, data: bytes | None) -> tuple[str, ...]:
    """What the user should know of a file that is to become these bytes, and that has other names (hard links)."""
    others = settings_file.other_names(file) if data != file.data else 0
    if not others:
        return ()
    names = f"{others} other {'name' if others == 1 else 'names'}"
    return (f"{file.path} has {names} (hard links), which keep the old contents: link them again, or use symbolic links",)


def check_writable(planned: Sequence[PlannedFile]) -> None:
    """Raise Unwritable if one of the files that are to change is read-only, or its directory is."""
    for one in planned:
        if one.changes:
            settings_file.check_writable(one.file)


def install(installation: Installation, record: InstallRecord) -> list[InstallResult]:
    """Write the entries of a client. Return what was done, file by file.

    Raise an error if a file is broken, read-only or not omoide's: nothing is written then.
    """
    return _carry_out(lambda: plan_install(installation, record), installation.client, record, _record_install)


def uninstall(installation: Installation, record: InstallRecord) -> list[InstallResult]:
    """Remove the entries of a client. Return what was done, file by file."""
    return _carry_out(lambda: plan_uninstall(installation, record), installation.client, record, _record_uninstall)


def _carry_out(
    plan: Callable[[], Sequence[PlannedFile]],
    client: str,
    record: InstallRecord,
    finish: Callable[[PlannedFile, str, InstallRecord], None],
) -> list[InstallResult]:
    done: dict[Path, InstallResult] = {}
    with record.lock():
        for attempt in range(_TRIES):
            try:
                _write_all(plan(), client, record, finish, done)
                break
            except Changed:  # fallback: another program wrote the file: plan again with what it wrote
                if attempt == _TRIES - 1:
                    raise
    return list(done.values())


def _write_all(
    planned: Sequence[PlannedFile],
    client: str,
    record: InstallRecord,
    finish: Callable[[PlannedFile, str, InstallRecord], None],
    done: dict[Path, InstallResult],
) -> None:
    for one in planned:
        settings_file.remove_leftover(one.file)
    check_writable(planned)
    for one in planned:
        backup = record.back_up(one.wiring.path, one.file.data) if one.changes and one.file.data is not None else None
        finish(one, client, record)
        if one.changes or one.wiring.path not in done:
            done[one.wiring.path] = InstallResult(one, backup)


def _record_install(one: PlannedFile, client: str, record: InstallRecord) -> None:
    """Record the change before the file is written: after a kill in between, the record matches one of the two files."""
    path = one.wiring.path
    known = record.files().get(str(path))
    if not one.wiring.has_entries and _leave_to_others(path, known, client, record):
        return
    new = one.data
    if new is None:
        settings_file.write(one.file, None)
        record.drop(path)
        return
    if not one.changes and known is None:
        return  # somebody else wrote the entries: they are recognised by what they call
    if known is not None and _has_original(known, one.file):
        before, before_digest = known.before, known.before_digest
    else:
        before = None if one.original is None else record.keep_original(path, one.original)
        before_digest = digest(one.original or b"")
    clients = tuple(dict.fromkeys([*(known.clients if known else ()), client]))
    written = entries.current_entries(new.decode("utf-8-sig"), one.wiring)
    installed = InstalledFile(clients, before, before_digest, digest(new), written)
    if installed != known:
        record.put(path, installed, settings_file.missing_directories(one.file.path))
    if one.changes:
        settings_file.write(one.file, new, private=one.wiring.private)


def _record_uninstall(one: PlannedFile, client: str, record: InstallRecord) -> None:
    path = one.wiring.path
    known = record.files().get(str(path))
    if _leave_to_others(path, known, client, record):
        return
    if one.changes:
        settings_file.write(one.file, one.data, private=one.wiring.private)
    if known is not None:
        record.drop(path)


def _other_clients(known: InstalledFile | None, client: str) -> tuple[str, ...]:
    """The other clients whose entries a file has."""
    return () if known is None else tuple(name for name in known.clients if name != client)


def _leave_to_others(path: Path, known: InstalledFile | None, client: str, record: InstallRecord) -> bool:
    """Record that a client does not use a file any more, if others do; return whether they do."""
    others = _other_clients(known, client)
    if known is not None and others:
        record.put(path, InstalledFile(others, known.before, known.before_digest, known.after_digest, known.entries))
    return bool(others)


def _bytes_after_removal(
    wiring: Wiring, file: SettingsFile, known: InstalledFile | None, record: InstallRecord
) -> bytes | None:
    """The file without omoide: the bytes it had, if nobody else changed it, else what is there without the entries."""
    if file.data is None:
        return None
    if known is not None and digest(file.data) == known.after_digest:
        try:
            return record.original(known)
        except Unreadable:  # fallback: the copy is lost, so the entries are removed one by one
            pass
    text = file.text
    new = entries.edit(text, wiring, (), _original(record, known, wiring))
    is_own = wiring.path.stem == "omoide" or (known is not None and known.before is None)
    if new != text and is_own and entries.is_empty(new, wiring):
        return None
    return file.data if new == text else file.encode(new)


def _has_original(known: InstalledFile | None, file: SettingsFile) -> bool:
    """Whether the record has a file as it was before omoide: nobody else has changed it since."""
    return known is not None and file.data is not None and digest(file.data) in (known.after_digest, known.before_digest)


def _text(file: SettingsFile, wiring: Wiring) -> str:
    """The text of a file; of a new one, what it begins as."""
    if file.data is not None:
        return file.text
    return "" if wiring.is_script or wiring.path.suffix == ".toml" else "{}\n"


def _original(record: InstallRecord, known: InstalledFile | None, wiring: Wiring) -> str | None:
    """The text of a file before omoide, if it is known and still readable."""
    if known is None or wiring.is_script:
        return None
    try:
        data = record.original(known)
        return None if data is None else SettingsFile(wiring.path, data).text
    except Unreadable:  # fallback: tables that become empty are removed
        return None
