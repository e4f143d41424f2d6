"""The program `omoide`: the command line, or a hook of an agent, which starts without loading the command line."""

import sys


def main() -> None:
    """Run the program with the arguments of the process."""
    arguments = sys.argv[1:]
    if _is_hook(arguments):
        from omoide.interfaces.hooks.process import main as answer_hook  # lazy: one of the two is used

        answer_hook(arguments[1:])
    from omoide.interfaces.cli import main as run_command  # lazy: one of the two is used

    run_command()


def _is_hook(arguments: list[str]) -> bool:
    """Whether a client calls, and no person: no option, no subcommand, no terminal."""
    if arguments[:1] != ["hook"] or arguments[1:2] == ["log"] or any(word.startswith("-") for word in arguments):
        return False
    return sys.stdin is None or not sys.stdin.isatty()
