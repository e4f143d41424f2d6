"""Tags from a text: names in it, and what its neighbours carry."""

import pytest

from omoide import Scope
from omoide.retrieval.autotag import suggest

SHOP = Scope.project("shop")


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("Run `ruff` before every commit", ["ruff"]),
        ("We chose PostgreSQL for the ledger", ["postgresql"]),
        ("認証は JWT を採用", ["jwt", "認証"]),
        ("ビルドには pnpm を使用", ["pnpm"]),
        ("It works", []),
    ],
)
def test_names_in_the_text_become_tags(text, tags):
    assert suggest(text, []) == tags


def test_tags_come_from_agreeing_neighbours_and_from_the_text():
    near = [(("deploy", "ci"), 2.0), (("deploy",), 1.5), (("billing",), 1.0)]
    assert suggest("ship it on fridays", near) == ["deploy"]
    assert suggest("the billing ships on fridays", near) == ["billing", "deploy"]
    assert suggest("the rebilling", near) == ["deploy"]


def test_remember_suggests_or_applies_tags_as_the_settings_say(tmp_path, open_memory):
    text = "認証は JWT を採用"
    memory = open_memory(tmp_path / "memory.db", autotag="suggest")
    done = memory.remember(text, scope=SHOP)
    assert (done.memory.tags, done.suggested_tags) == ((), ("jwt", "認証"))
    memory = open_memory(tmp_path / "memory.db", autotag="apply")
    assert memory.remember("決済は Stripe を採用", scope=SHOP).memory.tags == ("決済", "stripe")
    assert memory.remember("通知は Slack を採用", scope=SHOP, tags=["chat"]).memory.tags == ("chat",)
    memory = open_memory(tmp_path / "memory.db")
    assert memory.remember("検索は Lucene を採用", scope=SHOP).suggested_tags == ()


@pytest.mark.parametrize(
    ("tagged", "text", "tags"),
    [
        (
            ("Pod の再起動は kubectl で行う", "ロールバックは Helm で行う"),
            "データベースの移行は夜間に行う",
            ("データベース",),
        ),
        (("Pod の設定を確認する", "クラスタの状態を確認する"), "請求書の金額を確認する", ("請求書",)),
        (("Run the pods on spot nodes", "Run kubectl after each rollout"), "Run the tests before every commit", ()),
    ],
)
def test_neighbours_sharing_only_a_common_verb_give_no_tags(tmp_path, open_memory, tagged, text, tags):
    memory = open_memory(tmp_path / "memory.db", autotag="suggest")
    for note in tagged:
        memory.remember(note, scope=SHOP, tags=["infra"])
    assert memory.remember(text, scope=SHOP).suggested_tags == tags


@pytest.mark.parametrize(
    ("tagged", "text"),
    [
        (("認証は OAuth を使う", "認証の期限は15分"), "認証には二要素が必要"),
        (
            ("Stripe is used for cards", "Stripe charges a fee per card"),
            "The webhook of Stripe is verified by its signature",
        ),
        (("Stripe でカード決済を行う", "手数料は Stripe が決める"), "Stripe の Webhook は署名を検証してから処理する"),
        (("Pod は kubectl で再起動を行う", "更新は Helm で行う"), "ConfigMap の変更後は kubectl で再起動を行う"),
    ],
)
def test_neighbours_on_the_same_subject_give_their_tags(tmp_path, open_memory, tagged, text):
    memory = open_memory(tmp_path / "memory.db", autotag="suggest")
    for note in tagged:
        memory.remember(note, scope=SHOP, tags=["infra"])
    assert "infra" in memory.remember(text, scope=SHOP).suggested_tags


def test_a_word_in_every_memory_gives_no_tags(tmp_path, open_memory):
    memory = open_memory(tmp_path / "memory.db", autotag="suggest")
    for number in range(100):
        memory.remember(f"The shop has room {number}", scope=SHOP, tags=["rooms"])
    assert memory.remember("The shop closes early in winter", scope=SHOP).suggested_tags == ()


def test_given_tags_stay_when_remembered_again_without_tags(tmp_path, open_memory):
    memory = open_memory(tmp_path / "memory.db", autotag="apply")
    memory.remember("認証は JWT を採用", scope=SHOP, topic="auth", tags=["重要"])
    assert memory.remember("認証は JWT を採用、期限は 15 分", scope=SHOP, topic="auth").memory.tags == ("重要",)
