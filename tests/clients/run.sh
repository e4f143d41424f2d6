#!/usr/bin/env bash
# Real clients against the real server: the MCP inspector lists and calls the tools, Claude Code shows it connected.
# Ends with 77 where there is no Node.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-.venv/bin/python}
omoide=$(cd "$(dirname "$python")" && pwd)/omoide
home=$(mktemp -d)
trap '"$omoide" mcp stop >/dev/null 2>&1 || true; rm -rf "$home"' EXIT
export OMOIDE_STORE="$home/memory.db" OMOIDE_CONFIG="$home/config.toml" OMOIDE_PROJECT=shop

say() { printf '\n== %s\n' "$*"; }
wants() { # TEXT, then a command that must print it
    local text=$1 out
    shift
    out=$("$@" 2>&1) || { printf '%s\n' "$out"; echo "FAILED: $*"; exit 1; }
    if [[ $out != *"$text"* ]]; then printf '%s\n' "$out"; echo "FAILED: no '$text' from $*"; exit 1; fi
    echo "ok: $text"
}

commands=$("$python" scripts/node.py @modelcontextprotocol/inspector@2 @anthropic-ai/claude-code) || exit $?
PATH="$commands:$PATH"

"$omoide" mcp --daemon --http 127.0.0.1:0
url=$("$omoide" mcp status --json | "$python" -c 'import json, sys; print(json.load(sys.stdin)["url"])')
token=$("$omoide" mcp token)

# The inspector hands only what it is told to on to a server.
ours=(-e "OMOIDE_STORE=$OMOIDE_STORE" -e "OMOIDE_CONFIG=$OMOIDE_CONFIG" -e OMOIDE_PROJECT=shop)
export MCP_CATALOG_PATH="$home/inspector.json"
for era in legacy modern; do
    say "the inspector, over pipes, $era era"
    inspect=(mcp-inspector --cli "${ours[@]}" "$omoide" mcp --protocol-era "$era")
    wants '"recall"' "${inspect[@]}" --method tools/list --strict
    wants '"memory_id"' "${inspect[@]}" --method tools/call --tool-name remember --tool-arg 'content=認証は JWT を採用' 'topic=API auth'
    wants 'JWT' "${inspect[@]}" --method tools/call --tool-name recall --tool-arg 'query=認証'
    wants 'omoide://project/shop' "${inspect[@]}" --method resources/list
    wants 'resume_session' "${inspect[@]}" --method prompts/list

    say "the inspector, over HTTP, $era era"
    inspect=(mcp-inspector --cli --server-url "$url" --transport http --header "Authorization: Bearer $token" --protocol-era "$era")
    wants '"recall"' "${inspect[@]}" --method tools/list --strict
    wants 'JWT' "${inspect[@]}" --method tools/call --tool-name recall --tool-arg 'query=認証'
done

say "Claude Code"
export CLAUDE_CONFIG_DIR="$home/claude" DISABLE_AUTOUPDATER=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
mkdir -p "$home/project" && cd "$home/project"
claude mcp add omoide -- "$omoide" mcp --store "$OMOIDE_STORE"
claude mcp add --transport http omoide-http "$url" --header "Authorization: Bearer $token"
wants 'Connected' claude mcp get omoide
wants 'Connected' claude mcp get omoide-http
claude mcp list
