"""Prompts that a person selects in the client: resume a session, review memories."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import UNSET

from omoide import model
from omoide.interfaces.mcp import jsonrpc, resources
from omoide.interfaces.mcp.context import CallContext
from omoide.interfaces.mcp.jsonrpc import RpcError
from omoide.interfaces.mcp.schemas import render_memories
from omoide.prompt import notes

_PROJECT = {"name": "project", "title": "Project", "description": "Path of the project; default: this repository's"}

PROMPTS: Sequence[dict[str, Any]] = (
    {
        "name": "resume_session",
        "title": "Resume a session",
        "description": "Continue a session with its context, the project's and your preferences.",
        "arguments": [{"name": "session", "title": "Session", "description": "Name of the session"}, _PROJECT],
    },
    {
        "name": "review_memories",
        "title": "Review memories",
        "description": "Review memories: which are wrong, outdated, duplicates or too vague?",
        "arguments": [{"name": "type", "title": "Type", "description": "Only memories of this type"}, _PROJECT],
    },
)

_REVIEW = (
    "Review these memories one by one. List which are wrong, outdated, duplicates or too vague to help, and propose for each"
    " to keep it, revise it (with the new text) or forget it. Change nothing before I agree."
)


def render_prompt(context: CallContext, name: str, arguments: Mapping[str, str]) -> dict[str, Any]:
    """Render a prompt as a message of the user. Raise RpcError for an unknown prompt or argument."""
    prompt = next((prompt for prompt in PROMPTS if prompt["name"] == name), None)
    if prompt is None:
        raise RpcError(jsonrpc.INVALID_PARAMS, f"there is no prompt {name!s:.100}: prompts/list names them")
    known = [argument["name"] for argument in prompt["arguments"]]
    unknown = sorted(set(arguments) - set(known))
    if unknown:
        message = f"{name} has no argument {', '.join(unknown)!s:.100}: use {', '.join(known)}"
        raise RpcError(jsonrpc.INVALID_PARAMS, message)
    text = _resume_text(context, arguments) if name == "resume_session" else _review_text(context, arguments)
    return {
        "description": prompt["description"],
        "messages": [{"role": "user", "content": {"type": "text", "text": text}}],
    }


def _resume_text(context: CallContext, arguments: Mapping[str, str]) -> str:
    scope = context.scope(arguments.get("project") or UNSET, arguments.get("session") or UNSET)
    found = context.service.resume(scope=scope)
    return (
        f"Let us continue. {notes.render_resume(found, scope, model.now())}\n\n"
        "Summarise in a few sentences where we stand and what would be next, then wait for me."
    )


def _review_text(context: CallContext, arguments: Mapping[str, str]) -> str:
    scope = context.scope(arguments.get("project") or UNSET)
    found = context.service.list(scope=scope, type=arguments.get("type") or None, limit=50)
    return f"{_REVIEW}\n\n{render_memories(found.memories, f'{len(found.memories)} of {found.total} memories of {scope}.')}"


def complete(context: CallContext, prompt: str, name: str, prefix: str, given: Mapping[str, str]) -> Sequence[str]:
    """List values for an argument of a prompt that start with the prefix; `given` are the arguments chosen so far."""
    if prompt not in [known["name"] for known in PROMPTS]:
        raise RpcError(jsonrpc.INVALID_PARAMS, f"there is no prompt {prompt!s:.100}: prompts/list names them")
    if name == "project":
        return resources.projects(context, prefix)
    if name == "type":
        return resources.types(context, prefix, context.scope(given.get("project") or UNSET))
    if name == "session":
        sessions = context.service.sessions(scope=context.scope(given.get("project") or UNSET))
        return [session.scope.name for session in sessions if session.scope.name.startswith(prefix)]
    return []
