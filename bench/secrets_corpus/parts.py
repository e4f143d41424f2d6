"""Parts of the corpus: items, random characters, passwords as people choose them, keys and JWTs."""

import base64
import json
import string
from random import Random
from typing import Literal, NamedTuple

Language = Literal["en", "ja"]

LOWER = string.ascii_lowercase
UPPER = string.ascii_uppercase
DIGITS = string.digits
ALNUM = string.ascii_letters + DIGITS
LOWNUM = LOWER + DIGITS
UPNUM = UPPER + DIGITS
HEX = DIGITS + "abcdef"
URL = ALNUM + "-_"
BASE32 = UPPER + "234567"
BECH32 = "".join(sorted(set(LOWER + DIGITS) - set("1bio")))


class Item(NamedTuple):
    """A text that somebody might store.

    `secret` is the part of it that must not be stored, None in a look-alike; `service` names the issuer of a provider key.
    """

    text: str
    kind: str
    language: Language
    secret: str | None = None
    service: str | None = None


def draw(rng: Random, alphabet: str, length: int) -> str:
    return "".join(rng.choices(alphabet, k=length))


def base64_of(rng: Random, size: int, prefix: bytes = b"") -> str:
    return base64.b64encode(prefix + rng.randbytes(size)).decode()


def base64url_of(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def json_base64url(value: object) -> str:
    return base64url_of(json.dumps(value, separators=(",", ":")).encode())


def uuid(rng: Random) -> str:
    digits = draw(rng, HEX, 32)
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


_ENGLISH_WORDS = (
    "otter", "canyon", "maple", "harbor", "velvet", "rocket", "walnut", "glacier", "pepper", "lantern", "copper", "meadow",
    "falcon", "saddle", "thunder", "biscuit", "marble", "orchid", "puzzle", "timber",
)  # a table: several entries per line  # fmt: skip
_ROMAJI_WORDS = (
    "sakura", "tanuki", "hinata", "kaminari", "fujisan", "natsume", "ramune", "hotaru", "daikon", "yukidaruma", "momiji",
    "asahi", "kitsune", "umeboshi",
)  # a table: several entries per line  # fmt: skip
_SEASONS = ("Winter", "spring", "Summer", "autumn", "Haru", "natsu")
_LEET = str.maketrans({"a": "4", "e": "3", "o": "0", "i": "1", "s": "5"})


def _leet(rng: Random) -> str:
    word = rng.choice(_ENGLISH_WORDS).translate(_LEET)
    return f"{word.capitalize()}{rng.choice('&!#@%')}{rng.randint(2, 99)}{rng.choice(LOWER)}"


def _season(rng: Random) -> str:
    return f"{rng.choice(_SEASONS)}{rng.randint(2019, 2027)}{rng.choice('!#$?')}"


def _romaji(rng: Random) -> str:
    return f"{rng.choice(_ROMAJI_WORDS)}-{rng.randint(100, 9999)}"


def _two_words(rng: Random) -> str:
    return f"{rng.choice(_ROMAJI_WORDS).capitalize()}{rng.choice('@_.')}{rng.choice(_ENGLISH_WORDS)}{rng.randint(1, 99)}"


def random_password(rng: Random, length: int = 16, marks: str = "!#$%*+-=?@^_") -> str:
    """Generate a password as a password manager does: every class of characters, a letter or digit at both ends."""
    middle = [rng.choice(marks), rng.choice(marks), rng.choice(DIGITS), rng.choice(UPPER), *rng.choices(ALNUM, k=length - 6)]
    rng.shuffle(middle)
    return f"{rng.choice(ALNUM)}{''.join(middle)}{rng.choice(ALNUM)}"


def _letters_and_digits(rng: Random) -> str:
    """Generate a password as `pwgen` does."""
    return f"{draw(rng, ALNUM, 9)}{rng.choice(DIGITS)}{rng.choice(UPPER)}{rng.choice(LOWER)}"


def passphrase(rng: Random) -> str:
    return "-".join(rng.sample(_ENGLISH_WORDS, 4))


_PASSWORD_STYLES = (_leet, _season, random_password, _romaji, _two_words, _letters_and_digits)


def password(rng: Random) -> str:
    return rng.choice(_PASSWORD_STYLES)(rng)


def url_password(rng: Random) -> str:
    """Generate a password that needs no escaping in a URL."""
    return rng.choice((_romaji, _letters_and_digits, lambda its: random_password(its, 18, "-_.~!")))(rng)


def pin(rng: Random) -> str:
    return f"{rng.randint(2, 9)}{rng.randint(0, 9)}{rng.randint(5, 9)}{rng.randint(0, 4)}"


def wrap(text: str, width: int) -> str:
    return "\n".join(text[start : start + width] for start in range(0, len(text), width))


def armour(label: str, body: str, headers: str = "") -> str:
    """Return a PEM or PGP block."""
    return f"-----BEGIN {label}-----\n{headers}{body}\n-----END {label}-----"


# The first bytes of the DER and OpenSSH structures: they give the bodies the beginnings that real ones have.
_RSA = bytes.fromhex("308204a40201000282010100")
_PKCS8 = bytes.fromhex("308204be020100300d06092a864886f70d010101050004")
_EC = bytes.fromhex("30770201010420")
_DSA = bytes.fromhex("308201bb02010002818100")
_OPENSSH = b"openssh-key-v1\0\0\0\0\4none\0\0\0\4none\0\0\0\0\0\0\0\1"


def rsa_body(rng: Random) -> str:
    return wrap(base64_of(rng, 1180, _RSA), 64)


def pkcs8_body(rng: Random) -> str:
    return wrap(base64_of(rng, 1195, _PKCS8), 64)


def ec_body(rng: Random) -> str:
    return wrap(base64_of(rng, 114, _EC), 64)


def dsa_body(rng: Random) -> str:
    return wrap(base64_of(rng, 436, _DSA), 64)


def openssh_body(rng: Random) -> str:
    return wrap(base64_of(rng, 220, _OPENSSH), 70)


def jwt(rng: Random, claims: dict[str, object], algorithm: str = "HS256") -> str:
    head = {"alg": algorithm, "typ": "JWT"}
    size = 256 if algorithm.startswith("RS") else 32
    return f"{json_base64url(head)}.{json_base64url(claims)}.{base64url_of(rng.randbytes(size))}"
