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
        pytest.param("Never more than 4 resize workers", AgentWork(ASKED, "It has 3 workers."), USED, id="within a limit"),
        pytest.param(
            "上限は 20MB 以下",
            AgentWork(ASKED_JA, "上限を 10MB から 25MB に変えました。"),
            CONTRADICTED,
            id="old and new value",
        ),
        pytest.param(
            "2:00〜4:00 に定期ジョブを入れてはいけない",
            AgentWork(ASKED_JA, "", "cron: '15 3 * * *'"),
            CONTRADICTED,
            id="forbidden time",
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
            "索引は CONCURRENTLY で作成する",
            AgentWork(ASKED_JA, "索引を張りました。CONCURRENTLY は付けていません。"),
            CONTRADICTED,
            id="left out",
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
