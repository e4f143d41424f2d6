"""Translate the errors of SQLite: what happened to which file, and what to do."""

import apsw
import msgspec

from omoide.errors import OmoideError, StoreBusy, StoreDamaged, StoreError, StoreFull, StoreReadOnly


class ErrorTranslation:
    """Raise the errors of SQLite within the block as errors of omoide. Can be entered again and again, also by itself."""

    def __init__(self, place: str, wait: float):
        self._place = place
        self._wait = wait

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if error is not None:
            translated = translate(error, self._place, self._wait)
            if translated is not None:
                raise translated from error


def translate(error: BaseException, place: str, wait: float) -> OmoideError | None:
    """Return the error of omoide that says what an error of SQLite means; None for any other error."""
    match error:
        case apsw.BusyError():
            return StoreBusy(f"{place}: another process has been writing for {wait:g} s: try again, or raise `wait`")
        case apsw.CorruptError() | apsw.NotADBError() | UnicodeDecodeError() | msgspec.DecodeError():
            # The last two: a damaged page can look intact to SQLite, with bytes that were never written.
            return StoreDamaged(
                f"{place} is damaged ({error}): run `omoide doctor`, and restore a backup if it cannot be repaired"
            )
        case apsw.SQLError():
            # The statements are right for the tables of the schema: if one fails, a table is damaged, for example because
            # the settings of FTS5 are lost from its page; or the header names a format that SQLite does not know.
            return StoreDamaged(f"{place} is damaged ({error}): restore a backup")
        case apsw.FullError():
            return StoreFull(f"{place}: the disk is full, nothing was changed: make room and try again")
        case apsw.ReadOnlyError() | apsw.CantOpenError() | apsw.PermissionsError():
            return StoreReadOnly(
                f"{place} cannot be opened for writing ({error}): check the permissions of the file and its"
                " directory, or choose another with --store"
            )
        case apsw.IOError():
            return StoreError(f"{place}: the disk reported an error ({error}): nothing was changed")
    return None
