"""doctor: check the installation, and repair what can be repaired."""

import click

from omoide import app
from omoide.interfaces.cli.options import Target, json_option, store_option
from omoide.interfaces.cli.output import escape_control, print_json


@click.command("doctor")
@click.option("--fix", is_flag=True, help="Repair what can be repaired: the index and the permissions.")
@store_option
@json_option
def doctor_command(fix: bool, target: Target, as_json: bool) -> None:
    """Check the database, its index and permissions; --fix repairs them.

    Ends with 1 when something is wrong and was not repaired.

    \b
    omoide doctor
    omoide doctor --fix
    """
    checks = app.diagnose({"store": target.store}, "cli", fix=fix)
    healthy = all(check.ok for check in checks)
    if as_json:
        records = [{"ok": check.ok, "what": check.what, "remedy": check.remedy} for check in checks]
        print_json({"healthy": healthy, "checks": records})
    else:
        for check in checks:
            mark = click.style("✓", fg="green") if check.ok else click.style("✗", fg="red", bold=True)
            click.echo(f"{mark} {escape_control(check.what)}")
            if check.remedy:
                click.echo(f"  → {escape_control(check.remedy)}")
    click.get_current_context().exit(0 if healthy else 1)
