"""Credentials in a text: found by their shape and by what they are called, before anything is kept.

- `providers`: tokens that tell by their prefix who issued them
- `structures`: key files, URLs, headers, connection strings, command lines
- `sentences`: assignments and sentences that call something a password, a token or a key
- `names` and `plausible`: what is called so, and what can be meant by it
- `values`: what a value looks like, and what only stands for one
- `search`: all of them, applied to a text

Every search starts at a fixed string and has bounds, so that the work grows with the text, never faster.
"""

from collections.abc import Iterable

import msgspec

from omoide.guard.secrets.patterns import compile_pattern


class Secret(msgspec.Struct, frozen=True):
    kind: str
    start: int
    end: int


# Full-width forms of ASCII, and the space between them: the same length, so that positions stay.
_WIDE = {0xFF01 + n: 0x21 + n for n in range(94)} | {0x3000: 0x20}


def _texts(separated: str) -> tuple[str, ...]:
    """The texts between the bars. One may end with a space."""
    return tuple(separated.split(" | "))


# One of these is in every text that a structure or a name can be found in; those by sign only where the sign is.
_NAMES = _texts(
    "pass | pw | secret | token | key | cred | pin | psk | auth | login | log in | logged in | logging in |"
    " sign in | signin | cookie | bearer | basic | account | seed | mnemonic | backup | recovery | rescue"
)
_NAMES_BY_SIGN = {
    "=": _texts("sess | sid= | sig= | signature= | code= | ?sv="),
    "/": _texts("admin | root | postgres | :// | @// | id/ | user/ | sqlplus | sqlldr | expdp | impdp | net use | xfreerdp"),
    "@": _texts("@tcp | @unix"),
    ":": _texts("admin: | root: | postgres: | :5432: | :5433: | :6432: | :*:"),
    '"': _texts("kty | identified | securestring"),
    "'": _texts("identified | securestring"),
    " -": _texts(
        "-u | -a  | curl | wget | mysql | mariadb | zip | docker | podman | mongo | helm | sqlcmd | 7z | rar |"
        " isql | mosquitto | cqlsh | ipmitool | twine | skopeo | ldap | oc  | az  | bcp  | buildah | smbclient |"
        " rpcclient | winexe | sudo -s"
    ),
}
_JAPANESE_NAMES = _texts(
    "パス | トークン | キー | 鍵 | シークレット | 暗証 | 合言葉 | 合い言葉 | 認証 | ログイン | サインイン |"
    " アカウント | フレーズ | シード | ニーモニック | リカバリ | 復 | バックアップ | ワンタイム | 管理画面 |"
    " id・ | 接続情報 | ユーザー | でアクセス | で入れ"
)
_SEEDS = ("seed", "mnemonic", "phrase", "シード", "ニーモニック", "フレーズ")
_UNSIGNED = (*_SEEDS, "akia", "asia")
_SIGN = r"[0-9_=!:\"'`「『“<|#$%&*@-]"
"""No secret, and nothing that assigns one, is without any of these, but for those that begin as above."""
_RUN = r"(?:FlyV1 )?[A-Za-z0-9_.~+/=$:%|@?&,-]{14,}"
"""The token of a provider is in one of these: none is shorter, with its mark, and none begins with other characters."""
_LINE_END = r"\\[nrt]"
"""Escaped, as in JSON: the word after it begins there."""


def find(text: str) -> Iterable[Secret]:
    """The secrets of a text, by kind; overlapping ones may come twice."""
    plain = _narrow(text)
    if compile_pattern(_SIGN).search(plain) is None and not any(map(plain.lower().__contains__, _UNSIGNED)):
        return ()
    lowered = _lower(plain)
    runs, is_named = token_runs(plain), _has_secret_name(plain, lowered)
    if not runs and not is_named:
        return ()
    # Most processes see no such text: until then, the rules are not loaded.
    from omoide.guard.secrets import search  # lazy: see above

    places = search.search(plain, lowered, runs, is_named=is_named)
    return (Secret(kind, start, end) for kind, start, end in places)


def token_runs(plain: str) -> list[str]:
    """The parts of a text that can hold the token of a provider."""
    return compile_pattern(_RUN).findall(compile_pattern(_LINE_END).sub(" ", plain) if "\\" in plain else plain)


def _has_secret_name(plain: str, lowered: str) -> bool:
    """Whether anything is called as secrets are, or looks like a structure that holds one."""
    holds = lowered.__contains__
    return (
        any(map(holds, _NAMES))
        or any(sign in plain and any(map(holds, names)) for sign, names in _NAMES_BY_SIGN.items())
        or (not plain.isascii() and compile_pattern("|".join(_JAPANESE_NAMES)).search(lowered) is not None)
    )


def redact(text: str) -> str:
    """The text with every secret replaced by its kind."""
    kept: list[str] = []
    end = 0
    for secret in sorted(find(text), key=lambda secret: secret.start):
        if secret.start >= end:
            kept += text[end : secret.start], f"[redacted: {secret.kind}]"
        end = max(end, secret.end)
    return "".join([*kept, text[end:]])


def _narrow(text: str) -> str:
    """The text with full-width letters, digits and signs in their usual width."""
    if text.isascii() or compile_pattern("[\uff01-\uff5e\u3000]").search(text) is None:
        return text
    return text.translate(_WIDE)


def _lower(text: str) -> str:
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := character.lower()) == 1 else character for character in text)
