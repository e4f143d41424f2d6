"""scan: find and redact secrets that are stored already."""

import click

from omoide.guard import secrets
from omoide.interfaces.cli.options import Target, json_option, open_for_command, settings_for, store_option
from omoide.interfaces.cli.output import count_of, escape_control, print_json, print_table
from omoide.service.secret_scan import SecretScanReport


@click.command("scan")
@click.option("--fix", is_flag=True, help="Redact what is found, in every version, for good.")
@store_option
@json_option
def scan_command(fix: bool, target: Target, as_json: bool) -> None:
    """Find secrets in stored memories; --fix redacts them.

    Searches memories in every state and version, names, events and what is known of mirrored files. Ends with 1 when
    something was found and not fixed. Backups and exports made earlier still contain it.

    \b
    omoide scan
    omoide scan --fix
    """
    scan = open_for_command(settings_for(target)).scan(fix=fix)
    if as_json:
        print_json(_scan_record(scan))
    else:
        _print(scan)
    click.get_current_context().exit(1 if scan.found and not scan.fixed else 0)


def _scan_record(scan: SecretScanReport) -> dict[str, object]:
    return {
        "fixed": scan.fixed,
        "total_count": len(scan.found),
        "found": [secret._asdict() for secret in scan.found],
        "files": [secrets.redact(file) for file in scan.files],
    }


def _print(scan: SecretScanReport) -> None:
    if scan.found:
        print_table(
            ["memory", "version", "field", "kind", "begins"],
            [
                (
                    "-" if secret.number is None else f"#{secret.number}",
                    str(secret.version or "-"),
                    secret.field,
                    secret.kind,
                    secret.preview,
                )
                for secret in scan.found
            ],
            flexible=(3,),
        )
    for file in scan.files:
        click.echo(f"check {escape_control(secrets.redact(file))}: it contains one of these memories", err=True)
    found = f"{count_of(len(scan.found), 'secret', 'secrets')} {'redacted' if scan.fixed else 'found'}"
    open_findings = scan.found and not scan.fixed
    remedy = ": `omoide scan --fix` redacts them; replace those that are still in use" if open_findings else ""
    click.echo(f"{found}{remedy}", err=True)
