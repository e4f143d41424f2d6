"""What a store promises of texts beside memories, and of replacing texts for good."""

from typing import NamedTuple, Protocol

from omoide.model import Memory


class StoredText(NamedTuple):
    """A text that is kept beside memories."""

    what: str
    """project, description, directory, session, session source, actor or event (its detail, as JSON)."""
    text: str


class TextReader(Protocol):
    """The part of `Reading` that is about texts beside memories."""

    def stored_texts(self) -> list[StoredText]:
        """Every text that is kept beside memories, each once; what is known of mirrors is asked for with `mirrors`."""


class TextWriter(Protocol):
    """The part of `Writing` that replaces texts without keeping the old ones. See `Store.scrub` for the bytes."""

    def replace_version(self, memory: Memory) -> None:
        """Puts other texts into a past version, in place."""

    def replace_text(self, old: StoredText, new: str) -> None:
        """Puts another text in the place of one that is kept beside memories, wherever that stands; an empty one for a
        directory takes it off. The new name of a project, session or actor must be free."""
