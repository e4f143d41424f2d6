"""What an agent finds with the tools for entries, and what a tool accepts for a new memory."""

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def client(talk: Callable[..., Any]) -> Any:
    return talk("--tools", "all")


def test_a_tool_gives_a_new_memory_its_relevance_and_refuses_an_expiry_in_the_past(client: Any) -> None:
    client.result("remember", content="src/core/配下の変更は全テスト実行が必須", key="core", relevance=0.9, expires_at="90d")
    client.result("remember_many", memories=[{"content": "another", "key": "many", "relevance": 0.2, "source_run_id": 12}])
    shown = {key: client.result("show", id=key)["memory"] for key in ("core", "many")}
    assert (shown["core"]["relevance"], shown["many"]["relevance"]) == (0.9, 0.2)
    assert (shown["core"]["source"], shown["many"]["source"], shown["many"]["source_run_id"]) == ("mcp", "run", "12")
    for refused in (
        client.refusal("remember", content="over already", expires_at="2020-01-01"),
        client.refusal("remember_many", memories=[{"content": "over already", "expires_at": "2020-01-01"}]),
    ):
        assert "expires_at must be in the future, got '2020-01-01'" in refused
    assert client.result("list")["total_count"] == 2
