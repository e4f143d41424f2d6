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
    """project, description, directory, session, session source, actor or event (its detail, as JSON), run (its id),
    task or outcome (of a run, as JSON)."""
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
        """Put other texts into a past version, in place."""

    def replace_text(self, old: StoredText, new: str) -> None:
        """Replace a text that is stored beside memories wherever it occurs; an empty one for a directory removes it.

        The new name of a project, session or actor must be free.
        """


@runtime_checkable
class Housekeeping(Protocol):
    """A store with deferred work of its engine."""

    def flush(self) -> None:
        """Run deferred writes, if there are many. Call when idle."""

    def enlarge_cache(self) -> None:
        """Keep up to 16 MB of the database in memory: for a process that has loaded a model, and so is not small."""

    def merge_index(self, steps: int) -> None:
        """Merge the segments of the index, of which every write adds one and a search reads all.

        Takes at most so many steps of a tenth of a second in which others cannot write. Gives up if another process writes.
        """


Expected = Callable[[Memory], tuple[int, IndexEntry]]
"""The fingerprint and the index entry that a memory should have."""


@runtime_checkable
class Integrity(Protocol):
    """A store that checks itself and rebuilds its index."""

    def is_index_outdated(self) -> bool:
        """Whether the index was made by an older index function than the one that the store was opened for."""

    def check(self, expected: Expected | None = None) -> list[Problem]:
        """Return what is wrong; given what is expected of each memory, also which memories differ from it."""

    def rebuild(
        self,
        expected: Expected,
        settle: Callable[[Writer], None] | None = None,
        watch: Callable[[int], None] | None = None,
        *,
        patient: bool = True,
    ) -> int:
        """Rebuild the index and all fingerprints while others read and write. Return how many memories were indexed.

        The new index is made beside the old one and replaces it in one step, with everything that was written meanwhile;
        what `settle` writes belongs to that step. Vectors without a memory are dropped. Interrupted at any moment,
        everything is as before. `watch` is called with how many more are indexed. Waits for another process that rebuilds;
        raises StoreBusy if that takes longer than the settings allow, or at once if not `patient`.
        """


@runtime_checkable
class Erasure(Protocol):
    """A store that overwrites deleted data."""

    def scrub(self) -> None:
        """Leave no byte of what was erased in the file, its log or its index."""


@runtime_checkable
class Backup(Protocol):
    """A store that copies itself."""

    def backup(self, target: Path) -> None:
        """Write a consistent copy while others read and write, compressed if its name ends with .gz.

        The target appears whole or not at all. Raises StoreError if it exists.
        """


@runtime_checkable
class CopyErasure(Protocol):
    """A store that erases memories from its own backups."""

    def erase_from_copy(self, copy: Path, ids: Sequence[str], erase: Callable[[Writer, Memory], None] | None = None) -> bool:
        """Return whether a backup has one of these memories; with `erase`, erase them, so that no byte of them is left.

        `erase` is called for each, in a transaction on the backup. The backup is replaced in one step, or left as it is;
        raises StoreDamaged or another StoreError then.
        """


Capability = TypeVar("Capability")


def require(store: object, capability: type[Capability]) -> Capability:
    """Return a store, reader or writer as one that has the capability. Raises StoreError if it lacks it."""
    if not isinstance(store, capability):
        raise StoreError(f"this store cannot do that: it lacks the capability {capability.__name__}")
    return store
