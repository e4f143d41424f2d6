"""Looking for secrets that are stored already: scan."""

import click

from omoide.guard import secrets
from omoide.interfaces.cli.common import Place, jsonable, settings_of, stored, until_done
from omoide.interfaces.cli.screen import print_json, print_table, visible
from omoide.service.secret_scan import Scan


@click.command("scan")
@click.option("--fix", is_flag=True, help="Redact what is found, in every version, for good.")
@stored
@jsonable
def scan_command(fix: bool, place: Place, as_json: bool) -> None:
    """Look for secrets in what is stored already; --fix redacts them.

    Looks through memories in every state and version, names, events and what is known of mirrored files. Ends with 1 when
    something was found and not fixed. Backups and exports made before keep theirs.

    \b
    omoide scan
    omoide scan --fix
    """
    scan = until_done(settings_of(place)).scan(fix=fix)
    if as_json:
        print_json(_shape(scan))
    else:
        _print(scan)
    click.get_current_context().exit(1 if scan.found and not scan.fixed else 0)


def _shape(scan: Scan) -> dict[str, object]:
    return {
        "fixed": scan.fixed,
        "total_count": len(scan.found),
        "found": [one._asdict() for one in scan.found],
        "files": [secrets.redacted(file) for file in scan.files],
    }


def _print(scan: Scan) -> None:
    if scan.found:
        print_table(
            ["memory", "version", "field", "kind", "begins"],
            [
                ("-" if one.number is None else f"#{one.number}", str(one.version or "-"), one.field, one.kind, one.preview)
                for one in scan.found
            ],
            flexible=(3,),
        )
    for file in scan.files:
        click.echo(f"look into {visible(secrets.redacted(file))}: it shows one of these memories", err=True)
    done = "redacted" if scan.fixed else "found"
    remedy = "" if scan.fixed or not scan.found else ": `omoide scan --fix` redacts them; change those that are still in use"
    click.echo(f"{len(scan.found):,} {done}{remedy}", err=True)
