"""Antonyms: words that reverse a statement when one replaces the other, in English and Japanese."""

from functools import cache

from omoide.retrieval.analyzer import stem

# Groups of words that exclude each other in a statement: opposites, and words of a kind, such as the days of the week.
_ENGLISH = """
    accept reject refuse, add remove delete drop, admin user guest, after before, agree disagree, all some any none
    each, allow deny forbid block prohibit, always never sometimes often rarely, approve decline reject, ascending
    descending, asc desc, async sync asynchronous synchronous, attach detach, available unavailable, back front, begin
    end, best worst, better worse, black white, bottom top, buy sell, cheap expensive, client server, close open,
    closed opened, cold hot warm, comma semicolon tab space, connect disconnect, correct incorrect wrong, create
    destroy delete, daily weekly monthly yearly hourly nightly, day night, debug release, decrease increase, default
    custom, dev prod staging production development test, disable enable, disabled enabled, down up, download upload,
    dynamic static, early late, earlier later, easy hard difficult, empty full, encrypt decrypt, enter exit leave,
    even odd, exclude include, explicit implicit, export import, external internal, fail pass succeed, false true, far
    near, fast slow, first last second third, follow ignore, forward backward, free paid, get set put post, global
    local, good bad, grow shrink, happy sad, head tail, hide show, high low, higher lower, hospital home, in out,
    inner outer, input output, inside outside, install uninstall, join leave, keep discard, large small, big little,
    left right, less more, light dark heavy, load save store, lock unlock, long short, lose win gain, mandatory
    optional required, manual automatic, many few, master slave, max min, maximum minimum, merge split rebase squash,
    modified changed accessed created, modification change access, mount unmount, mutable immutable, new old, newest
    oldest, north south east west, now later, off on, offline online, on under over, one many, optional required, pin
    unpin, plus minus, positive negative, present absent, primary secondary replica, private public, pull push, put
    take, quiet loud verbose, raise lower, read write, receive send, recommended deprecated, relative absolute, rise
    fall, safe unsafe dangerous, same different, serial parallel, set unset, shallow deep, shared exclusive, single
    multiple double, soft hard, source target destination, start stop finish, strict lax, strong weak, subscribe
    unsubscribe, success failure error, symbolic hard, tabs spaces, taken released, thick thin, today tomorrow
    yesterday, tracked untracked, true false, uppercase lowercase, upgrade downgrade, upper lower, use avoid, used
    unused, valid invalid, visible invisible hidden, warning error info, wide narrow, with without, word line
    character, work break, yes no, young old, man woman boy
    person child lady, man boy girl person child lady, cat dog horse bird cow sheep, red
    blue green yellow black white brown orange purple pink gray grey, monday tuesday wednesday thursday friday
    saturday sunday, january february march april june july august september october november december, morning
    afternoon evening night, second minute hour day week month year, bytes kilobytes megabytes gigabytes, file
    directory folder link, summer winter spring autumn
"""
_JAPANESE = """
    有効 無効, 必須 任意, 許可 禁止 拒否, 追加 削除, 開始 終了 停止, 成功 失敗, 同期 非同期, 公開
    非公開, 本番 開発 検証 テスト ステージング, 自動 手動, オン オフ, クライアント サーバ サーバー,
    ローカル リモート グローバル, 昇順 降順, 毎日 毎週 毎月 毎年 毎時, 平日 週末 休日, 最大 最小,
    以上 以下 未満 超, 以前 以後 以降, 前 後, 賛成 反対, 採用 不採用 却下 廃止, 推奨 非推奨, 可能
    不可能 不可, 読み取り 書き込み, ライト ダーク, 静的 動的, アップ ダウン, アップロード ダウンロード,
    インポート エクスポート, 主 副, 先 後, うえ した, まえ あと うしろ, みぎ ひだり, 安全 危険,
    増加 減少, 上昇 下降, 購入 売却, タブ スペース, 午前 午後, 今日 明日 昨日, 有料 無料, 有り
    無し, する しない, ある ない, いる いない, ください 禁止, マージ リベース スカッシュ
"""
# Characters that are opposites inside a word: 昇順 and 降順, 上げる and 下げる.
_CHARACTERS = """
    上下 高低 大小 前後 左右 内外 男女 東西南北 春夏秋冬 朝昼夕夜晩 開閉 増減 強弱 多少 長短 新旧 早遅
    速遅 軽重 明暗 白黒赤青緑黄茶紫灰 入出 始終 開終 有無 可不 正誤 真偽 勝負 売買 貸借 送受 公私 主従副
    昇降 昇順降順 加減 乗降 読書 起寝 立座 押引 着脱 深浅 広狭 厚薄 太細 遠近 古新 良悪 善悪 生死 進退
    最初最後 月火水木金土日 犬猫馬牛羊鳥 父母 兄弟姉妹 親子 秒分時日週月年 必任 許禁 単複 内外 持置 満空
    点消
"""
_ENDINGS = """
    うえ した, まえ うしろ あと, みぎ ひだり, から まで, より まで, あげ さげ, つけ けし, ひら とじ, あり なし
"""


def _split(groups: str) -> list[list[str]]:
    return [group.split() for group in groups.split(",")]


@cache
def _groups() -> dict[str, set[int]]:
    """Return each word with the groups that it is in."""
    found: dict[str, set[int]] = {}
    for place, group in enumerate([*_split(_ENGLISH), *_split(_JAPANESE)]):
        for word in group:
            found.setdefault(stem(word), set()).add(place)
    return found


@cache
def _characters() -> list[set[str]]:
    return [set(group) for group in _CHARACTERS.split()]


def are_opposites(word: str, other: str) -> bool:
    """Whether two words, as stems, are opposites or two of a kind."""
    groups = _groups()
    if groups.get(word, set()) & groups.get(other, set()):
        return True
    pairs = [set(pair) for pair in zip(word, other, strict=False) if pair[0] != pair[1]]
    return len(word) == len(other) and len(pairs) == 1 and any(pairs[0] <= group for group in _characters())


def opposite_endings(one: str, other: str) -> str:
    """Return the opposite words in hiragana by which two texts differ; empty if there are none."""
    for group in _split(_ENDINGS):
        first, second = ([word for word in group if word in text] for text in (one, other))
        if first and second and first != second:
            return f"{first[0]}, {second[0]}"
    return ""
