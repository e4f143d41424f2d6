"""The end of a process that omoide itself is: a command or a server."""

import atexit
import os
import sys
from collections.abc import Callable

_FAILED_FLUSH = 120
"""Python's own exit code if standard output cannot be flushed at the end."""


def run_program(program: Callable[[], None]) -> None:
    """Run the program that this process is, and end the process with its exit code, whatever its threads do.

    The interpreter's own last step is left out; everything is closed and written by then. It destroys every object, which
    takes a tenth of the time of a short command. And it stops the threads that still run (a call whose client reads
    nothing, a request to a server that does not answer) wherever they are; if that is in C++ code, such as a tokenizer's,
    the process is aborted.
    """
    code = 1  # of a program that raises an error, which the interpreter prints

    def leave() -> None:
        os._exit(_flush_output(code))

    atexit.register(leave)  # the first one registered runs last; threads that are no daemons have ended by then
    try:
        program()
        code = 0
    except SystemExit as ended:
        code = _exit_code(ended)
        raise
    finally:
        _store_patterns()


def _store_patterns() -> None:
    """Store the regular expressions that this process had to compile, for the next one."""
    patterns = sys.modules.get("omoide.compiled_patterns")
    if patterns is not None:  # `omoide --help` needs none
        patterns.store_patterns()


def _exit_code(ended: SystemExit) -> int:
    """Return the exit code as the interpreter computes it."""
    if ended.code is None:
        return 0
    return ended.code & 0xFF if isinstance(ended.code, int) else 1


def _flush_output(code: int) -> int:
    """Write what was printed, and return the exit code. Standard error has no buffer, and a thread may block it."""
    if sys.stdout is None:
        return code
    try:
        sys.stdout.flush()
    except (OSError, ValueError):  # fallback: nobody reads it, which the exit code says
        return code or _FAILED_FLUSH
    return code
