"""The language model behind the command `claude` of Claude Code: the person's own login, no API key of ours."""

import os
import signal
import subprocess
import tempfile
from shutil import which

import msgspec

from omoide.errors import ModelUnavailable
from omoide.llm.base import CHILD_VARIABLE, Completion, make_completion, unreachable_error

COMMAND = "claude"
DEFAULT_MODEL = "claude-haiku-4-5"
_OPTIONS = (
    *("-p", "--output-format", "json", "--no-session-persistence", "--tools", ""),
    # Not --bare, which ignores the login of a subscription. The settings of the person stay: they may say how to log in.
    *("--setting-sources", "user", "--settings", '{"disableAllHooks":true}'),
    *("--strict-mcp-config", "--disable-slash-commands"),
)
"""One question without tools, hooks, plugins' commands, MCP servers and files of a project."""
_ENVIRONMENT = {
    CHILD_VARIABLE: "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "MAX_THINKING_TOKENS": "0",  # by default up to 32,000 tokens for each question
}


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
            raise unreachable_error(
                f"there is no command `{COMMAND}` on the PATH: install Claude Code, or change the setting `llm`"
            )
        arguments = [command, *_OPTIONS, "--model", self._model, "--system-prompt", instructions]
        return self._read_output(*self._run(arguments, question, seconds))

    def _read_output(self, code: int, output: bytes, errors: bytes) -> Completion:
        """The answer in what the command printed. It reports errors in JSON too, with an exit code."""
        try:
            answer = msgspec.json.decode(output, type=_CommandOutput)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            if code:
                raise ModelUnavailable(f"{self.name} ended with {code}: {_excerpt(errors or output)}") from error
            raise ModelUnavailable(f"{self.name} did not answer in JSON: {_excerpt(output)}") from error
        used = answer.usage
        read = used.input_tokens + used.cache_creation_input_tokens + used.cache_read_input_tokens
        if answer.is_error or code:
            why = f"{self.name} reported an error: {_excerpt(answer.result.encode() or errors)}"
            raise ModelUnavailable(why) if read or used.output_tokens else unreachable_error(why)
        return make_completion(answer.result, read, used.output_tokens, answer.total_cost_usd)

    def _run(self, command: list[str], question: str, seconds: float) -> tuple[int, bytes, bytes]:
        """Run the command; return its exit code, its output and its errors."""
        try:
            # In a directory of no project, so that it reads no project files; in a process group of its own, so that
            # what it started ends with it.
            process = subprocess.Popen(  # noqa: S603 - the command of the setting, with arguments of ours
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=tempfile.gettempdir(),
                env={**os.environ, **_ENVIRONMENT},
                start_new_session=True,
            )
        except OSError as error:
            raise unreachable_error(f"{self.name} cannot be started: {error}") from error
        with process:
            try:
                output, errors = process.communicate(question.encode(), timeout=seconds)
            except subprocess.TimeoutExpired:
                raise ModelUnavailable(
                    f"{self.name} did not answer within {seconds:g} s: see the setting `llm_timeout`"
                ) from None
            finally:
                _end_group(process)
        return process.returncode, output, errors


def _end_group(process: "subprocess.Popen[bytes]") -> None:
    """Kill what is left of the process and of what it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:  # all of it has ended
        return


def _excerpt(output: bytes) -> str:
    return " ".join(output.decode(errors="replace").split())[:200] or "no output"
