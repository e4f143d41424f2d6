"""Corrections between the turns of an agent: its hooks say when a turn begins and ends in a work tree."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from omoide.guard import permissions, secrets
from omoide.model import AgentFile, Scope, TreeFile, WorkTreeRecord, WorkTreeState
from omoide.service.candidate_store import LearningReport
from omoide.service.corrections import Corrections, changed_files
from omoide.service.repositories import Repositories
from omoide.settings import Settings

_AT_WORK = timedelta(minutes=30)
"""How long an agent may be at work in a turn: what changes until then is its own work, and no person's."""
_JUST_NOW = timedelta(seconds=10)
"""Within this time the state of a work tree is not read again for the same session."""
_MOST_TEXT = 64_000
"""Characters that a hook makes free of secrets, which takes it 25 ms. What is longer is not learnt from."""


class TurnCorrections(Repositories, Corrections):
    """Operations that learn from what people do between the turns of an agent."""

    def begin_turn(
        self, directory: str | Path, *, session: str = "", message: str = "", scope: Scope | None = None
    ) -> LearningReport:
        """Learn from what a person changed since the last turn of an agent in a git work tree, and record its state.

        Call it when a prompt was submitted, before the agent works on it: at the end of the turn, what differs from this
        state is the agent's work. `session`: the session of the client; empty: nobody begins to work. `message`: the prompt,
        which may correct what another session did there. `scope`: by default the project of the directory.

        Nothing is learnt while another session is at work there: its changes are not a person's. Of a work tree without
        earlier turns, only the state is recorded. See `learn_corrections` for what a correction is.
        """
        permissions.require(self._actor, "begin_turn")
        from omoide.files.git import work_tree  # lazy: see `learn_corrections`

        root = work_tree(Path(directory)) if Path(directory).is_dir() else None
        if root is None or self._writes.run:  # whoever started a run learns from it
            return LearningReport()
        settings = self._repository_settings(root)
        if not (settings.memories_enabled and settings.learn_from_sessions):
            return LearningReport()
        scope = self._scope_at(root, scope)
        at = self._clock()
        known = self._known_tree(scope, root)
        if not scope.path or (known is not None and _is_busy(known, session, at)):
            return LearningReport()
        if known is None and not session:
            return LearningReport()
        from omoide.files.work_tree_state import read_work_tree_state  # lazy: see `learn_corrections`

        now = read_work_tree_state(root)
        if now is None:
            return LearningReport()
        is_new = known is not None and known.run != session
        report = self._draw_corrections(known, now, scope, message if is_new else "", session or None)
        begun = replace(now, files=tuple(_begun_files(now, known)))
        self._put(WorkTreeRecord(begun, at, None, tuple(_untouched(known, session)), session), scope)
        return report

    def _end_turn(self, state: WorkTreeState, session: str, scope: Scope | None) -> None:
        """Record what an agent changed in a turn that ends: what differs from the state at its beginning."""
        root = Path(state.root)
        scope = self._scope_at(root, scope)
        if not scope.path or self._writes.run or not session:
            return
        known = self._known_tree(scope, root)
        if known is not None and known.run == session and _is_same(known.state, state):
            return  # the end of the same turn, once more
        files: dict[str, AgentFile] = {}
        if known is not None and known.run is None:  # else it is not known what was there before
            files |= {file.path: file for file in known.files}
            files |= {file.path: file for file in changed_files(known.state, state, None, _MOST_TEXT)}
        other = known.session if known is not None and known.session != session else ""
        digests = replace(state, files=tuple(replace(file, text=None) for file in state.files))
        self._put(WorkTreeRecord(digests, self._clock(), session, tuple(files.values()), other), scope)

    def _repository_settings(self, place: Path | None) -> Settings:
        """The settings, further silenced by those of the repository. Raises Unreadable if its file is not valid.

        A repository can keep memories out of its conversations, and never bring in those that the user keeps out.
        """
        if place is None or not (place / self._settings.memories_directory).is_dir():
            return self._settings
        from omoide.files.repo_config import with_repository_settings  # lazy: few repositories have such a file

        own, given = self._settings, with_repository_settings(self._settings, place)[0]
        return replace(
            own,
            memories_enabled=own.memories_enabled and given.memories_enabled,
            memories_inject=given.memories_inject if own.memories_inject == "auto" else own.memories_inject,
        )

    def _scope_at(self, root: Path, scope: Scope | None) -> Scope:
        from omoide.files.git import git_root  # lazy: see `learn_corrections`

        if scope is not None:
            return Scope(scope.path)
        main = git_root(root)
        return Scope.everywhere() if main is None else self.locate(main)

    def _known_tree(self, scope: Scope, root: Path) -> WorkTreeRecord | None:
        if not scope.path:
            return None
        with self._store.read() as tx:  # without importing edits of files first: a person waits
            return tx.work_tree(scope, str(root))


def _is_busy(known: WorkTreeRecord, session: str, at: datetime) -> bool:
    """Whether an agent is at work in the work tree: in another session, or in a turn of this one that has just begun."""
    if known.session and known.session != session:
        return at - known.at < _AT_WORK
    return known.run is None and known.session == session and at - known.at < _JUST_NOW


def _is_same(one: WorkTreeState, other: WorkTreeState) -> bool:
    """Whether nothing was changed between two states of a work tree."""
    digests = [{file.path: file.digest for file in state.files} for state in (one, other)]
    return one.head == other.head and digests[0] == digests[1]


def _untouched(known: WorkTreeRecord | None, session: str) -> Iterator[AgentFile]:
    """The files that the agent wrote in earlier turns of the session, and nobody changed since."""
    from omoide.files.work_tree_state import read_files  # lazy: see `learn_corrections`

    if known is None or not session or session not in (known.run, known.session):
        return
    present = {file.path: file.digest for file in read_files(Path(known.state.root), [file.path for file in known.files])}
    yield from (file for file in known.files if file.digest and present.get(file.path) == file.digest)


def _begun_files(now: WorkTreeState, known: WorkTreeRecord | None) -> Iterator[TreeFile]:
    """The files of a work tree with their texts, without secrets. What was recorded before is not searched again."""
    texts: dict[str, str | None] = {}
    if known is not None:
        texts = {file.digest: file.text for file in known.state.files} | {file.digest: file.text for file in known.files}
    room = _MOST_TEXT
    for file in now.files:
        text = texts.get(file.digest) if file.digest else None
        if text is None and file.text is not None and len(file.text) <= room:
            room -= len(file.text)
            text = secrets.redact(file.text)
        yield replace(file, text=text)
