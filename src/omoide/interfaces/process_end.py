"""The end of a process that omoide itself is: a command or a server."""

import atexit
import os
import sys
from collections.abc import Callable

_FAILED_FLUSH = 120
"""Python's own exit code if standard output cannot be flushed at the end."""


def run_program(program: Callable[[], None]) -> None:
    """Run the program that this process is, so that the process ends with its exit code whatever its threads do.

    A thread may still run at the end: a call whose client reads nothing, a request to a server that does not answer. The
    interpreter stops such a thread wherever it is; if that is in C++ code, such as a tokenizer's, the process is aborted.
    So the process then ends without this last step of the interpreter; everything is closed and written by then.
    """
    code = 1  # of a program that raises an error, which the interpreter prints

    def leave() -> None:
        threading = sys.modules.get("threading")
        if threading is not None and threading.active_count() > 1:
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
