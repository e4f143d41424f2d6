"""What runs around the transactions of a service: before a read, after a commit, after a change of mirrors."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from omoide.model import Scope

if TYPE_CHECKING:  # only a purge needs them
    from omoide.service.copies import FoundCopies, Trace


class Hooks:
    """Functions that run around the transactions of a service, registered where it is composed (`app`)."""

    def __init__(
        self,
        *,
        before_read: Sequence[Callable[[Scope | None], None]] = (),
        after_commit: Sequence[Callable[[Sequence[int]], None]] = (),
        after_mirror_change: Sequence[Callable[[], None]] = (),
        find_copies: "Callable[[Sequence[Trace], bool], FoundCopies] | None" = None,
        report: Callable[[str], None] = lambda _: None,
        is_seen: bool = True,
    ):
        """Register functions.

        `before_read`: called with the scope that is about to be read; None: every scope. `after_commit`: called with the
        numbers of the memories that a transaction has stored, changed or erased; none where it changed something else, such
        as a project. `after_mirror_change`: called after a mirror was added, changed or removed. `find_copies`: finds purged
        memories in files, and removes them there if its second argument is True. `report`: called with what a person should
        know beside the answer, one line at a time; it must not raise. `is_seen`: whether a person sees these lines at once;
        otherwise what must not be missed is reported again by a service for which that is so.
        """
        self._before_read = tuple(before_read)
        self._after_commit = tuple(after_commit)
        self._mirrors_changed = tuple(after_mirror_change)
        self._find_copies = find_copies
        self.report = report
        self.is_seen = is_seen

    def before_read(self, scope: Scope | None) -> None:
        """Run the hooks before a scope is read; None: every scope."""
        for hook in self._before_read:
            hook(scope)

    def after_commit(self, numbers: Sequence[int]) -> None:
        """Run the post-commit hooks. Their exceptions are logged, not raised: the commit is done and must not look failed.

        `numbers`: those of the memories that were stored, changed or erased.
        """
        for hook in self._after_commit:
            try:
                hook(numbers)
            except Exception:
                import logging  # lazy: 5 ms that only a bug in a hook needs

                logging.getLogger(__name__).exception("a post-commit hook failed; what was written is committed")

    def find_copies(self, traces: "Sequence[Trace]", *, remove: bool) -> "FoundCopies":
        """Find purged memories in mirrored files and their backups; with `remove`, remove them there."""
        from omoide.service.copies import FoundCopies  # lazy: only a purge needs it

        return FoundCopies([], []) if self._find_copies is None else self._find_copies(traces, remove)

    def after_mirror_change(self) -> None:
        """Run the hooks after a mirror was added, changed or removed."""
        for hook in self._mirrors_changed:
            hook()
