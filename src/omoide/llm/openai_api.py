"""The language model behind OpenAI's chat interface, of OpenAI or of any compatible server, through OpenAI's package."""

from functools import cached_property
from typing import TYPE_CHECKING

from omoide.errors import ModelUnavailable
from omoide.llm.base import Completion, describe_failure, is_refusal, make_completion, unreachable_error
from omoide.llm.time_limit import complete_within

if TYPE_CHECKING:  # it takes half a second to import
    from openai import OpenAI

_NO_KEY = "none"
"""What a local server gets that asks for no key: the package insists on one."""


class OpenAIModel:
    """A model: its name for messages, its name at the server, the base URL or None for OpenAI's, and the API key."""

    def __init__(self, name: str, model: str, url: str | None, key: str = ""):
        self.name = name
        self._model, self._url, self._key = model, url, key

    @cached_property
    def _client(self) -> "OpenAI":
        from openai import OpenAI  # lazy: half a second that only a question pays for

        return OpenAI(base_url=self._url, api_key=self._key or (_NO_KEY if self._url else None), max_retries=0)

    def complete(self, instructions: str, question: str, *, seconds: float) -> Completion:
        from openai import OpenAIError  # lazy: see `_client`

        try:
            client = self._client
        except OpenAIError as error:  # without a key
            raise unreachable_error(describe_failure(self.name, error)) from error

        def call() -> Completion:
            try:
                answer = client.chat.completions.create(
                    model=self._model,
                    messages=[{"role": "system", "content": instructions}, {"role": "user", "content": question}],
                    timeout=seconds,
                )
                usage = answer.usage
                text = answer.choices[0].message.content or ""
                return make_completion(text, usage.prompt_tokens if usage else 0, usage.completion_tokens if usage else 0)
            except OpenAIError as error:
                message = describe_failure(self.name, error)
                raise (unreachable_error(message) if is_refusal(error) else ModelUnavailable(message)) from error
            # For an answer of another shape.
            except (TypeError, ValueError, AttributeError, IndexError, RecursionError) as error:
                raise ModelUnavailable(
                    f"{self.name} did not answer as OpenAI's chat interface does ({error}): check the setting `llm`"
                ) from error

        return complete_within(seconds, call, self.name)
