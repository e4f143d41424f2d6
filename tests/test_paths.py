"""The road of one `remember` through the code: always downwards, and short enough to follow."""

import sys
from pathlib import Path
from types import FrameType

import omoide
from omoide.interfaces.cli import cli

SOURCE = Path(omoide.__file__).parent


def roads(tmp_path: Path, monkeypatch, arguments: list[str]) -> list[str]:
    """The files that a command calls into, in order of first visit."""
    monkeypatch.setenv("OMOIDE_STORE", str(tmp_path / "memory.db"))
    monkeypatch.setenv("OMOIDE_CONFIG", str(tmp_path / "config.toml"))
    visited: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(str(SOURCE)) and frame.f_code.co_name not in ("<module>", "<lambda>"):
            visited[str(Path(file).relative_to(SOURCE))] = None

    cli(["remember", "something else", "--global"], standalone_mode=False)  # once, so that everything is loaded
    sys.setprofile(note)
    try:
        cli([*arguments], standalone_mode=False)
    finally:
        sys.setprofile(None)
    return list(visited)


def test_the_road_of_remember_from_the_shell_to_the_disk(tmp_path: Path, monkeypatch) -> None:
    road = roads(tmp_path, monkeypatch, ["remember", "pnpm を使用", "--global"])
    # Patterns are compiled once in a process: whether that is here depends on what ran before.
    assert set(road) - {"guard/secrets/patterns.py"} == {
        "interfaces/cli/__init__.py",
        "interfaces/cli/options.py",
        "interfaces/cli/remember.py",
        "interfaces/cli/output.py",
        "interfaces/serialize.py",
        "app.py",
        "settings.py",
        "model/expiry.py",
        "model/scope.py",
        "service/__init__.py",
        "service/core.py",
        "service/memories.py",
        "service/write_path.py",
        "sync/hook.py",
        "embeddings/indexer.py",
        "retrieval/near_duplicate_search.py",
        "service/retention.py",
        "service/versioning.py",
        "guard/permissions.py",
        "guard/bounds.py",
        "guard/validation.py",
        "guard/secrets/__init__.py",
        "retrieval/blocking.py",
        "retrieval/near_duplicates.py",
        "retrieval/analyzer.py",
        "storage/rows.py",
        "storage/sqlite/store.py",
        "storage/sqlite/cache.py",
        "storage/sqlite/faults.py",
        "storage/sqlite/file.py",
        "storage/sqlite/postings.py",
        "storage/sqlite/mirrors.py",
        "storage/sqlite/opening.py",
        "storage/sqlite/ranking_cache.py",
        "storage/sqlite/transaction.py",
        "storage/sqlite/reader.py",
        "storage/sqlite/writer.py",
        "model/memory.py",
    }
    assert road[0].startswith("interfaces/"), "a road starts at a way in"
