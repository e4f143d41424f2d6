"""The list of a repository from Python: add, search, list, delete and the text for a prompt, as designed."""

import warnings

import pytest

import omoide


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMOIDE_CONFIG", str(tmp_path / "config.toml"))
    return tmp_path


@pytest.fixture
def memory(here):
    with omoide.open(here / "memory.db") as memory:
        yield memory


def test_an_added_memory_is_in_the_file_with_its_tags(here, memory):
    added = omoide.open_list(memory, here).add("Always use try-catch", ["pattern", "error-handling"])
    assert added.remembered.action == "created"
    text = (here / ".agent" / "memories.md").read_text(encoding="utf-8")
    assert text.splitlines()[added.line - 1] == "## Always use try-catch"
    assert "- Tags: pattern, error-handling\n" in text


def test_search_finds_by_content_and_tag(here, memory):
    notes = omoide.open_list(memory, here)
    notes.add("Always use try-catch", ["pattern"])
    notes.add("Use PostgreSQL", ["database"])
    (found,) = notes.search("TRY-CATCH")
    assert found.content == "Always use try-catch"
    assert [item.content for item in notes.search("database")] == ["Use PostgreSQL"]


@pytest.mark.parametrize("by", ["id", "line", "number"])
def test_delete_leaves_the_other_entries(here, memory, by):
    notes = omoide.open_list(memory, here)
    for text in ("Memory 0", "Memory 1", "Memory 2"):
        notes.add(text)
    second = notes.list()[1]
    notes.delete({"id": second.id, "line": second.line, "number": f"#{second.number}"}[by])
    assert [item.content for item in notes.list()] == ["Memory 0", "Memory 2"]


def test_injection_follows_the_settings(here):
    texts = {}
    for inject in ("auto", "manual", "none"):
        with omoide.open(here / "memory.db", memories_inject=inject) as memory:
            notes = omoide.open_list(memory, here)
            notes.add("Always use try-catch", ["pattern"])
            texts[inject] = notes.injection(), notes.injection(manual=True)
    assert texts["auto"][0].startswith("# Memories\n\n## Always use try-catch\n- Tags: pattern\n- Date: ")
    assert texts["auto"][0].endswith("- Content: Always use try-catch\n\n---\n")
    assert texts["manual"] == ("", texts["auto"][0])
    assert texts["none"] == ("", "")


def test_an_empty_list_has_no_text_for_a_prompt(here, memory):
    assert omoide.open_list(memory, here).injection() == ""


def test_a_disabled_list_is_empty_and_warns(here):
    with omoide.open(here / "memory.db") as memory:
        omoide.open_list(memory, here).add("Always use try-catch")
    with omoide.open(here / "memory.db", memories_enabled=False) as memory:
        notes = omoide.open_list(memory, here)
        for operation in (lambda: notes.add("more"), notes.list, lambda: notes.search("try")):
            with pytest.warns(UserWarning, match="switched off"):
                assert not operation()
        assert notes.injection() == ""
        with pytest.raises(omoide.InvalidInput, match="switched off"):
            notes.delete(3)


def test_a_missing_file_is_an_empty_list_and_an_unreadable_one_a_warning(here, memory):
    notes = omoide.open_list(memory, here)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert notes.list() == []
    notes.file.parent.mkdir()
    notes.file.write_bytes(b"\xff\xfe")
    with pytest.warns(UserWarning, match="UTF-8"):
        assert notes.list() == []


def test_a_flag_goes_before_the_file_of_the_repository(here):
    (here / ".agent").mkdir()
    (here / ".agent" / "config.toml").write_text('[memories]\ninject = "none"\n')
    with omoide.open(here / "memory.db") as memory:
        assert omoide.open_list(memory, here).inject == "none"
    with omoide.open(here / "memory.db", memories_inject="auto") as memory:
        assert omoide.open_list(memory, here).inject == "auto"
