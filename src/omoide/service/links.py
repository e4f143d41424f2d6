"""Links between memories."""

from collections.abc import Iterable, Sequence

from omoide.errors import InvalidInput
from omoide.guard import permissions
from omoide.model import Link, Linked, LinkKind, Memory, Scope
from omoide.service.core import Core, Ref
from omoide.storage.base import Reader


class Links(Core):
    """Operations on links."""

    def links(self, ref: Ref, *, scope: Scope) -> Sequence[Link]:
        """Return the links from and to a memory whose other end the scope sees as well. Raises NotFound."""
        permissions.require(self._actor, "links")
        with self._read(scope) as tx:
            number = self._find(tx, ref, scope).number
            # A global memory may be linked from any project, which the scope may not see.
            return [link for link in tx.links(number) if self._sees_all(tx, (link.source, link.target), scope)]

    def _sees_all(self, tx: Reader, ids: Iterable[str], scope: Scope) -> bool:
        return all((memory := tx.memory(id)) is not None and self._is_visible(memory, scope) for id in ids)

    def link(self, ref: Ref, kind: LinkKind | str, other: Ref, *, scope: Scope) -> Linked:
        """Link the memory `ref` to the memory `other`.

        `kind`: how the first relates to the second: a `LinkKind`, or its text. Returns the link, and whether it is new.
        Raises NotFound for a memory that the scope does not see, and InvalidInput for an unknown kind or a link to itself.
        """
        permissions.require(self._actor, "link")
        kind = _link_kind(kind)
        with self._writes.transaction() as write:
            source, target = self._linked_memories(write.tx, ref, other, scope)
            is_new = write.tx.link(source.number, kind, target.number, write.at)
            if is_new:
                write.log("linked", source, {"kind": kind.value, "to": target.number})
            ends = (source.id, kind, target.id)
            link = next(each for each in write.tx.links(source.number) if (each.source, each.kind, each.target) == ends)
            write.result = done = Linked(link, is_new)
        return done

    def unlink(self, ref: Ref, kind: LinkKind | str, other: Ref, *, scope: Scope) -> bool:
        """Remove the link of this `kind` from the memory `ref` to the memory `other`; return False if there is none.

        Raises what `link` raises.
        """
        permissions.require(self._actor, "unlink")
        kind = _link_kind(kind)
        with self._writes.transaction() as write:
            source, target = self._linked_memories(write.tx, ref, other, scope)
            was_linked = write.tx.unlink(source.number, kind, target.number)
            if was_linked:
                write.log("unlinked", source, {"kind": kind.value, "to": target.number})
            write.result = was_linked
        return was_linked

    def _linked_memories(self, tx: Reader, ref: Ref, other: Ref, scope: Scope) -> tuple[Memory, Memory]:
        """Return the two memories of a link. Raises InvalidInput for a memory that is to be linked to itself."""
        source, target = self._find(tx, ref, scope), self._find(tx, other, scope)
        self._writes.require_layer(source.scope)
        if source.number == target.number:
            raise InvalidInput(f"#{source.number} cannot be linked to itself")
        return source, target


def _link_kind(name: LinkKind | str) -> LinkKind:
    try:
        return LinkKind(name)
    except ValueError:
        raise InvalidInput(f"there is no kind of link {name!r}: use {', '.join(LinkKind)}") from None
