"""The program `omoide`: the command line, or a hook of an agent, which starts without loading the command line."""

import gc
import os
import sys

_GC_THRESHOLD = 100_000
"""New objects before Python looks for cycles. Starting makes half as many and hardly any garbage: looking takes 5 ms."""


def main() -> None:
    """Run the program with the arguments of the process."""
    _open_closed_streams()
    gc.set_threshold(_GC_THRESHOLD)
    arguments = sys.argv[1:]
    if _is_hook(arguments):
        from omoide.interfaces.hooks.process import main as answer_hook  # lazy: one of the two is used

        answer_hook(arguments[1:])
    from omoide.interfaces.cli import main as run_command  # lazy: one of the two is used

    run_command()


def _is_hook(arguments: list[str]) -> bool:
    """Whether a client calls, and no person: no subcommand, no question for help, no terminal."""
    if arguments[:1] != ["hook"] or arguments[1:2] == ["log"] or {"-h", "--help"} & set(arguments):
        return False
    return not sys.stdin.isatty()


def _open_closed_streams() -> None:
    """Connect the standard streams that the caller has closed to nothing: Python leaves them out, and the next file that is
    opened would have their number."""
    if sys.stdin and sys.stdout and sys.stderr:
        return
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)  # noqa: FBT003 - it takes no keyword
    os.close(descriptor)
    sys.stdin = sys.stdin or open(0, encoding="utf-8")  # noqa: SIM115 - they stay open
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8")  # noqa: SIM115 - they stay open
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8")  # noqa: SIM115 - they stay open
