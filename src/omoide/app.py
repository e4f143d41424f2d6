"""Composition: joins the settings, a store, the service on it, and the hooks that follow what it reads and writes."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import msgspec

from omoide import model
from omoide.embeddings.indexer import EmbeddingIndex
from omoide.errors import InvalidInput
from omoide.model import Actor, Layout, Role, Scope
from omoide.service import Service
from omoide.service.hooks import Hooks
from omoide.service.preparation import INDEX_VERSION, settle_archives, update_index
from omoide.settings import Settings, add_setting_list, load_settings
from omoide.storage.sqlite.store import MIGRATIONS, SqliteStore
from omoide.sync.hook import MirrorHook

if TYPE_CHECKING:  # doctor, or a store that has a mirror, needs them
    from omoide.conversation.pipeline import Conversation
    from omoide.service.doctor import Check
    from omoide.sync.engine import SyncEngine
    from omoide.sync.repo_list import RepoList

FILE_ACTOR = Actor("human", Role.OWNER, "file")
"""Who writes what stands in a file: see docs/decisions/0009-mirror-sync.md."""

_MIRROR_HOOKS: WeakKeyDictionary[Hooks, MirrorHook] = WeakKeyDictionary()
"""The mirror hook of every open service, by its hooks."""


@add_setting_list
def open(
    store: str | PathLike[str] | None = None,
    *,
    actor: Actor | None = None,
    clock: Callable[[], datetime] = model.now,
    **settings: Any,
) -> Service:
    """Open a memory store, and return the service that works on it. Close the service, or use it in a `with` statement.

    `store`: the database file; by default that of the settings. `actor`: who acts; by default the name and the role of the
    settings. `clock`: returns the current time. `settings`: every other setting, by its name; one that is left out comes
    from its OMOIDE_ variable or from config.toml, or has its default.

    Raises Unreadable for a setting that is unknown or not valid, and StoreError if the database cannot be opened.
    """
    loaded = load_settings({**settings, "store": None if store is None else str(store)})
    return open_service(loaded, actor or Actor(loaded.actor, loaded.role, "python"), clock)


def open_service(
    settings: Settings,
    actor: Actor,
    clock: Callable[[], datetime] = model.now,
    report: Callable[[str], None] | None = None,
    *,
    reported: set[str] | None = None,
    background: bool = True,
    quick: bool = False,
    is_seen: bool = True,
) -> Service:
    """Open the store of the settings and compose a service on it.

    `report` gets what is wrong with mirrored files, each message once; left out, it is a Python warning. `reported` is the
    set of messages that were reported already, where several services report to one person. `background`: whether missing
    vectors are made in the background; otherwise they wait for a process that stays, or for `reindex --pending`. `quick`:
    whether nothing that may take long is done first: an index of an older version is then left to the next process.
    `is_seen`: whether a person sees reports at once, unlike those in the log of a server.
    """
    store = SqliteStore(
        Path(settings.store),
        settings.wait,
        index_version=INDEX_VERSION,
        create=False,
        report=report or (lambda _: None),  # from Python, the caller knows the name of the file
    )
    if not quick:
        update_index(store)
        settle_archives(store)
    embeddings = EmbeddingIndex(store, settings, background=background)
    known = set() if reported is None else reported

    def make_engine(report: Callable[[str], None]) -> "SyncEngine":
        from omoide.service.write_path import WritePath  # lazy: only a store that has a mirror needs it here
        from omoide.sync.database import SyncDatabase  # lazy: the same
        from omoide.sync.engine import SyncEngine  # lazy: the same

        # Without the mirrors' own hook: an edit is imported within a sync, and the next read brings it to other mirrors.
        # Without run and source: what a person writes into a file does not come from the agent whose process reads it.
        without_run = msgspec.structs.replace(settings, run="", source="")
        writes = WritePath(store, without_run, FILE_ACTOR, clock, Hooks(after_commit=[embeddings.after_commit]))
        return SyncEngine(SyncDatabase(store, writes, clock), settings, report, known, is_seen=is_seen)

    safe_report = _without_raising(report or _warn)
    mirrors = MirrorHook(store, make_engine, safe_report, is_seen=is_seen)
    hooks = Hooks(
        before_read=[mirrors.before_read],
        after_commit=[mirrors.after_commit, embeddings.after_commit],
        after_mirror_change=[mirrors.after_mirror_change],
        find_copies=mirrors.find_copies,
        report=safe_report,
        is_seen=is_seen,
    )
    _MIRROR_HOOKS[hooks] = mirrors
    return Service(store, settings, actor, clock, hooks, embeddings)


def _warn(message: str) -> None:
    warnings.warn(message, stacklevel=2)


def _without_raising(write: Callable[[str], None]) -> Callable[[str], None]:
    """Return a function that reports a message also where nobody can be reached: the operation has its answer."""

    def report(message: str) -> None:
        try:
            write(message)
        except (OSError, ValueError, Warning):  # fallback: the log, where a stream is closed or warnings are errors
            import logging  # lazy: 5 ms that only this needs

            logging.getLogger("omoide.report").warning("%s", message)

    return report


def sync_engine(service: Service) -> "SyncEngine":
    """Return the engine that syncs the mirrors of an opened service, for commands that sync by name."""
    return _MIRROR_HOOKS[service.hooks].engine


def open_list(service: Service, directory: str | PathLike[str] = ".", *, scope: Scope | None = None) -> "RepoList":
    """Open the list of a repository, by default `.agent/memories.md`, and return it.

    `service`: on the store of the memories. `directory` is the repository, or a directory or worktree of it; outside of git
    it is the directory of the list itself.
    `scope` is where its memories belong: by default the repository's project, outside of git the global layer. The
    repository's own `config.toml`, beside the list, overrides the settings `memories_enabled` and `memories_inject`, unless
    they were given to `open`.

    Raise Unreadable if that file has a value that is not valid, InvalidInput if the directory cannot be read.
    """
    from omoide.files.git import git_root  # lazy: only a list needs it
    from omoide.files.repo_config import with_repository_settings  # lazy: the same
    from omoide.sync.repo_list import RepoList  # lazy: the same

    try:
        here = Path(directory).resolve()
        root = git_root(here)
    except (OSError, RuntimeError) as error:  # the second is what pathlib raises for links in a circle
        raise InvalidInput(f"{directory} cannot be read ({error}): name another directory") from error
    settings, warned = with_repository_settings(service.settings, root or here)
    for message in warned:
        service.hooks.report(message)
    file = (root or here) / settings.memories_directory / "memories.md"
    claimed = root if scope is None else None
    if scope is None:
        scope = Scope.everywhere() if root is None else service.locate(root)
    return RepoList(service, sync_engine(service), file, settings, scope, claimed)


def open_conversation(
    service: Service,
    directory: str | PathLike[str] | None = None,
    *,
    scope: Scope | None = None,
    layout: Layout | None = None,
) -> "Conversation":
    """Return the memory around tasks: the prompt `before` an agent starts, and what is kept `after` it.

    `service`: on the store of the memories. `directory` is where the agent works; None: nowhere in particular. The settings
    of its repository are obeyed. `scope` is the project of the tasks; by default each message is routed to its project.
    `layout`: "sections", "list" or "project", by default the setting `prompt_layout`.

    Raise Unreadable if the repository's own `config.toml` has a value that is not valid, InvalidInput if the directory
    cannot be read.
    """
    from omoide.conversation.pipeline import Conversation  # lazy: only a conversation needs it

    place = None if directory is None else Path(directory).resolve()
    settings, repo_list = service.settings, None
    if place is not None:
        repo_list = open_list(service, place, scope=scope)
        settings = repo_list.settings
    return Conversation(service, settings, scope=scope, directory=place, layout=layout, repo_list=repo_list)


def read_foreign_table(
    settings: Settings, path: Path, table: str, columns: Sequence[str], what: str
) -> list[dict[str, Any]]:
    """Return the rows of a table in the database of another program, which is left as it is.

    Call it before the store of the settings is opened: a process that closes any descriptor of a file loses all its locks on
    it. `what` says what kind of database is expected. Raise Unreadable if the file cannot be read or is not such a database,
    InvalidInput if it is the store itself.
    """
    from omoide.storage.sqlite.foreign import read_table  # lazy: only an import from another program needs it

    if path.exists() and path.resolve() == Path(settings.store).resolve():
        raise InvalidInput(f"{path} is the store itself: name {what}")
    return read_table(path, table, columns, what)


def diagnose(flags: Mapping[str, str | None], via: str, *, fix: bool = False) -> "list[Check]":
    """Check the installation that these settings describe, and return what is right and what is wrong.

    `flags` override settings, as in `load_settings`; `via` is the interface that asks. `fix` closes open permissions and
    rebuilds a broken index.
    """
    from omoide.service import doctor  # lazy: only one command needs it

    def open_quietly(settings: Settings) -> Service:
        # Trouble with mirrored files is among the checks: it need not be reported twice.
        actor = Actor(settings.actor, settings.role, via)
        return open_service(settings, actor, report=lambda _: None, background=False, is_seen=False)

    def describe_engine() -> str:
        engine, schema = engine_info()
        return f"{engine}, schema {schema}"

    return list(doctor.diagnose(lambda: load_settings(flags), open_quietly, _check_mirrors, describe_engine, fix=fix))


def _check_mirrors(service: Service) -> "Iterator[Check]":
    for mirror in service.mirrors():
        from omoide.sync.health import check_mirror  # lazy: only a store that has a mirror needs it

        yield from check_mirror(mirror, sync_engine(service))


def engine_info() -> tuple[str, int]:
    """Return the database engine with the version of its package, and the schema that opened databases are brought to."""
    from importlib.metadata import version  # lazy: 20 ms that only stats and doctor need

    return f"SQLite (apsw {version('apsw')})", len(list(MIGRATIONS.glob("[0-9]*.sql")))
