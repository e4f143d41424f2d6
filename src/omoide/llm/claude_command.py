"""The language model behind the command `claude` of Claude Code: the person's own account, no API key."""

import os
import signal
import subprocess
import tempfile
from shutil import which

import msgspec

from omoide.errors import ModelUnavailable
from omoide.llm.base import CHILD_VARIABLE, Completion

COMMAND = "claude"
DEFAULT_MODEL = "claude-haiku-4-5"


class _Usage(msgspec.Struct):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0


class _CommandOutput(msgspec.Struct):
    result: str = ""
    is_error: bool = False
    total_cost_usd: float | None = None
    usage: _Usage = msgspec.field(default_factory=_Usage)


class ClaudeCommand:
    """Claude Code as a model: without tools, hooks, project files or a stored session. Empty model: a small one."""

    def __init__(self, model: str = ""):
        self.name = f"claude:{model}" if model else "claude"
        self._model = model or DEFAULT_MODEL

    def complete(self, instructions: str, question: str, *, seconds: float) -> Completion:
        command = which(COMMAND)
        if command is None:
            raise ModelUnavailable(
                f"there is no command `{COMMAND}` on the PATH: install Claude Code, or change the setting `llm`"
            )
        options = ["--bare", "-p", "--tools", "", "--no-session-persistence", "--output-format", "json"]
        output = self._run([command, *options, "--model", self._model, "--system-prompt", instructions], question, seconds)
        try:
            answer = msgspec.json.decode(output, type=_CommandOutput)
        except msgspec.DecodeError as error:
            raise ModelUnavailable(f"{self.name} did not answer in JSON: {_excerpt(output)}") from error
        if answer.is_error:
            raise ModelUnavailable(f"{self.name} reported an error: {answer.result[:200]}")
        used = answer.usage
        read = used.input_tokens + used.cache_creation_input_tokens + used.cache_read_input_tokens
        return Completion(answer.result, read, used.output_tokens, answer.total_cost_usd)

    def _run(self, command: list[str], question: str, seconds: float) -> bytes:
        environment = {**os.environ, CHILD_VARIABLE: "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        try:
            # In a directory of no project, so that it reads no project files; in a process group of its own, so that
            # what it started ends with it.
            process = subprocess.Popen(  # noqa: S603 - the command of the setting, with arguments of ours
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=tempfile.gettempdir(),
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise ModelUnavailable(f"{self.name} cannot be started: {error}") from error
        with process:
            try:
                output, errors = process.communicate(question.encode(), timeout=seconds)
            except subprocess.TimeoutExpired:
                raise ModelUnavailable(
                    f"{self.name} did not answer within {seconds:g} s: see the setting `llm_timeout`"
                ) from None
            finally:
                _end_group(process)
        if process.returncode:
            raise ModelUnavailable(f"{self.name} ended with {process.returncode}: {_excerpt(errors or output)}")
        return output


def _end_group(process: "subprocess.Popen[bytes]") -> None:
    """Kill what is left of the process and of what it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:  # all of it has ended
        return


def _excerpt(output: bytes) -> str:
    return " ".join(output.decode(errors="replace").split())[:200] or "no output"
