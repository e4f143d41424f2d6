"""The command of an agent under `omoide run`: processes that end badly, outputs that nobody reads, terminals that close."""

import os
import pty
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from journey.conftest import Done
from omoide.conversation.agent_process import run_agent

Run = Callable[..., Done]
PROGRAM = [sys.executable, "-c", "from omoide.interfaces.start import main; main()"]
COUNT_SIGNALS = """
import signal, sys, time
got = []
for number in (signal.SIGINT, signal.SIGHUP):
    signal.signal(number, lambda number, _: got.append(number))
print("ready", flush=True)
deadline = time.monotonic() + 30
while not got and time.monotonic() < deadline:
    time.sleep(0.01)
time.sleep(0.3)  # for a signal that is sent twice
print("ended", flush=True)
sys.exit(40 + len(got))
"""


def last_run(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = run("runs", "--json").data["runs"][0]
    return found


def shell(script: str) -> list[str]:
    return ["sh", "-c", script]


# what cannot be started


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("no-such-agent-anywhere", "no such program on the PATH"),
        ("./no-such-file", "no such file"),
        ("./notes.txt", "cannot be executed"),
        ("--sesion=monday", "no option --sesion=monday"),
    ],
)
def test_a_command_that_does_not_exist_is_an_error_and_leaves_no_run(run: Run, place: Path, command: str, why: str) -> None:
    (place / "notes.txt").write_text("no program")
    done = run("run", "-m", "From now on use pnpm", "--", command)
    assert done.code == 2
    assert why in done.err
    assert run("runs", "--json").data["runs"] == []
    assert run("list", "--json").data["memories"] == []


@pytest.mark.parametrize(
    "command",
    [["sh", "-c", "echo '{prompt}'"], ["/bin/bash", "-lc", 'echo "{prompt}"'], ["env", "X=1", "sh", "-euc", "{prompt}"]],
)
def test_a_prompt_that_would_be_a_part_of_the_code_of_a_shell_is_refused(run: Run, place: Path, command: list[str]) -> None:
    """A memory may say anything: `$(…)`, or a quote that ends the string."""
    run("remember", "The build'; touch stolen; echo '$(touch stolen)")
    done = run("run", "-m", "Fix the build", "--", *command)
    assert done.code == 2
    assert "make it an argument of its own" in done.err
    assert run("runs", "--json").data["runs"] == []
    assert not (place / "stolen").exists()


def test_a_prompt_that_is_an_argument_of_a_shell_is_not_run(omoide: Run, run: Run, place: Path) -> None:
    run("remember", "The build'; touch stolen; echo '$(touch stolen)")
    done = omoide("run", "-m", "Fix the build", "--", *shell('printf %s "$1"; cat {prompt_file}'), "sh", "{prompt}")
    assert done.out.count("$(touch stolen)") == 2, done.err
    assert not (place / "stolen").exists()


def test_a_prompt_that_is_too_long_for_an_argument_is_a_failed_run_and_says_what_to_do(omoide: Run, run: Run) -> None:
    done = omoide("run", "-m", "-", "--", "true", "{prompt}", input=b"fix the login " * 12_000)
    assert done.code == 2
    assert "too long for an argument; use {prompt_file} or standard input" in done.err
    outcome = last_run(run)["outcome"]
    assert outcome["result"] == "failure"
    assert "too long" in outcome["note"]


@pytest.mark.parametrize("left", ["echo x > $d", "ln -s . $d", "mkdir $d && touch $d/.prompt && chmod 0 $d"])
def test_what_the_agent_does_to_the_directory_of_its_prompt_does_not_change_its_exit_code(
    omoide: Run, run: Run, place: Path, left: str
) -> None:
    script = f"d=$(dirname {{prompt_file}}); rm -r $d; {left}; exit 3"
    done = omoide("run", "-m", "Fix it", "--", *shell(script), TMPDIR=str(place))
    assert done.code == 3, done.err
    assert "Traceback" not in done.err
    assert last_run(run)["outcome"]["exit_code"] == 3


# what is left running


def test_a_process_that_the_agent_leaves_running_is_not_waited_for(run: Run, place: Path) -> None:
    script = "echo started; sleep 300 & echo $! > server.pid; exit 3"
    done = subprocess.run(
        [*PROGRAM, "run", "-m", "Start the server", "--", *shell(script)], stdout=subprocess.PIPE, timeout=120
    )
    os.kill(int((place / "server.pid").read_text()), signal.SIGTERM)  # it still runs
    assert (done.returncode, done.stdout) == (3, b"started\n")
    assert last_run(run)["outcome"]["exit_code"] == 3


def test_a_process_that_the_agent_leaves_printing_is_not_waited_for(run: Run) -> None:
    script = "echo started; yes & exit 3"
    done = subprocess.run([*PROGRAM, "run", "-m", "Start it", "--", *shell(script)], stdout=subprocess.DEVNULL, timeout=300)
    assert done.returncode == 3
    assert last_run(run)["outcome"]["exit_code"] == 3


# reports


def test_a_correction_in_the_message_is_reported_with_the_memory_that_it_replaced(omoide: Run) -> None:
    omoide("run", "-m", "From now on use npm for installs.", "--", *shell("true"))
    done = omoide("run", "-m", "No, use pnpm for installs instead of npm.", "--", *shell("true"))
    assert "replaced  #1" in done.err
    assert "kept  #" in done.err


# outputs


def test_an_output_that_cannot_be_written_does_not_stop_the_agent_and_is_reported(run: Run, place: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*PROGRAM, "run", "-m", "Fix it", "--", *shell("echo hello; echo done > finished; exit 4")],
            stdout=full,
            stderr=subprocess.PIPE,
        )
    assert done.returncode == 4
    assert b"could not be passed on" in done.stderr
    assert b"Traceback" not in done.stderr
    assert (place / "finished").exists()
    assert last_run(run)["outcome"]["exit_code"] == 4


def test_a_reader_that_stops_does_not_change_the_exit_code(run: Run) -> None:
    with subprocess.Popen(
        [*PROGRAM, "run", "-m", "Fix it", "--", *shell("yes | head -100000; exit 4")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read()
    assert process.returncode == 4, err.decode()
    assert b"Traceback" not in err
    assert last_run(run)["outcome"]["exit_code"] == 4


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_standard_streams_may_be_closed(run: Run, place: Path, closed: str) -> None:
    agent = shell("cat > prompt.txt; exit 5")
    done = subprocess.run(["sh", "-c", f'"$@" {closed}', "sh", *PROGRAM, "run", "-m", "Fix it", "--", *agent])
    assert done.returncode == 5
    assert (place / "prompt.txt").read_text() == "## Task\nFix it\n"
    assert last_run(run)["outcome"]["exit_code"] == 5


def test_of_a_long_output_the_end_is_kept(omoide: Run, run: Run) -> None:
    script = "yes 'working on it' | head -20000; echo 'The login is fixed in src/auth.py.'"
    assert omoide("run", "-m", "Fix it", "--session", "monday", "--", *shell(script)).code == 0
    entries = [one["content"] for one in run("list", "--session", "monday", "--json").data["memories"]]
    assert any(entry.endswith("The login is fixed in src/auth.py.") for entry in entries)


def test_a_transcript_that_the_agent_did_not_write_is_replaced_by_its_output(omoide: Run, run: Run) -> None:
    done = omoide("run", "-m", "Fix it", "--session", "monday", "--transcript", "none.jsonl", "--", "echo", "All fixed.")
    assert done.code == 0
    assert "none.jsonl" in done.err
    assert last_run(run)["outcome"]["result"] == "success"
    assert "All fixed." in run("list", "--session", "monday", "--json").out


# signals


def run_on_terminal(command: list[str], act: Callable[[int, int], bool]) -> tuple[int, str]:
    """Run a command on a terminal of its own, and do something when it is ready; `act` returns whether to read on."""
    process, terminal = pty.fork()
    if not process:
        os.execvp(command[0], command)
    shown, is_ready = b"", False
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # the terminal was closed
            break
        if not piece:
            break
        shown += piece
        if b"ready" in shown and not is_ready:
            is_ready = True
            if not act(process, terminal):
                break
    _, status = os.waitpid(process, 0)
    return os.waitstatus_to_exitcode(status), shown.decode(errors="replace")


def press_interrupt(_: int, terminal: int) -> bool:
    os.write(terminal, b"\x03")
    return True


def close_terminal(_: int, terminal: int) -> bool:
    os.close(terminal)
    return False


@pytest.mark.parametrize("stdin", ["terminal", "pipe"])
def test_an_interrupt_from_the_terminal_reaches_the_agent_once(run: Run, interruptible: None, stdin: str) -> None:
    agent = [sys.executable, "-c", COUNT_SIGNALS]
    command = [*PROGRAM, "run", "-m", "Fix it", "--", *agent]
    if stdin == "pipe":
        command = ["sh", "-c", 'trap : INT; echo "Fix it" | "$@"; exit $?', "sh", *PROGRAM, "run", "-m", "-", "--", *agent]
    code, shown = run_on_terminal(command, press_interrupt)
    assert code == 41, shown
    assert last_run(run)["outcome"]["exit_code"] == 41


def test_a_terminal_that_closes_reaches_the_agent_and_the_run_is_recorded(run: Run, interruptible: None) -> None:
    code, shown = run_on_terminal(
        [*PROGRAM, "run", "-m", "Fix it", "--", sys.executable, "-c", COUNT_SIGNALS], close_terminal
    )
    assert code in (41, 42), shown
    assert last_run(run)["outcome"]["exit_code"] == code


def test_what_nohup_ignores_is_ignored_by_the_agent(run: Run) -> None:
    agent = "import signal; print(signal.getsignal(signal.SIGHUP) == signal.SIG_IGN)"
    done = subprocess.run(
        ["nohup", *PROGRAM, "run", "-m", "Fix it", "--", sys.executable, "-c", agent], capture_output=True, text=True
    )
    assert done.stdout == "True\n"


def test_runs_without_a_title_are_listed_by_their_message(run: Run, omoide: Run) -> None:
    omoide("run", "-m", "ログインを直して\n\n詳しくは README に", "--", "true")
    listed = run("runs").out
    assert "ログインを直して" in listed
    assert "README" not in listed
    assert "ログインを直して" in run("runs", "show", "1").out


@pytest.mark.parametrize("output", ["open", "closed"])
def test_a_signal_that_does_not_interrupt_the_wait_for_the_agent_reaches_it(tmp_path: Path, output: str) -> None:
    """As one that arrives just before the wait begins, or in another thread: Python's handler runs when the wait ends."""
    close = "import os; os.close(1)" if output == "closed" else ""
    code = (
        "import pathlib, signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))\n"
        f"{close}\n"
        "pathlib.Path(sys.argv[1]).touch()\n"
        "time.sleep(60)"
    )
    ready = tmp_path / "ready"

    def interrupt() -> None:
        while not ready.exists():
            time.sleep(0.01)
        time.sleep(0.2)  # until the other thread waits
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

    thread = threading.Thread(target=interrupt)
    thread.start()
    command = [sys.executable, "-c", code, str(ready)]
    done = run_agent(command, "", environment={}, directory=tmp_path, file=tmp_path / "prompt.md")
    thread.join()
    assert done.exit_code == 5
    assert done.seconds < 60
    assert signal.set_wakeup_fd(-1) == -1, "what was set is taken back"
