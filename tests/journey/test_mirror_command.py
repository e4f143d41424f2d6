"""Mirrors from the command line, in a real repository with two worktrees, by real processes."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

PROGRAM = [sys.executable, "-c", "from omoide.interfaces.cli import main; main()"]
AGENT = """
import sys, omoide
with omoide.open() as memory:
    scope = omoide.Scope.project("web-shop")
    for n in range(int(sys.argv[2])):
        memory.remember(f"{sys.argv[1]} learnt {n}", scope=scope)
"""


def git(*arguments, cwd):
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    done = subprocess.run(["git", *identity, *arguments], cwd=cwd, check=True, capture_output=True, text=True)
    return done.stdout


@pytest.fixture
def main(place, monkeypatch):
    """The main worktree, where the tests begin."""
    monkeypatch.delenv("OMOIDE_PROJECT")
    root = place / "web-shop"
    root.mkdir()
    git("init", "-b", "main", cwd=root)
    git("commit", "--allow-empty", "-m", "start", cwd=root)
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def other(main, run):
    """A second worktree that shares the memories of the first."""
    feature = main.parent / "feature"
    assert run("worktree", "add", str(feature), "-b", "feature").code == 0
    return feature


def texts(file):
    return re.findall(r"- Content: (.*)", file.read_text(encoding="utf-8"))


def test_mirror_add_mirrors_the_repository(run, main):
    run("remember", "kept before")
    done = run("mirror", "add", "--json")
    assert done.code == 0, done.err
    assert done.data["path"] == str(main / ".agent/memories.md")
    assert (done.data["format"], done.data["choice"], done.data["written"]) == ("memories", "all", 1)
    run("remember", "kept after")
    assert texts(main / ".agent/memories.md") == ["kept before", "kept after"]
    assert run("mirror", "list", "--json").data["mirrors"][0]["scope"]["project"] == "web-shop"
    assert "in sync" in run("mirror", "status").out
    assert run("mirror", "remove", ".agent/memories.md").code == 0
    run("remember", "kept apart")
    assert texts(main / ".agent/memories.md") == ["kept before", "kept after"]


def test_edits_and_concurrent_writes_end_up_on_both_sides(run, omoide, main, other):
    run("mirror", "add")
    mine, theirs = main / ".agent/memories.md", other / ".agent/memories.md"
    for n in range(4):
        assert omoide("memories", "add", f"added in main {n}", cwd=main).code == 0
    git("add", ".agent/memories.md", cwd=main)
    git("commit", "-m", "memories", cwd=main)
    agents = [
        subprocess.Popen([sys.executable, "-c", AGENT, f"agent {name}", "10"], cwd=where, stderr=subprocess.PIPE)
        for name, where in (("a", main), ("b", other))
    ]
    edited = 0
    while any(agent.poll() is None for agent in agents) and edited < 4:
        # By hand, as an editor in the other worktree does: the whole file, through the link.
        before = theirs.read_text(encoding="utf-8")
        after = before.replace(f"- Content: added in main {edited}\n", f"- Content: edited in feature {edited}\n")
        if before == after or mine.stat().st_size != len(before.encode()):
            continue
        theirs.write_text(after, encoding="utf-8")
        edited += 1
        omoide("recall", "anything", cwd=other)
    for agent in agents:
        _, errors = agent.communicate()
        assert (agent.returncode, errors) == (0, b"")
    assert theirs.is_symlink()
    everything = set()
    for one in omoide("list", "--all-states", "--limit", "100", "--json", cwd=main).data["memories"]:
        everything |= {
            version["content"] for version in omoide("history", str(one["number"]), "--json", cwd=main).data["versions"]
        }
    wanted = {f"agent {name} learnt {n}" for name in "ab" for n in range(10)} | {f"added in main {n}" for n in range(4)}
    wanted |= {f"edited in feature {n}" for n in range(edited)}
    assert edited
    assert wanted <= everything
    listed = {one["content"] for one in omoide("list", "--limit", "100", "--json", cwd=main).data["memories"]}
    assert set(texts(mine)) == listed


def diff(repository):
    lines = git("diff", "-U0", cwd=repository).splitlines()
    return [line for line in lines if line[:1] in ("-", "+") and line[:4] not in ("--- ", "+++ ")]


def test_one_change_touches_only_its_own_lines(run, omoide, main, other):
    run("mirror", "add")
    for n in range(10):
        run("remember", f"the text of note {n}", "--topic", f"note {n}", "--tags", "a,b")
    git("add", ".agent/memories.md", cwd=main)
    git("commit", "-m", "memories", cwd=main)
    assert omoide("revise", "5", "a better text", cwd=other).code == 0
    changed = diff(main)
    assert changed == ["-- Content: the text of note 4", "+- Content: a better text"]
    git("checkout", "-q", ".agent/memories.md", cwd=main)
    omoide("recall", "note", cwd=main)
    assert omoide("show", "5", "--json", cwd=main).data["content"] == "a better text", "what git brings back is no edit"
    assert diff(main) == [], "and it is left as git has it"
    omoide("forget", "7", cwd=main)
    changed = diff(main)
    assert {line[0] for line in changed} == {"-"}
    assert len(changed) == 6  # a heading, four fields and the empty line between entries


def test_a_git_merge_imports_the_entries_of_both_branches(run, omoide, main):
    run("mirror", "add")
    run("remember", "of both", "--topic", "both")
    git("add", ".agent", cwd=main)
    git("commit", "-m", "both", cwd=main)
    git("checkout", "-q", "-b", "side", cwd=main)
    omoide("memories", "add", "of the side", cwd=main)
    git("commit", "-q", "-a", "-m", "side", cwd=main)
    git("checkout", "-q", "main", cwd=main)
    assert omoide("list", "--json", cwd=main).data["total_count"] == 2, "a branch without the entry archives nothing"
    assert texts(main / ".agent/memories.md") == ["of both"], "and the file is as git has it"
    git("merge", "-q", "side", cwd=main)
    assert {one["content"] for one in omoide("list", "--json", cwd=main).data["memories"]} == {"of both", "of the side"}
    assert git("status", "--short", cwd=main) == ""


def test_conflicts_are_shown_with_both_texts_and_resolved_by_command(run, main):
    run("mirror", "add")
    run("remember", "before", "--topic", "t")
    file = main / ".agent/memories.md"
    run("mirror", "remove", "1")
    run("revise", "1", "by the agent")
    file.write_text(file.read_text().replace("- Content: before", "- Content: by hand"))
    os.utime(file, (1, 1))
    run("mirror", "add")
    status = run("mirror", "status", "--json").data
    assert [(one["file"]["content"], one["database"]["content"], one["stands"]) for one in status["conflicts"]] == [
        ("by hand", "by the agent", "database")
    ]
    shown = run("mirror", "status").out
    for line in ("file      by hand", "database  by the agent", "omoide mirror resolve 1 --take file, or --take database"):
        assert line in shown
    assert texts(file) == ["by the agent"]
    assert run("mirror", "resolve", "1", "--take", "file").code == 0
    assert texts(file) == ["by hand"]
    assert run("mirror", "status", "--json").data["conflicts"] == []
    assert run("mirror", "resolve", "1", "--take", "file").code == 1


def test_status_shows_what_is_not_in_sync_and_changes_nothing(run, main):
    run("mirror", "add")
    run("remember", "before", "--topic", "t")
    file = main / ".agent/memories.md"
    file.write_text(file.read_text().replace("- Content: before", "- Content: after"))
    (status,) = run("mirror", "status", "--json").data["mirrors"]
    assert (status["in_sync"], status["to_import"], status["to_write"], status["troubles"]) == (False, 1, 0, [])
    assert "1 to import" in run("mirror", "status").out
    done = run("mirror", "sync", "--json").data["mirrors"][0]
    assert (done["imported"], done["written"]) == (1, 0)
    assert run("mirror", "status", "--json").data["mirrors"][0]["in_sync"]
    file.write_bytes(b"\xff\xfe")
    assert "save it as UTF-8" in run("mirror", "status", "--json").data["mirrors"][0]["troubles"][0]
    assert run("mirror", "sync").code == 1


def test_either_side_is_rebuilt_from_the_other(run, main):
    run("mirror", "add")
    for text in ("one", "two"):
        run("remember", text)
    file = main / ".agent/memories.md"
    whole = file.read_bytes()
    file.write_text("# Memories\n\n## x\n- Content: nonsense\n")
    done = run("mirror", "rebuild", "--from", "database", "--json")
    assert done.code == 0, done.err
    assert file.read_bytes() == whole
    assert any("nonsense" in each.read_text() for each in (main / ".agent/.omoide-backups").glob("memories.md.*"))
    assert git("status", "--short", cwd=main).split() == ["??", ".agent/"]
    git("add", ".agent", cwd=main)
    assert git("status", "--short", cwd=main).split() == ["A", ".agent/memories.md"], "backups are kept from git"
    run("mirror", "remove", "1")
    run("revise", "1", "changed")
    run("mirror", "add", ".agent/memories.md")
    assert run("mirror", "rebuild", ".agent/memories.md", "--from", "file").code == 0
    assert texts(file) == ["changed", "two"]
    file.write_bytes(whole)
    assert run("mirror", "rebuild", "--from", "file").code == 0
    assert {one["content"] for one in run("list", "--json").data["memories"]} == {"one", "two"}


@pytest.mark.parametrize(("path", "format", "target"), [
    ("notes/", "entries", "notes/"), ("TEAM.md", "memories", "TEAM.md"), ("docs", "entries", "docs/"),
])  # several entries per line  # fmt: skip
def test_the_path_decides_the_format_and_worktrees_share_the_main_path(run, main, other, monkeypatch, path, format, target):
    monkeypatch.chdir(other)
    done = run("mirror", "add", path, "--json")
    assert done.code == 0, done.err
    assert (done.data["format"], done.data["path"]) == (format, f"{main}/{target}")


@pytest.mark.parametrize(("arguments", "code", "message"), [
    (["add", "x.md", "--format", "entries"], 2, "needs a directory of its own"),
    (["add", "--format", "tree"], 2, "name a file or directory"),
    (["remove", "9"], 1, "there is no mirror 9"),
    (["sync", "nowhere.md"], 1, "there is no mirror nowhere.md"),
    (["rebuild", "--from", "file"], 2, "name the mirror to rebuild"),
    (["resolve", "1", "--take", "both"], 2, "Invalid value for '--take'"),
    (["watch"], 1, "there are no mirrors"),
])  # several entries per line  # fmt: skip
def test_errors_have_a_remedy(run, main, arguments, code, message):
    done = run("mirror", *arguments)
    assert done.code == code, done.err
    assert message in done.err
    assert run("mirror", "list", "--json").data["mirrors"] == []


def test_a_worker_may_not_mirror_a_whole_scope(run, main, monkeypatch):
    monkeypatch.setenv("OMOIDE_ROLE", "worker")
    assert "only admin or owner may mirror" in run("mirror", "add").err
    assert run("mirror", "list", "--json").data["mirrors"] == []


@pytest.mark.usefixtures("interruptible")
def test_watch_imports_edits_at_once(run, main):
    run("mirror", "add")
    run("remember", "before", "--topic", "t")
    file = main / ".agent/memories.md"
    with subprocess.Popen(
        [*PROGRAM, "mirror", "watch", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
    ) as watcher:
        try:
            assert watcher.stderr.readline() == "watching 1 mirror: press Ctrl-C to stop\n"
            for n, save in enumerate((in_place, by_rename)):
                save(file, re.sub(r"- Content: .*", f"- Content: edit {n}", file.read_text(encoding="utf-8")))
                report = json.loads(watcher.stdout.readline())
                assert (report["imported"], report["troubles"]) == (1, [])
            watcher.send_signal(signal.SIGINT)
            assert watcher.wait(timeout=20) == 130
            assert watcher.stderr.read().strip() == ""
        finally:
            watcher.kill()  # else one that does not stop would be waited for without end
    versions = run("history", "1", "--json").data["versions"]
    assert [one["content"] for one in versions] == ["before", "edit 0", "edit 1"]


def in_place(file, text):
    file.write_text(text, encoding="utf-8")


def by_rename(file, text):
    file.with_name("new").write_text(text, encoding="utf-8")
    file.with_name("new").rename(file)


def test_every_interface_imports_edits_of_the_file(run, omoide, main):
    """Command line, Python and MCP write, and each of them sees what a person wrote."""
    run("mirror", "add")
    file = main / ".agent/memories.md"
    run("remember", "by the command line")
    script = 'import omoide\nwith omoide.open() as m: m.remember("by Python", scope=omoide.Scope.project("web-shop"))'
    subprocess.run([sys.executable, "-c", script], check=True)
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}

    def call(id, name, arguments):
        return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}}

    with file.open("a") as end:
        end.write("\n## by hand\n- Content: by a person\n")
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        call(2, "recall", {"query": "person"}),
        call(3, "remember", {"content": "by MCP"}),
    ]
    done = omoide("mcp", input="".join(json.dumps(each) + "\n" for each in messages).encode(), cwd=main)
    assert done.code == 0, done.err
    assert "by a person" in done.out
    assert texts(file) == ["by the command line", "by Python", "by a person", "by MCP"]


def test_commands_without_a_mirror_do_not_import_the_sync_engine(place):
    script = (
        "import sys; from omoide.interfaces.cli import cli; cli(['remember', 'x'], standalone_mode=False);"
        "cli(['recall', 'x'], standalone_mode=False); print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split()) - {"omoide.sync", "omoide.sync.hook"}  # the hook asks whether there is a mirror
    assert not [
        name
        for name in loaded
        if name.startswith(("omoide.sync", "omoide.files.directory", "omoide.files.atomic", "omoide.markdown.single"))
    ]
    assert not loaded & {"omoide.sync.database", "hashlib", "ctypes"}


def test_a_mirror_whose_options_change_stays_when_its_sync_fails_and_a_new_one_does_not(run, main):
    run("remember", "pnpm is used")
    assert run("mirror", "add").code == 0
    (main / ".agent" / "memories.md").unlink()
    shutil.rmtree(main / ".agent")
    (main / ".agent").write_text("a file where the directory was")
    assert run("mirror", "add", str(main / ".agent" / "memories.md"), "--retire").code != 0
    assert [mirror["number"] for mirror in run("mirror", "list", "--json").data["mirrors"]] == [1]
    assert run("mirror", "add", str(main / ".agent" / "other.md")).code != 0
    assert [mirror["number"] for mirror in run("mirror", "list", "--json").data["mirrors"]] == [1]


def test_a_path_through_a_link_to_itself_is_a_clear_error(run, main):
    (main / "loop").symlink_to(main / "loop")
    done = run("mirror", "add", str(main / "loop" / "memories.md"))
    assert done.code == 2
    assert "cannot be read" in done.err
