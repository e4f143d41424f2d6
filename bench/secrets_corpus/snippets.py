"""Secrets in configuration, code and commands: named assignments, Authorization headers and connection strings."""

import base64
from collections.abc import Callable, Iterator, Sequence
from random import Random

from bench.secrets_corpus.parts import (
    ALNUM,
    BASE32,
    HEX,
    LOWNUM,
    URL,
    Item,
    Language,
    base64_of,
    draw,
    passphrase,
    password,
    random_password,
    url_password,
    uuid,
)

Make = Callable[[Random], str]
Snippet = tuple[str, Make]  # the snippet with {} where the secret stands, and what makes the secret


def _token(alphabet: str, length: int) -> Make:
    return lambda rng: draw(rng, alphabet, length)


def _basic(rng: Random) -> str:
    return base64.b64encode(f"deploy:{password(rng)}".encode()).decode()


def _base64_password(rng: Random) -> str:
    return base64.b64encode(random_password(rng, 20).encode()).decode()


_ASSIGNMENTS: tuple[Snippet, ...] = (
    # .env and shell
    ("APP_ENV=production\nDB_HOST=db.internal\nDB_PASSWORD={}", password),
    ('SECRET_KEY_BASE="{}"\nRAILS_ENV=production', _token(HEX, 128)),
    ("MYSQL_ROOT_PASSWORD={}", password),
    ("JWT_SECRET='{}'", _token(URL, 43)),
    ("export ADMIN_PASS={}", password),
    ('export SESSION_SECRET="{}" && npm start', _token(ALNUM, 32)),
    ("set -x SMTP_PASSWORD {}", password),
    ("$env:SERVICE_API_KEY = '{}'", _token(ALNUM, 40)),
    # YAML
    ("database:\n  host: db.internal\n  username: app\n  password: {}", password),
    ('apiVersion: v1\nkind: Secret\nstringData:\n  password: "{}"', random_password),
    ("apiVersion: v1\nkind: Secret\ndata:\n  password: {}", _base64_password),
    ("services:\n  db:\n    environment:\n      - POSTGRES_PASSWORD={}", password),
    ("ansible_user: ops\nansible_become_password: {}", password),
    ("rabbitmq:\n  default_user: shop\n  default_pass: {}", password),
    # JSON
    ('{{"host": "smtp.internal", "user": "mailer", "password": "{}"}}', password),
    ('{{"client_id": "billing-web", "client_secret": "{}"}}', _token(URL, 40)),
    ('"ConnectionSettings": {{ "ApiKey": "{}", "Timeout": 30 }}', _token(HEX, 32)),
    ('{{"auths": {{"registry.internal": {{"auth": "{}"}}}}}}', _basic),
    ('{{"refresh_token":"{}","expires_in":3600}}', _token(URL, 64)),
    # TOML, INI, properties, netrc and other files of passwords
    ('[registry]\ntoken = "{}"', _token(ALNUM, 40)),
    ('[database]\nuser = "app"\npassword = "{}"', password),
    ("[client]\nuser=backup\npassword={}", password),
    ("[default]\nsecret_key = {}\nregion = ap-northeast-1", lambda rng: base64_of(rng, 30)),
    ("spring.datasource.username=app\nspring.datasource.password={}", password),
    ("signing.keyAlias=release\nsigning.storePassword={}", password),
    ("machine git.internal\n  login ci\n  password {}", password),
    ("machine api.internal login bot password {}", _token(ALNUM, 24)),
    ("db.internal:5432:shop:app:{}  (~/.pgpass)", url_password),
    ("//registry.internal/:_authToken={}", uuid),
    ('db_password = "{}"  # terraform.tfvars', random_password),
    # Code
    ('PASSWORD = "{}"\n\ndef login(session):\n    session.auth = ("ops", PASSWORD)', password),
    ("conn = psycopg.connect(host='db.internal', user='app', password='{}')", password),
    ('const apiKey = "{}";\nfetch(url, {{ headers: {{ "X-Api-Key": apiKey }} }});', _token(ALNUM, 36)),
    ('private static final String DB_PASS = "{}";', password),
    ('app.config["SECRET_KEY"] = "{}"', _token(HEX, 48)),
    ("cfg := Config{{User: \"app\", Password: \"{}\"}}", password),
    ("define( 'DB_PASSWORD', '{}' );", password),
    ('encryptionKey: "{}",  // AES-256, same on all nodes', lambda rng: base64_of(rng, 32)),
    # Commands
    ("curl -u admin:{} https://jenkins.internal/job/nightly/build", password),
    ("curl --user 'ops:{}' -X POST https://es.internal/_reindex", password),
    ("mysql -h db.internal -u app -p'{}' shop", password),
    ("PGPASSWORD={} psql -h db.internal -U app shop", url_password),
    ("sshpass -p '{}' ssh ops@10.2.0.14", password),
    ("docker login registry.internal -u ci -p {}", _token(ALNUM, 20)),
    ("redis-cli -h cache.internal -a {} --tls ping", _token(ALNUM, 24)),
    ("mosquitto_pub -u sensor --pw {} -t plant/1 -m on", url_password),
    ("GET /v2/export?format=csv&api_key={} returned 200", _token(HEX, 40)),
    ("https://api.internal/v1/hook?access_token={}", _token(URL, 40)),
)  # a table: several entries per line  # fmt: skip

_AUTHORIZATION: tuple[Snippet, ...] = (
    ("Authorization: Basic {}", _basic),
    ('curl -H "Authorization: Basic {}" https://jira.internal/rest/api/2/myself', _basic),
    ("Authorization: Bearer {}", _token(URL, 48)),
    ("curl -s -H 'Authorization: Bearer {}' https://api.internal/v1/users", _token(ALNUM, 40)),
    ("authorization: bearer {}", _token(HEX, 64)),
    ('headers = {{"Authorization": "Bearer {}"}}', _token(URL, 43)),
    ("http https://api.internal/me Authorization:'Bearer {}'", _token(ALNUM, 32)),
    ("Authorization: Token {}", _token(HEX, 40)),
    ("curl -H 'Authorization: Token token={}' https://netbox.internal/api/", _token(HEX, 40)),
    ("Authorization: ApiKey {}", lambda rng: base64_of(rng, 45)),
    ("Authorization: SSWS {}", lambda rng: f"00{draw(rng, URL, 40)}"),
    ("Authorization: GenieKey {}", uuid),
    ("Authorization: Splunk {}", uuid),
    ("Authorization: DeepL-Auth-Key {}:fx", uuid),
    ("Authorization: OAuth {}", _token(ALNUM, 55)),
    ("Authorization: Api-Token {}", _token(ALNUM, 48)),
    ("Proxy-Authorization: Basic {}", _basic),
    ("X-API-Key: {}", _token(ALNUM, 40)),
    ("PRIVATE-TOKEN: {}", _token(URL, 20)),
    ("X-Auth-Token: {}", _token(HEX, 64)),
    ("request.setRequestHeader('Authorization', 'Bearer {}')", _token(URL, 54)),
    ("X-Vault-Token: {}", _token(ALNUM, 26)),
    ("Ocp-Apim-Subscription-Key: {}", _token(HEX, 32)),
    ("x-functions-key: {}", lambda rng: base64_of(rng, 41)),
)  # a table: several entries per line  # fmt: skip

_CONNECTIONS: tuple[Snippet, ...] = (
    ("postgres://app:{}@db.internal:5432/shop", url_password),
    ("DATABASE_URL=postgresql+psycopg2://shop:{}@10.0.3.7/shop?sslmode=require", url_password),
    ("mysql://root:{}@mysql.internal/wordpress", url_password),
    ("app:{}@tcp(db.internal:3306)/shop?parseTime=true", url_password),
    ("mongodb+srv://shop:{}@cluster0.ab1cd.mongodb.net/?retryWrites=true", url_password),
    ("mongodb://root:{}@mongo-0:27017,mongo-1:27017/admin?replicaSet=rs0", url_password),
    ("redis://:{}@cache.internal:6379/0", _token(ALNUM, 32)),
    ("rediss://default:{}@eu1-quick-cat.upstash.io:6379", _token(ALNUM, 40)),
    ("amqp://shop:{}@rabbit.internal:5672/%2Fshop", url_password),
    ("CELERY_BROKER_URL=amqps://worker:{}@rabbit.internal/jobs", url_password),
    ("Server=tcp:acme.database.windows.net,1433;Database=shop;User ID=app;Password={};Encrypt=True;", random_password),
    ("Data Source=sql01;Initial Catalog=HR;User Id=hr_app;Pwd={};", password),
    ("jdbc:postgresql://db.internal/shop?user=app&password={}", url_password),
    ("jdbc:sqlserver://sql01:1433;databaseName=hr;user=sa;password={};", url_password),
    ("jdbc:oracle:thin:hr/{}@//ora.internal:1521/ORCL", _token(ALNUM, 14)),
    (
        "Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=RootManage;SharedAccessKey={}",
        lambda rng: base64_of(rng, 32),
    ),
    ("AccountEndpoint=https://acme.documents.azure.com:443/;AccountKey={};", lambda rng: base64_of(rng, 64)),
    (
        "DefaultEndpointsProtocol=https;AccountName=acmeimages;AccountKey={};EndpointSuffix=core.windows.net",
        lambda rng: base64_of(rng, 64),
    ),
    (
        'sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="etl" password="{}";',
        password,
    ),
    ("clickhouse://default:{}@ch.internal:9000/events", url_password),
    ("smtp://mailer:{}@smtp.internal:587", url_password),
    ("ftp://web01:{}@ftp.internal/htdocs/", url_password),
    ("sftp://partner:{}@files.internal:2222/in", url_password),
    ("git clone https://ci:{}@git.internal/acme/shop.git", _token(ALNUM, 32)),
    ("https://elastic:{}@es.internal:9200", _token(ALNUM, 24)),
    ("nats://edge:{}@nats.internal:4222", url_password),
    ("mqtts://sensor:{}@mqtt.internal:8883", url_password),
    ("neo4j+s://neo4j:{}@graph.internal", _token(URL, 43)),
    ("http_proxy=http://sato:{}@proxy.internal:8080", url_password),
    ("ldaps://ldap.internal bind dn=cn=reader,dc=acme bindpw={}", url_password),
)  # a table: several entries per line  # fmt: skip

_KEYS: tuple[Snippet, ...] = (
    ("TOTP_SECRET={}", _token(BASE32, 32)),
    ("WIFI_PASSPHRASE={}", passphrase),
    ("RESTIC_PASSWORD={} restic -r s3:backup snapshots", passphrase),
    ("webhook:\n  signing_secret: {}", _token(LOWNUM, 40)),
)  # a table: several entries per line  # fmt: skip

_LEADS: dict[Language, tuple[str, ...]] = {
    "en": (
        "Staging uses this:\n{}",
        "{}",
        "From the old server, before it is switched off:\n\n```\n{}\n```",
        "deploy: fix the login of the nightly job\n\n{}",
        "Tested today, works: {}",
        "Log of the failed run:\n[09:41:22] DEBUG {}\n[09:41:23] exit 1",
        "ops channel, Tuesday: {} (ask Ken before you change it)",
    ),
    "ja": (
        "ステージングはこれを使っています。\n{}",
        "メモ：{}",
        "旧サーバの設定を控えておく。\n\n```\n{}\n```",
        "deploy: 夜間ジョブのログインを修正\n\n{}",
        "今日試したら動いた: {}",
        "失敗したときのログ\n[09:41:22] DEBUG {}\n[09:41:23] exit 1",
        "運用チャンネルより「{}」（変えるときは健さんに聞くこと）",
    ),
}  # a table: several entries per line  # fmt: skip


def _items(rng: Random, kind: str, snippets: Sequence[Snippet]) -> Iterator[Item]:
    """Return each snippet once, every second one in Japanese, with alternating introductions."""
    for number, (snippet, make) in enumerate(rng.sample(snippets, len(snippets))):
        language: Language = "ja" if number % 2 else "en"
        leads = _LEADS[language]
        if "\n" in snippet:  # a block does not stand inside a sentence
            leads = tuple(lead for lead in leads if lead.endswith(("\n{}", "```")))
        lead = leads[number // 2 % len(leads)]
        secret = make(rng)
        yield Item(lead.format(snippet.format(secret)), kind, language, secret)


def items(rng: Random) -> Iterator[Item]:
    yield from _items(rng, "named assignment", _ASSIGNMENTS + _KEYS)
    yield from _items(rng, "authorization header", _AUTHORIZATION)
    yield from _items(rng, "connection string", _CONNECTIONS)
