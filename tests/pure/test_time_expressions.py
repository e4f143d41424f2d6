"""Times in questions, English and Japanese, seen from Thursday 2026-02-05."""

from datetime import UTC, datetime, timedelta

import pytest

from omoide.retrieval.time_expressions import mentions_time, span

NOW = datetime(2026, 2, 5, 10, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "first", "after"),
    [
        ("what did we decide on 2026-01-20?", "2026-01-20", "2026-01-21"),
        ("2026年1月20日の決定", "2026-01-20", "2026-01-21"),
        ("the meeting of 20 January 2026", "2026-01-20", "2026-01-21"),
        ("the meeting on March 3rd", "2025-03-03", "2025-03-04"),
        ("12月24日に何をした", "2025-12-24", "2025-12-25"),
        ("plans from May 2023", "2023-05-01", "2023-06-01"),
        ("2025年3月の議事録", "2025-03-01", "2025-04-01"),
        ("what happened in March", "2025-03-01", "2025-04-01"),
        ("1月の売上", "2026-01-01", "2026-02-01"),
        ("what happened in 2024", "2024-01-01", "2025-01-01"),
        ("yesterday's bug", "2026-02-04", "2026-02-05"),
        ("昨日のバグ", "2026-02-04", "2026-02-05"),
        ("last week", "2026-01-26", "2026-02-02"),
        ("先週の会議", "2026-01-26", "2026-02-02"),
        ("last month", "2026-01-01", "2026-02-01"),
        ("先月決めたこと", "2026-01-01", "2026-02-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("去年の計画", "2025-01-01", "2026-01-01"),
        ("three days ago", "2026-02-02", "2026-02-03"),
        ("3日前", "2026-02-02", "2026-02-03"),
        ("last Tuesday", "2026-02-03", "2026-02-04"),
        ("last Thursday", "2026-01-29", "2026-01-30"),
        ("this week", "2026-02-02", "2026-02-09"),
        ("last weekend", "2026-01-31", "2026-02-02"),
    ],
)
def test_a_time_expression_gives_its_span(question, first, after):
    assert mentions_time(question)
    found = span(question, NOW)
    assert found is not None
    assert (f"{found.start:%Y-%m-%d}", f"{found.end:%Y-%m-%d}") == (first, after)


@pytest.mark.parametrize(
    "question",
    ["", "may I march on?", "version 3.11", "2026-02-31", "ports 8080 and 443", "one of two", "会議の日程", "the last time"],
)
def test_text_without_a_date_has_no_span(question):
    assert span(question, NOW) is None


def test_two_weeks_ago_gives_a_span_around_that_day():
    found = span("what did I do two weeks ago", NOW)
    assert found.near(NOW - timedelta(days=14)) == found.near(NOW - timedelta(days=12)) == 1
    assert 0 < found.near(NOW - timedelta(days=20)) < 1
    assert found.near(NOW - timedelta(days=60)) == found.near(NOW) == 0


def test_a_note_written_a_day_later_is_still_in_the_span():
    assert 0.5 < span("2026-01-20", NOW).near(datetime(2026, 1, 21, 12, tzinfo=UTC)) < 1
