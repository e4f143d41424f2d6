"""Keys of services, in the formats that the services document, in the sentences and snippets in which people leave them.

The source holds only beginnings and alphabets; the characters come from the random generator.
"""

from collections.abc import Callable, Iterator
from itertools import cycle
from random import Random
from typing import NamedTuple

from bench.secrets_corpus.parts import (
    ALNUM,
    BASE32,
    DIGITS,
    HEX,
    LOWNUM,
    UPNUM,
    URL,
    Item,
    Language,
    base64_of,
    base64url_of,
    draw,
    json_base64url,
    pkcs8_body,
    uuid,
)

KIND = "provider key"


class Provider(NamedTuple):
    """`bare` keys are recognised by their format; the others only by the name beside them."""

    service: str
    name: str
    make: Callable[[Random], str]
    bare: bool = True


def _with(prefix: str, alphabet: str, length: int, suffix: str = "") -> Callable[[Random], str]:
    return lambda rng: f"{prefix}{draw(rng, alphabet, length)}{suffix}"


def _key(service: str, name: str, prefix: str, alphabet: str, length: int, suffix: str = "") -> Provider:
    return Provider(service, name, _with(prefix, alphabet, length, suffix))


def _by_name(service: str, name: str, alphabet: str, length: int) -> Provider:
    return Provider(service, name, _with("", alphabet, length), bare=False)


def _slack_bot(rng: Random) -> str:
    return f"xox{'b'}-{draw(rng, DIGITS, 12)}-{draw(rng, DIGITS, 13)}-{draw(rng, ALNUM, 24)}"


def _slack_user(rng: Random) -> str:
    return f"xox{'p'}-{draw(rng, DIGITS, 12)}-{draw(rng, DIGITS, 12)}-{draw(rng, DIGITS, 13)}-{draw(rng, HEX, 32)}"


def _slack_app(rng: Random) -> str:
    return f"xap{'p'}-1-A0{draw(rng, UPNUM, 9)}-{draw(rng, DIGITS, 13)}-{draw(rng, HEX, 64)}"


def _slack_webhook(rng: Random) -> str:
    return f"https://hooks.slack.com/services/T0{draw(rng, UPNUM, 9)}/B0{draw(rng, UPNUM, 9)}/{draw(rng, ALNUM, 24)}"


def _discord_bot(rng: Random) -> str:
    user = base64url_of(f"1{draw(rng, DIGITS, 17)}".encode())
    return f"{user}.G{draw(rng, URL, 5)}.{draw(rng, URL, 38)}"


def _discord_webhook(rng: Random) -> str:
    return f"https://discord.com/api/webhooks/1{draw(rng, DIGITS, 18)}/{draw(rng, URL, 68)}"


def _telegram(rng: Random) -> str:
    return f"7{draw(rng, DIGITS, 9)}:AA{draw(rng, URL, 33)}"


def _openai(rng: Random) -> str:
    return f"sk-{'proj'}-{draw(rng, URL, 74)}T3Blbk{'FJ'}{draw(rng, URL, 74)}"


def _openai_legacy(rng: Random) -> str:
    return f"sk-{draw(rng, ALNUM, 20)}T3Blbk{'FJ'}{draw(rng, ALNUM, 20)}"


def _sentry_organization(rng: Random) -> str:
    head = {"iat": 1760000000 + rng.randrange(10**6), "url": "https://sentry.io", "org": "acme"}
    return f"sntry{'s'}_{json_base64url(head)}=_{draw(rng, ALNUM, 43)}"


def _grafana_cloud(rng: Random) -> str:
    return f"gl{'c'}_" + json_base64url({"o": "482913", "n": "stack-ci", "k": draw(rng, ALNUM, 24), "m": {"r": "eu"}})


def _twitter_bearer(rng: Random) -> str:
    return "A" * 22 + f"{draw(rng, ALNUM, 12)}%2B{draw(rng, ALNUM, 22)}%3D{draw(rng, ALNUM, 50)}"


def _mapbox(rng: Random) -> str:
    return f"sk.{json_base64url({'u': 'acme-maps', 'a': 'c' + draw(rng, LOWNUM, 24)})}.{draw(rng, URL, 22)}"


def _one_password(rng: Random) -> str:
    account = {"signInAddress": "acme.1password.com", "userAuth": {"method": "SRPg-4096"}, "secretKey": draw(rng, UPNUM, 34)}
    return f"op{'s'}_{json_base64url({**account, 'srpX': draw(rng, HEX, 64), 'muk': draw(rng, URL, 43)})}"


def _azure_storage(rng: Random) -> str:
    return base64_of(rng, 64)


def _azure_client(rng: Random) -> str:
    return f"{draw(rng, ALNUM, 3)}8Q~{draw(rng, ALNUM + '_.-', 33)}{rng.choice(ALNUM)}"


def _braintree(rng: Random) -> str:
    return f"access_token$production${draw(rng, LOWNUM, 16)}${draw(rng, HEX, 32)}"


def _bedrock(rng: Random) -> str:
    return "AB" + "SK" + base64_of(rng, 66, f"BedrockAPIKey-{draw(rng, LOWNUM, 4)}-at-{draw(rng, DIGITS, 12)}:".encode())


def _tailscale(rng: Random) -> str:
    return f"tskey-{'auth'}-k{draw(rng, ALNUM, 10)}CNTRL-{draw(rng, ALNUM, 32)}"


_PROVIDERS = (
    # Cloud and hosting
    _key("AWS", "AWS_ACCESS_KEY_ID", "AK" + "IA", BASE32, 16),
    Provider("AWS", "AWS_SECRET_ACCESS_KEY", lambda rng: base64_of(rng, 30), bare=False),
    Provider("AWS", "AWS_BEARER_TOKEN_BEDROCK", _bedrock),
    _key("Google Cloud", "GOOGLE_API_KEY", "AI" + "za", URL, 35),
    _key("Google Cloud", "GOOGLE_CLIENT_SECRET", "GOC" + "SPX-", URL, 28),
    _key("Google Cloud", "GOOGLE_OAUTH_ACCESS_TOKEN", "ya" + "29.", URL, 160),
    Provider("Azure", "AZURE_STORAGE_KEY", _azure_storage, bare=False),
    Provider("Azure", "AZURE_CLIENT_SECRET", _azure_client),
    _by_name("Alibaba Cloud", "ALIBABA_CLOUD_ACCESS_KEY_SECRET", ALNUM, 30),
    _key("DigitalOcean", "DIGITALOCEAN_ACCESS_TOKEN", "dop" + "_v1_", HEX, 64),
    _by_name("Cloudflare", "CLOUDFLARE_API_TOKEN", URL, 40),
    _key("Heroku", "HEROKU_API_KEY", "HRKU" + "-AA", URL, 58),
    _by_name("Vercel", "VERCEL_TOKEN", ALNUM, 24),
    _key("Netlify", "NETLIFY_AUTH_TOKEN", "nf" + "p_", ALNUM, 36),
    _key("Fly.io", "FLY_API_TOKEN", "fo" + "1_", URL, 43),
    Provider("Fly.io", "FLY_ACCESS_TOKEN", lambda rng: f"Fly{'V1'} fm2_{base64_of(rng, 192)}"),
    _key("Render", "RENDER_API_KEY", "rn" + "d_", ALNUM, 32),
    # Code hosting and builds
    _key("GitHub", "GITHUB_TOKEN", "gh" + "p_", ALNUM, 36),
    _key("GitHub", "GH_OAUTH_TOKEN", "gh" + "o_", ALNUM, 36),
    _key("GitHub", "GH_APP_TOKEN", "gh" + "s_", ALNUM, 36),
    Provider("GitHub", "GH_TOKEN", lambda rng: f"github_{'pat'}_{draw(rng, ALNUM, 22)}_{draw(rng, ALNUM, 59)}"),
    _key("GitLab", "GITLAB_TOKEN", "gl" + "pat-", URL, 20),
    _key("GitLab", "CI_RUNNER_TOKEN", "gl" + "rt-", URL, 20),
    _key("Bitbucket", "BITBUCKET_APP_PASSWORD", "AT" + "BB", ALNUM, 32),
    _key("Atlassian", "ATLASSIAN_API_TOKEN", "ATA" + "TT3xFfGF0", URL, 175, "=4F0B2A91"),
    _key("Buildkite", "BUILDKITE_API_TOKEN", "bk" + "ua_", HEX, 40),
    Provider("CircleCI", "CIRCLE_TOKEN", lambda rng: f"CCI{'PAT'}_{draw(rng, ALNUM, 22)}_{draw(rng, HEX, 40)}"),
    _key("SonarQube", "SONAR_TOKEN", "sq" + "u_", HEX, 40),
    Provider("Sourcegraph", "SRC_ACCESS_TOKEN", lambda rng: f"sg{'p'}_{draw(rng, HEX, 16)}_{draw(rng, HEX, 40)}"),
    # Package registries
    _key("npm", "NPM_TOKEN", "np" + "m_", ALNUM, 36),
    _key("PyPI", "PYPI_TOKEN", "py" + "pi-AgEIcHlwaS5vcmc", URL, 150),
    _key("RubyGems", "GEM_HOST_API_KEY", "ruby" + "gems_", HEX, 48),
    _key("crates.io", "CARGO_REGISTRY_TOKEN", "ci" + "o", ALNUM, 32),
    _key("Docker Hub", "DOCKERHUB_TOKEN", "dckr" + "_pat_", URL, 27),
    _key("NuGet", "NUGET_API_KEY", "oy" + "2", LOWNUM, 43),
    _key("Clojars", "CLOJARS_PASSWORD", "CLOJ" + "ARS_", HEX, 60),
    _key("Artifactory", "JFROG_API_KEY", "AKC" + "p8", ALNUM, 68),
    # AI
    Provider("OpenAI", "OPENAI_API_KEY", _openai),
    Provider("OpenAI", "OPENAI_KEY", _openai_legacy),
    _key("Anthropic", "ANTHROPIC_API_KEY", "sk-" + "ant-api03-", URL, 93, "AA"),
    _key("Hugging Face", "HF_TOKEN", "h" + "f_", ALNUM, 34),
    _key("Groq", "GROQ_API_KEY", "gs" + "k_", ALNUM, 52),
    _key("Replicate", "REPLICATE_API_TOKEN", "r" + "8_", ALNUM, 37),
    _key("Perplexity", "PPLX_API_KEY", "pp" + "lx-", ALNUM, 48),
    _key("xAI", "XAI_API_KEY", "x" + "ai-", ALNUM, 80),
    _key("OpenRouter", "OPENROUTER_API_KEY", "sk-" + "or-v1-", HEX, 64),
    _key("DeepSeek", "DEEPSEEK_API_KEY", "s" + "k-", HEX, 32),
    Provider("LangSmith", "LANGSMITH_API_KEY", lambda rng: f"lsv2{'_pt_'}{draw(rng, HEX, 32)}_{draw(rng, HEX, 10)}"),
    _key("NVIDIA", "NVIDIA_API_KEY", "nv" + "api-", URL, 64),
    _by_name("Cohere", "COHERE_API_KEY", ALNUM, 40),
    _by_name("Mistral", "MISTRAL_API_KEY", ALNUM, 32),
    # Databases and data
    _key("PlanetScale", "PLANETSCALE_SERVICE_TOKEN", "pscale" + "_tkn_", URL, 43),
    _key("PlanetScale", "DATABASE_PASSWORD", "pscale" + "_pw_", URL, 43),
    _key("Supabase", "SUPABASE_ACCESS_TOKEN", "sb" + "p_", HEX, 40),
    _key("Databricks", "DATABRICKS_TOKEN", "da" + "pi", HEX, 32),
    Provider("Airtable", "AIRTABLE_TOKEN", lambda rng: f"pa{'t'}{draw(rng, ALNUM, 14)}.{draw(rng, HEX, 64)}"),
    _by_name("Algolia", "ALGOLIA_ADMIN_API_KEY", HEX, 32),
    # Observability
    _by_name("Datadog", "DD_API_KEY", HEX, 32),
    _by_name("Datadog", "DD_APPLICATION_KEY", HEX, 40),
    _key("New Relic", "NEW_RELIC_API_KEY", "NR" + "AK-", UPNUM, 27),
    Provider("Sentry", "SENTRY_AUTH_TOKEN", _sentry_organization),
    _key("Sentry", "SENTRY_USER_TOKEN", "sntr" + "yu_", HEX, 64),
    Provider("Grafana", "GRAFANA_TOKEN", lambda rng: f"gl{'sa'}_{draw(rng, ALNUM, 32)}_{draw(rng, HEX, 8)}"),
    Provider("Grafana", "GRAFANA_CLOUD_TOKEN", _grafana_cloud),
    _key("Honeycomb", "HONEYCOMB_API_KEY", "hca" + "ik_01", LOWNUM, 56),
    _by_name("PagerDuty", "PAGERDUTY_TOKEN", ALNUM + "_+-", 20),
    Provider("Dynatrace", "DT_API_TOKEN", lambda rng: f"dt0{'c01'}.{draw(rng, BASE32, 24)}.{draw(rng, BASE32, 64)}"),
    # Chat
    Provider("Slack", "SLACK_BOT_TOKEN", _slack_bot),
    Provider("Slack", "SLACK_USER_TOKEN", _slack_user),
    Provider("Slack", "SLACK_APP_TOKEN", _slack_app),
    Provider("Slack", "SLACK_WEBHOOK_URL", _slack_webhook),
    Provider("Discord", "DISCORD_TOKEN", _discord_bot),
    Provider("Discord", "DISCORD_WEBHOOK_URL", _discord_webhook),
    Provider("Telegram", "TELEGRAM_BOT_TOKEN", _telegram),
    Provider("LINE", "LINE_CHANNEL_ACCESS_TOKEN", lambda rng: f"{base64_of(rng, 126)}w1cDnyilFU=", bare=False),
    _by_name("LINE", "LINE_CHANNEL_SECRET", HEX, 32),
    # Payment and shops
    _key("Stripe", "STRIPE_SECRET_KEY", "sk" + "_live_51", ALNUM, 97),
    _key("Stripe", "STRIPE_RESTRICTED_KEY", "rk" + "_live_", ALNUM, 24),
    _key("Stripe", "STRIPE_WEBHOOK_SECRET", "wh" + "sec_", ALNUM, 32),
    _key("Square", "SQUARE_ACCESS_TOKEN", "EA" + "AAl", URL, 59),
    _key("Square", "SQUARE_CLIENT_SECRET", "sq0" + "csp-", URL, 43),
    _key("Shopify", "SHOPIFY_ADMIN_TOKEN", "shp" + "at_", HEX, 32),
    Provider("Braintree", "BRAINTREE_ACCESS_TOKEN", _braintree),
    # Mail and telephone
    Provider("SendGrid", "SENDGRID_API_KEY", lambda rng: f"S{'G'}.{draw(rng, URL, 22)}.{draw(rng, URL, 43)}"),
    _key("Mailgun", "MAILGUN_API_KEY", "ke" + "y-", HEX, 32),
    _key("Mailchimp", "MAILCHIMP_API_KEY", "", HEX, 32, "-us12"),
    Provider("Postmark", "POSTMARK_SERVER_TOKEN", uuid, bare=False),
    Provider("Resend", "RESEND_API_KEY", lambda rng: f"r{'e'}_{draw(rng, ALNUM, 8)}_{draw(rng, ALNUM, 24)}"),
    Provider("Brevo", "BREVO_API_KEY", lambda rng: f"xkey{'sib'}-{draw(rng, HEX, 64)}-{draw(rng, ALNUM, 16)}"),
    _by_name("Twilio", "TWILIO_AUTH_TOKEN", HEX, 32),
    Provider("Twilio", "TWILIO_API_SECRET", _with("", ALNUM, 32), bare=False),
    # Tools of a team
    Provider("Notion", "NOTION_TOKEN", lambda rng: f"nt{'n'}_{draw(rng, DIGITS, 11)}{draw(rng, ALNUM, 35)}"),
    _key("Notion", "NOTION_API_KEY", "sec" + "ret_", ALNUM, 43),
    _key("Linear", "LINEAR_API_KEY", "lin" + "_api_", ALNUM, 40),
    _key("Figma", "FIGMA_TOKEN", "fig" + "d_", URL, 40),
    _key("Contentful", "CONTENTFUL_MANAGEMENT_TOKEN", "CF" + "PAT-", URL, 43),
    Provider("HubSpot", "HUBSPOT_ACCESS_TOKEN", lambda rng: f"pa{'t'}-na1-{uuid(rng)}"),
    Provider("Postman", "POSTMAN_API_KEY", lambda rng: f"PM{'AK'}-{draw(rng, HEX, 24)}-{draw(rng, HEX, 34)}"),
    Provider("Mapbox", "MAPBOX_SECRET_TOKEN", _mapbox),
    _key("Dropbox", "DROPBOX_ACCESS_TOKEN", "s" + "l.B", URL, 136),
    Provider("X", "X_BEARER_TOKEN", _twitter_bearer, bare=False),
    # Secrets, identity and networks
    Provider("HCP Terraform", "TFE_TOKEN", lambda rng: f"{draw(rng, ALNUM, 14)}.atlas{'v1'}.{draw(rng, URL, 67)}"),
    _key("Vault", "VAULT_TOKEN", "hv" + "s.CAESI", URL, 90),
    _key("Doppler", "DOPPLER_TOKEN", "dp" + ".pt.", ALNUM, 43),
    _key("Pulumi", "PULUMI_ACCESS_TOKEN", "pu" + "l-", HEX, 40),
    _key("Okta", "OKTA_API_TOKEN", "0" + "0", URL, 40)._replace(bare=False),
    Provider("1Password", "OP_SERVICE_ACCOUNT_TOKEN", _one_password),
    Provider("Tailscale", "TS_AUTHKEY", _tailscale),
)  # a table: several entries per line  # fmt: skip

_NAMED: dict[Language, tuple[str, ...]] = {
    "en": (
        "Deploy notes for the worker. It reads from the environment:\n{name}={token}\nLOG_LEVEL=info",
        "export {name}={token}  # {service}, renew in June",
        "ci: set {name} to {token} so that the nightly build passes again",
        "The {service} API key that CI uses is {token}.",
        'os.environ["{name}"] = "{token}"\nclient = connect(timeout=30)',
        "docker run --rm -e {name}={token} ghcr.io/acme/worker:1.4.2",
        'ECS task definition:\n"environment": [{{"name": "{name}", "value": "{token}"}}]',
        "kubectl create secret generic worker --from-literal={name}='{token}'",
        'env:\n  {name}: "{token}"\n  NODE_ENV: production',
    ),
    "ja": (
        "ワーカーは環境変数から読む。\n{name}={token}\nLOG_LEVEL=info",
        "export {name}={token}  # {service}、6月に更新",
        "CI が落ちていたので {name} を {token} に差し替えた",
        "CIで使っている{service}のAPIキーは{token}です。",
        '一時的に直書きした。あとで消すこと\nos.environ["{name}"] = "{token}"',
        "手元での起動はこれ: docker run --rm -e {name}={token} ghcr.io/acme/worker:1.4.2",
        'タスク定義に追加した：\n"environment": [{{"name": "{name}", "value": "{token}"}}]',
        "シークレットの作り直し: kubectl create secret generic worker --from-literal={name}='{token}'",
        '設定ファイルにこう書いた。\nenv:\n  {name}: "{token}"\n  NODE_ENV: production',
    ),
}  # a table: several entries per line  # fmt: skip
_BARE: dict[Language, tuple[str, ...]] = {
    "en": (
        "@mika use {token} for {service} until Friday, then revoke it",
        "{service} answered 401 with {token}, the other account works",
        "chore: rotate {service}, new one is {token}",
        "const client = createClient('{token}');",
        "pasted {token} into the {service} settings page, the sync runs again",
        "2026-02-11T09:14:02Z ERROR client init failed for {token}: quota exceeded",
        "- [ ] revoke {token} ({service}, was visible in the screen share)",
        "Runbook, step 4: when the tool asks, enter {token} and press return.",
    ),
    "ja": (
        "@mika 金曜まで{service}は{token}を使って。終わったら失効させてね",
        "{token} で{service}に繋ぐと401、別アカウントなら通る",
        "chore: {service}をローテーション、新しいのは{token}",
        "const client = createClient('{token}'); // とりあえず動作確認用",
        "{service}の設定画面に「{token}」を貼ったら同期が動いた",
        "2026-02-11T09:14:02Z ERROR 初期化に失敗しました({token}): quota exceeded",
        "・{token}を失効させる（{service}、画面共有で映ってしまった）",
        "手順4:入力を求められたら{token}を入れてEnter。",
    ),
}  # a table: several entries per line  # fmt: skip


def _service_account(rng: Random, language: Language) -> Item:
    key = "-----BEGIN PRIVATE KEY-----\\n" + pkcs8_body(rng).replace("\n", "\\n") + "\\n-----END PRIVATE KEY-----\\n"
    text = (
        f'{{\n  "type": "service_account",\n  "project_id": "acme-prod",\n  "private_key_id": "{draw(rng, HEX, 40)}",\n'
        f'  "private_key": "{key}",\n  "client_email": "deploy@acme-prod.iam.gserviceaccount.com"\n}}'
    )
    lead = {"en": "The JSON of the deploy account:", "ja": "デプロイ用サービスアカウントのJSONです。"}[language]
    return Item(f"{lead}\n{text}", KIND, language, key, "Google Cloud")


def items(rng: Random) -> Iterator[Item]:
    contexts = {language: cycle(rng.sample(_NAMED[language] + _BARE[language], 17)) for language in _NAMED}
    named = {language: cycle(rng.sample(_NAMED[language], 9)) for language in _NAMED}
    languages: tuple[Language, ...] = ("en", "ja")
    for provider, language in zip(_PROVIDERS, cycle(languages), strict=False):
        context = next(contexts[language] if provider.bare else named[language])
        token = provider.make(rng)
        text = context.format(service=provider.service, name=provider.name, token=token)
        yield Item(text, KIND, language, token, provider.service)
    yield _service_account(rng, "en")
    yield _service_account(rng, "ja")
