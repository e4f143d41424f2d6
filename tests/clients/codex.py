"""Codex without its model: its app-server starts the servers of config.toml, lists their tools and calls them."""

import sys

from codex_server import Codex

EXPECTED = {"remember", "recall", "revise", "forget", "resume"}

codex = Codex(sys.argv[1])
(server,) = codex.ask("mcpServerStatus/list")["data"]
assert server["name"] == "omoide"
assert set(server["tools"]) == EXPECTED, server
thread = codex.ask("thread/start")["thread"]["id"]
for tool, arguments in (("remember", {"content": "認証は JWT を採用"}), ("recall", {"query": "認証"})):
    result = codex.ask("mcpServer/tool/call", threadId=thread, server="omoide", tool=tool, arguments=arguments)
    sys.stdout.write(result["content"][0]["text"] + "\n")
    assert "JWT" in result["content"][0]["text"]
codex.end()
