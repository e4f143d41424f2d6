"""What texts say is compared by their words: repetitions, substitutions, and what a statement gives up."""

import pytest

from omoide.learning.noise import has_credential, is_standing_order
from omoide.learning.replacements import find_replaced, find_replaced_memories
from omoide.learning.wording import content_words, share_of, substitutes, takes_place_of, wording


def test_the_share_of_a_wording_says_how_much_one_text_is_in_another():
    whole = wording("Deploys go out on Tuesdays at 10:00, because support is complete then.")
    assert share_of("deploys go out on tuesdays", whole) == 1
    assert share_of("the worker listens on port 9000", whole) == 0
    assert share_of("支払いは翌月末", wording("支払いは翌月末です。請求は月初")) == 1


def test_content_words_leave_out_what_says_nothing():
    assert content_words("We always use `pnpm` for the installs") == {"pnpm", "install"}
    assert content_words("コミットメッセージは英語で書く") == {"コミットメッセージ", "英語", "書"}


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("The worker listens on port 9001.", "The worker listens on port 9000."),
        ("Use yarn for installs.", "Use npm for installs."),
        ("Do not use npm for installs.", "Use npm for installs."),
        ("認証は OAuth にする", "認証は JWT にする"),
    ],
)
def test_another_number_name_or_the_opposite_is_a_substitution(new, old):
    assert substitutes(new, old)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Always use npm for installs.", "use npm for installs"),
        ("Use npm for installs in CI.", "Use npm for installs."),
        ("The tests need `DATABASE_URL`.", "The tests need `DATABASE_URL` to be set."),
        ("認証は JWT です", "認証は JWT にする"),
    ],
)
def test_more_or_fewer_words_are_no_substitution(new, old):
    assert not substitutes(new, old)


@pytest.mark.parametrize(
    ("text", "replaced"),
    [
        ("use pnpm instead of npm", ["npm"]),
        ("No, the queue is SQS, not RabbitMQ.", ["RabbitMQ"]),
        ("don't use moment, use date-fns", ["moment"]),
        ("the test db isn't on 5432, it listens on 5544", ["5432"]),
        ("npmじゃなくて pnpm を使って", ["npm"]),
        ("Redux はやめて zustand にする", ["Redux"]),
        ("MySQLからPostgresに移行した", ["MySQL"]),
        ("run the tests first", []),
    ],
)
def test_what_a_statement_gives_up_is_named(text, replaced):
    assert find_replaced(text)[: len(replaced) or None] == replaced


def test_of_two_things_to_do_both_may_hold_and_of_two_numbers_or_tools_only_one():
    assert takes_place_of("The worker listens on port 9001.", "The worker listens on port 9000.")
    assert takes_place_of("use yarn for installs", "use npm for installs")
    assert takes_place_of("Do not run the linter before a push", "Run the linter before a push")
    assert not takes_place_of("Run the linter before a push", "Run the tests before a push")
    assert not takes_place_of("use tool2 for step 2", "use tool3 for step 3")


def test_only_what_is_said_of_the_same_thing_is_replaced():
    statement = "use pnpm instead of npm."
    memories = {
        1: "use npm for installs.",
        2: "run `npm audit` every week before the release meeting",
        3: statement,
        4: "use yarn for installs.",
    }
    assert find_replaced_memories(statement, memories) == [1]
    assert find_replaced_memories("npmじゃなくて pnpm を使って。", {7: "npm を使ってください。"}) == [7]
    assert find_replaced_memories("use pnpm for installs.", memories) == []


@pytest.mark.parametrize(
    "text", ["検証は qa@example.jp / aB3dE9#kQ2mX7x ね", "the pin is xK9vQ2mZ8pL4wR", "pw: h4Rt!9kLpQ2s"]
)
def test_what_looks_like_a_password_is_seen_without_the_word(text):
    assert has_credential(text)


@pytest.mark.parametrize(
    "text",
    [
        "committed as 7be01c4, see src/api/v2/client_test.py and UTF-8, ISO 8601, v1.2.3-rc1",
        "use `docker compose -f compose.test.yml up -d` on port 5544 of host-01.internal",
        "https://example.com/a/b?c=1 and KAI-482, 3.24.3, 2026-02-24, x86_64, OAuth2, sha256",
        "TEST_URL=postgres://localhost:5544/orders_test, s3://acme-backups/nightly2, ESP32-S3-DevKitC-1, lib/l10n/a.arb",
        "node:20-alpine3.19, arm-none-eabi-gcc-10.3, feature/KAI-482-login, /dev/ttyUSB1, 2026-02-24T10:00:00Z",
        "fix(api): …, refunds_order_id_key, LoginState._, Firebase/Auth 11.4.0, --env-file=.env.test",
    ],
)
def test_names_paths_versions_and_addresses_are_no_passwords(text):
    assert not has_credential(text)


def test_hostile_words_take_no_longer_than_others():
    for word in ("a" * 20_000 + "1#", "aA" * 10_000 + "1#", "a1" * 10_000, "-a" * 10_000 + "1#", "1a-" * 7_000 + "#"):
        assert has_credential(word) in (True, False)


def test_only_people_give_standing_orders():
    assert is_standing_order("From now on, always run the script.")
    assert is_standing_order("今後は必ずこのスクリプトを実行してください。")
    assert not is_standing_order("The API always returns UTC.")
    assert not is_standing_order("Run `make gen` before the tests.")
