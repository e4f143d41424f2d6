"""Corrections become memories: what a person changes in the lines that an agent wrote, or says of them, between two runs."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from omoide.guard import permissions, secrets, validation
from omoide.model import AgentFile, Run, Scope, TreeFile, WorkTreeRecord, WorkTreeState
from omoide.service.candidate_store import CandidateStore, LearningReport, join_reports
from omoide.service.core import Ref
from omoide.service.recorded_names import identifier, read_work_tree
from omoide.storage.base import Reader

if TYPE_CHECKING:  # only a process that learns needs it
    from omoide.learning.candidates import Candidate

_CONFIDENCE = 0.6
"""The confidence of what a person changed or said once: it waits until it is seen twice, or confirmed."""
_SAID_IN_GENERAL = 0.7
"""The confidence of what a person says holds in general: it waits, too."""
_MOST_TEXT = 400_000
"""Characters of the files that an agent wrote, that are kept until the next run."""
_MOST_FILES = 100
_MOST_CORRECTIONS = 10
"""The most corrections at once; a person who changes more rewrites the files."""
KEPT_FOR = timedelta(days=30)
"""How long the record of a work tree waits for the next run."""


class Corrections(CandidateStore):
    """Operations that learn from what people do to the work of agents."""

    def record_work_tree(self, run: Ref | None, directory: str | Path, *, scope: Scope) -> WorkTreeRecord | None:
        """Record what an agent changed in a git work tree, when its run ends.

        What it changed is what differs from the state at the start of the run, if `learn_corrections` was called then;
        else from the commit that was checked out when the run began. `run`: the number or the id of the run; None: it is not
        known. `directory`: any directory of the work tree. `scope`: the project.

        Only texts of a bounded size are recorded, without secrets. Returns the record; None where there is no work tree,
        or git does not answer.
        """
        permissions.require(self._actor, "record_work_tree")
        state = read_work_tree(Path(directory))
        if state is None:
            return None
        with self._read(scope) as tx:
            known, found = tx.work_tree(scope, state.root), _find_run(tx, run, scope)
        id = found.id if found is not None else identifier(str(run)) if run is not None else ""
        base = known.state if known is not None and known.run is None else None
        files = tuple(_within_limits(changed_files(base, state, found)))
        record = WorkTreeRecord(replace(state, files=()), self._clock(), id, files)
        return self._put(record, scope)

    def learn_corrections(
        self, directory: str | Path, *, scope: Scope, message: str = "", run: str | None = None
    ) -> LearningReport:
        """Learn from what a person changed since the last run in a git work tree, in the lines that the agent wrote.

        Call it before a run begins: it also records the state of the work tree, so that `record_work_tree` knows what the
        run has changed.

        `directory`: any directory of the work tree. `scope`: the project. `message`: what the person says at the beginning
        of that run; what it rejects of the last run's work ("No, use pnpm instead of npm") is a correction too. `run`: the
        id of the run that begins: what `learn` finds in the same message later is not counted as a second time.

        Each correction is a proposal of the kind `correction`, with a glob of its files as a tag and the diff as its
        example. Found a second time, after another run, it becomes active. What a person says against an earlier learning
        replaces it, and is active at once.

        What git does to the files (switching branches, merging, rebasing, stashing) is no correction, and neither is what a
        formatter does. Without a work tree, or a record of a run in it, nothing is learnt. Returns what was learnt.
        """
        permissions.require(self._actor, "learn_corrections")
        now = read_work_tree(Path(directory))
        if now is None:
            return LearningReport()
        with self._read(scope) as tx:
            known = tx.work_tree(scope, now.root)
        report = self._draw_corrections(known, now, scope, message, run)
        begun = replace(now, files=tuple(map(_redact_file, now.files)))
        self._put(WorkTreeRecord(begun, self._clock()), scope)
        return report

    def _draw_corrections(
        self, known: WorkTreeRecord | None, now: WorkTreeState, scope: Scope, message: str = "", run: str | None = None
    ) -> LearningReport:
        """Store what a person changed in the work tree since a run ended, and what a message says of that run."""
        from omoide.files.work_tree_state import is_persons_work  # lazy: only learning needs it

        if known is None or known.run is None:
            return LearningReport()
        changed: list[Candidate] = []
        if known.files and is_persons_work(known.state, now):
            changed = list(_candidates(known.files, now))[:_MOST_CORRECTIONS]
        report = self._store_candidates(changed, [], scope, known.run or None) if changed else LearningReport()
        if message:
            with self._read(scope) as tx:
                last = _find_run(tx, known.run, scope)
            said = list(_corrections_in(message, known.files, last))[:_MOST_CORRECTIONS]
            report = join_reports([report, self._store_candidates(said, [], scope, run or known.run or None)])
        return report

    def _put(self, record: WorkTreeRecord, scope: Scope) -> WorkTreeRecord:
        permissions.require_place(self._actor, validation.check_scope(scope))
        with self._writes.transaction() as write:
            write.tx.put_work_tree(scope, record, drop_before=record.at - KEPT_FOR)
        return record


def _find_run(tx: Reader, run: Ref | None, scope: Scope) -> Run | None:
    text = "" if run is None else str(run)
    found = tx.run(scope, text) if text else None
    return found or (tx.run(scope, int(text)) if text.isascii() and text.isdigit() and len(text) < 10 else None)


def changed_files(
    base: WorkTreeState | None, state: WorkTreeState, run: Run | None, most: int = 2 * _MOST_TEXT
) -> Iterator[AgentFile]:
    """Yield the files that an agent changed in a work tree, with the lines that it wrote.

    `base`: the state at the start of the run; None: not known, then the commit that was checked out when `run` started
    counts, or else the current commit. `state`: the state at the end of the run. `run`: None: not known. `most`: characters
    of texts after which no more files are read.
    """
    from omoide.files.work_tree_state import commits_paths, head_at, read_committed, read_files  # lazy: as above
    from omoide.learning.file_corrections import agent_hunks, is_generated  # lazy: as above

    root = Path(state.root)
    # Git counts seconds: what was committed in the second before the run counts as the agent's.
    since = "" if run is None else (run.started_at.replace(microsecond=0) - timedelta(seconds=1)).isoformat()
    head = base.head if base is not None else head_at(root, since) if since else state.head
    begun = {file.path: file for file in base.files} if base is not None else {}
    paths = {*begun, *(file.path for file in state.files), *commits_paths(root, head, state.head, since)}
    wanted = sorted(path for path in paths if not is_generated(path) and not validation.secret_in(path))[:_MOST_FILES]
    before_run: dict[str, str | None] = dict(read_committed(root, head, [path for path in wanted if path not in begun]))
    before_run |= {path: file.text if file.digest else "" for path, file in begun.items()}
    for file in read_files(root, wanted):
        before = before_run.get(file.path, "")
        if file.text is None or before is None or before == file.text:
            continue
        most -= len(file.text)
        if most < 0:
            return
        old, new = secrets.redact(before), secrets.redact(file.text)
        hunks = agent_hunks(old, new)
        if hunks:
            yield AgentFile(file.path, new, hunks, not before, file.digest)


def _within_limits(files: Iterator[AgentFile]) -> Iterator[AgentFile]:
    room = _MOST_TEXT
    for file in sorted(files, key=lambda file: len(file.text)):
        room -= len(file.text)
        if room >= 0:
            yield file


def _candidates(files: Sequence[AgentFile], now: WorkTreeState) -> "Iterator[Candidate]":
    from omoide.files.work_tree_state import read_files  # lazy: as above
    from omoide.learning.candidates import Candidate  # lazy: as above
    from omoide.learning.file_corrections import find_corrections  # lazy: as above

    present = {file.path: file for file in read_files(Path(now.root), [file.path for file in files])}
    for file in files:
        there = present.get(file.path)
        if there is None or (there.digest and there.text is None):
            continue  # it became a link, or is no text any more
        if not there.digest and _is_moved(file, now):
            continue
        text = None if there.text is None else secrets.redact(there.text)
        for correction in find_corrections(file, text):
            globs = (correction.glob,) if correction.glob else ()
            yield Candidate(
                *(correction.text, "correction", _CONFIDENCE, 0),
                by_person=True,
                in_files=True,
                globs=globs,
                evidence=correction.evidence,
            )


def _corrections_in(message: str, files: Sequence[AgentFile], last: Run | None) -> "Iterator[Candidate]":
    """What a message corrects in the work of the last run."""
    from omoide.learning.candidates import Candidate  # lazy: as above
    from omoide.learning.noise import has_credential  # lazy: as above
    from omoide.learning.spoken_corrections import find_spoken_corrections  # lazy: as above

    asked = "" if last is None else (last.task.title or last.task.description).strip().partition("\n")[0]
    for correction in find_spoken_corrections(message, files, asked):
        if has_credential(correction.text):
            continue
        yield Candidate(
            *(correction.text, "correction", _SAID_IN_GENERAL if correction.is_general else _CONFIDENCE, 0),
            by_person=True,
            globs=correction.globs,
            evidence=correction.evidence,
        )


def _is_moved(file: AgentFile, now: WorkTreeState) -> bool:
    """Whether a file that is gone is somewhere else: under the same name, or with the same text."""
    from omoide.files.work_tree import list_files  # lazy: as above

    name = file.path.rpartition("/")[2]
    if any(other.rpartition("/")[2] == name for other in list_files(Path(now.root)) if other != file.path):
        return True
    return any(other.text is not None and secrets.redact(other.text) == file.text for other in now.files)


def _redact_file(file: TreeFile) -> TreeFile:
    return file if file.text is None else replace(file, text=secrets.redact(file.text))
