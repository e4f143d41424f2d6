"""A person's guidance is recognised between tasks, answers and thanks, in English and Japanese."""

import pytest

from omoide.learning.guidance import find_guidance, strip_lead
from omoide.learning.requests import find_requests

GUIDANCE = [
    "wrap errors with %w and add the contact id, support greps for the id in the logs",
    "last thing: no inline styles and no <script> in templates, the CSP blocks both",
    "docker isn't allowed on this laptop (company policy). use the shared dev postgres on pgdev.intern",
    "13のユーザーは 2% しかいないので切ります",
    "訳は Localizable.xcstrings で、手で編集せず Xcode から書き出すこと(差分が荒れるので)",
    "収穫の時間帯(朝5〜8時)は避けてね、みんな画面見てるから",
    "anyhow only in the binaries. library crates get their own error enum with thiserror, callers match on it",
    "launch files stay generic, per robot numbers belong in config/<robot>.yaml.",
    "snapshots only get recorded on the CI mac (xcode 15.4), different fonts locally",
    "the carts are on ROS_DOMAIN_ID=42 with cyclone, fastdds drops the costmap over our wifi",
    "the name is wrong, our scheme is <env>-<service>-<thing>",
    "評価は CER で。WER は日本語だと分かち書き次第で変わるから使わない",
    "ケーブル1.2mあるからI2Cは100kHzに落とそう。",
    "lrは論文に合わせてるから変えないで。",
    "ボードは /dev/ttyACM1 だよ",
    "NFKC かけるとハイフン類が壊れるから、数字だけ変換する関数を自前で書いてあるんだよね。",
    "we're on Go 1.22 because the build image has nothing newer, don't bump it",
    "please don't mock the payment gateway in integration tests, use the sandbox",
    "no, tabs not spaces in this repo",
    "the staging cluster is eu-west-1, prod is us-east-1, don't mix them up",
    "oh and feature flags live in flags.yaml, not in code",
    "don't hardcode colors, they come from theme.ts",
    "stop adding comments that just repeat the code",
    "all times in the db are UTC, convert only in the view",
    "never force-push to release branches",
    "we squash merge, so keep the PR title clean",
    "the linter config is shared with the other repos so don't touch .eslintrc",
    "let's keep the old endpoint alive: the Android app before 4.2 still calls it",
    "I prefer small commits, one per logical change",
    "use pathlib instead of os.path please",
    "you have to run `make proto` after touching anything in api/, otherwise the client is stale",
    "the CI runner only has 4 GB, so the big fixtures must not run there",
    "nope, that's not how we name migrations. timestamp prefix, then snake_case",
    "we decided against GraphQL, the mobile team doesn't have the capacity",
    "redis is only a cache here, nothing in there may be the source of truth",
    "docs are British English",
    "errors go to Sentry, not to the log",
    "the customer wants dates as DD.MM.YYYY everywhere in the UI",
    "that table is huge, always add a limit when you query it",
    "no new dependencies without asking me, legal has to check the licence",
    "our API returns 422 for validation errors, never 400",
    "secrets come from vault, nothing goes into .env",
    "you can't use async there, the firmware SDK isn't thread safe",
    "the e2e suite needs the mock server on port 9999 first",
    "tests: pytest, not unittest",
    "for this project write the docstrings in google style",
    "actually no, put it in the shared package, three services need it",
    "we're not supporting IE anymore so drop the polyfills",
    "don't use lodash, the native methods are fine and the bundle is at its limit",
    "when you add an endpoint, also add it to openapi.yaml, the client is generated from it",
    "wrong, the queue is SQS, not RabbitMQ",
    "always ask before you run anything against prod",
    "the numbers in the report are in thousands, don't divide again",
    "keep functions under 50 lines, reviewers here are strict about it",
    "コミットメッセージは英語でお願いします",
    "テストは必ず Docker の中で流してください。ローカルの Node は古いので",
    "DBのマイグレーションは手で書かないで、prisma migrate で生成して",
    "本番のバケットは読み取り専用だから書き込まないこと",
    "いや、日付は ISO 8601 で統一してる",
    "違う、そのAPIは廃止予定だから v2 の方を使って",
    "ログに個人情報は出さないで。監査で引っかかる",
    "うちのチームは関数コンポーネントしか使わない",
    "型は any 禁止、unknown にして絞り込む",
    "環境変数は .env.local じゃなくて Doppler から取ってる",
    "このリポジトリは pnpm。npm install するとロックが壊れる",
    "CSSはTailwindに寄せてるので、styled-components は増やさない方向で",
    "ステージングは毎朝6時にリセットされるから、テストデータは残らない",
    "金額は税抜で持つ方針です",
    "レビューは必ず2人。セルフマージはなし",
    "画像は WebP のみ。PNG はビルドで弾かれる",
    "そうじゃなくて、エラーはトーストじゃなくてフォームの下に出す仕様",
    "文字コードは Shift_JIS のまま残して。取引先のシステムが UTF-8 を読めないため",
    "キャッシュのTTLは300秒まで。それ以上だと在庫がずれる",
    "APIのレスポンスは camelCase、DBは snake_case で",
    "既存のマイグレーションは触らないでね、本番に適用済みだから",
    "ポート 8080 は社内プロキシが使ってるので 18080 にしてます",
    "デプロイは金曜にはしない決まりになってる",
    "テスト用のアカウントは自動で消えるから、毎回 seed を流してから始めて",
    "btw the camera firmware is built with arm-none-eabi-gcc 10.3, newer ones break the bootloader",
    "hold on, that's the legacy config. the real one is in deploy/values-prod.yaml",
    "ah no. we never store card numbers, only the token from the PSP",
    "make sure every new screen has a loading state, design is picky about that",
    "the unit is millimetres, not inches",
    "one rule here: no business logic in controllers",
    "for translations we only touch en.json, the others come from Lokalise",
    "don't rely on the order of that list, the server shuffles it",
    "i want the summary at the top of the report, not at the end",
    "k but use the existing Money class, floats got us into trouble last year",
    "Windows users have no symlinks, so copy instead",
    "the rate limit is 60 requests per minute per key",
    "we ship every second Thursday",
    "you need node 20 for this, nvm use does it",
    "backups are in s3://acme-backups/nightly",
    "our customers are on PHP 7.4 so no enums",
    "integration tests talk to a real kafka, start it with make kafka",
    "the old parser stays until the importer is rewritten, two teams depend on it",
    "we went with server-side rendering for SEO",
    "please answer in German when I write German",
    "デプロイ前に必ず make smoke を通すこと",
    "フロントの状態は zustand で持つ。Redux は消していく方針",
    "この関数は副作用なしで書いて。テストが並列で走るから",
    "あ、それはダメ。顧客データを dev に持ってこない決まりなので",
    "設定ファイルは config/ 以下に全部まとめてある",
    "バッチは毎日 2:30 に回るので、その時間は再起動しないで",
    "数字は半角、単位の前にスペースを入れる",
    "ESLint の警告もエラー扱いにしてるので無視しないで",
    "ユーザー向けの文章は「です・ます」で",
    "CI は self-hosted ランナーなので Docker in Docker は使えない",
    "認証は Keycloak に任せてる。自前でトークンを発行しない",
    "その辞書は法務が管理してるので勝手に書き換えないで",
    "リリースノートは日本語と英語の両方が必要",
    "Python は 3.9 まで。本番サーバーが古いので match 文は使えない",
    "書き込みは /dev/ttyUSB1 の方ね。USB0 は別の基板",
    "ボーレートは 921600、115200 だと途中で切れる",
    "センサーは 3.3V 系だから 5V につながないで",
    "実機は rev C で、rev B とはピン配置が違う",
    "リトライは3回まで。それ以上は電池がもたない",
    "malloc は使わない、静的に確保する",
    "割り込みの中では printf しない",
    "ログは UART じゃなくて RTT に出してる",
    "測定間隔は 10 秒でいこう。5 秒だと自己発熱で値がずれる",
    "CRC エラーのときは前回値を返すことにする",
    "そこは float じゃなくて固定小数点で",
    "変数名はハンガリアンにしてないので普通のスネークケースで",
    "ヘッダのコメントは Doxygen 形式",
    "ビルドは idf.py じゃなくて make build 経由でやって、環境変数を読み込むので",
    "本番の証明書は別リポジトリにある",
    "テナントIDは必ず UUID v7",
    "請求書の番号は欠番を出せない。監査で説明できないので",
    "在庫の引き当ては注文確定のタイミングでやる。カート投入時だと死に在庫が増える",
    "検索は Elasticsearch をやめて Postgres の全文検索にする、運用できる人がいない",
    "一覧のデフォルトは更新日の降順",
    "単体テストはモックでいいけど、結合テストは実DBで",
    "keep the alarm at 5 messages, anything lower pages us at night for nothing",
    "no dlq for the audit stream, we'd rather block than lose an event",
    "go with the managed one, nobody here wants to patch brokers",
    "stick to one region, compliance hasn't signed off on the second",
    "leave the retries at 3, the upstream bans us after 5",
    "I'd keep it boring: a cron job and a table",
    "we can live with eventual consistency there",
    "terraform state is in the infra bucket, workspace per env",
    "never apply from your laptop, only through the pipeline",
    "tags are mandatory, the finops job deletes untagged stuff",
    "names are env-service-purpose, lowercase with dashes",
]
OTHER = [
    "can you add a button to the settings page",
    "the button is misaligned on mobile",
    "ok go ahead",
    "thanks, looks good",
    "rename it to fetchUser",
    "make it 1.9",
    "why is this so slow?",
    "run the tests again",
    "hmm it still fails",
    "try it with a smaller batch size first",
    "let me check with Tom and get back to you",
    "what about the other file",
    "push it",
    "yes please",
    "now do the same for the footer",
    "I think the problem is in the parser",
    "the page crashes when I click save",
    "it works now",
    "can you explain what this function does",
    "don't commit yet",
    "don't worry about the tests for now",
    "leave that for tomorrow",
    "skip the docs for now",
    "sorry, wrong file",
    "i restarted the server, try again",
    "nice, that was fast",
    "show me the diff",
    "add a test for the empty case",
    "the build is red since this morning",
    "i'm not sure if we need this",
    "maybe we should use a map here",
    "that's odd, it worked yesterday",
    "use the second option",
    "ok then remove the flag and update the readme",
    "could you also look at the failing job",
    "lgtm, merge it",
    "just delete it",
    "i'll do the deploy myself",
    "give me a minute, I have to restart docker",
    "the test is flaky, rerun it",
    "please split the file into three",
    "お願いします",
    "ありがとう、助かった",
    "テスト流してみて",
    "ボタンの色を青に変えて",
    "なんでこれ失敗してるの？",
    "いったんこのままでいいです",
    "あとで直すので今は無視して",
    "ログインできないって報告が来てる",
    "その関数の名前を変えて",
    "OK、マージして",
    "もう一回やって",
    "今日はここまで",
    "この画面の表示がずれてます",
    "ちょっと待って",
    "それでいい",
    "型エラーが出てるので直して",
    "テストが落ちてる。原因調べて",
    "次はフッターもお願い",
    "READMEに使い方を書いて",
    "進捗どう?",
    "じゃあそれで",
    "I need a script that reads the csv and writes a chart per region",
    "hi! the export button does nothing when the table is empty, can you check src/export.ts",
    "here is the log, what does it mean",
    "looks like the migration ran twice",
    "it's the third line from the top",
    "yeah the second screenshot shows it",
    "add pagination to the users endpoint, 50 per page",
    "move the helper into utils and export it",
    "the test passes locally but not in CI",
    "can we make the font a bit bigger",
    "great, now let's do the invoices",
    "I see, so the cache was stale",
    "undo that last change",
    "not that one, the other one",
    "ok the numbers match now",
    "please have another look at line 40",
    "we need to fix the login bug first",
    "we have a problem with the new build",
    "i'll be back in ten minutes",
    "how long will that take",
    "sure, do both",
    "the reviewer asked for a smaller diff",
    "write a short description for the PR",
    "set the timeout to 30 seconds",
    "I changed the title, take a look",
    "try removing the cache directory",
    "what would you recommend",
    "the customer called again about the invoice",
    "let's go with the first option",
    "hmm, 3 of the 12 files are still wrong",
    "that's better but the spacing is off",
    "サーバーを再起動したのでもう一度試して",
    "ここの文言を「保存しました」に変えて",
    "エラーの原因わかった？",
    "さっきの修正で直ってた",
    "CSVの出力機能を追加したいです",
    "このテストだけ実行して",
    "3行目のインデントがおかしい",
    "スクショ送ります",
    "ビルドに5分かかった",
    "この値を20から30に変更してください",
    "先にAPIの方から進めましょう",
    "ファイルを分割して、テストも追加してもらえますか",
    "今のところ問題なさそう",
    "レビューで指摘されたところを直して",
    "ブランチ切って作業して",
    "あと少しで終わりそう",
    "ログを貼ります",
    "値が 0 のままなんだけど",
    "配線は確認した、問題なし",
    "じゃあ2番目の案でお願い",
    "とりあえずコミットして",
    "センサーが反応しない",
    "それ、昨日直したやつだよね",
    "波形を見たけど正常だった",
    "再現手順を教えて",
    "OK 書き込んでみる",
    "もう少し詳しく説明して",
    "テスト全部通った",
    "i flashed it again, same result",
    "ok the alarm fired as expected",
    "the plan shows 3 to add, 1 to change",
    "which one is cheaper",
    "looks like it picked up the wrong profile",
    "can you print the plan again",
    "apply it",
    "good catch",
    "i ran it on my machine and got 12 rows",
    "there are 40 messages in the queue right now",
    "option b",
    "second one please",
    "sounds good",
    "wait, let me check the console",
]


FAULTS_AND_PLANS = [
    # What always happens may be a fault; what happens instead of something else is no decision.
    "The worker always crashes after about 2 hours.",
    "This test never passes on my machine.",
    "soil moisture reads 0 whenever wifi is on.",
    "reminder messages went out at 9 in the morning instead of the evening before.",
    "people in hamburg get danish texts instead of german",
    "Atlantis is stuck on PR 412 with a lock from a PR that was closed ages ago",
    "エラーは必ず3回目のリトライで発生します。",
    "Sidekiq が詰まってます。",
    "承認メールが課長に飛ばないことがある。",
    "氷点下になった朝、温度が 6553.2 度って記録されてた。",
    "--tz の説明が抜けています",
    # Not decided yet, or hearsay.
    "we still haven't decided whether keys should carry over between floors.",
    "someone in the chat wrote that we use riverpod everywhere.",
    "商品ページを React で作るという案が出ていますが、まだ決定ではないです。",
    "分けて送るか一つにまとめるかは水曜の定例で相談するので、まだ決めません。",
    "うちは恒久的な強化はなしの方針だったはず。",
    # Over when it is done.
    "i'll look at the lab book, don't touch C7 before i'm back",
    "stop the dev server and rerun",
    "今週はリリース凍結中なのでマージはまだしないでね",
    "PRは今から自分で出す",
    # About what is seen only in the conversation.
    "このhandler、DB直接触ってるよね。",
    "pushは待って、リモートどこ向いてるか確認して",
    "leave that alone and balance the oil drops on floors 4-6, people run out way too early",
    "not a mutex, not malloc, not logging.",
]


@pytest.mark.parametrize("message", GUIDANCE)
def test_guidance_is_found_and_keeps_its_words(message):
    found = [*(one.text for one in find_guidance(message)), *(one.content for one in find_requests(message))]
    assert found
    assert all(text.split()[-1] in message for text in found)


@pytest.mark.parametrize("message", [*OTHER, *FAULTS_AND_PLANS])
def test_tasks_questions_reports_and_thanks_are_no_guidance(message):
    assert find_guidance(message) == []


@pytest.mark.parametrize(
    ("message", "kind", "text"),
    [
        ("No, don't edit migrations, they ran in prod.", "correction", "don't edit migrations, they ran in prod."),
        ("That's wrong. The queue is SQS, not RabbitMQ.", "correction", "The queue is SQS, not RabbitMQ."),
        ("ok. うちはコミットメッセージは英語。", "convention", "うちはコミットメッセージは英語。"),
        ("違う、設定は config/app.toml に置くこと。", "correction", "設定は config/app.toml に置くこと。"),
        ("そうじゃなくて、日付は UTC で持つ。", "correction", "日付は UTC で持つ。"),
        ("we decided against GraphQL", "decision", "we decided against GraphQL"),
        ("the test db listens on 5544", "environment", "the test db listens on 5544"),
    ],
)
def test_the_words_at_the_beginning_tell_a_correction_and_are_left_out(message, kind, text):
    assert [(one.kind, one.text) for one in find_guidance(message)] == [(kind, text)]


def test_the_sentence_that_explains_stays_with_what_it_explains():
    (found,) = find_guidance("keep the file in Shift_JIS. otherwise their system cannot read it. rename it")
    assert found.text == "keep the file in Shift_JIS. otherwise their system cannot read it."
    (found,) = find_guidance("リトライは3回まで。それ以上は電池がもたない。ありがとう")
    assert found.text == "リトライは3回まで。 それ以上は電池がもたない。"


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (
            "exit codes matter, people script this: 0 nothing found, 1 duplicates, 2 error. dont change those",
            "exit codes matter, people script this: 0 nothing found, 1 duplicates, 2 error. dont change those",
        ),
        ("add both, texts live in locales/*.json", "texts live in locales/*.json"),
        ("写真は長辺1600pxに縮小してから送ること。", "写真は長辺1600pxに縮小してから送ること。"),
    ],
)
def test_a_rule_has_the_words_that_it_is_about_and_no_task(message, text):
    assert [one.text for one in find_guidance(message)] == [text]


def test_what_to_use_instead_stays_with_what_is_forbidden():
    message = "docker isn't allowed on this laptop. use the shared dev postgres on pgdev.intern"
    assert [one.text for one in find_guidance(message)] == [message]


def test_an_answer_with_a_reason_decides_what_was_asked():
    answer = "staging. three marts read from it, and nobody wants the same query three times"
    assert find_guidance(answer) == []
    (found,) = find_guidance(answer, is_answer=True)
    assert (found.kind, found.text) == ("decision", answer)
    for other in ("yes please, go ahead", "ok", "sure, do both", "はい、お願いします"):
        assert find_guidance(other, is_answer=True) == []


def test_the_first_message_states_a_task_and_only_general_words_count():
    assert find_guidance("the export reads from `orders.csv` and the totals are off", is_first=True) == []
    (found,) = find_guidance("find out why. hands off the raw tables, they are append-only", is_first=True)
    assert found.text == "hands off the raw tables, they are append-only"


def test_quoted_lines_and_code_are_not_the_persons_words():
    assert find_guidance("> never use npm here\nwhat does this mean?\n```\n# always use npm\n```") == []


@pytest.mark.parametrize(
    ("sentence", "refuses", "rest"),
    [
        ("no co-author trailer please", False, "no co-author trailer please"),
        ("No, use X", True, "use X"),
        ("ok, no: use X", True, "use X"),
        ("いや、X にして", True, "X にして"),
        ("now use X", False, "now use X"),
    ],
)
def test_a_refusal_is_told_from_other_words_with_no(sentence, refuses, rest):
    assert strip_lead(sentence) == (refuses, rest)
