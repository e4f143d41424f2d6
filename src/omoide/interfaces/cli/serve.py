"""serve: REST and MCP over HTTP on one port."""

from importlib.util import find_spec
from pathlib import Path

import click

from omoide.errors import InvalidInput
from omoide.interfaces.cli.options import Target, settings_for, store_option

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8766, show_default=True, help="The port; 0: any free one.")
@click.option(
    "--allow-host", multiple=True, metavar="NAME", help="A name that clients may call this server by, beside localhost."
)
@click.option("--allow-origin", multiple=True, metavar="URL", help="The origin of a web page that may send requests (CORS).")
@click.option("--tls-cert", type=_FILE, help="A certificate in PEM format: serve HTTPS.")
@click.option("--tls-key", type=_FILE, help="The key of the certificate.")
@click.option(
    "--tools",
    type=click.Choice(["default", "layers", "all"]),
    default="default",
    show_default=True,
    help="Which MCP tools to offer.",
)
@click.option("--no-access-log", is_flag=True, help="Do not write a line to standard error for each answer.")
@store_option
def serve_command(
    host: str,
    port: int,
    allow_host: tuple[str, ...],
    allow_origin: tuple[str, ...],
    tls_cert: Path | None,
    tls_key: Path | None,
    tools: str,
    no_access_log: bool,
    target: Target,
) -> None:
    """Serve REST and MCP over HTTP on one port.

    Clients need a bearer token: see `omoide mcp token`. Needs the extra `server`.

    \b
    omoide serve
    omoide serve --port 9000 --tls-cert cert.pem --tls-key key.pem
    """
    if (tls_cert is None) is not (tls_key is None):
        raise InvalidInput("--tls-cert and --tls-key go together: give both, or neither")
    if any(find_spec(name) is None for name in ("litestar", "uvicorn")):
        raise InvalidInput("`omoide serve` needs the extra `server`: pip install 'omoide[server]'")
    from omoide.interfaces.rest.server import ServeOptions, serve  # lazy: needs the extra `server`

    def announce(url: str, tokens: Path) -> None:
        click.echo(f"omoide serves {url}, token in {tokens}; Ctrl-C ends it", err=True)

    options = ServeOptions(host, port, allow_host, allow_origin, tls_cert, tls_key, tools, not no_access_log)
    serve(settings_for(target), options, announce)
