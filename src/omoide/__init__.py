"""omoide (思い出): one memory for every agent a person runs.

import omoide

with omoide.open("memory.db") as memory:
    memory.remember("認証は JWT を採用", topic="API auth", scope=omoide.Scope.project("shop"))
    result = memory.recall("認証", scope=omoide.Scope.project("shop"))

`open` returns a `Service`, which has all operations. Every type and error that they take, return or raise is here.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omoide.app import (
        open as open,  # noqa: A004 - omoide.open, as in the README
        open_conversation as open_conversation,
        open_list as open_list,
    )
    from omoide.conversation.pipeline import (
        AgentResult as AgentResult,
        Conversation as Conversation,
        ConversationReport as ConversationReport,
        PreparedPrompt as PreparedPrompt,
    )
    from omoide.errors import (
        AlreadyDone as AlreadyDone,
        BudgetSpent as BudgetSpent,
        Changed as Changed,
        Conflict as Conflict,
        EmbedderUnavailable as EmbedderUnavailable,
        InvalidInput as InvalidInput,
        ModelUnavailable as ModelUnavailable,
        NotAllowed as NotAllowed,
        NotFound as NotFound,
        OmoideError as OmoideError,
        SecretFound as SecretFound,
        StoreBusy as StoreBusy,
        StoreDamaged as StoreDamaged,
        StoreError as StoreError,
        StoreFull as StoreFull,
        StoreReadOnly as StoreReadOnly,
        StoreReplaced as StoreReplaced,
        StoreTooNew as StoreTooNew,
        Unreadable as Unreadable,
        Unwritable as Unwritable,
    )
    from omoide.learning.candidates import (
        Rejection as Rejection,
    )
    from omoide.learning.transcript import (
        Speaker as Speaker,
        Turn as Turn,
        read_lines as read_lines,
        read_turns as read_turns,
    )
    from omoide.lifecycle.deduplication import (
        Contradiction as Contradiction,
        Merge as Merge,
        MergePlan as MergePlan,
        Proposal as Proposal,
        ReindexResult as ReindexResult,
    )
    from omoide.lifecycle.retention import (
        Reason as Reason,
        RetentionPlan as RetentionPlan,
        Retirement as Retirement,
    )
    from omoide.lifecycle.run_statistics import (
        Interval as Interval,
        RunGroup as RunGroup,
        RunReport as RunReport,
    )
    from omoide.model import (
        Actor as Actor,
        AgentFile as AgentFile,
        AgentHunk as AgentHunk,
        AgentSource as AgentSource,
        Choice as Choice,
        CliSource as CliSource,
        ComposedPrompt as ComposedPrompt,
        Draft as Draft,
        Event as Event,
        FileSource as FileSource,
        GitHubSource as GitHubSource,
        Hit as Hit,
        HookCall as HookCall,
        HookEvent as HookEvent,
        HookRecord as HookRecord,
        HookState as HookState,
        Injection as Injection,
        Layer as Layer,
        Layout as Layout,
        Link as Link,
        Linked as Linked,
        LinkKind as LinkKind,
        Memory as Memory,
        MemoryUse as MemoryUse,
        Mirror as Mirror,
        Outcome as Outcome,
        Page as Page,
        Project as Project,
        ProjectPlace as ProjectPlace,
        PromptMemory as PromptMemory,
        Query as Query,
        Receipt as Receipt,
        Remembered as Remembered,
        ResumeContext as ResumeContext,
        Role as Role,
        Route as Route,
        RouteCandidate as RouteCandidate,
        RouteConfidence as RouteConfidence,
        Run as Run,
        RunResult as RunResult,
        Scope as Scope,
        SearchResult as SearchResult,
        Session as Session,
        Side as Side,
        SlackSource as SlackSource,
        Source as Source,
        State as State,
        Summary as Summary,
        SyncConflict as SyncConflict,
        Task as Task,
        TreeFile as TreeFile,
        Usage as Usage,
        VectorCoverage as VectorCoverage,
        Version as Version,
        WorkTreeRecord as WorkTreeRecord,
        WorkTreeState as WorkTreeState,
    )
    from omoide.model.prompt import (
        Rule as Rule,
    )
    from omoide.routing.catalogue import (
        catalogue as catalogue,
    )
    from omoide.service import (
        Service as Service,
    )
    from omoide.service.candidate_store import (
        LearningReport as LearningReport,
    )
    from omoide.service.copies import (
        Copy as Copy,
        FoundCopies as FoundCopies,
        PurgeReport as PurgeReport,
        Trace as Trace,
    )
    from omoide.service.core import (
        Ref as Ref,
    )
    from omoide.service.hooks import (
        Hooks as Hooks,
    )
    from omoide.service.llm_usage import (
        UsageReport as UsageReport,
        UsageRow as UsageRow,
    )
    from omoide.service.maintenance import (
        Watch as Watch,
    )
    from omoide.service.meter import (
        MeterReport as MeterReport,
        MeterRow as MeterRow,
        UseCounts as UseCounts,
    )
    from omoide.service.mirrors import (
        ConflictDetail as ConflictDetail,
    )
    from omoide.service.project_moves import (
        ProjectMerge as ProjectMerge,
    )
    from omoide.service.projects import (
        ProjectDetails as ProjectDetails,
        ProjectOverview as ProjectOverview,
    )
    from omoide.service.queries import (
        EventBatch as EventBatch,
    )
    from omoide.service.replay import (
        Blame as Blame,
        Explanation as Explanation,
        RunComparison as RunComparison,
    )
    from omoide.service.repositories import (
        ProjectMatch as ProjectMatch,
    )
    from omoide.service.secret_scan import (
        SecretScanReport as SecretScanReport,
        StoredSecret as StoredSecret,
    )
    from omoide.service.stats import (
        StoreStats as StoreStats,
    )
    from omoide.service.summaries import (
        SummaryFile as SummaryFile,
        SummaryResult as SummaryResult,
        SummaryUndo as SummaryUndo,
    )
    from omoide.service.trees import (
        ProjectFile as ProjectFile,
        ProjectFiles as ProjectFiles,
        Replacement as Replacement,
    )
    from omoide.settings import (
        Settings as Settings,
    )
    from omoide.storage.capabilities import (
        Problem as Problem,
    )
    from omoide.sync.repo_list import (
        AddedEntry as AddedEntry,
        ListItem as ListItem,
        RepoList as RepoList,
    )

_MODULES = {
    "omoide.app": "open open_conversation open_list",
    "omoide.conversation.pipeline": "AgentResult Conversation ConversationReport PreparedPrompt",
    "omoide.errors": (
        "AlreadyDone BudgetSpent Changed Conflict EmbedderUnavailable InvalidInput ModelUnavailable NotAllowed NotFound "
        "OmoideError SecretFound StoreBusy StoreDamaged StoreError StoreFull StoreReadOnly StoreReplaced "
        "StoreTooNew Unreadable Unwritable"
    ),
    "omoide.learning.candidates": "Rejection",
    "omoide.learning.transcript": "Speaker Turn read_lines read_turns",
    "omoide.lifecycle.deduplication": "Contradiction Merge MergePlan Proposal ReindexResult",
    "omoide.lifecycle.retention": "Reason RetentionPlan Retirement",
    "omoide.lifecycle.run_statistics": "Interval RunGroup RunReport",
    "omoide.model": (
        "Actor AgentFile AgentHunk AgentSource Choice CliSource ComposedPrompt Draft Event FileSource GitHubSource "
        "Hit HookCall HookEvent HookRecord HookState Injection Layer Layout Link Linked LinkKind Memory MemoryUse Mirror "
        "Outcome Page Project ProjectPlace PromptMemory Query Receipt Remembered ResumeContext Role Route RouteCandidate "
        "RouteConfidence Run RunResult Scope SearchResult Session Side SlackSource Source State Summary SyncConflict Task "
        "TreeFile Usage VectorCoverage Version WorkTreeRecord WorkTreeState"
    ),
    "omoide.model.prompt": "Rule",
    "omoide.routing.catalogue": "catalogue",
    "omoide.service": "Service",
    "omoide.service.candidate_store": "LearningReport",
    "omoide.service.copies": "Copy FoundCopies PurgeReport Trace",
    "omoide.service.core": "Ref",
    "omoide.service.hooks": "Hooks",
    "omoide.service.llm_usage": "UsageReport UsageRow",
    "omoide.service.maintenance": "Watch",
    "omoide.service.meter": "MeterReport MeterRow UseCounts",
    "omoide.service.mirrors": "ConflictDetail",
    "omoide.service.project_moves": "ProjectMerge",
    "omoide.service.projects": "ProjectDetails ProjectOverview",
    "omoide.service.queries": "EventBatch",
    "omoide.service.replay": "Blame Explanation RunComparison",
    "omoide.service.repositories": "ProjectMatch",
    "omoide.service.secret_scan": "SecretScanReport StoredSecret",
    "omoide.service.stats": "StoreStats",
    "omoide.service.summaries": "SummaryFile SummaryResult SummaryUndo",
    "omoide.service.trees": "ProjectFile ProjectFiles Replacement",
    "omoide.settings": "Settings",
    "omoide.storage.capabilities": "Problem",
    "omoide.sync.repo_list": "AddedEntry ListItem RepoList",
}
"""The public names by the module they are defined in; the same as above, for `__getattr__`."""
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = sorted(_HOMES)  # noqa: PLE0605 - a list of the names above
__version__ = "0.1.0"


# Loaded at the first use: `omoide --help` imports this file and needs none of it.
def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'omoide' has no attribute {name!r}")
    from importlib import import_module  # lazy: see above

    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
