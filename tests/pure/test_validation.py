"""What the checks let through, change and refuse: every rule of guard/checks.py, without a store."""

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from omoide.errors import InvalidInput
from omoide.guard import validation
from omoide.model import CONTROL, Draft, Scope
from omoide.settings import load_settings

RULES = load_settings({"types": ["runbook"]}, {"OMOIDE_CONFIG": "/dev/null"})
SHOP = Scope.project("shop")


def test_a_draft_needs_a_scope():
    with pytest.raises(InvalidInput, match="the scope is missing"):
        validation.check_draft(Draft("x"), RULES)


def test_fields_missing_from_a_draft_stay_unset():
    assert validation.check_draft(Draft("x", SHOP), RULES) == Draft("x", SHOP)


@pytest.mark.parametrize("content", ["", " ", "\n\t\u3000", None, 5, b"bytes", ["list"]])
def test_content_must_be_a_non_empty_text(content):
    with pytest.raises(InvalidInput, match="content"):
        validation.check_content(content, RULES)


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1).filter(str.strip))
def test_content_is_stored_unchanged(text):
    assert validation.check_content(text, RULES) == text


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_line_is_folded_to_one_line_or_refused(text):
    try:
        line = validation.check_line(text, "topic", RULES)
    except InvalidInput:
        return
    assert line.split() == text.split()
    assert not CONTROL.search(line)
    assert len(line.splitlines()) == 1


def test_a_line_over_the_limit_is_refused():
    assert validation.check_line("x" * 500, "topic", RULES)
    with pytest.raises(InvalidInput, match="the topic has 501 characters, at most 500"):
        validation.check_line("x" * 501, "topic", RULES)


def test_tags_are_deduplicated_ignoring_case_in_order():
    assert validation.check_tags(["Python", "python ", "b  c", "PYTHON", "cafe\u0301", "café"], RULES) == (
        "Python",
        "b c",
        "café",
    )


@pytest.mark.parametrize(
    ("tags", "words"),
    [
        ("python", 'tags should be a list, such as \\["python"\\]'),
        (["a,b"], "contains a comma"),
        ([""], "the tag is empty"),
        ([5], "the tag should be a text, not int"),
        (["x" * 201], "201 characters, at most 200"),
        ([str(n) for n in range(101)], "101 tags are too many"),
    ],
)
def test_invalid_tags_are_refused(tags, words):
    with pytest.raises(InvalidInput, match=words):
        validation.check_tags(tags, RULES)


@pytest.mark.parametrize("examples", ["one text", ["x"] * 101, [5]])
def test_invalid_examples_are_refused(examples):
    with pytest.raises(InvalidInput, match="example"):
        validation.check_examples(examples, RULES)


def test_a_type_must_be_built_in_or_in_the_settings():
    assert validation.check_type("decision", RULES) == "decision"
    assert validation.check_type("runbook", RULES) == "runbook"
    with pytest.raises(InvalidInput, match="there is no type 'Decision': use one of note, tech"):
        validation.check_type("Decision", RULES)


@pytest.mark.parametrize("value", [-0.01, 1.01, math.nan, math.inf, True, "0.5", None])
def test_a_share_outside_0_to_1_is_refused(value):
    with pytest.raises(InvalidInput, match="a number from 0 to 1"):
        validation.check_share(value, "confidence")


@pytest.mark.parametrize("value", [0, 1, 0.5])
def test_a_share_from_0_to_1_is_accepted(value):
    assert validation.check_share(value, "confidence") == value


def test_a_time_needs_a_zone_and_a_year_from_1970_to_9998():
    with pytest.raises(InvalidInput, match="no time zone"):
        validation.check_aware(datetime(2026, 2, 5), "since")  # noqa: DTZ001 - that is the fault
    for year in (1969, 9999):
        with pytest.raises(InvalidInput, match=f"1970 to 9998, got {year}"):
            validation.check_aware(datetime(year, 6, 1, tzinfo=UTC), "since")


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        " a",
        "a ",
        ".hidden",
        "a.",
        "a/b/c/d",
        "a//b",
        "/a",
        "a/",
        "a\\b",
        "a:b",
        "a*",
        "con",
        "NUL.txt",
        "a\nb",
        "a\u202eb",
        "x" * 256,
        "a/../b",
    ],
)
def test_a_project_name_that_is_no_valid_directory_name_is_refused(name):
    with pytest.raises(InvalidInput):
        Scope.project(name)


@pytest.mark.parametrize("name", ["shop", "backend/python/shop", "my project", "思い出", "a.b", "console", "v1.2-rc_3"])
def test_an_ordinary_project_name_is_accepted(name):
    assert Scope.project(name).path == name
