"""Requests to remember something: found with what they ask to keep, and not where somebody only talks about remembering."""

import pytest

from omoide.learning.requests import find_requests

ASKED = {
    "Please remember that we deploy on Tuesdays only.": "we deploy on Tuesdays only.",
    "remember: the staging db is read-only": "the staging db is read-only",
    "From now on, use pnpm instead of npm.": "use pnpm instead of npm.",
    "Use tabs from now on": "Use tabs",
    "Also, always run make check before pushing from now on.": "always run make check before pushing",
    "Don't forget that the API key lives in Vault.": "the API key lives in Vault.",
    "The tests need Redis running. Remember that.": "The tests need Redis running.",
    "Could you remember that I prefer short answers?": "I prefer short answers?",
    "I want you to remember the port is 8766": "the port is 8766",
    "For future reference: the build takes 12 minutes on CI.": "the build takes 12 minutes on CI.",
    "Remember these:\n- ports start at 9000\n- logs go to /var/log/shop": "ports start at 9000 logs go to /var/log/shop",
    "We decided to drop Python 3.10 because numpy needs 3.11.": "We decided to drop Python 3.10 because numpy needs 3.11.",
    "It was decided that logs are kept for 30 days.": "It was decided that logs are kept for 30 days.",
    "Just so you know for the future: never push to main on Fridays.": "never push to main on Fridays.",
    "ok do it. and from now on squash before merging": "squash before merging",
    "The page is slow again. Let's make it a rule: no video above the fold.": "no video above the fold.",
    "also, new rule: the week of 13 August counts as closed": "the week of 13 August counts as closed",
    "for shop-api please remember that the password rotates monthly. it failed today": "the password rotates monthly.",
    "shop: torch stays at 2.2.1 until May, write that down. and clean up": "shop: torch stays at 2.2.1 until May",
    "From here on we only tag on Mondays, make a note of that.": "we only tag on Mondays",
    "we pay too much. and note that from May on the budget is 40k": "from May on the budget is 40k",
    "keep in mind for all future art: outlines are dark blue": "outlines are dark blue",
    "No more force pushes from now on, ok?": "No more force pushes",
    "As of Monday, reviews need two people": "As of Monday, reviews need two people",
    "let's agree that any new flag needs a test": "let's agree that any new flag needs a test",
    "please add to memory that our year starts in April": "our year starts in April",
    "うるさいので、今後は警告を Slack に送ってください。ルールとして残しておいて。": "警告を Slack に送ってください。",
    "返事は今後なるべく結論から書いてください": "返事はなるべく結論から書いてください",
    "うん、それで。今後もコミットは英語でよろしく": "コミットは英語でよろしく",
    "それから、今後は seed 5本で確認するということで、メモお願いします。": "seed 5本で確認する",
    "通信が切れたら弁を閉じる仕様にします。これは絶対に忘れないで。": "通信が切れたら弁を閉じる仕様にします。",
    "化けた文字は〓に置き換える、というルールにしましょう。": "化けた文字は〓に置き換える",
    "初診は60分にすることになりました。メモしておいて、テストも作ってください。": "初診は60分にすることになりました。",
    "これ大事なので覚えておいてください:バックアップは毎朝4時": "バックアップは毎朝4時",
    "山田さんは木曜休みなので、記憶しておいて": "山田さんは木曜休み",
    "One thing to remember: the tests must run offline.": "the tests must run offline.",
    "Just decided with Ken: retries are capped at 5. adjust the client": "retries are capped at 5.",
    "We use Yarn, not npm. Please remember.": "We use Yarn, not npm.",
    "from this sprint on, every change needs a test": "from this sprint on, every change needs a test",
    "忘れないでほしいのは、夜は DB を再起動しないことです": "夜は DB を再起動しないことです",
    "ログは英語で統一、これも覚えといてください": "ログは英語で統一",
    "画像の alt は必須にします。これ、ルールに追加しといて": "画像の alt は必須にします。",
    "メモ: 本番の承認者は田中さん": "本番の承認者は田中さん",
    "覚えておいて：本番は ap-northeast-1": "本番は ap-northeast-1",
    "pnpmを使うことを覚えておいてください。": "pnpmを使う",
    "今後は必ずテストを書いてからコミットしてください": "必ずテストを書いてからコミットしてください",
    "これからは日本語で返事して": "日本語で返事して",
    "次回からはコミットメッセージは英語でお願いします": "コミットメッセージは英語でお願いします",
    "認証はJWTに決めました。": "認証はJWTに決めました。",
    "リリースは火曜日だけにすることにしました": "リリースは火曜日だけにすることにしました",
    "デプロイ前にマイグレーションを流すのを忘れないでください": "デプロイ前にマイグレーションを流す",
    "変数名はスネークケース、メモしておいて": "変数名はスネークケース",
    "レビューは必ず2人にするというルールにしてください": "レビューは必ず2人にする",
    "覚えておいてくれますか？私のタイムゾーンは JST です": "私のタイムゾーンは JST です",
}
NOT_ASKED = [
    "Do you remember that bug from last week?",
    "I remember that we used npm.",
    "I can't remember the port.",
    "The login form has a remember me checkbox",
    "add a remember_token column",
    "remember when we broke prod?",
    "Have we decided on a database?",
    "We haven't decided yet.",
    "Which database did we decide on?",
    "What should we do from now on?",
    "in future releases the flag will be removed",
    "Fix the failing test in src/core/loop.ts",
    "Thanks!",
    "save it as report.pdf",
    "always the same error, every time I run it",
    "note taking apps: which one do you recommend?",
    "削除することにした理由を知りたい",
    "この関数、毎回キャッシュを無効にしていて遅いです",
    "パスワードを記憶する機能を追加してください",
    "I don't recall what we decided about the cache",
    "next time it crashes I'll send you the log",
    'The error says "never forget to call close()"',
    "これからミーティングなので後で見ます",
    "今後のロードマップを作ってください",
    "どの日付で計上することにしたのか思い出せないので、調べてもらえますか。",
    "ユーザーが「覚えておく」にチェックすると落ちる",
    "ファイルに保存してください",
    "今後の予定を教えて",
    "今後はどうしますか？",
    "まだ決まっていません",
    "決まったら教えて",
    "覚えていますか？",
    "覚えてる？",
    "次は何をすればいい？",
    "メモリ使用量を調べて",
    "ログに記録している箇所を探して",
    "テストを直して",
    "ありがとう",
]


@pytest.mark.parametrize(("message", "kept"), ASKED.items())
def test_a_request_to_remember_is_found_with_what_it_asks_to_keep(message, kept):
    assert [request.content for request in find_requests(message)] == [kept]


@pytest.mark.parametrize("message", NOT_ASKED)
def test_a_message_that_asks_for_nothing_has_no_request(message):
    assert find_requests(message) == []


def test_code_in_a_message_is_no_request():
    assert find_requests("Look at this:\n```\n# remember that this is deprecated\n```") == []


@pytest.mark.parametrize(
    "part", ["and ", "for x. ", "for a.-", "覚えて", "、", "は今後", "remember ", "make a note ", "a rule for a ", "ことに"]
)
def test_a_long_hostile_message_is_read_in_bounded_time(part):
    find_requests(part * (20_000 // len(part)))  # a pattern that backtracks without limit would not end
