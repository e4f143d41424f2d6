"""Runs as training data: one JSON object in each line, with the prompt, its memories, and its outcome."""

from typing import Any, BinaryIO

import msgspec

from omoide.errors import Conflict, NotFound
from omoide.guard import secrets
from omoide.markdown.record import format_time
from omoide.model import Run, Scope
from omoide.prompt.task_file import task_record
from omoide.service import Service

_MOST = 1_000_000
_encode = msgspec.json.Encoder().encode


def export_runs(service: Service, file: BinaryIO, scope: Scope) -> int:
    """Write the runs of a project to an open file, oldest first, and return how many there were.

    Secrets in texts are redacted. The prompt of a run that cannot be replayed any more is null, and `problem` says why.
    """
    runs = service.runs(scope=scope, limit=_MOST)
    for run in reversed(runs):
        file.write(_encode(_redact(_record(service, run))) + b"\n")
    return len(runs)


def _record(service: Service, run: Run) -> dict[str, Any]:
    prompt, problem = None, ""
    try:
        prompt = service.replay(run.id, scope=Scope(run.scope.path))
    except (NotFound, Conflict) as error:  # fallback: the record without its prompt
        problem = str(error)
    outcome = run.outcome
    return {
        "run": run.number,
        "id": run.id,
        "project": run.scope.path,
        "session": run.scope.name,
        "agent": run.agent.name,
        "started_at": format_time(run.started_at),
        "task": task_record(run.task),
        "prompt": prompt,
        "problem": problem,
        "sha256": run.receipt.sha256,
        "holdout": run.receipt.holdout,
        "memories": [{"id": one.id, "number": one.number, "version": one.version} for one in run.receipt.memories],
        "outcome": None if outcome is None else outcome.result.value,
        "helped": [] if outcome is None else list(outcome.helped),
        "harmed": [] if outcome is None else list(outcome.harmed),
        "duration": None if outcome is None else outcome.duration,
        "exit_code": None if outcome is None else outcome.exit_code,
        "note": "" if outcome is None else outcome.note,
    }


def _redact(value: Any) -> Any:
    """The value without secrets in any of its texts."""
    if isinstance(value, str):
        return secrets.redact(value)
    if isinstance(value, dict):
        return {name: _redact(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_redact(each) for each in value]
    return value
