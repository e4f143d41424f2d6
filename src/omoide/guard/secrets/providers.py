"""Tokens that tell by their shape which service issued them."""

from typing import NamedTuple


class Provider(NamedTuple):
    kind: str
    marks: tuple[str, ...]
    """One of these is in every token; the token begins with it unless `inside` is set."""
    pattern: str
    """What follows the mark, or the whole token where `inside` is set."""
    strict: bool = True
    """False: words can look the same, so the rest must look random too."""
    inside: bool = False
    least: int = 0
    """Characters of the shortest token, where the mark alone is in many texts."""


def _tail(kind: str, marks: str, pattern: str, *, strict: bool = True) -> Provider:
    return Provider(kind, tuple(marks.split()), pattern, strict)


def _inside(kind: str, marks: str, pattern: str, *, least: int = 0) -> Provider:
    return Provider(kind, tuple(marks.split()), pattern, inside=True, least=least)


_WORD = r"[A-Za-z0-9]"
_TEXT = r"[A-Za-z0-9_-]"
_HEX = r"[0-9a-f]"
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

PROVIDERS: tuple[Provider, ...] = (
    # clouds
    _tail("AWS access key", "AKIA ASIA ABIA ACCA", r"[0-9A-Z]{16}(?![0-9A-Za-z])"),
    _tail("AWS Bedrock key", "ABSK bedrock-api-key-", r"[A-Za-z0-9+/=]{80,1000}"),
    _tail("Google API key", "AIza", rf"{_TEXT}{{35}}(?!{_TEXT})"),
    _tail("Google OAuth secret", "GOCSPX-", rf"{_TEXT}{{20,60}}"),
    _tail("Google OAuth token", "ya29.", r"[A-Za-z0-9_-]{20,1000}"),
    _tail("Google refresh token", "1//0", r"[A-Za-z0-9_-]{30,200}"),
    _inside("Azure client secret", "Q~", r"[A-Za-z0-9_.~-]{3}[78]Q~[A-Za-z0-9_.~-]{30,40}"),
    _tail("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", rf"{_HEX}{{60,64}}"),
    _tail("Alibaba Cloud key", "LTAI", r"[A-Za-z0-9]{12,24}(?![A-Za-z0-9])", strict=False),
    _tail("Tencent Cloud key", "AKID", r"[A-Za-z0-9]{28,40}(?![A-Za-z0-9])"),
    _tail("Heroku key", "HRKU-", rf"(?:{_UUID}|{_TEXT}{{50,100}})"),
    _tail("Cloudflare origin key", "v1.0-", rf"{_HEX}{{24}}-{_HEX}{{146}}"),
    _tail("Cloudflare token", "cfut_ cfat_ cfk_", rf"{_TEXT}{{30,80}}"),
    _tail("Vercel token", "vercel_blob_rw_ vcp_ vca_ vci_ vcr_ vck_", rf"{_TEXT}{{20,80}}"),
    _tail("Netlify token", "nfp_ nfc_ nfo_ nfu_", rf"{_WORD}{{30,60}}"),
    _tail("Fly.io token", "FlyV1 fm1a_ fm1r_ fm2_ fo1_", r" ?[A-Za-z0-9_+/=,-]{30,2000}"),
    _tail("Render key", "rnd_", rf"{_WORD}{{20,60}}"),
    _tail("Scalingo token", "tk-us-", rf"{_TEXT}{{40,60}}"),
    _tail("Yandex Cloud key", "AQVN t1.9 YCAJ YCNP YCP", r"[A-Za-z0-9_.-]{30,400}"),
    # chat
    _tail("Slack token", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xox xapp-",
          r"[A-Za-z0-9%.-]{10,300}", strict=False),
    _inside("Slack webhook", "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{20,255}"),
    _inside("Discord webhook", "/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/\d{15,21}/[A-Za-z0-9_-]{40,100}"),
    _inside("Discord bot token", ".",
            r"(?<![A-Za-z0-9_.-])[MNO][A-Za-z0-9_-]{22,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{26,45}", least=56),
    _tail("Discord MFA token", "mfa.", rf"{_TEXT}{{70,100}}"),
    _inside("Telegram bot token", ":A", r"(?<![0-9A-Za-z])\d{8,10}:A[A-Za-z0-9_-]{34}(?![A-Za-z0-9_-])"),
    _inside("Teams webhook", ".webhook.office.com outlook.office.com/webhook logic.azure.com powerplatform.com",
            r"(?:webhook\.office\.com/webhookb?\d?/[0-9a-f-]{36}@[0-9a-f-]{36}/IncomingWebhook/[0-9a-f]{32}(?:/[0-9a-f-]{36})?"
            r"|outlook\.office\.com/webhook/[0-9a-f-]{36}[@0-9a-f-]{0,40}/IncomingWebhook/[0-9a-f]{32}(?:/[0-9a-f-]{36})?"
            r"|(?:logic\.azure|powerplatform)\.com[^\s\"']{1,300}[?&]sig=[A-Za-z0-9_%-]{20,100})"),
    _inside("Google Chat webhook", "chat.googleapis.com",
            r"chat\.googleapis\.com/v1/spaces/[\w-]+/messages\?key=[^\s\"']{30,300}"),
    _inside("LINE channel token", "04t89/1O/w1cDnyilFU",
            r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{140,200}w?d?B?04t89/1O/w1cDnyilFU=?"),
    # payment
    _tail("Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_", rf"{_WORD}{{16,255}}"),
    _tail("Stripe webhook secret", "whsec_", r"[A-Za-z0-9+/=]{24,80}"),
    _tail("Square token", "sq0atp- sq0csp- EAAAE EAAAl EAAAF", rf"{_TEXT}{{20,70}}", strict=False),
    _inside("PayPal token", "access_token$", r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}"),
    _tail("Shopify token", "shpat_ shpss_ shpca_ shppa_ shpua_ shptka_", rf"{_WORD}{{32,64}}"),
    _tail("Adyen key", "AQE", r"[A-Za-z0-9]{0,4}[A-Za-z0-9+/=_-]{60,400}", strict=False),
    _tail("Plaid token", "access-production- access-development- access-sandbox-", _UUID),
    _tail("Flutterwave key", "FLWSECK_TEST- FLWSECK-", r"[0-9A-Za-z]{12,64}(?:-X)?"),
    _tail("GoCardless token", "live_ sandbox_", rf"{_TEXT}{{40,60}}", strict=False),
    _tail("Lob key", "live_pub_ test_pub_", rf"{_WORD}{{30,60}}"),
    _tail("Duffel token", "duffel_live_ duffel_test_", rf"{_TEXT}{{40,60}}"),
    _tail("EasyPost key", "EZAK EZTK", rf"{_WORD}{{50,60}}"),
    _tail("Shippo token", "shippo_live_ shippo_test_", rf"{_HEX}{{36,44}}"),
    _tail("Coinbase key", "organizations/", rf"{_UUID}/apiKeys/{_UUID}"),
    # code hosting
    _tail("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"{_WORD}{{36,255}}"),
    _tail("GitHub token", "github_pat_", r"[A-Za-z0-9_]{40,255}"),
    _tail("GitLab token",
          "glpat- glptt- gldt- glrt- glrtr- glcbt- gloas- glft- glimt- glagent- glsoat- glffct- glwt- _gitlab_session=",
          r"[A-Za-z0-9_.-]{20,255}"),
    _tail("GitLab runner token", "GR1348941", rf"{_TEXT}{{20,60}}"),
    _tail("Bitbucket or Atlassian token", "ATBB ATCTT3 ATATT3 ATTA", r"[A-Za-z0-9_=+/-]{20,400}", strict=False),
    _tail("Sourcegraph token", "sgp_ sgd_ slk_", r"(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}"),
    _tail("SonarQube token", "squ_ sqp_ sqa_", rf"{_HEX}{{40}}"),
    # registries and builds
    _tail("npm token", "npm_", rf"{_WORD}{{36}}(?!{_WORD})"),
    _tail("PyPI token", "pypi-", rf"{_TEXT}{{50,1000}}", strict=False),
    _tail("RubyGems key", "rubygems_", rf"{_HEX}{{48}}"),
    _tail("crates.io token", "cio", r"[A-Za-z0-9]{32}(?![A-Za-z0-9])", strict=False),
    _tail("Docker token", "dckr_pat_ dckr_oat_", rf"{_TEXT}{{20,60}}"),
    _tail("NuGet key", "oy2", r"[a-z0-9]{43}(?![A-Za-z0-9])", strict=False),
    _tail("Clojars token", "CLOJARS_", rf"{_HEX}{{60}}"),
    _tail("Artifactory key", "AKCp cmVmdGtu", rf"{_WORD}{{50,80}}"),
    _tail("CircleCI token", "CCIPAT_ CCIPRJ_", r"[A-Za-z0-9]{22}_[0-9a-f]{40}"),
    _tail("Buildkite token", "bkua_ bkat_ bkaj_ bkrt_", rf"{_HEX}{{30,60}}"),
    # AI
    _tail("API key", "sk-", rf"{_TEXT}{{24,255}}", strict=False),
    _tail("Hugging Face token", "hf_ api_org_", rf"{_WORD}{{30,255}}"),
    _tail("Groq key", "gsk_", rf"{_WORD}{{40,80}}"),
    _tail("Replicate token", "r8_", rf"{_WORD}{{30,60}}"),
    _tail("Perplexity key", "pplx-", rf"{_WORD}{{32,80}}"),
    _tail("xAI key", "xai-", rf"{_WORD}{{60,100}}"),
    _tail("Fireworks key", "fw_ fpk_", rf"{_WORD}{{20,60}}", strict=False),
    _tail("Together key", "tgp_v1_", rf"{_TEXT}{{30,80}}"),
    _tail("LangSmith key", "lsv2_pt_ lsv2_sk_ ls__", r"[0-9a-f]{32}(?:_[0-9a-f]{10})?"),
    _tail("Langfuse key", "sk-lf-", _UUID),
    _tail("Pinecone key", "pcsk_", r"[A-Za-z0-9_]{40,90}"),
    _tail("NVIDIA key", "nvapi-", rf"{_TEXT}{{50,90}}"),
    _tail("Cerebras key", "csk-", rf"{_WORD}{{40,60}}"),
    _tail("Jina key", "jina_", rf"{_TEXT}{{50,80}}"),
    _tail("Voyage key", "pa-", rf"{_TEXT}{{40,60}}", strict=False),
    _tail("Tavily key", "tvly-", rf"(?:dev-|prod-)?{_TEXT}{{24,60}}"),
    _tail("ElevenLabs key", "sk_", rf"{_HEX}{{48}}(?!{_WORD})"),
    _tail("Firecrawl key", "fc-", rf"{_HEX}{{32}}"),
    _tail("E2B key", "e2b_", rf"{_HEX}{{40}}"),
    # databases
    _tail("PlanetScale token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_.=-]{30,70}"),
    _tail("Supabase key", "sbp_ sb_secret_", rf"(?:v\d+_)?{_TEXT}{{20,80}}"),
    _tail("Neon key", "napi_ npg_", rf"{_WORD}{{10,80}}", strict=False),
    _tail("MongoDB Atlas secret", "mdb_sa_sk_", rf"{_TEXT}{{30,60}}"),
    _tail("Databricks token", "dapi dose dkea", r"[0-9a-f]{32}(?:-\d)?"),
    _tail("Xata key", "xau_", rf"{_WORD}{{30,50}}"),
    _tail("Convex key", "prod: dev:", r"[\w-]+\|[A-Za-z0-9+/=]{40,400}"),
    _tail("ClickHouse key", "4b1d", rf"{_WORD}{{38}}(?!{_WORD})", strict=False),
    # observability
    _tail("New Relic key", "NRAK- NRIQ- NRII- NRJS- NRRA- NRSP- NRAA- NRBR- NRAL-", rf"{_TEXT}{{16,64}}"),
    _inside("New Relic licence key", "NRAL", r"(?<![0-9a-f])(?:eu01xx)?[0-9a-f]{30,40}(?:FFFF)?NRAL"),
    _tail("Sentry token", "sntrys_ sntryu_ sntryi_ sntrya_", r"[A-Za-z0-9_+/=-]{40,400}"),
    _tail("Grafana token", "glsa_ glc_ eyJrIjoi", r"[A-Za-z0-9+/=_-]{30,400}"),
    _tail("Honeycomb key", "hcaik_ hcbik_ hcalk_ hcblk_ hcaec_ hcamk_ hcxik_ hcxmk_", rf"{_WORD}{{26,80}}"),
    _tail("Dynatrace token", "dt0c01. dt0s01. dt0s02. dt0s16.", r"[A-Z0-9]{8,24}\.[A-Z0-9]{64}"),
    _tail("Datadog key", "ddapp_ ddpat_", rf"{_WORD}{{30,60}}"),
    _tail("PagerDuty key", "u+", rf"{_TEXT}{{18}}(?!{_TEXT})", strict=False),
    _tail("PostHog key", "phx_", rf"{_WORD}{{30,60}}"),
    _tail("LaunchDarkly key", "sdk-", _UUID),
    # mail
    _tail("SendGrid key", "SG.", rf"{_TEXT}{{16,64}}\.{_TEXT}{{30,64}}"),
    _tail("Mailgun key", "key-", rf"{_HEX}{{32}}(?!{_WORD})"),
    _inside("Mailgun key", "-", r"(?<![0-9A-Za-z-])[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![0-9A-Za-z-])", least=50),
    _inside("Mailchimp key", "-us", r"(?<![0-9A-Za-z])[0-9a-f]{32}-us\d{1,2}(?![0-9A-Za-z])"),
    _tail("Mandrill key", "md-", r"[A-Za-z0-9_-]{22}(?![A-Za-z0-9_-])", strict=False),
    _tail("Resend key", "re_", r"[A-Za-z0-9]{6,10}_[A-Za-z0-9]{16,32}", strict=False),
    _tail("Resend key", "re_", r"[A-Za-z0-9]{24,40}", strict=False),
    _tail("Brevo key", "xkeysib- xsmtpsib-", rf"{_HEX}{{64}}-{_WORD}{{16}}"),
    # others
    _tail("Twilio key", "SK", r"[0-9a-f]{32}(?![0-9A-Za-z])"),
    _tail("Notion token", "secret_ ntn_", r"[A-Za-z0-9]{40,60}", strict=False),
    _tail("Linear key", "lin_api_ lin_oauth_ lin_wh_", rf"{_WORD}{{30,80}}"),
    _tail("Figma token", "figd_ figo_ figu_ figoh_", rf"{_TEXT}{{30,80}}"),
    _tail("Airtable token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    _tail("HubSpot token", "pat-na1- pat-na2- pat-eu1- pat-ap1-", _UUID),
    _inside("Terraform Cloud token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{50,80}"),
    _tail("Vault token", "hvs. hvb. hvr.", rf"{_TEXT}{{20,300}}"),
    _tail("Vault token", "s.", r"[A-Za-z0-9]{24}(?![A-Za-z0-9_.-])", strict=False),
    _tail("Doppler token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", rf"(?:[a-z0-9_-]{{2,35}}\.)?{_WORD}{{40,44}}"),
    _tail("1Password service account token", "ops_eyJ", r"[A-Za-z0-9+/=_-]{100,2000}"),
    _tail("1Password secret key", "A3-", r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
    _tail("age secret key", "AGE-SECRET-KEY-1 AGE-PLUGIN-", r"[0-9A-Z-]{50,200}"),
    _tail("Pulumi token", "pul-", rf"{_HEX}{{40}}"),
    _tail("Postman key", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    _tail("Okta token", "00", r"[A-Za-z0-9_-]{40}(?![A-Za-z0-9_-])", strict=False),
    _tail("Mapbox secret token", "sk.eyJ tk.eyJ", r"[A-Za-z0-9_-]{20,300}\.[A-Za-z0-9_-]{15,60}"),
    _tail("Dropbox token", "sl.", r"[A-Za-z0-9_.-]{80,1500}", strict=False),
    _tail("Facebook token", "EAA", r"[A-Za-z0-9]{60,400}", strict=False),
    _tail("Instagram token", "IGQV IGAA", r"[A-Za-z0-9_-]{60,400}"),
    _tail("X bearer token", "AAAAAAAAAAAAAAAAAAAA", r"[A-Za-z0-9]{2,60}%[A-Za-z0-9%]{20,200}"),
    _inside("Asana token", "/", r"(?<![0-9A-Za-z/])[12]/\d{13,17}(?:/\d{13,17})?:[0-9a-f]{32}", least=48),
    _tail("Contentful token", "CFPAT-", rf"{_TEXT}{{40,50}}"),
    _tail("Prefect key", "pnu_ pnb_", rf"{_WORD}{{30,40}}"),
    _tail("ReadMe key", "rdme_", rf"{_WORD}{{60,80}}"),
    _tail("Typeform token", "tfp_", r"[A-Za-z0-9_.=-]{50,70}"),
    _tail("Tailscale key", "tskey-", r"(?:auth|api|client|scim|webhook)?-?[A-Za-z0-9-]{18,80}", strict=False),
    _tail("OpenShift token", "sha256~", rf"{_TEXT}{{43}}"),
    _tail("Intercom token", "dG9rO", r"[A-Za-z0-9+/=_-]{40,120}"),
    _tail("Infracost key", "ico-", rf"{_WORD}{{32}}"),
    _tail("Harness token", "pat. sat.", r"[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}"),
    _tail("Octopus key", "API-", r"[A-Z0-9]{25,32}(?![A-Z0-9])", strict=False),
    _tail("Frame.io token", "fio-u-", rf"{_TEXT}{{60,70}}"),
    _inside("MaxMind key", "_mmk", r"(?<![A-Za-z0-9_])[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
    _tail("Adafruit key", "aio_", rf"{_WORD}{{28}}"),
    _tail("Inngest key", "signkey-prod- signkey-test-", rf"{_HEX}{{32,64}}"),
    _tail("Trigger.dev key", "tr_prod_ tr_dev_ tr_stg_", rf"{_WORD}{{20,40}}"),
    _tail("Cal.com key", "cal_live_ cal_test_", rf"{_WORD}{{24,64}}"),
    _tail("WakaTime key", "waka_", _UUID),
    _tail("Atlassian API token", "ATSTT3", r"[A-Za-z0-9_=+/-]{40,400}"),
    _tail("Nostr private key", "nsec1", r"[02-9ac-hj-np-z]{58}"),
    _tail("extended private key", "xprv yprv zprv tprv", r"[1-9A-HJ-NP-Za-km-z]{100,112}"),
    _inside("JSON web token", "eyJ",
            r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,2000}+\.eyJ[A-Za-z0-9_-]{8,4000}+\.[A-Za-z0-9_-]{10,1000}"),
    _inside("JSON web token", "eyJ",  # encrypted: header, key, vector, text, tag
            r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,2000}+\.[A-Za-z0-9_-]{0,1000}\.[A-Za-z0-9_-]{8,40}\.[A-Za-z0-9_-]{8,4000}+"
            r"\.[A-Za-z0-9_-]{15,40}"),
)  # a table: one provider per line  # fmt: skip
