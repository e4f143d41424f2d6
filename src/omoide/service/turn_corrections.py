"""Corrections between the turns of an agent: its hooks say when a turn begins and ends in a work tree."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from omoide.guard import permissions, secrets, validation
from omoide.model import AgentFile, Scope, TreeFile, WorkTreeRecord, WorkTreeState
from omoide.service.candidate_store import LearningReport
from omoide.service.corrections import KEPT_FOR, Corrections, changed_files
from omoide.service.hook_calls import HookCalls
from omoide.service.recorded_names import identifier, read_work_tree
from omoide.service.repositories import Repositories

_AT_WORK = timedelta(minutes=30)
"""How long an agent may be at work in a turn: what changes until then is its own work, and no person's."""
_JUST_NOW = timedelta(seconds=10)
"""Within this time the state of a work tree is not read again for the same session."""
_MOST_TEXT = 64_000
"""Characters that a hook makes free of secrets, which takes it 25 ms. What is longer is not learnt from."""


class TurnCorrections(HookCalls, Repositories, Corrections):
    """Operations that learn from what people do between the turns of an agent."""

    def begin_turn(
        self, directory: str | Path, *, session: str = "", message: str = "", scope: Scope | None = None
    ) -> LearningReport:
        """Learn from what a person changed since the last turn of an agent in a git work tree, and record its state.

        Call it when a prompt was submitted, before the agent works on it: at the end of the turn, what differs from this
        state is the agent's work.

        `directory`: any directory of the work tree. `session`: the session of the client; empty: no turn begins. `message`:
        the prompt, which may correct what another session did there. `scope`: by default the project of the directory.

        Nothing is learnt while another session is at work there: its changes are not a person's. Of a work tree without
        earlier turns, only the state is recorded. See `learn_corrections` for what a correction is. Returns what was learnt.
        """
        permissions.require(self._actor, "begin_turn")
        session = identifier(session)
        root, scope = self._place_of_turn(directory, scope)
        if root is None:
            return LearningReport()
        at, known = self._clock(), self._known_tree(scope, root)
        if (known is None and not session) or (known is not None and _is_busy(known, session, at)):
            return LearningReport()
        now = read_work_tree(root)
        if now is None:
            return LearningReport()
        is_new = known is not None and known.run != session
        report = self._draw_corrections(known, now, scope, message if is_new else "", session or None)
        begun = replace(now, files=tuple(_begun_files(now, known)))
        self._store_tree(WorkTreeRecord(begun, at, None, tuple(_untouched_files(known, session)), session), scope)
        return report

    def end_turn(self, directory: str | Path, *, session: str = "", scope: Scope | None = None) -> None:
        """Record what an agent changed in a git work tree in a turn that ends: what differs from the state at its beginning.

        `directory`: any directory of the work tree. `session`: the session of the client; without one nothing is recorded.
        `scope`: by default the project of the directory. If `begin_turn` was not called, it is only recorded that there was
        a turn.
        """
        permissions.require(self._actor, "end_turn")
        session = identifier(session)
        root, scope = self._place_of_turn(directory, scope)
        if root is None or not session:
            return
        known, state = self._known_tree(scope, root), read_work_tree(root)
        if state is None or (known is not None and known.run == session and _is_same(known.state, state)):
            return  # the end of the same turn, once more
        files: dict[str, AgentFile] = {}
        if known is not None and known.run is None:  # else it is not known what was there before
            files |= {file.path: file for file in known.files}
            files |= {file.path: file for file in changed_files(known.state, state, None, _MOST_TEXT)}
        other = known.session if known is not None and known.session != session else ""
        digests = replace(state, files=tuple(replace(file, text=None) for file in state.files))
        self._store_tree(WorkTreeRecord(digests, self._clock(), session, tuple(files.values()), other), scope)

    def _place_of_turn(self, directory: str | Path, scope: Scope | None) -> tuple[Path | None, Scope]:
        """The work tree of a directory and its project; None where nothing is to be learnt from it."""
        from omoide.files.git import work_tree  # lazy: see `learn_corrections`

        nowhere = None, Scope.everywhere()
        try:
            root = work_tree(Path(directory)) if directory and Path(directory).is_dir() else None
        except (OSError, ValueError, RuntimeError):  # fallback: a directory that cannot be read is in no work tree
            return nowhere
        if root is None or self._writes.run:  # the program that started a run learns from it
            return nowhere
        settings = self._repository_settings(root)
        if not (settings.memories_enabled and settings.learn_from_sessions):
            return nowhere
        scope = validation.check_scope(self._scope_at(root, scope))
        return (root, scope) if scope.path else nowhere

    def _store_tree(self, record: WorkTreeRecord, scope: Scope) -> None:
        """Store what is known of a work tree; where there is no database yet, it is lost."""
        permissions.require_place(self._actor, scope)
        self._write_soon(lambda tx: tx.put_work_tree(scope, record, drop_before=record.at - KEPT_FOR))

    def _scope_at(self, root: Path, scope: Scope | None) -> Scope:
        from omoide.files.git import git_root  # lazy: see `learn_corrections`

        if scope is not None:
            return Scope(scope.path)
        if self._settings.project:
            return Scope.project(self._settings.project)
        main = git_root(root)
        found = None if main is None else self.identify(main)
        # A repository becomes a project when something is stored or learnt there, and not by a prompt.
        return found.scope if found is not None and found.is_stored else Scope.everywhere()

    def _known_tree(self, scope: Scope, root: Path) -> WorkTreeRecord | None:
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


def _untouched_files(known: WorkTreeRecord | None, session: str) -> Iterator[AgentFile]:
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
