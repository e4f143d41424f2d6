"""A server on a full disk: writes answer 507, reads go on."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from journey.http.conftest import needs_server, servers

pytestmark = needs_server


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 4 MB."""
    place = tmp_path / "small"
    place.mkdir()
    mount, umount = shutil.which("mount"), shutil.which("umount")
    command = [mount or "", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)]
    if mount is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("needs the right to mount a file system")
    yield place
    subprocess.run([umount or "", "-l", str(place)], check=True)


def test_a_full_disk_turns_writes_into_507_and_reads_go_on(small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with servers(small_disk, monkeypatch) as start:
        server = start("serve")
        project = server.request("POST", "/api/projects", {"path": "shop"}).headers["Location"] + "/memories"
        kept = server.request("POST", project, {"content": "kept before", "tags": ["zebra"]}).data
        assert server.request("GET", "/health/ready").status == 200
        fill(small_disk / "filler")

        def post() -> Any:
            return server.request("POST", project, {"content": "more and more " * 20_000})

        full = post()
        assert (full.status, full.headers["Content-Type"]) == (507, "application/problem+json")
        assert "make room" in full.data["detail"]
        assert server.request("GET", "/health/ready").status == 507
        assert server.request("GET", "/health/live").status == 200
        assert server.request("GET", f"{project}/{kept['id']}").data["content"] == "kept before"
        assert [each["id"] for each in server.request("GET", f"{project}?tags=zebra").data["memories"]] == [kept["id"]]
        (small_disk / "filler").unlink()
        assert server.request("GET", "/health/ready").status == 200
        assert post().status == 201


def fill(file: Path) -> None:
    """Take all space that is left."""
    with file.open("wb", buffering=0) as stream:
        size = 65_536
        while size:
            try:
                stream.write(b"x" * size)
            except OSError:
                size //= 2
