"""A memory in the editor: an edit is saved, or stays in a file that the error names."""

import re
import sys
import tempfile
from pathlib import Path

import pytest


@pytest.fixture
def editor(place, monkeypatch):
    """An editor that does to the file what a line of Python says; `text` is what it opened."""

    def editor(statement, *, variable="EDITOR"):
        script = place / "editor.py"
        script.write_text(
            "import pathlib, sys\n"
            "file = pathlib.Path(sys.argv[1])\n"
            "text = file.read_bytes().decode()\n"
            f"pathlib.Path({str(place / 'opened')!r}).write_bytes(text.encode())\n"
            f"{statement}\n",
            encoding="utf-8",
        )
        monkeypatch.delenv("VISUAL", raising=False)
        monkeypatch.setenv(variable, f"'{sys.executable}' '{script}'")

    return editor


def swap(old, new):
    return f"file.write_bytes(text.replace({old!r}, {new!r}).encode())"


def saved_file(done):
    return Path(re.search(r"saved in (\S+)", done.err)[1])


def leftovers():
    return set(Path(tempfile.gettempdir()).glob("omoide-1-*"))


def test_fields_and_text_can_be_changed_in_the_editor(run, editor, place):
    run("remember", "有効期限は 15 分", "--topic", "API auth", "--tags", "api,no", "--key", "auth", "--example", "a\nb")
    editor(swap("15 分", "30 分") + "\ntext = file.read_bytes().decode()\n" + swap("- api\n", "- api\n  - 認証\n"))
    before = leftovers()
    done = run("edit", "auth")
    assert done.code == 0, done.err
    assert done.out.startswith("revised  #1")
    opened = (place / "opened").read_text(encoding="utf-8")
    assert opened.startswith("---\n# memory #1")
    assert "topic: API auth\n" in opened
    assert opened.endswith("---\n\n有効期限は 15 分\n")
    memory = run("show", "1", "--json").data
    assert (memory["content"], memory["tags"]) == ("有効期限は 30 分", ["api", "認証", "no"])
    assert (memory["key"], memory["examples"], memory["version"]) == ("auth", ["a\nb"], 2)
    assert leftovers() == before


def test_an_unchanged_text_creates_no_version(run, editor):
    run("remember", "text", "--topic", "12:30", "--tags", "no,2026", "--expires", "2027-01-01T00:00Z")
    editor("pass")
    assert run("edit", "1").out.startswith("unchanged  #1")
    assert run("show", "1", "--json").data["version"] == 1


@pytest.mark.parametrize("content", ["\n\nabc\n\n", "---\nabc\n---\n", "a\r\nb\r\n", "tab\there ", "a\u2028b\x85c"])
def test_the_text_survives_byte_for_byte_when_only_a_field_changes(run, editor, content):
    run("remember", "--", content)
    editor(swap("confidence: 1.0", "confidence: 0.5"))
    done = run("edit", "1", "--json")
    assert (done.data["confidence"], done.data["content"]) == (0.5, content)


def test_visual_takes_precedence_over_editor(run, editor, monkeypatch):
    run("remember", "text")
    monkeypatch.setenv("EDITOR", "false")
    editor(swap("text", "seen"), variable="VISUAL")
    assert run("edit", "1", "--json").data["content"] == "seen"


def test_fields_can_be_emptied(run, editor):
    run("remember", "text", "--topic", "given", "--key", "k", "--tags", "a", "--expires", "1d")
    editor("import re\ntext = re.sub('(topic|key|expires_at): .*', r'\\1:', text)\n" + swap("tags:\n  - a\n", "tags: []\n"))
    memory = run("edit", "1", "--json").data
    assert (memory["topic"], memory["key"], memory["tags"], memory["expires_at"]) == ("text", None, [], None)


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        (swap("type: note", "type: [note"), "not YAML, line"),
        (swap("type: note", "type: nonsense"), "nonsense"),
        (swap("type: note", "typ: note"), "no field 'typ'"),
        (swap("confidence: 1.0", "confidence: sure"), "a number from 0 to 1"),
        (swap("tags: []", "tags: &x [*x]"), "alias"),
        (swap("source: human\n", "source: human\nsource: me\n"), "twice"),
        (swap("\n---\n\nmy text", "\n\nmy text"), "no end"),
        (swap("my text", ""), "content is empty"),
        ("file.write_bytes(text.encode() + bytes([0xff]))", "UTF-8"),
        (swap("my text", "my better text") + "\nsys.exit(3)", "Editing failed"),
    ],
)
def test_an_edit_that_cannot_be_saved_stays_in_a_file(run, editor, statement, says):
    run("remember", "my text")
    editor(statement)
    done = run("edit", "1")
    assert done.code == 2
    assert says in done.err
    file = saved_file(done)
    assert b"memory #1" in file.read_bytes()
    assert file.stat().st_mode & 0o077 == 0
    file.unlink()
    assert run("show", "1", "--json").data["version"] == 1


def test_a_concurrent_change_is_not_overwritten(run, editor, place):
    run("remember", "my text")
    editor(
        "import omoide\n"
        f"with omoide.open({str(place / 'memory.db')!r}) as memory:\n"
        "    memory.revise(1, scope=omoide.Scope.project('shop'), content='their text')\n"
        + swap("my text", "my better text")
    )
    done = run("edit", "1")
    assert done.code == 1
    assert "version 2" in done.err
    file = saved_file(done)
    assert file.read_text(encoding="utf-8").endswith("my better text\n")
    file.unlink()
    assert run("show", "1", "--json").data["content"] == "their text"


def test_a_missing_editor_is_an_error(run, monkeypatch):
    run("remember", "text")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "no-such-editor-anywhere")
    done = run("edit", "1")
    assert done.code == 2
    assert "no-such-editor-anywhere" in done.err
    assert "kept" not in done.err
