"""The plugin that `omoide install opencode` writes, run by Node: it never throws, waits two seconds, and asks once."""

import json
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from journey.test_install import home

__all__ = ["home"]
Run = Callable[..., Any]

DRIVER = """
import { Omoide } from "./omoide.mjs"
const conversation = []
const client = { session: { messages: async () => ({ data: structuredClone(conversation) }) } }
const part = (id, text) => ({ id: "prt_" + id, type: "text", text })
const message = (id, role, text) => ({ info: { id, role, sessionID: "ses_1" }, parts: [part(id, text)] })
const open = () => Omoide({ client, directory: process.cwd() })
const requests = []

// As opencode does: the hook before a message is stored, then one request for each step of the turn.
async function turn(plugins, id, text, steps = 1) {
  const said = message(id, "user", text)
  const stored = { message: said.info, parts: said.parts }
  for (const plugin of plugins) await plugin["chat.message"]({ sessionID: "ses_1" }, stored)
  conversation.push(said)
  for (let step = 0; step < steps; step++) {
    const first = conversation.findLastIndex((one) => one.parts[0].type === "compaction") + 1
    const output = { messages: structuredClone(conversation.slice(first)) }
    for (const plugin of plugins) await plugin["experimental.chat.messages.transform"]({}, output)
    requests.push(output.messages.flatMap((one) => one.parts.filter((part) => part.synthetic)))
  }
  conversation.push(message(id + "_answer", "assistant", "pnpm"))
}

const plugin = await open()
await turn([plugin], "m1", '"Which package manager?"', 2)
await plugin.event({ event: { type: "session.idle", properties: { sessionID: "ses_1" } } })
const again = [await open(), await open()] // resumed by another process, which two settings files give the plugin to
await turn(again, "m2", "Which formatter?")
await again[0]["experimental.session.compacting"]({ sessionID: "ses_1" }, { context: [] })
conversation.push({ info: { id: "m3", role: "user", sessionID: "ses_1" }, parts: [{ type: "compaction" }] })
await turn([await open()], "m4", "Which linter?")

await plugin["chat.message"]({}, {})
await plugin["chat.message"]({ sessionID: "ses_1" }, { message: { id: "m5" }, parts: [{ type: "file" }] })
await plugin["experimental.chat.messages.transform"]({}, { messages: [] })
await plugin["experimental.chat.messages.transform"]({}, { messages: [{ info: { role: "user" } }] })
await plugin.event({ event: { type: "session.idle" } })
console.log(JSON.stringify(requests))
"""


@pytest.fixture
def drive(run: Run, home: Path, place: Path) -> Callable[[str], tuple[list[Any], list[Any]]]:
    """Runs the plugin with a program in place of omoide; returns what it added and what it asked."""
    node = shutil.which("node", path="/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin") or shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed")
    assert run("install", "opencode").code == 0
    plugin = (home / ".config/opencode/plugin/omoide.js").read_text(encoding="utf-8")
    (place / "omoide.mjs").write_text(plugin, encoding="utf-8")
    (place / "driver.mjs").write_text(DRIVER, encoding="utf-8")

    def drive(program: str) -> tuple[list[Any], list[Any]]:
        command, log = place / "bin" / "omoide", place / "asked.jsonl"
        command.unlink()
        if program:
            command.write_text(f"#!{sys.executable}\nimport json, sys, time\n{program}\n")
            command.chmod(command.stat().st_mode | stat.S_IXUSR)
        done = subprocess.run([node, "driver.mjs"], cwd=place, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        asked = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        return json.loads(done.stdout), asked

    return drive


def test_each_request_has_the_texts_of_its_conversation_once_in_every_step_and_when_it_is_resumed(
    drive: Callable[[str], Any],
) -> None:
    program = """
call = json.load(sys.stdin)
open("asked.jsonl", "a").write(json.dumps({**call, "arguments": sys.argv[1:]}) + "\\n")
print(json.dumps({"additionalContext": "about " + call.get("prompt", call["hook_event_name"])}))
"""
    requests, asked = drive(program)
    first = ["about SessionStart", "about Which package manager?"]
    resumed = [*first, "about Which formatter?"]
    compacted = ["about SessionStart", "about Which linter?"]
    assert [[part["text"] for part in request] for request in requests] == [first, first, resumed, compacted]
    events = [(call["hook_event_name"], call.get("prompt", "")) for call in asked]
    assert events == [
        ("SessionStart", ""),
        ("UserPromptSubmit", "Which package manager?"),
        ("Stop", "Which package manager?"),
        ("UserPromptSubmit", "Which formatter?"),
        ("PreCompact", ""),
        ("SessionStart", ""),
        ("UserPromptSubmit", "Which linter?"),
    ]
    assert {(call["session_id"], call["client"], *call["arguments"]) for call in asked} == {("ses_1", "opencode", "hook")}
    assert asked[2]["last_assistant_message"] == "pnpm"


@pytest.mark.parametrize(
    "program",
    [
        "",  # there is none
        "sys.exit(1)",
        "print('not JSON')",
        "print(json.dumps({'additionalContext': None}))",
        "sys.stdout.buffer.write(bytes(range(256)))",
    ],
)
def test_a_program_that_fails_adds_nothing(program: str, drive: Callable[[str], Any]) -> None:
    assert drive(program)[0] == [[], [], [], []]


def test_a_program_that_hangs_is_ended(drive: Callable[[str], Any]) -> None:
    assert drive("time.sleep(100)")[0] == [[], [], [], []]
