"""Run the command of an agent: hand the prompt over, stream the output, pass signals on, keep the end of what it said."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import IO, BinaryIO, NamedTuple

from omoide.errors import InvalidInput, Unwritable

PROMPT, PROMPT_FILE = "{prompt}", "{prompt_file}"
"""In an argument of the command: the prompt itself, and the path of a file that contains it."""
_MOST_KEPT = 4_000_000
"""Bytes of the output that are kept, from its end: an agent may print without limit."""
_PIECE = 1 << 16
_FORWARDED = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGWINCH")
_FROM_TERMINAL = ("SIGINT", "SIGQUIT")
"""A terminal sends these to the agent itself, which has the same process group."""


class ProcessResult(NamedTuple):
    """What came of an agent's process."""

    exit_code: int
    """As a shell reports it: 128 and the number of the signal, if one ended the process."""
    output: bytes
    """The end of what it printed to standard output."""
    seconds: float


def run_agent(
    command: Sequence[str], prompt: str, *, environment: Mapping[str, str], directory: Path, file: Path
) -> ProcessResult:
    """Run a command until it ends, and return what came of it.

    The prompt replaces `{prompt}` in the arguments, and `{prompt_file}` stands for `file`, which is written for it; where
    neither occurs, the prompt is its standard input. What it prints is passed on as it comes. Raises InvalidInput if the
    command cannot be started, Unwritable if the file cannot be written.
    """
    if any(PROMPT_FILE in part for part in command):
        _write_prompt(file, prompt)
    arguments = [part.replace(PROMPT_FILE, str(file)).replace(PROMPT, prompt) for part in command]
    from_stdin = not any(PROMPT in part or PROMPT_FILE in part for part in command)
    began = time.monotonic()
    try:
        process = subprocess.Popen(  # noqa: S603 - running the command that the person gives is what this is for
            arguments,
            stdin=subprocess.PIPE if from_stdin else None,
            stdout=subprocess.PIPE,
            env={**os.environ, **environment},
            cwd=directory,
        )
    except (OSError, ValueError) as error:
        raise InvalidInput(f"cannot run {command[0]} ({error}): check the command after --") from error
    with _forward_signals(process):
        if process.stdin is not None:
            threading.Thread(target=_feed, args=(process.stdin, prompt.encode()), daemon=True).start()
        output = _stream(process.stdout, sys.stdout.buffer) if process.stdout is not None else b""
        code = process.wait()
    return ProcessResult(128 - code if code < 0 else code, output, time.monotonic() - began)


def _write_prompt(file: Path, prompt: str) -> None:
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(prompt.encode())
    except OSError as error:
        raise Unwritable(f"cannot write the prompt to {file} ({error.strerror})") from error


def _feed(pipe: IO[bytes], data: bytes) -> None:
    """Write the prompt to the agent, which need not read it."""
    try:
        with pipe:
            pipe.write(data)
    except BrokenPipeError:  # fallback: the agent ended, or closed its input
        pass


def _stream(source: IO[bytes], target: BinaryIO) -> bytes:
    """Pass everything on as it comes, and return the end of it."""
    kept: deque[bytes] = deque()
    size = 0
    is_open = True
    while piece := os.read(source.fileno(), _PIECE):
        kept.append(piece)
        size += len(piece)
        while size - len(kept[0]) >= _MOST_KEPT:
            size -= len(kept.popleft())
        if is_open:
            is_open = _write(target, piece)
    return b"".join(kept)


def _write(target: BinaryIO, piece: bytes) -> bool:
    """Write to our own output; False if nobody reads it any more, so that the agent can still finish its work."""
    try:
        target.write(piece)
        target.flush()
    except BrokenPipeError:
        return False
    return True


@contextmanager
def _forward_signals(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Pass signals on to the agent while it runs, instead of ending before it."""

    def forward(number: int, _: FrameType | None) -> None:
        if process.poll() is None:
            process.send_signal(number)

    def leave_to_terminal(_: int, __: FrameType | None) -> None:
        """The agent gets this signal itself."""

    interrupt = leave_to_terminal if _owns_terminal() else forward
    handlers = dict.fromkeys(_FORWARDED, forward) | dict.fromkeys(_FROM_TERMINAL, interrupt)
    numbers = {name: getattr(signal, name) for name in handlers if hasattr(signal, name)}  # Windows has few of them
    before = {number: signal.signal(number, handlers[name]) for name, number in numbers.items()}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _owns_terminal() -> bool:
    """Whether this process is in the foreground of a terminal, which then sends Ctrl-C to the agent too."""
    try:
        return os.isatty(0) and os.tcgetpgrp(0) == os.getpgrp()
    except OSError:  # fallback: no terminal
        return False
