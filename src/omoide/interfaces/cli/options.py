"""What the commands share: the flags for the target and for a memory's fields, and opening the memory."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

from omoide.errors import InvalidInput
from omoide.files.git import git_root
from omoide.interfaces.cli import WARNINGS
from omoide.model import Actor, Layer, Role, Scope
from omoide.settings import Settings, load_settings

if TYPE_CHECKING:  # the store loads when it is opened: an MCP server lists its tools without it
    from omoide.service import Service

_LEARN_SECONDS = 0.3
"""For learning from the inbox at the end of a command."""

T = TypeVar("T")
Command = Callable[..., T]


class Target(msgspec.Struct, frozen=True):
    """The store and the scope that a command works on, as its flags name them."""

    store: str | None = None
    project: str | None = None
    session: str | None = None
    everywhere: bool = False

    @property
    def names_scope(self) -> bool:
        """Whether the flags name a scope."""
        return bool(self.project or self.session or self.everywhere)

    def require_one_scope(self) -> None:
        """Raise InvalidInput for flags that name more than one scope."""
        if self.everywhere and (self.project or self.session):
            raise InvalidInput("--global cannot be combined with --project or --session: choose one")


def target_options(command: Command[T]) -> Command[T]:
    """Add the flags that name store and scope; the command gets them as one `target`."""

    @click.option("--store", metavar="FILE", help="The database file to work on.")
    @click.option("--project", metavar="PATH", help="The project to work in, instead of the one of this directory.")
    @click.option("--session", metavar="NAME", help="A session of the project.")
    @click.option("--global", "everywhere", is_flag=True, help="The global layer, instead of a project.")
    @wraps(command)
    def run(store: str | None, project: str | None, session: str | None, *, everywhere: bool, **options: Any) -> T:
        return command(target=Target(store, project, session, everywhere), **options)

    return run


def project_options(command: Command[T]) -> Command[T]:
    """Add the flags that name store and project, for commands that name the session themselves."""

    @click.option("--store", metavar="FILE", help="The database file to work on.")
    @click.option("--project", metavar="PATH", help="The project to work in, instead of the one of this directory.")
    @wraps(command)
    def run(store: str | None, project: str | None, **options: Any) -> T:
        return command(target=Target(store, project), **options)

    return run


def store_option(command: Command[T]) -> Command[T]:
    """Add the flag that names the store, for commands that work on all of it."""

    @click.option("--store", metavar="FILE", help="The database file to work on.")
    @wraps(command)
    def run(store: str | None, **options: Any) -> T:
        return command(target=Target(store), **options)

    return run


def json_option(command: Command[T]) -> Command[T]:
    """Add the flag for JSON output."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text for people.")(command)


def type_option(help: str) -> Callable[[Command[T]], Command[T]]:
    """Return a decorator that adds the flag for a type, with completion."""
    return click.option("--type", "type_", metavar="TYPE", help=help, shell_complete=_complete_type)


def layers_option(help: str) -> Callable[[Command[T]], Command[T]]:
    """Return a decorator that adds the flag for layers, which may be given more than once."""
    names = click.Choice([layer.value for layer in Layer])
    return click.option("--layer", "layers", multiple=True, type=names, help=f"{help}; may be given more than once.")


def _complete_type(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in load_settings().all_types if name.startswith(incomplete)]


_FIELD_OPTIONS = (
    click.option("--topic", help="A title; remembering the same topic and type again updates the memory."),
    type_option("The kind of memory, such as decision or warning."),
    click.option("--tag", multiple=True, help="A tag; may be given more than once."),
    click.option("--tags", help="Tags, separated by commas."),
    click.option("--key", help="A name of its own; remembering the same key again updates the memory."),
    click.option("--example", multiple=True, help="An example, such as some code; may be given more than once."),
    click.option("--source", help="Where it comes from, such as a URL."),
    click.option("--run", "source_run_id", metavar="ID", help="The agent's run that it comes from."),
    click.option("--original-prompt", metavar="TEXT", help="What the user said that made it a memory."),
    click.option("--confidence", type=float, help="How certain it is, from 0 to 1."),
    click.option("--relevance", type=float, help="How useful it is, from 0 to 1."),
    click.option("--expires", metavar="WHEN", help="When it stops being true: 2026-12-31, an ISO time, 90d, 12h."),
)


def field_options(command: Command[T]) -> Command[T]:
    """Add the flags for the fields of a memory: the same for remember and revise."""
    for option in reversed(_FIELD_OPTIONS):
        command = option(command)
    return command


def tags_of(tag: Sequence[str], tags: str | None) -> list[str]:
    """Return the tags of both spellings, `--tag a --tag b` and `--tags a,b`."""
    return [*tag, *(part for part in (tags or "").split(",") if part.strip())]


def settings_for(target: Target) -> Settings:
    """Return the settings in force, overridden by the flags."""
    return load_settings({"store": target.store, "project": target.project})


@contextmanager
def open_memory(target: Target, *, writing: bool = False) -> "Iterator[tuple[Service, Scope]]":
    """Open the memory, and find the scope that the command works in."""
    settings = settings_for(target)
    memory = open_for_command(settings)
    yield memory, _resolve_scope(memory, target, settings, writing=writing)


def open_for_command(settings: Settings) -> "Service":
    """Open the memory until the command ends: closing may take a moment, and the output is printed before that."""
    context = click.get_current_context()
    memory = context.with_resource(_open_store(settings))
    context.call_on_close(lambda: _learn_at_end(memory))  # after the output, before the memory is closed
    _report_retirements(memory)
    return memory


def _learn_at_end(memory: "Service") -> None:
    from omoide.service.hook_calls import learn_if_waiting  # lazy: the store loads when it is opened

    learn_if_waiting(memory, seconds=_LEARN_SECONDS)


def _report_retirements(memory: "Service") -> None:
    """Report once what was archived automatically since the last command, and how to undo it."""
    retired = memory.automatic_retirements()
    if retired:
        numbers = ", ".join(f"#{one.number}" for one in retired[:5])
        more = f" and {len(retired) - 5:,} more" if len(retired) > 5 else ""
        subject, them = ("memories were", "them") if len(retired) > 1 else ("memory was", "it")
        warn(
            f"{len(retired):,} {subject} archived automatically ({numbers}{more}): `omoide retire --undo` brings {them} back"
        )


def _open_store(settings: Settings) -> "Service":
    from omoide import app  # lazy: the store loads when it is opened

    return app.open_service(settings, Actor(settings.actor, settings.role, "cli"), report=warn, background=False)


def warn(message: str) -> None:
    """Print a warning without ending the command. The same one is printed once in a command."""
    from omoide.interfaces.cli.output import escape_control  # lazy: only when something is wrong

    context = click.get_current_context(silent=True)
    if context is not None:
        printed = context.meta.setdefault(WARNINGS, set())
        if message in printed:
            return
        printed.add(message)
    click.echo(f"omoide: {escape_control(message)}", err=True)


def _resolve_scope(memory: "Service", target: Target, settings: Settings, *, writing: bool) -> Scope:
    target.require_one_scope()
    if target.everywhere:
        return Scope.everywhere()
    if settings.project:
        scope = Scope.project(settings.project)
    else:
        root = _repository()
        if root is None:
            if target.session:
                raise InvalidInput("--session needs a project: work in a git repository, or add --project")
            return Scope.everywhere()
        scope = _project_scope(memory, root, settings, writing=writing)
    return Scope.session(scope.path, target.session) if target.session else scope


def _project_scope(memory: "Service", root: Path, settings: Settings, *, writing: bool) -> Scope:
    """The scope of the repository's project. On a terminal, a person is asked where only a person could say which it is."""
    if settings.role is not Role.WORKER and sys.stdin.isatty() and sys.stderr.isatty():
        found = memory.identify(root)
        if found.candidate and click.confirm(f"Is {root} the same project as {found.candidate}?", err=True):
            return Scope(memory.bind_project(root, found.candidate).path)
    return memory.claim(root) if writing else memory.locate(root)


def _repository() -> Path | None:
    try:
        return git_root(Path.cwd())
    except OSError as error:
        raise InvalidInput(f"this directory cannot be read ({error.strerror}): add --project or --global") from error


def working_directory() -> Path:
    """Return the current directory. Raises InvalidInput where it is gone or cannot be read."""
    try:
        return Path.cwd()
    except OSError as error:
        raise InvalidInput(f"this directory cannot be read ({error.strerror}): go to one that exists") from error


def directory_if_readable() -> Path | None:
    """Return the current directory; None where it is gone or cannot be read, for commands that do without it."""
    try:
        return Path.cwd()
    except OSError:  # fallback: it says nothing about the project
        return None


def read_stdin_bytes() -> bytes:
    """Read standard input to its end, in pieces: during one long read, Python does not react to Ctrl-C."""
    pipe: Any = sys.stdin.buffer  # typed as a BinaryIO, which has no read1
    return b"".join(iter(lambda: pipe.read1(1 << 16), b""))


def read_stdin() -> str:
    """Read a text from standard input, without the line end that `echo` adds."""
    data = read_stdin_bytes()
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"standard input is not UTF-8 (byte {error.start}): convert it with iconv first") from error
    return text.removesuffix("\n").removesuffix("\r")


@contextmanager
def progress(label: str, total: int) -> Iterator[Callable[[float], None]]:
    """Show a progress bar on standard error if it is a terminal, and yield the function that advances it."""
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
