"""The settings that a repository makes for its own list, in `config.toml` beside it, and the directory of the list."""

import subprocess

import pytest


@pytest.fixture
def repository(place, monkeypatch):
    monkeypatch.delenv("OMOIDE_PROJECT")
    root = place / "web-shop"
    root.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=root, check=True)
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def configure(repository):
    def configure(text, directory=".agent"):
        file = repository / directory / "config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    return configure


@pytest.mark.parametrize("own", ["file", "variable"])
def test_a_repository_disables_its_list_and_another_one_keeps_using_it(run, configure, repository, monkeypatch, place, own):
    if own == "file":
        (place / "config.toml").write_text("memories_enabled = true\n")
    else:
        monkeypatch.setenv("OMOIDE_MEMORIES_ENABLED", "true")
    file = configure("[memories]\nenabled = false\n")
    done = run("memories", "add", "Always use try-catch")
    assert (done.code, done.out) == (0, "")
    assert f"switched off ({file}, line 2)" in done.err
    assert not (repository / ".agent" / "memories.md").exists()
    other = place / "other"
    other.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=other, check=True)
    monkeypatch.chdir(other)
    assert run("memories", "add", "Always use try-catch").code == 0
    assert (other / ".agent" / "memories.md").exists()


@pytest.mark.parametrize(
    ("theirs", "mine", "printed"), [("none", "auto", False), ("manual", "auto", False), ("auto", "none", True)]
)
def test_a_repository_decides_whether_its_list_is_injected(run, configure, monkeypatch, theirs, mine, printed):
    run("memories", "add", "Always use try-catch", "--tags", "pattern,error-handling")
    monkeypatch.setenv("OMOIDE_MEMORIES_INJECT", mine)
    configure(f'[memories]\ninject = "{theirs}"\n')
    done = run("memories", "inject", "Fix the login", "--json").data
    assert done["inject"] == theirs
    assert ("- Content: Always use try-catch" in done["prompt"]) is printed


def test_config_names_the_file_of_the_repository_as_the_origin(run, configure):
    file = configure('[memories]\nenabled = true\ninject = "manual"\n')
    settings = run("config", "--json").data["settings"]
    assert (settings["memories_inject"]["value"], settings["memories_inject"]["origin"]) == ("manual", f"{file}, line 3")
    assert settings["memories_enabled"]["origin"] == f"{file}, line 2"


@pytest.mark.parametrize(
    ("text", "name"), [('store = "/tmp/other.db"\n', "store"), ('[memories]\ndirectory = "x"\n', "memories.directory")]
)
def test_anything_else_in_the_file_of_a_repository_is_ignored_with_a_warning(run, configure, place, text, name):
    file = configure(text)
    done = run("memories", "add", "Always use try-catch")
    assert done.code == 0
    assert f"{file}: {name} is ignored: a repository can set only memories.enabled and memories.inject" in done.err
    assert (place / "memory.db").exists()
    assert name in run("config").err


@pytest.mark.parametrize(("text", "wanted"), [
    ('[memories]\ninject = "always"\n', 'inject must be "auto", "manual" or "none", got \'always\''),
    ("[memories]\nenabled = 3\n", "enabled must be true or false, got 3"),
    ("memories = 3\n", "memories must be a table, got 3"),
    ("[memories\n", "is not valid TOML"),
    ("#" * 100_001, "has 100,001 bytes, at most 100,000"),
])  # several entries per line  # fmt: skip
def test_a_bad_value_of_a_repository_is_an_error_that_names_its_file(run, configure, text, wanted):
    file = configure(text)
    done = run("memories", "list")
    assert done.code == 2
    assert str(file) in done.err
    assert wanted in done.err


def test_the_directory_of_the_list_is_a_setting_for_the_list_its_mirror_and_worktrees(run, repository, monkeypatch, place):
    monkeypatch.setenv("OMOIDE_MEMORIES_DIRECTORY", "docs/agent/")
    run("memories", "add", "pnpm + Turborepo を使用", "-t", "pattern")
    file = repository / "docs" / "agent" / "memories.md"
    assert "- Content: pnpm + Turborepo を使用" in file.read_text(encoding="utf-8")
    assert not (repository / ".agent").exists()
    assert run("mirror", "add", "--choice", "all", "--json").data["path"] == str(file)
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *identity, "commit", "-q", "--allow-empty", "-m", "start"], cwd=repository, check=True)
    assert run("worktree", "add", "../feature", "--json").data["target"] == str(file)
    linked = place / "feature" / "docs" / "agent" / "memories.md"
    assert linked.is_symlink()
    assert linked.read_text(encoding="utf-8") == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("value", ["/etc", "../elsewhere", "", "a//b", "~"])
def test_a_directory_outside_of_the_repository_is_refused(run, repository, monkeypatch, value):
    monkeypatch.setenv("OMOIDE_MEMORIES_DIRECTORY", value)
    done = run("memories", "list")
    assert done.code == 2
    assert "memories_directory must be a directory inside a repository, such as .agent" in done.err
