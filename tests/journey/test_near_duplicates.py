"""Near twins: `remember` says at once which memories say almost the same, and names no others."""

from collections.abc import Callable

import apsw
import pytest

from omoide import Draft, Scope

SHOP = Scope.project("shop")

TWINS = """
Use pnpm for installs | Use the pnpm for installs
Run the migrations before the deploy | Run migrations before deploy.
The API listens on port 8080 behind nginx | The API listens on port 9090 behind nginx
Never force push to the main branch | Never force-push to main branch!
Tests must pass before a merge to main | Before a merge to main, tests must pass
The build uses Turborepo with remote caching | The build uses Turborepo with remote caching enabled
Ask Alice before changing the billing schema | Ask Alice before you change the billing schema
Retry failed webhooks three times with backoff | Failed webhooks: retry three times with backoff
The user prefers short answers without emoji | User prefers short answers, without emojis
Secrets are stored in Vault, never in the repo | Secrets are stored in Vault and never in the repository
Use ruff and mypy for linting the backend | Use mypy and ruff for linting the backend
The cron job runs at 3am UTC and takes 12 minutes | The cron job runs at 4am UTC and takes 15 minutes
Error budgets are reviewed each Monday by the platform team | Error budgets are reviewed every Monday by the platform team
Version v2.3.1 of the SDK breaks the login on Android | Version v2.3.4 of the SDK breaks the login on Android
Don't use floats for money in the checkout | Don’t use floats for money in the checkout
デプロイは金曜に行う | デプロイは金曜日に行う
認証は JWT を採用 | 認証には JWT を採用する
ビルドには pnpm を使用 | ビルドには pnpm を使用します
テストは必ずマージ前に実行する | テストはマージ前に必ず実行する
ログは30日間保存する | ログは90日間保存する
本番のデータベースは PostgreSQL 15 | 本番のデータベースは PostgreSQL 16 です
料金の計算に浮動小数点を使わない | 料金の計算に浮動小数点を使わないこと
ユーザーは短い回答を好む | ユーザーは短い回答を好みます
設定ファイルは環境変数で上書きできる | 設定ファイルは、環境変数で上書きできます
検索インデックスは毎週月曜に再構築する | 毎週月曜に検索インデックスを再構築する
画像は S3 に保存し、CDN で配信する | 画像はS3に保存しCDNで配信する
ステージング環境は毎晩自動で更新される | ステージング環境は毎晩自動更新される
顧客の住所は暗号化して保存する | 顧客の住所と電話番号は暗号化して保存する
障害が起きたら田中さんに連絡する | 障害が起きたら、まず田中さんに連絡する
タイムゾーンは UTC に統一する | タイムゾーンはすべて UTC に統一する
"""
OTHERS = """
Use pnpm for installs | Use docker for local databases
Run the migrations before the deploy | Run the linter before the commit
Never force push to the main branch | Never store tokens in the browser
We use PostgreSQL for the ledger | We use Redis for the sessions
Sessions expire after 15 minutes | Coupons expire after a year
Feature flags live in LaunchDarkly | Design tokens live in Figma
The checkout page needs a loading spinner | The checkout team meets on Tuesday
Kubernetes pods need a memory limit | Kubernetes upgrades are done by the platform team
Version 2 of the SDK breaks the login | Version control hooks run the formatter
Deploy on Friday | Deploy with Helm
面接は木曜に行う | 棚卸しは月末の営業日に行う
監視は Datadog を採用 | 描画は WebGL を採用
領収書は7年間保存する | 議事録は Notion に保存する
エラーは Slack に通知する | 売上は Excel に記録する
本番の鍵は Vault にある | 本番の承認は部長が行う
リリースノートは日本語で書く | コミットメッセージは英語で書く
コードレビューは二人の承認が必要 | 海外出張は部長の承認が必要
キャッシュの有効期間は5分 | 試用の有効期間は一年
社員名簿は毎月更新される | 社員証は入社日に発行する
決済の失敗は3回まで再試行する | 写真の添付は5枚まで許可する
"""


def pairs(text):
    return [tuple(line.split(" | ")) for line in text.strip().splitlines()]


def test_every_near_duplicate_is_named_and_nothing_else(memory):
    for one, other in pairs(TWINS):
        first = memory.remember(one, scope=SHOP)
        assert (first.similar_count, first.similar) == (0, ()), one
        assert memory.remember(other, scope=SHOP).similar == (first.memory.number,), other


def test_near_duplicates_are_found_in_the_other_direction_too(memory):
    """Not all: a word that only the older one has may be the one that it is looked up by."""
    named = 0
    for one, other in pairs(TWINS):
        memory.remember(other, scope=SHOP)
        named += memory.remember(one, scope=SHOP).similar_count
    assert named >= len(pairs(TWINS)) - 2


def test_texts_on_other_subjects_are_no_near_duplicates(memory):
    for pair in pairs(OTHERS):
        for text in pair:
            assert memory.remember(text, scope=SHOP).similar_count == 0, text


def test_texts_that_differ_only_in_a_number_are_near_duplicates(memory):
    text = "Shard {} of the ledger is moved to the new cluster by the platform team"
    for number in range(25):
        done = memory.remember(text.format(number * 37), scope=SHOP)
    assert done.similar_count == 24


def test_near_duplicates_are_counted_up_to_50_and_the_five_closest_named(memory):
    text = "Deploy the shop to the cluster with make on Fridays"
    further, closer = (memory.remember(text + more, scope=SHOP).memory.number for more in (" again, usually", " again"))
    assert memory.remember(text, scope=SHOP).similar == (closer, further)
    for number in range(60):
        done = memory.remember(f"{text}, {number}", scope=SHOP)
    assert (done.similar_count, len(done.similar)) == (50, 5)


def test_tags_topic_and_examples_do_not_matter_for_near_duplicates(memory):
    first = memory.remember("Use pnpm for installs", scope=SHOP).memory
    fields = {"topic": "Package manager of the shop", "tags": ["build", "node", "tools"], "examples": ["pnpm add -D vitest"]}
    assert memory.remember("Use pnpm for all installs", scope=SHOP, **fields).similar == (first.number,)


def test_near_duplicates_are_of_one_scope_and_follow_a_promoted_memory(memory):
    text = "Use pnpm for installs"
    first = memory.remember(text, scope=SHOP).memory
    for scope in (Scope.project("bank"), Scope.session("shop", "monday"), Scope.everywhere()):
        assert memory.remember(f"{text}!", scope=scope).similar_count == 0
    memory.promote(first.number, scope=SHOP)
    assert memory.remember(f"{text}.", scope=SHOP).similar_count == 0
    assert first.number in memory.remember(f"{text}?", scope=Scope.everywhere()).similar


def test_bulk_and_revised_memories_are_found_and_forgotten_ones_are_not(memory):
    many = memory.remember_many([Draft("Use pnpm for installs", SHOP), Draft("Something else entirely", SHOP)])
    bulk, other = (done.memory.number for done in many)
    memory.revise(other, scope=SHOP, content="Use the pnpm for installs")
    assert set(memory.remember("Use pnpm for installs.", scope=SHOP).similar) == {bulk, other}
    memory.forget(bulk, scope=SHOP)
    assert bulk not in memory.remember("Use pnpm for installs!", scope=SHOP).similar


@pytest.mark.parametrize("text", ["!!!", "use it", "42", "これはそれです", "и так далее", "การทดสอบ"])
def test_texts_with_few_selective_words_are_stored_like_any_other(memory, text):
    assert memory.remember(text, scope=SHOP).similar_count == 0
    assert memory.remember(text + " .", scope=SHOP).similar_count == (text != "!!!")


def test_memories_of_an_older_version_are_found_after_a_reindex(tmp_path, open_memory):
    memory = open_memory(tmp_path / "memory.db")
    first = memory.remember("Use pnpm for installs", scope=SHOP).memory
    with apsw.Connection(str(tmp_path / "memory.db")) as connection:
        connection.execute("UPDATE memories SET blocking_key = 1")
    assert memory.remember("Use the pnpm for installs", scope=SHOP, key="a").similar_count == 0
    memory.forget("a", scope=SHOP)
    memory.reindex()
    assert memory.remember("Use the pnpm for installs", scope=SHOP, key="b").similar == (first.number,)


@pytest.fixture
def traced_memory(tmp_path, open_memory):
    """A memory, the statements that its connection runs, and what to do before the first that contains a text."""
    opened = []
    apsw.connection_hooks.append(opened.append)
    try:
        memory = open_memory(tmp_path / "memory.db")
        memory.remember("Use pnpm for installs", scope=SHOP)  # it creates the database, on a connection of its own
    finally:
        apsw.connection_hooks.remove(opened.append)
    statements: list[str] = []
    meanwhile: dict[str, Callable[[], object]] = {}

    def trace(_, statement, __):
        statements.append(statement)
        for text in [text for text in meanwhile if text in f"{statement};"]:
            meanwhile.pop(text)()
        return True

    opened[-1].set_exec_trace(trace)
    return memory, statements, meanwhile


SEARCH = "WHERE blocking_key = "


def test_near_duplicates_are_looked_for_after_the_commit(traced_memory):
    memory, statements, _ = traced_memory
    assert memory.remember("Use the pnpm for installs", scope=SHOP).similar_count == 1
    ended = statements.index("COMMIT")
    assert not any(SEARCH in statement for statement in statements[:ended])
    assert any(SEARCH in statement for statement in statements[ended:])


def test_others_write_while_near_duplicates_are_looked_for(traced_memory, tmp_path, open_memory):
    memory, _, meanwhile = traced_memory
    other = open_memory(tmp_path / "memory.db", wait=0.1)
    written = []
    meanwhile[SEARCH] = lambda: written.append(other.remember("Use pnpm for all installs", scope=SHOP))
    assert memory.remember("Use the pnpm for installs", scope=SHOP).similar == (1,)
    assert [done.similar_count for done in written] == [2]


def test_a_near_duplicate_that_another_process_stored_meanwhile_is_named(traced_memory, tmp_path, open_memory):
    memory, _, meanwhile = traced_memory
    other = open_memory(tmp_path / "memory.db", wait=0.1)
    written = []
    meanwhile["BEGIN;"] = lambda: written.append(other.remember("Use pnpm for all installs", scope=SHOP).memory.number)
    done = memory.remember("Use the pnpm for installs", scope=SHOP)
    assert set(done.similar) == {1, *written}
    assert done.similar_count == 2


def test_a_near_duplicate_forgotten_meanwhile_is_not_named(traced_memory, tmp_path, open_memory):
    memory, _, meanwhile = traced_memory
    other = open_memory(tmp_path / "memory.db", wait=0.1)
    meanwhile["BEGIN;"] = lambda: other.forget(1, scope=SHOP)
    assert memory.remember("Use the pnpm for installs", scope=SHOP).similar_count == 0


def test_a_memory_is_reported_as_stored_even_if_near_duplicates_cannot_be_looked_for(traced_memory, tmp_path):
    memory, _, meanwhile = traced_memory
    meanwhile["COMMIT;"] = lambda: (tmp_path / "memory.db").rename(tmp_path / "moved.db")
    done = memory.remember("Use the pnpm for installs", scope=SHOP)
    (tmp_path / "moved.db").rename(tmp_path / "memory.db")
    assert (done.action, done.similar) == ("created", ())
    assert memory.show(done.memory.number, scope=SHOP).content == "Use the pnpm for installs"
