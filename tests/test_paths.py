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
        "interfaces/cli/common.py",
        "interfaces/cli/keep.py",
        "interfaces/cli/screen.py",
        "interfaces/wire.py",
        "app.py",
        "config.py",
        "expiry.py",
        "service/__init__.py",
        "service/base.py",
        "service/keeping.py",
        "service/meaning.py",
        "service/mirrors.py",
        "service/near_duplicates.py",
        "service/retiring.py",
        "service/shape.py",
        "guard/access.py",
        "guard/bounds.py",
        "guard/checks.py",
        "guard/secrets/__init__.py",
        "search/kin.py",
        "search/near_duplicates.py",
        "search/text.py",
        "store/sql.py",
        "store/sqlite.py",
        "store/sqlite_at_hand.py",
        "store/sqlite_faults.py",
        "store/sqlite_file.py",
        "store/sqlite_holders.py",
        "store/sqlite_mirrors.py",
        "store/sqlite_opening.py",
        "store/sqlite_outlines.py",
        "store/sqlite_transaction.py",
        "store/sqlite_reading.py",
        "store/sqlite_writing.py",
        "model.py",
    }
    assert road[0].startswith("interfaces/"), "a road starts at a way in"
