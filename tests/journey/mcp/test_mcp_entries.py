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


JWT = "認証方式は JWT を採用。有効期限は 15 分"
SAVED = {"key": "api-auth-decision", "content": JWT, "tags": ["api", "auth", "decision", "jwt"]}


def keys(found: Any) -> list[str]:
    return [entry["key"] for entry in found["entries"]]


def test_an_entry_is_retrieved_by_a_word_and_a_tag(client: Any) -> None:
    client.result("save_to_memory", **SAVED, caller_agent_id="admin_xxx")
    client.result("save_to_memory", key="other", content="auth is in the gateway", tags=["note"])
    assert keys(client.result("retrieve_from_memory", query="auth", tags=["decision"])) == ["api-auth-decision"]


def test_a_min_score_cuts_recall_and_says_so_and_never_the_tools_for_entries(talk: Callable[..., Any]) -> None:
    client = talk("--tools", "all", OMOIDE_MIN_SCORE="1")
    client.result("save_to_memory", **SAVED)
    client.result("save_to_memory", key="other", content="auth is in the gateway, and so is the cache")
    cut = client.call("recall", query="the cache of the giraffe")
    assert cut["structuredContent"]["total_count"] == 0
    assert cut["content"][0]["text"].startswith("Nothing relevant: the best match scores 0.")
    assert keys(client.result("retrieve_from_memory", query="the cache of the giraffe")) == ["other"]
    assert client.result("get_memory_entry", key="other")["entry"]["key"] == "other"
    assert len(client.result("recall", query="")["memories"]) == 2


def test_the_id_of_a_session_retrieves_its_entries_first(client: Any) -> None:
    client.result("save_to_memory", **SAVED)
    client.result("save_to_memory", key="mentions", content="see session C042-1738 for the reasons")
    for number in range(3):
        client.result("save_to_memory", key=f"step-{number}", content=f"ステップ {number} を終えた", session="C042-1738")
    client.result("save_to_memory", key="elsewhere", content="another session", session="tuesday")
    found = client.result("retrieve_from_memory", query="C042-1738")
    assert keys(found) == ["step-2", "step-1", "step-0", "mentions"]
    assert found["total_count"] == 4
    assert keys(client.result("retrieve_from_memory", query="C042-1738", limit=2)) == ["step-2", "step-1"]


def test_preferences_are_retrieved_by_type_and_by_word(client: Any) -> None:
    client.result("remember", content="日本語で答える", type="preference", key="language", scope="global")
    client.result("save_to_global_memory", key="editor", content="vim を使う", tags=["preferences"])
    client.result("save_to_global_memory", key="unrelated", content="pnpm を使う")
    client.result("remember", content="project only", type="preference", key="local")
    found = client.result("retrieve_from_global_memory", query="preferences")
    assert keys(found) == ["language", "editor"]
    assert found["total_count"] == 2
    assert keys(client.result("retrieve_from_memory", query="preferences")) == ["local"]


def test_every_entry_of_a_list_is_got_by_its_key_from_the_same_place(client: Any) -> None:
    client.result("save_to_memory", **SAVED)
    client.result("save_to_memory", key="step", content="in a session", session="monday")
    client.result("remember", content="without a key")
    client.result("save_to_global_memory", key="editor", content="vim を使う")
    for place in ({}, {"session": "monday"}):
        listed = client.result("list_memory_entries", **place)["entries"]
        assert len(listed) == 3
        for entry in listed:
            assert client.result("get_memory_entry", key=entry["key"], **place)["entry"] == entry
    (entry,) = client.result("list_global_memory_entries")["entries"]
    assert client.result("delete_global_memory_entry", key=entry["key"])["entry"]["key"] == "editor"
    assert client.result("delete_memory_entry", key="step")["entry"]["session"] == "monday"
    assert "there is no entry editor" in client.refusal("get_memory_entry", key="editor")


def test_every_entry_of_the_archive_is_restored_by_its_key_from_the_same_place(client: Any) -> None:
    client.result("save_to_memory", **SAVED)
    client.result("save_to_memory", key="step", content="in a session", session="monday")
    for key in ("api-auth-decision", "step"):
        client.result("archive", id=key)
    for entry in client.result("list_memory_archive")["entries"]:
        restored = client.result("restore_from_memory_archive", key=entry["key"])["entry"]
        assert (restored["content"], restored["state"]) == (entry["content"], "active")
    assert client.result("list_memory_archive")["total_count"] == 0


def test_a_key_of_several_sessions_asks_for_the_session(client: Any) -> None:
    for session in ("monday", "tuesday"):
        client.result("save_to_memory", key="step", content=f"of {session}", session=session)
    for tool in ("get_memory_entry", "delete_memory_entry"):
        refusal = client.refusal(tool, key="step")
        assert "entry step is in several sessions (tuesday, monday): give `session`" in refusal
    assert client.result("get_memory_entry", key="step", session="monday")["entry"]["content"] == "of monday"
    assert "several sessions" in client.refusal("forget", id="step")
    client.result("save_to_memory", key="step", content="of the project")
    assert client.result("get_memory_entry", key="step")["entry"]["content"] == "of the project"


def test_the_instructions_say_what_to_save_and_what_not(talk: Callable[..., Any]) -> None:
    client = talk()
    answer = client.request(
        "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "test", "version": "1"}
    )
    instructions = answer["result"]["instructions"]
    save, do_not = instructions.split("Save: ")[1].split("Do not save: ")
    for words in ("preferences", "decisions with their reasons", "lessons", "solved"):
        assert words in save
    for words in ("current task", "temporary error messages", "intermediate results"):
        assert words in do_not
    assert len(instructions) < 600, "every agent pays for it"


def test_an_agent_has_the_role_of_its_pattern(talk: Callable[..., Any], place: Any) -> None:
    (place / "config.toml").write_text('[agents]\n"admin_*" = "admin"\n')
    client = talk("--tools", "layers")
    client.result("save_to_memory", **SAVED, caller_agent_id="worker_1")
    assert "is a worker" in client.refusal("delete_memory_entry", key="api-auth-decision", caller_agent_id="worker_1")
    client.result("delete_memory_entry", key="api-auth-decision", caller_agent_id="admin_xxx")


def test_a_pattern_never_gives_more_than_the_server_has(talk: Callable[..., Any], place: Any) -> None:
    (place / "config.toml").write_text('role = "worker"\n[agents]\n"admin_*" = "owner"\n')
    client = talk("--tools", "layers")
    client.result("save_to_memory", **SAVED, caller_agent_id="admin_xxx")
    assert "is a worker" in client.refusal("delete_memory_entry", key="api-auth-decision", caller_agent_id="admin_xxx")
