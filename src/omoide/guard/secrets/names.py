"""The names of secrets: password, token, API key, パスワード, and what only sounds like one."""

import re
from enum import Enum
from typing import NamedTuple

from omoide.guard.secrets.patterns import compile_pattern
from omoide.guard.secrets.values import words


class Sort(Enum):
    """What kind of value a name announces."""

    PASSWORD = "password"  # somebody may have chosen it: letters and digits suffice  # noqa: S105 - a kind, not a secret
    PHRASE = "passphrase"  # the same, and words are possible
    PIN = "PIN"  # digits
    CODE = "recovery code"  # groups of letters and digits
    TOKEN = "assigned secret"  # generated at random  # noqa: S105 - a kind, not a secret
    KEY = "assigned key"  # a key may be of a door, a table or a cache: only what is certainly random counts


class Name(NamedTuple):
    sort: Sort
    start: int
    """Where the whole identifier begins, such as DB_PASSWORD."""
    end: int
    word: str
    """The identifier, in small letters."""
    is_flag: bool
    """Whether the value follows after a space: --password, or a line of netrc."""
    is_short: bool
    """`pass` and the like, which mean something else in most sentences."""


STEMS = words(
    "pass pw pword secret token key cred pin psk recovery backup rescue auth"
    " リカバリ 復 バックアップ ワンタイム パス トークン キー 鍵 シークレット 暗証"
    " 合言葉 暗号 認証 秘密 アクセス api 署名 共通 サー マスター"
)
"""One of these is in every name."""

_NOUNS = (
    r"(?i)(?:(?P<phrase>passphrases?|pass phrase|パスフレーズ|合言葉|合い言葉)"
    r"|(?P<pin>pass ?codes?|pin(?: ?code| ?number|番号|コード)?(?![a-z])|暗証番号|暗証コード|パスコード)"
    r"|(?P<password>pass ?words?|passwd|passwort|pword|psk(?![a-z])|パスワード|パスワ-ド)"
    r"|(?P<short>pass(?![a-z])|pwd?(?![a-z])|pws(?![a-z])|パス(?![ァ-ヶー一-龠]))"
    r"|(?P<code>(?:recovery|backup|rescue|2fa|mfa|one-time)[-_ ]codes?|(?:リカバリー?|復旧|バックアップ|復元"
    r"|ワンタイム)用?(?:コード|キー))"
    r"|(?P<token>secret(?![s])(?:[-_ ]?(?:access[-_ ]?)?key)?(?:[-_ ]?base)?|token(?!s|i[sz]|e)|creds(?![a-z])|credentials?|"
    r"auth(?![a-z])|"
    r"(?:クライアント)?シークレット(?:アクセス)? ?(?:キー|トークン)?|トークン(?!数|化)|認証情報|"
    r"(?:秘密|暗号|署名|共通|暗号化)鍵|"
    r"(?:API|アクセス|シークレット|暗号化?|署名|認証|マスター|サービス|秘密|接続|ストレージ|管理|サーバー?)(?: |・"
    r"|の)?(?:キー|鍵)"
    r"(?![ァ-ヶー]))"
    r"|(?P<key>key(?![a-z])|キー(?![ァ-ヶー])|鍵))"
)
# What stands before `key` when the key is secret for certain, in one word or two.
_SECRET_KEYS = words(
    "api access secret private encryption encrypt signing sign master auth account admin app application"
    " sharedaccess shared client"
    " service subscription consumer storage hmac jwt fernet deploy server ingest ingestion write personal live"
    " cipher crypto integration"
    " license licence webhook restricted instrumentation session cookie aes test"
)
_OTHER_KEYS = words(
    "public primary foreign cache partition sort idempotency publishable anon site object hot map dict translation"
    " i18n row index"
    " composite natural surrogate group routing event message feature config query short arrow enter shift return"
    " known unique cluster"
    " shard lookup bucket redis s3 json hash default react list issue project jira ssh gpg pgp host verify verification"
    " 公開 サイト 主 外部 キャッシュ 複合 ショートカット 公開可能 冪等 べき等"
)
_PUBLIC = ("public", "publishable", "anon")
_OTHER_TOKENS = words(
    "max min num total input output prompt completion next page continuation cancel cancellation special pad eos bos"
    " unk stop mask csrf"
    " xsrf design color lexer syntax sync per each first last public publishable antiforgery anti-forgery 入力 出力"
    " 最大 次の ページ"
)
_OTHER_SECRETS = words("no open kubernetes k8s sealed external docker opaque generic trade business 公開")
_WIRELESS = ("wifi", "wi-fi", "ssid", "wlan", "wpa", "psk", "pre-shared", "preshared", "無線", "事前共有")
# What stands before a name in the same word.
_GLUED = words(
    "api access secret private auth db my root user admin client session master pg ftp smtp ssh sudo http bind app"
    " account sharedaccess"
    " encryption signing sasl vnc wifi mysql login refresh bearer id sas"
)
_SUFFIX = (
    r"(?:[-_](?:prod|production|prd|dev|stg|staging|test|live|old|new|prev|previous|next|current|primary|secondary"
    r"|main|value|plain|"
    r"plaintext|raw|text|default|local|root|admin|user|ja|jp|us|eu|v?\d{1,2}|[abc])\b|\d{1,2}\b|_base\b)?"
)


def name_at(text: str, at: int) -> Name | None:
    """The name whose noun begins here, if one does and it can be of a secret."""
    match = compile_pattern(_NOUNS).match(text, at)
    return None if match is None else _name(text, match)


def _name(text: str, match: re.Match[str]) -> Name | None:
    """The identifier or noun around a match; None where it is a part of another word, or names something else."""
    start, end = match.span()
    found = text[start:end]
    begin = _identifier_start(text, start)
    prefix = text[begin:start]
    is_glued = found.isascii() and prefix[-1:].isalpha() and not prefix.lower().endswith(_GLUED)
    if is_glued and not (found[0].isupper() and prefix[-1].islower()):
        return None
    suffix = compile_pattern(_SUFFIX).match(text, end)
    if suffix is not None:
        end = suffix.end()
    if compile_pattern(r"[A-Za-z0-9_]|-[A-Za-z]").match(text, end):  # a part of a longer word
        return None
    before = text[max(0, start - 40) : start].lower()
    sort = _sort(match, before)
    if sort is None:
        return None
    is_flag = prefix.startswith("--") or (prefix.startswith("-") and len(prefix) <= 2) or _is_netrc(found, before)
    return Name(sort, begin, end, (prefix + found).lower(), is_flag, match["short"] is not None)


def _identifier_start(text: str, start: int) -> int:
    """The start of the identifier that contains this place, at most 40 characters before it."""
    begin = start
    while begin and start - begin < 40 and compile_pattern(r"[A-Za-z0-9_.-]").match(text, begin - 1):
        begin -= 1
    return begin


def _is_netrc(found: str, before: str) -> bool:
    if not found.lower().startswith("pass"):
        return False
    return ("login" in before or "machine" in before) and compile_pattern(
        r"(?:login|machine)\s{1,4}\S{1,30}\s{1,12}$"
    ).search(before) is not None


def _sort(match: re.Match[str], before: str) -> Sort | None:
    if match["phrase"]:
        return Sort.PHRASE
    if match["pin"]:
        word = match[0].lower().startswith("pin") and before[-1:].isalnum() and before[-1:].isascii()
        return None if word else Sort.PIN
    if match["password"] or match["short"]:
        return Sort.PASSWORD
    if match["code"]:
        return Sort.CODE
    found, kind = match[0].lower(), before.rstrip("-_ の")
    if match["key"]:
        return _key_sort(before, kind)
    if "token" in found or "トークン" in found:
        return None if kind.endswith(_OTHER_TOKENS) else Sort.TOKEN
    if found == "auth":
        return Sort.KEY
    return None if kind.endswith(_OTHER_SECRETS) else Sort.TOKEN


def _key_sort(before: str, kind: str) -> Sort | None:
    """What a key is, by the words before it."""
    if kind.endswith(_SECRET_KEYS):
        owner = kind.replace("-", "_")[-20:]
        is_public = any(f"{word}_" in owner or f"{word} " in owner for word in _PUBLIC)
        return None if is_public else Sort.TOKEN
    if any(word in before for word in _WIRELESS):
        return Sort.PASSWORD
    return None if kind.endswith(_OTHER_KEYS) else Sort.KEY
