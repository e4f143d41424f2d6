"""Import what Claude Code has learnt, and leave out what cannot be stored."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from omoide.errors import InvalidInput
from omoide.model import Draft, Memory, Remembered, Scope
from omoide.service import Service
from omoide.transfer.claude_code.facts import parse_directory
from omoide.transfer.claude_code.files import memory_directory, read_files

OUTCOMES = {"created": "added", "updated": "replaced", "unchanged": "known"}
"""What became of a fact, by the action of `remember`."""


class ImportedFact(msgspec.Struct, frozen=True):
    """A fact of a file, and the memory that holds it."""

    outcome: str
    """`added`, `replaced` or `known`."""
    file: str
    line: int
    memory: Memory


class ClaudeCodeImport(msgspec.Struct, frozen=True):
    """The result of an import."""

    facts: Sequence[ImportedFact]
    left_out: Sequence[str]
    """Files and facts that could not be imported, and why."""

    def count(self, outcome: str) -> int:
        """Return how many facts had this outcome."""
        return sum(fact.outcome == outcome for fact in self.facts)


class _SourcedDraft(msgspec.Struct, frozen=True):
    file: str
    line: int
    draft: Draft


def import_facts(
    service: Service, paths: Sequence[Path], *, scope: Scope, here: Path, dry_run: bool = False
) -> ClaudeCodeImport:
    """Import the facts of these directories and files into `scope`.

    Without paths, those of Claude Code's memory directory for the project that `here` is in. A fact that is known, in any
    version of a memory, stays as it is. A file that cannot be read and a fact that is refused, as for a secret, are
    left out. `dry_run` stores nothing. Raises NotFound if Claude Code has no memory of the project, Unreadable if a path
    cannot be read.
    """
    drafts, left_out = _read_drafts(paths or [memory_directory(here)], scope)
    stored, refused, results = _store_drafts(service, drafts, dry_run=dry_run)
    facts = [
        ImportedFact(OUTCOMES[result.action], draft.file, draft.line, result.memory)
        for draft, result in zip(stored, results, strict=True)
    ]
    return ClaudeCodeImport(facts, [*left_out, *refused])


def _read_drafts(paths: Sequence[Path], scope: Scope) -> tuple[list[_SourcedDraft], list[str]]:
    """The facts of the files, and what is wrong with files that cannot be understood."""
    drafts: list[_SourcedDraft] = []
    left_out: list[str] = []
    for path in paths:
        files, unread = read_files(path)
        parsed = parse_directory({name: file.text for name, file in files.items()})
        for fact in parsed.facts:
            file = files[fact.file]
            draft = msgspec.structs.replace(fact.draft, scope=scope, created_at=file.at)
            drafts.append(_SourcedDraft(str(file.path), fact.line, draft))
        left_out += [*unread, *parsed.troubles]
    return drafts, left_out


def _store_drafts(
    service: Service, drafts: Sequence[_SourcedDraft], *, dry_run: bool
) -> tuple[list[_SourcedDraft], list[str], Sequence[Remembered]]:
    """Store all drafts in one transaction; after a refusal, try again without the one that was refused."""
    left, refused, current = list(drafts), [], 0

    def watch(number: int) -> None:
        nonlocal current
        current = number

    while True:
        try:
            results = service.import_drafts([each.draft for each in left], dry_run=dry_run, watch=watch)
        except InvalidInput as error:  # fallback: the others; this one is reported
            culprit = left.pop(current)
            refused.append(f"{culprit.file}, line {culprit.line}: {error}")
        else:
            return left, refused, results
