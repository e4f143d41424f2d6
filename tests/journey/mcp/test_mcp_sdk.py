"""The client of the official SDK, over pipes and HTTP, in both protocol versions; it checks results by their schemas."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client.streamable_http import streamable_http_client

from mcp import Client, StdioServerParameters

MAIN = "from omoide.interfaces.cli import main; main()"
TOKEN = "a-token-of-the-test-only"


@asynccontextmanager
async def connect(transport: str, mode: str) -> AsyncIterator[Client]:
    if transport == "pipes":
        server = StdioServerParameters(
            command=sys.executable, args=["-c", MAIN, "mcp", "--tools", "all"], env=dict(os.environ)
        )
        async with Client(server, mode=mode) as client:
            yield client
        return
    command = [sys.executable, "-c", MAIN, "mcp", "--http", "127.0.0.1:0", "--tools", "all"]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env={**os.environ, "OMOIDE_MCP_TOKEN": TOKEN}
    ) as process:
        try:
            url = process.stderr.readline().split()[2].rstrip(",")
            async with (
                httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=30) as http,
                Client(streamable_http_client(url, http_client=http), mode=mode) as client,
            ):
                yield client
        finally:
            process.terminate()
            try:
                assert process.wait(timeout=30) == 0
            finally:
                process.kill()  # else a server that does not stop would be waited for without end


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("transport", ["pipes", "http"])
def test_the_sdk_client_remembers_recalls_is_refused_archives_and_restores(transport: str, mode: str, place: Path) -> None:
    (place / "config.toml").write_text('[agents]\nboss = "admin"\n')

    async def story() -> None:
        async with connect(transport, mode) as client:
            assert client.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
            await use_memory(client)

    anyio.run(story)


async def use_memory(client: Client) -> None:
    async def result(name: str, **arguments: Any) -> Any:
        result = await client.call_tool(name, arguments)
        assert not result.is_error, result.content
        return result.structured_content

    async def refusal(name: str, **arguments: Any) -> str:
        result = await client.call_tool(name, arguments)
        assert result.is_error
        return result.content[0].text

    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert {"remember", "recall", "revise", "forget", "resume", "save_to_memory", "archive"} <= set(tools)
    assert tools["recall"].annotations.read_only_hint

    kept = await result("remember", type="decision", topic="API auth", content="認証は JWT を採用", tags=["api", "auth"])
    assert kept["action"] == "created"
    again = await result("remember", type="decision", topic="API auth", content="認証は JWT を採用。期限は 15 分")
    assert (again["action"], again["memory_id"]) == ("updated", kept["memory_id"])
    found = await result("recall", query="認証の期限")
    assert found["total_count"] == 1
    assert found["memories"][0]["content"] == "認証は JWT を採用。期限は 15 分"
    assert found["memories"][0]["reference_count"] == 1

    saved = {"key": "style", "content": "コミットは英語", "tags": ["git"], "caller_agent_id": "worker_1"}
    assert (await result("save_to_memory", **saved))["entry"]["key"] == "style"
    assert "worker" in await refusal("delete_memory_entry", key="style", caller_agent_id="worker_1")
    assert "worker" in await refusal("archive", id="style", caller_agent_id="admin_by_its_own_word")

    await result("archive", id="style", caller_agent_id="boss")
    assert (await result("retrieve_from_memory", query="コミット"))["total_count"] == 0
    assert (await result("search_memory_archive", query="コミット"))["total_count"] == 1
    assert "worker" in await refusal("restore_from_memory_archive", key="style", caller_agent_id="worker_1")
    await result("restore_from_memory_archive", key="style", caller_agent_id="boss")
    assert (await result("retrieve_from_memory", query="コミット"))["total_count"] == 1

    await result("save_to_global_memory", key="tone", content="返事は日本語で")
    await result("remember", type="preference", content="短く答える", scope="global")
    resumed = await result("resume")
    assert {memory["content"] for memory in resumed["preferences"]} == {"短く答える"}

    listed = (await client.list_resources()).resources
    assert str(listed[0].uri) == "omoide://project/shop"
    read = await client.read_resource(f"omoide://memory/{kept['memory_id']}")
    assert "期限は 15 分" in read.contents[0].text
    assert [template.uri_template for template in (await client.list_resource_templates()).resource_templates] == [
        "omoide://memory/{id}",
        "omoide://project/{path}",
        "omoide://document/{type}",
    ]
    assert {prompt.name for prompt in (await client.list_prompts()).prompts} == {"resume_session", "review_memories"}
    prompt = await client.get_prompt("resume_session", {"project": "shop"})
    assert "JWT" in prompt.messages[0].content.text

    heard: list[float] = []

    async def progress(done: float, total: float | None, note: str | None) -> None:
        heard.append(done)

    notes = [{"content": f"note {number}"} for number in range(150)]
    await client.call_tool("remember_many", {"memories": notes}, progress_callback=progress)
    assert heard == [0, 100, 150]
