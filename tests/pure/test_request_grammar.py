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
