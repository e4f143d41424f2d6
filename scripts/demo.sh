#!/usr/bin/env bash
# The main job in a minute, on a database of its own that is thrown away: keep, find, correct, look back, forget.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export OMOIDE_STORE="$home/memory.db" OMOIDE_CONFIG="$home/config.toml" OMOIDE_PROJECT=shop

bold='' dim='' plain=''
if [[ -t 1 && -z ${NO_COLOR:-} ]]; then bold=$'\033[1m' dim=$'\033[2m' plain=$'\033[0m'; fi
say() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
run() {
    local shown=omoide word
    for word in "$@"; do
        if [[ $word == *[!a-zA-Z0-9_,./#-]* ]]; then word="'$word'"; fi
        shown+=" $word"
    done
    printf '%s$ %s%s\n' "$dim" "$shown" "$plain"
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

say "3. It changed: the same topic and type updates the memory, and the old version stays"
run remember '認証は JWT を採用。有効期限は 30 分' --topic 'API auth' --type decision
run history 1

say "4. Forget, and think better of it"
run forget 2
run recall pnpm
run restore 2
run recall pnpm

say "5. What there is, and how it is"
run list
run export --output "$home/memories.jsonl"
run stats
run doctor
