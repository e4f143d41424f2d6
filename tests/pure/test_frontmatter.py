"""Front matter: every body and every text survives, and nothing small grows large."""

import tracemalloc

import pytest
from hypothesis import given, strategies as st

from omoide.errors import Unreadable
from omoide.markdown.frontmatter import Document, parse, render

texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0")
    | st.sampled_from("\n\r\t '\"#:-|>\\\x85\u2028\ufeff日")
)


@given(texts, texts, st.lists(texts, max_size=3), texts)
def test_what_is_rendered_is_parsed_again_byte_for_byte(topic, key, tags, body):
    fields = {"topic": topic, "key": key, "tags": tags, "nothing": None}
    assert parse(render(fields, body, "a note\nof two lines")) == Document(fields, body)


def test_values_stay_as_they_were_written():
    fields = parse("---\na: no\nb: 12:30\nc: 2026-01-01\nd: 0x10\ne: ~\nf:\ng: [yes, 1.0]\n---\ntext").fields
    assert fields == {
        "a": "no",
        "b": "12:30",
        "c": "2026-01-01",
        "d": "0x10",
        "e": None,
        "f": None,
        "g": ["yes", "1.0"],
    }


@pytest.mark.parametrize("text", ["just text", "", "--- not a fence\n", "\n---\na: b\n---\n", "----\na: b\n----\n"])
def test_a_text_without_front_matter_is_all_body(text):
    assert parse(text) == Document({}, text)


def test_a_file_saved_by_a_windows_editor_is_read():
    assert parse("\ufeff---\r\nkey: a\r\n---\r\n\r\none\r\ntwo\r\n") == Document({"key": "a"}, "one\r\ntwo")


def test_the_body_may_follow_without_an_empty_line():
    assert parse("---\nkey: a\n---\ntext") == Document({"key": "a"}, "text")


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{b}: &{b} [{','.join(['*' + a] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("head", "says"),
    [
        (BOMB, "alias"),
        ("a: " + "[" * 5000 + "]" * 5000, "nested"),
        ("a: " + "{b: " * 5000, "nested"),
        ("a: 1\na: 2", "twice"),
        ("- a\n- b", "name: value"),
        ("a: [", "line 3"),
        ("a: !!python/object/apply:os.system [id]", "constructor"),
        ("a: '" + "x" * 10_000_001 + "'", "at most"),
    ],
)
def test_yaml_that_is_no_plain_table_is_refused_before_it_is_built(head, says):
    tracemalloc.start()
    try:
        with pytest.raises(Unreadable, match=says):
            parse(f"---\n{head}\n---\ntext")
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()


def test_front_matter_without_an_end_is_refused():
    with pytest.raises(Unreadable, match="no end"):
        parse("---\na: b\n")


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ("{b: ", "}")])
def test_fields_may_be_nested_twenty_levels_deep_and_no_deeper(opening, closing):
    """The table of fields itself is the first level."""
    deepest = opening * 19 + "x" + closing * 19
    assert parse(f"---\na: {deepest}\n---\ntext").body == "text"
    with pytest.raises(Unreadable, match="nested deeper than 20 levels"):
        parse(f"---\na: {opening}{deepest}{closing}\n---\ntext")
