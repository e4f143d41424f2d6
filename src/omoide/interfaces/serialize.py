"""JSON shapes of every value: the same for all interfaces."""

from typing import TYPE_CHECKING, Any

import msgspec

from omoide import model
from omoide.markdown import record
from omoide.markdown.record import actor, author, format_time, plain_name, scope
from omoide.model import (
    Actor,
    ComposedPrompt,
    Event,
    Hit,
    Link,
    Memory,
    Outcome,
    Project,
    PromptMemory,
    Receipt,
    Remembered,
    Route,
    Run,
    Session,
    Summary,
    VectorCoverage,
    Version,
    expiry,
)

if TYPE_CHECKING:  # each loads with the verb that answers it
    from omoide.lifecycle.deduplication import Contradiction, Merge, Proposal
    from omoide.lifecycle.retention import Retirement
    from omoide.lifecycle.run_statistics import Interval, RunReport
    from omoide.service.copies import Copy
    from omoide.service.projects import ProjectOverview
    from omoide.service.replay import Blame, Explanation, RunComparison
    from omoide.service.trees import ProjectFile, ProjectFiles

__all__ = [
    "actor",
    "author",
    "blame",
    "composed_prompt",
    "contradiction",
    "copy",
    "coverage",
    "dump_json",
    "event",
    "explanation",
    "format_time",
    "hit",
    "inactive_reason",
    "link",
    "memory",
    "merge",
    "outcome",
    "plain_name",
    "project",
    "project_file",
    "project_files",
    "project_overview",
    "proposal",
    "receipt",
    "remember_result",
    "retirement",
    "route",
    "run",
    "run_comparison",
    "run_report",
    "scope",
    "session",
    "state",
    "summary",
    "version",
]

_encoder = msgspec.json.Encoder()


def dump_json(value: object, *, indent: int = 2) -> str:
    try:
        text = _encoder.encode(value)
    except UnicodeEncodeError:  # fallback: a path that is not UTF-8, with what is not as \\udc83
        import json  # lazy: only such a path needs it

        return json.dumps(msgspec.to_builtins(value), indent=indent or None)
    return (msgspec.json.format(text, indent=indent) if indent else text).decode()


def state(value: Memory) -> str:
    """Return the listing of a memory at this moment."""
    return expiry.listing(value, model.now()).value


def inactive_reason(value: Memory) -> str:
    """Return why a memory is inactive although its state is active; an empty text if it is not."""
    return "" if state(value) == value.state.value else f"expired {format_time(value.expires_at)}"


def memory(value: Memory) -> dict[str, Any]:
    """Return the record of a memory with its listing as state; an export has the state of the database."""
    reason = inactive_reason(value)
    return {**record.memory(value), "state": state(value), "reason": reason} if reason else record.memory(value)


def hit(value: Hit) -> dict[str, Any]:
    return {**memory(value.memory), "score": value.score, "why": value.why}


def remember_result(value: Remembered) -> dict[str, Any]:
    """Return the result of a remember; near-duplicates and suggested tags only where there are some."""
    result: dict[str, Any] = {
        "memory_id": value.memory.id,
        "action": value.action,
        "similar_count": value.similar_count,
        "memory": memory(value.memory),
    }
    if value.similar:
        result["similar"] = list(value.similar)
    if value.suggested_tags:
        result["suggested_tags"] = list(value.suggested_tags)
    return result


def event(value: Event) -> dict[str, Any]:
    return {
        "number": value.number,
        "at": format_time(value.at),
        "action": value.action,
        "memory_number": value.memory_number,
        "memory_id": value.memory_id,
        "actor": _actor(value.actor),
        "source": msgspec.to_builtins(value.source),
        "detail": value.detail,
    }


def version(value: Version) -> dict[str, Any]:
    return {
        **record.memory(value.memory),
        "actor": None if value.actor is None else _actor(value.actor),
    }


def _actor(value: Actor) -> dict[str, Any]:
    return {"name": value.name, "role": value.role.value, "via": value.via}


def session(value: Session) -> dict[str, Any]:
    return {
        "name": value.scope.name,
        "project": value.scope.path,
        "source": value.source,
        "created_at": format_time(value.created_at),
        "updated_at": format_time(value.updated_at),
        "memory_count": value.memories,
        "file": value.file,
    }


def project_file(value: "ProjectFile") -> dict[str, Any]:
    return {
        "path": value.path,
        "text": value.text,
        "updated_at": format_time(value.updated_at),
        "bytes": value.bytes,
    }


def project_files(value: "ProjectFiles") -> dict[str, Any]:
    """Return the texts of a project's tree; without a tree, the paths and times are None."""
    return {
        "directory": value.directory,
        "memory": project_file(value.memory),
        "pinned": project_file(value.pinned),
        "decisions": project_file(value.decisions),
        "sessions": [{"session": file.session, **project_file(file)} for file in value.sessions],
        "total_bytes": value.total_bytes,
    }


def project(value: Project) -> dict[str, Any]:
    category, _, name = value.path.rpartition("/")
    return {
        "path": value.path,
        "name": name,
        "category": category or None,
        "description": value.description,
        "root": value.root,
        "created_at": format_time(value.created_at),
    }


def project_overview(value: "ProjectOverview") -> dict[str, Any]:
    return {
        **project(value.project),
        "updated_at": format_time(value.updated_at),
        "sessions": [session.scope.name for session in value.sessions],
    }


def summary(value: Summary) -> dict[str, Any]:
    return {
        "count": value.count,
        "by_type": value.by_type,
        "by_tag": value.by_tag,
        "bytes": value.bytes,
        "oldest": format_time(value.oldest),
        "newest": format_time(value.newest),
    }


def coverage(value: VectorCoverage) -> dict[str, Any]:
    return {"embedder": value.embedder, "embedded": value.embedded, "pending": value.pending}


def copy(value: "Copy") -> dict[str, str]:
    """Return a file that contains, or contained, a purged memory."""
    return {"path": value.path, "kind": value.kind, "state": value.state, "reason": value.reason}


def route(value: Route) -> dict[str, Any]:
    return {
        "primary": None if value.primary is None else project(value.primary),
        "secondary": [project(each) for each in value.secondary],
        "confidence": value.confidence.value,
        "reason": value.reason,
        "pinned_content": value.pinned_content or None,
        "proposal": value.proposal or None,
        "candidates": [{"project": each.project.path, "score": each.score} for each in value.candidates],
        "trouble": value.trouble or None,
        "current": None if value.current is None else project(value.current),
    }


def receipt(value: Receipt) -> dict[str, Any]:
    return {
        "sha256": value.sha256,
        "bytes": value.bytes,
        "tokens": value.tokens,
        "format": value.format,
        "holdout": value.holdout,
        "memories": [_prompt_memory(one) for one in value.memories],
        "left_out": [_prompt_memory(one) for one in value.left_out],
        "left_out_count": value.left_out_count,
    }


def composed_prompt(value: ComposedPrompt) -> dict[str, Any]:
    """Return a prompt with its receipt, and the number and id of its run if it was recorded."""
    recorded = None if value.run is None else {"number": value.run.number, "id": value.run.id}
    return {"prompt": value.text, "receipt": receipt(value.receipt), "problems": value.problems, "run": recorded}


def run(value: Run) -> dict[str, Any]:
    from omoide.prompt.task_file import task_record  # lazy: only a run has a task

    return {
        "number": value.number,
        "id": value.id,
        "scope": scope(value.scope),
        "agent": value.agent.name,
        "started_at": format_time(value.started_at),
        "task": task_record(value.task),
        "receipt": receipt(value.receipt),
        "outcome": None if value.outcome is None else outcome(value.outcome),
    }


def outcome(value: Outcome) -> dict[str, Any]:
    return {
        "result": value.result.value,
        "at": format_time(value.at),
        "by": value.by,
        "duration": value.duration,
        "exit_code": value.exit_code,
        "note": value.note,
        "helped": value.helped,
        "harmed": value.harmed,
    }


def explanation(value: "Explanation") -> dict[str, Any]:
    return {
        "number": value.number,
        "version": value.version,
        "chosen": value.chosen,
        "reason": value.reason,
        "memory": None if value.memory is None else record.memory(value.memory),
    }


def run_comparison(value: "RunComparison") -> dict[str, Any]:
    return {
        "first": value.first.number,
        "second": value.second.number,
        "removed": [_prompt_memory(one) for one in value.removed],
        "added": [_prompt_memory(one) for one in value.added],
        "revised": [{"number": old.number, "from": old.version, "to": new.version} for old, new in value.revised],
        "diff": "\n".join(value.diff),
        "problem": value.problem,
    }


def run_report(value: "RunReport") -> dict[str, Any]:
    groups = {
        name: {"runs": group.runs, "success": _interval(group.success), "seconds": _interval(group.seconds)}
        for name, group in (("with_memories", value.with_memories), ("without", value.without))
    }
    return {
        **groups,
        "pending": value.pending,
        "success_difference": _interval(value.success),
        "duration_ratio": _interval(value.seconds),
        "conclusion": value.conclusion,
    }


def _interval(value: "Interval | None") -> dict[str, float] | None:
    return None if value is None else {name: round(each, 4) for name, each in value._asdict().items()}


def blame(value: "Blame") -> dict[str, Any]:
    return {
        "run": value.run.number,
        "run_id": value.run.id,
        "memory": record.memory(value.memory),
        "prompt": value.prompt,
        "without": value.without,
    }


def _prompt_memory(value: PromptMemory) -> dict[str, Any]:
    return {
        "number": value.number,
        "id": value.id,
        "version": value.version,
        "rule": value.rule,
        "relevance": value.relevance,
        "reason": value.reason,
    }


def retirement(value: "Retirement") -> dict[str, Any]:
    return {
        "number": value.memory.number,
        "scope": scope(value.memory.scope),
        "topic": value.memory.topic,
        "used_at": format_time(value.memory.used_at),
        "reason": value.reason.value,
    }


def merge(value: "Merge") -> dict[str, Any]:
    return {
        "into": value.into.number,
        "merged": [other.number for other in value.others],
        "similarity": round(value.similarity, 4),
        "content": value.merged.content,
    }


def proposal(value: "Proposal") -> dict[str, Any]:
    return {
        "one": value.one.number,
        "other": value.other.number,
        "similarity": round(value.similarity, 4),
        "texts": [value.one.content, value.other.content],
    }


def contradiction(value: "Contradiction") -> dict[str, Any]:
    return {
        "one": value.one.number,
        "other": value.other.number,
        "why": value.why,
        "similarity": round(value.similarity, 4),
    }


def link(value: Link) -> dict[str, Any]:
    return {
        "source": value.source,
        "kind": value.kind.value,
        "target": value.target,
        "created_at": format_time(value.created_at),
    }
