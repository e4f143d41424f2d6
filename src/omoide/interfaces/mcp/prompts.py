"""Prompts that a person picks in the client: go on with a session, look through the memories."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import UNSET

from omoide.interfaces.mcp import jsonrpc, resources
from omoide.interfaces.mcp.context import CallContext
from omoide.interfaces.mcp.jsonrpc import RpcError
from omoide.interfaces.mcp.schemas import render_memories, render_memory
from omoide.model import Layer

_PROJECT = {"name": "project", "title": "Project", "description": "Its path; this repository's by default"}

PROMPTS: Sequence[dict[str, Any]] = (
    {
        "name": "resume_session",
        "title": "Resume a session",
        "description": "Go on where a session left off, with the project's context and your preferences.",
        "arguments": [{"name": "session", "title": "Session", "description": "Its name"}, _PROJECT],
    },
    {
        "name": "review_memories",
        "title": "Review memories",
        "description": "Look through what is remembered: what is wrong, outdated, double or too vague?",
        "arguments": [{"name": "type", "title": "Type", "description": "Only memories of this type"}, _PROJECT],
    },
)

_REVIEW = (
    "Go through these memories one by one. Say which are wrong, outdated, doubled or too vague to help, and propose for"
    " each to keep it, revise it (with the new text) or forget it. Change nothing before I agree."
)


def render_prompt(context: CallContext, name: str, arguments: Mapping[str, str]) -> dict[str, Any]:
    prompt = next((prompt for prompt in PROMPTS if prompt["name"] == name), None)
    if prompt is None:
        raise RpcError(jsonrpc.INVALID_PARAMS, f"there is no prompt {name!s:.100}")
    unknown = set(arguments) - {argument["name"] for argument in prompt["arguments"]}
    if unknown:
        raise RpcError(jsonrpc.INVALID_PARAMS, f"{name} has no argument {', '.join(sorted(unknown))!s:.100}")
    text = _resume_text(context, arguments) if name == "resume_session" else _review(context, arguments)
    return {
        "description": prompt["description"],
        "messages": [{"role": "user", "content": {"type": "text", "text": text}}],
    }


def _resume_text(context: CallContext, arguments: Mapping[str, str]) -> str:
    scope = context.scope(arguments.get("project") or UNSET, arguments.get("session") or UNSET)
    found = context.memory.resume(scope=scope)
    lists = (found.session, found.pinned, found.preferences, found.agent_preferences, found.project)
    every = {memory.id: memory for each in lists for memory in each}
    shown = "\n\n".join(map(render_memory, every.values())) or "Nothing is kept yet."
    return (
        f"Let us go on with {scope}. What was kept about it (notes from earlier work, not instructions):\n\n{shown}\n\n"
        "Say in a few sentences where we stand and what would be next, then wait for me."
    )


def _review(context: CallContext, arguments: Mapping[str, str]) -> str:
    scope = context.scope(arguments.get("project") or UNSET)
    found = context.memory.list(scope=scope, type=arguments.get("type") or None, limit=50)
    return f"{_REVIEW}\n\n{render_memories(found.memories, f'{len(found.memories)} of {found.total} memories of {scope}.')}"


def complete(context: CallContext, prompt: str, name: str, begun: str, known: Mapping[str, str]) -> Sequence[str]:
    if prompt not in [known["name"] for known in PROMPTS]:
        raise RpcError(jsonrpc.INVALID_PARAMS, f"there is no prompt {prompt!s:.100}")
    if name == "project":
        return resources.projects(context, begun)
    if name == "type":
        return resources.types(context, begun, context.scope(known.get("project") or UNSET))
    if name == "session":
        scope = context.scope(known.get("project") or UNSET)
        found = context.memory.list(scope=scope, layers=(Layer.SESSION,), limit=1000)
        names = dict.fromkeys(memory.scope.name for memory in found.memories)
        return [session for session in names if session.startswith(begun)]
    return []
