"""Routing: a message is given to the project that it is about, to none where it is about none, and nothing is written."""

import pytest

import omoide
from omoide import RouteConfidence, Scope


@pytest.fixture
def memory(tmp_path):
    with omoide.open(tmp_path / "memory.db", tree_root="off") as memory:
        memory.create_project("bakery-shop", description="Web shop of a bakery: Django, payments with Stripe")
        memory.create_project("backend/ledger", description="家計簿アプリ。Swift で書き、iCloud に同期する")
        shop, ledger = Scope.project("bakery-shop"), Scope.project("backend/ledger")
        memory.remember("Stripe webhooks are verified in payments/webhooks.py", scope=shop)
        memory.remember("Cakes are ordered two days ahead; the order form checks the date", scope=shop)
        memory.remember("予算のカテゴリは月ごとに集計する", scope=ledger)
        memory.remember("同期が競合したら新しい方の取引を残す", scope=ledger)
        yield memory


@pytest.mark.parametrize(
    ("message", "project"),
    [
        ("The Stripe webhook is rejected again", "bakery-shop"),
        ("Why can I order a cake for tomorrow? The order form should refuse that date", "bakery-shop"),
        ("今月の予算の集計がずれている", "backend/ledger"),
        ("In Bakery Shop, update the dependencies", "bakery-shop"),
        ("backend/ledger のテストを直して", "backend/ledger"),
    ],
)
def test_a_message_goes_to_the_project_that_it_is_about(memory, message, project):
    route = memory.route(message)
    assert route.primary.path == project
    assert route.primary in memory.projects()
    assert project in route.reason
    assert route.proposal == ""


@pytest.mark.parametrize(
    "message", ["Hello!", "おはようございます", "Plan a birthday trip to Kyoto for my parents", "🎉🎉🎉", ""]
)
def test_a_greeting_or_a_new_topic_belongs_to_no_project(memory, message):
    route = memory.route(message)
    assert route.primary is None
    assert route.confidence is RouteConfidence.LOW


def test_a_new_topic_gets_the_name_of_a_new_project_and_none_is_created(memory):
    before = memory.projects()
    assert memory.route("Plan a birthday trip to Kyoto").proposal == "plan-birthday-trip"
    assert memory.route("京都旅行の宿を予約したい").proposal == "京都旅行-予約"
    assert memory.projects() == before


def test_the_command_shows_the_project_the_reason_and_what_to_remember(run, place):
    assert run("project", "create", "bakery", "--description", "Web shop with Stripe payments").code == 0
    done = run("route", "Remember that Stripe payments are captured at noon.", "--explain")
    assert "project    bakery (" in done.out
    assert "remember   Stripe payments are captured at noon." in done.out
    data = run("route", "Remember that Stripe payments are captured at noon.", "--json").data
    assert data["primary"]["path"] == "bakery"
    assert data["pinned_content"] == "Stripe payments are captured at noon."
    assert data["secondary"] == []
    assert data["proposal"] is None
