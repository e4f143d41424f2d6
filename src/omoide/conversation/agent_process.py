"""Run the command of an agent: pass it the prompt, stream the output, pass signals on, keep the end of the output."""

import os
import re
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from shutil import which
from types import FrameType
from typing import IO, BinaryIO, NamedTuple

from omoide.errors import InvalidInput, Unwritable

PROMPT, PROMPT_FILE = "{prompt}", "{prompt_file}"
"""In an argument of the command: the prompt itself, and the path of a file that contains it."""
_SHELLS = frozenset(["sh", "bash", "dash", "zsh", "ksh", "fish"])
_TAKES_CODE = re.compile(r"-\w*c|--command")
_MOST_KEPT = 4_000_000
"""Bytes of the output that are kept, from its end: an agent may print without limit."""
_PIECE = 1 << 16
_GRACE = 1.0
"""Seconds in which what the agent started may still print after its end. What it leaves running is not waited for."""
_PIPE_SIZE = 1 << 20
"""Bytes that a pipe may contain when the agent ends, and that are read however long it takes to pass them on."""
_FORWARDED = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGWINCH")
_FROM_TERMINAL = ("SIGINT", "SIGQUIT")
"""A terminal sends these to the agent itself, which has the same process group."""


class ProcessResult(NamedTuple):
    """The outcome of an agent's process."""

    exit_code: int
    """As a shell reports it: 128 and the number of the signal, if one ended the process."""
    output: bytes
    """The end of what it printed to standard output."""
    seconds: float
    lost: str = ""
    """Why a part of the output was not passed on; empty: all of it was, or nobody reads it."""


def require_command(command: Sequence[str]) -> None:
    """Raise InvalidInput if there is no such program, or if a shell would run the prompt, before anything else is done."""
    if command[0].startswith("-"):
        raise InvalidInput(f"there is no option {command[0]}: see `omoide run --help`; the agent's command stands after --")
    _require_no_prompt_in_code(command)
    if which(command[0]) is not None:
        return
    if os.sep in command[0]:
        wrong = "it cannot be executed" if Path(command[0]).exists() else "there is no such file"
    else:
        wrong = "there is no such program on the PATH"
    raise InvalidInput(f"cannot run {command[0]}: {wrong}; check the command after --")


def _require_no_prompt_in_code(command: Sequence[str]) -> None:
    """Raise InvalidInput if the prompt would become a part of the code that a shell gets: `sh -c 'agent "{prompt}"'`.

    What an agent or a web page wrote may be in a memory, and quotes do not keep a shell from running it.
    """
    shell = next((part for part in command if Path(part).name in _SHELLS), None)
    for option, code in pairwise(command):
        if shell is not None and _TAKES_CODE.fullmatch(option) and PROMPT in code:
            raise InvalidInput(
                f"the shell would run the text of {PROMPT} as code: make it an argument of its own,"
                f" {shell} {option} 'agent \"$1\"' {shell} {PROMPT}"
            )


def run_agent(
    command: Sequence[str], prompt: str, *, environment: Mapping[str, str], directory: Path, file: Path
) -> ProcessResult:
    """Run a command until it ends, and return its outcome.

    The prompt replaces `{prompt}` in the arguments, and `{prompt_file}` stands for `file`, which is written for it; where
    neither occurs, the prompt is its standard input. What it prints is passed on as it comes. Raises InvalidInput if the
    command cannot be started, Unwritable if the file cannot be written.
    """
    if any(PROMPT_FILE in part for part in command):
        _write_prompt(file, prompt)
    arguments = [part.replace(PROMPT_FILE, str(file)).replace(PROMPT, prompt) for part in command]
    from_stdin = not any(PROMPT in part or PROMPT_FILE in part for part in command)
    began = time.monotonic()
    with _forward_signals() as forwarding:
        try:
            process = subprocess.Popen(  # noqa: S603 - running the command that the person gives is what this is for
                arguments,
                stdin=subprocess.PIPE if from_stdin else None,
                stdout=subprocess.PIPE,
                env={**os.environ, **environment},
                cwd=directory,
            )
        except (OSError, ValueError) as error:
            raise InvalidInput(_start_problem(command, error)) from error
        forwarding.attach(process)
        if process.stdin is not None:
            threading.Thread(target=_feed, args=(process.stdin, prompt.encode()), daemon=True).start()
        output = _OutputEnd(sys.stdout.buffer)
        if process.stdout is not None:
            with process.stdout:
                _stream(process, process.stdout, output, forwarding.wakeup)
        code = process.wait()
    return ProcessResult(128 - code if code < 0 else code, output.end, time.monotonic() - began, output.lost)


def _start_problem(command: Sequence[str], error: OSError | ValueError) -> str:
    import errno  # lazy: only for a command that cannot be started

    if isinstance(error, OSError) and error.errno == errno.E2BIG:
        return f"cannot run {command[0]}: the prompt is too long for an argument; use {PROMPT_FILE} or standard input"
    why = error.strerror if isinstance(error, OSError) else error
    return f"cannot run {command[0]} ({why}): check the command after --"


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
    except BrokenPipeError:  # fallback: the agent has ended, or has closed its input
        pass


class _OutputEnd:
    """Where the output of an agent goes: passed on as it comes, and its end kept."""

    def __init__(self, target: BinaryIO):
        self.lost = ""
        self._target: BinaryIO | None = target
        self._pieces: deque[bytes] = deque()
        self._size = 0

    @property
    def end(self) -> bytes:
        """The end of everything that was added."""
        return b"".join(self._pieces)

    def add(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self._size += len(piece)
        while self._size - len(self._pieces[0]) >= _MOST_KEPT:
            self._size -= len(self._pieces.popleft())
        if self._target is not None:
            self._pass_on(self._target, piece)

    def _pass_on(self, target: BinaryIO, piece: bytes) -> None:
        """Write to our own output. If that fails, the agent can still finish its work."""
        try:
            target.write(piece)
            target.flush()
        except OSError as error:
            self._target = None
            if not isinstance(error, BrokenPipeError):  # the reader has closed the pipe
                self.lost = error.strerror or str(error)
            _discard_rest(target)


def _discard_rest(target: BinaryIO) -> None:
    """Let what is buffered for an output that failed go nowhere: it would fail again when the process ends, and change its
    exit code."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, target.fileno())
    finally:
        os.close(nowhere)


def _stream(process: subprocess.Popen[bytes], source: IO[bytes], output: _OutputEnd, wakeup: int) -> None:
    """Read the output of an agent until it has ended. What it started may keep the pipe open for longer: see `_GRACE`.

    `wakeup`: the end of a pipe that can be read when a signal has arrived. Python runs a handler only between two of its own
    steps: a signal that arrives just before a wait, or in another thread, does not end the wait by itself.
    """
    waiting, ended = os.pipe()
    threading.Thread(target=_close_at_end, args=(process, ended), daemon=True).start()
    with selectors.DefaultSelector() as selector, os.fdopen(waiting, "rb", buffering=0) as end:
        printing = selector.register(source, selectors.EVENT_READ)
        ending = selector.register(end, selectors.EVENT_READ)
        waking = selector.register(wakeup, selectors.EVENT_READ)
        deadline: float | None = None
        left, is_open = _PIPE_SIZE, True
        while left > 0 and (is_open or deadline is None):
            ready = [key for key, _ in selector.select(None if deadline is None else max(0, deadline - time.monotonic()))]
            if not ready:
                return
            if waking in ready:
                os.read(wakeup, _PIECE)  # the handler runs after this step
            if ending in ready:
                selector.unregister(end)
                deadline = time.monotonic() + _GRACE
            if printing in ready:
                piece = os.read(source.fileno(), _PIECE)
                if piece:
                    output.add(piece)
                    left -= len(piece) if deadline is not None and time.monotonic() > deadline else 0
                else:
                    selector.unregister(source)
                    is_open = False


def _close_at_end(process: subprocess.Popen[bytes], descriptor: int) -> None:
    """Close the end of a pipe when a process has ended, so that a reader of the other end sees it."""
    process.wait()
    os.close(descriptor)


class _Forwarding:
    """Passes signals on to a process; those that arrive before it has started, when it has."""

    def __init__(self, wakeup: int) -> None:
        self.wakeup = wakeup
        """The end of a pipe that can be read when a signal has arrived."""
        self._process: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []

    def attach(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        for number in self._early:
            process.send_signal(number)

    def forward(self, number: int, _: FrameType | None) -> None:
        if self._process is None:
            self._early.append(number)
        elif self._process.poll() is None:
            self._process.send_signal(number)


@contextmanager
def _forward_signals() -> Iterator[_Forwarding]:
    """Pass signals on to the agent while it runs, instead of ending before it."""

    def leave_to_terminal(_: int, __: FrameType | None) -> None:
        """The agent gets this signal itself."""

    wakeup, written = os.pipe()
    os.set_blocking(written, False)
    forwarding = _Forwarding(wakeup)
    interrupt = leave_to_terminal if _owns_terminal() else forwarding.forward
    handlers = dict.fromkeys(_FORWARDED, forwarding.forward) | dict.fromkeys(_FROM_TERMINAL, interrupt)
    numbers = {name: getattr(signal, name) for name in handlers if hasattr(signal, name)}  # Windows has few of them
    # What `nohup` or a shell ignores stays ignored, by the agent too: it inherits that, but no handler.
    heard = {name: number for name, number in numbers.items() if signal.getsignal(number) is not signal.SIG_IGN}
    before = {number: signal.signal(number, handlers[name]) for name, number in heard.items()}
    written_before = signal.set_wakeup_fd(written, warn_on_full_buffer=False)
    try:
        yield forwarding
    finally:
        signal.set_wakeup_fd(written_before)
        for number, old in before.items():
            signal.signal(number, old)
        os.close(written)
        os.close(wakeup)


def _owns_terminal() -> bool:
    """Whether this process is in the foreground of a terminal, which then sends Ctrl-C to the agent too.

    Asked of the terminal itself: standard input may be a pipe."""
    try:
        terminal = os.open(os.ctermid(), os.O_RDONLY | os.O_NOCTTY)
    except OSError:  # fallback: no terminal
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:  # fallback: the terminal is gone
        return False
    finally:
        os.close(terminal)
