"""Finding git's conflict markers in the text of a file."""

import pytest

from omoide.errors import Unreadable
from omoide.markdown.conflict_markers import check_conflict_markers, find_conflict_marker

WHOLE = "# t\n<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> main\n"
DIFF3 = "# t\n<<<<<<< HEAD\nmine\n||||||| 1a2b3c4\nbase\n=======\ntheirs\n>>>>>>> main\n"


@pytest.mark.parametrize(
    "text", [WHOLE, DIFF3, WHOLE.replace("\n", "\r\n"), "\ufeff" + WHOLE], ids=("merge", "diff3", "crlf", "bom")
)
def test_the_first_marker_is_found_with_its_line(text):
    assert find_conflict_marker(text) == (2, "<<<<<<<")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("- Content: mine\n=======\n- Content: theirs\n", 2),
        ("mine\n\n=======\n", 3),
        ("=======\ntheirs\n", 1),
        ("mine\ntheirs\n>>>>>>> feature/日本語\n", 3),
        ("<<<<<<<\nmine\n", 1),
        ("a\n<<<<<<< Updated upstream", 2),
    ],
)
def test_one_marker_of_a_conflict_resolved_by_half_is_found(text, line):
    found = find_conflict_marker(text)
    assert found is not None
    assert found.line == line


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Titles!\n=======\n",
        "日本語の題\n=======\n",
        "**Bold**\n=======\n",
        "- Content: about git\n  <<<<<<< HEAD\n  =======\n  >>>>>>> main\n",
        "words <<<<<<< HEAD\n",
        "<<<<<<<< eight\n======== eight\n>>>>>>>> eight\n",
        "<<<<<<<HEAD\n",
        "|||||||\n||||||| x\n",
    ],
)
def test_other_lines_are_no_markers(text):
    assert find_conflict_marker(text) is None


def test_a_marker_that_a_stored_text_has_as_well_is_not_one():
    memory = "How a conflict looks:\n\n<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> main"
    assert find_conflict_marker(f"---\nid: x\n---\n\n{memory}\n", known=memory) is None
    assert find_conflict_marker(f"<<<<<<< ours\n{memory}\n", known=memory) == (1, "<<<<<<<")


def test_the_error_says_the_line_and_what_to_do():
    with pytest.raises(
        Unreadable, match=r"line 2: git left conflict markers here \(<<<<<<<\): resolve the conflict, then save"
    ):
        check_conflict_markers(WHOLE)
