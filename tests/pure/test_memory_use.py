"""What an agent made of a memory: used, ignored or contradicted, by what it said, ran and changed."""

import pytest

from omoide import MemoryUse
from omoide.lifecycle.agent_work import AgentWork
from omoide.lifecycle.memory_use import judge_use

USED, IGNORED, CONTRADICTED = MemoryUse.USED, MemoryUse.IGNORED, MemoryUse.CONTRADICTED
ASKED, ASKED_JA = "Add the report page", "帳票の画面を追加して"


@pytest.mark.parametrize(
    ("memory", "work", "use"),
    [
        pytest.param(
            "Schema changes go through dbmate", AgentWork(ASKED, "Done.", commands="dbmate up"), USED, id="program"
        ),
        pytest.param("Run tools as `uv run ...`", AgentWork(ASKED, "Done.", commands="uv run pytest"), USED, id="code"),
        pytest.param(
            "Buckets are named acme-<env>-<use>", AgentWork(ASKED, "It is in acme-prd-reports."), USED, id="template"
        ),
        pytest.param(
            "画面は src/pages 以下に置く",
            AgentWork(ASKED_JA, "追加しました。", files=["src/pages/R.tsx"]),
            USED,
            id="directory",
        ),
        pytest.param("Never use moment", AgentWork(ASKED, "I did not use moment."), USED, id="avoided"),
        pytest.param(
            "ログは structlog に寄せる。loguru は使わない",
            AgentWork(ASKED_JA, "structlog で出します。"),
            USED,
            id="one of two",
        ),
        pytest.param(
            "Commit messages follow Conventional Commits",
            AgentWork(ASKED, "Done.", commands="git commit -m 'feat(report): add page'"),
            USED,
            id="form of a message",
        ),
        pytest.param(
            "Commit messages follow Conventional Commits",
            AgentWork(ASKED, "Done.", commands="git commit -m 'page'"),
            CONTRADICTED,
            id="other form of a message",
        ),
        pytest.param(
            "Tests are written with pytest", AgentWork(ASKED, "", "import unittest"), CONTRADICTED, id="other tool"
        ),
        pytest.param(
            "GCP のリソースは asia-northeast1 に置く",
            AgentWork(ASKED_JA, "", commands="gcloud run deploy --region us-central1"),
            CONTRADICTED,
            id="other region",
        ),
        pytest.param(
            "Never more than 4 resize workers", AgentWork(ASKED, "It has 16 workers."), CONTRADICTED, id="over a limit"
        ),
        pytest.param(
            "上限は 20MB 以下",
            AgentWork(ASKED_JA, "上限を 10MB から 25MB に変えました。"),
            CONTRADICTED,
            id="old and new value",
        ),
        pytest.param(
            "Never push to main", AgentWork(ASKED, "", commands="git push origin main"), CONTRADICTED, id="forbidden act"
        ),
        pytest.param("Never push to main", AgentWork(ASKED, "", "def main():"), IGNORED, id="word without the act"),
        pytest.param(
            "Never edit files under gen/", AgentWork(ASKED, "", files=["gen/api.ts"]), CONTRADICTED, id="forbidden file"
        ),
        pytest.param(
            "物理削除は禁止", AgentWork(ASKED_JA, "物理削除で実装しました。"), CONTRADICTED, id="forbidden word in Japanese"
        ),
        pytest.param(
            "No emojis in anything we publish", AgentWork(ASKED, "Done.", "- 🎉 Printing works"), CONTRADICTED, id="practice"
        ),
        pytest.param(
            "No emojis in anything we publish",
            AgentWork(ASKED, "Done 🎉", "- Printing works"),
            IGNORED,
            id="practice in talk",
        ),
        pytest.param(
            "Pin images to a digest or a version",
            AgentWork(ASKED, "", "image: shop/web:latest"),
            CONTRADICTED,
            id="opposite",
        ),
        pytest.param(
            "型に any は使わない", AgentWork(ASKED_JA, "", "const raw: any = parse(text)"), CONTRADICTED, id="type"
        ),
        pytest.param(
            "状態はValkeyに置き、メモリ上に持たない",
            AgentWork(ASKED_JA, "カウンタはメモリ上に保持します。"),
            CONTRADICTED,
            id="practice that the agent tells of",
        ),
        pytest.param(
            "Nobody applies to production from a laptop",
            AgentWork("Add a bucket in production", "", commands="cd infra/prod && terraform apply tfplan"),
            CONTRADICTED,
            id="act in a place that the person named",
        ),
        pytest.param(
            "Marts never select from the raw schema",
            AgentWork(ASKED, "", "select * from raw.billing.subscriptions"),
            CONTRADICTED,
            id="any act",
        ),
        pytest.param(
            "マイグレーションにALTERを直に書かず、手順書を置く",
            AgentWork(ASKED_JA, "", "ALTER TABLE stocks ADD COLUMN n INT"),
            CONTRADICTED,
            id="adverb before the verb",
        ),
        pytest.param("uv以外は使わない", AgentWork(ASKED_JA, "", commands="uv add httpx"), USED, id="nothing but"),
        pytest.param(
            "設定変更はreloadで反映する。restartすると接続が切られて苦情が来る",
            AgentWork(ASKED_JA, "", "notify: restart nginx"),
            CONTRADICTED,
            id="harm",
        ),
        pytest.param(
            "差出人は no-reply@example.jp で統一",
            AgentWork(ASKED_JA, "", "from: new Address('info@example.jp')"),
            CONTRADICTED,
            id="other address",
        ),
        pytest.param(
            "マイグレーションには必ず巻き戻しを付ける",
            AgentWork("列を追加して", "戻す側のSQLも書きました。", "-- migrate:down\nDROP COLUMN n", "dbmate down"),
            USED,
            id="followed in code",
        ),
        pytest.param(
            "ログの圧縮はzstd。gzipだと夜間に終わらないことがあった",
            AgentWork("古いログを片付けて", "7日より古いものを圧縮します。", "find . -exec zstd {} +", "zstd -q app.log"),
            USED,
            id="what a clause asks for beside a warning",
        ),
        pytest.param(
            "Refunds above 500 EUR need a second approver on Fridays",
            AgentWork("Make the webhook of payments safe", "Each event id is stored once.", "event_id text PRIMARY KEY"),
            IGNORED,
            id="fact about another matter",
        ),
        pytest.param(
            "Use pnpm", AgentWork("Use npm here please", "", commands="npm install"), IGNORED, id="the person asked for it"
        ),
    ],
)
def test_a_memory_is_judged_by_what_the_agent_did(memory: str, work: AgentWork, use: MemoryUse) -> None:
    assert judge_use(memory, work).use is use


@pytest.mark.parametrize("text", ["no ", "2:00-", "`", "<a>", "a/", "a", "a-", "は禁止"])
def test_hostile_text_is_judged_without_reading_it_again_and_again(text: str) -> None:
    text *= 100_000 // len(text)
    assert judge_use(text, AgentWork(ASKED, text, text, text, [text])).use in MemoryUse


def test_a_file_is_not_the_one_whose_name_begins_alike() -> None:
    work = AgentWork(ASKED_JA, "", files=[".env.example"])
    assert judge_use(".env は編集しない", work).use is not CONTRADICTED
