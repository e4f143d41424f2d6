"""Requests to remember in many wordings: acts of memory, standing orders, decisions, and what only looks like them."""

import pytest

from omoide.learning.requests import find_requests

ACTS = {
    "Could you jot down that Maria approves the changes?": "Maria approves the changes?",
    "Keep this in your notes, the vendor retries five times.": "the vendor retries five times.",
    "please don't lose track of this: the texts are frozen until May": "the texts are frozen until May",
    "Add this to your long-term memory, Sofia owns the billing service now.": "Sofia owns the billing service now.",
    "Hold on to this: the limiter counts per key.": "the limiter counts per key.",
    "Would you mind remembering that our API uses snake_case?": "our API uses snake_case?",
    "We use conventional commits here. Remember it please.": "We use conventional commits here.",
    "Heads up for later: the QA database is refreshed on the first.": "the QA database is refreshed on the first.",
    "Before you go on, know that main is protected.": "main is protected.",
    "頭の片隅に置いといて、来月から契約プランが変わる。": "来月から契約プランが変わる。",
    "さっきの件、メモっといて。M1だとビルドに指定が要る。": "M1だとビルドに指定が要る。",
    "経理の締め日は20日です。今後のために記録しておいてください。": "経理の締め日は20日です。",
    "今後の参考までに書いておきますが、タイムアウトは30秒です。": "タイムアウトは30秒です。",
    "内線は2041。メモよろしく。": "内線は2041。",
    "SLAは99.9%です。今後の設計の前提にしてください。": "SLAは99.9%です。",
}
RULES = {
    "I'd rather you didn't touch the vendored code, ever.": "I'd rather you didn't touch the vendored code, ever.",
    "It would be good if you'd always explain the cause.": "It would be good if you'd always explain the cause.",
    "The standard for us is OpenAPI first; please respect that in the future.": "The standard for us is OpenAPI first",
    "All amounts include VAT. That's a hard rule, don't forget it.": "All amounts include VAT.",
    "Until further notice, nobody merges to release/2.4.": "nobody merges to release/2.4.",
    "Add no comments that repeat code. This applies to everything you write.": "Add no comments that repeat code.",
    "説明は短めでいいよ、これからずっと。": "説明は短めでいいよ",
    "インデントはスペース2つ。次回以降もこれで頼む。": "インデントはスペース2つ。",
    "一つ決めごと。定数は全部constants.tsに集める。": "定数は全部constants.tsに集める。",
    "プロジェクトの決まりとして、依存の追加は事前に相談してください。": "依存の追加は事前に相談してください。",
    "コードを提案するときはファイル全体を出す、ということでお願いします。": "コードを提案するときはファイル全体を出す",
    "ファイル名は必ず小文字のケバブケース。": "ファイル名は必ず小文字のケバブケース。",
    "いつも敬語で返してくれる?": "いつも敬語で返してくれる?",
}
DECISIONS = [
    "Our decision is to keep the monorepo.",
    "I've decided against a queue, a cron job is enough.",
    "We ended up choosing Auth0 after all.",
    "The final call: we ship without SSO.",
    "As agreed with Ken, the admin UI stays server-rendered.",
    "We've decided to postpone the launch to September.",
    "APIのバージョニングはURLパスで、という結論になりました。",
    "予約の変更は前日の正午まで、と院長が決めました。",
    "最終的に、ホスティングはVercelを選びました。",
    "決めた、フロントはSvelteにする。",
]
KEEPING = {
    "Please preserve this for future sessions: the vendor sends semicolons.": "the vendor sends semicolons.",
    "Worth recording for later: the LDAP sync runs at 2 am.": "the LDAP sync runs at 2 am.",
    "We freeze in December; put that in your memory.": "We freeze in December",
    "It'd be great if you could hold on to this: the key allows 50 calls.": "the key allows 50 calls.",
    "could you make a note somewhere that the password rotates weekly? thx": "the password rotates weekly?",
    "Let it be known that Jane approves all releases.": "Jane approves all releases.",
    "One more thing worth jotting down for later sessions, the key has the OS in it.": "the key has the OS in it.",
    "Our year ends in June. This must go into your rules.": "Our year ends in June.",
    "I never want to see console.log in a commit again.": "I never want to see console.log in a commit again.",
    "In all sessions to come, start with a summary.": "start with a summary.",
    "ブランチ名はfeature/から始める、をルールに追加しといて。": "ブランチ名はfeature/から始める",
    "担当は高橋さんに変わったって控えといて。": "担当は高橋さんに変わった",
    "担当が西川様に変わりましたので、今後のためにお控えいただけますでしょうか。": "担当が西川様に変わりました",
    "夜間はCIが止まるって覚えておいてもらえる?": "夜間はCIが止まる",
    "会計年度は4月始まり。メモで。": "会計年度は4月始まり。",
    "覚えとこう。ビルドは夜間に走る。": "ビルドは夜間に走る。",
    "ルール追加。戻す手順も必ず書く。": "戻す手順も必ず書く。",
    "検索は部分一致で書いてください、これから先も。": "検索は部分一致で書いてください",
}
ANNOUNCED = {
    "Record for later that we pay for the Pro plan.": "we pay for the Pro plan.",
    "Amounts are in cents. I expect you to stick to that convention.": "Amounts are in cents.",
    "Make this a permanent entry: files above 2 GB fail.": "files above 2 GB fail.",
    "図はSVGで置く。その前提で以後よろしく。": "図はSVGで置く。",
    "I want it noted that we use ISO weeks.": "we use ISO weeks.",
    "Just so it's on record: the customer refused the upgrade.": "the customer refused the upgrade.",
    "No abbreviations. Treat this as a permanent instruction.": "No abbreviations.",
    "Update your notes: the office moved to Lyon.": "the office moved to Lyon.",
    "This applies to all future sessions: no emojis.": "no emojis.",
    "I don't like to repeat it, so save this for good: I use fish.": "I use fish.",
    "覚えておいてほしいことがあります。宛名は旧社名です。": "宛名は旧社名です。",
    "今から言うことを記憶してください。窓口は平日のみです。": "窓口は平日のみです。",
    "次回のために残しておいて:カードの番号は末尾4242。": "カードの番号は末尾4242。",
    "ちょっと控えてほしいんだけど、経理の内線は310。": "経理の内線は310。",
    "端末はA社のものを使う。これは常識として覚えておいて。": "端末はA社のものを使う。",
}
POINTERS = {
    "Errors are lowercase. I expect you to follow that convention from here on.": "Errors are lowercase.",
    "忘れそうなので記録しておいて。検証用の口座はtest01です。": "検証用の口座はtest01です。",
    "後々困らないように書き残しておいて。キーは3台までです。": "キーは3台までです。",
    "忘れがちなので書いとくわ。っていうか覚えて。証明書の更新は6月": "証明書の更新は6月",
    "テストを直して。あと覚えておいて。本番は東京にあります。": "本番は東京にあります。",
    "夕方はデプロイしない。これは恒久ルールで。": "夕方はデプロイしない。",
    "変数名に略語を使わない決まりなので、以後徹底してください。": "変数名に略語を使わない決まりなので",
    "返金は店長の承認が必要なので、覚えておいてほしい。急ぎません。": "返金は店長の承認が必要",
}
QUOTED = [
    'grep for "from now on" in the docs folder',
    "It throws KeyError: 'remember'. Any idea?",
    "ログイン画面に「次回から自動でログイン」のチェックをつけて",
    "次の文を英訳して:「今後は必ずご連絡ください。忘れないでください。」",
    "コメントに「注意: 定義と合わせること」と書いておいて",
    "次の内容を英訳して:毎回必ず確認すること。",
    "Rename `always_use_cache` to `never_forget` please",
]
DATA_OF_THE_TASK = [
    "Take a note of the time it takes, then compare both builds.",
    "Store the result in Redis and log it.",
    "Please save it somewhere in the repo.",
    "Add this to the notes table: a created_at column.",
    "I want you to add that to the form, it is missing.",
    "From now on it crashes on every start, since the update.",
    "エラーのときはログを残すようにして。",
    "ログインした時刻を記録しておいて。",
    "ユーザーの情報をDBに登録しておいて。",
    "終わったら保存しておいて。",
    "フォームの内容を覚えておくようにして。",
]
NO_REQUESTS = [
    "It's good to know that there are other ways.",
    'Jonas claimed "we decided to drop it". I never saw such a decision.',
    "I think we agreed on blue, but check the design.",
    "Did we agree on a naming scheme, and can you check the wiki?",
    "No need to remember this: it is a throwaway script.",
    "We have decided nothing yet, so keep both.",
    "They say the worker always crashes after two hours.",
    "I decided to grab lunch, back in 30.",
    "The function should never return null, throw instead.",
    "誰がこの仕様に決めたんでしょうね…。",
    "会議で決まったことを議事録にまとめてもらえますか。",
    "今後も使うかもしれないので関数にしておいて。",
    "たしか前回はcronで動かすって決めたよね?",
    "これからデプロイするので、5分ほど待ってください。",
    "ログ出力が常に空になります。",
    "このメソッドを使わないように書き換えて。",
]


@pytest.mark.parametrize(("message", "kept"), (ACTS | RULES).items())
def test_what_a_message_asks_to_keep_is_found_without_the_words_that_ask(message, kept):
    assert [request.content for request in find_requests(message)] == [kept]


@pytest.mark.parametrize(("message", "kept"), KEEPING.items())
def test_any_verb_or_noun_of_keeping_with_a_statement_asks_for_it(message, kept):
    assert [request.content for request in find_requests(message)] == [kept]


@pytest.mark.parametrize(("message", "kept"), ANNOUNCED.items())
def test_what_an_act_of_keeping_announces_or_treats_as_a_rule_is_asked_for(message, kept):
    assert [request.content for request in find_requests(message)] == [kept]


@pytest.mark.parametrize(("message", "kept"), POINTERS.items())
def test_a_request_without_a_statement_of_its_own_asks_for_the_one_next_to_it(message, kept):
    assert [request.content for request in find_requests(message)] == [kept]


@pytest.mark.parametrize("message", QUOTED)
def test_words_of_asking_in_a_quotation_or_a_name_ask_for_nothing(message):
    assert find_requests(message) == []


def test_a_quotation_in_what_is_asked_for_is_kept_as_it_was_written():
    message = "社内では「案件。」を『計画』と呼ぶことを記録しておいてください。"
    assert [request.content for request in find_requests(message)] == ["社内では「案件。」を『計画』と呼ぶ"]
    english = "Remember that 'edge' means the \"nightly\" build in `ci.yml`, ꀀ."
    assert [request.content for request in find_requests(english)] == [english.removeprefix("Remember that ")]


@pytest.mark.parametrize("message", DATA_OF_THE_TASK)
def test_an_order_to_store_data_of_the_task_keeps_nothing(message):
    assert find_requests(message) == []


@pytest.mark.parametrize("message", DECISIONS)
def test_a_decision_is_kept_as_it_was_said(message):
    assert [(request.kind, request.content) for request in find_requests(message)] == [("decision", message)]


@pytest.mark.parametrize(
    "message",
    [
        "We went with gRPC over REST, so can you generate the stubs?",
        "alpineを採用しないことで決まったので、slimに変えてもらえる?",
    ],
)
def test_a_decision_before_a_task_in_the_form_of_a_question_is_kept(message):
    assert [request.kind for request in find_requests(message)] == ["decision"]


@pytest.mark.parametrize("message", NO_REQUESTS)
def test_a_sentence_that_only_looks_like_a_request_keeps_nothing(message):
    assert find_requests(message) == []
