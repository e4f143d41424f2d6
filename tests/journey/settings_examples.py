"""Settings files as people have them: what `omoide install` must change by nothing but its own entries."""

from typing import NamedTuple

from omoide.interfaces.install.wiring import NAMES


class Example(NamedTuple):
    client: str
    path: str
    """In the home directory."""
    data: bytes
    exact: bool = True
    """Whether it gets its bytes back without the record too, by recognising the entries."""


CLAUDE = ".claude/settings.json"
ACCOUNT = ".claude.json"
CODEX = ".codex/config.toml"
CODEX_HOOKS = ".codex/hooks.json"
GEMINI = ".gemini/settings.json"
CURSOR = ".cursor/hooks.json"
CURSOR_SERVERS = ".cursor/mcp.json"
COPILOT = ".copilot/mcp-config.json"
VSCODE = ".config/Code/User/mcp.json"
OPENCODE = ".config/opencode/opencode.json"
OPENCODE_COMMENTS = ".config/opencode/opencode.jsonc"

TWO_SPACES = b"""{
  "model": "opus",
  "permissions": {
    "allow": ["Bash(npm run test:*)", "WebFetch(domain:example.com)"],
    "deny": []
  },
  "env": {"FOO": "bar"}
}
"""
OTHER_HOOKS = b"""{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          {
            "type": "command",
            "command": "jq -r '.tool_input.command' >> ~/.claude/log.txt"
          }
        ]
      }
    ],
    "Stop": [
      {
        "hooks": [
          {"type": "command", "command": "notify-send 'done \\u2713'"}
        ]
      }
    ],
    "UserPromptSubmit": [
      {
        "hooks": [
          { "type": "command", "command": "date" }, { "type": "command", "command": "git status -sb" }
        ]
      }
    ]
  },
  "model": "sonnet"
}
"""
COMMENTS = """// 設定ファイル。編集するときは注意
{
    /* the model
       of the team */
    "model": "opus", // 高いけれど賢い
    "hooks": {
        // nothing yet: "Stop": [{"hooks": []}]
    },
    // "mcpServers": {"omoide": {}},
    "theme": "dark", /* last */
}
// the end
""".encode()
MANY_SERVERS = b"""{
  "mcpServers": {
    "filesystem": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/tmp"]},
    "github": {
      "url": "https://example.com/mcp",
      "headers": { "Authorization": "Bearer ${TOKEN}" }
    }
  }
}"""
TOML_PLAIN = b"""model = "gpt-5"
approval_policy = "on-request"

[mcp_servers.context7]
command = "npx"
args = ["-y", "@upstash/context7-mcp"]
"""
TOML_ODD = """# Codex の設定
model="gpt-5"   # 高速
notice.hide_full_access_warning = true
instructions = \"\"\"
[mcp_servers.omoide]
command = "not this one"
\"\"\"
path = 'C:\\Users\\me'
dates = [1979-05-27 07:32:00, 1979-05-28]  # [a]
"quoted key" . "with . dot" = { a = 1, b = [{ c = "}" }, { d = "]" }] }

[[skills.config]]
path = "/a"
enabled = false
[[skills.config]]
path = "/b"

[projects."/home/山田 太郎/shop"]
trust_level = "trusted"

  [mcp_servers]   # indented
  docs = { command = "docs", args = [
    "mcp",  # one
    "--x",
  ] }
[tui]
""".encode()
TOML_INLINE = b'mcp_servers = { docs = { command = "docs" } }\nmodel = "o3"\n'
TOML_DOTTED = b'mcp_servers.docs.command = "docs"\nmcp_servers.docs.args = []\n\n[tools]\nweb_search = true\n'
TRUSTED = b"""model = "gpt-5"

[hooks.state."/home/me/.codex/hooks.json:stop:0:0"]
trusted_hash = "sha256:0123"
"""

EXAMPLES = {
    "two spaces": Example("claude-code", CLAUDE, TWO_SPACES),
    "other hooks of the same events": Example("claude-code", CLAUDE, OTHER_HOOKS),
    "comments and trailing commas": Example("claude-code", CLAUDE, COMMENTS),
    "tabs": Example("claude-code", CLAUDE, TWO_SPACES.replace(b"  ", b"\t")),
    "four spaces": Example("claude-code", CLAUDE, OTHER_HOOKS.replace(b"  ", b"    ")),
    "CRLF": Example("claude-code", CLAUDE, OTHER_HOOKS.replace(b"\n", b"\r\n")),
    "byte order mark": Example("claude-code", CLAUDE, b"\xef\xbb\xbf" + TWO_SPACES),
    "byte order mark and CRLF": Example("gemini", GEMINI, b"\xef\xbb\xbf" + COMMENTS.replace(b"\n", b"\r\n")),
    "minified": Example("claude-code", CLAUDE, b'{"model":"opus","hooks":{"Stop":[{"hooks":[]}]},"env":{}}'),
    "one line with spaces": Example("claude-code", CLAUDE, b'{ "model": "opus", "hooks": { "Stop": [] } }\n', exact=False),
    "empty": Example("claude-code", CLAUDE, b"", exact=False),
    "white space": Example("claude-code", CLAUDE, b" \n\n", exact=False),
    "empty object": Example("claude-code", CLAUDE, b"{}"),
    "empty object with a line end": Example("claude-code", CLAUDE, b"{}\n"),
    "empty object of two lines": Example("claude-code", CLAUDE, b"{\n}\n", exact=False),
    "empty object with a comment": Example("claude-code", CLAUDE, b"{\n  // nothing\n}\n"),
    "empty hooks": Example("claude-code", CLAUDE, b'{\n  "hooks": {},\n  "model": "opus"\n}\n', exact=False),
    "empty event": Example("claude-code", CLAUDE, b'{\n  "hooks": {"Stop": []}\n}\n', exact=False),
    "no line end": Example("claude-code", CLAUDE, TWO_SPACES.rstrip()),
    "blank lines around": Example("claude-code", CLAUDE, b"\n\n" + TWO_SPACES + b"\n\n"),
    "no indentation": Example("claude-code", CLAUDE, b'{\n"model": "opus",\n"hooks": {\n"Stop": [\n]\n}\n}\n', exact=False),
    "commas first": Example("claude-code", CLAUDE, b'{ "model": "opus"\n, "theme": "dark"\n, "env": {}\n}\n'),
    "double names": Example("claude-code", CLAUDE, b'{\n  "hooks": {"Stop": []},\n  "hooks": {"Notification": []}\n}\n'),
    "escapes and Japanese": Example(
        "claude-code", CLAUDE, '{\n  "名前": "\\u601d\\n\\"い\\" 出 \\\\",\n  "n": -1.5e3\n}\n'.encode()
    ),
    "account with other keys": Example(
        "claude-code", ACCOUNT, b'{\n  "numStartups": 12,\n  "projects": {"/a": {"mcpServers": {}}},\n  "userID": "x"\n}'
    ),
    "account with servers": Example("claude-code", ACCOUNT, MANY_SERVERS),
    "gemini with servers and hooks": Example("gemini", GEMINI, MANY_SERVERS[:-2] + b",\n" + OTHER_HOOKS[2:]),
    "gemini with switches in hooks": Example(
        "gemini", GEMINI, b'{"hooks": {"disabled": ["x"], "BeforeAgent": []}}\n', exact=False
    ),
    "cursor hooks": Example("cursor", CURSOR, b'{\n  "version": 1,\n  "hooks": {"stop": [{"command": "./a.sh"}]}\n}\n'),
    "cursor hooks without a version": Example(
        "cursor", CURSOR, b'{"hooks": {"stop": [{"command": "./a.sh"}]}}', exact=False
    ),
    "cursor servers": Example("cursor", CURSOR_SERVERS, MANY_SERVERS),
    "copilot servers": Example("copilot", COPILOT, MANY_SERVERS),
    "vscode servers with inputs": Example("vscode", VSCODE, b'{\n\t"inputs": [],\n\t"servers": {\n\t\t// none\n\t},\n}\n'),
    "opencode": Example(
        "opencode", OPENCODE, b'{\n  "$schema": "https://opencode.ai/config.json",\n  "mcp": {}\n}\n', exact=False
    ),
    "opencode with comments": Example("opencode", OPENCODE_COMMENTS, COMMENTS),
    "codex hooks of others": Example("codex", CODEX_HOOKS, OTHER_HOOKS),
    "toml": Example("codex", CODEX, TOML_PLAIN),
    "toml with CRLF": Example("codex", CODEX, TOML_PLAIN.replace(b"\n", b"\r\n")),
    "toml with a byte order mark": Example("codex", CODEX, b"\xef\xbb\xbf" + TOML_PLAIN),
    "toml without a line end": Example("codex", CODEX, TOML_PLAIN.rstrip(), exact=False),
    "toml, empty": Example("codex", CODEX, b""),
    "toml, only a comment": Example("codex", CODEX, b"# nothing\n"),
    "toml, blank lines at the end": Example("codex", CODEX, TOML_PLAIN + b"\n\n"),
    "toml with everything": Example("codex", CODEX, TOML_ODD),
    "toml, inline table": Example("codex", CODEX, TOML_INLINE),
    "toml, empty inline table": Example("codex", CODEX, b'mcp_servers = {}\nmodel = "o3"\n'),
    "toml, dotted keys": Example("codex", CODEX, TOML_DOTTED),
    "toml with trust": Example("codex", CODEX, TRUSTED),
}
"""By what is special about them."""

assert {example.client for example in EXAMPLES.values()} == set(NAMES)
