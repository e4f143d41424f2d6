"""Pages made from memories, and pages of others: documents, the block in CLAUDE.md, Claude Code's own notes."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from omoide.errors import Unreadable
from omoide.markdown.pages import render_all, render_document
from omoide.model import Memory, Scope, State, derive_topic
from omoide.prompt.managed_block import FIRST, LAST, ManagedBlock
from omoide.transfer.claude_code.facts import Draft, Fact, parse_directory, parse_instructions

AT = datetime(2026, 2, 5, 10, 0, tzinfo=UTC)


def memory(content: str, number: int = 1, **fields: object) -> Memory:
    made = {
        "id": f"019c2d3e-8d7b-7005-9b9f-{number:012}", "number": number, "scope": Scope.project("shop"), "key": None,
        "type": "note", "topic": derive_topic(content), "topic_given": False, "content": content, "tags": (),
        "examples": (), "source": "cli", "confidence": 1.0, "relevance": 0.5, "reference_count": 0, "pinned": False,
        "state": State.ACTIVE, "created_at": AT + timedelta(seconds=number), "updated_at": AT, "last_accessed_at": None,
        "expires_at": None, "version": 1,
    }  # several entries per line  # fmt: skip
    return Memory(**{**made, **fields})


# documents


def test_a_document_lists_the_most_confident_and_most_referenced_first():
    page = render_document(
        "tech",
        [
            memory("top level only", 1, topic="Hooks", confidence=0.88, reference_count=8),
            memory("tokio を使う", 2, topic="Rustの非同期", tags=("rust", "async"), examples=("x.await",), confidence=0.95),
            memory("more often", 3, topic="Often", confidence=0.88, reference_count=9),
        ],
    )
    assert page == (
        "# Technical Knowledge\n\n---\n\n"
        "## Rustの非同期\n*Tags: rust, async*\n*References: 0, Confidence: 0.95*\n\ntokio を使う\n\n"
        "### Examples:\n```rust\nx.await\n```\n\n---\n\n"
        "## Often\n*References: 9, Confidence: 0.88*\n\nmore often\n\n---\n\n"
        "## Hooks\n*References: 8, Confidence: 0.88*\n\ntop level only\n"
    )


def test_the_index_lists_the_page_of_every_type():
    made = [memory("x", 1), memory("y", 2, type="tech"), memory("z", 3, type="tech"), memory("i", 4, type="index")]
    pages = render_all(made)
    assert list(pages) == ["index.md", "tech.md", "note.md", "index-type.md"]
    assert pages["index.md"] == (
        "# Memories\n\n- [Technical Knowledge](tech.md): 2\n- [Note](note.md): 1\n- [Index](index-type.md): 1\n"
    )
    assert render_all([]) == {"index.md": "# Memories\n\n- nothing yet\n"}


@given(st.permutations([memory("a", 1), memory("b", 2, confidence=0.5), memory("c", 3, type="tech"), memory("d", 4)]))
def test_documents_are_identical_for_any_input_order(made):
    assert render_all(made) == render_all(sorted(made, key=lambda one: one.number))


def test_an_example_cannot_close_its_own_fence():
    example = "a\n```sh\nls\n```\nb"
    assert f"````text\n{example}\n````\n" in render_document("note", [memory("x", examples=(example,))])


# the block in CLAUDE.md

BLOCK = ManagedBlock("CLAUDE.md")
texts = st.lists(st.sampled_from(["# Mine", "words", "", "  ", "- a", "```", "日本", "<!-- x -->", f" {FIRST}"]), max_size=8)


@given(texts, texts, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.integers(0, 3))
def test_text_outside_the_block_is_unchanged(above, below, end, mark, count):
    made = [memory(f"memory {number}\n{LAST}\nend", number) for number in range(count)]
    start = "\ufeff" * mark + "".join(line + end for line in above)
    rest = "".join(line + end for line in below)
    text = f"{start}{FIRST}{end}old{end}{LAST}{end}{rest}" if above else f"{FIRST}\nold\n{LAST}\n{rest}"
    after = BLOCK.render(text, made)
    assert after.startswith(start if above else FIRST)
    assert after.endswith(f"{LAST}{end if above else chr(10)}{rest}")
    assert after.count("memory ") == count
    assert BLOCK.render(after, made) == after


@given(texts, st.sampled_from(["\n", "\r\n"]))
def test_a_block_is_inserted_and_removed(lines, end):
    text = end.join(lines).rstrip() + end if any(map(str.strip, lines)) else ""
    assert BLOCK.remove(BLOCK.render(text, [memory("x")])) == text


def test_a_block_names_itself_and_counts_what_did_not_fit():
    made = [
        memory("plain", 1),
        memory("two\n\nlines\n", 2, topic="Named", topic_given=True, type="decision"),
        memory("first", 3, pinned=True, type="warning"),
    ]
    text = BLOCK.render(None, made)
    assert text.startswith(f"{FIRST}\n## Memories\n\nWhat was learnt here before, kept by omoide: aids, not orders")
    assert text.endswith(f"\n\n- first (warning)\n- plain\n- **Named**:\n  two\n\n  lines\n  (decision)\n{LAST}\n")
    assert (
        ManagedBlock("CLAUDE.md", largest=30)
        .render(None, made)
        .endswith(f"- first (warning)\n- plain\n- … and 1 more: `omoide recall`, or `omoide list`\n{LAST}\n")
    )
    assert f"\n- nothing yet\n{LAST}\n" in BLOCK.render("# Mine\n", [])


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([FIRST, "x"], "line 1: .*begin.* has no .*end.* below it"),
        (["x", LAST], "line 2: .*end.* has no .*begin.* above it"),
        ([LAST, FIRST], "line 1: .*end.* has no .*begin.* above it"),
        ([FIRST, FIRST, LAST, LAST], "line 2: .*begin.* for the second time"),
        ([FIRST, LAST, FIRST, LAST], "line 3: .*begin.* for the second time"),
        ([FIRST, LAST, LAST], "line 3: .*end.* for the second time"),
    ],
)
def test_unbalanced_block_markers_are_refused_with_their_line(lines, says):
    for change in (lambda text: BLOCK.render(text, [memory("x")]), BLOCK.remove):
        with pytest.raises(Unreadable, match=says):
            change("\n".join(lines))


# Claude Code

FACT = """---
name: testing-policy
description: "Integration tests hit a real database"
metadata:
  type: feedback
---

Never mock the database.

**Why:** migrations. See [[other]].
"""


def fields_of(reading) -> list[tuple[str, str | None, str | None, tuple[str, ...]]]:
    return [(fact.draft.content, fact.draft.topic, fact.draft.type, tuple(fact.draft.tags)) for fact in reading]


def test_each_file_gives_one_fact_and_the_index_adds_only_its_own():
    found = parse_directory(
        {
            "MEMORY.md": "# Memory\n\n- [Testing](testing_policy.md) — real\n- [Gone](gone.md) — only here\n- Use pnpm\n",
            "testing_policy.md": FACT.replace("\n", "\r\n"),
            "user_role.md": "---\nname: Role\ndescription: data scientist\ntype: user\n---\ndata scientist, new to Go\n",
            "debugging.md": "# Debugging\n\nRun with `-v`.\n",
        }
    )
    assert found.troubles == []
    assert fields_of(found.facts) == [
        ("[Gone](gone.md) — only here", None, "context", ("Memory",)),
        ("Use pnpm", None, "context", ("Memory",)),
        ("Run with `-v`.", "Debugging", "context", ()),
        (
            "Integration tests hit a real database\n\nNever mock the database.\n\n**Why:** migrations. See [[other]].",
            "testing-policy", "preference", ("feedback",),
        ),
        ("data scientist, new to Go", "Role", "preference", ("user",)),
    ]  # several entries per line  # fmt: skip
    assert [(fact.file, fact.line, fact.draft.key, fact.about) for fact in found.facts] == [
        ("MEMORY.md", 4, None, ""), ("MEMORY.md", 5, None, ""), ("debugging.md", 3, None, ""),
        ("testing_policy.md", 1, "testing_policy", "feedback"), ("user_role.md", 1, "user_role", "user"),
    ]  # several entries per line  # fmt: skip
    assert {fact.draft.source for fact in found.facts} == {"claude-code"}


def test_an_unreadable_file_does_not_stop_the_others():
    found = parse_directory(
        {"bad.md": "---\na: [\n---\nx", "open.md": "---\nname: x\n", "empty.md": "---\nname: Only\n---\n"}
    )
    assert [trouble.partition(":")[0] for trouble in found.troubles] == ["bad.md", "open.md"]
    assert fields_of(found.facts) == [("Only", "Only", None, ())]


def test_instructions_are_read_from_items_and_sections():
    page = f"""---
paths: src/**
---
# Shop

@docs/more.md
The shop sells, a lot.

## Build, and test
- `make build`
  - nested
  more

- Run this:
  ```sh
  # not a heading
  make test
  ```

Prose after it.
<!-- a comment
- hidden
-->

1. First
2. Second
{FIRST}
- ours
{LAST}
## Empty
```
- not an item
```
"""
    facts = parse_instructions("CLAUDE.md", page)
    assert fields_of(facts) == [
        ("The shop sells, a lot.", "Shop", "context", ()),
        ("`make build`\n- nested\nmore", None, "context", ("Build and test",)),
        ("Run this:\n```sh\n# not a heading\nmake test\n```", None, "context", ("Build and test",)),
        ("First", None, "context", ("Build and test",)),
        ("Second", None, "context", ("Build and test",)),
        ("Prose after it.", "Build, and test", "context", ()),
        ("```\n- not an item\n```", "Empty", "context", ()),
    ]
    lines = page.split("\n")
    assert [lines[fact.line - 1].strip("-12. ") for fact in facts[1:5]] == ["`make build`", "Run this:", "First", "Second"]
    assert parse_instructions("AGENTS.md", "---\nno front matter") == [
        Fact(Draft("---\nno front matter", type="context", source="claude-code"), "AGENTS.md", 1)
    ]


def test_blocks_written_by_omoide_are_not_imported():
    text = BLOCK.render("# Rules\n\nBe kind.\n", [memory("learnt"), memory("more\nlines", 2)])
    assert fields_of(parse_instructions("CLAUDE.md", text)) == [("Be kind.", "Rules", "context", ())]
