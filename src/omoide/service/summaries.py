"""Summarise a project: old entries of its log become a short text, and are archived; the last summary can be undone.

See docs/decisions/0032-summaries.md. The database is the master: the summary, its links and the archived entries are one
transaction, and the files of the project's tree follow it.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from omoide.errors import Changed, InvalidInput, OmoideError, SecretFound
from omoide.guard import permissions, validation
from omoide.model import Draft, Layer, LinkKind, Memory, Query, Scope, State
from omoide.service import versioning
from omoide.service.core import require_project
from omoide.service.retention import exemption
from omoide.service.trees import ProjectFiles, Trees
from omoide.service.write_path import MemoryTransaction
from omoide.storage.base import MemoryChange, Reader

if TYPE_CHECKING:  # many patterns: 40 ms that only a summary pays for
    from omoide.service.summary_choice import SummaryChoice
    from omoide.service.summary_parts import PendingSummary

_OWN = (Layer.PROJECT, Layer.SESSION)
_ATTEMPTS = 5
"""How often a summary is tried, each time without the entries that somebody changed meanwhile."""


class SummaryFile(msgspec.Struct, frozen=True):
    """A file of the project's tree, as it is and as a summary would leave it."""

    name: str
    session: str
    """The session that it is of; empty: the project itself."""
    before: str
    after: str


class SummaryResult(msgspec.Struct, frozen=True):
    """What a summary did, or would do."""

    success: bool
    """False: it failed, and everything is as before. True also where there was nothing to do."""
    original_size: int
    """Bytes of MEMORY.md and the files of sessions before; without a tree, of what they would say."""
    new_size: int
    entries_summarized: int = 0
    entries_preserved: int = 0
    """Memories of the project that stay as they are."""
    backup_path: str = ""
    """The file with all memories of the project as they were, for `omoide import`; empty: nothing was changed."""
    is_due: bool = True
    """Whether the size is over the setting `summarize_threshold`."""
    summaries: list[Memory] = []
    """The new memories; in a dry run, without their numbers."""
    archived: list[Memory] = []
    """The entries that they stand for, as they were before."""
    preserved: dict[str, int] = {}
    """How many memories stay as they are, by the reason: pinned, decision, recent, knowledge (a type of its own, a key, …),
    summary (an earlier one), few (too few in their layer), changed (while the summary was made), short (a summary would not
    be shorter)."""
    files: list[SummaryFile] = []
    """Of a dry run, the files that would change."""
    trouble: str = ""
    """Why it failed, why the language model did not help, or what changed meanwhile."""
    dry_run: bool = False

    @property
    def before(self) -> str:
        """Of a dry run, the texts of the files that would change, one after the other."""
        return "\n".join(file.before for file in self.files)

    @property
    def after(self) -> str:
        """Of a dry run, the texts of the same files as they would be."""
        return "\n".join(file.after for file in self.files)


class SummaryUndo(msgspec.Struct, frozen=True):
    """What undoing a summary did."""

    restored: list[Memory]
    """The entries that are active again."""
    forgotten: list[Memory]
    """The summaries that stood for them."""
    edited: list[Memory]
    """Summaries that somebody has changed since: they stay."""


class Summaries(Trees):
    """Operations that summarise a project."""

    def summary_due(self, *, scope: Scope) -> bool:
        """Return whether a project is due for a summary.

        It is if MEMORY.md and its sessions are larger than the setting `summarize_threshold`, and a summary would make them
        smaller. `scope`: the project, or one of its sessions; the global layer is never due.
        """
        permissions.require(self._actor, "summary_due")
        if not scope.path or not self._settings.summarize_threshold:
            return False
        project = Scope(scope.path)
        with self._read(project) as tx:
            if tx.project(project.path) is None or not self._is_over_threshold(tx, project):
                return False
            choice = self._choose_entries(tx, project)
        return bool(self._summarize_choice(choice))

    def summarize(self, *, scope: Scope, dry_run: bool = False, force: bool = False, ask: bool = True) -> SummaryResult:
        """Replace the old entries of a project's log by a summary, and archive them.

        Pinned memories, decisions, memories with a type of their own, and everything of the last seven days stay word for
        word. Every summary has `derived_from` links to the entries; `undo_summary` brings them back.

        `scope`: the project, or one of its sessions. `dry_run`: only return what would be done; no model is asked.
        `force`: also if the project is not larger than the setting `summarize_threshold`. `ask`: whether the language model
        writes the summary, where one is configured; otherwise it consists of sentences of the entries.

        An entry that somebody changes meanwhile stays as it is. Returns what was done; if it failed, nothing has changed,
        and `success` is False. Raises InvalidInput for the global layer, NotFound and NotAllowed.
        """
        permissions.require(self._actor, "summarize")
        project = self._require_log(scope)
        if dry_run:
            return self._preview_summary(project)
        with self._read(project) as tx:
            size, is_due = self._log_files(tx, project).log_bytes, self._is_over_threshold(tx, project)
        result = SummaryResult(success=False, original_size=size, new_size=size, is_due=is_due)
        try:
            with self._store.task_lock("summary"):
                return self._replace_by_summary(project, result, force=force, ask=ask)
        except OmoideError as error:  # fallback: nothing has changed, and the result says why
            return msgspec.structs.replace(result, trouble=str(error))

    def undo_summary(self, *, scope: Scope) -> SummaryUndo:
        """Take back the last summary of a project: its entries are active again, and the summary is forgotten.

        Entries that were changed, restored or forgotten since stay as they are, and so does a summary that somebody has
        changed. `scope`: the project, or one of its sessions. Returns what was restored, forgotten, and left because it was
        edited. Raises InvalidInput for the global layer, NotFound and NotAllowed.
        """
        permissions.require(self._actor, "undo_summary", "undo a summary")
        from omoide.service.summary_choice import originals  # lazy: only a summary needs it

        project = self._require_log(scope)
        self._hooks.before_read(project)
        with self._writes.transaction() as write:
            undone: dict[str, list[Memory]] = {"restored": [], "forgotten": [], "edited": []}
            for summary in self._last_summaries(write.tx, project):
                for original in originals(write.tx, summary):
                    if not self._is_visible(original, project):
                        continue  # promoted since, or moved to another project
                    active = versioning.with_fields(original, {"state": State.ACTIVE})
                    undone["restored"].append(write.change(original, active, "restored", original.author))
                if summary.state is State.FORGOTTEN:
                    continue
                if _is_edited(write.tx, summary):
                    undone["edited"].append(summary)
                else:
                    forgotten = versioning.with_fields(summary, {"state": State.FORGOTTEN})
                    undone["forgotten"].append(write.change(summary, forgotten, "forgotten", summary.author))
        return SummaryUndo(**undone)

    # What is there

    def _require_log(self, scope: Scope) -> Scope:
        if not scope.path:
            raise InvalidInput("the global layer is not summarised: name a project")
        project = Scope(scope.path)
        permissions.require_place(self._actor, project)
        self._adopt_trees(project.path)
        with self._read(project) as tx:
            require_project(tx, project.path)
        return project

    def _project_memories(self, tx: Reader, project: Scope) -> list[Memory]:
        """The current memories of a project and its sessions that the actor may know of."""
        query = permissions.narrow_or_refuse(self._actor, Query(project, layers=_OWN))
        return list(tx.browse(query, self._clock()))

    def _choose_entries(self, tx: Reader, project: Scope) -> "SummaryChoice":
        from omoide.service.summary_choice import choose  # lazy: see the top

        return choose(self._project_memories(tx, project), self._clock(), self._settings.summarize_types, exemption(tx))

    def _is_over_threshold(self, tx: Reader, project: Scope) -> bool:
        """Whether the files of a project, or the texts that they would have, are over the threshold."""
        threshold = self._settings.summarize_threshold
        if not threshold:
            return False
        tree = self._tree_of(tx, project.path)
        if tree is not None:
            with suppress(OmoideError):  # fallback: what the files should say
                return self._tree_files(tree).log_size() > threshold
        if sum(len(one.content.encode()) for one in self._project_memories(tx, project) if _is_in_log(one)) > threshold:
            return True  # the texts alone: with what stands around them, they are longer
        return self._log_files(tx, project).log_bytes > threshold

    def _log_files(self, tx: Reader, project: Scope) -> ProjectFiles:
        """MEMORY.md and the files of sessions; without a tree, what they would say."""
        known = require_project(tx, project.path)  # it may have been merged into another one a moment ago
        return self._project_files(tx, known, limit=None)

    def _last_summaries(self, tx: Reader, project: Scope) -> list[Memory]:
        """The summaries of the last run that can be undone: they have one time."""
        from omoide.service.summary_choice import SUMMARY_TAG, is_summary, originals, source_ids  # lazy: see the top

        query = permissions.narrow_or_refuse(
            self._actor, Query(project, layers=_OWN, tags=(SUMMARY_TAG,), states=tuple(State))
        )
        found = [memory for memory in tx.browse(query, self._clock()) if is_summary(memory) and source_ids(tx, memory)]
        found.sort(key=lambda memory: memory.created_at, reverse=True)
        for one in found:
            # One that somebody has changed stays after its entries are back: then the one before is the last.
            if originals(tx, one) or (one.state is State.ACTIVE and not _is_edited(tx, one)):
                return [memory for memory in found if memory.created_at == one.created_at]
        return []

    # Writing

    def _replace_by_summary(self, project: Scope, result: SummaryResult, *, force: bool, ask: bool) -> SummaryResult:
        """Summarise, and return the outcome; `result` is that of a failure."""
        from omoide.service.summary_parts import write_by_model  # lazy: see the top

        with self._read(project) as tx:
            choice = self._choose_entries(tx, project)
        pending = self._summarize_choice(choice) if result.is_due or force else []
        if not pending:
            return _with_counts(result, choice, ())
        backup = self._back_up_project(project)
        troubles: list[str] = []
        if ask and self._llm.is_enabled:
            pending, trouble = write_by_model(self._llm, pending, self._is_storable_summary)
            troubles += [trouble] if trouble else []
        summaries, stored, changed = self._store_summaries(project, pending)
        if changed:
            troubles.append(_changed_meanwhile(changed))
        try:
            with self._read(project) as tx:
                size = self._log_files(tx, project).log_bytes
        except OmoideError as error:  # fallback: the size is not known; the summary is stored, and must be reported as such
            size = result.original_size
            troubles.append(f"it is stored, but its size is not known: {error}")
        return msgspec.structs.replace(
            _with_counts(result, choice, stored, changed),
            new_size=size,
            backup_path=str(backup),
            summaries=summaries,
            trouble="; ".join(troubles),
        )

    def _summarize_choice(self, choice: "SummaryChoice") -> "list[PendingSummary]":
        from omoide.service.summary_parts import summarize_group  # lazy: see the top

        return self._storable_summaries(one for group in choice.groups for one in summarize_group(group))

    def _storable_summaries(self, pending: "Iterable[PendingSummary]") -> "list[PendingSummary]":
        """The summaries in which no secret is found. Entries of others stay as they are: one that was stored before its
        secret could be found, or several that look like a secret side by side."""
        from omoide.service.summary_parts import without_memories  # lazy: see the top

        found: list[PendingSummary] = []
        for one in pending:
            if self._is_storable_summary(one):
                found.append(one)
            else:
                secret = {memory.number for memory in one.sources if validation.secret_in(memory.content)}
                found += [rest for rest in without_memories([one], secret) if secret and self._is_storable_summary(rest)]
        return found

    def _is_storable_summary(self, one: "PendingSummary") -> bool:
        try:
            self._writes.check(one.draft)
        except SecretFound:  # the answer of this function
            return False
        return True

    def _back_up_project(self, project: Scope) -> Path:
        """Write all memories of the project, of any state, to a file beside the store."""
        from omoide.service.summary_backup import write_backup  # lazy: see the top

        at = self._clock()
        with self._read(project) as tx:
            every = tx.browse(Query(project, layers=_OWN, states=tuple(State)), at)
            linked = ((one, [link for link in tx.links(one.number) if link.source == one.id]) for one in every)
            return write_backup(Path(self._store.location), project.path, linked, at, self._settings.max_backups)

    def _store_summaries(
        self, project: Scope, pending: "Sequence[PendingSummary]"
    ) -> tuple[list[Memory], list[Memory], int]:
        """Store the summaries and archive what they stand for; return both, the second as it was before, and how many
        entries changed meanwhile.

        What somebody changed meanwhile, in the database or in a file, stays as it is, and its summary is made again without
        it, by rules: the model is not asked, and charged for, twice. Raises Changed where that does not end.
        """
        from omoide.service.summary_parts import without_memories  # lazy: see the top

        every: set[int] = set()
        for _ in range(_ATTEMPTS):
            self._hooks.before_read(project)  # edits of files, made while the model was thinking
            drafts = [self._writes.check(one.draft) for one in pending]
            with self._writes.transaction() as write:
                changed = _changed_numbers(write.tx, pending)
                if not changed:
                    summaries = [self._add_summary(write, *each) for each in zip(pending, drafts, strict=True)]
                    return summaries, [memory for one in pending for memory in one.sources], len(every)
            every |= changed
            pending = self._storable_summaries(without_memories(pending, changed))
            if not pending:
                return [], [], len(every)
        raise Changed(f"entries of {project} were changed again and again while they were summarised: try again later")

    def _add_summary(self, write: MemoryTransaction, one: "PendingSummary", draft: Draft) -> Memory:
        new = self._writes.new_memory(draft, write.at)
        # Of no run, and of the least trusted author: it says what others said.
        added = write.add(msgspec.structs.replace(new, author=one.author, source_run_id=None), "summarized")
        changes: list[MemoryChange] = []
        for old in write.tx.memories([memory.number for memory in one.sources]):
            archived = versioning.next_version(old, msgspec.structs.replace(old, state=State.ARCHIVED), write.at)
            changes.append((old, archived, versioning.memory_fingerprint(archived), versioning.build_index_entry(archived)))
        write.replace_many(changes)
        for old, archived, *_ in changes:
            write.log_change(old, archived, "archived", {"into": added.number})
            write.tx.link(added.number, LinkKind.DERIVED_FROM, old.number, write.at)
        return added

    def _preview_summary(self, project: Scope) -> SummaryResult:
        from omoide.service import tree_files  # lazy: see the top

        at = self._clock()
        with self._read(project) as tx:
            choice, is_due, files = (
                self._choose_entries(tx, project),
                self._is_over_threshold(tx, project),
                self._log_files(tx, project),
            )
        pending = self._summarize_choice(choice)
        summaries = [self._writes.new_memory(self._writes.check(one.draft), at) for one in pending]
        archived = [memory for one in pending for memory in one.sources]
        texts = {file.session: file.text for file in (files.memory, *files.sessions)}
        after = tree_files.rewrite(project.path, texts, summaries, archived)
        changed = [
            SummaryFile(tree_files.file_name(session), session, before, after[session])
            for session, before in texts.items()
            if after[session] != before
        ]
        gain = sum(len(file.before.encode()) - len(file.after.encode()) for file in changed)
        size = files.log_bytes
        result = SummaryResult(success=True, original_size=size, new_size=size - gain, is_due=is_due, dry_run=True)
        return msgspec.structs.replace(_with_counts(result, choice, archived), summaries=summaries, files=changed)


def _with_counts(
    result: SummaryResult, choice: "SummaryChoice", archived: Sequence[Memory], changed: int = 0
) -> SummaryResult:
    total = sum(choice.preserved.values()) + sum(len(group.memories) for group in choice.groups)
    reasons = {reason.value: count for reason, count in choice.preserved.items()}
    if changed:
        reasons["changed"] = changed
    rest = total - len(archived) - sum(reasons.values())
    return msgspec.structs.replace(
        result,
        success=True,
        entries_summarized=len(archived),
        entries_preserved=total - len(archived),
        preserved={**reasons, **({"short": rest} if rest > 0 else {})},
        archived=list(archived),
    )


def _changed_numbers(tx: Reader, pending: "Sequence[PendingSummary]") -> set[int]:
    """The memories that are not as they were when they were summarised, by their numbers."""
    sources = {memory.number: memory for one in pending for memory in one.sources}
    present = {memory.number: memory.version for memory in tx.memories(list(sources))}
    return {number for number, memory in sources.items() if present.get(number) != memory.version}


def _is_edited(tx: Reader, summary: Memory) -> bool:
    """Whether a summary says something else than when it was made."""
    first = tx.versions(summary.number)[0].memory
    return (first.content, first.topic) != (summary.content, summary.topic)


def _is_in_log(memory: Memory) -> bool:
    """Whether a memory stands in MEMORY.md or in the file of a session."""
    return bool(memory.scope.name) or not (memory.pinned or memory.type == "decision")


def _changed_meanwhile(number: int) -> str:
    if number == 1:
        return "1 entry changed meanwhile and stays as it is"
    return f"{number:,} entries changed meanwhile and stay as they are"
