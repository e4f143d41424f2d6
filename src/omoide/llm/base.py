"""The protocol of a language model, and the function that makes the one that a setting names.

off                              no model is ever asked (the default)
claude, claude:MODEL             the command `claude` of Claude Code, with the account that it is logged in to
anthropic:MODEL                  Anthropic's API (extra `anthropic`)
openai:MODEL                     OpenAI's API (extra `openai`)
http://localhost:11434/v1#MODEL  any server with OpenAI's chat interface, such as Ollama (extra `openai`)
"""

from importlib.util import find_spec
from typing import NamedTuple, Protocol

from omoide.errors import ModelUnavailable

CHILD_VARIABLE = "OMOIDE_LLM_CHILD"
"""Set in the environment of a model that runs as a process: hooks that it starts must do nothing."""


class Completion(NamedTuple):
    """What a model answered, and what it took."""

    text: str
    input_tokens: int
    output_tokens: int
    cost: float | None = None
    """In US dollars, where the model reports it."""


_MOST_TOKENS, _MOST_DOLLARS = 100_000_000, 10_000
"""Tokens and cost of a call that can be true: a server may report anything."""


def make_completion(text: object, input_tokens: object, output_tokens: object, cost: float | None = None) -> Completion:
    """Make a completion of what a server sent, which may be of any type. Raises TypeError for a text that is none.

    A number of tokens that cannot be true is 0, as where none is reported: the caller estimates it. A cost that cannot be
    true is None.
    """
    if not isinstance(text, str):
        raise TypeError(f"the text of the answer is of the type {type(text).__name__}")
    read, written = (
        value if isinstance(value, int) and 0 <= value <= _MOST_TOKENS else 0 for value in (input_tokens, output_tokens)
    )
    known = cost if cost is not None and 0 <= cost <= _MOST_DOLLARS else None
    return Completion(text.encode("utf-8", "replace").decode(), read, written, known)


def unreachable_error(message: str) -> ModelUnavailable:
    """Return the error for a question that used no tokens."""
    error = ModelUnavailable(message)
    error.is_free = True
    return error


def is_refusal(error: Exception) -> bool:
    """Return whether an error of a package says that no model read the question: a status such as 401 or 429, or no
    connection at all."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return 400 <= status < 500
    return type(error.__cause__).__name__ == "ConnectError"


def describe_failure(name: str, error: Exception) -> str:
    """Return the message for a model that gave no answer: why, and what to do.

    `error`: that of its package, which may come from the settings or from the server.
    """
    status = getattr(error, "status_code", None)
    is_passing = isinstance(status, int) and (status == _TOO_MANY or status >= _SERVER_ERROR)
    return (
        f"{name} gave no answer ({error}): {'try again later' if is_passing else 'check the settings `llm` and `llm_key`'}"
    )


_TOO_MANY, _SERVER_ERROR = 429, 500


class LanguageModel(Protocol):
    """A model that continues a text. It loads what it needs with the first question."""

    name: str
    """As the setting `llm` names it."""

    def complete(self, instructions: str, question: str, *, seconds: float) -> Completion:
        """Answer a question, following the instructions.

        Raises ModelUnavailable if there is no answer within so many seconds, or none at all; it `is_free` if that used no
        tokens.
        """


def make_model(wanted: str, key: str = "") -> LanguageModel | None:
    """Make the model that the setting `llm` names; None if it is off. Loads nothing yet.

    `key`: the API key; empty: that of the environment. Raises ModelUnavailable if its package is not installed.
    """
    if wanted == "off":
        return None
    # Each adapter is imported when it is chosen: the packages take up to a second.
    kind, _, model = wanted.partition(":")
    if kind == "claude":
        from omoide.llm.claude_command import ClaudeCommand  # lazy: see above

        return ClaudeCommand(model)
    package = "anthropic" if kind == "anthropic" else "openai"
    if find_spec(package) is None:
        raise ModelUnavailable(f'llm = "{wanted}" needs the package {package}: pip install "omoide[{package}]"')
    if kind == "anthropic":
        from omoide.llm.anthropic_api import AnthropicModel  # lazy: see above

        return AnthropicModel(model, key)
    from omoide.llm.openai_api import OpenAIModel  # lazy: see above

    if kind == "openai":
        return OpenAIModel(wanted, model, None, key)
    url, _, model = wanted.partition("#")
    return OpenAIModel(wanted, model, url, key)
