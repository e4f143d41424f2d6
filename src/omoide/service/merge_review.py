"""Let a person decide on memories that may say the same in other words: merge them, or keep both from now on."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from omoide.model import LinkKind, Memory

if TYPE_CHECKING:  # for annotations
    from omoide.lifecycle.deduplication import Proposal
    from omoide.service import Service


def pairs_to_review(memory: "Service") -> "Sequence[Proposal]":
    """Return the pairs that a reindex would only propose to merge, after making the missing vectors, which find them.

    `Service.reindex` takes those that a person approves. Raises EmbedderUnavailable, and NotAllowed.
    """
    memory.embed_pending()
    return memory.reindex(dry_run=True).plan.proposals


def keep_both(memory: "Service", one: Memory, other: Memory, *, contradict: bool) -> None:
    """Link two memories of a pair, so that no reindex merges or proposes them again.

    `contradict`: they say the opposite; otherwise they only relate. Raises NotFound, and NotAllowed.
    """
    kind = LinkKind.CONTRADICTS if contradict else LinkKind.RELATES
    memory.link(one.number, kind, other.number, scope=one.scope)
