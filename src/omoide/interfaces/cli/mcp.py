"""mcp, mcp status, stop, token and config: serve agents over the Model Context Protocol."""

import os
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from omoide import model
from omoide.errors import InvalidInput
from omoide.files.git import git_root
from omoide.guard.permissions import require_grant
from omoide.interfaces.cli.options import Target, json_option, settings_for, store_option, target_options, warn
from omoide.settings import Settings

_PORT = "127.0.0.1:8765"


@click.group("mcp", invoke_without_command=True)
@click.option(
    "--http",
    "address",
    is_flag=False,
    flag_value=_PORT,
    metavar="[[HOST:]PORT]",
    help=f"Serve over HTTP, by default on {_PORT}.",
)
@click.option("--daemon", is_flag=True, help="Serve over HTTP in the background; see status and stop.")
@click.option(
    "--tools",
    type=click.Choice(["default", "layers", "all"]),
    default="default",
    show_default=True,
    help="Which tools to offer.",
)
@click.option(
    "--allow-host", multiple=True, metavar="NAME", help="A name that clients may call this server by, beside localhost."
)
@target_options
@click.pass_context
def mcp_command(
    ctx: click.Context, address: str | None, daemon: bool, tools: str, allow_host: tuple[str, ...], target: Target
) -> None:
    """Serve agents over MCP: on standard input and output, or over HTTP.

    \b
    omoide mcp
    omoide mcp --http 127.0.0.1:9000 --tools layers
    omoide mcp --daemon
    omoide mcp config claude-code
    """
    if ctx.invoked_subcommand is not None:
        if target != Target() or address or daemon or allow_host or tools != "default":
            raise InvalidInput(f"put the options after the command: omoide mcp {ctx.invoked_subcommand} …")
        return
    _check_target(target)
    session = target.session or ""
    settings = settings_for(target)
    if target.everywhere:
        settings = msgspec.structs.replace(settings, project="")
    if daemon:
        _start_daemon(settings, address or _PORT, tools, allow_host, session)
        return
    root = _root(target, settings)
    if address is not None:
        _serve_http(settings, root, session, tools, address, allow_host)
        return
    if allow_host:
        raise InvalidInput("--allow-host needs --http or --daemon: add one of them, or leave it out")
    from omoide.interfaces.mcp.server import serve_stdio  # lazy: each transport loads its own

    serve_stdio(settings, root, session, tools)


def _start_daemon(settings: Settings, address: str, tools: str, names: Sequence[str], session: str) -> None:
    from omoide.interfaces.mcp import daemon  # lazy: each transport loads its own

    url = daemon.start(settings, address, tools, names, session)
    click.echo(f"omoide serves {url}  (omoide mcp status, omoide mcp stop)")


def _serve_http(settings: Settings, root: Path | None, session: str, tools: str, address: str, names: Sequence[str]) -> None:
    from omoide.interfaces.mcp.server import serve_http  # lazy: each transport loads its own

    def announce(url: str, tokens: Path) -> None:
        click.echo(f"omoide serves {url}, token in {tokens}; Ctrl-C ends it", err=True)

    serve_http(settings, root, session, tools, address, names, ready=announce)


def _check_target(target: Target) -> None:
    """Raise InvalidInput for wrong flags now, not at every call."""
    target.require_one_scope()
    if target.project:
        model.check_project_path(target.project)
    if target.session:
        model.check_segment(target.session, "session")


def _root(target: Target, settings: Settings) -> Path | None:
    """The repository to work in, when neither a flag nor a setting names a project."""
    if target.everywhere or settings.project:
        return None
    try:
        return git_root(Path.cwd())
    except OSError:  # fallback: no project; a client may start us in any directory, and name the project in each call
        return None


@mcp_command.command("status")
@store_option
@json_option
def status_command(target: Target, as_json: bool) -> None:
    """Show whether the background server runs.

    Ends with 1 when it does not.
    """
    from omoide.interfaces.cli.output import print_json  # lazy: serving needs no output
    from omoide.interfaces.mcp import daemon  # lazy: serving needs none of it

    running = daemon.find_running(settings_for(target))
    if as_json:
        print_json({"running": running is not None, **({} if running is None else running)})
    elif running is None:
        click.echo("no background server runs: omoide mcp --daemon starts one")
    else:
        click.echo(f"omoide serves {running['url']} (process {running['pid']}) since {running['started_at']}")
    click.get_current_context().exit(0 if running else 1)


@mcp_command.command("stop")
@store_option
def stop_command(target: Target) -> None:
    """Stop the background server, after the requests it is answering."""
    from omoide.interfaces.mcp import daemon  # lazy: serving needs none of it

    stopped = daemon.stop(settings_for(target))
    click.echo("stopped" if stopped else "no background server runs")


@mcp_command.command("token")
@click.option(
    "--role",
    type=click.Choice(["owner", "admin", "worker"]),
    default="owner",
    show_default=True,
    help="What its bearer may do.",
)
@click.option("--name", default="", help="Who uses it, for the event history.")
@click.option("--only-project", multiple=True, metavar="PATH", help="Limit it to this project; may be given more than once.")
@click.option(
    "--only-layer",
    multiple=True,
    type=click.Choice(["session", "project", "global"]),
    help="Limit it to this layer; may be given more than once.",
)
@store_option
def token_command(role: str, name: str, only_project: tuple[str, ...], only_layer: tuple[str, ...], target: Target) -> None:
    """Print a bearer token for HTTP clients.

    There is one for each role, name and set of limits, created at the first call.

    \b
    omoide mcp token
    omoide mcp token --role worker --name ci --only-project shop --only-layer project
    """
    from omoide.interfaces.http import tokens  # lazy: serving on pipes needs none

    settings = settings_for(target)
    require_grant(settings.role, model.Role(role))
    click.echo(tokens.make_token(settings, role, name, only_project, only_layer, warn))


@mcp_command.command("config")
@click.argument("client", required=False)
@click.option(
    "--http",
    "over_http",
    is_flag=True,
    help="For the HTTP server, the one in the background if it runs; not all clients can use it.",
)
@click.option("--tools", type=click.Choice(["default", "layers", "all"]), default="default", help="Which tools to offer.")
@target_options
def config_command(client: str | None, over_http: bool, tools: str, target: Target) -> None:
    """Print how to register omoide with a client.

    The file, and what to put into it; without CLIENT, the known clients.

    \b
    omoide mcp config claude-code
    omoide mcp config codex --tools layers
    """
    from omoide.interfaces.mcp import client_config  # lazy: serving needs none of it

    if client is None:
        click.echo("\n".join(f"{name}  {known.title}" for name, known in client_config.CLIENTS.items()))
        return
    _check_target(target)
    if over_http and (tools != "default" or target.everywhere):
        raise InvalidInput("--http cannot be combined with --tools or --global: give these to the server")
    flags = [*_target_flags(target), *(["--tools", tools] if tools != "default" else [])]
    notes, snippet = client_config.registration(client, flags, _url(target) if over_http else None)
    click.echo("\n".join(notes), err=True)  # so that the rest can go into a file
    click.echo(snippet)


def _target_flags(target: Target) -> list[str]:
    """The flags that name the same target, wherever the client starts."""
    store = settings_for(target).store if target.store else None
    named = (("--store", store), ("--project", target.project), ("--session", target.session))
    return [
        *(word for flag, value in named if value for word in (flag, value)),
        *(["--global"] if target.everywhere else []),
    ]


def _url(target: Target) -> str:
    """The URL of the HTTP server, with the client's project and session."""
    from urllib.parse import urlencode  # lazy: only for HTTP

    from omoide.interfaces.mcp import daemon  # lazy: only for HTTP

    running = daemon.find_running(settings_for(target)) if os.name == "posix" else None
    server = running["url"] if running else f"http://{_PORT}/mcp"
    query = {name: value for name, value in (("project", target.project), ("session", target.session)) if value}
    return server + (f"?{urlencode(query)}" if query else "")
