"""Requests to remember something: found with what they ask to keep, and not where somebody only talks about remembering."""

import re

import pytest

from omoide.learning.english_requests import ENGLISH
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


STANDING_RULES = {
    "fix it, and make sure every new job type gets a timeout from now on": "make sure every new job type gets a timeout",
    "bump the font and let's say 10 px is the minimum from now on": "let's say 10 px is the minimum",
    "replace it, I'd like us to stick to one printer from here on": "I'd like us to stick to one printer",
    "All migrations must be reversible from now on, we got burned.": "All migrations must be reversible, we got burned.",
    "I want the API file built on every merge, no exceptions, from today on.": (
        "I want the API file built on every merge, no exceptions."
    ),
    "Could you from now on reply in German?": "reply in German?",
    "Never commit directly to main.": "Never commit directly to main.",
    "You should always ask before you delete a branch.": "You should always ask before you delete a branch.",
    "Whenever you add a dependency, update NOTICE as well.": "Whenever you add a dependency, update NOTICE as well.",
    "Every time you touch the schema, regenerate the types.": "Every time you touch the schema, regenerate the types.",
    "Ping Anna before each translation. That's a standing rule.": "Ping Anna before each translation.",
    "In future please answer in bullet points": "please answer in bullet points",
    "make it a habit to run the formatter": "run the formatter",
    "テストでは絶対に sleep を使わないこと。": "テストでは絶対に sleep を使わないこと。",
    "main への直接 push は禁止です。": "main への直接 push は禁止です。",
    "依存を追加するときは必ず NOTICE も更新してください": "依存を追加するときは必ず NOTICE も更新してください",
    "毎回コミット前に lint を走らせるようにして": "コミット前に lint を走らせるようにして",
    "敵の名前は必ず海のものにする、という縛りでいきます": "敵の名前は必ず海のものにする",
    "時刻はすべて UTC で持つ方針で。モデルを直して": "時刻はすべて UTC で持つ",
    "距離はメートルで持つこと、これは今後も守ってください": "距離はメートルで持つこと",
    "既定はカンマで、今後ずっとそれで頼みます": "既定はカンマで",
    "これからはドイツ語で返信してもらえますか?": "ドイツ語で返信してもらえますか?",
    "6月で IE 対応は終了、これで確定です。": "6月で IE 対応は終了",
    "The count is 5 now. Remember the new value please.": "The count is 5 now.",
    "回数は5回になりました。今後はこの値でお願いします": "回数は5回になりました。",
    "承認できるのは林さんだけ、という点は今後も頭に入れておいてください": "承認できるのは林さんだけ",
    "来週から請求書は木曜に送ります。": "来週から請求書は木曜に送ります。",
    "本文は二度とログに出さないでください": "本文は二度とログに出さないでください",
}
DECISIONS = [
    "Bob and I agreed on UTC for every timestamp.",
    "The client signed off on the two-step checkout yesterday.",
    "The team has chosen Vitest over Jest.",
    "After long talks management went with option B.",
    "We're standardising on Postgres 16.",
    "It was agreed at the retro that flaky tests are skipped within a day.",
    "Let's make snake_case the standard for json keys.",
    "結局 Postgres 16 でいくことに。",
    "テストファイルは _spec で終わる名前に統一しましょう。",
    "新しいコードでは lodash は使わないようにしていきます。",
    "議事録は翌日に出す運用に変えました。",
    "先方は青い案に決定とのことです。",
]
NOTES = {
    "retry after three days, and please store that as our policy: then cancel": "retry after three days: then cancel",
    "Team agreement as of today: no changes on fridays after 12.": "no changes on fridays after 12.",
    "one thing to keep for later sessions: show me the diff": "show me the diff",
    "Rule of thumb for the future: don't edit generated files.": "don't edit generated files.",
    "Store for later: the licence server is at 10.0.4.7": "the licence server is at 10.0.4.7",
    "pls rember that the api is limited to 5 rps": "the api is limited to 5 rps",
    "our year starts in October, so remember that when you build reports": "our year starts in October",
    "Secrets belong in vault. make a note of it and check the repo": "Secrets belong in vault.",
    "It's important you keep in mind that invoices never change": "invoices never change",
    "FYI it's called ledger, so use that word everywhere": "it's called ledger, so use that word everywhere",
    "備忘: 検証環境は日曜に初期化される": "検証環境は日曜に初期化される",
    "sandbox は0時に消えます。覚えておいてもらえると助かります": "sandbox は0時に消えます。",
    "忘れないでほしいんだけど、承認者は村上さん": "承認者は村上さん",
    "ポートは 8443 です。覚え直してください": "ポートは 8443 です。",
    "秘密情報は Vault 以外に置かない。これ鉄則なのでメモって。": "秘密情報は Vault 以外に置かない。",
    "ノルウェーでは VAT がかからない、と覚えておいてほしい": "ノルウェーでは VAT がかからない",
    "後で使うので控えといて。サーバーは 10.0.4.7": "サーバーは 10.0.4.7",
    "雨の日は屋内用にする。その場合も距離はメートルで、覚えておいて": "雨の日は屋内用にする。 その場合も距離はメートル",
}
ONE_TIME_ORDERS = [
    "remember to run the backup script today",
    "Don't forget to push before you leave",
    "don't forget the semicolon in line 12",
    "Could you note down the steps to reproduce in the ticket?",
    "let's go with the second option for this one",
    "add a rule to eslint: no-console",
    "can you make a note component with a title?",
    "set the flag to true and save it",
    "make a note-taking app with React",
    "make sure the tests pass before you answer",
    "going forward by one frame skips the audio, fix the player",
    "今日中にバックアップを取るのを忘れないでね",
    "12行目のセミコロンを忘れないで",
    "今回は2番目の案でお願いします",
    "必ず明日までに提出してください",
    "ボタンを常に画面下に表示してください",
    "必ず手順1から始まるようにしてください",
    "eslint に no-console のルールを追加して",
    "とりあえず古い API は残しておいて",
]
ACCOUNTS = [
    "the job always fails on Mondays",
    "I never understood monads, explain them",
    "every time I open the page it reloads twice",
    "in the future we might move to Rust",
    "Ken said we should never use globals from now on",
    "They told me: never touch that file",
    "we decided nothing yesterday, next try on Friday",
    "we agreed to disagree",
    "We are still debating between REST and gRPC",
    "if the client agrees we will switch to yearly billing",
    "月曜日は必ずジョブが失敗します",
    "恒久的な強化はなしの方針だったはず。",
    "将来的には Rust に移すかもしれない",
    "ケンさんは今後は使わないでと言っていた",
    "支払いに合意したそうなので請求書を送って",
    "注文が確定したらメールを送る処理を書いて",
    "彼は一人で解決しようとする。",
    "保存を押すたびにモーダルが2回閉じます",
]


@pytest.mark.parametrize(("message", "kept"), ASKED.items())
def test_a_request_to_remember_is_found_with_what_it_asks_to_keep(message, kept):
    assert [request.content for request in find_requests(message)] == [kept]


@pytest.mark.parametrize(("message", "kept"), STANDING_RULES.items())
def test_a_rule_for_good_is_found_wherever_its_words_stand_in_the_sentence(message, kept):
    assert [request.content for request in find_requests(message)] == [kept]


@pytest.mark.parametrize("message", DECISIONS)
def test_a_decision_of_a_group_is_kept_as_it_was_said(message):
    assert [(request.content, request.kind) for request in find_requests(message)] == [(message, "decision")]


@pytest.mark.parametrize(("message", "kept"), NOTES.items())
def test_a_note_for_later_is_kept_without_the_words_that_ask_for_it(message, kept):
    assert [request.content for request in find_requests(message)] == [kept]


@pytest.mark.parametrize("message", ONE_TIME_ORDERS)
def test_an_order_for_one_time_has_no_request(message):
    assert find_requests(message) == []


@pytest.mark.parametrize("message", ACCOUNTS)
def test_an_account_a_report_or_a_possibility_has_no_request(message):
    assert find_requests(message) == []


@pytest.mark.parametrize("message", NOT_ASKED)
def test_a_message_that_asks_for_nothing_has_no_request(message):
    assert find_requests(message) == []


def test_code_in_a_message_is_no_request():
    assert find_requests("Look at this:\n```\n# remember that this is deprecated\n```") == []


HOSTILE = [
    *("and ", "for x. ", "for a.-", "覚えて", "、", "は今後", "remember ", "make a note ", "a rule for a ", "ことに"),
    *("after a ", "from now on ", "and let's use the ", "every time you a, ", "store that as our rule ", "always use a "),
    *("and please store it for later ", "one thing to note ", "「", "'a ", '"a" ', "`x` ", "a_", "save it to your notes, "),
    *("ので記録を", "ように書いておいて", "ということを", "、ノートに残し", "きちんと", "これは恒久"),
    *(
        "you keep forgetting, ",
        "I keep having to tell ",
        ", every time",
        "when you write texts, ",
        "、毎回これで",
        "を確認するときは",
    ),
    *("何度も言って", "もう変えません", "必ず使う機能を", "前にも言った"),
    *("時は必ずて", "ルールで", "、これは守って", "が今後必ずようにして", "もらえると", "は禁止"),
]


@pytest.mark.parametrize("part", HOSTILE)
@pytest.mark.parametrize("size", [590, 20_000])
def test_a_long_hostile_message_is_read_in_bounded_time(part, size):
    sentence = part * (size // len(part))
    find_requests(f"{sentence}\n" * (20_000 // size))  # a pattern that backtracks without limit would not end


@pytest.mark.parametrize(
    ("start", "part", "end"),
    [
        ("覚えて", "くださいます", "x"),
        ("覚えて", "お願いします", "x"),
        ("We do it, save it", " for later, please", " x!"),
        ("Remember that ", "'a' ", "'"),
    ],
)
def test_polite_words_without_end_are_read_in_bounded_time(start, part, end):
    find_requests(f"{start}{part * (560 // len(part))}{end}")  # two readings of each part would double the time with each


def test_what_to_do_before_each_push_is_a_rule_and_before_leaving_an_errand():
    assert [request.content for request in find_requests("Remember to run the linter before you push to main.")] == [
        "run the linter before you push to main."
    ]
    assert find_requests("Remember to call Bob before you leave.") == []


def test_no_rule_misses_a_message_for_want_of_a_word_that_it_says_it_needs():
    messages = [*ASKED, *STANDING_RULES, *DECISIONS, *NOTES, *ONE_TIME_ORDERS, *ACCOUNTS, *NOT_ASKED]
    matches = [
        (rule, message) for rule in ENGLISH for message in messages if re.match(rule.pattern.pattern, message, re.I | re.S)
    ]
    assert len(matches) >= 20
    assert [message for rule, message in matches if not rule.match(message)] == []


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("I prefer short commit messages. Keep that in mind going forward.", "short commit messages"),
        ("The answer is port 8443. Please save it so I don't have to say it again.", "port 8443"),
        ("エディタは Neovim です。設定の相談をこの先もするので記憶しておいてください。", "Neovim"),
        ("クラスより関数で書くほうが好みなので、今後はそうしてもらえると助かります。", "関数で書く"),
        ("From now on use pnpm. Not npm, not yarn.", "Not npm, not yarn"),
    ],
)
def test_a_request_that_leans_on_another_statement_keeps_that_too(message, kept):
    assert kept in " ".join(request.content for request in find_requests(message))


@pytest.mark.parametrize(
    "message",
    [
        "それより、これ覚えといて。窓口は平日の10時から。",
        "そういえば、覚えておいて。窓口は平日の10時から。",
        "ところで、これ忘れんといて。窓口は平日の10時から",
    ],
)
def test_a_word_that_only_changes_the_subject_is_not_what_is_to_be_kept(message):
    (request,) = find_requests(message)
    assert request.content.startswith("窓口は平日の10時から")


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("E2Eはステージング環境に対して流すのがうちの決まりです", "E2Eはステージング環境に対して流す"),
        ("コミット前にフォーマッタを流すのがうちのルールです。", "コミット前にフォーマッタを流す"),
        (
            "PRのタイトルに番号を入れるのがチームの決まりです。検索しやすいので",
            "PRのタイトルに番号を入れる 検索しやすいので",
        ),
        ("日付はUTCがこのチームのルールです", "日付はUTCがこのチームのルールです"),
        ("マージ前にrebaseするのがこのリポジトリの方針です", "マージ前にrebaseするのがこのリポジトリの方針です"),
        (
            "データは fixtures/ に置くのがルールなので守ってください",
            "データは fixtures/ に置くのがルールなので守ってください",
        ),
        ("APIのパスは複数形にするというルールです", "APIのパスは複数形にする"),
        ("main には直接 push するな。覚えておいて", "main には直接 push するな。"),
    ],
)
def test_what_is_kept_of_a_rule_does_not_end_in_the_middle_of_a_phrase(message, kept):
    assert [request.content for request in find_requests(message)] == [kept]


@pytest.mark.parametrize("message", ["毎回テスト回すの面倒だよね", "毎回ここで止まるよなあ", "毎回ビルドが重いんだよね。"])
def test_talk_of_what_happens_each_time_is_no_rule(message):
    assert find_requests(message) == []


def test_an_order_for_each_time_may_end_softly():
    assert [request.content for request in find_requests("毎回lintを通してね")] == ["lintを通してね"]
