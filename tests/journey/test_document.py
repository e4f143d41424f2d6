"""Memories as documents: the same bytes each time, and no file of a person overwritten."""

import pytest


@pytest.fixture
def shop(run):
    run("remember", "Rust の tokio", "--topic", "Async", "--type", "tech", "--tags", "rust,async", "--confidence", "0.5")
    run("remember", "SQLite", "--topic", "Store", "--type", "tech", "--example", "x = 1")
    run("remember", "An order has lines", "--type", "domain")
    run("remember", "In a session", "--type", "domain", "--session", "monday")
    run("remember", "private", "--type", "preference", "--global")
    run("remember", "theirs", "--type", "tech", "--project", "bank")
    run("forget", run("remember", "forgotten", "--type", "tech", "--json").data["memory_id"])
    return run


def files(directory):
    return {file.name: file.read_bytes() for file in directory.iterdir() if file.is_file()}


def actions(done):
    return {page["file"]: page["action"] for page in done.data["pages"]}


# to standard output


def test_a_page_lists_the_most_certain_first_and_only_its_type(shop):
    done = shop("document", "--stdout", "--type", "tech")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("# Technical Knowledge\n")
    assert done.out.index("## Store") < done.out.index("## Async")
    assert "*Tags: rust, async*" in done.out
    assert "```text\nx = 1\n```" in done.out
    for other in ("theirs", "forgotten", "An order", "private"):
        assert other not in done.out


def test_without_a_type_all_pages_are_printed(shop):
    text = shop("document", "--stdout").out
    assert text.index("# Technical Knowledge") < text.index("# Domain Knowledge")
    assert "In a session" in text
    assert "private" not in text
    pages = shop("document", "--stdout", "--json").data["pages"]
    assert [page["file"] for page in pages] == ["tech.md", "domain.md"]
    assert "\n".join(page["text"] for page in pages) == text


def test_other_layers_are_documented_on_request(shop):
    assert "private" in shop("document", "--stdout", "--global").out
    assert "private" in shop("document", "--stdout", "--layer", "global", "--layer", "project").out
    assert "In a session" not in shop("document", "--stdout", "--layer", "project").out
    assert "An order" not in shop("document", "--stdout", "--session", "monday").out


def test_an_unknown_type_is_refused(shop):
    done = shop("document", "--type", "nonsense")
    assert (done.code, done.out) == (2, "")


# into a directory


def test_a_directory_gets_a_page_for_each_type_and_an_index(shop, place):
    done = shop("document", "--output", "docs/memories", "--json")
    assert done.code == 0
    assert done.data["directory"] == str(place / "docs" / "memories")
    assert actions(done) == dict.fromkeys(("index.md", "tech.md", "domain.md"), "written")
    made = files(place / "docs" / "memories")
    assert set(made) == {"index.md", "tech.md", "domain.md"}
    assert b"[Technical Knowledge](tech.md): 2" in made["index.md"]
    assert made["tech.md"].decode().startswith(shop("document", "--stdout", "--type", "tech").out)


def test_without_a_directory_the_pages_go_to_memory_docs_and_their_number_is_printed(run, place):
    rust = "#[tokio::main]\nasync fn main() {\n    fetch_data().await;\n}"
    topic = "Rustの非同期プログラミング"
    run("remember", "`async`/`await` 構文を使用", "--topic", topic, "--type", "tech", "--tags", "rust", "--example", rust)
    given = "```rust\nuse anyhow::Result;\n```"
    run(
        "remember",
        "`anyhow::Result` を使用",
        "--topic",
        "エラーハンドリング規約",
        "--type",
        "project-tech",
        "--example",
        given,
    )
    run("remember", "注文には明細がある", "--type", "domain")
    done = run("document")
    assert done.code == 0
    assert done.out.endswith(f"4 files in {place / 'memory-docs'}\n")
    made = {name: data.decode() for name, data in files(place / "memory-docs").items()}
    assert set(made) == {"index.md", "tech.md", "project-tech.md", "domain.md"}
    assert "### Examples:\n```rust\n#[tokio::main]\n" in made["tech.md"]
    assert "### Examples:\n```rust\nuse anyhow::Result;\n```\n" in made["project-tech.md"]
    assert run("document", "--type", "tech").out.endswith(f"1 file in {place / 'memory-docs'}\n")
    assert run("document", "--stdout", "--output", "docs").code == 2


def test_a_second_run_writes_nothing(shop, place):
    shop("document", "-o", "docs")
    before = {file: (file.stat().st_ino, file.stat().st_mtime_ns, file.read_bytes()) for file in (place / "docs").iterdir()}
    shop("recall", "tokio")
    again = shop("document", "-o", "docs", "--json")
    assert set(actions(again).values()) == {"unchanged"}
    after = {file: (file.stat().st_ino, file.stat().st_mtime_ns, file.read_bytes()) for file in (place / "docs").iterdir()}
    assert after == before
    shop("document", "-o", "elsewhere")
    assert files(place / "elsewhere") == files(place / "docs")


def test_only_the_page_that_changed_is_written(shop, place):
    shop("document", "-o", "docs")
    shop("revise", "3", "An order has one line or more")
    done = shop("document", "-o", "docs", "--json")
    assert actions(done) == {"index.md": "unchanged", "tech.md": "unchanged", "domain.md": "written"}
    assert b"one line or more" in files(place / "docs")["domain.md"]


def test_the_page_of_an_unused_type_is_deleted_and_other_files_stay(shop, place):
    shop("document", "-o", "docs")
    mine = {"notes.md": b"# mine\n", "domain-old.md": b"\xff", "data.txt": b"x"}
    for name, data in mine.items():
        (place / "docs" / name).write_bytes(data)
    shop("forget", "3", "4")
    done = shop("document", "-o", "docs", "--json")
    assert actions(done)["domain.md"] == "removed"
    assert set(files(place / "docs")) == {"index.md", "tech.md", *mine}
    assert {name: files(place / "docs")[name] for name in mine} == mine


def test_with_a_type_only_its_page_is_written(shop, place):
    shop("document", "-o", "docs")
    shop("forget", "3", "4")
    shop("revise", "1", "tokio 2")
    done = shop("document", "-o", "docs", "--type", "tech", "--json")
    assert actions(done) == {"tech.md": "written"}
    assert "domain.md" in files(place / "docs")


def test_nothing_is_written_if_a_page_was_not_created_by_omoide(shop, place):
    (place / "docs").mkdir()
    (place / "docs" / "tech.md").write_text("my own page", encoding="utf-8")
    done = shop("document", "-o", "docs")
    assert (done.code, done.out) == (1, "")
    assert "tech.md was not made by omoide" in done.err
    assert files(place / "docs") == {"tech.md": b"my own page"}


@pytest.mark.parametrize("change", [lambda text: text.replace("SQLite", "Postgres"), lambda text: text + "\nmore below\n"])
def test_an_edited_page_is_backed_up_before_it_is_written(shop, place, change):
    shop("document", "-o", "docs")
    page = place / "docs" / "tech.md"
    written = change(page.read_text(encoding="utf-8"))
    page.write_text(written, encoding="utf-8")
    done = shop("document", "-o", "docs", "--json")
    (copy,) = done.data["backups"]
    assert (place / "docs" / copy).read_text(encoding="utf-8") == written
    assert actions(done)["tech.md"] == "written"
    assert shop("document", "-o", "docs", "--json").data["backups"] == []


def test_the_edited_page_of_an_unused_type_stays_with_a_message(shop, place):
    shop("document", "-o", "docs")
    page = place / "docs" / "domain.md"
    page.write_text(page.read_text(encoding="utf-8") + "mine\n", encoding="utf-8")
    shop("forget", "3", "4")
    done = shop("document", "-o", "docs")
    assert "kept" in done.out
    assert "delete it yourself" in done.err
    assert page.read_text(encoding="utf-8").endswith("mine\n")


def test_line_ends_changed_by_git_are_not_an_edit(shop, place):
    shop("document", "-o", "docs")
    page = place / "docs" / "tech.md"
    page.write_bytes(page.read_bytes().replace(b"\n", b"\r\n"))
    done = shop("document", "-o", "docs", "--json")
    assert (actions(done)["tech.md"], done.data["backups"]) == ("written", [])


def test_a_mark_quoted_in_a_memory_is_not_taken_for_the_mark(shop, place):
    shop("document", "-o", "docs")
    mark = (place / "docs" / "tech.md").read_text(encoding="utf-8").splitlines()[-1]
    shop("remember", f"the last line is\n{mark}\nand nothing else", "--type", "tech")
    for _ in range(2):
        done = shop("document", "-o", "docs", "--json")
        assert (done.code, done.data["backups"]) == (0, [])


def test_a_link_out_of_the_directory_is_not_followed(shop, place):
    (place / "docs").mkdir()
    (place / "outside.md").write_text("outside", encoding="utf-8")
    (place / "docs" / "tech.md").symlink_to(place / "outside.md")
    assert shop("document", "-o", "docs").code != 0
    assert (place / "outside.md").read_text(encoding="utf-8") == "outside"


def test_a_project_without_memories_has_an_empty_index(run, place):
    assert run("document", "--stdout").out == ""
    done = run("document", "-o", "docs", "--json")
    assert actions(done) == {"index.md": "written"}
    assert b"nothing yet" in files(place / "docs")["index.md"]


def test_a_directory_that_cannot_be_written_is_an_error(shop, place):
    (place / "file").touch()
    done = shop("document", "-o", "file/docs")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("omoide: ")
