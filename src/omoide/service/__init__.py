"""The service: every operation on a memory store, for one actor. Interfaces translate to it."""

from typing import TYPE_CHECKING

import msgspec

from omoide.guard import permissions, validation
from omoide.model import Actor, Scope, Source, require_source
from omoide.service.core import Core
from omoide.service.hooks import Hooks
from omoide.service.on_demand import verbs_on_demand
from omoide.settings import Settings
from omoide.storage.capabilities import Housekeeping

if TYPE_CHECKING:  # the verbs as type checkers see them; when the program runs, they come from `_USE_CASES`
    from omoide.service.agent_hooks import AgentHooks
    from omoide.service.corrections import Corrections
    from omoide.service.entries import Entries
    from omoide.service.idempotency import IdempotencyKey
    from omoide.service.imports import Imports
    from omoide.service.inbox import Inbox
    from omoide.service.learning import Learning
    from omoide.service.links import Links
    from omoide.service.llm_usage import LlmUsage
    from omoide.service.maintenance import Maintenance
    from omoide.service.memories import Memories
    from omoide.service.mirrors import Mirrors
    from omoide.service.project_blocks import ProjectBlocks
    from omoide.service.project_moves import ProjectMoves
    from omoide.service.projects import Projects
    from omoide.service.prompts import Prompts
    from omoide.service.proposals import Proposals
    from omoide.service.replay import Replay
    from omoide.service.repositories import Repositories
    from omoide.service.retention import Retention
    from omoide.service.routing import Routing
    from omoide.service.run_reports import RunReports
    from omoide.service.runs import Runs
    from omoide.service.secret_scan import SecretScan
    from omoide.service.stats import Stats
    from omoide.service.summaries import Summaries
    from omoide.service.turn_corrections import TurnCorrections

    class _Verbs(
        AgentHooks,
        TurnCorrections,
        Summaries,
        Inbox,
        Memories,
        Imports,
        Entries,
        Prompts,
        ProjectBlocks,
        Runs,
        Replay,
        RunReports,
        Stats,
        Retention,
        Routing,
        Projects,
        ProjectMoves,
        Repositories,
        Mirrors,
        Maintenance,
        SecretScan,
        Links,
        LlmUsage,
        Learning,
        Proposals,
        Corrections,
    ):
        pass

else:
    _Verbs = Core

_USE_CASES = {
    "omoide.service.agent_hooks.AgentHooks": "hook",
    "omoide.service.corrections.Corrections": "record_work_tree learn_corrections",
    "omoide.service.embeddings.Embeddings": "similar coverage embed_pending",
    "omoide.service.entries.Entries": "retrieve entry",
    "omoide.service.hook_calls.HookCalls": "hook_calls last_hook_calls injections has_inbox",
    "omoide.service.imports.Imports": "import_memories import_drafts",
    "omoide.service.inbox.Inbox": "learn_from_inbox",
    "omoide.service.learning.Learning": "learn",
    "omoide.service.links.Links": "links link unlink",
    "omoide.service.llm_usage.LlmUsage": "llm_usage",
    "omoide.service.maintenance.Maintenance": (
        "purge record_copy purge_candidates check probe repair backup tally everything latest_event location reindex"
    ),
    "omoide.service.memories.Memories": (
        "remember append_activity remember_many revise pin unpin archive forget restore revert promote"
    ),
    "omoide.service.meter.Meter": "meter",
    "omoide.service.mirrors.Mirrors": (
        "mirrors mirror ensure_list_mirror unmirror join reset_sync_state conflicts resolve accept_entries"
    ),
    "omoide.service.project_blocks.ProjectBlocks": "project_block",
    "omoide.service.project_moves.ProjectMoves": "rename_project merge_projects",
    "omoide.service.projects.Projects": (
        "projects catalogue project project_by_number create_project describe_project start_session sessions session"
    ),
    "omoide.service.prompts.Prompts": "compose record_prompt",
    "omoide.service.proposals.Proposals": "proposals approve reject",
    "omoide.service.queries.Queries": (
        "recall list show record_use by_key history events events_after last_event resume summary"
    ),
    "omoide.service.replay.Replay": "replay why compare_runs blame",
    "omoide.service.repositories.Repositories": "locate identify claim bind_project",
    "omoide.service.retention.Retention": "retire retire_if_due automatic_retirements undo_retirement",
    "omoide.service.routing.Routing": "route",
    "omoide.service.run_reports.RunReports": "run_report",
    "omoide.service.runs.Runs": "runs run outcome undo_outcome fix_relevance release_relevance",
    "omoide.service.secret_scan.SecretScan": "scan",
    "omoide.service.stats.Stats": "stats",
    "omoide.service.summaries.Summaries": "summary_due summarize undo_summary",
    "omoide.service.trees.Trees": "project_files replace_memory_file",
    "omoide.service.turn_corrections.TurnCorrections": "begin_turn end_turn",
}
"""The verbs by the class that defines them. Each class is imported when one of its verbs is first used."""


@verbs_on_demand(_USE_CASES)
class Service(_Verbs):
    """Every operation on one store, for one actor; `omoide.open` returns it. It may be used from several threads.

    Each operation checks the actor's permission, works in one transaction unless its description says otherwise, and logs an
    event for every change. These parameters have the same meaning everywhere:

    `ref`: a memory, by its id, its number (`12` or `"#12"`) or its key.
    `scope`: where a new memory belongs, or where the caller looks from: what the scope does not see does not exist for it.
    `if_version`: raise Changed unless this is the current version of the memory.

    All errors are `OmoideError`s. Every operation raises NotAllowed where the role or the bounds of the actor do not allow
    it, and StoreError where the database cannot be used. The description of an operation names its other errors.
    """

    def acting_as(self, agent_id: str | None) -> "Service":
        """Return a service on the same store for the agent with this id; None: this service itself.

        `agent_id`: a claim: the agent gets the role that the setting `agents` gives it, by its name or by a pattern, else
        worker, and never more than the actor of this service may do. Raises InvalidInput for an id that is empty or too
        long, or has control characters.
        """
        if agent_id is None:
            return self
        name = validation.check_line(agent_id, "agent id", self._settings)
        role = permissions.lower_role(self._actor.role, permissions.role_for(self._settings.agents, name))
        actor = msgspec.structs.replace(self._actor, name=name, role=role)  # with its bounds, if it has any
        return self._with(self._settings, actor)

    def with_source(self, source: Source | str) -> "Service":
        """Return a service on the same store whose actions come from this source, such as `slack:C123/1700000000.0001`.

        `source`: a source, or its text. Events carry it, and so does a memory that names no other. Raises InvalidInput for a
        text that is no source.
        """
        text = str(require_source(source) if isinstance(source, str) else source)
        settings = msgspec.structs.replace(self._settings, source=validation.check_line(text, "source", self._settings))
        return self._with(settings, self._actor)

    def with_idempotency_key(self, key: str, request: bytes, *, scope: Scope) -> "Service":
        """Return a service on the same store for one operation that must not be done twice, such as `remember`.

        `key`: a text that the caller chooses for the request. `request`: everything that makes it the same request. `scope`:
        the project that it is about.

        For a day, the operation raises AlreadyDone with its first result where the key comes again with the same request,
        and InvalidInput where it comes with another one. Raises InvalidInput for a key that is empty or too long.
        """
        from omoide.service.idempotency import make_key  # lazy: only a request with a key needs it

        return self._with(self._settings, self._actor, make_key(self._actor.name, scope, key, request))

    def _with(self, settings: Settings, actor: Actor, key: "IdempotencyKey | None" = None) -> "Service":
        """A service on the same store, with its hooks, vectors and language model."""
        return Service(self._store, settings, actor, self._clock, self._hooks, self._embeddings, self._llm, key)

    @property
    def hooks(self) -> Hooks:
        """The hooks that were registered when this service was composed, shared by the services made from it."""
        return self._hooks

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._settings

    @property
    def types(self) -> tuple[str, ...]:
        """The types that a memory can have: the built-in ones and those of the settings."""
        return self._settings.all_types

    def __enter__(self) -> "Service":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def flush(self) -> None:
        """Run deferred writes, such as access times. Call when idle."""
        if isinstance(self._store, Housekeeping):
            self._store.flush()

    def close_quickly(self) -> None:
        """Close the store without what `close` does first. Call it in a process that must end at once."""
        self._store.close()

    def close(self) -> None:
        """Close the store, for every service on it. Once a day, archive first what is due: see `retire_if_due`."""
        try:
            self._embeddings.close()
            self.retire_if_due()
        finally:
            self._store.close()


__all__ = ["Service"]
