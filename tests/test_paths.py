"""The files that a `remember`, a `recall` and an edited file pass, and that their calls only go down the layers."""

import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

import omoide
from omoide import Scope
from omoide.interfaces.cli import cli
from omoide.service import Service

ROOT = Path(__file__).resolve().parents[1]
SOURCE = Path(omoide.__file__).parent
SHOP = Scope.project("shop")
HOOKS = {"before_read", "after_commit", "after_mirror_change"}
"""The methods of `service.hooks.Hooks`: the only calls that go up."""
SECRETS = "guard/secrets"
"""A package that counts as one module: which of its patterns are tried depends on the text, and on what was tried before."""


def layers() -> dict[str, int]:
    """The layers of the import contract, each part with its number, from the top."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    (contract,) = [contract for contract in contracts if contract["type"] == "layers"]
    return {part.strip(): number for number, line in enumerate(contract["layers"]) for part in line.split("|")}


def source_of(frame: FrameType | None) -> str | None:
    """The file of this code base that a frame is in, relative to the package."""
    if frame is None or not frame.f_code.co_filename.startswith(str(SOURCE)):
        return None
    return str(Path(frame.f_code.co_filename).relative_to(SOURCE))


def caller_of(frame: FrameType) -> FrameType | None:
    """The nearest caller within this code base: between the two there may be the standard library."""
    caller = frame.f_back
    while caller is not None and source_of(caller) is None:
        caller = caller.f_back
    return caller


class Trace:
    """The files that an operation passes, and the calls that go up."""

    def __init__(self, operation: Callable[[], object]):
        self.files: set[str] = set()
        self.calls_up: set[str] = set()
        self.hooks: set[str] = set()
        self._layers = layers()
        sys.setprofile(self._note)
        try:
            operation()
        finally:
            sys.setprofile(None)

    @property
    def modules(self) -> dict[str, str]:
        """The modules that are passed, by package."""
        packages: dict[str, list[str]] = {}
        for file in sorted(self.files):
            package, _, module = file.removesuffix(".py").rpartition("/")
            packages.setdefault(package, []).append(module)
        return {package: " ".join(modules) for package, modules in packages.items()}

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        file = source_of(frame)
        if event != "call" or file is None or frame.f_code.co_name == "<module>":
            return
        self.files.add(f"{SECRETS}.py" if file.startswith(SECRETS) else file)
        caller = caller_of(frame)
        above = source_of(caller)
        if caller is None or above is None or self._layer(above) <= self._layer(file):
            return
        call = f"{above}:{caller.f_code.co_name} -> {file}:{frame.f_code.co_name}"
        (self.hooks if above == "service/hooks.py" and caller.f_code.co_name in HOOKS else self.calls_up).add(call)

    def _layer(self, file: str) -> int:
        return self._layers[file.partition("/")[0].removesuffix(".py")]


@pytest.fixture
def warm_memory(memory: Service, monkeypatch: pytest.MonkeyPatch) -> Service:
    """A memory in which everything that loads once is loaded."""
    monkeypatch.setattr("omoide.sync.hook.time.monotonic", lambda: 1000.0)  # mirrors are looked up once a second
    memory.remember("something else", scope=SHOP)
    memory.recall("anything", scope=SHOP)
    return memory


def test_remember_goes_from_the_service_down_to_the_disk(warm_memory):
    trace = Trace(lambda: warm_memory.remember("pnpm is used here", topic="packages", scope=SHOP))
    assert trace.calls_up == set()
    assert trace.hooks == {"service/hooks.py:after_commit -> sync/hook.py:after_commit"}
    assert trace.modules == {
        "embeddings": "indexer",
        "guard": "permissions secrets validation",
        "model": "memory scope",
        "retrieval": "analyzer blocking near_duplicates",
        "service": "hooks memories versioning write_path",
        "storage": "rows",
        "storage/sqlite": "cache connection faults file postings reader store transaction writer",
        "sync": "hook",
    }


def test_recall_goes_from_the_service_down_to_the_disk(warm_memory):
    trace = Trace(lambda: warm_memory.recall("something", scope=SHOP))
    assert trace.calls_up == set()
    assert trace.hooks == {"service/hooks.py:before_read -> sync/hook.py:before_read"}
    assert trace.modules == {
        "embeddings": "indexer",
        "guard": "permissions validation",
        "retrieval": "analyzer bit_sums candidates confidence lexical pipeline query_parts",
        "service": "core hooks queries",
        "storage": "bitset rows",
        "storage/sqlite": "cache connection faults file postings ranking_cache reader store transaction",
        "sync": "hook",
    }


def test_an_edited_file_comes_in_through_a_hook_and_goes_down_to_the_disk(warm_memory, tmp_path):
    file = tmp_path / "memories.md"
    warm_memory.mirror(file, "memories", scope=SHOP)
    warm_memory.list(scope=SHOP)
    file.write_text(file.read_text(encoding="utf-8").replace("something else", "something new"), encoding="utf-8")
    trace = Trace(lambda: warm_memory.list(scope=SHOP))
    assert [memory.content for memory in warm_memory.list(scope=SHOP).memories] == ["something new"]
    assert trace.calls_up == set()
    assert trace.hooks == {"service/hooks.py:before_read -> sync/hook.py:before_read"}
    assert trace.modules == {
        "embeddings": "indexer",
        "files": "atomic directory late_saves",
        "guard": "permissions secrets validation",
        "markdown": (
            "conflict_markers fence format loose_sections normal_form page reformatting section sections single_file"
        ),
        "model": "expiry fields memory mirror scope source",
        "retrieval": "analyzer blocking",
        "service": "core hooks mirrors queries versioning write_path",
        "storage": "rows",
        "storage/sqlite": "cache connection events faults file mirrors postings reader store transaction writer",
        "sync": (
            "absence adoption database deletions engine entry_store evidence file_edits file_import hook matching plan run"
            " snapshot three_way version_texts"
        ),
    }


def test_a_command_starts_at_an_interface_and_goes_down(tmp_path, monkeypatch):
    monkeypatch.setenv("OMOIDE_STORE", str(tmp_path / "memory.db"))
    monkeypatch.setenv("OMOIDE_CONFIG", str(tmp_path / "config.toml"))
    for text in ("something else", "npm は不要"):  # so that everything is loaded, whichever tests ran before
        cli(["remember", text, "--global"], standalone_mode=False)
    trace = Trace(lambda: cli(["remember", "pnpm を使用", "--global"], standalone_mode=False))
    assert trace.calls_up == set()
    interfaces = {package: modules for package, modules in trace.modules.items() if package.startswith("interfaces")}
    assert interfaces == {"interfaces": "serialize", "interfaces/cli": "__init__ options output remember"}
    assert trace.modules[""] == "app setting_values settings"
    assert trace.modules["service"] == "__init__ core hook_calls hooks memories preparation retention versioning write_path"
