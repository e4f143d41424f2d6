"""The errors that a caller can act on.

OmoideError             any of these
├── InvalidInput        the request itself is wrong
│   ├── SecretFound     the text contains a credential
│   └── Unreadable      a file to import, or the settings, cannot be read
├── NotFound            no such memory, or none that this scope may see
├── Conflict            the current state does not allow the request (a taken key, a wrong state)
│   ├── AlreadyDone     the request with this idempotency key was done before
│   └── Changed         a file or a memory changed after it was read
├── NotAllowed          the role does not allow this
├── Unwritable          a file or its directory cannot be written
├── EmbedderUnavailable the embedder cannot be used; search by words still works
├── ModelUnavailable    the language model cannot be used, or gave no usable answer
│   └── BudgetSpent     the daily budget for the language model is spent
└── StoreError          the database cannot be used
    ├── StoreBusy       another process has been writing for too long
    ├── StoreDamaged    the file is not a complete database
    ├── StoreFull       no space left on the disk
    ├── StoreReadOnly   the file or its directory cannot be written
    ├── StoreReplaced   the file was removed or replaced while it was open
    └── StoreTooNew     written by a newer version of omoide
"""


class OmoideError(Exception):
    """Any error that omoide raises on purpose: catch this to catch them all."""


class InvalidInput(OmoideError):
    """The request itself is wrong: change it."""

    field: str = ""
    """The field of a memory that is wrong; empty: none, or it is not known."""


class SecretFound(InvalidInput):
    """The text contains a credential: remove it."""


class Unreadable(InvalidInput):
    """A file to import, or the settings, cannot be read or parsed."""


class NotFound(OmoideError):
    """There is no such memory, or none that this scope may see."""


class Conflict(OmoideError):
    """The request is valid, but the current state does not allow it, such as a key that is taken."""


class Changed(Conflict):
    """A file or a memory changed after it was read: read it again."""


class AlreadyDone(Conflict):
    """The request with this idempotency key was done before; `result` is what it returned."""

    def __init__(self, message: str, result: object = None):
        super().__init__(message)
        self.result = result


class NotAllowed(OmoideError):
    """The actor's role, or the bounds of its token, do not allow this."""


class Unwritable(OmoideError):
    """A file or its directory cannot be written."""


class EmbedderUnavailable(OmoideError):
    """The embedder cannot be used. Search by words still works."""


class ModelUnavailable(OmoideError):
    """The language model cannot be used, or gave no usable answer. Everything works without it."""

    is_free: bool = False
    """Whether it is certain that the question used no tokens: it was not sent, or was refused."""


class BudgetSpent(ModelUnavailable):
    """The daily budget for the language model is spent: it is asked again tomorrow."""


class StoreError(OmoideError):
    """The database cannot be used."""


class StoreBusy(StoreError):
    """Another process has been writing for longer than the setting `wait`."""


class StoreDamaged(StoreError):
    """The file is not a complete database."""


class StoreFull(StoreError):
    """There is no space left on the disk."""


class StoreReadOnly(StoreError):
    """The file or its directory cannot be written."""


class StoreReplaced(StoreError):
    """The file was removed or replaced while it was open: open it again."""


class StoreTooNew(StoreError):
    """The database was written by a newer version of omoide: upgrade omoide."""
