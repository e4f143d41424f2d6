"""Memories in Markdown files: what is written is read again, and a change touches nothing but what it changes."""

import difflib
import re
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import assume, example, given, strategies as st

from omoide.errors import Conflict, InvalidInput, Unreadable
from omoide.markdown.file_per_memory import FilePerMemory
from omoide.markdown.format import ProjectFrame, changed_fields, fold_name
from omoide.markdown.project_tree import ProjectTree, read_description, session_file
from omoide.markdown.single_file import SingleFile
from omoide.model import TYPES, Memory, Scope, State, check_segment, derive_topic, new_id

AT = datetime(2026, 2, 5, 10, 0, 0, 123456, UTC)
LIST, FILES, TREE = SingleFile(), FilePerMemory(), ProjectTree("shop")
PAGES = {
    "memories.md": LIST,
    "shop/MEMORY.md": TREE,
    "shop/pinned.md": TREE,
    "shop/decisions.md": TREE,
    "shop/MEMORY_s.md": TREE,
}


def memory(content: str, **fields: object) -> Memory:
    made = {
        "id": new_id(AT), "number": 1, "scope": Scope.project("shop"), "key": None, "type": "note",
        "topic": derive_topic(content), "topic_given": False, "content": content, "tags": (), "examples": (),
        "source": "cli", "confidence": 1.0, "relevance": 0.5, "reference_count": 0, "pinned": False, "state": State.ACTIVE,
        "created_at": AT, "updated_at": AT, "last_accessed_at": None, "expires_at": None, "version": 1,
    }  # several entries per line  # fmt: skip
    return Memory(**{**made, **fields})


def belonging(name: str, made: Memory) -> Memory:
    """The memory as one that stands in this file."""
    own = {
        "shop/MEMORY.md": {"pinned": False, "type": "note" if made.type == "decision" else made.type},
        "shop/pinned.md": {"pinned": True},
        "shop/decisions.md": {"pinned": False, "type": "decision"},
        "shop/MEMORY_s.md": {"scope": Scope.session("shop", "s")},
    }
    return msgspec.structs.replace(made, **own.get(name, {}))


ID = "019c2d3e-8d7b-7005-9b9f-0bab03f3a2bc"
pieces = st.sampled_from([
    "## x", "### x", "# x", "```", "~~~~", "```py", f"- Id: {ID}", "- Content: x", "- 内容: x", "---", "- a", "text", "日",
    "", "", " ", "  ", "   indented", "\ttab", "\r", "x\r", "\r\r", "<!-- omoide:end -->", "\u2028", "\x85", "\x0b", "…",
    "<<<<<<< HEAD", "=======", ">>>>>>> main", "> quote", "| a |", "1. one", "key: value", "\ufeff", "&*%@`",
])  # several entries per line  # fmt: skip
letters = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0") | st.sampled_from("\n\r\t #-`~:日 "))
contents = (st.lists(pieces, min_size=1, max_size=8).map("\n".join) | letters).filter(
    lambda text: text and not text.isspace()
)
lines = st.text(st.characters(exclude_categories=["C", "Z"]) | st.sampled_from(" :#-日"), max_size=30)
line = lines.map(lambda text: " ".join(text.split())).filter(bool)
tag = line.map(lambda text: text.replace(",", "")).filter(lambda text: text.strip() == text and text != "")
tags = st.lists(tag | st.sampled_from(TYPES), max_size=3, unique_by=str.casefold).map(tuple)


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    content = draw(contents)
    topic = draw(st.none() | line)
    return memory(
        content,
        id=str(draw(st.uuids())),
        topic=derive_topic(content) if topic is None else topic,
        topic_given=topic is not None,
        type=draw(st.sampled_from([*TYPES, "persona"])),
        tags=draw(tags),
        examples=tuple(draw(st.lists(contents | st.just(""), max_size=2))),
        key=draw(st.none() | st.sampled_from(["k", "鍵", "a: b", "[x]", "true"])),
        pinned=draw(st.booleans()),
        source=draw(st.sampled_from(["file", "cli", "claude code: x", "#1"])),
    )


page_names = st.sampled_from(list(PAGES))
own_paragraphs = st.lists(
    st.sampled_from([
        "mine", "* a list\n* of mine", "## A heading", "### Another", "```sh\n## not one\n- Content: no\n```", "1. first",
        "<!-- a comment -->", "| a | table |", "```\nstray", "- Date: tomorrow", "#### deep", "> quoted",
    ]),
    max_size=3,
)  # several entries per line  # fmt: skip


@given(
    page_names,
    st.lists(memories(), max_size=3, unique_by=lambda one: one.id),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_entries_written_to_a_page_are_parsed_unchanged(name, made, end, mark):
    made = [belonging(name, one) for one in made]
    start = ("\ufeff" if mark else "") + f"# Mine{end}"
    text = PAGES[name].rewrite(name, start, {one.id: one for one in made}, (), {})
    assert [placed.entry for placed in PAGES[name].parse(name, text)] == [PAGES[name].expected_entry(one) for one in made]
    assert text.startswith(start)
    assert [text.split("\n")[placed.line - 1][:3] for placed in PAGES[name].parse(name, text)] == [
        "## " if name == "memories.md" else "###"
    ] * len(made)


@given(memories(), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans())
def test_entries_written_to_an_entry_file_are_parsed_unchanged(one, end, mark, archived):
    one = msgspec.structs.replace(one, state=State.ARCHIVED if archived else State.ACTIVE)
    name = FILES.file_for(one, lambda _: False)
    fresh = FILES.rewrite(name, None, {one.id: one}, (), {})
    typed = f"---{end}# mine{end}mine: [1, {{a: b}}]{end}---{end}{end}typed{end}"
    stamped = FILES.rewrite(name, "\ufeff" * mark + typed, {}, (), {1: one})
    for text, extra in ((fresh, {}), (stamped, {"mine": ["1", {"a": "b"}]})):
        assert [placed.entry for placed in FILES.parse(name, text)] == [
            msgspec.structs.replace(FILES.expected_entry(one), extra=extra)
        ]
        assert FILES.rewrite(name, text, {one.id: one}, (), {}) == text
    assert stamped.startswith("\ufeff" * mark + f"---{end}# mine{end}")


@st.composite
def pages(draw: st.DrawFn) -> tuple[str, str, list[Memory], list[str]]:
    """A page as a person keeps it: entries, and between them paragraphs of their own."""
    name = draw(page_names)
    end = draw(st.sampled_from(["\n", "\r\n"]))
    made = [belonging(name, one) for one in draw(st.lists(memories(), min_size=1, max_size=3, unique_by=lambda one: one.id))]
    text, own = f"# Mine{end}", []
    for one in made:
        text = PAGES[name].rewrite(name, text, {one.id: one}, (), {})
        for paragraph in draw(own_paragraphs):
            own += paragraph.split("\n")
            text += end + paragraph.replace("\n", end) + end
    return name, text, made, own


@given(pages(), st.data())
def test_a_persons_own_text_survives_any_rewrite(page, data):
    name, text, made, own = page
    format = PAGES[name]
    standing = {placed.entry.id for placed in format.parse(name, text)}
    drop = set(data.draw(st.lists(st.sampled_from([one.id for one in made]), max_size=3)))
    put = {
        one.id: belonging(name, msgspec.structs.replace(data.draw(memories()), id=one.id))
        for one in made
        if one.id not in drop
    }
    new = belonging(name, data.draw(memories()))
    after = format.rewrite(name, text, {**put, new.id: new}, drop, {})
    assert {placed.entry.id for placed in format.parse(name, after)} >= standing - drop | {new.id}
    assert not drop & {placed.entry.id for placed in format.parse(name, after)}
    left = iter([line.removesuffix("\r") for line in after.split("\n")])
    for line in own:
        assert line.removesuffix("\r") in left, f"{line!r} is lost, or not where it was"


@given(pages(), memories())
def test_changing_one_entry_changes_only_its_lines(page, other):
    name, text, made, _ = page
    format = PAGES[name]
    target = made[0]
    placed = {one.entry.id: one for one in format.parse(name, text)}
    assume(target.id in placed)
    after = format.rewrite(name, text, {target.id: belonging(name, msgspec.structs.replace(other, id=target.id))}, (), {})
    before, now = text.split("\n"), after.split("\n")
    start = placed[target.id].line - 1
    rest = [one.line - 1 for one in placed.values() if one.line - 1 > start]
    stop = min(rest, default=len(before))
    assert now[:start] == before[:start]
    assert stop == len(before) or now[-(len(before) - stop) :] == before[stop:]
    again = {one.entry.id: one for one in format.parse(name, after)}
    assert {id: one.digest for id, one in again.items() if id != target.id} == {
        id: one.digest for id, one in placed.items() if id != target.id
    }
    assert format.rewrite(name, after, {}, (), {}) == after


@given(page_names, memories(), memories())
def test_adding_and_removing_an_entry_restores_the_file(name, first, second):
    first, second = belonging(name, first), belonging(name, second)
    format = PAGES[name]
    one = format.rewrite(name, "# Mine\n", {first.id: first}, (), {})
    two = format.rewrite(name, one, {second.id: second}, (), {})
    assert format.rewrite(name, two, {}, {second.id}, {}) == one


@given(page_names, letters | st.lists(pieces, max_size=30).map("\n".join))
def test_any_text_is_parsed_or_refused_and_a_rewrite_changes_nothing(name, text):
    try:
        placed = PAGES[name].parse(name, text)
    except Unreadable:
        return
    assert PAGES[name].rewrite(name, text, {}, (), {}) == text
    stamps = {one.line: belonging(name, memory(one.entry.content)) for one in placed if one.entry.id is None}
    after = PAGES[name].rewrite(name, text, {}, (), stamps)
    assert {one.id for one in stamps.values()} <= {one.entry.id for one in PAGES[name].parse(name, after)}


@given(memories(), memories())
def test_changed_fields_have_the_names_that_revise_uses(before, after):
    after = msgspec.structs.replace(after, id=before.id)
    for name in ("memories.md", "k.md"):
        format = LIST if name == "memories.md" else FILES
        text = format.rewrite(name, None, {before.id: before}, (), {})
        shown = format.expected_entry(before)
        assert changed_fields(before, shown, format.parse(name, text)[0].entry) == {}
        edited = format.parse(name, format.rewrite(name, text, {before.id: after}, (), {}))[0].entry
        found = changed_fields(before, shown, edited)
        for field in ("content", "tags", "type"):
            assert found.get(field, getattr(before, field)) == getattr(after, field)


def test_an_unchanged_derived_title_is_not_a_topic():
    before = memory("Use npm")
    text = LIST.rewrite("memories.md", None, {before.id: before}, (), {})
    edited = LIST.parse("memories.md", text.replace("Content: Use npm", "Content: Use pnpm"))[0].entry
    assert changed_fields(before, LIST.expected_entry(before), edited) == {"content": "Use pnpm"}
    named = LIST.parse("memories.md", text.replace("## Use npm", "## Package manager"))[0].entry
    assert changed_fields(before, LIST.expected_entry(before), named) == {"topic": "Package manager"}


# memories.md


def test_the_layout_of_memories_md():
    first = memory("Always use try-catch", type="pattern", tags=("error-handling",))
    second = memory("Deploy:\n\n```sh\n## build\nmake\n```\n")
    assert LIST.render_list([first, second]) == (
        "# Memories\n\n"
        "## Always use try-catch\n- Tags: pattern, error-handling\n- Date: 2026-02-05\n"
        f"- Id: {first.id}\n- Content: Always use try-catch\n\n"
        "## Deploy: ```sh ## build make ```\n- Tags:\n- Date: 2026-02-05\n"
        f"- Id: {second.id}\n- Content: Deploy:\n\n  ```sh\n  ## build\n  make\n  ```\n  \n"
    )
    assert LIST.render_list([]) == "# Memories\n"


def entries(text: str, name: str = "memories.md"):
    return [placed.entry for placed in PAGES[name].parse(name, text)]


def test_a_file_of_the_original_tool_is_parsed():
    text = (
        "# Memories\n\n## One...\n- Tags: solution, a,b\n- Date: 2026-01-26\n- Content: One and more\n"
        "## Two\n- Tags: \n- Date: \n- Content: Two\n"
    )
    one, two = entries(text)
    assert (one.content, one.topic, one.type, one.tags) == ("One and more", None, "solution", ("a", "b"))
    assert one.created_at == datetime(2026, 1, 26, tzinfo=UTC)
    assert (two.content, two.topic, two.type, two.tags, two.created_at) == ("Two", None, None, (), None)


def test_fields_may_be_missing_unknown_or_in_another_order():
    (one,) = entries("## Title\n\n- content： words\n- Priority: high\n* TAGS: x\n")
    assert (one.content, one.topic, one.tags, one.created_at) == ("words", "Title", ("x",), None)
    (two,) = entries(f"## Only a title\n- Id: {new_id(AT)}\n- Date: yesterday\n")
    assert (two.content, two.type, two.created_at) == ("Only a title", "note", None)
    assert entries("## Notes\nmy own words\n\n## Meeting\n- Date: 2026-01-01\n- Who: all\n") == []
    assert entries("") == entries("\ufeff") == entries("# Memories\n") == []


def test_a_person_need_not_indent():
    text = "## T\n- Content: one\ntwo\n```\n## three\n```\nfour\n\nmy own\n"
    assert [one.content for one in entries(text)] == ["one\ntwo\n```\n## three\n```\nfour"]
    assert [one.content for one in entries("## T\n- Content:\n\n  one\n\n\ttwo\n")] == ["one\n\ntwo"]


def test_an_unknown_label_is_removed_and_left_with_its_entry():
    kept = memory("words")
    text = "## T\n- Priority: high\n  and more\n- Content: words\n\nown\n"
    stamped = LIST.rewrite("memories.md", text, {}, (), {1: kept})
    assert stamped == text.replace("## T\n", "## words\n").replace("- Content", f"- Id: {kept.id}\n- Content")
    assert LIST.rewrite("memories.md", stamped, {}, {kept.id}, {}) == "own\n"


def test_an_unclosed_fence_hides_no_entry():
    one, two = memory("one"), memory("two")
    text = LIST.render_list([one, two]).replace("\n## two", "\n```\nstray\n\n## two") + "\n```\n"
    assert [entry.content for entry in entries(text)] == ["one", "two"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("memories.md", "```\n## T\n- Content: words\n- Id: {id}\n\n## Other\n- Content: other\n"),
        (
            "memories.md",
            "## T\n- Id: {id}\n- X: y\n\nown words\n```\n- Tags: a\n- Content: words\n\n## Other\n- Content: other\n",
        ),
        ("MEMORY.md", "### T <!-- omoide:{id} -->\nown words\n```\n- タグ: a\n- 内容: words\n\n### Other\n- 内容: other\n"),
    ],
)
def test_a_fence_in_a_memory_does_not_close_an_unclosed_one_above_it(name: str, text: str):
    one = memory("a\n\n```\nb", tags=("a",))
    before = text.format(id=one.id)
    format = LIST if name == "memories.md" else ProjectTree()
    assert [placed.entry.content for placed in format.parse(name, before)] == ["words", "other"]
    changed = format.rewrite(name, before, {one.id: one}, (), {})
    read = [placed.entry for placed in format.parse(name, changed)]
    assert [(entry.content, entry.tags) for entry in read] == [(one.content, ("a",)), ("other", ())]


def test_a_changed_copy_of_an_entry_is_new_and_an_exact_copy_is_ignored():
    one = memory("words")
    text = LIST.render_list([one])
    block = text.removeprefix("# Memories\n")
    assert [entry.id for entry in entries(text + block)] == [one.id]
    assert [entry.id for entry in entries(text + block.replace("Content: words", "Content: other"))] == [one.id, None]
    assert LIST.rewrite("memories.md", text + block, {}, {one.id}, {}) == "# Memories\n"
    changed = LIST.rewrite("memories.md", text + block, {one.id: msgspec.structs.replace(one, content="new")}, (), {})
    assert [entry.content for entry in entries(changed)] == ["new"]


def test_an_entry_typed_again_is_merged_into_the_existing_one():
    one = memory("words")
    typed = LIST.render_list([one]) + "\n## words\n- Content: better words\n\nown\n"
    better = msgspec.structs.replace(one, content="better words")
    after = LIST.rewrite("memories.md", typed, {}, (), {9: better})
    assert [entry.content for entry in entries(after)] == ["better words"]
    assert after.endswith("\nown\n")


def test_git_conflict_markers_are_refused_with_their_line():
    text = LIST.render_list([memory("words")]) + "<<<<<<< HEAD\n## a\n=======\n## b\n>>>>>>> other\n"
    with pytest.raises(Unreadable, match=r"line 8: git left conflict markers here .<<<<<<<.: resolve the conflict"):
        entries(text)
    assert len(entries(LIST.render_list([memory("<<<<<<< HEAD\n=======\n>>>>>>> other")]))) == 1


def test_a_custom_type_is_written_among_the_tags_if_it_is_configured():
    one = memory("words", type="persona", tags=("pattern",))
    for format, shown in (
        (LIST, "- Type: persona\n- Tags: pattern\n"),
        (SingleFile(types=(*TYPES, "persona")), "- Tags: persona, pattern\n"),
    ):
        text = format.render_list([one])
        assert shown in text
        assert format.parse("memories.md", text)[0].entry == format.expected_entry(one)


def test_line_ends_converted_by_git_change_nothing():
    one = memory("a\nb\n\n```\nc\n```")
    for format, name in ((LIST, "memories.md"), (FILES, "a.md")):
        text = format.rewrite(name, None, {one.id: one}, (), {})
        assert format.parse(name, text.replace("\n", "\r\n")) == format.parse(name, text)


# entry files


def test_the_layout_of_an_entry_file():
    one = memory("## 方針\n\nREST", key="api-design", tags=("architecture", "api"), source="file")
    assert FILES.rewrite("api-design.md", None, {one.id: one}, (), {}) == (
        f"---\nkey: api-design\nid: {one.id}\ntags:\n  - architecture\n  - api\n"
        "created_at: 2026-02-05T10:00:00.123456Z\nupdated_at: 2026-02-05T10:00:00.123456Z\n---\n\n## 方針\n\nREST\n"
    )


def test_a_file_without_front_matter_is_an_entry_named_by_its_key():
    (placed,) = FILES.parse("deploy.md", "make deploy\n")
    assert (placed.entry.content, placed.entry.key, placed.entry.type, placed.line) == ("make deploy", "deploy", None, 1)
    one = memory("make deploy", key="deploy", source="file")
    text = FILES.rewrite("deploy.md", "make deploy\n", {}, (), {1: one})
    assert text.startswith("---\nkey: deploy\n")
    assert text.endswith("---\n\nmake deploy\n")
    assert FILES.parse("deploy.md", text)[0].entry == FILES.expected_entry(one)


def test_a_changed_field_leaves_comments_order_and_unknown_fields_alone():
    text = (
        "---\n# about\nmine: {a: 1}\nupdated_at: 2020-01-01\n\n# labels\ntags: [old]  # here\n# end\n"
        "created_at: 2024-01-15T10:30:00\n---\nwords"
    )
    one = memory("words", tags=("new",), source="file")
    after = FILES.rewrite("w.md", text, {}, (), {1: one})
    changed = [line for line in difflib.ndiff(text.splitlines(), after.splitlines()) if line[0] in "-+"]
    assert [re.sub("[0-9a-f-]{36}", "ID", line) for line in changed] == [
        "- updated_at: 2020-01-01", "+ id: ID", "+ updated_at: 2026-02-05T10:00:00.123456Z",
        "- tags: [old]  # here", "+ tags:", "+   - new",
    ]  # several entries per line  # fmt: skip
    assert FILES.parse("w.md", after)[0].entry.created_at == datetime(2024, 1, 15, 10, 30, tzinfo=UTC)


def test_an_id_of_another_program_is_left_alone():
    one = memory("words", source="file")
    after = FILES.rewrite("w.md", "---\nid: 202401151030\n---\nwords\n", {}, (), {1: one})
    assert "\nid: 202401151030\n" in after
    assert f"\nomoide_id: {one.id}\n" in after
    assert FILES.parse("w.md", after)[0].entry.id == one.id
    assert FILES.rewrite("w.md", after, {one.id: one}, (), {}) == after


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no text"),
        ("---\nkey: a\n---\n\n  \n", "no text"),
        ("---\ntags: {a: b}\n---\nx", "tags should be a list"),
        ("---\ntags: [[a]]\n---\nx", "tags should be a list"),
        ("---\nkey: [a]\n---\nx", "key should be a single value"),
        ("---\na: &x [1]\nb: *x\n---\nx", "alias"),
        ("---\nkey: a\n", "no end"),
    ],
)
def test_an_entry_file_that_cannot_be_parsed_raises_with_the_reason(text, says):
    with pytest.raises(Unreadable, match=says):
        FILES.parse("a.md", text)


def test_another_entry_is_never_overwritten():
    one, two = memory("one"), memory("two")
    text = FILES.rewrite("a.md", None, {one.id: one}, (), {})
    for standing in (text, "typed\n"):
        with pytest.raises(Conflict, match=r"a\.md has another entry"):
            FILES.rewrite("a.md", standing, {two.id: two}, (), {})
    assert FILES.rewrite("a.md", text, {}, {one.id}, {}) is None
    assert FILES.rewrite("a.md", text, {}, {two.id}, {}) == text


@given(letters.filter(bool), st.integers(0, 3))
@example("con", 0)
@example("README", 0)
@example("あ" * 300, 3)
@example("...", 1)
@example("a/../../b", 0)
def test_a_file_name_is_valid_on_every_disk_and_unused(topic, taken):
    one = memory("x", topic=topic, topic_given=True)
    names: list[str] = []
    for _ in range(taken):
        names.append(FILES.file_for(one, lambda name: fold_name(name) in map(fold_name, names)))
    name = FILES.file_for(one, lambda name: fold_name(name) in map(fold_name, names))
    assert len({fold_name(other) for other in [*names, name]}) == taken + 1
    assert FILES.owns(name)
    assert check_segment(name, "file") == name
    assert len(name.encode()) < 200
    assert name == FILES.file_for(one, lambda name: fold_name(name) in map(fold_name, names))


def test_file_names_are_readable():
    named = {
        "有効期限は 30 分": "有効期限は-30-分.md",
        "Use pnpm, not npm!": "Use-pnpm-not-npm.md",
        "src/app.py: retries": "src-app.py-retries.md",
    }
    for topic, name in named.items():
        assert FILES.file_for(memory("x", topic=topic, topic_given=True), lambda _: False) == name
    assert FILES.file_for(memory("x", key="C++ と Rust"), lambda _: False) == "C++ と Rust.md"
    assert FILES.file_for(memory("x", key="a", state=State.ARCHIVED), lambda _: False) == "archive/a.md"
    assert [FILES.owns(name) for name in ("a.md", "archive/a.md", "b/a.md", "a.txt", ".a.md", "Readme.md")] == [
        True, True, False, False, False, False,
    ]  # several entries per line  # fmt: skip


# the tree


def test_each_memory_is_in_exactly_one_file_of_the_tree():
    session = Scope.session("shop", "朝会 1")
    assert TREE.file_for(memory("x", scope=session, pinned=True, type="decision")) == "shop/MEMORY_朝会 1.md"
    assert TREE.file_for(memory("x", pinned=True, type="decision")) == "shop/pinned.md"
    assert TREE.file_for(memory("x", type="decision")) == "shop/decisions.md"
    assert TREE.file_for(memory("x")) == "shop/MEMORY.md"
    here = ("shop/MEMORY_x.md", "shop/pinned.md", "MEMORY.md", "shop/other.md", "shop/a/MEMORY.md")
    assert [TREE.owns(name) for name in here] == [True, True, False, False, False]


def test_the_main_page_has_the_headings_of_the_original_tool():
    frame = ProjectFrame("backend/python/shop", "通販サイトの\nバックエンド", ("2026-02-05",))
    text = TREE.update_frame("shop/MEMORY.md", None, frame)
    assert text == (
        "# shop\n\n> 通販サイトの バックエンド\n\n## セッション\n\n- [2026-02-05](MEMORY_2026-02-05.md)\n\n## 最近の活動\n"
    )
    one = memory("決めた", tags=("api",), examples=("前\n後",), source="slack")
    text = TREE.rewrite("shop/MEMORY.md", text + "\n## メモ\n\n自分の\n", {one.id: one}, (), {})
    assert text.endswith(
        f"## 最近の活動\n\n### 決めた <!-- omoide:{one.id} -->\n- タグ: api\n- 日時: 2026-02-05 10:00\n- 出典: slack\n"
        "- 例: 前\n  後\n- 内容: 決めた\n\n## メモ\n\n自分の\n"
    )
    assert read_description(text) == "通販サイトの バックエンド"
    assert TREE.update_frame("shop/MEMORY.md", text, frame) == text


@given(
    st.lists(
        st.text(max_size=20).map(str.strip) | st.sampled_from(["a (b)", "[x]", "x" * 250, "日" * 80]),
        max_size=4,
        unique=True,
    ),
    line,
    pages(),
)
def test_sessions_and_description_are_updated_and_the_rest_stays(names, description, page):
    sessions = tuple(name for name in names if valid(name))
    _, text, _, own = page
    frame = ProjectFrame("shop", description, sessions)
    after = TREE.update_frame("shop/MEMORY.md", text, frame)
    assert TREE.update_frame("shop/MEMORY.md", after, frame) == after
    assert read_description(after) == description
    for session in sessions:
        assert session_file(session) in after
    for line in own:
        assert line in after
    assert [one.digest for one in TREE.parse("shop/MEMORY.md", after)] == [
        one.digest for one in TREE.parse("shop/MEMORY.md", text)
    ]


def valid(name: str) -> bool:
    try:
        return check_segment(name, "session") == name
    except InvalidInput:
        return False


def test_a_session_with_a_very_long_name_is_read_from_its_first_line():
    name = "日" * 85
    one = memory("x", scope=Scope.session("shop", name))
    file = TREE.file_for(one)
    assert len(file.rpartition("/")[2].encode()) <= 250
    text = TREE.rewrite(file, None, {one.id: one}, (), {})
    assert TREE.parse(file, text)[0].entry == TREE.expected_entry(one)


def test_an_entry_moved_to_another_file_gets_the_fields_of_that_file():
    one = memory("words")
    text = TREE.rewrite("shop/MEMORY.md", None, {one.id: one}, (), {})
    shown = TREE.expected_entry(one)
    assert changed_fields(one, shown, TREE.parse("shop/pinned.md", text)[0].entry) == {"pinned": True}
    assert changed_fields(one, shown, TREE.parse("shop/decisions.md", text)[0].entry) == {"type": "decision"}
    assert TREE.parse("shop/MEMORY_s.md", text)[0].entry.session == "s"


def test_english_labels_in_a_tree_are_parsed():
    (one,) = entries(
        "### T\n- Type: pattern\n- Tags: a\n- Pinned: yes\n- Example: e\n- Content: words\n", "shop/MEMORY_s.md"
    )
    assert (one.type, one.tags, one.pinned, one.examples, one.session) == ("pattern", ("a",), True, ("e",), "s")
