"""Credentials are found by their shape; what only looks like one is left alone.

No real-looking one stands in this file: each is put together when the test runs.
"""

import importlib.util
import random
import string
import time
from pathlib import Path

import pytest

from omoide.guard import secrets
from omoide.guard.secrets import providers, search

_SPEC = importlib.util.spec_from_file_location("secret_examples", Path(__file__).with_name("secret_examples.py"))
secret_examples = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(secret_examples)

LETTERS = string.ascii_letters + string.digits


def draw(length, letters=LETTERS, seed=1):
    """Letters drawn by lot, with a small one, a capital and a digit among them where the letters allow it."""
    chance = random.Random(seed)
    value = [chance.choice(letters) for _ in range(length)]
    for place, wanted in enumerate((string.ascii_lowercase, string.ascii_uppercase, string.digits)):
        if set(wanted) & set(letters):
            value[place] = chance.choice([letter for letter in wanted if letter in letters])
    return "".join(value)


UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
BASE64 = LETTERS + "+/"

TOKENS = {
    "AWS access key": ["AKIA" + draw(16, UPPER), "ASIA" + draw(16, UPPER)],
    "GitHub token": [
        *(f"gh{letter}_" + draw(36) for letter in "pousr"),
        "github_" + "pat_" + draw(22) + "_" + draw(59),
    ],
    "GitLab token": ["glpat" + "-" + draw(20)],
    "API key": [
        "sk" + "-" + draw(48),
        "sk-" + "proj-" + draw(80) + "_" + draw(40),
        "sk-" + "ant-" + "api03-" + draw(40) + "-" + draw(50),
        "sk-" + "or-v1-" + draw(64, HEX),
        "sk" + "-" + draw(32, HEX),
    ],
    "Stripe key": ["sk" + "_live_" + draw(24), "rk" + "_test_" + draw(24)],
    "Slack token": ["xox" + "b-" + draw(12, string.digits) + "-" + draw(24)],
    "Slack webhook": ["hooks.slack" + ".com/services/" + draw(9, UPPER) + "/" + draw(9, UPPER) + "/" + draw(24)],
    "Google API key": ["AI" + "za" + draw(35)],
    "npm token": ["npm" + "_" + draw(36)],
    "PyPI token": ["pypi" + "-" + draw(120)],
    "Hugging Face token": ["hf" + "_" + draw(34)],
    "SendGrid key": ["SG" + "." + draw(22) + "." + draw(43)],
    "JSON web token": ["ey" + "J" + draw(30) + ".ey" + "J" + draw(60) + "." + draw(43)],
}


@pytest.mark.parametrize(("kind", "token"), [(kind, token) for kind, tokens in TOKENS.items() for token in tokens])
@pytest.mark.parametrize("around", ["{}", "use {} here", "鍵は{}です。", '"{}"', "`{}`,", "X={}\n", "({})"])
def test_a_token_is_found_anywhere_in_a_text_and_only_it_is_redacted(kind, token, around):
    text = around.format(token)
    assert kind in {secret.kind for secret in secrets.find(text)}
    assert secrets.redact(text) == around.format(f"[redacted: {kind}]")


def test_a_private_key_is_found_with_its_body_and_the_rest_is_left():
    for label in ("RSA ", "EC ", "OPENSSH ", "", "ENCRYPTED "):
        body = "\n".join(draw(64, BASE64, seed) for seed in range(5))
        key = f"-----BEGIN {label}PRIV" + f"ATE KEY-----\n{body}==\n-----END {label}PRIV" + "ATE KEY-----"
        assert secrets.redact(f"before\n{key}\nafter - and more") == "before\n[redacted: private key]\nafter - and more"
        assert secrets.redact(f'{{"key": "{key}"}}'.replace("\n", "\\n")) == '{"key": "[redacted: private key]"}'
        assert [secret.kind for secret in secrets.find(key[: len(key) // 2])] == ["private key"]  # pasted in part


def test_an_encrypted_private_key_is_found():
    header = "-----BEGIN RSA PRIV" + "ATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,3F17F5316E2BAC89\n\n"
    assert list(secrets.find(header + draw(64, BASE64) + "\n"))


@pytest.mark.parametrize(
    "text",
    [
        "postgres://u:{}@h/db",
        "https://ci:{}@git.local/x.git",
        "redis://:{}@cache:6379/0",
        "MONGODB+SRV://app:{}@c0.net",
        "amqp://guest:{}@mq",
        "url: 'mysql://root:{}@127.0.0.1:3306/shop'",
    ],
)
@pytest.mark.parametrize("password", ["hunter" + "2", "sesame", "Tr0ub4dor" + "&3", "p%40ss" + "word1"])
def test_a_password_in_a_url_is_found_even_if_it_is_a_plain_word(text, password):
    found = list(secrets.find(text.format(password)))
    assert [secret.kind for secret in found] == ["password in a URL"]
    assert secrets.redact(text.format(password)) == text.format("[redacted: password in a URL]")


@pytest.mark.parametrize(
    "password",
    [
        "password",
        "pass",
        "secret",
        "PASSWORD",
        "$PASSWORD",
        "${DB_PASS}",
        "{password}",
        "<password>",
        "%s",
        "***",
        "xxxx",
        "...",
        "your-password",
        "changeme",
        "example",
        "[PASSWORD]",
        "user",
    ],
)
def test_a_placeholder_in_a_url_is_no_password(password):
    assert list(secrets.find(f"postgres://user:{password}@host/db")) == []


@pytest.mark.parametrize(
    "text",
    [
        "password: {}",
        "PASSWORD={}",
        'api_key = "{}"',
        "apiKey: '{}'",
        "export SECRET={}",
        '"access_key": "{}"',
        "token={}",
        "パスワード：{}",
        "パスワードは「{}」です",
        "Authorization: Bearer {}",
        "MY_APP_TOKEN: {}",
    ],
)
def test_an_assigned_secret_is_found_and_the_name_is_left(text):
    for value in ("aX9" + "-kQ2m_Zr7Lp4", draw(24), draw(40)):
        assert list(secrets.find(text.format(value))), value
        redacted = secrets.redact(text.format(value))
        assert value not in redacted
        assert redacted.startswith(text.partition("{")[0])


@pytest.mark.parametrize("text", ["api_key={}", "SECRET: {}"])
def test_a_long_hexadecimal_value_is_a_secret_when_it_is_called_one(text):
    assert list(secrets.find(text.format(draw(32, HEX))))


ORDINARY = [
    "The password is stored as a hash; never log a token or a secret.",
    "パスワードは8文字以上、トークンの有効期限は30分。",
    "パスワードは12文字以上にする",
    "password: required, at least 12 characters",
    "token: string",
    "secret = load_secret()",
    "api_key = os.environ['API_KEY_2']",
    "apiKey: process.env.OPENAI_API_KEY_V2",
    "token = settings.AUTH_TOKEN_2",
    "token: ${{ secrets.GITHUB_TOKEN_1 }}",
    "password=$DB_PASSWORD_1",
    "PASSWORD=your-Password-123",
    "api_key: <YOUR-API-KEY-1>",
    "max_tokens=4096, temperature=0.7",
    "tokenizer: cl100k_base",
    "the key is a UUID: 019c2d3e-9d1b-76ef-94c5-88628e870c23",
    "commit 085890d1f2a3b4c5d6e7f8091a2b3c4d5e6f7081",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
    "https://github.com/omoide/omoide/pull/42#issuecomment-1234567890",
    "http://localhost:3000/users/@me",
    "git clone ssh://git@github.com:22/a/b.git",
    "https://example.com:8080/a?email=me@example.com",
    "https://example.com:8080?email=me@example.com",
    "postgres://postgres:postgres@localhost:5432/dev",
    "mail me at a.b+c@example.com",
    "class sk-button-primary-large-container-v2 { }",
    "sk-learn-pipeline-with-many-long-steps-in-it-2",
    "pip install scikit-learn  # sk-learn",
    "Files that begin with -----BEGIN RSA PRIVATE KEY----- must never be committed, nor any other kind of key file.",
    "AKIAIOSFODNN7" + "EXAMPLE is the key of the AWS manual",
    "def test_live_data(): ...",
    "export PATH=/usr/local/bin:$PATH",
    "ファイル src/core/loop.ts の getUserById() を修正した。鍵のローテーションは毎月。",
    "import { TokenService } from './TokenService2';",
    "The bearer of this letter may pass; Bearer authentication is used.",
    "key: value, primary_key: id, foreign_key: user_id_2",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "password: ************",
    "npm_config_registry=https://registry.example.test/",
    "eyJ is how a JSON web token begins",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_left_alone(text):
    assert list(secrets.find(text)) == []
    assert secrets.redact(text) == text


def test_several_secrets_are_redacted_and_overlapping_ones_once():
    token = "ghp" + "_" + draw(36)
    text = f"one {token}, two password={token} three postgres://u:{token}@h/db end"
    redacted = secrets.redact(text)
    assert token[4:] not in redacted
    assert redacted.startswith("one [redacted: GitHub token], two password=[redacted:")
    assert redacted.endswith("@h/db end")
    assert redacted.count("redacted") == 3


HOSTILE = {
    "sk-": "sk-" * 33_000,
    "sk- words": "sk-aaaa " * 12_000,
    "sk- one word": "sk-" + "a" * 100_000,
    "json web tokens": "eyJ-" * 25_000,
    "json web token parts": "eyJaaaaaaaa." * 8_000,
    "one long json web token": "eyJ" + "a" * 100_000,
    "begins of keys": "-----BEGIN PRIVATE KEY-----" * 3_700,
    "begins without end": "-----BEGIN " * 9_000 + "PRIVATE KEY",
    "letters of begins": "-----BEGIN " + "A " * 50_000 + "PRIVATE KEY",
    "almost bodies": ("-----BEGIN PRIVATE KEY-----" + ("a" * 39 + " ") * 7) * 300,
    "schemes": "a://" * 25_000,
    "users": "http://" + "a" * 100_000,
    "users and colons": "http://a:" * 11_000,
    "plus": "a+" * 50_000 + "://",
    "assignments": "password=" * 11_000,
    "spaces": "password" + " " * 100_000 + "=",
    "values": "token=" + "a1" * 50_000,
    "bearers": "Bearer " * 14_000,
    "slack": "xoxb-" * 20_000,
    "sendgrid": "SG." * 33_000,
    "pypi": "pypi-" * 20_000,
    "github": "github_pat_" * 9_000,
    "dashes": "-" * 100_000 + "PRIVATE KEY sk- eyJ :// ey",
}


REPEATED = (
    "curl -u ", "mysql -p", "password is to be as ", "パスワードは", "パスワードは a1 「", "login admin/", "authorization: ",
    "token: token: ", "PuTTY-User-Key-File-3:", "seed phrase abc ", "docker login ", "echo x |", "ログインは a:", "key=",
    "secret (",
    'pass "', "eyJaaaaaaaa.eyJ", "http://a@", "Cookie: a=b;", "1/", "M.", "?sig=aaaa%", "AAAAAAAAAAAAAAAAAAAA", "ya29.",
    "password 「",
    "is the password ", "aaa1!A がパスワード", "sqlplus a/", "zip zip ", "identified by '", 'auth("a","', "xoxb-1", "postgres://u:aaaa",
    "鍵は", '"kty" "d":"', "pass", "an ordinary sentence, ", "これは普通の文章です。",
)  # a table: several entries per line  # fmt: skip
HOSTILE |= {text: text * (100_000 // len(text)) for text in REPEATED}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_ten_times_the_text_costs_at_most_twelve_times_the_work(text):
    """Work is time of the processor, the least of several runs. A quadratic search would cost a hundred times as much."""
    small = (text * 2)[:20_000]
    large = small * 10

    def cost(text, runs):
        return min(measure(text) for _ in range(runs))

    def measure(text):
        started = time.process_time()
        list(secrets.find(text))
        return time.process_time() - started

    cost(small[:2_000], 1)  # compiled
    assert any(cost(large, 1) <= 12 * cost(small, 3) + 0.02 for _ in range(5))  # other programs may disturb some


@pytest.mark.parametrize("seed", [11, 12, 13])
def test_tokens_of_every_provider_are_found_in_any_sentence(seed):
    tokens = secret_examples.provider_tokens(seed)
    missed = [
        (service, around)
        for service, token in tokens.items()
        for around in secret_examples.AROUND
        if not list(secrets.find(around.format(token)))
    ]
    assert missed == []


@pytest.mark.parametrize("provider", providers.PROVIDERS, ids=lambda provider: provider.kind)
def test_a_text_with_the_mark_of_a_provider_is_searched_for_its_tokens(provider):
    """The marks are looked for only where a token can be: each must be visible there."""
    for mark in provider.marks:
        for before in ("", "key=", "トークンは", "\\n", "a-"):
            assert provider in search.possible_providers(secrets.token_runs(before + mark + "a" * 60))


def test_a_token_with_a_space_after_its_mark_is_found():
    assert {secret.kind for secret in secrets.find("deploy with Fly" + "V1 " + draw(40))} == {"Fly.io token"}


def test_the_providers_are_more_than_forty_services():
    from omoide.guard.secrets.providers import PROVIDERS

    assert len({provider.kind for provider in PROVIDERS}) >= 100
    assert len(secret_examples.provider_tokens(1)) >= 80


@pytest.mark.parametrize("seed", [11, 12, 13])
def test_named_secrets_are_found_in_files_commands_and_sentences(seed):
    texts = secret_examples.named_secrets(seed)
    missed = [text for text in texts if not list(secrets.find(text))]
    assert len(missed) <= len(texts) / 50, missed


@pytest.mark.parametrize("seed", [11, 12, 13])
def test_lookalikes_of_secrets_are_not_found(seed):
    texts = secret_examples.lookalikes(seed)
    alarms = [text for text in texts if list(secrets.find(text))]
    assert len(alarms) <= len(texts) / 100, alarms


def test_a_redacted_text_contains_no_secret():
    for text in [*secret_examples.named_secrets(3), *secret_examples.provider_tokens(3).values()]:
        assert list(secrets.find(secrets.redact(text))) == []


def test_a_full_width_secret_is_found_and_only_it_is_redacted():
    wide = str.maketrans({n: n + 0xFEE0 for n in range(0x21, 0x7F)})
    text = "設定は " + "API_KEY=".translate(wide) + draw(32).translate(wide) + " です"
    assert secrets.redact(text) == "設定は " + "API_KEY=".translate(wide) + "[redacted: assigned secret] です"
