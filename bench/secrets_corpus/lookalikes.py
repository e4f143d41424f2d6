"""Texts that look as if they contained a secret and do not: placeholders, references, code, hashes, identifiers, samples.

`«name»` in a text stands for random characters: see `_VALUES`.
"""

import base64
import re
from collections.abc import Callable, Iterator, Mapping
from random import Random

from bench.secrets_corpus.parts import (
    ALNUM,
    BASE32,
    BECH32,
    DIGITS,
    HEX,
    LOWER,
    LOWNUM,
    URL,
    Item,
    Language,
    armour,
    base64_of,
    draw,
    uuid,
    wrap,
)
from bench.secrets_corpus.samples import SAMPLES

_CROCKFORD = DIGITS + "ABCDEFGHJKMNPQRSTVWXYZ"
_PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000100000001008060000001ff3ff61")


def _rsa_public(rng: Random) -> str:
    return base64_of(rng, 256, b"\0\0\0\7ssh-rsa\0\0\0\3\1\0\1\0\0\1\1\0")


def _ed25519_public(rng: Random) -> str:
    return base64_of(rng, 32, b"\0\0\0\x0bssh-ed25519\0\0\0 ")


def _certificate(rng: Random) -> str:
    return armour("CERTIFICATE", wrap(base64_of(rng, 760, bytes.fromhex("308202f4308201dca003020102")), 64))


def _public_pem(rng: Random) -> str:
    body = base64_of(rng, 260, bytes.fromhex("30820122300d06092a864886f70d01010105000382010f00"))
    return armour("PUBLIC KEY", wrap(body, 64))


def _public_pgp(rng: Random) -> str:
    return armour("PGP PUBLIC KEY BLOCK", wrap(base64_of(rng, 500, b"\x99\x01\x0d\x04"), 64), "\n")


def _request(rng: Random) -> str:
    return armour("CERTIFICATE REQUEST", wrap(base64_of(rng, 620, bytes.fromhex("308202743082015c020100")), 64))


_VALUES: Mapping[str, Callable[[Random], str]] = {
    "git": lambda rng: draw(rng, HEX, 40),
    "short": lambda rng: draw(rng, HEX, 7) + "0",
    "sha256": lambda rng: draw(rng, HEX, 64),
    "sha512": lambda rng: draw(rng, HEX, 128),
    "md5": lambda rng: draw(rng, HEX, 32),
    "sri": lambda rng: base64_of(rng, 64),
    "sri384": lambda rng: base64_of(rng, 48),
    "h1": lambda rng: base64_of(rng, 32),
    "fingerprint": lambda rng: base64_of(rng, 32).rstrip("="),
    "uuid": uuid,
    "ulid": lambda rng: "01" + draw(rng, _CROCKFORD, 24),
    "nanoid": lambda rng: draw(rng, URL, 21),
    "cuid": lambda rng: "cl" + draw(rng, LOWNUM, 23),
    "mongo": lambda rng: "65" + draw(rng, HEX, 22),
    "order": lambda rng: f"{draw(rng, DIGITS, 3)}-{draw(rng, DIGITS, 7)}-{draw(rng, DIGITS, 7)}",
    "digits": lambda rng: "7" + draw(rng, DIGITS, 17),
    "trace": lambda rng: f"00-{draw(rng, HEX, 32)}-{draw(rng, HEX, 16)}-01",
    "arn": lambda rng: draw(rng, DIGITS, 12),
    "payment": lambda rng: "pi_3" + draw(rng, ALNUM, 23),
    "customer": lambda rng: "cus_" + draw(rng, ALNUM, 14),
    "publishable": lambda rng: "pk" + "_live_51" + draw(rng, ALNUM, 97),
    "sentry_dsn": lambda rng: (
        f"https://{draw(rng, HEX, 32)}@o{draw(rng, DIGITS, 6)}.ingest.sentry.io/{draw(rng, DIGITS, 7)}"
    ),
    "rsa_public": _rsa_public,
    "ed25519_public": _ed25519_public,
    "certificate": _certificate,
    "public_pem": _public_pem,
    "public_pgp": _public_pgp,
    "request": _request,
    "age_public": lambda rng: "age1" + draw(rng, BECH32, 58),
    "wireguard_public": lambda rng: base64_of(rng, 32),
    "gpg": lambda rng: " ".join(draw(rng, "0123456789ABCDEF", 4) for _ in range(10)),
    "png": lambda rng: base64.b64encode(_PNG + rng.randbytes(240)).decode(),
    "woff": lambda rng: base64_of(rng, 180, b"wOF2\0\1\0\0"),
    "hex16": lambda rng: "0x" + draw(rng, HEX, 16),
    "bytes": lambda rng: ", ".join("0x" + draw(rng, HEX, 2) for _ in range(16)),
    "address": lambda rng: "0x" + draw(rng, HEX, 40),
    "minified": lambda rng: "".join(
        f"{draw(rng, LOWER, 1)}.{draw(rng, 'abcdetnr', 2)}({draw(rng, 'enrt', 1)})," for _ in range(12)
    ),
    "mac": lambda rng: ":".join(draw(rng, HEX, 2) for _ in range(6)),
    "ipv6": lambda rng: "2001:db8:" + ":".join(draw(rng, HEX, 4) for _ in range(6)),
    "version": lambda rng: f"{rng.randint(1, 20)}.{rng.randint(0, 30)}.{rng.randint(0, 9)}",
    "drive": lambda rng: "1" + draw(rng, URL, 32),
    "video": lambda rng: draw(rng, URL, 11),
    "chunk": lambda rng: draw(rng, HEX, 8),
    "base32": lambda rng: draw(rng, BASE32, 4),
    "last4": lambda rng: draw(rng, ALNUM, 4),
    "stars": lambda rng: "*" * rng.randint(6, 20),
}


def _fill(text: str, rng: Random) -> str:
    return re.sub("«([a-z0-9_]+)»", lambda match: _VALUES[match[1]](rng), text)


def items(rng: Random) -> Iterator[Item]:
    languages: tuple[Language, ...] = ("en", "ja")
    for kind, texts in SAMPLES.items():
        for language in languages:
            for text in texts[language]:
                yield Item(_fill(text, rng), kind, language)
