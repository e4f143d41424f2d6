"""Compiled regular expressions are stored in the user's cache: the next process compiles none, and matches the same."""

import importlib
import json
import os
import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from omoide import compiled_patterns

COMPILE_ALL = """
import importlib, os, sys
from omoide import compiled_patterns
for name in sys.stdin.read().split():
    importlib.import_module(name)
compiled_patterns.store_patterns()
"""
COUNT = """
import os, re, sys
from re import _compiler
compile_code, counted = _compiler.compile, []
def count(pattern, flags=0):
    frame = sys._getframe(1)
    while "/re/" in frame.f_code.co_filename.replace(os.sep, "/"):
        frame = frame.f_back
    counted.append(frame.f_code.co_filename.replace(os.sep, "/"))
    return compile_code(pattern, flags)
_compiler.compile = count
leave = os._exit
def end(code):
    print(sum(name.endswith("omoide/compiled_patterns.py") for name in counted), file=sys.stderr, flush=True)
    leave(code)
os._exit = end
from omoide.interfaces.start import main
try:
    main()
except SystemExit:
    end(0)
"""
"""Run a command, and print on standard error how many patterns of the program were compiled."""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OMOIDE_")}
    return {
        **kept,
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "OMOIDE_STORE": str(tmp_path / "memory.db"),
        "OMOIDE_CONFIG": os.devnull,
        "OMOIDE_EMBEDDER": "off",
        "OMOIDE_HOOK_SECONDS": "60",
    }


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "omoide" / f"patterns-{sys.implementation.cache_tag}.msgpack"


@pytest.fixture
def run(tmp_path: Path, environment: dict[str, str]) -> Callable[..., str]:
    """Run a command, and return what it prints."""

    def run(*arguments: str) -> str:
        command = [sys.executable, "-c", "from omoide.interfaces.start import main; main()", *arguments]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert "Traceback" not in done.stderr
        return done.stdout

    return run


@pytest.fixture
def count_compilations(tmp_path: Path, environment: dict[str, str]) -> Callable[..., int]:
    """Run a command, and return how many patterns of the program it compiled."""

    def count_compilations(*arguments: str, input: str = "") -> int:
        command = [sys.executable, "-c", COUNT, *arguments]
        done = subprocess.run(
            command, env=environment, cwd=tmp_path, input=input, capture_output=True, text=True, check=True
        )
        return int(done.stderr.splitlines()[-1])

    return count_compilations


def test_the_second_process_compiles_no_pattern(count_compilations: Callable[..., int], file: Path) -> None:
    count_compilations("remember", "pnpm を使用")
    assert count_compilations("recall", "Which package manager?") > 0
    assert count_compilations("recall", "Which package manager?") == 0
    if os.name == "posix":
        assert file.stat().st_mode & 0o777 == 0o600


def test_a_hook_that_learns_and_judges_compiles_no_pattern_any_more(
    count_compilations: Callable[..., int], run: Callable[..., str], tmp_path: Path
) -> None:
    run("remember", "Use pnpm, not npm, to install packages. Listen on port 8080.")
    counts = []
    for turn, tool in enumerate(("httpx", "structlog", "dramatiq")):
        session = {"session_id": f"s{turn}", "cwd": str(tmp_path)}
        started = {**session, "hook_event_name": "SessionStart", "source": "startup"}
        count_compilations("hook", input=json.dumps(started))
        transcript = tmp_path / f"{turn}.jsonl"
        said = [("user", f"We decided to use {tool} for this."), ("assistant", "I ran npm install and it listens on 3000.")]
        transcript.write_text(
            "".join(json.dumps({"type": who, "message": {"role": who, "content": text}}) + "\n" for who, text in said)
        )
        stopped = {**session, "hook_event_name": "Stop", "transcript_path": str(transcript)}
        count_compilations("hook", input=json.dumps({**stopped, "last_assistant_message": "I ran npm install."}))
        counts.append(count_compilations("hook", input=json.dumps({**started, "session_id": f"next{turn}"})))
    assert counts[0] > 20
    assert counts[-1] == 0
    assert "dramatiq" in run("list")
    assert "3 contradicted" in run("meter")


def test_a_stored_pattern_equals_the_one_that_re_compiles(
    environment: dict[str, str], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two patterns are equal if their flags, their texts and their compiled code are."""
    names = [
        module.name
        for package in ("learning", "lifecycle", "model", "prompt", "retrieval", "routing")
        for module in pkgutil.iter_modules(importlib.import_module(f"omoide.{package}").__path__, f"omoide.{package}.")
    ]
    subprocess.run([sys.executable, "-c", COMPILE_ALL], env=environment, input=" ".join(names).encode(), check=True)
    monkeypatch.setenv("XDG_CACHE_HOME", environment["XDG_CACHE_HOME"])
    stored = compiled_patterns._read()
    monkeypatch.setattr(re, "compile", None)  # nothing is compiled
    cache = compiled_patterns._PatternCache()
    restored = {}
    for key in stored:
        flags, _, pattern = key.partition(" ")
        restored[key] = cache.compile(pattern, int(flags))
    monkeypatch.undo()
    assert len(restored) > 150
    for key, made in restored.items():
        flags, _, pattern = key.partition(" ")
        expected = re.compile(pattern, int(flags))
        assert made == expected
        assert (made.groups, dict(made.groupindex)) == (expected.groups, dict(expected.groupindex))


def _cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def _flip(data: bytes) -> bytes:
    """Every 97th byte is another one: in the code, the names and the flags of many patterns."""
    return bytes(byte ^ 0x55 if place % 97 == 96 else byte for place, byte in enumerate(data))


def _flip_code(data: bytes) -> bytes:
    """The file can be read, and the code of a pattern is another one."""
    found = msgspec.msgpack.decode(data)
    key = next(key for key in found[1] if len(found[1][key][1]) > 100)
    code = bytearray(found[1][key][1])
    code[40] ^= 1
    found[1][key][1] = bytes(code)
    return msgspec.msgpack.encode(found)


def _flip_fields(data: bytes) -> bytes:
    """The file can be read, and the flags, groups and names of patterns are others."""
    python, patterns = msgspec.msgpack.decode(data)
    changed = {key: [flags ^ 2, code, 2**40, {"x": 9}, check] for key, (flags, code, _, _, check) in patterns.items()}
    return msgspec.msgpack.encode([python, changed])


def _exchange(data: bytes) -> bytes:
    """Every pattern has the form of another one."""
    python, patterns = msgspec.msgpack.decode(data)
    forms = list(patterns.values())
    return msgspec.msgpack.encode([python, dict(zip(patterns, [*forms[1:], forms[0]], strict=True))])


def _of_another_python(data: bytes) -> bytes:
    """Its code means something else here: that of one pattern stands for all."""
    _, patterns = msgspec.msgpack.decode(data)
    return msgspec.msgpack.encode(["2.7", {key: next(iter(patterns.values())) for key in patterns}])


@pytest.mark.parametrize(
    "damage",
    [_cut, _flip, _flip_code, _flip_fields, _exchange, _of_another_python, lambda _: b"", lambda _: b"\xc1" * 5_000_000],
)
def test_a_damaged_file_changes_no_answer_and_is_replaced(
    run: Callable[..., str], count_compilations: Callable[..., int], file: Path, damage: Callable[[bytes], bytes]
) -> None:
    run("remember", "The deploy script of the 店舗アプリ is scripts/deploy.sh, never make deploy.")
    question = ("recall", "Where is the deploy script? デプロイ")
    expected = run(*question)
    file.write_bytes(damage(file.read_bytes()))
    assert run(*question) == expected
    assert count_compilations(*question) == 0


def test_a_cache_that_cannot_be_written_or_read_changes_nothing(
    run: Callable[..., str], tmp_path: Path, environment: dict[str, str], file: Path
) -> None:
    (tmp_path / "cache").write_text("a file stands where the directory should be")
    run("remember", "The staging host is stage-3")
    assert "stage-3" in run("recall", "staging host")
    (tmp_path / "cache").unlink()
    file.mkdir(parents=True)
    assert "stage-3" in run("recall", "staging host")
    assert sorted(path.name for path in file.parent.iterdir()) == [file.name]
    file.rmdir()
    os.mkfifo(file)
    assert "stage-3" in run("recall", "staging host")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a file to another user")
def test_the_file_of_another_user_is_not_read(
    run: Callable[..., str], count_compilations: Callable[..., int], file: Path
) -> None:
    run("remember", "The staging host is stage-3")
    run("recall", "staging host")
    assert count_compilations("recall", "staging host") == 0
    os.chown(file, 12345, -1)
    assert count_compilations("recall", "staging host") > 0


def test_processes_that_store_at_once_leave_a_file_that_can_be_read(
    environment: dict[str, str], count_compilations: Callable[..., int], run: Callable[..., str], tmp_path: Path, file: Path
) -> None:
    run("remember", "The staging host is stage-3")
    file.unlink()
    command = [sys.executable, "-c", "from omoide.interfaces.start import main; main()", "recall", "staging host"]
    started = [subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=subprocess.DEVNULL) for _ in range(4)]
    assert [process.wait() for process in started] == [0] * 4
    assert count_compilations("recall", "staging host") == 0
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_what_a_killed_process_left_is_removed_and_what_another_one_writes_is_not(
    run: Callable[..., str], file: Path
) -> None:
    left, written = file.with_name(f"{file.name}.17"), file.with_name(f"{file.name}.18")
    file.parent.mkdir(parents=True)
    for path in (left, written):
        path.write_bytes(b"half")
    os.utime(left, (0, 0))
    run("remember", "The staging host is stage-3")
    assert sorted(path.name for path in file.parent.iterdir()) == [file.name, written.name]


def _raise_attribute_error(*_: object) -> None:
    raise AttributeError("gone")


@pytest.mark.parametrize("code", [lambda *_: [], lambda *_: [14, 4, 0, 1, 1, 1], _raise_attribute_error])
def test_a_python_with_another_compiled_form_stores_nothing(
    code: Callable[..., object], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache = compiled_patterns._PatternCache()
    assert cache.compile("a+b", 0) == re.compile("a+b")
    monkeypatch.setattr("re._compiler._code", code)
    cache.store()
    assert compiled_patterns._read() == {}


def test_a_program_that_imports_omoide_writes_no_file(environment: dict[str, str], tmp_path: Path) -> None:
    script = "import omoide\nwith omoide.open() as memory: memory.recall('staging', scope=omoide.Scope.everywhere())"
    subprocess.run([sys.executable, "-c", script], env=environment, cwd=tmp_path, check=True)
    assert not (tmp_path / "cache" / "omoide").exists()
