"""What some stores can do and others cannot: optional protocols.

Ask with `isinstance` where there is a fallback, with `require` where there is none. A backend that lacks a capability skips
its tests in `tests/contract/`.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

import msgspec

from omoide.errors import StoreError
from omoide.model import Memory
from omoide.storage.base import IndexEntry, Writer


class Problem(NamedTuple):
    """Something that a check found wrong, and what would repair it."""

    what: str
    remedy: str
    fixable: bool


class StoredText(msgspec.Struct, frozen=True):
    """A text that is stored beside memories."""

    what: str
    """Where it is stored: project, description, directory, remote, session, session source, actor, event (its detail, as
    JSON), event source, run (its id), task or outcome (of a run, as JSON), work tree (its record, as JSON), transcript (its
    path), repeated request (the result in its idempotency record, as JSON), or a part of a hook's call or of the inbox, such
    as hook fault and inbox prompt."""
    text: str


@runtime_checkable
class StoredTexts(Protocol):
    """A reader that lists the texts beside memories."""

    def stored_texts(self) -> list[StoredText]:
        """Return every text that is stored beside memories, each once; for texts of mirrors see `mirrors`."""


@runtime_checkable
class Redaction(Protocol):
    """A writer that replaces texts without keeping the old ones. See `Erasure` for the bytes."""

    def replace_version(self, memory: Memory) -> None:
        """Replace the texts of a past version in place. `memory`: the new texts, with the number and version of the old."""

    def replace_text(self, old: StoredText, new: str) -> None:
        """Replace a text that is stored beside memories wherever it occurs.

        An empty text for a directory removes the directory; the records of a work tree and of a repeated request are
        deleted, whatever the new text is.
        The new name of a project, session, actor or run must be free.
        """


@runtime_checkable
class Housekeeping(Protocol):
    """A store with deferred work of its engine."""

    def flush(self) -> None:
        """Run deferred writes, if there are many. Call when idle."""

    def enlarge_cache(self) -> None:
        """Keep up to 16 MB of the database in memory. Call it in a process that has loaded a model, and so is not small."""

    def merge_index(self, steps: int) -> None:
        """Merge the segments of the index, of which every write adds one and a search reads all.

        `steps`: how many steps to take at most; each keeps others from writing for about a tenth of a second. Stops early if
        there is nothing more to merge, or another process writes.
        """


Expected = Callable[[Memory], tuple[int, IndexEntry]]
"""The fingerprint and the index entry that a memory should have."""


@runtime_checkable
class Integrity(Protocol):
    """A store that checks itself and rebuilds its index."""

    def is_index_outdated(self) -> bool:
        """Return whether the index was made by an older index function than the one that the store was opened for."""

    def check(self, expected: Expected | None = None) -> list[Problem]:
        """Return what is wrong with the store, without changing anything.

        `expected`: also compare what is indexed of each memory with what this function returns for it.
        """

    def rebuild(
        self,
        expected: Expected,
        settle: Callable[[Writer], None] | None = None,
        watch: Callable[[int], None] | None = None,
        *,
        patient: bool = True,
    ) -> int:
        """Rebuild the index and all fingerprints while others read and write. Return how many memories were indexed.

        `expected`: returns what to index of a memory. `settle`: called in the transaction that replaces the index, for what
        must change together with it. `watch`: called with how many more memories are indexed. `patient`: whether to wait for
        another process that rebuilds, as long as the setting `wait` allows.

        The new index is made beside the old one and replaces it in one transaction, with everything that was written
        meanwhile. Vectors without a memory are dropped. If it is interrupted, everything is as before. Raises StoreBusy
        if another process is still rebuilding.
        """


@runtime_checkable
class Erasure(Protocol):
    """A store that overwrites deleted data."""

    def scrub(self) -> None:
        """Overwrite what was erased in the file, its log and its index; raise StoreBusy if another process uses the file."""


@runtime_checkable
class Backup(Protocol):
    """A store that copies itself."""

    def backup(self, target: Path) -> None:
        """Write a consistent copy of the store to the file `target` while others read and write.

        A name that ends with .gz is compressed. The file appears whole or not at all. Raises StoreError if it exists or
        cannot be written.
        """


@runtime_checkable
class CopyErasure(Protocol):
    """A store that erases memories from its own backups."""

    def erase_from_copy(self, copy: Path, ids: Sequence[str], erase: Callable[[Writer, Memory], None] | None = None) -> bool:
        """Return whether a backup contains one of the memories with these ids; with `erase`, erase them from it.

        `erase`: called for each of them, in a transaction on the backup; afterwards no byte of them is left. None: only
        look. The backup is replaced in one step. Raises StoreDamaged, or another StoreError, if it cannot be read or
        replaced: it is then left as it is.
        """


Capability = TypeVar("Capability")


def require(store: object, capability: type[Capability]) -> Capability:
    """Return a store, reader or writer as one that has the capability; raise StoreError if it lacks it."""
    if not isinstance(store, capability):
        raise StoreError(f"this store cannot do that: it lacks the capability {capability.__name__}")
    return store
