"""llm: the language model and what it was used for."""

import click

from omoide.interfaces.cli.options import Target, json_option, open_for_command, settings_for, store_option
from omoide.interfaces.cli.output import count_of, print_json, print_table
from omoide.service.llm_usage import UsageReport


@click.group("llm")
def llm_command() -> None:
    """Show what the language model was used for.

    \b
    omoide llm usage
    """


@llm_command.command("usage")
@click.option("--days", type=click.IntRange(1, 1000), default=30, show_default=True, help="How many days to look back.")
@store_option
@json_option
def usage_command(days: int, target: Target, as_json: bool) -> None:
    """Show calls, tokens and cost by day and purpose.

    No model is ever asked unless the setting `llm` names one.

    \b
    omoide llm usage
    omoide llm usage --days 7 --json
    """
    report = open_for_command(settings_for(target)).llm_usage(days=days)
    if as_json:
        print_json(report)
        return
    if report.rows:
        _print_rows(report)
    spent = f"{count_of(report.tokens_today, 'token', 'tokens')} today"
    budget = f" of {report.daily_tokens:,}" if report.daily_tokens else ""
    state = "no language model is configured (setting `llm`)" if report.model == "off" else f"model {report.model}"
    click.echo(f"{spent}{budget} · {state}", err=True)


def _print_rows(report: UsageReport) -> None:
    print_table(
        ["day", "purpose", "model", "calls", "unusable", "tokens in", "tokens out", "cost"],
        [
            (
                row.day.isoformat(),
                row.purpose,
                row.model,
                f"{row.calls:,}",
                f"{row.unusable:,}",
                f"{row.input_tokens:,}",
                f"{row.output_tokens:,}",
                "-" if row.cost is None else f"${row.cost:.4f}",
            )
            for row in report.rows
        ],
        flexible=(2,),
    )
