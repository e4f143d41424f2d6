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
const client = { session: { messages: async () => ({ data: conversation }) } }
const message = (id, role, text) => ({ info: { id, role, sessionID: "ses_1" }, parts: [{ type: "text", text }] })
const conversation = [message("m1", "user", '"Which package manager?"'), message("m2", "assistant", "pnpm")]
const plugin = await Omoide({ client, directory: process.cwd() })
const results = []
for (const step of [1, 2]) {
  const output = { messages: [message("m1", "user", '"Which package manager?"')] }
  await plugin["experimental.chat.messages.transform"]({}, output)
  results.push(output.messages[0].parts.slice(1))
}
await plugin["experimental.chat.messages.transform"]({}, { messages: [] })
await plugin["experimental.chat.messages.transform"]({}, { messages: [{ info: { role: "user" } }] })
await plugin["experimental.session.compacting"]({ sessionID: "ses_1" }, { context: [] })
await plugin.event({ event: { type: "session.idle", properties: { sessionID: "ses_1" } } })
await plugin.event({ event: { type: "session.idle" } })
console.log(JSON.stringify(results))
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


def test_the_text_is_added_once_for_all_steps_of_a_turn(drive: Callable[[str], Any]) -> None:
    program = """
call = json.load(sys.stdin)
open("asked.jsonl", "a").write(json.dumps({**call, "arguments": sys.argv[1:]}) + "\\n")
print(json.dumps({"additionalContext": "about " + call.get("prompt", call["hook_event_name"])}))
"""
    (first, second), asked = drive(program)
    assert first == second
    (part,) = first
    assert (part["text"], part["synthetic"]) == ("about SessionStart\n\nabout Which package manager?", True)
    assert [call["hook_event_name"] for call in asked] == ["SessionStart", "UserPromptSubmit", "PreCompact", "Stop"]
    assert {(call["session_id"], call["client"], *call["arguments"]) for call in asked} == {("ses_1", "opencode", "hook")}
    assert (asked[-1]["prompt"], asked[-1]["last_assistant_message"]) == ("Which package manager?", "pnpm")


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
    assert drive(program)[0] == [[], []]


def test_a_program_that_hangs_is_ended(drive: Callable[[str], Any]) -> None:
    assert drive("time.sleep(100)")[0] == [[], []]
