"""Where an action came from: a Slack thread, a GitHub issue, the command line, an agent, a file.

Each source has a text: `slack:C123/1700000000.0001`, `github:owner/name#12`, `cli`, `agent:planner`, `file:/notes/a.md`.
What stands behind the colon may be left out; `cli` and `agent` can carry an id of the caller's own.
"""

import msgspec

from omoide.compiled_patterns import load_pattern
from omoide.errors import InvalidInput
from omoide.model.scope import Actor


class SlackSource(msgspec.Struct, frozen=True, tag_field="kind", tag="slack"):
    """A message in Slack."""

    channel: str = ""
    thread: str = ""
    """The timestamp by which Slack names a thread."""

    def __str__(self) -> str:
        return _join("slack", self.channel, f"/{self.thread}" if self.thread else "")


class GitHubSource(msgspec.Struct, frozen=True, tag_field="kind", tag="github"):
    """An issue or a pull request on GitHub."""

    repository: str = ""
    """Owner and name: `owner/name`."""
    issue: int | None = None

    def __str__(self) -> str:
        return _join("github", self.repository, "" if self.issue is None else f"#{self.issue}")


class CliSource(msgspec.Struct, frozen=True, tag_field="kind", tag="cli"):
    """A command that somebody typed, or a script ran."""

    id: str = ""

    def __str__(self) -> str:
        return _join("cli", self.id)


class AgentSource(msgspec.Struct, frozen=True, tag_field="kind", tag="agent"):
    """An agent or a program, through MCP, REST, a hook or Python."""

    id: str = ""

    def __str__(self) -> str:
        return _join("agent", self.id)


class FileSource(msgspec.Struct, frozen=True, tag_field="kind", tag="file"):
    """An edit of a file that is kept in sync."""

    path: str = ""

    def __str__(self) -> str:
        return _join("file", self.path)


Source = SlackSource | GitHubSource | CliSource | AgentSource | FileSource
"""Where an action came from."""

SOURCE_FORMS = "slack:CHANNEL/THREAD, github:OWNER/NAME#ISSUE, cli, agent:ID or file:PATH"
_GITHUB = load_pattern(r"([^#\s]+)(?:#(\d{1,18}))?")


def _join(kind: str, id: str, more: str = "") -> str:
    return f"{kind}:{id}{more}" if id else kind


def parse_source(text: str) -> Source | None:
    """Return the source that a text names; None for a text of another form, such as a URL."""
    kind, colon, id = text.partition(":")
    if colon and not id:
        return None
    match kind:
        case "slack":
            channel, _, thread = id.partition("/")
            return SlackSource(channel, thread) if channel or not id else None
        case "github":
            return _parse_github(id) if id else GitHubSource()
        case "cli":
            return CliSource(id)
        case "agent":
            return AgentSource(id)
        case "file":
            return FileSource(id)
    return None


def _parse_github(id: str) -> Source | None:
    found = _GITHUB.fullmatch(id)
    return GitHubSource(found[1], int(found[2]) if found[2] else None) if found else None


def require_source(text: str) -> Source:
    """Return the source that a text names; raise InvalidInput if it names none."""
    source = parse_source(text)
    if source is None:
        raise InvalidInput(f"there is no source {text!r}: write it as {SOURCE_FORMS}")
    return source


def actor_source(actor: Actor) -> Source:
    """Return the source of an action for which none was named: the interface that the actor used."""
    if actor.via == "cli":
        return CliSource()
    return FileSource() if actor.via == "file" else AgentSource(actor.name)


def is_within(source: Source, wanted: str) -> bool:
    """Return whether a source is the one that `wanted` names, or a part of it, such as a thread of a channel."""
    text = str(source)
    return text == wanted or (text.startswith(wanted) and text[len(wanted)] in ":/#")
