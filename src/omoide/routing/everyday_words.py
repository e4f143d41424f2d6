"""Words of everyday talk about any work: they hardly tell what a message is about. Pure.

In a small store few memories contain them, so that their rarity among projects says too much.
"""

from functools import cache

from omoide.retrieval import analyzer

_ENGLISH = """
able accept actually add almost along already although always another answer anymore anyway apart api app appear apply
april array ask august bad base bash basic become begin behave behind believe better big bit bottom branch break bring
broken bug button call card care carry case cause certain chance change check class clean clear client close code color
colour column come command commit common complain complete concept config confirm contain continue correct cover create
css current customer cut data database date day deal december decide decision delete deploy describe difference
difficult directly document done double drop early easy edit eight either eleven else email empty end endpoint enough
entry error especially exactly example except exist expect expire explain extra fact fail fall far fast feature february
feel field file fill final fine finish five fix fixed follow font force forget form format forward four friday friendly
full fun function general git go great group guess half handle happen hard hear hello hi hide hold hour html http
hundred idea important include inside instead issue item january job join july june keep key large late later latest
leave left less level limit line link linux list little live lock log long longer look loop lose low mail main maintain
manage manual march matter maximum mean measure merge message method middle mind minimum minute miss missing mix module
monday month morning move name near nearly never next nice night nine note nothing notice november number october often
ok old open option order original outside owner package page paragraph part pass people perfect person pick piece place
plain plan point policy possible post prefer prepare present pretty prevent print probably problem process project
proper propose provide public publish pull purge push put question quick quiet quite random read ready real really
reason receive refer release remain remember remove rename repeat replace reply repo report request require rerun reset
rest result return review rewrite right row rule run safe saturday save script second seem select send sentence separate
september server set setting seven share shell short shown side simple single six size slow small smaller somebody
somewhere soon sorry space special split sql stand start state stay step stop store strange string stuff sunday sure
switch tab table task team ten term test text thank there thousand thread three thursday ticket time title today
together token tomorrow tonight top topic touch tuesday turn twelve twice understand unless update user usually value
variable version vim wait web website wednesday week weekend weird whole window without word work world worry write
wrong year yes yesterday
"""
_JAPANESE = """
確認 設定 変更 追加 表示 修正 作成 対応 問題 場合 必要 使用 利用 管理 更新 削除 実装 処理 機能 画面 一覧 結果 内容 情報
方法 理由 原因 状態 全部 全体 一部 部分 最初 最後 最大 最小 今回 前回 次回 今日 明日 昨日 今週 来週 先週 今月 来月 先月
今年 去年 来年 毎日 毎週 毎月 毎回 時間 時期 期間 期限 予定 連絡 相談 報告 説明 質問 回答 返信 依頼 希望 提案 検討 決定
方針 仕様 運用 担当 関係 影響 注意 大丈夫 可能 不要 自動 手動 簡単 複雑 最近 以前 以降 以下 以上 未満 程度 件数 個数
人数 回数 名前 番号 文字 文言 文章 言葉 日本 英語 意味 種類 形式 順番 順序 位置 開始 終了 停止 再開 完了 失敗 成功 実行
起動 動作 入力 出力 保存 読込 送信 受信 取得 登録 選択 検索 比較 判定 計算 調整 改善 統一 禁止 対象 条件 新規 既存 現在
当日 前日 翌日 午前 午後 木曜 月曜 火曜 水曜 金曜 土曜 日曜 公開 共有 記録 参照 存在 発生 準備 作業 仕事 会議 資料 案内
ページ ファイル フォルダ データ エラー テスト コード メール メモ リスト ボタン タイトル テキスト メッセージ バージョン
リリース デプロイ プッシュ コミット マージ ブランチ チェック パス キー タグ ログ リンク サイト アプリ サービス システム
プログラム ツール モード チャンネル プロジェクト チーム ユーザー スケジュール タスク サイズ チケット パターン ケース
コメント レビュー カード テーブル レコード モデル ルール デフォルト サーバー ok
"""


@cache
def everyday_words() -> frozenset[str]:
    """Return the words: Japanese as they are written, English by their stems."""
    return frozenset((*map(analyzer.stem, _ENGLISH.split()), *_JAPANESE.split()))
