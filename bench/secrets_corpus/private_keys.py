"""Private keys of every kind, and JWTs."""

from collections.abc import Iterator
from random import Random

from bench.secrets_corpus.parts import (
    ALNUM,
    BASE32,
    BECH32,
    HEX,
    LOWNUM,
    URL,
    Item,
    Language,
    armour,
    base64_of,
    draw,
    dsa_body,
    ec_body,
    jwt,
    openssh_body,
    pkcs8_body,
    rsa_body,
    uuid,
    wrap,
)


def _rsa(rng: Random) -> tuple[str, str]:
    body = rsa_body(rng)
    return armour("RSA PRIVATE KEY", body), body


def _pkcs8(rng: Random) -> tuple[str, str]:
    body = pkcs8_body(rng)
    return armour("PRIVATE KEY", body), body


def _ec(rng: Random) -> tuple[str, str]:
    body = ec_body(rng)
    return armour("EC PRIVATE KEY", body), body


def _dsa(rng: Random) -> tuple[str, str]:
    body = dsa_body(rng)
    return armour("DSA PRIVATE KEY", body), body


def _openssh(rng: Random) -> tuple[str, str]:
    body = openssh_body(rng)
    return armour("OPENSSH PRIVATE KEY", body), body


def _openssh_cut(rng: Random) -> tuple[str, str]:
    """Return the first lines only, as if the terminal had cut off the rest."""
    body = "\n".join(openssh_body(rng).splitlines()[:3])
    return f"-----BEGIN OPENSSH PRIVATE KEY-----\n{body}", body


def _pgp(rng: Random) -> tuple[str, str]:
    body = wrap(base64_of(rng, 700, b"\x95\x03\x98\x04"), 64) + f"\n={draw(rng, ALNUM, 4)}"
    return armour("PGP PRIVATE KEY BLOCK", body, "Version: GnuPG v2\n\n"), body


def _putty(rng: Random) -> tuple[str, str]:
    public, private = wrap(base64_of(rng, 51), 64), wrap(base64_of(rng, 36), 64)
    text = (
        "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: ops@laptop\n"
        f"Public-Lines: 2\n{public}\nPrivate-Lines: 1\n{private}\nPrivate-MAC: {draw(rng, HEX, 64)}"
    )
    return text, private


def _wireguard(rng: Random) -> tuple[str, str]:
    key = base64_of(rng, 32)
    return f"[Interface]\nAddress = 10.8.0.3/24\nPrivateKey = {key}\nDNS = 10.8.0.1", key


def _wireguard_preshared_key(rng: Random) -> tuple[str, str]:
    key = base64_of(rng, 32)
    return f"[Peer]\nPublicKey = {base64_of(rng, 32)}\nPresharedKey = {key}\nAllowedIPs = 10.8.0.0/24", key


def _one_line(rng: Random) -> tuple[str, str]:
    body = ec_body(rng).replace("\n", "\\n")
    return f'"-----BEGIN EC PRIVATE KEY-----\\n{body}\\n-----END EC PRIVATE KEY-----"', body


def _in_env(rng: Random) -> tuple[str, str]:
    body = pkcs8_body(rng).replace("\n", "\\n")
    return f'APP_PRIVATE_KEY="-----BEGIN PRIVATE KEY-----\\n{body}\\n-----END PRIVATE KEY-----\\n"', body


def _age(rng: Random) -> tuple[str, str]:
    key = "AGE-SECRET-" + "KEY-1" + draw(rng, BECH32.upper(), 58)
    return f"# created: 2026-01-18T10:22:31+09:00\n{key}", key


def _jwk(rng: Random) -> tuple[str, str]:
    private = draw(rng, URL, 43)
    return f'{{"kty":"EC","crv":"P-256","x":"{draw(rng, URL, 43)}","y":"{draw(rng, URL, 43)}","d":"{private}"}}', private


def _ethereum(rng: Random) -> tuple[str, str]:
    key = "0x" + draw(rng, HEX, 64)
    return f"DEPLOYER_PRIVATE_KEY={key}", key


def _yaml_block(rng: Random) -> tuple[str, str]:
    body = rsa_body(rng).replace("\n", "\n    ")
    return f"tls:\n  key: |\n    -----BEGIN RSA PRIVATE KEY-----\n    {body}\n    -----END RSA PRIVATE KEY-----", body


_PRIVATE_KEYS = (
    _rsa, _pkcs8, _ec, _dsa, _openssh, _openssh, _openssh_cut, _pgp, _putty, _wireguard, _wireguard_preshared_key, _one_line,
    _in_env, _age, _jwk, _ethereum, _yaml_block, _pkcs8, _ec, _rsa,
)  # a table: several entries per line  # fmt: skip
_KEY_LEADS: dict[Language, tuple[str, ...]] = {
    "en": (
        "From Ken, for the new server:\n{}",
        "{}",
        "The deploy job needs this one:\n\n{}\n\nKeep the mode at 600.",
        "$ cat backup\n{}",
    ),
    "ja": (
        "健さんから受け取ったもの。新サーバで使う。\n{}",
        "秘密鍵を貼っておきます。\n{}",
        "デプロイで使うもの:\n\n{}\n\nパーミッションは600のまま。",
        "確認したファイルの中身\n$ cat backup\n{}",
    ),
}  # a table: several entries per line  # fmt: skip

_JWT_CONTEXTS: dict[Language, tuple[str, ...]] = {
    "en": (
        "The API accepts this one until midnight: {}",
        "curl -b 'session={}' https://shop.internal/api/cart",
        "2026-03-02 11:20:41 DEBUG auth verified token {} for sub 48213",
        'localStorage.setItem("id_token", "{}")',
        "service_role of the test project = {}",
        "Postman environment, variable jwt:\n{}",
    ),
    "ja": (
        "今日中はこのトークンで通ります: {}",
        "再現手順: curl -b 'session={}' https://shop.internal/api/cart を実行",
        "2026-03-02 11:20:41 DEBUG 認証OK {} sub=48213",
        'ブラウザで localStorage.setItem("id_token", "{}") を打つとログイン済みになる',
        "テスト用プロジェクトのservice_roleは{}です",
        "JWTは「{}」を使ってください。",
    ),
}  # a table: several entries per line  # fmt: skip


def _claims(rng: Random, number: int) -> dict[str, object]:
    issued = 1_770_000_000 + rng.randrange(10**6)
    return (
        {"sub": str(rng.randint(10_000, 99_999)), "role": "admin", "iat": issued, "exp": issued + 3600},
        {"iss": "https://login.internal", "aud": "shop", "sub": uuid(rng), "exp": issued, "scope": "read write"},
        {"iss": "supabase", "ref": draw(rng, LOWNUM, 20), "role": "service_role", "iat": issued, "exp": issued + 10**8},
        {"jti": draw(rng, BASE32, 16), "email": "sato@acme.test", "iat": issued},
    )[number % 4]


def items(rng: Random) -> Iterator[Item]:
    for number, make in enumerate(rng.sample(_PRIVATE_KEYS, len(_PRIVATE_KEYS))):
        language: Language = "ja" if number % 2 else "en"
        text, secret = make(rng)
        yield Item(_KEY_LEADS[language][number // 2 % 4].format(text), "private key", language, secret)
    for language, contexts in _JWT_CONTEXTS.items():
        for number, context in enumerate(contexts):
            token = jwt(rng, _claims(rng, number), "RS256" if number == 1 else "HS256")
            yield Item(context.format(token), "JWT", language, token)
