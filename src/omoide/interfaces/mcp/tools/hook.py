"""The tool `hook`: a client that can call a running server needs no process for its hooks.

No model calls it, so `tools/list` does not name it. Its text is what `omoide hook` prints.
"""

import os
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from omoide.errors import OmoideError
from omoide.interfaces.hooks.client_input import call_from, check_event
from omoide.interfaces.hooks.client_output import render_output
from omoide.interfaces.hooks.process import CHILD
from omoide.interfaces.mcp.context import CallContext
from omoide.model import HookCall, HookEvent, Scope
from omoide.service.hook_faults import log_fault

if TYPE_CHECKING:  # the service loads with the store, at the first call
    from omoide.service import Service

_NOTHING = "{}"
"""An answer that adds nothing: both clients that call tools read JSON."""


def call_hook(context: CallContext, arguments: Mapping[str, Any], client: str = "") -> dict[str, Any]:
    """Answer a hook, and return the result of the tool. It never fails: a fault is logged.

    `arguments`: event, session, prompt, cwd, transcript, each as the client fills it in. `client`: how the client has
    introduced itself.
    """
    started = time.perf_counter()
    if os.environ.get(CHILD):
        return _result("")
    call = call_from(arguments, os.environ, [name] if (name := _known_client(client)) else [])
    if not context.is_local:  # a client elsewhere must not make this machine read its files
        call = replace(call, directory="", transcript="")
    try:
        check_event(call)
        scope = None if call.directory and not context.names_project else context.scope()
        text = render_output(call, context.service.hook(call, scope=scope))
    except OmoideError as error:
        log_fault(context.store_location, call, error, time.perf_counter() - started)
        return _result("")
    _record_turn(context.service, call, scope)
    return _result(text)


def _record_turn(service: "Service", call: HookCall, scope: Scope | None) -> None:
    from omoide.service.agent_hooks import record_turn  # lazy: it loads with the store

    if not call.directory:
        return
    if call.event is HookEvent.PROMPT:
        # In a thread: it starts git, the person waits for the answer, and the agent begins to write a second later.
        threading.Thread(target=record_turn, args=(service, call), kwargs={"scope": scope}, daemon=True).start()
    else:
        record_turn(service, call, scope=scope)


def _result(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text or _NOTHING}], "isError": False}


def _known_client(name: str) -> str:
    """The client of a name such as `claude-code` or `codex-mcp-client`."""
    known = ("claude", "claude-code"), ("codex", "codex"), ("gemini", "gemini"), ("copilot", "copilot")
    return next((client for part, client in known if part in name.lower()), "")
