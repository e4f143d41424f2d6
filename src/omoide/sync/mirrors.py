"""Use cases of mirrors: where a new one goes, add it with its first sync, and find the ones that a person names."""

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from omoide.errors import Conflict, InvalidInput, NotFound, OmoideError, Unreadable, Unwritable
from omoide.files.git import git_root, work_tree
from omoide.model import Choice, Held, Memory, Mirror, Scope, Side
from omoide.service.mirrors import directory_and_file
from omoide.settings import Settings
from omoide.sync.vanished import has_vanished

if TYPE_CHECKING:  # they load with the store
    from omoide.service import Service
    from omoide.service.mirrors import ConflictDetail
    from omoide.sync.engine import SyncEngine
    from omoide.sync.run import SyncReport

FORMATS = ("memories", "entries", "tree", "block")
_GUIDES = ("CLAUDE.md", "AGENTS.md", "GEMINI.md")
"""Files of instructions for agents: a mirror is a block in them."""

Report = tuple[Mirror, "SyncReport"]


class MirrorStatus(NamedTuple):
    """What keeps the files of a mirror from being in sync."""

    mirror: Mirror
    plan: "SyncReport"
    """What a sync would do."""
    held: Sequence["HeldEntry"]
    """What a sync leaves to a person."""

    @property
    def in_sync(self) -> bool:
        """Whether there is nothing to do and nothing to decide."""
        return not (self.plan.imported or self.plan.written or self.plan.troubles or self.held)


class HeldEntry(NamedTuple):
    """An entry that is not as its memory says, and is left so until a person decides."""

    memory: Memory
    file: str
    """The file that it was in, or is in, relative to the mirror's directory."""
    reason: Held
    why: str
    """The reason in words."""
    line: int = 0
    """Where its id is in the file, if that is there, but in no entry that can be read."""

    @property
    def is_missing(self) -> bool:
        """Whether the file lacks the entry."""
        return self.reason not in (Held.RETIRED, Held.OUTDATED)

    @property
    def is_retired(self) -> bool:
        """Whether the file has an entry of a memory that is not active."""
        return self.reason is Held.RETIRED

    @property
    def is_outdated(self) -> bool:
        """Whether the file has an entry with an earlier version of the memory."""
        return self.reason is Held.OUTDATED


def resolve_target(
    path: str | None, format: str | None, here: Path, settings: Settings, *, scope: Scope, entries: bool = False
) -> tuple[Path, str]:
    """Return the file or directory of a new mirror, as an absolute path in the main worktree, and its format.

    Without a path, the list of the repository that `here` is in; with `entries`, which is a file for each memory, the usual
    directory of the scope's entries: `.omoide/memory` in the repository of a project, `.omoide/NAME/memory` for a session,
    `memory` beside the store for the global layer. Without a format, the one that suits the path. Raises InvalidInput where
    there is no such default, or the format does not suit the path.
    """
    if entries and path is None:
        return _entries_directory(scope, here, Path(settings.store)), "entries"
    return _named_target(path, "entries" if entries else format, here, settings.memories_directory)


def _entries_directory(scope: Scope, here: Path, store: Path) -> Path:
    if not scope.path:
        return store.parent / "memory"
    root = git_root(here)
    if root is None:
        raise InvalidInput("name a directory: only a repository and the global layer have one of their own for entries")
    return root / ".omoide" / scope.name / "memory"


def _named_target(path: str | None, format: str | None, here: Path, list_directory: str) -> tuple[Path, str]:
    try:
        if path is None:
            return _default_target(format, here, list_directory)
        target = _in_main_worktree(_absolute(here / Path(path).expanduser()))
    except (OSError, RuntimeError) as error:  # the second is what pathlib raises for links in a circle
        raise InvalidInput(f"{path or 'this directory'} cannot be read ({error}): name another path") from error
    is_directory = target.is_dir() or path.endswith("/") or target.suffix != ".md"
    format = format or _format_for(target, is_directory=is_directory)
    if is_directory and format in ("memories", "block"):
        return target / ("memories.md" if format == "memories" else _GUIDES[0]), format
    if not is_directory and format in ("entries", "tree"):
        raise InvalidInput(f"{target} is a file, and the format {format} needs a directory of its own: name one")
    return target, format


def _absolute(path: Path) -> Path:
    """The path without links in its directories. A last name that is a link stays: the mirror is the link."""
    return path.parent.resolve() / path.name if path.name not in ("", "..") else path.resolve()


def _default_target(format: str | None, here: Path, list_directory: str) -> tuple[Path, str]:
    root = git_root(here)
    if root is None or format not in (None, "memories"):
        raise InvalidInput("name a file or directory: only a repository has a default, and only for the format memories")
    return root / list_directory / "memories.md", "memories"


def _format_for(target: Path, *, is_directory: bool) -> str:
    if is_directory:
        return "entries"
    return "block" if target.name in _GUIDES else "memories"


def _in_main_worktree(path: Path) -> Path:
    """The same path in the main worktree: all worktrees of a repository share one."""
    existing = next((directory for directory in path.parents if directory.is_dir()), path.parent)
    tree, main = work_tree(existing), git_root(existing)
    return main / path.relative_to(tree) if tree and main and tree != main else path


def add(
    service: "Service",
    engine: "SyncEngine",
    target: Path,
    format: str,
    *,
    scope: Scope,
    choice: str | None = None,
    retire: bool | None = None,
    adopt: Sequence[str] = (),
    may_exist: bool = False,
) -> Report:
    """Add a mirror, or change the options of the one that is there, and sync it. Create the directories above it.

    Options that are None stay as they are; a new mirror has all memories of its scope, and is not retired. `may_exist`: a
    mirror that is there is no error, although no option changes. If the first sync of a new one fails, there is no mirror
    either. The error propagates. Raises Conflict for a list of chosen memories, if `choice` does not say that it is widened.
    """
    if adopt and format not in ("entries", "tree"):
        raise InvalidInput(f"--adopt is for a directory, and {target} is a file: it is handed over by naming it")
    known = _find_mirror(service, target, format, scope)
    if known is not None and not choice and not adopt and retire in (None, known.retire):
        if not may_exist:
            is_chosen = known.choice is Choice.OWN
            more = f"--choice all adds every memory of {scope} to it" if is_chosen else "remove that first"
            raise Conflict(f"{target} has a mirror already, number {known.number} of {scope}: {more}")
        mirror = known
    else:
        wanted = choice or (known.choice if known else Choice.ALL)
        may_retire = retire if retire is not None else known is not None and known.retire
        mirror = service.mirror(target, format, scope=scope, choice=wanted, retire=may_retire, adopt=adopt)
    try:
        _create_directory(Path(mirror.place, "archive" if format == "entries" else ""))
        return mirror, engine.sync(mirror, whole=True)
    except BaseException:
        if known is None:
            service.unmirror(mirror.number)
        raise


def describe_missing_names(mirror: Mirror, adopt: Sequence[str]) -> list[str]:
    """Return a line for each name or pattern to adopt that no file has: it may be a typing error, or of a file to come."""
    root = Path(mirror.place)
    names = [file.relative_to(root).as_posix() for file in root.rglob("*.md")] if adopt else []
    missing = [pattern for pattern in adopt if not any(fnmatchcase(name, pattern) for name in names)]
    return [
        f"--adopt {pattern}: no file in {root} has this name now; one that comes later is mirrored" for pattern in missing
    ]


def _find_mirror(service: "Service", target: Path, format: str, scope: Scope) -> Mirror | None:
    """The mirror of these files, if it is one of this scope and format."""
    place, file = directory_and_file(target, format, scope)
    wanted = (str(place), file, format, scope)
    found = (one for one in service.mirrors() if (one.place, one.file, one.format, one.scope) == wanted)
    return next(found, None)


def _create_directory(directory: Path) -> None:
    """Create a directory and those above it, for their owner alone outside of a repository, as its files are."""
    try:
        mode = 0o700 if git_root(directory) is None else 0o777
        for each in reversed([directory, *directory.parents]):  # one by one: `parents` applies the mode only to the last
            each.mkdir(mode=mode, exist_ok=True)
    except OSError as error:
        raise Unwritable(f"{directory} cannot be created ({error.strerror}): name another place") from error


def select(service: "Service", ref: str | None) -> Sequence[Mirror]:
    """Return the mirror that `ref` names by its number or its path, or all of them if it is None.

    Raises NotFound if there is none.
    """
    mirrors = service.mirrors()
    if ref is None:
        return mirrors
    if ref.removeprefix("#").isdigit():
        found = [mirror for mirror in mirrors if mirror.number == int(ref.removeprefix("#"))]
    else:
        path = Path(ref).expanduser().absolute()
        wanted = {str(_in_main_worktree(path)), str(path.resolve())}
        found = [mirror for mirror in mirrors if str(location(mirror)) in wanted]
        found = found or [mirror for mirror in mirrors if mirror.format == "tree" and mirror.place in wanted]
    if not found:
        raise NotFound(f"there is no mirror {ref}: `omoide mirror list` shows the mirrors")
    return found


def select_one(service: "Service", ref: str | None) -> Mirror:
    """Return the mirror that `ref` names, or the only one if it is None.

    Raises NotFound for one that does not exist, and InvalidInput where it is not clear which one is meant.
    """
    found = select(service, ref)
    if len(found) != 1:
        raise InvalidInput("name the mirror to rebuild by its number or path, as `omoide mirror list` shows them")
    return found[0]


def location(mirror: Mirror) -> Path:
    """Return the file of a mirror, or its directory."""
    return Path(mirror.place) / mirror.file


def sync_each(engine: "SyncEngine", mirrors: Sequence[Mirror]) -> list[Report]:
    """Sync each mirror, comparing everything. One that cannot be reached does not stop the others."""
    return _each(engine, mirrors, partial(engine.sync, whole=True))


def status_each(engine: "SyncEngine", mirrors: Sequence[Mirror]) -> list[MirrorStatus]:
    """Return what a sync of each mirror would do, without doing it, and what it would leave to a person."""
    plans = _each(engine, mirrors, engine.plan)
    return [MirrorStatus(mirror, plan, _readable_held_entries(engine, mirror)) for mirror, plan in plans]


def conflicts_of(service: "Service", mirrors: Sequence[Mirror]) -> "list[ConflictDetail]":
    """Return the conflicts of these mirrors."""
    numbers = {mirror.number for mirror in mirrors}
    return [detail for detail in service.conflicts() if detail.conflict.mirror in numbers]


def _each(engine: "SyncEngine", mirrors: Sequence[Mirror], work: "Callable[[Mirror], SyncReport]") -> list[Report]:
    reports = ((mirror, engine.attempt(mirror, partial(work, mirror))) for mirror in mirrors)
    return [(mirror, report) for mirror, report in reports if report is not None]


def held_entries(engine: "SyncEngine", mirror: Mirror, *, stated: bool = False) -> list[HeldEntry]:
    """Return the entries of a mirror that are not as their memories say, and are left so until a person decides.

    `stated`: also those that are no entries any more, and whose texts are in the file beside their ids.
    """
    from omoide.sync.evidence import REASONS  # lazy: it loads with the engine
    from omoide.sync.mentions import is_stated  # lazy: it loads with the engine

    held = engine.held_states(mirror)
    mentions = engine.mentions(mirror, [state for _, state in held if state.held == Held.UNREADABLE])
    entries = []
    for memory, state in held:
        mention, reason = mentions.get(memory.number), Held(state.held)
        if mention is None and reason is Held.UNREADABLE:
            reason = Held.EDITED  # its id was there at the last sync, and is not any more
        if stated or mention is None or not is_stated(memory.content, mention):
            line = mention.line if mention else 0
            entries.append(HeldEntry(memory, state.file, reason, REASONS[reason], line))
    known = {one.memory.number for one in entries}
    retired = {one.memory.number: one for one in engine.retired_mentions(mirror) if one.memory.number not in known}
    why = REASONS[Held.RETIRED]
    return entries + [HeldEntry(one.memory, one.file, Held.RETIRED, why, one.mention.line) for one in retired.values()]


def _readable_held_entries(engine: "SyncEngine", mirror: Mirror) -> list[HeldEntry]:
    if has_vanished(mirror):
        return []  # its plan says so, and no command can write them
    try:
        return held_entries(engine, mirror)
    except (OmoideError, OSError):  # fallback: why the mirror cannot be read is among the troubles of its plan
        return []


def put_back(service: "Service", engine: "SyncEngine", mirror: Mirror, refs: Sequence[str]) -> list[HeldEntry]:
    """Write entries of a mirror again that are missing or show earlier versions; without `refs`, all. Return them."""
    held = held_entries(engine, mirror, stated=bool(refs))
    chosen = _choose(service, engine, mirror, refs, [one for one in held if not one.is_retired])
    report = engine.sync(mirror, put_back={one.memory.number for one in chosen})
    _require_settled(engine, mirror, chosen, report)
    return chosen


def forget_missing(service: "Service", engine: "SyncEngine", mirror: Mirror, refs: Sequence[str]) -> list[HeldEntry]:
    """Forget memories whose entries are missing from the files of a mirror, and return them; without `refs`, all of them."""
    chosen = _choose(service, engine, mirror, refs, [one for one in held_entries(engine, mirror) if one.is_missing])
    for one in chosen:
        service.forget(one.memory.number, scope=one.memory.scope)
    return chosen


def take_out(service: "Service", engine: "SyncEngine", mirror: Mirror, refs: Sequence[str]) -> list[HeldEntry]:
    """Remove entries of memories that are not active from the files of a mirror, and return them; without `refs`, all."""
    chosen = _choose(service, engine, mirror, refs, [one for one in held_entries(engine, mirror) if one.is_retired])
    report = engine.sync(mirror, take_out={one.memory.number for one in chosen})
    _require_settled(engine, mirror, chosen, report)
    return chosen


def accept(service: "Service", engine: "SyncEngine", mirror: Mirror, refs: Sequence[str]) -> list[HeldEntry]:
    """Import the earlier versions that the files of a mirror show, and return the entries as they are then.

    `refs`: the memories that it is about; without any, all. Raises NotAllowed for a worker.
    """
    chosen = _choose(service, engine, mirror, refs, [one for one in held_entries(engine, mirror) if one.is_outdated])
    numbers = [one.memory.number for one in chosen]
    service.accept_entries(mirror.number, numbers)
    report = engine.sync(mirror, accept=numbers)
    _require_settled(engine, mirror, chosen, report)
    return [one._replace(memory=service.show(one.memory.number, scope=one.memory.scope)) for one in chosen]


def _require_settled(engine: "SyncEngine", mirror: Mirror, chosen: Sequence[HeldEntry], report: "SyncReport") -> None:
    """Raise Unwritable if entries are still not as a person asked, with what prevented it."""
    left = {one.memory.number for one in held_entries(engine, mirror)} if report.troubles else ()
    if any(one.memory.number in left for one in chosen):
        raise Unwritable(report.troubles[0])


def _choose(
    service: "Service", engine: "SyncEngine", mirror: Mirror, refs: Sequence[str], held: list[HeldEntry]
) -> list[HeldEntry]:
    """The entries that a person names. Raises NotFound for one that is not among them, Unreadable if that is not known."""
    by_number = {one.memory.number: one for one in held}
    numbers = [service.show(ref, scope=mirror.scope).number for ref in refs]
    missing = [number for number in numbers if number not in by_number]
    if (missing or not held) and (unreadable := engine.unreadable(mirror)):
        raise Unreadable(unreadable[0])
    if missing:
        raise NotFound(f"#{missing[0]} is not one of these entries: `omoide mirror status {mirror.number}` lists them")
    return [by_number[number] for number in dict.fromkeys(numbers)] if refs else held


def rebuild(service: "Service", engine: "SyncEngine", mirror: Mirror, source: Side) -> Report:
    """Make one side of a mirror from the other, whichever is newer."""
    reset = service.reset_sync_state(mirror.number)
    return reset, engine.sync(reset, source)
