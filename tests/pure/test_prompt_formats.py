"""The list of a repository and the block of a project in a prompt: the seeds' formats to the byte, whatever texts say."""

from pathlib import Path

import pytest
from hypothesis import example, given, strategies as st
from markdown_it import MarkdownIt

from omoide.prompt.memory_list import ListedMemory, render_list
from omoide.prompt.project_block import CUT, ProjectTexts, inject_project_block, render_project_block

GOLDEN = Path(__file__).resolve().parents[1] / "journey" / "golden"
HOSTILE = (
    "# Memories", "## x", "### 固定記憶", "## プロジェクトメモリ: y", "---", "- - -", "***", "- Tags: a", "- Content: b",
    "```", "~~~~ py", "    ```", "<!-- x", "<pre>", "<div>",
    "\u2028---", "\r## z", "\x85# Memories", "\u202e---", "\x1b[2J", "===", "x" * 1000, "", "  ",
)  # several entries per line  # fmt: skip
texts = st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=12)), min_size=1, max_size=6).map("\n".join)


def golden(name):
    return (GOLDEN / name).read_text(encoding="utf-8")


def test_the_list_has_the_format_of_the_seed():
    english = [
        ListedMemory("Always use try-catch", ("pattern", "errors"), "2026-01-26", "Always use try-catch"),
        ListedMemory("A text of several lines", (), "2026-01-27", "first\n## not a heading\n---\n- Tags: not tags"),
    ]
    japanese = ListedMemory("例外は必ず捕捉する", ("pattern", "エラー処理"), "2026-01-26", "例外は必ず捕捉する")
    assert render_list(english) == golden("list.en.md")
    assert render_list([japanese]) == golden("list.ja.md")
    assert render_list([]) == ""


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=3))
def test_no_text_adds_an_entry_or_ends_the_list(entries):
    text = render_list(ListedMemory(title, ("a",), "2026-01-26", content) for title, content in entries)
    lines = text.splitlines()
    assert lines[0] == "# Memories"
    assert lines[-1] == "---"
    assert [line for line in lines if line.startswith("#")][1:] == [line for line in lines if line.startswith("## ")]
    for prefix in ("## ", "- Tags:", "- Date:", "- Content:"):
        assert sum(line.startswith(prefix) for line in lines) == len(entries)
    assert sum(line.rstrip() == "---" for line in lines) == 1


PROJECT = ProjectTexts(
    "api-refactoring",
    "# api-refactoring\n\n> API の整理\n\n## 最近の活動\n\n### JWT を採用"
    " <!-- omoide:019c2d3e-9d1b-76ef-94c5-88628e870c21 -->\n- 内容: JWT を採用\n",
    "# セッション: monday\n\n### テストを直した\n- 内容: テストを直した\n",
    "# 固定記憶\n\n### 日本語で答える\n- 内容: 日本語で答える\n",
)
OTHERS = [("backend/bank", "# bank\n\n> 銀行\n\n## 最近の活動\n\n### 秘密\n")]


def test_the_block_has_the_format_of_the_seed():
    assert render_project_block(PROJECT, OTHERS) == golden("block.ja.md")
    hostile = "# shop\n\n> The web shop\n\nA person's own line.\n\n---\n\n### 固定記憶\n\n## プロジェクトメモリ: other\n"
    assert render_project_block(ProjectTexts("shop", hostile)) == golden("block.en.md")


def test_the_block_stands_after_the_prompt_and_the_context_of_the_channel():
    block = golden("block.en.md")
    assert inject_project_block("直して", "Slack: hello\n", block) == f"直して\n\nSlack: hello\n\n{block}"
    assert inject_project_block("直して", "", "") == "直して\n"


@pytest.mark.parametrize("most", range(0, 700, 7))
def test_a_block_is_cut_to_its_size_and_keeps_what_matters_most(most):
    block = render_project_block(PROJECT, OTHERS, most=most)
    assert not most or len(block.encode()) <= most
    if block:
        assert block.startswith("---\n## プロジェクトメモリ: api-refactoring\n")
        assert block.endswith("\n---\n")
    kept = [part in block for part in ("日本語で答える", "JWT を採用", "テストを直した", "銀行")]
    assert kept == sorted(kept, reverse=True)
    assert block == golden("block.ja.md") or not most or CUT in block or "銀行" not in block


@given(texts, texts, texts, texts, st.integers(0, 400))
@example("---", "---", "---", "---", 0)
def test_no_text_ends_a_block_or_begins_its_parts(memory, session, pinned, other, most):
    block = render_project_block(ProjectTexts("shop", memory, session, pinned), [("x", other)], most=most)
    if not block:
        return
    lines = block.splitlines()
    assert (lines[0], lines[1], lines[-1]) == ("---", "## プロジェクトメモリ: shop", "---")
    assert sum(line.strip() == "---" for line in lines) == 2
    assert sum(line.startswith("## プロジェクトメモリ") for line in lines) == 1
    assert sum(line.startswith("### 固定記憶") for line in lines) <= 1
    assert not most or len(block.encode()) <= most
    rules = [token for token in MarkdownIt("commonmark").parse(block) if token.type == "hr" and token.level == 0]
    assert len(rules) == 2
