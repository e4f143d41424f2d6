"""Generate notes that are similar to each other, as an agent's are: few sentence patterns, many services and figures."""

import random

_ENGLISH_WORDS = """
service: billing | checkout | catalog | search | ledger | payments | inventory | shipping | notifications
service: identity | sessions | reporting | pricing | coupons | reviews | webhooks | exports | invoices | refunds
service: audit | gateway | scheduler | media | profiles
file: src/api/routes.py | src/db/pool.py | src/core/retry.py | src/auth/tokens.py | src/jobs/nightly.py
file: src/http/client.py | config/production.yaml | config/staging.yaml | deploy/values.yaml
file: migrations/0042_index.sql | tests/test_contract.py | scripts/release.sh | docker/Dockerfile | docs/runbook.md
file: src/cache/keys.py | src/models/order.py
person: Alice | Bob | Carol | Dmitri | Emeka | Fatima | Grace | Hiro | Ingrid | Jonas | Kavya | Liam | Mei | Noah
person: Olga | Priya
day: Monday | Tuesday | Wednesday | Thursday | Friday | Saturday | Sunday
tool: PostgreSQL | Redis | Kafka | RabbitMQ | Elasticsearch | MinIO | Vault | Consul | Envoy | Prometheus
reason: the old one timed out under load | two customers reported stale prices | the audit asked for it
reason: retries made the outage worse | the nightly job overlapped with the backup
reason: nobody could reproduce the failure | the contract tests were flaky | it doubled the cost of the cluster
reason: the alert fired every night
"""
_ENGLISH = """
The {service} service keeps its connection settings in {file}; the pool has {number} connections and the timeout is
{other} seconds. {person} changed it on {day} because {reason}.

Decision: the {service} service uses {tool} instead of an own table since release {number}.{other}, because {reason}.
Ask {person} before changing {file}.

When a deploy of {service} fails at step {number}, look at {file} first and roll back with make rollback; {person} saw
this on {day} after {other} minutes of errors, and {reason}.

Tests of the {service} service need {tool} on port {number}; start it with docker compose and wait {other} seconds.
They are skipped in CI on {day}, since {reason}.

Do not edit {file} by hand: it is generated for {service} by the release script, version {number}.{other}. {person}
lost a change on {day} and {reason}.

The alert on {service} fires when more than {number} requests wait for {tool} longer than {other} ms. {person} set the
limits in {file} because {reason}.

Follow-up for {person}: move the {service} queue from {tool} to the shared cluster until {day}; {number} consumers and
{other} topics are left, see {file}. Reason: {reason}.

The nightly job of {service} runs at {number}:{other} UTC, reads {file} and writes to {tool}; on {day} it is skipped.
{person} owns it. Background: {reason}.
"""
_JAPANESE_WORDS = """
service: 決済 | 在庫 | 配送 | 通知 | 認証 | 検索 | 会計 | 請求 | 予約 | 顧客 | 商品 | 価格 | 返金 | 監査 | 集計
service: 画像 | 会員 | クーポン | レビュー | メール
file: src/api/routes.py | src/db/pool.py | src/core/retry.py | src/auth/tokens.py | config/production.yaml
file: deploy/values.yaml | migrations/0042_index.sql | scripts/release.sh | docs/runbook.md | src/cache/keys.py
person: 田中 | 佐藤 | 鈴木 | 高橋 | 伊藤 | 渡辺 | 山本 | 中村 | 小林 | 加藤 | 吉田 | 山田
day: 月曜 | 火曜 | 水曜 | 木曜 | 金曜 | 土曜 | 日曜
tool: PostgreSQL | Redis | Kafka | RabbitMQ | Elasticsearch | MinIO | Vault | Envoy
reason: 以前の構成では負荷が高いときにタイムアウトした | 顧客から古い価格が表示されると報告があった
reason: 監査で指摘を受けた | 再試行が障害を悪化させた | 夜間処理がバックアップと重なっていた
reason: 原因を誰も再現できなかった | 契約テストが不安定だった | クラスタの費用が二倍になった | 毎晩警告が鳴っていた
"""
_JAPANESE = """
{service}サービスの接続設定は {file} にあり、プールは{number}接続、タイムアウトは{other}秒です。{reason}ため、
{day}に{person}さんが変更しました。変更するときは必ず負荷試験を行ってください。

決定事項：{service}サービスはリリース{number}.{other}から独自のテーブルではなく {tool} を使う。理由は、{reason}
ため。{file} を変更する前に{person}さんに確認すること。

{service}のデプロイが手順{number}で失敗したら、まず {file} を確認し、make rollback で元に戻す。{day}に{person}さ
んが{other}分間のエラーのあとで気づいた。{reason}ことが背景にある。

{service}サービスのテストには {tool} がポート{number}で必要です。docker compose で起動して{other}秒待ちます。
{reason}ので、{day}の自動テストでは省略しています。

{file} を手で編集しないこと。{service}用にリリーススクリプトのバージョン{number}.{other}が生成している。{day}に
{person}さんの変更が失われた。{reason}。

{service}の警告は、{tool} を{other}ミリ秒より長く待つリクエストが{number}件を超えると鳴る。{reason}ため、
{person}さんが {file} で上限を設定した。

{person}さんへの引き継ぎ：{service}のキューを{day}までに {tool} から共有クラスタへ移す。残りは{number}個のコンシ
ューマと{other}個のトピックで、詳細は {file} を参照。{reason}。

{service}の夜間処理は{number}時{other}分に始まり、{file} を読んで {tool} に書き込む。{day}は実行しない。担当は
{person}さん。{reason}ことが理由。
"""


def similar_notes(language: str, notes: int, seed: int = 11) -> list[str]:
    """Generate different notes, each from one of eight patterns; each shares most of its words with hundreds of others."""
    generator = random.Random(seed)
    words, patterns = (_ENGLISH_WORDS, _ENGLISH) if language == "en" else (_JAPANESE_WORDS, _JAPANESE)
    slots = _slots(words)
    sentences = [sentence.replace("\n", " " if language == "en" else "") for sentence in patterns.strip().split("\n\n")]
    generated: dict[str, None] = {}
    while len(generated) < notes:
        chosen = {name: generator.choice(values) for name, values in slots.items()}
        sentence = generator.choice(sentences)
        generated[sentence.format(number=generator.randrange(1, 24), other=generator.randrange(1, 60), **chosen)] = None
    return list(generated)


def _slots(words: str) -> dict[str, list[str]]:
    """Parse what can fill each slot of a pattern, from lines such as `service: billing | search`."""
    slots: dict[str, list[str]] = {}
    for line in words.strip().splitlines():
        name, _, values = line.partition(": ")
        slots.setdefault(name, []).extend(values.split(" | "))
    return slots
