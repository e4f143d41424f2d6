"""What the commands share: where they work, how they open the memory, what their options are called."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from omoide.errors import InvalidInput
from omoide.files.git import git_root
from omoide.model import Actor, Scope
from omoide.settings import Settings, load_settings

if TYPE_CHECKING:  # the store loads when it is opened: an MCP server lists its tools without it
    from omoide.service import Service

T = TypeVar("T")


class Target(NamedTuple):
    """Where a command works, as its flags say."""

    store: str | None = None
    project: str | None = None
    session: str | None = None
    everywhere: bool = False

    @property
    def names_scope(self) -> bool:
        """Did the flags name a scope?"""
        return bool(self.project or self.session or self.everywhere)


def target_options(command: Callable[..., T]) -> Callable[..., T]:
    """The flags that say where to work, handed to the command as one `target`."""

    @click.option("--store", metavar="FILE", help="The database file to work on.")
    @click.option("--project", metavar="PATH", help="The project to work in, instead of the one of this directory.")
    @click.option("--session", metavar="NAME", help="A session of the project.")
    @click.option("--global", "everywhere", is_flag=True, help="The global layer, instead of a project.")
    @wraps(command)
    def run(store: str | None, project: str | None, session: str | None, *, everywhere: bool, **options: Any) -> T:
        return command(target=Target(store, project, session, everywhere), **options)

    return run


def store_option(command: Callable[..., T]) -> Callable[..., T]:
    """The one flag of commands that look after the whole store."""

    @click.option("--store", metavar="FILE", help="The database file to work on.")
    @wraps(command)
    def run(store: str | None, **options: Any) -> T:
        return command(target=Target(store), **options)

    return run


def json_option(command: Callable[..., T]) -> Callable[..., T]:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text for people.")(command)


def type_option(help: str) -> Callable[[Callable[..., T]], Callable[..., T]]:
    return click.option("--type", "type_", metavar="TYPE", help=help, shell_complete=_complete_type)


def _complete_type(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    return [name for name in load_settings().all_types if name.startswith(begun)]


def tags_of(tag: Sequence[str], tags: str | None) -> list[str]:
    """`--tag a --tag b` and `--tags a,b` say the same."""
    return [*tag, *(part for part in (tags or "").split(",") if part.strip())]


def settings_for(target: Target) -> Settings:
    return load_settings({"store": target.store, "project": target.project})


@contextmanager
def open_memory(target: Target, *, writing: bool = False) -> "Iterator[tuple[Service, Scope]]":
    """The memory and the scope a command works in."""
    settings = settings_for(target)
    memory = open_for_command(settings)
    yield memory, _resolve_scope(memory, target, settings, writing=writing)


def open_for_command(settings: Settings) -> "Service":
    """The memory until the command is over: by then its answer is out, and closing may take a moment of upkeep."""
    return click.get_current_context().with_resource(open_store(settings))


def open_store(settings: Settings, tell: Callable[[str], None] | None = None) -> "Service":
    """The memory, for a command that works on the whole store. `tell` hears what is wrong with mirrored files."""
    from omoide import app  # noqa: PLC0415 - see the top

    return app.open_service(settings, Actor(settings.actor, settings.role, "cli"), tell=tell or warn, background=False)


def warn(message: str) -> None:
    """Says what is wrong without ending the command."""
    from omoide.interfaces.cli.output import escape_control  # noqa: PLC0415 - only when something is wrong

    click.echo(f"omoide: {escape_control(message)}", err=True)


def _resolve_scope(memory: "Service", target: Target, settings: Settings, *, writing: bool) -> Scope:
    if target.everywhere:
        if target.project or target.session:
            raise InvalidInput("--global cannot go with --project or --session: choose one")
        return Scope.everywhere()
    if settings.project:
        scope = Scope.project(settings.project)
    else:
        root = _root()
        if root is None:
            if target.session:
                raise InvalidInput("--session needs a project: work in a git repository, or add --project")
            return Scope.everywhere()
        scope = memory.claim(root) if writing else memory.locate(root)
    return Scope.session(scope.path, target.session) if target.session else scope


def _root() -> Path | None:
    try:
        return git_root(Path.cwd())
    except OSError as error:
        raise InvalidInput(f"this directory cannot be read ({error.strerror}): add --project or --global") from error


def read_stdin_bytes() -> bytes:
    """Standard input to its end, in pieces: in one long read, Python would not hear Ctrl-C."""
    pipe: Any = sys.stdin.buffer  # typed as a BinaryIO, which has no read1
    return b"".join(iter(lambda: pipe.read1(1 << 16), b""))


def read_stdin() -> str:
    """All of it, as it is but for the line end that `echo` and friends put last."""
    data = read_stdin_bytes()
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"standard input is not UTF-8 (byte {error.start}): convert it with iconv first") from error
    return text.removesuffix("\n").removesuffix("\r")


@contextmanager
def progress(label: str, total: int) -> Iterator[Callable[[float], None]]:
    """A bar on standard error while someone watches; otherwise nothing."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield lambda _: None
        return
    with click.progressbar(length=100, label=label, file=sys.stderr) as bar:
        done = 0.0

        def tick(more: float) -> None:
            # In steps of a hundredth: drawing it for each of 100,000 rows would take longer than they do.
            nonlocal done
            done += more * 100 / max(1, total)
            if done >= 1:
                bar.update(int(done))
                done -= int(done)

        yield tick
        bar.update(100 - bar.pos)
