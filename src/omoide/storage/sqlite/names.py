"""Texts beside memories and texts of past versions on SQLite: listed, and replaced without keeping the old ones."""

from omoide.model import Memory
from omoide.storage.capabilities import StoredText
from omoide.storage.rows import version_json
from omoide.storage.sqlite.transaction import Transaction

_OF_SESSIONS = ("memories", "mirrors", "runs")
"""Tables with the name of a session beside `sessions`, which does not have those that only they name."""
_SESSIONS = " UNION ".join(["SELECT name FROM sessions", *(f"SELECT session FROM {table}" for table in _OF_SESSIONS)])
_COLUMNS = {
    "project": ("projects", "path"),
    "description": ("projects", "description"),
    "directory": ("places", "directory"),
    "remote": ("identities", "value"),
    "session": (f"({_SESSIONS})", "name"),
    "session source": ("sessions", "source"),
    "actor": ("actors", "name"),
    "event": ("events", "detail"),
    "event source": ("events", "source"),
    "run": ("runs", "id"),
    "task": ("runs", "task"),
    "outcome": ("runs", "outcome"),
    "work tree": ("work_trees", "record"),
    "hook client": ("hook_calls", "client"),
    "hook session": ("hook_calls", "session"),
    "hook fault": ("hook_calls", "fault"),
    "inbox client": ("inbox", "client"),
    "inbox session": ("inbox", "session"),
    "inbox project": ("inbox", "project"),
    "inbox directory": ("inbox", "directory"),
    "inbox transcript": ("inbox", "transcript"),
    "inbox prompt": ("inbox", "prompt"),
    "inbox message": ("inbox", "last_message"),
    "inbox work tree": ("inbox", "work_tree"),
    "transcript": ("transcripts", "path"),
    "repeated request": ("idempotency", "result"),
}
_FOLDED = ("project", "session")
"""Names that are stored a second time, casefolded."""


class NameReader:
    """The part of `SqliteReader` that is about texts beside memories."""

    _tx: Transaction

    def stored_texts(self) -> list[StoredText]:
        return [
            StoredText(what, text)
            for what, (table, column) in _COLUMNS.items()
            for (text,) in self._tx.rows(f"SELECT DISTINCT {column} FROM {table} WHERE {column} <> '' ORDER BY 1")
        ]


class NameWriter(NameReader):
    """The part of `SqliteWriter` that replaces texts without keeping the old ones."""

    def replace_text(self, old: StoredText, new: str) -> None:
        table, column = ("sessions", "name") if old.what == "session" else _COLUMNS[old.what]
        # A record without its secret would be of another work tree, or name what is not there.
        if old.what in ("work tree", "repeated request") or (old.what == "directory" and not new):
            self._tx.run(f"DELETE FROM {table} WHERE {column} = ?", (old.text,))
            return
        assignment, values = f"{column} = ?", [new]
        if old.what in _FOLDED:
            assignment, values = f"{assignment}, folded = ?", [*values, new.casefold()]
        self._tx.run(f"UPDATE {table} SET {assignment} WHERE {column} = ?", (*values, old.text))
        if old.what == "session":
            for other in _OF_SESSIONS:
                self._tx.run(f"UPDATE {other} SET session = ? WHERE session = ?", (new, old.text))
        if old.what == "project":
            self._tx.run("UPDATE inbox SET project = ? WHERE project = ?", (new, old.text))

    def replace_version(self, memory: Memory) -> None:
        self._tx.run(
            "UPDATE versions SET body = ? WHERE memory = ? AND version = ?",
            (version_json(memory), memory.number, memory.version),
        )
