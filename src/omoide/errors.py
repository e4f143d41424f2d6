"""What can go wrong that a caller can act on.

OmoideError
├── InvalidInput        the request itself is wrong: change it
│   ├── SecretFound     the text holds a credential: take it out
│   └── Unreadable      a file to be read in, or the settings, cannot be understood
├── NotFound            no such memory, or none that this scope may see
├── Conflict            the request is fine, but something is in its way (a taken key, a wrong state)
│   └── Changed         a file is no longer what was read: read it again
├── NotAllowed          this role may not do that
├── Unwritable          a file or its directory does not take what should stand there
├── EmbedderUnavailable the model that makes vectors cannot be used; by words, everything still works
└── StoreError          the database
    ├── StoreBusy       another process has been writing for too long
    ├── StoreDamaged    the file is not a whole database
    ├── StoreFull       no room on the disk
    ├── StoreReadOnly   the file or its directory cannot be written
    ├── StoreReplaced   the file was removed or replaced while it was open: open it again
    └── StoreTooNew     written by a newer omoide
"""


class OmoideError(Exception):
    """The root: catch this to catch everything omoide says on purpose."""


class InvalidInput(OmoideError):
    pass


class SecretFound(InvalidInput):
    pass


class Unreadable(InvalidInput):
    pass


class NotFound(OmoideError):
    pass


class Conflict(OmoideError):
    pass


class Changed(Conflict):
    pass


class NotAllowed(OmoideError):
    pass


class Unwritable(OmoideError):
    pass


class EmbedderUnavailable(OmoideError):
    pass


class StoreError(OmoideError):
    pass


class StoreBusy(StoreError):
    pass


class StoreDamaged(StoreError):
    pass


class StoreFull(StoreError):
    pass


class StoreReadOnly(StoreError):
    pass


class StoreReplaced(StoreError):
    pass


class StoreTooNew(StoreError):
    pass
