"""Sentences that contain a password, a key or a code, as people write them in English and Japanese."""

from collections.abc import Callable, Iterator
from random import Random

from bench.secrets_corpus.parts import (
    ALNUM,
    HEX,
    URL,
    Item,
    Language,
    draw,
    passphrase,
    password,
    pin,
    random_password,
)

Make = Callable[[Random], str]


def _key(rng: Random) -> str:
    """A key without a format of its own."""
    alphabet, length = rng.choice(((HEX, 32), (ALNUM, 32), (URL, 43), (HEX, 64), (ALNUM, 40)))
    return draw(rng, alphabet, length)


def _code(rng: Random) -> str:
    return "-".join(draw(rng, HEX, 5) for _ in range(2))


_ENGLISH: tuple[tuple[str, Make], ...] = (
    ("The admin password is {}", password),
    ("the admin password for staging is {}, please don't pass it on", password),
    ("Password for the NAS: {}", password),
    ("wifi pw: {}", password),
    ("Login: admin / {}", password),
    ("ftp.acme.test, user deploy, pass {}", password),
    ("I set the root password to {} for now.", password),
    ("We changed the database password to {} yesterday because the old one was on a sticky note.", password),
    ("Use {} as the password when the VPN client asks.", password),
    ("Credentials of the demo tenant: demo@acme.test / {}", password),
    ("The API key is {}", _key),
    ("Our secret key for signing cookies is {}", _key),
    ("passphrase of the backup disk: {}", passphrase),
    ("The passphrase for the release key is \"{}\".", passphrase),
    ("The PIN of the company card is {}.", pin),
    ("pw is still {} on the old box", password),
    ("Default credentials after a reset: root:{}", password),
    ("{} is the sudo password on build-03", password),
    ("Keycloak login is admin/{} again", password),
    ("The master key in use since March is {}.", _key),
    ("recovery code of the npm organisation: {}", _code),
    ("Token for the deploy hook is {}", _key),
    ("client id is billing-web and the client secret is {}", _key),
    ("signing secret → {}", _key),
    ("The shared secret between gateway and billing is {}; both read it at start.", _key),
    ("Note from the agent: the user told me that the Postgres password is {}; I used it for the migration.", password),
    ("remember: sudo password on this laptop = {}", random_password),
    ('In the stand-up Ken said "the password is {}", so try that first.', password),
    ("PASSWORD: {}", password),
    ("Password (prod, do not commit): {}", random_password),
    ("The ZIP is encrypted, password {}", password),
    ("RDP to 10.0.4.12 as Administrator, password: `{}`", random_password),
    ("docs: the test account is qa@acme.test, its password is **{}**", password),
    ("If it asks for a password, type {} and press return.", password),
    ("the password's {} btw, same as last year", password),
    ("Router: the admin password is now {} (was changed on 3 March)", password),
    ("log in with user ops and password {}", password),
    ("PW for the admin page of the printer - {}", password),
    ("staging login\nuser: qa\npass: {}", password),
    ("The new password of the mailbox info@acme.test: {}", password),
)  # a table: several entries per line  # fmt: skip

_JAPANESE: tuple[tuple[str, Make], ...] = (
    ("管理画面のパスワードは{}です。", password),
    ("パスワードは「{}」です", password),
    ("検証機のパスは「{}」", password),
    ("パスワード：{}", password),
    ("Wi-FiのPW：{}", password),
    ("社内Wiki　ID：admin　PASS：{}", password),
    ("ステージングのログイン情報：admin / {}", password),
    ("シークレットキーは {} です", _key),
    ("決済のシークレットキーは{}。控えておいて。", _key),
    ("APIキーは{}を使ってください。", _key),
    ("API キー: {}", _key),
    ("金庫の暗証番号は{}です。", pin),
    ("法人カードの暗証番号：{}", pin),
    ("Wi-Fiのパスワードは{}だよ", password),
    ("パスワード、{} に変えといた", password),
    ("rootのパスワードを{}に変更しました。", password),
    ("バックアップのパスワードを「{}」に設定済み", random_password),
    ("初期パスワードは{}となっております。", password),
    ("秘密鍵のパスフレーズ：{}", passphrase),
    ("パスフレーズは『{}』なので忘れないこと", passphrase),
    ("DBのパスは{}ね", password),
    ("アクセストークンは {} です（来月末まで有効）", _key),
    ("トークン＝{}", _key),
    ("ユーザー名は deploy、パスワードは {} でログインできます", password),
    ("ログインは sato@acme.test / {} でお願いします", password),
    ("ZIPのパスワードは{}です。本体は別メールでお送りします。", password),
    ("共有アカウントのパスワード → {}", password),
    ("クライアントシークレットは『{}』", _key),
    ("VPNの事前共有キーは {} です。", random_password),
    ("仮パスワード【{}】を発行しました", password),
    ("{} が検証環境のパスワードです", password),
    ("NASのパスワード、まだ {} のままです", password),
    ("認証情報：user=batch, pass={}", password),
    ("Basic認証は guest / {} です", password),
    ("ベーシック認証のIDは preview、パスワードは{}", password),
    ("パスワードは以下の通りです。\n{}", random_password),
    ("リカバリーコードは {} です。", _code),
    ("Webhookの署名シークレット：{}", _key),
    ("先方のFTP：ホスト ftp.acme.test、ユーザ web01、パスワード {}", password),
    ("健さんいわく「sudoのパスワードは{}」とのこと", password),
)  # a table: several entries per line  # fmt: skip


def items(rng: Random) -> Iterator[Item]:
    sets: tuple[tuple[Language, tuple[tuple[str, Make], ...]], ...] = (("en", _ENGLISH), ("ja", _JAPANESE))
    for language, sentences in sets:
        for sentence, make in sentences:
            secret = make(rng)
            yield Item(sentence.format(secret), "sentence", language, secret)
