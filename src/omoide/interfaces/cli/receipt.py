"""The receipt of a prompt as text for people."""

from collections.abc import Sequence

import click

from omoide.interfaces.cli.output import count_of, print_table
from omoide.model import PromptMemory, Receipt


def print_receipt(receipt: Receipt) -> None:
    """Print which memories were chosen for a prompt and which were left out, with the reason of each."""
    click.echo(
        f"{receipt.bytes:,} bytes, about {receipt.tokens:,} tokens: {count_of(len(receipt.memories), 'memory', 'memories')}"
        f" chosen, {receipt.left_out_count:,} left out"
    )
    rows = [*_receipt_rows("chosen", receipt.memories), *_receipt_rows("left out", receipt.left_out)]
    if rows:
        print_table(["", "#", "version", "why"], rows, flexible=(3,))
    more = receipt.left_out_count - len(receipt.left_out)
    if more:
        click.echo(f"… and {more:,} more that rank lower")


def _receipt_rows(what: str, memories: Sequence[PromptMemory]) -> list[list[str]]:
    return [[what, f"#{one.number}", str(one.version), one.reason] for one in memories]
