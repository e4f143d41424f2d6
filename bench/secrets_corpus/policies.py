"""Sentences about passwords, keys and tokens that contain none: rules, places, owners, errors and other meanings."""

from collections.abc import Iterator
from random import Random

from bench.secrets_corpus.parts import Item

_ENGLISH = (
    "Passwords must be at least 12 characters long and contain a digit.",
    "The admin password is stored in 1Password, vault Operations.",
    "The password is required, the display name is optional.",
    "password is incorrect or the account is locked",
    "I forgot the password of the staging database, please reset it.",
    "The token is expired: run the login again.",
    "Tokens are valid for 24 hours and renewed at 3:00 UTC.",
    "Rotate the API key every 90 days; Ken owns it.",
    "the API key is read from the environment at start-up",
    "Never write a password into a ticket, a commit or a chat.",
    "The secret key is the same on all three nodes, see the Vault entry.",
    "Login: use the single sign-on, there are no local passwords any more.",
    "feat(auth): password reset by mail, token valid for 30 minutes",
    "We hash passwords with Argon2id, memory 64 MiB, 3 passes.",
    "The password was changed yesterday, ask Mika for the new one.",
    "Password: see the sealed envelope in the safe",
    "secret scanning is enabled for all repositories since 2025-11",
    "Credentials: managed by Terraform, nobody needs to know them.",
    "The primary key is user_id, the sort key is created_at#order_id.",
    "max_tokens=4096, temperature=0.2, context of 128000 tokens",
    "The prompt costs 1834 tokens, the answer 512 tokens.",
    "pass rate went from 92.4% to 98.1% after the retry fix",
    "The pass for the visitors' entrance is at the front desk.",
    "Authorization: only members of the group ops-admins may deploy.",
    "Basic authentication is disabled for the public endpoints.",
    "The bearer token goes into the Authorization header, not into the query string.",
    "PIN entry is blocked after 3 wrong attempts.",
    "The private key never leaves the HSM; only the CSR does.",
    "docs: say where the client secret is created (console, APIs, credentials)",
    "password-protected ZIPs are stripped by the mail gateway",
    "Key findings: latency down 18 %, error rate 0.02 %.",
    "The password field is called user_password in v1 and password in v2.",
)  # a table: several entries per line  # fmt: skip

_JAPANESE = (
    "パスワードは12文字以上、数字を1つ以上含めること。",
    "管理者のパスワードは1Passwordに保存しています。",
    "パスワードは必須、表示名は任意です。",
    "パスワードが間違っているか、アカウントがロックされています。",
    "ステージングのパスワードを忘れたので再設定をお願いします。",
    "トークンは期限切れです。もう一度ログインしてください。",
    "トークンは24時間で失効し、3:00に更新されます。",
    "APIキーは90日ごとに更新する。担当は健さん。",
    "APIキーは起動時に環境変数から読み込みます。",
    "パスワードをチケットやコミットに書かないこと。",
    "シークレットキーは3台とも同じです。Vaultを見てください。",
    "ログイン情報は情シスが管理しているので問い合わせること。",
    "パスワードは変更済み。新しいものはみかさんに聞いて。",
    "パスワードはArgon2idでハッシュ化しています。",
    "パスワードは使い回し禁止です。",
    "パスワードは別途メールでお知らせします。",
    "初期パスワードは社員番号の下4桁ではなくなりました。",
    "暗証番号は4桁の数字で、3回間違えるとロックされます。",
    "暗証番号は窓口で設定してください。",
    "パスは相対パスで書いてください。",
    "パスは通っているはずなのにコマンドが見つからない。",
    "主キーはuser_id、ソートキーはcreated_atです。",
    "トークン数は4096が上限、温度は0.2にした。",
    "このプロンプトは1834トークンかかる。",
    "テストのパス率は92.4%から98.1%に上がった。",
    "パスワード：金庫の封筒を参照",
    "秘密鍵はHSMの外に出ません。",
    "認証情報はTerraformで管理しているため、誰も知る必要がない。",
    "Basic認証は公開側では無効です。",
    "パスワードリセット画面のURLが変わった（v2から/account/reset）。",
    "クライアントシークレットはコンソールの「認証情報」で作成する。",
    "アクセストークンはヘッダーに入れる。クエリには入れない。",
)  # a table: several entries per line  # fmt: skip


def items(_rng: Random) -> Iterator[Item]:
    for text in _ENGLISH:
        yield Item(text, "sentence without a secret", "en")
    for text in _JAPANESE:
        yield Item(text, "sentence without a secret", "ja")
