#!/usr/bin/env bash
# The main job in a minute, on a database of its own that is thrown away: keep, find, correct, forget.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export OMOIDE_STORE="$home/memory.db" OMOIDE_CONFIG="$home/config.toml" OMOIDE_PROJECT=shop

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() {
    printf '\033[2m$ omoide'
    printf ' %q' "$@" | sed "s/\\\\ / /g"
    printf '\033[0m\n'
    omoide "$@"
}

say "1. Keep what was learnt, in Japanese and in English"
run remember '認証は JWT を採用。有効期限は 15 分' --topic 'API auth' --type decision --tags api,auth
run remember 'このプロジェクトでは pnpm + Turborepo を使用' --type pattern --tag build
run remember 'Changes under src/core need the whole test suite' --type warning --tag 'src/core/**'
run remember 'Prefers short answers with the reason first' --type preference --global

say "2. Find it again, by any word of it"
run recall 認証
run recall pnpmの使い方
run recall 'what do I test after changing src/core?'
