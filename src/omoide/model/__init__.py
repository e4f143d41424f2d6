"""The frozen values of omoide: memory, draft, scope, actor, query, hit, event, link, project, mirror."""

from omoide.model.event import Event, Link, LinkKind, Version
from omoide.model.memory import (
    CONTROL,
    TOPIC_LENGTH,
    TYPES,
    Draft,
    Memory,
    Remembered,
    State,
    Usage,
    derive_topic,
    new_id,
    now,
)
from omoide.model.mirror import Choice, FileState, Mirror, Side, SyncConflict, SyncState
from omoide.model.project import Project, ProjectPlace, RepositoryIdentity, Session
from omoide.model.scope import Actor, Layer, Role, Scope, check_project_path, check_segment
from omoide.model.search import Hit, Page, Query, ResumeContext, SearchResult, Summary, VectorCoverage

__all__ = [
    "CONTROL",
    "TOPIC_LENGTH",
    "TYPES",
    "Actor",
    "Choice",
    "Draft",
    "Event",
    "FileState",
    "Hit",
    "Layer",
    "Link",
    "LinkKind",
    "Memory",
    "Mirror",
    "Page",
    "Project",
    "ProjectPlace",
    "Query",
    "Remembered",
    "RepositoryIdentity",
    "ResumeContext",
    "Role",
    "Scope",
    "SearchResult",
    "Session",
    "Side",
    "State",
    "Summary",
    "SyncConflict",
    "SyncState",
    "Usage",
    "VectorCoverage",
    "Version",
    "check_project_path",
    "check_segment",
    "derive_topic",
    "new_id",
    "now",
]
