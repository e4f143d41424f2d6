"""Prompts over MCP: the same bytes as on the command line, and outcomes of runs."""

from pathlib import Path


def test_compose_gives_the_bytes_of_the_command_line_and_outcome_moves_relevance(talk, run, place: Path):
    run("remember", "全テスト必須", "--type", "warning", "--tag", "src/**")
    run("remember", "pnpm を使用", "--relevance", "0.9")
    expected = run("compose", "--title", "直す", "--write-scope", "src/a.ts", "--constraint", "小さく").out
    client = talk("--tools", "all", "--project", "shop")
    arguments = {"title": "直す", "write_scope": ["src/a.ts"], "constraints": ["小さく"]}
    result = client.call("compose", **arguments, run="build-1")
    assert result["content"][0]["text"] == result["structuredContent"]["prompt"] == expected
    assert result["structuredContent"]["run"] == {"number": 1, "id": "build-1"}
    assert run("replay", "build-1").out == expected
    client.result("outcome", run="build-1", result="success", helped=["1"])
    assert run("show", "1", "--json").data["relevance"] == 0.6154
    again = client.call("outcome", run="build-1", result="failure")
    assert again["isError"]
    assert "already" in again["content"][0]["text"]
