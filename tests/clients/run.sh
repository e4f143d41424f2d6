#!/usr/bin/env bash
# Real clients against the real server: each gets the snippet that `omoide mcp config` prints, in the file that it names,
# and has to connect with it. Without names all of them are tried, one after the other:
#
#     tests/clients/run.sh [inspector] [claude-code] [gemini] [opencode] [codex]
#
# None of them logs in. Ends with 77 where there is no Node, or where a client cannot be installed or started.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD/tests/clients
python=${PYTHON:-.venv/bin/python}
omoide=$(cd "$(dirname "$python")" && pwd)/omoide
python=$(dirname "$omoide")/$(basename "$python")
place=$(mktemp -d)
own=(HOME="$HOME" TMPDIR="${TMPDIR:-/tmp}")
export HOME="$place/home" TMPDIR="$place" OMOIDE_STORE="$place/memory.db" OMOIDE_CONFIG="$place/config.toml"
project=$place/shop
trap '"$omoide" mcp stop >/dev/null 2>&1 || true; rm -rf "$place" 2>/dev/null || { sleep 1; rm -rf "$place"; }' EXIT
mkdir -p "$HOME"
unset MCP_CATALOG_PATH XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME CODEX_HOME

say() { printf '\n== %s\n' "$*"; }
wants() { # TEXT, then a command that must print it
    local text=$1 out
    shift
    out=$("$@" 2>&1) || { printf '%s\n' "$out"; echo "FAILED: $*"; exit 1; }
    if [[ $out != *"$text"* ]]; then printf '%s\n' "$out"; echo "FAILED: no '$text' from $*"; exit 1; fi
    echo "ok: $text"
}
installed() { # packages; their commands come first from now on
    commands=$(env "${own[@]}" "$python" "$here/../../scripts/node.py" "$@") || exit $?
    PATH="$commands:$PATH"
}
starts() { # a client and what makes it tell its version
    local out
    out=$("$@" 2>&1) || { echo "skipped: $1 does not start here: $(tail -n 1 <<<"$out")"; exit 77; }
    echo "$(basename "$1") $(grep -oEm1 '[0-9]+\.[0-9]+\.[0-9]+[^ ]*' <<<"$out")"
}
snippet() { # FILE CLIENT [FLAGS]: not every client hands its variables on, so the store stands in the snippet
    mkdir -p "$(dirname "$1")"
    "$omoide" mcp config "${@:2}" --store "$OMOIDE_STORE" >"$1" 2>"$place/notes"
    grep -qF "${1#"$project/"}" "$place/notes" || { cat "$place/notes"; echo "FAILED: $1 is not the file it names"; exit 1; }
}

inspector() {
    installed @modelcontextprotocol/inspector@2
    # It passes only the listed variables on to a server.
    local ours=(-e "OMOIDE_STORE=$OMOIDE_STORE" -e "OMOIDE_CONFIG=$OMOIDE_CONFIG" -e OMOIDE_PROJECT=shop) inspect era
    for era in legacy modern; do
        say "the inspector, over pipes, $era era"
        inspect=(mcp-inspector --cli "${ours[@]}" "$omoide" mcp --protocol-era "$era")
        wants '"recall"' "${inspect[@]}" --method tools/list --strict
        wants '"memory_id"' "${inspect[@]}" --method tools/call --tool-name remember --tool-arg 'content=認証は JWT を採用' 'topic=API auth'
        wants 'JWT' "${inspect[@]}" --method tools/call --tool-name recall --tool-arg 'query=認証'
        wants 'omoide://project/shop' "${inspect[@]}" --method resources/list
        wants 'resume_session' "${inspect[@]}" --method prompts/list

        say "the inspector, over HTTP, $era era"
        inspect=(mcp-inspector --cli --server-url "$url?project=shop" --transport http --header "Authorization: Bearer $OMOIDE_MCP_TOKEN" --protocol-era "$era")
        wants '"recall"' "${inspect[@]}" --method tools/list --strict
        wants 'JWT' "${inspect[@]}" --method tools/call --tool-name recall --tool-arg 'query=認証'
    done
    # These two do not start without a window or a login. The inspector reads files of their kind (mcpServers).
    say "the files of Claude Desktop and Cursor, read by the inspector"
    if [[ $(uname) == Linux ]]; then
        snippet "$HOME/.config/Claude/claude_desktop_config.json" claude-desktop
        wants '"recall"' mcp-inspector --cli --config "$HOME/.config/Claude/claude_desktop_config.json" --server omoide --method tools/list
    fi
    snippet "$project/.cursor/mcp.json" cursor
    wants '"recall"' mcp-inspector --cli --config "$project/.cursor/mcp.json" --server omoide --method tools/list
}

claude-code() {
    say "Claude Code"
    installed @anthropic-ai/claude-code
    # A person is asked once whether a project's servers may be started; this is the answer.
    export CLAUDE_CONFIG_DIR="$place/claude" DISABLE_AUTOUPDATER=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
    mkdir -p "$CLAUDE_CONFIG_DIR" && echo '{"enableAllProjectMcpServers": true}' >"$CLAUDE_CONFIG_DIR/settings.json"
    starts claude --version
    snippet "$project/.mcp.json" claude-code
    wants 'Connected' claude mcp get omoide
    snippet "$project/.mcp.json" claude-code --http
    wants 'Connected' claude mcp get omoide
    rm "$project/.mcp.json"
    claude mcp add --scope user omoide -- "$omoide" mcp --store "$OMOIDE_STORE"
    wants 'Connected' claude mcp list
}

gemini() {
    say "Gemini CLI"
    installed @google/gemini-cli
    export GEMINI_CLI_TRUST_WORKSPACE=true # it starts servers only in a trusted folder
    starts "$commands/gemini" --version
    local file
    for file in "$project/.gemini/settings.json" "$HOME/.gemini/settings.json"; do
        snippet "$file" gemini
        wants 'Connected' "$commands/gemini" mcp list
        snippet "$file" gemini --http
        wants 'Connected' "$commands/gemini" mcp list
        rm "$file"
    done
}

opencode() {
    say "opencode"
    # The package opencode-ai brings two programs of 180 MB; this is one of them.
    local package file
    case $(uname -s)-$(uname -m) in
        Linux-x86_64) package=opencode-linux-x64-baseline ;;
        Linux-aarch64) package=opencode-linux-arm64 ;;
        Darwin-arm64) package=opencode-darwin-arm64 ;;
        Darwin-x86_64) package=opencode-darwin-x64-baseline ;;
        *) echo "skipped: no opencode for $(uname -sm)"; exit 77 ;;
    esac
    installed "$package"
    local program=$commands/../node_modules/$package/bin/opencode
    export OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1
    starts "$program" --version
    for file in "$project/opencode.json" "$HOME/.config/opencode/opencode.json"; do
        snippet "$file" opencode
        wants '✓ omoide' "$program" mcp list
        snippet "$file" opencode --http
        wants '✓ omoide' "$program" mcp list
        rm "$file"
    done
}

codex() {
    say "Codex"
    installed @openai/codex@latest # the same version as in test_hooks.py: it has to run hooks
    starts "$commands/codex" --version
    snippet "$HOME/.codex/config.toml" codex
    wants '"stdio"' "$commands/codex" mcp get omoide --json
    wants 'in project shop' "$python" "$here/codex.py" "$commands/codex"
    snippet "$HOME/.codex/config.toml" codex --http --project shop
    wants '"bearer_token_env_var": "OMOIDE_MCP_TOKEN"' "$commands/codex" mcp get omoide --json
    wants 'in project shop' "$python" "$here/codex.py" "$commands/codex"
}

"$omoide" mcp --daemon --http 127.0.0.1:0
url=$("$omoide" mcp status --json | "$python" -c 'import json, sys; print(json.load(sys.stdin)["url"])')
OMOIDE_MCP_TOKEN=$("$omoide" mcp token)
export OMOIDE_MCP_TOKEN
git init --quiet "$project" && cd "$project"
[[ $# -gt 0 ]] || set -- inspector claude-code gemini opencode codex
for client; do "$client"; done
