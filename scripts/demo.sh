#!/usr/bin/env bash
# Show the main commands in half a minute, on a temporary database: store, search, update, undo, edit as Markdown, and an
# agent that works twice.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
home=$(mktemp -d -t omoide-demo.XXXXXX)
trap 'rm -rf "$home"' EXIT
# The demo must not depend on the user's settings or on an installed embedding model.
export OMOIDE_STORE="$home/memory.db" OMOIDE_CONFIG="$home/config.toml" OMOIDE_PROJECT=shop OMOIDE_EMBEDDER=off
cd "$home"

bold='' dim='' plain=''
if [[ -t 1 && -z ${NO_COLOR:-} ]]; then bold=$'\033[1m' dim=$'\033[2m' plain=$'\033[0m'; fi
step() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
show() { printf '%s$ %s%s\n' "$dim" "$*" "$plain"; }
run() {
    local shown=omoide word
    for word in "$@"; do
        if [[ $word == *[\ \*\?\+]* ]]; then word="'$word'"; fi
        shown+=" $word"
    done
    show "$shown"
    omoide "$@"
}

step "1. Store what was learnt, in Japanese and in English"
run remember '認証は JWT を採用。有効期限は 15 分' --topic 'API auth' --type decision --tags api,auth
run remember 'このプロジェクトでは pnpm + Turborepo を使用' --type pattern --tag build
run remember 'Changes under src/core need the whole test suite' --type warning --tag 'src/core/**'
run remember 'Prefers short answers with the reason first' --type preference --global

step "2. Search by any word; each hit says why it was found"
run recall 認証
run recall pnpmの使い方
run recall 'what do I test after changing src/core?'

step "3. Update: the same topic and type changes the memory and keeps the old version"
run remember '認証は JWT を採用。有効期限は 30 分' --topic 'API auth' --type decision
run history 1

step "4. Forget, and undo it"
run forget 2
run recall pnpm
run restore 2
run recall pnpm

step "5. Edit the memories as a Markdown file"
run mirror add memories.md
show "sed -i 's/30 分/60 分/' memories.md"
sed 's/30 分/60 分/' memories.md >edited.md
mv edited.md memories.md
run recall 有効期限
show "head -7 memories.md"
head -7 memories.md

step "6. Look at the store and check it"
run list
run stats
run doctor

step "7. Run an agent twice: the second time it knows"
cat >agent.sh <<'AGENT'
# A scripted agent: it reads its prompt, and knows nothing else.
prompt=$(cat)
case $prompt in
    *'## Memories'*make\ check*) echo "Assistant: The notes say make check comes before a push. I ran it first: all checks pass. Pushed." ;;
    *) echo "Assistant: Pushed." ;;
esac
AGENT
run run -m 'Push the fix of the login. From now on, run make check before you push.' -- bash agent.sh
run run -m 'Push the fix of the logout.' -- bash agent.sh
run why 2

step "Next"
cat <<END
pipx install .                                      install omoide for daily use
omoide install claude-code                          connect Claude Code: MCP tools, and memories added automatically
omoide install --help                               list the other agents
omoide --help                                       list all commands (docs/commands.md describes them)
END
