"""Tools and values of one kind, of which a project uses one: where a memory names one and an agent uses another. Pure."""

import re
from functools import cache

from omoide.compiled_patterns import load_pattern

_KINDS = (
    # package managers and builds
    "npm pnpm yarn bun",
    "pip uv poetry pipenv conda pdm rye",
    "webpack vite rollup esbuild parcel turbopack rspack",
    "gradle maven bazel sbt",
    "make just taskfile rake",
    # tests
    "pytest unittest nose",
    "jest vitest mocha jasmine ava",
    "playwright cypress selenium puppeteer",
    "rspec minitest",
    # checks and formats
    "black yapf autopep8",
    "eslint biome tslint oxlint",
    "flake8 pylint ruff",
    "mypy pyright pyre",
    # libraries of one purpose
    "axios ky got superagent node-fetch",
    "requests httpx aiohttp urllib3",
    "moment dayjs date-fns luxon",
    "lodash ramda underscore",
    "zod yup joi valibot ajv",
    "redux zustand jotai recoil mobx",
    "winston pino bunyan log4js",
    "structlog loguru logging",
    "slog zap logrus zerolog",
    "flask fastapi django starlette",
    "express fastify koa hono",
    "tailwind styled-components emotion scss",
    "libvips|vips|govips|pyvips imagemagick|convert graphicsmagick pillow|pil",
    "matplotlib plotly seaborn altair",
    "pandas polars",
    "pydantic attrs marshmallow",
    "redis memcached valkey",
    "celery rq dramatiq",
    "kafka rabbitmq sqs nats",
    # databases, infrastructure
    "postgres|postgresql|psql mysql|mariadb sqlite|sqlite3",
    "alembic flyway liquibase dbmate knex goose",
    "terraform pulumi cloudformation",
    "docker podman",
    "self-hosted ubuntu-latest|ubuntu-24.04|ubuntu-22.04",
    # values
    "uuidv7|uuid|uuidv4|ulid|gen_random_uuid serial|bigserial|autoincrement|auto_increment",
    "utc jst pst est cet",
    "decimal|numeric float|double",
    "argon2|argon2id bcrypt scrypt pbkdf2",
    "md5 sha1|sha-1 sha256|sha-256",
    "論理削除|soft-delete 物理削除|hard-delete",
    "squash rebase",
    "graphql grpc",
    "tabs spaces",
    "british american",
    "cursor|keyset offset",
    "日本語 英語",
    "税抜|税抜き|税別 税込|税込み",
    "koin hilt|dagger",
    "昇順|ascending 降順|descending",
    "kelvin celsius fahrenheit",
    "arm64|aarch64 amd64|x86_64|x86-64",
    "utf-8|utf8 shift_jis|shift-jis|sjis|cp932|sjis-win euc-jp",
    "webp png jpeg|jpg avif gif",
    "kilometres|kilometers|km miles",
    "portrait landscape",
    # more libraries of one purpose
    "argparse click typer docopt",
    "sqlalchemy peewee tortoise-orm",
    "prisma typeorm sequelize drizzle",
    "react-hook-form formik",
    "junit testng",
    "mockito mockk easymock",
    "gson jackson moshi",
    "swiftui uikit",
    "cocoapods carthage",
    "googletest|gtest catch2 doctest",
    "cmake meson",
    "tokio async-std smol",
    "axum actix|actix-web rocket warp",
    "diesel sqlx sea-orm",
    "dplyr data.table",
    "pdflatex lualatex xelatex uplatex",
    "natbib biblatex",
    "sendgrid mailgun postmark",
    "sentry bugsnag rollbar",
    "auth0 cognito keycloak okta",
    "nginx caddy traefik",
    "helm kustomize",
    "turborepo lerna",
    "asyncio threading multiprocessing",
)
_REGION = load_pattern(
    r"(?<![\w-])(?:(?:us|eu|ap|sa|ca|me|af|il|asia|europe|australia|northamerica|southamerica)-(?:gov-)?"
    r"(?:north|south|east|west|central)+-?\d|japan(?:east|west)|(?:east|west|central)us\d?|(?:north|west)europe)(?!\d)",
    re.ASCII,
)
"""A region of a cloud. What follows it, as in the name of a zone or of a host, does not matter."""


def kinds_of(text: str) -> dict[str, frozenset[str]]:
    """Return the values that a text names of each kind, as names that mean the same as each other's spellings."""
    found: dict[str, set[str]] = {}
    lowered = text.lower()
    for match in _spellings().finditer(lowered):
        for kind, name in _members()[match[0]]:
            found.setdefault(kind, set()).add(name)
    if regions := set(_REGION.findall(lowered)):
        found["region"] = regions
    return {kind: frozenset(names) for kind, names in found.items()}


def spellings_of(name: str) -> list[str]:
    """Return the ways to write what a name means, itself first."""
    means = _members().get(name, [])
    return [
        name,
        *(spelling for spelling, meanings in _members().items() if spelling != name and set(means) & set(meanings)),
    ]


@cache
def _members() -> dict[str, list[tuple[str, str]]]:
    """The kinds that a spelling belongs to, each with the name that its spellings share."""
    members: dict[str, list[tuple[str, str]]] = {}
    for kind in _KINDS:
        for spellings in kind.split():
            name, *others = spellings.split("|")
            for spelling in (name, *others):
                members.setdefault(spelling, []).append((kind, name))
    return members


@cache
def _spellings() -> re.Pattern[str]:
    spellings = sorted(_members(), key=len, reverse=True)
    return load_pattern(rf"(?<![\w-])(?:{'|'.join(map(re.escape, spellings))})(?![\w-]| per )", re.ASCII)
