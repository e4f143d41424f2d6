"""Fixtures of every test: a clock that only the test moves, and a memory of its own."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import omoide
from omoide.files import git_process
from omoide.service import Service

# Many tests start processes, which take twice the processor time if each of them compiles omoide again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

HOOK_LOGGERS = ("omoide.sync.hook", "omoide.service.write_path")
LONG = os.environ.get("OMOIDE_LONG") == "1"

settings.register_profile(
    "omoide", deadline=None, derandomize=not LONG, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("omoide")


class Clock:
    """A fixed time that a test moves, also backwards."""

    def __init__(self) -> None:
        self.now = datetime(2026, 2, 5, 10, 0, 0, 123456, UTC)

    def __call__(self) -> datetime:
        return self.now

    def step(self, seconds: float = 1) -> datetime:
        self.now += timedelta(seconds=seconds)
        return self.now


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the model's weights are unpacked, once for all tests."""
    return tmp_path_factory.getbasetemp().parent / "cache"


@pytest.fixture(autouse=True)
def home_of_nobody(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No test reads or writes the memory of the person who runs it: it has a home of its own, and leaves no store there."""
    home = tmp_path_factory.getbasetemp() / "home"
    home.mkdir(exist_ok=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    yield
    assert not (home / ".local/share/omoide/memory.db").exists(), "this test used the default store"


@pytest.fixture(autouse=True)
def settings_of_nobody(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    """No test reads the settings of the person who runs it."""
    for name in os.environ:
        if name.startswith("OMOIDE_") and name != "OMOIDE_LONG":
            monkeypatch.delenv(name)
    monkeypatch.setenv("OMOIDE_CONFIG", os.devnull)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setenv("OMOIDE_EMBEDDER", "off")  # the tests of meaning turn it on


@pytest.fixture(autouse=True)
def patient_with_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test depends on how fast git answers: where it does not, omoide leaves things as they are."""
    monkeypatch.setattr(git_process, "_limit", 600.0)


@pytest.fixture(autouse=True)
def fail_on_unexpected_trouble(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """No test passes over trouble with a mirrored file or a hook: here, where warnings are errors, it is in the log."""
    yield
    logged = [record for record in caplog.get_records("call") if record.name in HOOK_LOGGERS]
    assert [record.message for record in logged] == []


@pytest.fixture
def interruptible() -> Iterator[None]:
    """What the test starts hears SIGINT and SIGHUP, also where the tests themselves do not: in the background, after nohup.

    A signal that is ignored stays so in every child; one that has a handler does what it usually does.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    before_hangup = signal.signal(signal.SIGHUP, lambda *_: sys.exit("hung up"))
    yield
    signal.signal(signal.SIGINT, before)
    signal.signal(signal.SIGHUP, before_hangup)


@pytest.fixture
def long() -> bool:
    """Whether there is time for the long version of a test."""
    return LONG


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def open_memory(clock: Clock) -> Iterator[Callable[..., Service]]:
    """Opens memories that are closed when the test ends."""
    opened: list[Service] = []

    def open(path: Path, **options: object) -> Service:
        opened.append(omoide.open(path, **{"clock": clock, **options}))
        return opened[-1]

    yield open
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(tmp_path: Path, open_memory: Callable[..., Service]) -> Service:
    return open_memory(tmp_path / "memory.db")
