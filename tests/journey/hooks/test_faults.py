"""Whatever happens, the agent never notices: exit code 0, nothing on standard error, nothing half-written."""

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

import omoide

PROGRAM = [sys.executable, "-c", "from omoide.interfaces.start import main; main()", "hook"]
COMMAND = [sys.executable, "-c", "from omoide.interfaces.cli import main; main()"]


def log(environment, *arguments):
    done = subprocess.run([*COMMAND, "hook", "log", "--json", *arguments], env=environment, capture_output=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "data",
    [b"", b"nope", b"[]", b'"text"', b"\xff\xfe{", b'{"prompt": "' + b"[" * 100, b"[" * 100_000, b"{}", b"null"],
    ids=["nothing", "words", "list", "string", "no UTF-8", "cut off", "deep", "empty object", "null"],
)
def test_input_that_is_no_call_prints_nothing_and_is_logged(hook, environment, data):
    done = hook(data)
    assert (done.code, done.out, done.err) == (0, b"", b"")
    (call,) = log(environment)
    assert call["state"] == "failed"
    assert call["fault"]


def test_an_unknown_event_of_an_unknown_client_prints_nothing_and_is_logged(hook, environment, repository):
    done = hook({"session_id": "x", "cwd": str(repository), "hook_event_name": "PreToolUse"}, "someone", "PreToolUse")
    assert (done.code, done.out, done.err) == (0, b"", b"")
    (call,) = log(environment)
    assert "PreToolUse" in call["fault"]


@pytest.mark.parametrize("arguments", [("-x",), ("--debug", "claude-code"), ("claude-code", "UserPromptSubmit", "-v")])
def test_an_option_that_a_hook_does_not_have_prints_nothing_and_is_logged(hook, environment, shop, asked, arguments):
    """Claude Code takes exit code 2 for a prompt that must not be answered."""
    done = hook(asked, *arguments)
    assert (done.code, done.out, done.err) == (0, b"", b"")
    (call,) = log(environment)
    assert "no option" in call["fault"]


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_the_help_of_a_hook_is_there_in_a_pipe_too(hook, option):
    done = hook(b"", option)
    assert (done.code, done.err) == (0, b"")
    assert b"omoide hook log" in done.out


ENCODINGS = {
    "a byte that is no UTF-8": lambda text: text.replace("now", "caf?").encode().replace(b"?", b"\xe9"),
    "a byte order mark": lambda text: text.encode("utf-8-sig"),
    "UTF-16": lambda text: text.encode("utf-16"),
    "a byte order mark and a byte that is no UTF-8": lambda text: text.encode("utf-8-sig").replace(b"now", b"\xff"),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_input_in_another_encoding_is_answered(hook, environment, shop, asked, encoding):
    text = json.dumps({**asked, "prompt": "Which package manager do we use now?"}, ensure_ascii=False)
    assert "pnpm" in hook(ENCODINGS[encoding](text)).context
    assert [call["fault"] for call in log(environment)] == [""]


@pytest.mark.parametrize("seconds", ["-1", "0", "nan", "inf", "soon", "1e9"])
def test_a_time_limit_that_is_not_valid_is_logged(hook, environment, shop, asked, seconds):
    done = hook(asked, OMOIDE_HOOK_SECONDS=seconds)
    assert (done.code, done.err) == (0, b"")
    (call,) = log(environment)
    assert "hook_seconds" in call["fault"]


def test_fields_of_a_wrong_type_are_ignored(hook, shop, asked):
    done = hook({**asked, "session_id": 7, "transcript_path": None, "cwd": {"a": 1}, "prompt": ["x"], "prompt_id": None})
    assert (done.code, done.out, done.err) == (0, b"", b"")


def test_fifty_megabytes_are_read_and_answered(hook, shop, asked):
    done = hook({**asked, "prompt": asked["prompt"], "attachment": "x" * 50_000_000})
    assert "pnpm" in done.context
    huge = hook({**asked, "session_id": "other", "prompt": "package manager " + "x" * 50_000_000})
    assert (huge.code, huge.err) == (0, b"")


def test_input_that_is_too_large_is_logged(hook, environment, shop, asked):
    done = hook({**asked, "attachment": "x" * 70_000_000})
    assert (done.code, done.out, done.err) == (0, b"", b"")
    assert "bytes" in log(environment)[0]["fault"]


def test_a_missing_database_is_created_by_a_stop_and_not_by_a_prompt(hook, environment, asked, started, stopped):
    store = Path(environment["OMOIDE_STORE"])
    for body in (started, asked):
        assert hook(body).out == b""
        assert not store.exists()
    hook(stopped)
    assert store.exists()


@pytest.mark.parametrize("event", ["started", "asked", "stopped"])
def test_a_locked_database_prints_nothing_and_is_logged(hook, environment, shop, event, request):
    body = request.getfixturevalue(event)
    blocker = apsw.Connection(environment["OMOIDE_STORE"])
    blocker.execute("BEGIN IMMEDIATE")
    done = hook(body)
    blocker.execute("ROLLBACK")
    blocker.close()
    assert (done.code, done.out, done.err) == (0, b"", b"")
    (call,) = log(environment)
    assert call["state"] == "failed"
    assert hook(body).code == 0
    assert log(environment)[0]["state"] == "done"


def test_a_damaged_database_prints_nothing_and_is_logged(hook, environment, shop, asked):
    store = Path(environment["OMOIDE_STORE"])
    store.write_bytes(b"this is no database" * 1000)
    done = hook(asked)
    assert (done.code, done.out, done.err) == (0, b"", b"")
    assert store.with_name("memory.db.hook-faults").read_text(encoding="utf-8").count("\n") == 1


def test_the_log_shows_the_faults_beside_a_damaged_database(hook, environment, shop, asked):
    hook(b"nope")
    store = Path(environment["OMOIDE_STORE"])
    store.write_bytes(b"this is no database" * 1000)
    hook(asked)
    done = subprocess.run([*COMMAND, "hook", "log"], env=environment, capture_output=True, text=True)
    assert ["is damaged" in line for line in done.stdout.splitlines()[1:]] == [True, False]
    assert "not JSON" in done.stdout
    assert "is damaged" in done.stderr
    assert done.returncode == 1
    as_json = subprocess.run([*COMMAND, "hook", "log", "--json"], env=environment, capture_output=True)
    assert [call["state"] for call in json.loads(as_json.stdout)] == ["failed", "failed"]


def test_settings_that_cannot_be_read_print_nothing_and_are_logged(hook, environment, shop, asked, tmp_path):
    config = tmp_path / "broken.toml"
    config.write_text("limit = [", encoding="utf-8")
    done = hook(asked, OMOIDE_CONFIG=str(config))
    assert (done.code, done.out, done.err) == (0, b"", b"")
    assert "TOML" in log(environment)[0]["fault"]


def test_a_directory_that_is_gone_finds_the_global_memories(hook, memory, asked):
    with memory() as service:
        service.remember("We use pnpm as the package manager, never npm.", scope=omoide.Scope.everywhere())
    done = hook({**asked, "cwd": "/nowhere/at all/場所"})
    assert "pnpm" in done.context


def test_a_hook_of_our_own_language_model_does_nothing(hook, environment, shop, started, asked, stopped):
    for body in (started, asked, stopped):
        done = hook(body, OMOIDE_LLM_CHILD="1")
        assert (done.code, done.out, done.err) == (0, b"", b"")
    assert log(environment) == []


@pytest.mark.parametrize("closed", ["0", "1", "2", "0 1 2"])
def test_closed_standard_streams_write_into_no_file(environment, shop, asked, closed, tmp_path):
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file() and file.name != "memory.db-shm"}
    redirections = " ".join(f"{number}>&-" if number != "0" else "0<&-" for number in closed.split())
    body = tmp_path / "input.json"
    body.write_text(json.dumps(asked), encoding="utf-8")
    given = "" if "0" in closed.split() else f'< "{body}"'
    script = f'exec "{PROGRAM[0]}" -c "{PROGRAM[2]}" hook {given} {redirections}'
    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True)
    assert done.returncode == 0
    for file in before:
        if "memory.db" not in file.name:
            assert file.read_bytes() == before[file]
    assert all(b"omoide-memory" not in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


def test_a_client_that_no_longer_reads_is_no_fault(environment, shop, asked):
    process = subprocess.Popen(
        PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    process.stdout.close()
    process.stdin.write(json.dumps(asked).encode())
    process.stdin.close()
    assert process.wait(60) == 0
    assert process.stderr.read() == b""
    process.stderr.close()
    assert log(environment)[0]["state"] == "done"


@pytest.mark.parametrize("seconds", ["0.3", "inf", "1e9"])
def test_a_hook_that_gets_no_input_ends_by_itself(environment, seconds):
    process = subprocess.Popen(
        PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**environment, "OMOIDE_HOOK_SECONDS": seconds},
    )  # several entries per line  # fmt: skip
    assert process.wait(30) == 0
    out, err = process.communicate()
    assert (out, err) == (b"", b"")


def test_a_hook_that_takes_too_long_ends_with_0_and_has_written_nothing_by_half(hook, environment, shop, asked, stopped):
    """The limit is so short that most of these end somewhere in between, each at another place."""
    for step in range(6):
        seconds = f"{0.2 + step * 0.05:.2f}"
        for body in ({**asked, "session_id": f"s{step}"}, {**stopped, "session_id": f"s{step}"}):
            done = hook(body, OMOIDE_HOOK_SECONDS=seconds)
            assert done.code == 0
            assert done.err == b""
            if done.out:
                json.loads(done.out)
    with omoide.open(environment["OMOIDE_STORE"], actor=omoide.Actor("tester")) as service:
        assert service.check() == []


def test_a_hook_that_is_killed_leaves_a_database_that_is_whole(environment, shop, asked, stopped):
    for step in range(8):
        process = subprocess.Popen(
            PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
        )
        # the prompts come first, because they learn from what the ends of turns leave
        body = {**(asked if step < 4 else stopped), "session_id": f"s{step}"}
        process.stdin.write(json.dumps(body).encode())
        process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.1 * (step % 4))
        process.kill()
        process.wait()
    with omoide.open(environment["OMOIDE_STORE"], actor=omoide.Actor("tester")) as service:
        assert service.check() == []
        with service._store.read() as tx:
            stored = {item.session for item in tx.inbox()}
        finished = {call.session for call in service.hook_calls(limit=50) if call.event == "stop" and call.state == "done"}
        assert stored == finished


def test_the_file_of_faults_stays_small_and_private(hook, environment):
    file = Path(environment["OMOIDE_STORE"]).with_name("memory.db.hook-faults")
    file.parent.mkdir(parents=True)
    file.write_bytes(b'{"old": 1}\n' * 20_000)
    file.chmod(0o600)
    hook(b"nope")
    assert file.stat().st_size < 64_000
    assert file.stat().st_mode & 0o777 == 0o600
    assert log(environment)[0]["state"] == "failed"
    assert [other.name for other in file.parent.iterdir()] == [file.name]


def test_the_log_is_a_table_for_people(hook, environment, shop, asked):
    hook(asked)
    hook(b"nope")
    done = subprocess.run([*COMMAND, "hook", "log", "--limit", "5"], env=environment, capture_output=True, text=True)
    first, second = done.stdout.splitlines()[1:]
    assert "not JSON" in first
    assert [second.split()[place] for place in (2, 3, 5, 7)] == ["claude-code", "prompt", "1", "done"]
    assert "1 call failed" in done.stderr


def test_an_empty_log_says_so(environment):
    done = subprocess.run([*COMMAND, "hook", "log"], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
    assert "no hook has called yet" in done.stderr


def test_a_fault_of_the_inbox_does_not_disturb_a_command_and_is_logged(environment, shop):
    connection = apsw.Connection(environment["OMOIDE_STORE"])
    connection.execute("ALTER TABLE inbox RENAME TO nowhere")
    connection.close()
    listed = subprocess.run([*COMMAND, "list"], env=environment, capture_output=True, check=False)
    assert (listed.returncode, b"inbox" in listed.stderr) == (0, False)
    (call,) = log(environment)
    assert (call["state"], bool(call["fault"])) == ("failed", True)
