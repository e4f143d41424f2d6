"""The language model behind Anthropic's API, through its package."""

from functools import cached_property
from typing import TYPE_CHECKING

from omoide.errors import ModelUnavailable
from omoide.llm.base import Completion, describe_failure, is_refusal, make_completion, unreachable_error
from omoide.llm.time_limit import complete_within

if TYPE_CHECKING:  # it takes a second to import
    from anthropic import Anthropic

_MAX_TOKENS = 4_096


class AnthropicModel:
    """A model of Anthropic's API: its name there, and the API key, empty for that of the environment."""

    def __init__(self, model: str, key: str = ""):
        self.name = f"anthropic:{model}"
        self._model, self._key = model, key

    @cached_property
    def _client(self) -> "Anthropic":
        from anthropic import Anthropic  # lazy: a second that only a question pays for

        return Anthropic(api_key=self._key or None, max_retries=0)

    def complete(self, instructions: str, question: str, *, seconds: float) -> Completion:
        from anthropic import AnthropicError  # lazy: see `_client`

        client = self._client
        if client.api_key is None and client.auth_token is None:
            raise unreachable_error(f"{self.name} has no API key: set `llm_key`, or ANTHROPIC_API_KEY")

        def call() -> Completion:
            try:
                message = client.messages.create(
                    model=self._model,
                    max_tokens=_MAX_TOKENS,
                    system=instructions,
                    messages=[{"role": "user", "content": question}],
                    timeout=seconds,
                )
                text = "".join(block.text for block in message.content if block.type == "text")
                usage = message.usage  # a server that only resembles Anthropic's may report none
                return make_completion(text, usage.input_tokens if usage else 0, usage.output_tokens if usage else 0)
            # Besides its own errors: what the package raises for an answer of another shape.
            except (AnthropicError, TypeError, ValueError, AttributeError, RecursionError) as error:
                why = describe_failure(self.name, error)
                raise (unreachable_error(why) if is_refusal(error) else ModelUnavailable(why)) from error

        return complete_within(seconds, call, self.name)
