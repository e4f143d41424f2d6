"""The value of a name: how it is read from a text, and whether it can be the secret that the name announces."""

from typing import NamedTuple

from omoide.guard.secrets import values
from omoide.guard.secrets.names import Name, Sort
from omoide.guard.secrets.patterns import compile_pattern

HASHED = r"(?i)hash|digest|fingerprint|sha-?\d|md5|checksum|thumbprint|ハッシュ|指紋|フィンガープリント|チェックサム"
_QUOTES = {'"': '"', "'": "'", "`": "`", "「": "」", "『": "』", "“": "”", "‘": "’", "【": "】", "«": "»", "〝": "〟"}
_LONGEST = 400
_BOLD = r"\*{1,2}(?=[^*\s])"
_CALL_BEFORE_QUOTE = (
    r"(?:[bfru@$]|rb|br|(?:\[\]byte|Buffer\.from|SecretStr|Secret|bytes|str|String|b64decode|atob)\()?(?=[\"'])"
)
_HASH_VALUE = r"(?i)^(?:sha\d*|md5|ssh-\w+|ecdsa-\S+)\b"
_CALL_OR_ITEM = r"[A-Za-z_][\w.]*[(\[]"
_CODE_GROUPS = r"(?=.*[a-zA-Z].*\d|.*\d.*[a-zA-Z])[A-Za-z0-9]{4,8}(?:-[A-Za-z0-9]{4,8}){1,5}"


class Value(NamedTuple):
    start: int
    end: int
    text: str
    is_quoted: bool


def read(text: str, at: int) -> Value | None:
    """The value that begins here: what is quoted, or everything up to a space."""
    for prefix in (_BOLD, _CALL_BEFORE_QUOTE):
        match = compile_pattern(prefix).match(text, at)
        if match is not None:
            at = match.end()
    if at >= len(text):
        return None
    for mark in ('"""', "'''", "```", '\\"', "\\'", "``"):
        if text.startswith(mark, at):
            end = text.find(mark, at + len(mark), at + 300)
            return None if end < 0 else Value(at + len(mark), end, text[at + len(mark) : end], is_quoted=True)
    close = _QUOTES.get(text[at])
    if close is not None:
        end = text.find(close, at + 1, at + 302)
        newline = text.find("\n", at + 1, at + 302)
        if end > at + 1 and (newline < 0 or end < newline):
            return Value(at + 1, end, text[at + 1 : end], is_quoted=True)
        at += 1
    match = compile_pattern(r"[!-~]{1,300}").match(text, at)
    written = "" if match is None else _strip_ending(match[0])
    return Value(at, at + len(written), written, is_quoted=False) if written else None


def _strip_ending(written: str) -> str:
    """A value without the code or punctuation behind it."""
    cut = compile_pattern(r"[\"`;]|(?<=.)[,&](?=[A-Za-z_][\w.-]*=)|'(?=[,;)\]}\s]|$)|</|\\[nrt]|\*\*|(?<!\S)\|").search(
        written
    )
    if cut is not None:
        written = written[: cut.start()]
    written = written.rstrip("(")
    for opening, closing in ("()", "{}", "[]"):
        if opening not in written:
            written = written.rstrip(closing)
    written = written.rstrip(".,:'>")
    return written if "(" in written else written.rstrip(")")


def accepts(name: Name, value: Value, *, is_assigned: bool, is_alone: bool = False) -> bool:
    """Whether the value can be the secret that the name announces.

    `is_assigned`: written for a machine, so that a plain word may be meant. `is_alone`: and nothing else is on the line.
    """
    if is_hopeless(name, value, is_assigned=is_assigned) or _is_something_else(name, value):
        return False
    if name.sort is Sort.PIN:
        return _is_pin(value, is_assigned=is_assigned)
    if name.sort is Sort.PASSWORD or name.sort is Sort.PHRASE:
        return _is_password(name, value, is_assigned=is_assigned, is_alone=is_alone)
    text = value.text
    if values.is_filler(text) or not text.isascii() or " " in text:
        return False
    if name.sort is Sort.CODE:
        return values.is_random(text, 8) or compile_pattern(_CODE_GROUPS).fullmatch(text) is not None
    if name.sort is Sort.KEY:
        return _is_key(name, text)
    return _is_token(name, value, is_assigned=is_assigned)


def _is_something_else(name: Name, value: Value) -> bool:
    """Whether the value is too short, a reference, a hash, a call or an item."""
    text = value.text.strip("#*") if name.sort is Sort.PIN and value.text[:1] in "#*" else value.text
    if len(text) < (4 if text.isascii() else 2) or values.is_reference(text):
        return True
    if compile_pattern(HASHED).search(name.word) or compile_pattern(_HASH_VALUE).match(text):
        return True
    return not value.is_quoted and compile_pattern(_CALL_OR_ITEM).match(text) is not None


def _is_key(name: Name, text: str) -> bool:
    if compile_pattern(r"[0-9a-fA-F]+").fullmatch(text) and "_" not in name.word and "-" not in name.word:
        return False
    return values.is_random(text, 16) and not _is_named_place(text)


def is_hopeless(name: Name, value: Value, *, is_assigned: bool) -> bool:
    """Whether the value is certainly no secret, by a cheap check: most words after a name are words."""
    text = value.text[:_LONGEST]
    if name.sort is Sort.PASSWORD or name.sort is Sort.PHRASE:
        if value.is_quoted and not text.isascii():
            return name.sort is Sort.PASSWORD
        return not (is_assigned or value.is_quoted) and text.isalpha() and (text.islower() or len(text) < 8)
    if compile_pattern(r"\d").search(text):
        return False
    return text.islower() or text.isupper() or text.istitle() or len(text) < 8


def _is_pin(value: Value, *, is_assigned: bool) -> bool:
    text = value.text.strip("#*")
    if text.isdigit():
        return (
            4 <= len(text) <= 12
            and not values.is_filler(text)
            and len(set(text)) > 1
            and text not in ("1234", "12345", "123456")
        )
    return len(text) >= 6 and values.is_strong(text) and not values.is_plain(text) and (value.is_quoted or is_assigned)


def _is_token(name: Name, value: Value, *, is_assigned: bool) -> bool:
    text = value.text
    if _is_named_place(text):
        return False
    if values.is_uuid(text):
        return is_assigned or value.is_quoted or "token" in name.word or "key" in name.word or not name.word.isascii()
    if values.is_random(text, 8):
        return not values.is_plain(text) or values.is_random(text, 20)
    if compile_pattern(r"(?i)otp|2fa|mfa").search(name.word) and compile_pattern(r"[A-Z2-7]{16,64}").fullmatch(text):
        return True
    if compile_pattern(r"[0-9a-fA-F]{20,}").fullmatch(text):
        return any(c.isdigit() for c in text) and any(c.isalpha() for c in text)
    return (is_assigned or value.is_quoted) and _is_strong_with_sign(text)


def _is_strong_with_sign(text: str) -> bool:
    if len(text) < 8 or compile_pattern(r"[!#$%^&*?@+~]").search(text) is None:
        return False
    return values.is_strong(text) and not values.is_plain(text)


def _is_named_place(text: str) -> bool:
    """Whether it is a path, a URL or a place in code, however random its parts."""
    return bool(compile_pattern(r"(?:~?\.{0,2}/|[A-Za-z]{2,12}://)[\w./~:-]*$|[a-z_]+(?:\.[a-z_]+)+$").match(text)) or bool(
        compile_pattern(
            r"[\w.-]+\.(?i:pem|key|json|ya?ml|toml|env|txt|md|py|[jt]sx?|go|rs|rb|sh|p12|pfx|jks|crt|pub)$"
        ).match(text)
    )


def _is_password(name: Name, value: Value, *, is_assigned: bool, is_alone: bool) -> bool:
    text = value.text
    if not text.isascii():
        return name.sort is Sort.PHRASE and value.is_quoted and 2 <= len(text) <= 30 and not _is_japanese_remark(text)
    if " " in text:
        return value.is_quoted and _is_phrase(name, text)
    if values.is_filler(text) or values.is_word(text):
        return False
    if values.is_uuid(text) or values.is_random(text, 10):
        return not _is_named_place(text)
    return not values.is_plain(text) and _is_chosen(name, value, is_assigned=is_assigned, is_alone=is_alone)


def _is_chosen(name: Name, value: Value, *, is_assigned: bool, is_alone: bool) -> bool:
    """Whether it looks like a password that somebody chose, not one that a program generated."""
    text, is_marked = value.text, is_assigned or value.is_quoted
    if values.is_strong(text):
        return is_marked or _is_convincing(text)
    if text.isdigit():
        return len(text) >= 6 and is_marked
    if _is_hyphenated_phrase(text):
        return True
    if not value.is_quoted and not (is_assigned and is_alone):
        return _is_joined_words(text) and not is_assigned
    return len(text) >= 5 and compile_pattern(r"[A-Za-z][A-Za-z_.-]*").fullmatch(text) is not None and not name.is_short


def _is_convincing(text: str) -> bool:
    """Whether it would be taken for a password in the middle of a sentence."""
    if compile_pattern(r"[!#$%^&*?@+~]").search(text[:-1]) or compile_pattern(r"[!#$%^&*]").search(text):
        return any(c.isalnum() for c in text)
    letters = sum(c.isalpha() for c in text)
    digits = sum(c.isdigit() for c in text)
    return letters >= 2 and digits >= 1 and not compile_pattern(r"\d+(?:st|nd|rd|th)|[A-Z]{2,6}\d{1,3}").fullmatch(text)


def _is_hyphenated_phrase(text: str) -> bool:
    words = compile_pattern(r"[-_.]").split(text)
    return len(words) >= 4 and all(2 <= len(word) <= 10 and word.isalpha() and not values.is_word(word) for word in words)


def _is_joined_words(text: str) -> bool:
    if len(text) < 8 or "Password" in text:
        return False
    return compile_pattern(r"(?:[A-Z][a-z]{2,9}){2,5}").fullmatch(text) is not None


def _is_phrase(name: Name, text: str) -> bool:
    words = text.split()
    if any(values.is_word(word) for word in words):
        return False
    if name.sort is Sort.PHRASE:
        return len(words) >= 2
    return 4 <= len(words) <= 8 and all(word.isalpha() and word.islower() and 3 <= len(word) <= 10 for word in words)


def _is_japanese_remark(text: str) -> bool:
    return (
        compile_pattern(
            r"必須|任意|未設定|なし|変更|不要|非公開|秘密|下記|上記|別途|同じ|共通|設定|入力|確認|省略|例|です|ます"
            r"|する|した|ください|の"
        ).search(text)
        is not None
    )
