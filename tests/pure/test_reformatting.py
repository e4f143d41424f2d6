"""Files that a formatter or an agent has rewritten: what was not changed in words has not changed."""

import re
from datetime import UTC, datetime

import pytest

from omoide.markdown.file_per_memory import FilePerMemory
from omoide.markdown.format import changed_fields
from omoide.markdown.project_tree import ProjectTree
from omoide.markdown.reformatting import is_same_content, is_same_title, is_same_value, keep_formatting
from omoide.markdown.single_file import SingleFile
from omoide.model import Memory, Scope, State, derive_topic
from pure.reformatting_examples import CONTENTS, REFORMATTED, WRITTEN, A, B, C

AT = datetime(2026, 2, 5, 10, 0, tzinfo=UTC)
LIST, TREE, FILES = SingleFile(), ProjectTree("shop"), FilePerMemory()


def memory(id: str, content: str, **fields: object) -> Memory:
    made = {
        "id": id, "number": 1, "scope": Scope.project("shop"), "key": None, "type": "note", "topic": derive_topic(content),
        "topic_given": False, "content": content, "tags": (), "examples": (), "source": "cli", "confidence": 1.0,
        "relevance": 0.5, "reference_count": 0, "pinned": False, "state": State.ACTIVE, "created_at": AT, "updated_at": AT,
        "last_accessed_at": None, "expires_at": None, "version": 1,
    }  # several entries per line  # fmt: skip
    return Memory(**{**made, **fields})


STORED = {
    A: memory(A, CONTENTS[A], tags=("error-handling",)),
    B: memory(B, CONTENTS[B], topic="How to deploy!", topic_given=True, tags=("ops", "snake_case")),
    C: memory(C, CONTENTS[C], type="decision"),
}


def changes(text, format=LIST, name="memories.md"):
    """What a person seems to have changed, by id."""
    located = {one.entry.id: one for one in format.parse(name, text)}
    return {
        id: changed_fields(stored, format.expected_entry(stored), located[id].entry) if id in located else "missing"
        for id, stored in STORED.items()
    }


def test_the_list_is_what_omoide_writes():
    assert LIST.render_list(STORED.values()) == WRITTEN


@pytest.mark.parametrize("name", REFORMATTED)
def test_a_reformatted_list_has_no_change(name):
    assert changes(REFORMATTED[name]) == {A: {}, B: {}, C: {}}
    assert LIST.mentions("memories.md", REFORMATTED[name]) == {}


@pytest.mark.parametrize("name", REFORMATTED)
def test_a_reformatted_list_is_not_written_back(name):
    text = REFORMATTED[name]
    assert LIST.rewrite("memories.md", text, STORED, (), {}) == text


@pytest.mark.parametrize("name", REFORMATTED)
def test_a_change_of_one_memory_leaves_the_other_entries_of_a_reformatted_list_as_they_are(name):
    text = REFORMATTED[name]
    changed = memory(A, "Never swallow an exception", tags=("error-handling",))
    after = LIST.rewrite("memories.md", text, {A: changed}, (), {})
    assert [one.entry.content for one in LIST.parse("memories.md", after) if one.entry.id == A] == [changed.content]
    assert "Always use try-catch" not in after
    kept = text.replace("\r\n", "\n").partition("How to deploy")[2]
    assert kept in after.replace("\r\n", "\n")
    assert changes(after) == {
        A: changed_fields(STORED[A], LIST.expected_entry(STORED[A]), LIST.expected_entry(changed)),
        B: {},
        C: {},
    }


@pytest.mark.parametrize("name", REFORMATTED)
def test_an_entry_can_be_removed_from_a_reformatted_list(name):
    after = LIST.rewrite("memories.md", REFORMATTED[name], {}, {A}, {})
    assert [one.entry.id for one in LIST.parse("memories.md", after)] == [B, C]
    assert A not in after
    assert changes(after) == {A: "missing", B: {}, C: {}}


@pytest.mark.parametrize("name", REFORMATTED)
def test_an_edit_of_a_reformatted_list_changes_only_what_was_edited(name):
    text = REFORMATTED[name].replace("make ship", "make release", 1)
    found = changes(text)
    content = found[B].pop("content")
    assert found == {A: {}, B: {}, C: {}}
    old, new = CONTENTS[B].split("\n"), content.split("\n")
    assert [line for line in new if line not in old] == [new[3]]
    assert new[3].strip(" -*") == "ship_it with make release"
    assert [line for line in old if line not in new] == [old[3]]


@pytest.mark.parametrize(
    ("text", "formatted"),
    [
        ("a long line of prose", "a long\nline of prose"),
        ("一行の長い文章です。続きます。", "一行の長い文章です。\n続きます。"),
        ("日本語 30 分", "日本語\n30 分"),
        ("* one\n* two\n  * three", "- one\n- two\n    - three"),
        ("1) one\n2) two\n4) three", "1. one\n2. two\n3. three"),
        ("use *this* and __that__", "use _this_ and **that**"),
        ("2 * 3 * 4", "2 *3* 4"),
        ("snake_case and *args and a[0]", "snake_case and \\*args and a\\[0]"),
        ("Title\n=====\n\ntext", "# Title\n\ntext"),
        ("#tag at the start", "# tag at the start"),
        ("## Heading:\ntext", "## Heading\n\ntext"),
        ("~~~py\nx = 1\n~~~", "```py\nx = 1\n```"),
        ("| a | b |\n|---|:-:|\n| 1 | 22222 |", "| a   |   b   |\n| --- | :---: |\n| 1   | 22222 |"),
        ("a | b\n--|--\n1 | 2", "| a   | b   |\n| --- | --- |\n| 1   | 2   |"),
        ("> quoted\nlazily", "> quoted lazily"),
        ("a\n\n\n\nb", "a\n\nb"),
        ("see https://example.org/a_b", "see <https://example.org/a_b>"),
        ("[x](http://a.b 'title')", '[x](http://a.b "title")'),
        ("* * *", "---"),
        ("ends with a line end\n", "ends with a line end"),
        ("    indented\n    text", "indented text"),
        ("- [X] done", "- [x] done"),
        ("```js\nconst a = 'x'\nf(a => b)\n```", '```js\nconst a = "x";\nf((a) => b);\n```'),
        ("```yaml\na:   b\nc: [ 1,2 ]\n```", "```yaml\na: b\nc: [1, 2]\n```"),
        ("```yaml\nkey:\n- 'a'\n-   b # why\n```", '```yaml\nkey:\n  - "a"\n  - b # why\n```'),
        ("```yml\na: >\n    one\n    two\nb: {x: 1}\n```", "```yml\na: >\n  one two\nb: { x: 1 }\n```"),
        ('```json\n{"a":[1,2,],}\n```', '```json\n{ "a": [1, 2] }\n```'),
        ("```ts\nf({'a': 0XFF, \"b-c\": 'it\\'s'})\n```", "```ts\nf({ a: 0xff, 'b-c': \"it's\" });\n```"),
        ("```css\nA{COLOR:#FFF}\n```", "```css\na {\n  color: #fff;\n}\n```"),
        ("```md\n* one\n* two\n```", "```md\n- one\n- two\n```"),
        ("- item\n\n  ```yaml\n  a:\n    - 1\n  ```", "- item\n\n    ```yaml\n    a:\n        - 1\n    ```"),
        ("```make\nall:\n\tcc x\n```", "```make\nall:\n cc x\n```"),
        ("text\n\n[unused]: http://a.b", "text"),
        ("costs about\n12. Then more", "costs about 12. Then more"),
        ("trailing  \nspaces\\\nand breaks", "trailing\nspaces\nand breaks"),
    ],
)
def test_what_a_formatter_changes_is_no_change(text, formatted):
    assert is_same_content(text, formatted)
    assert keep_formatting(text, formatted) == text


@pytest.mark.parametrize(
    ("text", "edited"),
    [
        ("use port 8080", "use port 8081"),
        ("1. wait 5 minutes", "1. wait 6 minutes"),
        ("ab", "a b"),
        ("do it", "do not do it"),
        ("版は 3 です", "版は 4 です"),
        ("有効期限は 30 分", "有効期限は 30 秒"),
        ("snake_case", "snakecase"),
        ("run `rm -rf /tmp`", "run `rm -rf / tmp`"),
        ("```py\nif x:\n    y\nz\n```", "```py\nif x:\n    y\n    z\n```"),
        ("```js\na = 1\n```", "```js\na = 2\n```"),
        ("```js\nconst userId = 1\n```", "```js\nconst userID = 1\n```"),
        ("```js\nf('a, b')\n```", "```js\nf('a b')\n```"),
        ("```js\nconst port = '8080'\n```", "```js\nconst port = 8080\n```"),
        ("```ts\nf(`a; b`)\n```", "```ts\nf(`a b`)\n```"),
        ('```json\n{"port": "8080"}\n```', '```json\n{"port": 8080}\n```'),
        ('```json\n{"name": "Shop"}\n```', '```json\n{"name": "shop"}\n```'),
        ("```yaml\na:\n  b: 1\n  c: 2\n```", "```yaml\na:\n  b: 1\nc: 2\n```"),
        ("```yaml\nversion: '1.10'\n```", "```yaml\nversion: 1.10\n```"),
        ("```yaml\na: 1 # 古い\n```", "```yaml\na: 1 # 新しい\n```"),
        ("```yaml\na: [1\nb\n```", "```yaml\na: [1\n  b\nc\n```"),
        ("```md\n- one\n```", "```md\n- two\n```"),
        ("```sh\nls\n```", "```py\nls\n```"),
        ("- [ ] todo", "- [x] todo"),
        ("- a\n- b", "- a"),
        ("| a |\n|---|\n| 1 |", "| a |\n|---|\n| 2 |"),
        ("see http://a.b", "see http://a.c"),
        ("[used]: http://a.b\n\n[used]", "[used]: http://a.c\n\n[used]"),
        ("# One", "## One"),
        ("plain", "**plain**"),
        ("version 1.2", "version 12"),
        ("C++", "C"),
    ],
)
def test_what_a_person_changes_is_a_change(text, edited):
    assert not is_same_content(text, edited)
    assert keep_formatting(text, edited) == edited


def test_tags_and_keys_that_a_formatter_escaped_are_the_same():
    assert is_same_value(("_private", "a"), ("\\_private", "a"))
    assert not is_same_value(("a",), ("a", "b"))
    assert not is_same_value("key", None)


@pytest.mark.parametrize(
    ("title", "written"),
    [
        ("A title that was cut at the end because it is to...", "A title that was cut at the end because it is to"),
        ("How to deploy!", "How to deploy"),
        ("配備の手順。", "配備の手順"),
        ("use *emphasis* and __more__", "use _emphasis_ and **more**"),
        ("* star one * star two", "*star one* star two"),
        ("How to deploy the shop", "How to dep…"),
        ("How to deploy", "How to deploy ##"),
    ],
)
def test_a_title_that_a_formatter_changed_is_the_same_title(title, written):
    assert is_same_title(title, written)


@pytest.mark.parametrize(
    ("title", "written"), [("How to deploy the shop", "How to deploy"), ("C++", "C"), ("C", "C#"), ("Step 1", "Step 2")]
)
def test_a_title_that_a_person_changed_is_another_title(title, written):
    assert not is_same_title(title, written)


def test_a_title_that_a_formatter_cut_does_not_become_a_topic():
    content = "**Never** deploy on a Friday, because nobody will be there to roll it back."
    for title in (f"{content[:50]}...", content[:50], content.replace("**", "")[:46], "Never deploy on a Fri…"):
        text = f"# Memories\n\n## {title}\n- Content: {content}\n"
        assert [one.entry.topic for one in LIST.parse("memories.md", text)] == [None], title
    own = f"# Memories\n\n## Never deploy\n- Content: {content}\n"
    assert [one.entry.topic for one in LIST.parse("memories.md", own)] == ["Never deploy"]


def test_an_entry_whose_id_is_left_in_a_sentence_or_a_table_is_a_mention_with_its_line():
    text = (
        f"# Memories\n\n- **Try-catch** (id: {A}): Always use try-catch\n\n"
        f"| id | text |\n|---|---|\n| {B} | Ship |\n\n"
        f"## third\n- Id: {C}\n- Content: {CONTENTS[C]}\n"
    )
    assert [one.entry.id for one in LIST.parse("memories.md", text)] == [C]
    found = LIST.mentions("memories.md", text)
    assert {id: mention.line for id, mention in found.items()} == {A: 3, B: 7}
    assert "Always use try-catch" in found[A].text
    assert LIST.rewrite("memories.md", text, STORED | {A: STORED[C]}, (), {}) is not None


def test_an_id_in_the_content_of_another_entry_is_no_mention():
    other = memory(A, f"See {B} for more")
    text = LIST.render_list([other])
    assert LIST.mentions("memories.md", text) == {}
    assert [one.is_exact for one in LIST.parse("memories.md", text)] == [True]


TREE_STYLES = {
    "prettier": "### {title} <!-- omoide:{id} -->\n\n- タグ: a\n- 内容: {content}\n\n",
    "second level": "## {title} <!-- omoide:{id} -->\n- タグ: a\n- 内容: {content}\n\n",
    "fourth level": "#### {title} <!-- omoide:{id} -->\n- タグ: a\n- 内容: {content}\n\n",
    "underlined": "{title} <!-- omoide:{id} -->\n---\n- タグ: a\n- 内容: {content}\n\n",
    "bold": "### {title} <!-- omoide:{id} -->\n- **タグ**: a\n- **内容:** {content}\n\n",
    "indented": "### {title} <!-- omoide:{id} -->\n  * タグ: a\n  * 内容: {content}\n\n",
    "items": "- **{title}** <!-- omoide:{id} -->\n  - タグ: a\n  - 内容: {content}\n",
    "English": "### {title} <!-- omoide:{id} -->\n- Tags: a\n- **Content**: {content}\n\n",
}


@pytest.mark.parametrize("style", TREE_STYLES)
def test_a_reformatted_tree_has_no_change_and_is_not_written_back(style):
    stored = {
        id: memory(id, content, tags=("a",), source="file") for id, content in ((A, "最初の記憶"), (B, "有効期限は 30 分"))
    }
    text = "# shop\n\n## 最近の活動\n\n" + "".join(
        TREE_STYLES[style].format(title=one.topic, id=id, content=one.content) for id, one in stored.items()
    )
    found = {one.entry.id: one.entry for one in TREE.parse("shop/MEMORY.md", text)}
    assert {id: changed_fields(stored[id], TREE.expected_entry(stored[id]), found[id]) for id in stored} == {A: {}, B: {}}
    assert TREE.rewrite("shop/MEMORY.md", text, stored, (), {}) == text


@pytest.mark.parametrize("style", TREE_STYLES)
def test_lines_of_activity_around_the_entries_of_a_reformatted_tree_stay_lines_of_activity(style):
    note, line = memory(A, "最初の記憶", tags=("a",), source="file"), memory(B, "公開した", type="activity", source="file")
    entry = TREE_STYLES[style].format(title=note.topic, id=A, content=note.content)
    text = f"# shop\n\n## 最近の活動\n\n- 自分の行\n- 2026-02-05 10:00 公開した <!-- omoide:{B} -->\n\n{entry}"
    found = [one.entry for one in TREE.parse("shop/MEMORY.md", text)]
    assert [(one.id, one.type, one.tags, one.content) for one in found] == [
        (None, "activity", (), "自分の行"),
        (B, "activity", (), "公開した"),
        (A, "note", ("a",), "最初の記憶"),
    ]
    assert TREE.rewrite("shop/MEMORY.md", text, {A: note, B: line}, (), {}) == text
    new = memory(C, "次の行", type="activity")
    written = text.replace(f"{B} -->\n", f"{B} -->\n- 2026-02-05 10:00 次の行 <!-- omoide:{C} -->\n")
    assert TREE.rewrite("shop/MEMORY.md", text, {C: new}, (), {}) == written


def test_items_of_a_reformatted_tree_stand_in_one_list_with_lines_of_activity():
    entry = TREE_STYLES["items"].format(title="最初の記憶", id=A, content="最初の記憶")
    text = f"# shop\n\n## 最近の活動\n\n{entry}- 自分の行\n- 2026-02-05 10:00 公開した <!-- omoide:{B} -->\n"
    found = [one.entry for one in TREE.parse("shop/MEMORY.md", text)]
    assert [(one.id, one.type, one.tags, one.content) for one in found] == [
        (A, "note", ("a",), "最初の記憶"),
        (None, "activity", (), "自分の行"),
        (B, "activity", (), "公開した"),
    ]
    stamped = memory(C, "自分の行", type="activity")
    after = TREE.rewrite("shop/MEMORY.md", text, {}, {A}, {found_line(text, "自分の行"): stamped})
    assert after == (
        f"# shop\n\n## 最近の活動\n\n- 自分の行 <!-- omoide:{C} -->\n- 2026-02-05 10:00 公開した <!-- omoide:{B} -->\n"
    )


def found_line(text, part):
    return next(number for number, line in enumerate(text.split("\n"), 1) if part in line)


def test_a_bullet_that_would_be_read_as_a_reformatted_entry_becomes_a_section():
    text = "# shop\n\n## 最近の活動\n\n- 公開した\n  - 内容: 1.4\n"
    (found,) = TREE.parse("shop/MEMORY.md", text)
    line = memory(A, found.entry.content, type="activity")
    after = TREE.rewrite("shop/MEMORY.md", text, {}, (), {found.line: line})
    assert [(one.entry.id, one.entry.type, one.entry.content) for one in TREE.parse("shop/MEMORY.md", after)] == [
        (A, "activity", "公開した\n- 内容: 1.4")
    ]


def test_a_reformatted_entry_file_has_no_change_and_is_not_written_back():
    stored = memory(B, CONTENTS[B], topic="How to deploy!", topic_given=True, tags=("ops",))
    text = FILES.rewrite("x.md", None, {B: stored}, (), {})
    formatted = (
        re.sub(r"(?s)(---\n.*---\n).*", r"\1", text) + REFORMATTED["prettier"].split("- Content: ")[2].partition("\n## ")[0]
    )
    formatted = formatted.replace("topic: How to deploy!", "topic:\n  How to\n  deploy!").replace("- ops", '- "ops"')
    [located] = FILES.parse("x.md", formatted)
    assert changed_fields(stored, FILES.expected_entry(stored), located.entry) == {}
    assert FILES.rewrite("x.md", formatted, {B: stored}, (), {}) == formatted
    renamed = memory(B, CONTENTS[B], topic="Deploying", topic_given=True, tags=("ops",))
    after = FILES.rewrite("x.md", formatted, {B: renamed}, (), {})
    assert "topic: Deploying" in after
    assert after.partition("---\n\n")[2] == formatted.partition("---\n\n")[2]
