"""doctor: check the installation, and repair what can be repaired."""

from pathlib import Path

import click

from omoide import app
from omoide.files.git import work_tree
from omoide.interfaces.cli.options import Target, json_option, open_for_command, settings_for, store_option
from omoide.interfaces.cli.output import escape_control, print_json
from omoide.interfaces.install.status import client_checks
from omoide.model import HookRecord


@click.command("doctor")
@click.option("--fix", is_flag=True, help="Repair what can be repaired: the index and the permissions.")
@store_option
@json_option
def doctor_command(fix: bool, target: Target, as_json: bool) -> None:
    """Check the database, its index and permissions; --fix repairs them.

    Also shows which agent clients are wired, where, whether they trust the hooks, and how their last call went.

    Ends with 1 when something is wrong and was not repaired.

    \b
    omoide doctor
    omoide doctor --fix
    """
    checks = app.diagnose({"store": target.store}, "cli", fix=fix)
    last_calls = _last_calls(target) if all(check.ok for check in checks) else {}
    checks += client_checks(_project(), last_calls)
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


def _last_calls(target: Target) -> dict[str, HookRecord]:
    """The last call of each client's hooks."""
    return {call.client: call for call in open_for_command(settings_for(target)).last_hook_calls()}


def _project() -> Path | None:
    """The repository of this directory, whose clients may be wired too."""
    try:
        return work_tree(Path.cwd())
    except OSError:  # fallback: only the user's files are checked
        return None
