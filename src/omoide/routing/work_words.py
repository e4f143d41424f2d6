"""Words of talk about any software: they are no sign that a message is about something else than the current project. Pure.

Beside `everyday_words`, which hardly tell projects apart either: these do tell them apart where only one project uses them.
"""

from functools import cache

from omoide.retrieval import analyzer

_ENGLISH = """
abort abstract access accessor account admin agent ah aha ahead alert algorithm alias allocate alternative annotation
apache approach architecture archive argument arrow assert assertion asset assign async asynchronous attach attribute
audit auth authentication author auto automatic avatar await aws azure backend background backlog backtrace backup badge
banner baseline batch benchmark bigger binary bind blank block blocker blog body boilerplate bool boolean boot border bot
boundary box bracket breakpoint broke broken browser buffer build built bulk bullet bundle byte cache callback came camel
cancel caption capture career cast catch category cause cell certificate chain changelog channel char character chart chat
checkbox checklist checkout checkpoint checksum child chore chunk cleaner cleanup clearer cli click clipboard clone cloud
cluster codebase collapse collection collision comma comment commit compact compare compatible compile compiler component
compress concat concurrency condition conditional confirm conflict connect connection console constant constraint
constructor container content context contract convention conversion convert cookie cool copy core count counter coverage
cpu crash cron crop cursor custom customize daemon dark dashboard dead deadline deadlock debounce debug decode decorator
default define definition delay delimiter dependency deprecate deprecated describe description design desktop destroy
detail detect developer device diagram dialog did diff digit dimension directory dirty disable disk dispatch display doc
docker docs documentation domain downgrade download draft drag draw driver dropdown dry dummy dump duplicate duration
dynamic easier edge editor element email embed emit emoji enable encode encoding encrypt engine enum env environment equal
escape estimate evaluate event exact exception exclude execute exit expand expected experiment explanation explicit export
expose expression extend extension extract factory failure fallback false faster fatal favicon feedback fetch figma
filename filter fixture flag flaky flash flat flicker float flow focus folder footer footnote forbidden forgot forgotten
fork formatter formula found frame framework freeze frequency frontend gateway gave generate generator generic getter
github gitlab glob global glue got grammar graph green grep grid guard guide haha handler hang hardcode hardcoded hash
header heading headline height helper hint history hm hmm hook host hotfix hover huh icon id identical identifier ignore
image immutable implement implementation implicit import inconsistent increment indent indentation index inherit initial
initialize inject inline input insert inspect install instance instruction int integer integration interface internal
interval invalid investigate invite invoke issue iterate iteration jira join json kept kernel keyboard keyword kill label
lag lambda landing language laptop latency layer layout leak legacy length library license lint linter listen listing
literal load loader local locale localhost location logger logic login logo logout lol longer lookup lost lower lowercase
macro made manager manifest map margin markdown mask match meant meh memory mention menu merge meta metadata metric
middleware migrate migration milestone minimal minor mirror missing mobile mock modal mode model modify monitor mount
mouse multiple mutex nah namespace naming native navigate navigation nested network newer newline nicer node nope
notification notify null nullable object offline offset oh older online oops operator optimization optimize orm os output
overflow overlap overlay override overwrite padding pagination panel panic parallel param parameter parent parse parser
partial password paste patch path pattern pause payload percent perf performance permission persist phase ping pipe
pipeline pixel placeholder platform plugin pointer poll pool popup port prefix preset preview primary private prod
production profile program programming prompt property proposal protocol prototype provider proxy prune quality query
queue quota quote race ram ran range rate raw readme rebase rebuild record recursion recursive red redirect refactor
reference refresh regex regexp region register registry regression reject related relative reload remote render repository
repro reproduce resize resolve resource response responsive restart restore retry reuse revert reviewer revision rewind
role rollback rollout root rotate round route router routing ruby runner runtime said sample sandbox sanitize saw scale
scan schedule schema scope screen screenshot scroll sdk search secret section security seed segment selector semicolon
sent sequence serialize service session shadow shorter sidebar sign signature silent similar simpler skeleton skip slash
sleep slice slider slot slower smaller snake snapshot snippet socket software sort source spacing spawn spec specification
spike spinner sprint squash ssh stack stage staging stale standalone startup stash statement static statistic status
stderr stdin stdout storage story stream strict struct structure stub style stylesheet submit submodule substring subtitle
success suffix suggestion suite summary support sure suspend swap symbol symlink sync synchronize syntax system tag target
tech temp template temporary tenant terminal thought thumbnail tidy timeline timeout timer timestamp timezone toggle told
toml took tool toolbar tooltip trace traceback traffic trailing transaction transform transition translation tree trigger
trim true truncate tuple tutorial type typescript typo ugh ui um unclear undefined underscore undo unexpected unicode
uninstall unique unit unknown unnecessary unused upgrade upload uppercase upstream url usage utf util utility uuid vague
valid validate validation variant vendor verbose verify vertical view viewport violation virtual visible volume warn
warning watch webhook weight went whitespace widget width wiki wildcard wip wire wording worker workflow workspace wow
wrap wrapper written wrote xml yaml yeah yep yup zero zip
"""
_JAPANESE = """
誤字 脱字 差分 関数 変数 引数 定数 例外 警告 構文 命名 改行 空白 括弧 既定 初期 分岐 繰返 再帰 配列 文字 数値 整数 真偽
正規 表現 設計 要件 依存 環境 構築 検証 開発 接続 通信 認証 権限 応答 要求 遅延 負荷 性能 速度 容量 上限 下限 制限 詳細
履歴 復元 移行 通知 集計 件名 本文 見出 段落 箇条 書式 整形 短縮 省略 整理 分割 結合 共通 重複 手順 要約 例示 提示 指示
指定 指摘 代替 別案 原案 最新 最低 最高 現状 前提 目的 目標 課題 対策 対処 暫定 恒久 根本 再現 再度 再実 再起 再試 行数
行目 行末 行頭 先頭 末尾 途中 直前 直後 前後 上記 下記 左右 上下 右側 左側 構造 構成 階層 親子 継承 参照 返値 戻値 値段
初回 型定 型推 宣言 定義 代入 演算 評価 解析 変換 置換 抽出 検出 除外 無視 許可 拒否 承認 申請 提出 送付 添付 圧縮 解凍
暗号 署名 証明 監視 障害 復旧 停滞 並列 並行 同期 非同 排他 競合 衝突 破損 欠落 不正 不備 不整 整合 一致 不一 互換 適用
反映 有効 無効 切替 切り 切れ 見直 見積 工数 納期 締切 優先 順位 分担 議事 議題 仕掛 残件 残課 単体 自動 手動 静的 動的
網羅 品質 保守 改修 改良 追記 注釈 注記 補足 脚注 目次 索引 用語 文法 文体 図表 画像 動画 音声 端末 機種 回線 帯域 電源
起動 再生 描画 余白 配色 背景 文書 英訳 和訳 原文 訳文 既読 未読 未定 未完 未使 済み 処置 処分 設問 設置 論理 物理 仮想
実体 実験 試験 試作 試行 計測 測定 指標 閾値 係数 平均 合計 総数 差異 誤差 精度 確率 乱数 統計 分析 学習 推論 予測 分類
本番 開発者 利用者 管理者 担当者 作業者 依頼者 コメント クラス メソッド モジュール パッケージ ライブラリ フラグ オプション
パラメータ パラメーター デバッグ コンパイル クラッシュ タイムアウト リトライ キャッシュ クエリ スキーマ マイグレーション
インデックス トランザクション ロールバック ビルド リポジトリ プルリク プルリクエスト イシュー スプリント リファクタ
リファクタリング ドキュメント マニュアル サンプル テンプレート フォーマット レイアウト デザイン スタイル アイコン フォント
カラー メニュー フォーム モーダル ダイアログ ポップアップ サイドバー ヘッダー ヘッダ フッター スクロール クリック タップ
ログイン ログアウト パスワード アカウント トークン セッション クッキー リクエスト レスポンス エンドポイント サーバ
クライアント ブラウザ ブラウザー ネットワーク ポート ホスト ドメイン プロキシ コンテナ イメージ クラスタ クラスター ノード
ジョブ バッチ キュー ワーカー スレッド プロセス メモリ メモリー ディスク ストレージ バックアップ アップロード ダウンロード
インストール アップデート アップグレード ダウングレード プラグイン フレームワーク コンポーネント インターフェース
インターフェイス オブジェクト インスタンス プロパティ フィールド カラム レコード ループ ソート フィルタ フィルター
パーサー パーサ バイト ビット エンコード デコード ハッシュ シリアライズ ライセンス バージョン スクリプト コマンド
ターミナル シェル コンソール エディタ エディター ショートカット バグ スタック トレース スタックトレース アラート
メトリクス ダッシュボード モニタリング パフォーマンス チューニング ボトルネック ベンチマーク カバレッジ モック スタブ
フィクスチャ スナップショット アサーション リンター フォーマッタ フォーマッター ワークフロー パイプライン ステージング
デフォルト カスタム ラベル プレビュー スクリーンショット サムネイル アプローチ ステップ フェーズ アイデア プロンプト
コンテキスト エージェント プログラミング ソース ソースコード ファイル名 インデント セクション
"""


@cache
def work_words() -> frozenset[str]:
    """Return the words: Japanese as they are written, English by their stems."""
    return frozenset((*map(analyzer.stem, _ENGLISH.split()), *_JAPANESE.split()))
