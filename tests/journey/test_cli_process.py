"""The command as a program among others: pipes, signals, terminals, repositories, start-up."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

PROGRAM = [sys.executable, "-c", "from omoide.interfaces.cli import main; main()"]
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_a_terminal(arguments, *, columns=80, keys=b"", **environment):
    """What a person sees, and the exit code."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update({"COLUMNS": str(columns), "TERM": "xterm", **environment})
        os.execv(PROGRAM[0], [*PROGRAM, *arguments])
    os.write(terminal, keys)
    seen = b""
    while True:
        try:
            some = os.read(terminal, 4096)
        except OSError:  # Linux says so when the other side is gone
            break
        if not some:
            break
        seen += some
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return seen.decode().replace("\r\n", "\n"), os.waitstatus_to_exitcode(status)


def test_text_comes_through_a_pipe_and_json_goes_into_one(omoide):
    done = omoide("remember", "-", "--json", input="パイプから\n".encode())
    assert (done.code, done.err.count("\n")) == (0, 1)
    assert "created the database" in done.err
    assert json.loads(done.out)["memory"]["content"] == "パイプから"
    assert omoide("recall", "パイプ", "--json").data["total_count"] == 1


def test_json_is_utf_8_whatever_the_locale(omoide):
    done = omoide("remember", "-", "--json", input="思い出".encode(), PYTHONIOENCODING="ascii")
    assert done.data["memory"]["content"] == "思い出"
    plain = omoide("doctor", PYTHONIOENCODING="ascii")
    assert plain.code == 0
    assert "Traceback" not in plain.err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["recall", "x"], 0),
        (["--help"], 0),
        (["--version"], 0),
        (["show", "99"], 1),
        (["show"], 2),
        (["remember", "x", "--type", "nonsense"], 2),
        (["nonsense"], 2),
    ],
)
def test_exit_codes(omoide, arguments, code):
    done = omoide(*arguments)
    assert done.code == code
    assert (done.out == "") == (code != 0 or arguments == ["recall", "x"])
    assert (done.err == "") == (code == 0 and arguments != ["recall", "x"])


def test_a_closed_output_pipe_is_not_an_error(omoide, place):
    for n in range(3):
        (place / f"{n}.txt").write_text("x" * 400_000, encoding="utf-8")
        assert omoide("remember", "-", input=(place / f"{n}.txt").read_bytes()).code == 0
    for command in (["export"], ["list", "--json"], ["show", "1"]):
        with subprocess.Popen([*PROGRAM, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.read(10)
            process.stdout.close()
            assert process.stderr.read() == b"", command


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("command", [["list"], ["list", "--json"], ["export"], ["--help"]])
def test_an_output_that_is_full_is_an_error_of_one_line(omoide, place, command):
    assert omoide("remember", "pnpm を使用").code == 0
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*PROGRAM, *command], stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (1, b"omoide: the output cannot be written: No space left on device\n")


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_exits_quietly_and_stores_nothing(place, omoide):
    with subprocess.Popen(
        [*PROGRAM, "remember", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        # More than a pipe holds: once it is written, the program is reading. A signal that comes right before it waits for
        # more is heard by Python only after.
        process.stdin.write(b"half a thought " * 20_000)
        process.stdin.flush()
        wait_until_it_waits_for_more(process)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
        assert process.stderr.read().strip() == b""
        assert process.stdout.read() == b""
    assert omoide("stats", "--json").data["memories"] == 0


def wait_until_it_waits_for_more(process):
    """Until it has read all that was written to it, and sleeps; where the system does not tell, a moment."""
    status = Path(f"/proc/{process.pid}/stat")
    if not status.exists():
        time.sleep(0.3)
        return
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        (unread,) = struct.unpack("i", fcntl.ioctl(process.stdin.fileno(), termios.FIONREAD, b"\0" * 4))
        if unread == 0 and status.read_text().rpartition(")")[2].split()[0] == "S":
            return
        time.sleep(0.01)
    pytest.fail("it never waited for more input")


def test_colours_are_only_for_terminals_without_no_color(omoide):
    omoide("remember", "text", "--topic", "colourful")
    assert not ESCAPE.search(omoide("recall").out)
    assert ESCAPE.search(on_a_terminal(["recall"])[0])
    assert not ESCAPE.search(on_a_terminal(["recall"], NO_COLOR="1")[0])


@pytest.mark.parametrize("columns", [80, 60, 40])
def test_tables_fit_the_terminal_and_stay_aligned_in_japanese(omoide, columns):
    omoide(
        "remember",
        "長い題の記憶",
        "--topic",
        "認証の方式とトークンの有効期限についての決定",
        "--tags",
        "認証,api,セキュリティ",
    )
    omoide("remember", "short", "--type", "preference", "--tag", "x")
    seen, _ = on_a_terminal(["list"], columns=columns, NO_COLOR="1")
    lines = seen.splitlines()
    assert len(lines) == 3

    def wide(text):
        return sum(2 if ord(c) > 0x2E80 else 1 for c in text)

    assert all(wide(line) <= columns for line in lines)
    column = lines[0].index("topic")
    starts = {wide(line[: line.index(word)]) for line, word in zip(lines[1:], ("short", "認証の方式"), strict=True)}
    assert starts == {column}


def test_purge_asks_on_a_terminal(omoide):
    for n in (1, 2):
        omoide("remember", f"note {n}")
        omoide("forget", str(n))
    seen, code = on_a_terminal(["purge", "1"], keys=b"n\n")
    assert "cannot be undone" in seen
    assert code == 1
    assert omoide("list", "--state", "forgotten", "--json").data["total_count"] == 2
    seen, code = on_a_terminal(["purge", "1"], keys=b"y\n")
    assert code == 0
    assert omoide("list", "--state", "forgotten", "--json").data["total_count"] == 1


def test_deleting_from_the_list_asks_on_a_terminal_if_digits_are_a_line_and_a_number(omoide):
    for text in ("one", "two", "three"):
        omoide("memories", "add", text)
    seen, code = on_a_terminal(["memories", "delete", "3"], keys=b"2\n", NO_COLOR="1")
    assert code == 0
    assert "1  line 3  #1  one" in seen
    assert "#3  three" in seen
    assert [one["content"] for one in omoide("memories", "list", "--json").data["memories"]] == ["one", "two"]


@pytest.mark.parametrize("columns", [30, 60])
def test_the_list_shows_contents_in_a_narrow_terminal(omoide, columns):
    for title, text in (("How to deploy", "make build, then make ship"), ("認証の方式", "認証は JWT を採用")):
        omoide("remember", text, "--topic", title, "--type", "decision", "--tags", "ops,release,production")
        omoide("memories", "add", text, "-t", "decision")
    seen, _ = on_a_terminal(["memories", "list"], columns=columns, NO_COLOR="1")
    assert "make build" in seen
    assert "認証は" in seen
    assert all(sum(2 if ord(c) > 0x2E80 else 1 for c in line) <= columns for line in seen.splitlines())
    seen, _ = on_a_terminal(["memories", "list", "--full"], columns=columns, NO_COLOR="1")
    assert "    make build, then make ship" in seen.replace("\r", "").splitlines()


def test_remember_opens_the_editor_on_a_terminal(omoide, place):
    script = place / "editor.sh"
    script.write_text("printf 'from the editor\\n' > \"$1\"\n")
    _, code = on_a_terminal(["remember"], EDITOR=f"sh '{script}'", VISUAL="")
    assert code == 0
    assert omoide("show", "1", "--json").data["content"] == "from the editor"


def git(*arguments, cwd):
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=cwd, check=True, capture_output=True)


def test_worktrees_of_one_repository_are_one_project(omoide, place, monkeypatch):
    monkeypatch.delenv("OMOIDE_PROJECT")
    main, other = place / "web-shop", place / "feature"
    main.mkdir()
    git("init", cwd=main)
    git("commit", "--allow-empty", "-m", "start", cwd=main)
    git("worktree", "add", str(other), cwd=main)
    (main / "deep").mkdir()
    omoide("remember", "learnt here", cwd=main / "deep")
    found = omoide("list", "--json", cwd=other).data["memories"]
    assert [(memory["content"], memory["scope"]["project"]) for memory in found] == [("learnt here", "web-shop")]
    omoide("remember", "learnt there", cwd=other)
    assert omoide("list", "--json", cwd=main).data["total_count"] == 2
    assert omoide("list", "--json", cwd=place).data["total_count"] == 0


def test_outside_of_a_repository_commands_use_the_global_layer(omoide, place, monkeypatch):
    monkeypatch.delenv("OMOIDE_PROJECT")
    assert omoide("remember", "x", "--json").data["memory"]["scope"]["layer"] == "global"
    done = omoide("remember", "x", "--session", "monday")
    assert done.code == 2
    assert "--project" in done.err


def test_a_deleted_working_directory_is_an_error(place, monkeypatch):
    monkeypatch.delenv("OMOIDE_PROJECT")
    gone = place / "gone"
    gone.mkdir()
    script = f"import os; os.chdir({str(gone)!r}); os.rmdir({str(gone)!r})\n{PROGRAM[2]}"
    done = subprocess.run([PROGRAM[0], "-c", script, "list"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("omoide: this directory cannot be read")


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [
        (["--help"], {"msgspec", "apsw", "Stemmer", "omoide.service", "omoide.settings", "platformdirs"}),
        (["recall", "x"], {"omoide.transfer.export", "omoide.transfer.row"}),
        (["list"], {"omoide.transfer.export", "omoide.transfer.row"}),
        (["remember", "x"], {"omoide.transfer.export", "omoide.transfer.row"}),
    ],
)
def test_a_command_imports_only_what_it_needs(place, arguments, heavy):
    never = {"yaml", "json", "tomllib", "difflib", "csv", "subprocess", "tempfile", "rich", "logging", "asyncio"}
    script = (
        f"import sys; from omoide.interfaces.cli import cli; cli({arguments!r}, standalone_mode=False);"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not set(done.stderr.split()) & (never | heavy)


def test_the_shell_completes_commands_and_types(omoide):
    def complete(words):
        done = omoide(_OMOIDE_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(words.count(" ")))
        return {line.partition(",")[2] for line in done.out.splitlines()}

    assert complete("omoide re") == {
        "remember",
        "recall",
        "reindex",
        "replay",
        "restore",
        "resume",
        "retire",
        "review",
        "revise",
    }
    assert complete("omoide list --type de") == {"decision"}
    assert complete("omoide list --state ar") == {"archived"}
