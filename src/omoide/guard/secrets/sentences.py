"""Secrets with a name: assignments, flags, and sentences in English and Japanese."""

from collections.abc import Iterator

from omoide.guard.secrets import values
from omoide.guard.secrets.names import STEMS, Name, Sort, name_at
from omoide.guard.secrets.patterns import compile_pattern
from omoide.guard.secrets.plausible import HASHED, Value, accepts, is_hopeless, read

_TRIES = 4
"""The number of words of a sentence that are tried."""

# After the name, up to the value, in what is written for machines.
_ASSIGNED = (
    r"(?P<close>[\"'`\])*>]{0,4})\s{0,8}(?:\([^()\n]{1,30}\)|\[[^\]\n]{1,20}\])?[\"'`*]{0,2}\s{0,6}"
    r"(?::\s?[A-Za-z][\w\[\]|.?<> ]{0,40}?\s?(?==[^=>]))?"
    r"(?P<sep>:=|={1,3}>?|=>|:|\||->|→|⇒|,(?=\s{0,2}[\"'])|\((?=[\"'])|(?=[「『【“]))[ \t]{0,20}\**[ \t]{0,4}"
)
_VALUE_BELOW = r"(?:[|>][+-]?)?[ \t]{0,4}\r?\n[ \t]{0,12}(?:[-*>] )?"
_NAMED_VALUE = r"[\"'`]?\s?,?\s{0,2}\n?\s{0,20}[\"']?value[\"']?\s{0,3}[:=]\s{0,3}"
_ELEMENT = r">\s{0,4}(?P<value>[^<>\n]{4,200}?)\s{0,4}</"
_SPACE = r"[\"'`*]{0,2}(?:[ \t]{1,4}|[ \t]?\((?=[!-~]{6,80}\)))"
# In English, up to the value: "for the staging database is now".
_ENGLISH_GAP = r"[^.\n!?;\"`「」]{0,80}"
_COPULA = (
    r"(?i)(?:\b(?:is|was|are|be|to|as|becomes|remains|equals|using|use|used|reads|now)(?: now| currently| still| set"
    r" to| simply| just| again| always"
    r"| to| temporarily| changed to| called| being)?[:,]?|(?<=\w):|\s=)\s{1,2}"
)
_ENGLISH_UNIT = (
    r"(?i)\s{0,2}-?\s?(?:characters?|chars?|days?|minutes?|mins?|seconds?|secs?|hours?|weeks?|months?|years?|digits?"
    r"|letters?|times?|bits?"
    r"|bytes?|or (?:more|longer|fewer)|and (?:above|up)|field|column|table|header|variable|env(?:ironment)?|function"
    r"|method|class|"
    r"module|format|algorithm|hash|hashes|policy|parameter|manager|service|endpoint|file|tokens?|percent|attempts"
    r"|iterations|rounds)\b"
)
_JAPANESE_UNIT = (
    r"\s{0,2}(?:文字|桁|日|分|秒|回|時間|ヶ月|か月|カ月|週|年|件|個|bit|ビット|バイト|以上|以下|未満|種類|つ|台|名|人|円"
    r"|ページ|番目|世代|ラウンド)"
)
_JAPANESE_BELOW = r"[^\n]{0,30}(?:下記|以下|次)(?:の(?:通り|とおり))?[^\n]{0,6}\n\s{0,4}(?:[-・] ?)?(?=[!-~]{8})"
_JAPANESE_ENDING = (
    r"\s{0,2}(?:です|だ(?:った|よ)?|で(?:ログイン|入|接続|認証|す)|に(?:設定|し|変更|なって|なった|使|登録)|として|。|$|\))"
)
_JAPANESE_PLACE = (
    r"\s{0,2}[」』\"'`]?\s{0,2}(?:から(?:読|取|注|渡|復|参照|ロード)|に(?:保存|置|格納|入って|あり|ある|書|記載"
    r"|まとめ|登録|保管|従|準拠|記録|入れ|移)|"
    r"で(?:管理|始ま|ハッシュ|暗号|署名|生成|検証|保護|比較|計算|保存|発行|取得|参照|渡|扱|照合|符号|エンコード|マスク)|"
    r"を(?:参照|見|確認|使って(?:生成|暗号|署名|ハッシュ)|経由)|経由|形式|方式|アルゴリズム|という(?:名前|変数|キー"
    r"|ファイル|環境)|のハッシュ|に基づ|など|ファイル|変数|"
    r"カラム|列|テーブル|フィールド|ヘッダ|フォーマット|版|世代|以降|対応|相当|ベース)"
)
_JAPANESE_TOPIC = (
    r"ハッシュ|保存先|再設定|リセット|忘れ|ポリシー|管理|要件|長さ|期限|変数|ファイル|場所|一覧|担当|入力|画面"
    r"|フォーム|テーブル|カラム|列|項目|フィールド|"
    r"ヘッダ|検証|アルゴリズム|方式|ルール|認証|マネージャ|生成|暗号化|接頭辞|プレフィックス|名前|指紋"
    r"|フィンガープリント|チケット|の件|\bID\b|ローテーション|更新|"
    r"発行|取得|単価|料金|上限|消費|対応|ライブラリ|関数|クラス|メソッド|型"
)
_JAPANESE_PARTICLE = r"(?:は|が|を|に|:|=|、|も|として|には|→|で|\s)[\"'`「『“‘【(\s]{0,3}$"


def find(text: str, lowered: str) -> Iterator[tuple[str, int, int]]:
    """The kind, start and end of every value that its name makes a secret. `lowered` is as long as the text."""
    for stem in STEMS:
        at = lowered.find(stem)
        while at >= 0:
            after = at + len(stem)
            name = name_at(text, at)
            if name is not None:
                after = max(after, name.end)
                value = _secret(text, name)
                if value is not None:
                    yield name.sort.value, value.start, value.end
                    after = max(after, value.end)
            at = lowered.find(stem, after)


def _secret(text: str, name: Name) -> Value | None:
    """The value that the name is given, if it is a secret."""
    if not values.has_candidate(text[name.end : name.end + 160]):
        return _value_before_name(text, name)
    return (
        _assigned_value(text, name)
        or _spaced_value(text, name)
        or _english_value(text, name)
        or _japanese_value(text, name)
        or _value_before_name(text, name)
    )


def _has_unit(text: str, value: Value) -> bool:
    """Whether a unit follows, as in "8 characters": then the value is a number."""
    return bool(
        compile_pattern(_ENGLISH_UNIT).match(text, value.end) or compile_pattern(_JAPANESE_UNIT).match(text, value.end)
    )


def _assigned_value(text: str, name: Name) -> Value | None:
    """The value of an XML element, of a pair of `name` and `value`, or of an assignment."""
    element = compile_pattern(_ELEMENT).match(text, name.end)
    if element is not None:
        inner = Value(*element.span("value"), element["value"], is_quoted=True)
        return inner if accepts(name, inner, is_assigned=True) else None
    named = compile_pattern(_NAMED_VALUE).match(text, name.end)
    if named is not None:
        beside = read(text, named.end())
        return beside if beside is not None and accepts(name, beside, is_assigned=True) else None
    match = compile_pattern(_ASSIGNED).match(text, name.end)
    if match is None:
        return None
    sep, at = match["sep"], match.end()
    below = compile_pattern(_VALUE_BELOW).match(text, at) if sep in (":", "=", "→") else None
    value = read(text, at if below is None else below.end())
    if value is None or _has_unit(text, value):
        return None
    if below is not None:
        return value if _is_convincing_below(value) and accepts(name, value, is_assigned=True) else None
    if sep == "|" and not values.is_strong(value.text):
        return None
    return value if accepts(name, value, is_assigned=True, is_alone=_is_alone(text, name, sep, value)) else None


def _is_convincing_below(value: Value) -> bool:
    """Whether a value on the line below its name looks like a password, not like the next line of a text."""
    return values.is_strong(value.text) and len(value.text) >= 8 and not value.text.endswith(":")


def _is_alone(text: str, name: Name, sep: str, value: Value) -> bool:
    """Whether the line holds nothing else, or the name is written as variables of the environment are."""
    start = text.rfind("\n", max(0, name.start - 40), name.start) + 1 if name.start else 0
    leading = text[start : name.start] if name.start - start < 40 else "…"
    ending = text[value.end : value.end + 2].lstrip(" \t'\";,」』`")[:1]
    if ending not in ("", "\n", "\r", "&", "。", "で", "#", "/"):
        return False
    shouted = text[name.start : name.end].isupper() and sep == "="
    return (
        shouted or not leading.strip(" \t-*>\"'`・#") or leading.strip().lower() in ("export", "set", "env", "arg", "$env:")
    )


def _spaced_value(text: str, name: Name) -> Value | None:
    match = compile_pattern(_SPACE).match(text, name.end)
    if match is None or (name.sort is Sort.PIN and not name.is_flag and len(name.word) < 5):  # a verb, too
        return None
    value = read(text, match.end())
    if value is None or compile_pattern(r"[a-z_-]+=|[A-Z_]+=").match(value.text):
        return None
    if _has_unit(text, value):
        return None
    if name.is_flag:
        return value if accepts(name, value, is_assigned=True, is_alone=True) else None
    if name.is_short and not value.is_quoted and not _is_short_name_of_password(text, name):
        return None
    if compile_pattern(_JAPANESE_PLACE).match(text, value.end):
        return None
    return value if value.text.isascii() and accepts(name, value, is_assigned=False) else None


def _is_short_name_of_password(text: str, name: Name) -> bool:
    """Whether `pass` and the like mean a password here: as `pw`, or after a user."""
    if name.word.endswith("pw"):
        return True
    before = text[max(0, name.start - 60) : name.start]
    return compile_pattern(r"(?i)(?:id|user|login|mail|ユーザー|アカウント)\W").search(before) is not None


def _english_value(text: str, name: Name) -> Value | None:
    if text[name.end : name.end + 1] not in (" ", ",", "'", ")", '"'):
        return None
    gap = compile_pattern(_ENGLISH_GAP).match(text, name.end)
    end = name.end if gap is None else gap.end()
    for tries, copula in enumerate(compile_pattern(_COPULA).finditer(text, name.end, min(len(text), end + 1))):
        between = text[name.end : copula.start()]
        if tries == _TRIES or (name.is_short and len(between) > 1) or compile_pattern(HASHED).search(between):
            return None
        value = read(text, copula.end())
        if value is None or not accepts(name, value, is_assigned=False):
            continue
        if not compile_pattern(_ENGLISH_UNIT).match(text, value.end):
            return value
    return None


def _japanese_value(text: str, name: Name) -> Value | None:
    """「パスワードは…です」「パスワードを「…」に変更した」"""
    end = min(len(text), name.end + 48)
    for stop in "。\n":
        found = text.find(stop, name.end, end)
        if found >= 0:
            end = found
    if text[name.end : end].isascii():
        return None
    below = compile_pattern(_JAPANESE_BELOW).match(text, name.end)
    if below is not None:
        value = read(text, below.end())
        return value if value is not None and accepts(name, value, is_assigned=False) else None
    tries = 0
    for match in compile_pattern(r"(?<![!-~])[\"'`「『“‘【(]?[!-~]{3,}|[「『](?=[^」』\n]{2,40}[」』])").finditer(
        text, name.end, end
    ):
        between = text[name.end : match.start()]
        if tries == _TRIES:
            return None
        if between.isascii():
            continue
        tries += 1
        value = read(text, match.start() + (match[0][0] == "("))
        if value is None or is_hopeless(name, value, is_assigned=False) or not _is_said_of(text, name, value, between):
            continue
        if accepts(name, value, is_assigned=False):
            return value
    return None


def _is_said_of(text: str, name: Name, value: Value, between: str) -> bool:
    """Whether the Japanese words between a name and a value say that the one is the other."""
    if compile_pattern(HASHED).search(between) or not compile_pattern(_JAPANESE_PARTICLE).search(between + " "):
        return False
    if _has_unit(text, value):
        return False
    has_sign = compile_pattern(r"[!#$%^&*?@+~]").search(value.text) is not None
    if values.is_random(value.text) or (has_sign and values.is_strong(value.text)):
        return True
    if compile_pattern(_JAPANESE_PLACE).match(text, value.end) or compile_pattern(_JAPANESE_TOPIC).search(between):
        return False
    return not name.is_short or compile_pattern(r"\s?(?:は|が|:|=|を|、)").match(between) is not None


def _value_before_name(text: str, name: Name) -> Value | None:
    """ "… is the admin password", 「…がパスワードです」"""
    if name.is_short or name.sort is Sort.KEY:
        return None
    begin = max(0, name.start - 120)
    window = text[begin : name.start]
    end = _end_before_japanese(text, name, window)
    if end is None:
        end = max((window.lower().rfind(word, max(0, len(window) - 60)) for word in (" is ", " was ", " as ")), default=-1)
        if end < 0 or compile_pattern(r"[\w' -]*").fullmatch(window, end) is None:
            return None
    written = window[:end].rstrip(" ,")
    quote = written[-1:] if written[-1:] in "\"'`」』" else ""
    written = compile_pattern(r"[!-~]{0,80}$").search(written[-81:].rstrip("\"'`」』"))[0].lstrip("\"'`(")  # type: ignore[index]
    start = begin + window.rfind(written, 0, end)
    value = Value(start, start + len(written), written, bool(quote))
    if len(written) < 6 or not values.is_strong(written) or "=" in written:
        return None
    return value if accepts(name, value, is_assigned=False) else None


def _end_before_japanese(text: str, name: Name, window: str) -> int | None:
    """Where the value ends in 「…がパスワードです」, if that is how it is said."""
    particles = [(window.rfind(word, max(0, len(window) - 16)), word) for word in ("という", "が", "を", "って")]
    end = max(at for at, _ in particles)
    if end <= 0 or compile_pattern(r"[^\s。、!-~]*").fullmatch(window, end) is None:
        return None
    return end if compile_pattern(_JAPANESE_ENDING).match(text, name.end) else None
