"""A server that is started before there is a database."""


def test_an_mcp_server_answers_without_a_database_and_creates_it_with_the_first_write(talk, place, monkeypatch):
    missing = place / "typo" / "deep" / "x.db"
    monkeypatch.setenv("OMOIDE_STORE", str(missing))
    client = talk("--tools", "all")
    assert client.result("list")["memories"] == []
    assert client.result("recall", query="anything")["memories"] == []
    assert not missing.parent.parent.exists()
    client.result("remember", content="from an agent")
    assert missing.exists()
    assert [one["content"] for one in client.result("list")["memories"]] == ["from an agent"]
