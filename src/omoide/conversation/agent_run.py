"""Run an agent with memory: its prompt, its process, and its results. An error of the memory never stops the agent."""

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from omoide.conversation.agent_process import ProcessResult, require_command, run_agent
from omoide.conversation.pipeline import AgentResult, Conversation, ConversationReport, PreparedPrompt
from omoide.errors import InvalidInput, OmoideError, StoreError
from omoide.model import RunResult, Task
from omoide.settings import Settings

if TYPE_CHECKING:  # for annotations
    from omoide.learning.transcript import Turn

OpenTurns = Callable[[], "AbstractContextManager[Iterable[Turn]]"]
"""Opens the transcript that an agent has written; no turns: its output is read instead."""


class AgentCommand(NamedTuple):
    """The command of an agent, and where it runs."""

    command: Sequence[str]
    directory: Path
    settings: Settings
    """Those of the user: the agent's hooks obey them, too."""
    store: Path | None = None
    """The database, where the agent's hooks would not find it by the settings."""


class AgentRunReport(NamedTuple):
    """The outcome of an agent that ran with memory."""

    exit_code: int
    lost: str = ""
    """Why a part of its output was not passed on; empty: all of it was, or nobody reads it."""
    report: ConversationReport | None = None
    """What was kept; None: nothing, because it ran without memory, or because of the problem."""
    problem: str = ""
    """Why its outcome is not recorded, and what to do."""


def message_of(task: Task, message: str | None) -> str:
    """Return what an agent is to do: the message, or what the task says. Raises InvalidInput where neither says anything."""
    text = message if message is not None else "\n\n".join(part for part in (task.title, task.description) if part)
    if not text.strip():
        raise InvalidInput("there is nothing to do: give a --message, or a --task with a title or a description")
    return text


def run_with_memory(
    agent: AgentCommand,
    open_conversation: Callable[[], Conversation],
    message: str,
    *,
    task: Task | None = None,
    session: str | None = None,
    inject: bool = False,
    open_turns: OpenTurns = lambda: nullcontext(()),
    show: Callable[[PreparedPrompt], None] = lambda _: None,
    warn: Callable[[str], None] = lambda _: None,
) -> AgentRunReport:
    """Run the command of an agent with a prompt from memory, and keep its outcome.

    `open_conversation` opens the memory; `message`, `task`, `session` and `inject` are those of `Conversation.before`.
    `open_turns`: opens the transcript once the agent has ended. `show` is called with the prompt before the agent starts,
    `warn` with what a person should know by then.

    A database that cannot be used does not keep the agent from running: it gets the message alone. Raises InvalidInput for a
    command that does not exist, before anything is recorded, and for one that cannot be started, as a failed run; and what
    `Conversation.before` raises.
    """
    require_command(agent.command)
    try:
        conversation = open_conversation()
        prepared = conversation.before(message, session, task=task, inject=inject)
    except StoreError as error:  # fallback: without memory
        warn(f"{error}: the agent runs without memory")
        ended = _run(agent, message, "")
        return AgentRunReport(ended.exit_code, ended.lost)
    show(prepared)
    id = "" if prepared.run is None else prepared.run.id
    try:
        ended = _run(agent, prepared.text, id)
    except OmoideError as error:  # it was not started
        if id:
            with suppress(OmoideError):  # the error itself is raised
                conversation.after(AgentResult(result=RunResult.FAILURE, note=str(error)))
        raise
    if not id:
        return AgentRunReport(ended.exit_code, ended.lost)
    return _keep(conversation, id, ended, open_turns)


def _run(agent: AgentCommand, prompt: str, id: str) -> ProcessResult:
    """Run the agent until it ends. `id`: of its run; empty: it has none."""
    # What the agent did to the directory must not change how its run ends.
    with tempfile.TemporaryDirectory(prefix="omoide-", ignore_cleanup_errors=True) as place:
        return run_agent(
            agent.command,
            prompt,
            environment=_environment(agent, id),
            directory=agent.directory,
            file=Path(place) / "prompt.md",
        )


def _environment(agent: AgentCommand, id: str) -> Mapping[str, str]:
    """The variables of the agent: by which its hooks, and itself, know the run and the database."""
    # Hooks of the agent must not inject again what is in the prompt; explicit requests for memories still work.
    inject = agent.settings.memories_inject
    environment = {"OMOIDE_MEMORIES_INJECT": "manual" if inject == "auto" else inject}
    if id:
        environment["OMOIDE_RUN"] = id
    if agent.store is not None:
        environment["OMOIDE_STORE"] = str(agent.store)
    return environment


def _keep(conversation: Conversation, id: str, ended: ProcessResult, open_turns: OpenTurns) -> AgentRunReport:
    """Keep the outcome of the agent."""
    output = ended.output.decode("utf-8", errors="replace")
    try:
        with open_turns() as turns:
            result = AgentResult(turns, output, exit_code=ended.exit_code, duration=ended.seconds)
            return AgentRunReport(ended.exit_code, ended.lost, conversation.after(result))
    except (OmoideError, KeyboardInterrupt) as error:  # fallback: a person can do it later
        why = str(error) or "interrupted"
        later = f"`omoide after {id} --exit-code {ended.exit_code}` does that"
        return AgentRunReport(
            ended.exit_code, ended.lost, problem=f"{why}: the outcome of run {id} is not recorded; {later}"
        )
