"""Lines of activity in MEMORY.md: bullets of omoide and of a person, read, written, marked and removed."""

import random
from datetime import UTC, datetime

import pytest

from omoide.errors import Unreadable
from omoide.markdown.activity import render_bullet
from omoide.markdown.project_tree import ProjectTree
from omoide.model import ACTIVITY, Memory, Scope, derive_topic, fields, new_id

AT = datetime(2026, 2, 5, 10, 0, tzinfo=UTC)
FILE = "shop/MEMORY.md"
TREE = ProjectTree("shop")
TOP = "# shop\n\n## 最近の活動\n"


def activity(content, **values):
    known = {"scope": Scope("shop"), "type": ACTIVITY, "topic": derive_topic(content), "topic_given": False, "source": "cli"}
    return Memory(
        **fields.DEFAULTS | known | {"id": new_id(AT), "content": content, "created_at": AT, "updated_at": AT} | values
    )


def entries(text):
    return [located.entry for located in TREE.parse(FILE, text)]


def rewrite(text, *put, drop=(), stamps=None):
    return TREE.rewrite(FILE, text, {memory.id: memory for memory in put}, drop, stamps or {})


@pytest.mark.parametrize(
    ("line", "content", "date"),
    [
        ("- 2026-02-05 10:00 公開した", "公開した", AT),
        ("- 2026-02-05T10:00Z 公開した", "公開した", AT),
        ("* [2026-02-05 10:00] 公開した", "公開した", AT),
        ("+ **2026/2/5**: 公開した", "公開した", AT.replace(hour=0)),
        ("- 2026-02-05：公開した", "2026-02-05：公開した", None),
        ("- 2026-13-45 公開した", "2026-13-45 公開した", None),
        ("- 公開した  ", "公開した", None),
        ("- 公開した\n  続き\n  - 入れ子", "公開した\n続き\n- 入れ子", None),
        ("- code:\n  ```\n  x = 1\n  ```", "code:\n```\nx = 1\n```", None),
    ],
)
def test_a_bullet_of_a_person_is_read_with_its_date(line, content, date):
    (entry,) = entries(f"{TOP}\n{line}\n\n## own\n\n- not this\n")
    assert (entry.content, entry.created_at, entry.type, entry.id) == (content, date, ACTIVITY, None)


@pytest.mark.parametrize("line", ["- ", "text", "1. numbered", "  - indented", "- begins\n  ```\n  never ends", "-no space"])
def test_anything_else_is_left_to_its_author(line):
    assert entries(f"{TOP}\n{line}\n") == []


def test_new_lines_are_written_below_the_last_one_and_above_other_entries():
    one, two, three = (activity(text) for text in ("一", "二", "三\n続き"))
    note = activity("a note", type="note")
    text = rewrite(rewrite(rewrite(TOP, one), note), two, three)
    assert text == (
        f"{TOP}\n- 2026-02-05 10:00 一 <!-- omoide:{one.id} -->\n- 2026-02-05 10:00 二 <!-- omoide:{two.id} -->\n"
        f"- 2026-02-05 10:00 三 <!-- omoide:{three.id} -->\n  続き\n\n"
        f"### a note <!-- omoide:{note.id} -->\n- 日時: 2026-02-05 10:00\n- 出典: cli\n- 内容: a note\n"
    )
    assert rewrite(text, drop=[one.id, three.id]).count("\n- 2026") == 1


def test_a_page_without_the_heading_gets_it():
    one = activity("一")
    assert rewrite(None, one) == f"# shop\n\n## 最近の活動\n\n- 2026-02-05 10:00 一 <!-- omoide:{one.id} -->\n"
    assert rewrite("# mine\n\ntext\n", one).startswith("# mine\n\ntext\n\n## 最近の活動\n\n- 2026-02-05 10:00 一 ")


@pytest.mark.parametrize(
    "values",
    [{"tags": ("a",)}, {"topic": "t", "topic_given": True}, {"key": "k"}, {"examples": ("x",)}, {"original_prompt": "p"}],
)
def test_what_a_bullet_cannot_show_is_a_section(values):
    memory = activity("text", **values)
    assert render_bullet(memory) is None
    (entry,) = entries(rewrite(TOP, memory))
    assert entry == TREE.expected_entry(memory)


@pytest.mark.parametrize("content", ["```\ncode\n```", "ends\n", " begins", "a <!-- b -->", "a\r\nb", "x  \ny"])
def test_a_text_that_would_not_be_read_back_is_a_section(content):
    memory = activity(content)
    assert render_bullet(memory) is None
    assert [entry.content for entry in entries(rewrite(TOP, memory))] == [content]


PIECES = [
    "one", "二つ目", "2026-02-05", "- x", "* y", "  ", "\t", "```", "~~~", "# h", "## 最近の活動", "### t",
    "<!-- omoide:", "-->", "[2026-02-03]", "- 内容: z", "> q", "1. n", "---", "\r", "|a|", "：", "\ufeff", "\u2028",
]  # several entries per line  # fmt: skip


def test_random_pages_lose_no_line_and_are_stable():
    chance = random.Random(5)

    def words():
        return "".join(chance.choice(PIECES) + chance.choice([" ", "", "\n", "\n  "]) for _ in range(chance.randint(1, 5)))

    for _ in range(400):
        page = (
            TOP
            + "\n"
            + "".join(chance.choice(["- ", "* ", "", "### "]) + words() + "\n" for _ in range(chance.randint(0, 5)))
        )
        try:
            found = TREE.parse(FILE, page)
        except Unreadable:
            continue
        new = [activity(words().strip() or "x") for _ in range(chance.randint(0, 3))]
        own = {one.line: activity(one.entry.content) for one in found if one.entry.type == ACTIVITY and not one.entry.id}
        text = rewrite(page, *new, stamps=own)
        read = {entry.id: entry.content for entry in entries(text)}
        assert {memory.id: memory.content for memory in (*new, *own.values())}.items() <= read.items()
        assert rewrite(text, *new, *own.values()) == text
        assert {memory.id for memory in new}.isdisjoint(
            entry.id for entry in entries(rewrite(text, drop=[m.id for m in new]))
        )
