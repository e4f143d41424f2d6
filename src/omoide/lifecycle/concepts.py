"""Words of software work that mean the same or belong to the same matter, in English, in code and in Japanese. Pure.

An agent follows a memory in other words than its own, and often only in code: 巻き戻し is `down` in a migration, and
"missing" is `None`. Each entry below is a matter with the words that show it.
"""

from collections.abc import Container
from functools import cache, lru_cache

from omoide.retrieval import analyzer

_CONCEPTS = """
retry attempt backoff tenacity resend redeliver tries | 再試行 リトライ やり直 再送
rollback revert undo down reversible rewind | 巻き戻 切り戻 ロールバック 元に戻 戻す
duplicate twice idempotent unique uniqueness dedupe distinct deduplicate integrityerror upsert conflict | 重複 二重
    冪等 何度 一意 同じ; encrypt unencrypted decrypt cipher age gpg kms aes aes256 sse ciphertext | 暗号 復号
utc timezone tz zone jst tokyo zoneinfo setzone gmt | 日本時間 タイムゾーン 標準時 時差
log logger logging print stdout stderr println printf console eprintln slog syslog | ログ 標準出力 出力
test spec assert expect pytest vitest jest rspec junit unittest assertequal | テスト 試験
missing none null nil nan na absent empty blank unknown optional isnan undefined void | 欠測 欠損 空欄 未定 不明
    未設定 空の わからな; round rounding floor ceil truncate | 端数 切り捨て 切り上げ 四捨五入 丸め
translation translate i18n l10n locale catalogue catalog localization localizable gettext label wording | 翻訳 文言
    多言語 言語; permission privilege readonly read access role scope grant authorize policy | 権限 読み取り 許可 認可
private ephemeral hidden visibility confidential | 本人 非公開 非表示
queue enqueue worker background async asynchronous job rq celery sidekiq shouldqueue deferred resque | キュー 非同期
    ワーカー ジョブ バックグラウンド; synchronous sync immediately inline straight | 同期 即時 その場
fail failure error exception raise throw crash abort broken err panic unwrap reject | 失敗 例外 エラー 落ち 異常 不正
continue skip carry proceed ignore resume pass | 続け 飛ば スキップ 継続
block sleep wait delay millis nonblocking settimeout | 待 ブロック スリープ
clock now time datetime freeze monotonic timer | 時計 時刻
mock fake stub inject injected substitute replace | モック 差し替え 偽 代役
header useragent forwarded ip remoteaddr x-forwarded-for origin | ヘッダ
limit cap max maximum quota throttle rate ceiling bounded semaphore maxlength at-most | 上限 制限 最大 まで 以内 以下
minimum min least floor | 下限 最低 最小 以上
pin pinned version digest hash sha lock lockfile checksum tag sha256 fixed latest floating | 固定 ハッシュ
    ダイジェスト 版 バージョン タグ; root nonroot runasnonroot uid securitycontext privileged sudo user | 実行ユーザー
probe liveness readiness livez readyz health healthz healthcheck heartbeat | 死活 ヘルス
database db table sql schema query postgres mysql sqlite | データベース テーブル クエリ
column field attribute property | 列 項目 欄 カラム; migration migrate alter ddl migrations | マイグレーション 移行
constraint primary unique foreign check notnull | 制約 主キー; index indexes createindex | 索引 インデックス
cache redis memcached valkey ttl memoize cached | キャッシュ; memory ram heap rss inmemory | メモリ
restart reboot bounce restarted | 再起動; reload hup graceful | 再読み込み リロード
certificate cert ca tls ssl letsencrypt https crt pem | 証明書 認証局
password secret credential token apikey vault env getenv environ | 鍵 秘密 パスワード 環境変数 認証情報
backup dump archive snapshot restore | バックアップ 控え
delete remove drop destroy purge erase truncate unlink | 削除 消 破棄
keep retain preserve leave untouched unchanged stay | 残 維持 触ら 保持 そのまま
approval approve review merge pr reviewer | 承認 レビュー プルリクエスト
deploy apply release publish ship rollout upload register | デプロイ 公開 適用 リリース 反映 登録
money cents amount price currency yen eur usd integer | 金額 円 価格 単価; tax vat gross net | 税 税込 税抜 消費税
exclude omit filter leave without except strip trialing drop | 除外 省 除い 含め 対象外 外し
filename name naming rename basename prefix suffix | 名前 命名 ファイル名 接頭 名称
directory folder path under location mkdir dir | フォルダ ディレクトリ 置く 置き場 以下
date day month iso timestamp strftime week format | 日付 日時 年月 書式
string str dtype text varchar quoted zero leading | 文字列 ゼロ 先頭
integer int number numeric bigint float decimal parseint | 数値 整数 小数
negative minus return refund credit | 返品 マイナス 負 返金
median quartile mean average sd deviation skewed percentile iqr p25 p75 | 平均 中央値 分位
significance pvalue p-value statistic hypothesis values | 有意 検定
caption figure table tabular chart plot legend | 表 図 キャプション 凡例 グラフ
heading section title chapter toc headline | 見出し 章 節 題
notify notification alert alarm warn page slack webhook ping | 通知 警報 アラート 知らせ
mail email smtp mailer mailable sendmail message | メール
validate validation zod yup joi schema verify sanitize pydantic parse | 検証 入力チェック バリデーション
component screen view page jsx template vue form widget | 画面 コンポーネント ページ 部品
confirm confirmation dialog modal sheet prompt | 確認画面 ダイアログ 確認
lint linter clippy eslint ruff rubocop golangci warning denied shellcheck | 警告 静的解析
formatter prettier black gofmt pint ktlint rustfmt | 整形 書式
type typed any typing unknown cast tsc mypy vue-tsc typecheck | 型
request get post put patch response status endpoint route http client | リクエスト 応答 呼び出し
sort order orderby ascending descending | 並べ替え 並び 昇順 降順
pagination paginate cursor offset page limit | ページ送り ページネーション
user visitor customer reader person you member client | 利用者 ユーザー 顧客 会員 読者 お客
personal pii gdpr anonymous privacy birth | 個人 匿名 プライバシー 病名
gpio pin wire port servo sensor | ピン 配線 センサー
config setting configuration parameter tunable asset inspector option | 設定 調整
documentation docs readme document manual wiki adr | 文書 説明書 定義書 ドキュメント 手順書
changelog release notes history | 変更履歴 履歴 リリースノート; commit branch git push stage | コミット ブランチ
dependency package install library requirement module add | 依存 パッケージ ライブラリ 導入
compress zstd gzip zip brotli lz4 | 圧縮
profile profiler cprofile measure benchmark duration slow timing | 計測 測定 遅; boundary edge corner | 境界
preview plan dry-run check diff simulate trial | 差分 試し 下見
concurrency parallel simultaneous connection thread pool | 同時 並列 並行 接続
transaction atomic begin flush savepoint | トランザクション
event outbox kafka emit publish listener broker topic | イベント
regression bug reproduce fix defect | 不具合 再現 修正 直し 直す; singleton shared global static instance | 共有 大域
injection inject constructor di provider container | 注入
schedule cron nightly daily hourly timer oncalendar calendar | 定期 毎日 毎晩 時間帯 夜間 毎時
upload copy transfer rclone send leave export | アップロード 送信 転送 送る 書き出
guess infer assume estimate speculate | 推測 推定 補完 埋め
internals refactoring ci pipeline bump build | 内部 ビルド; recruit recruiting hr candidate hiring | 人事 採用
staging mart raw source ref lineage | 取り込み; trial free subscription churn | 試用 無料
key primary surrogate id identifier uuid serial | キー 主キー 識別子 番号
vulnerability security sanitize escape xss csrf injection | 脆弱 安全
accessibility aria alt contrast wcag | アクセシビリティ 読み上げ; color colour palette theme rgb hex | 色 配色
timeout deadline expire expiry seconds | 期限 タイムアウト 秒; raster vector png svg pdf jpeg webp | 画像
container docker image pod podman | コンテナ イメージ; branch feature flag toggle | フラグ 切り替え
comment docstring explain describe | コメント 説明; array list collection vector slice | 配列 一覧
loop iterate each batch chunk bulk | 一括 まとめ バッチ; reason cause because root | 原因 理由
old legacy deprecated obsolete former | 古い 旧 従来; host server node machine instance | サーバー ホスト 端末
domain url link address dns | ドメイン リンク 宛先; sender from recipient to reply | 差出人 宛先 送信元
screenshot photo image picture | 画像 写真; fixture sample testdata golden reference | 見本 サンプル 試料
production prod live | 本番; development dev local sandbox localhost | 開発 手元 ローカル
staging preprod stg qa | ステージング 検証環境
"""


def concepts_of(text: str, terms: Container[str]) -> list[int]:
    """Return the concepts that a text shows. `terms`: the terms of the text."""
    return [place for place in range(len(_entries())) if shows(place, text, terms)]


def shows(concept: int, text: str, terms: Container[str]) -> bool:
    """Return whether a text, which has these terms, shows a concept."""
    english, japanese = _entries()[concept]
    return any(word in terms for word in english) or (not text.isascii() and any(word in text for word in japanese))


@lru_cache(1_024)
def concepts_of_term(term: str) -> list[int]:
    """Return the concepts of which a term is a word."""
    return [place for place, words in enumerate(_entries()) if term in words[not term.isascii()]]


@cache
def _entries() -> list[tuple[list[str], list[str]]]:
    """The concepts: their words in English, by their stems, and in Japanese."""
    entries = _CONCEPTS.replace("\n    ", " ").strip().replace("\n", ";").split(";")
    halves = (entry.partition("|") for entry in entries)
    return [(list(map(analyzer.stem, english.split())), japanese.split()) for english, _, japanese in halves]
