"""Translate the errors of SQLite: what happened to which file, and what to do."""

from collections.abc import Iterator
from contextlib import contextmanager

import apsw
import msgspec

from omoide.errors import StoreBusy, StoreDamaged, StoreError, StoreFull, StoreReadOnly


@contextmanager
def translate_errors(place: str, wait: float) -> Iterator[None]:
    try:
        yield
    except apsw.BusyError as error:
        raise StoreBusy(f"{place}: another process has been writing for {wait:g} s: try again, or raise `wait`") from error
    except (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError, msgspec.DecodeError) as error:
        # The last two: a damaged page can look intact to SQLite, with bytes that were never written.
        raise StoreDamaged(
            f"{place} is damaged ({error}): run `omoide doctor`, and restore a backup if it cannot be repaired"
        ) from error
    except apsw.SQLError as error:
        # The statements are right for the tables of the schema: if one fails, a table is damaged, for example because
        # the settings of FTS5 are lost from its page; or the header names a format that SQLite does not know.
        raise StoreDamaged(f"{place} is damaged ({error}): restore a backup") from error
    except apsw.FullError as error:
        raise StoreFull(f"{place}: the disk is full, nothing was changed: make room and try again") from error
    except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError) as error:
        raise StoreReadOnly(
            f"{place} cannot be opened for writing ({error}): check the permissions of the file and its"
            " directory, or choose another with --store"
        ) from error
    except apsw.IOError as error:
        raise StoreError(f"{place}: the disk reported an error ({error}): nothing was changed") from error
