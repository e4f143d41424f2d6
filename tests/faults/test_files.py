"""The only writer of Markdown on a real disk: inside its root, whole at every moment, and nobody's text overwritten."""

import os
import re
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from omoide.errors import Changed, InvalidInput, OmoideError, Unreadable, Unwritable
from omoide.files import atomic, late_saves
from omoide.files.atomic import LARGEST, swap
from omoide.files.directory import BACKUPS, Directory

OUT = ["../out.md", "a/../../out.md", "/out.md", "a//b.md", "./a.md", "a/.", "", "a\0.md", ".."]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "root"
    made.mkdir()
    return made


@pytest.fixture
def place(root: Path) -> Directory:
    return Directory(root)


@pytest.fixture
def keeping(root: Path) -> Directory:
    return Directory(root, keep_replaced=True)


def files(root: Path) -> set[str]:
    return {str(file.relative_to(root)) for file in root.rglob("*") if file.is_file()}


def write(place: Directory, name: str, text: str) -> None:
    found = place.read(name)
    place.write(name, text, found[1] if found else None)


# plain reading and writing


@pytest.mark.parametrize("text", ["", "plain\n", "\ufeffmarked\r\nlines\r\n", "no end", "\r\r\n\x85\u2028", "日本語 🏳️‍🌈"])
def test_a_text_is_stored_byte_for_byte(place, root, text):
    seen = place.write("a/b/c.md", text, None)
    assert (root / "a/b/c.md").read_bytes() == text.encode()
    assert place.read("a/b/c.md") == (text, seen)
    assert place.stat("a/b/c.md") == seen
    assert place.names(["a/b"]) == [("a/b/c.md", seen)]
    assert files(root) == {"a/b/c.md"}


def test_a_missing_file_reads_as_none(tmp_path, place, root):
    assert (place.read("a.md"), place.stat("a.md"), place.read("b/a.md"), place.names(["", "b"])) == (None, None, None, [])
    nowhere = Directory(tmp_path / "gone" / "root")
    assert (nowhere.exists(), nowhere.read("a.md"), nowhere.names()) == (False, None, [])
    with pytest.raises(Unwritable, match="gone is gone, create it or choose another place"):
        nowhere.write("a.md", "x", None)
    Directory(tmp_path / "new").write("a.md", "x", None)
    assert (tmp_path / "new/a.md").read_text() == "x"


def test_only_markdown_is_listed_and_nothing_hidden(place, root):
    for name in ("a.md", "b.txt", ".c.md", ".omoide-1.tmp"):
        (root / name).write_text("x")
    (root / "d.md").mkdir()
    assert [name for name, _ in place.names()] == ["a.md"]


def test_modes_stay_as_they_were_and_new_files_follow_the_umask(place, root, tmp_path):
    (root / "a.md").write_text("x")
    (root / "a.md").chmod(0o640)
    before = os.umask(0o027)
    try:
        write(place, "a.md", "y")
        write(place, "b/c.md", "z")
        Directory(tmp_path / "private", private=True).write("d/e.md", "s", None)
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (root / "a.md", root / "b/c.md", root / "b")]
    assert modes == [0o640, 0o640, 0o750]
    private = tmp_path / "private"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (private, private / "d", private / "d/e.md")] == [
        0o700, 0o700, 0o600,
    ]  # several entries per line  # fmt: skip


# inside the root only


@pytest.mark.parametrize("name", OUT)
def test_a_name_that_leaves_the_directory_is_refused(place, root, name):
    seen = place.write("there.md", "x", None)
    attempts: list[Callable[[], object]] = [
        lambda: place.read(name), lambda: place.stat(name), lambda: place.write(name, "x", None),
        lambda: place.remove(name, seen), lambda: place.move("there.md", name, seen), lambda: place.backup(name),
    ]  # several entries per line  # fmt: skip
    for attempt in attempts:
        with pytest.raises(InvalidInput):
            attempt()
    assert files(root.parent) == {"root/there.md"}


def test_symbolic_links_are_neither_followed_nor_replaced(place, root, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    (root / "link").symlink_to(outside)
    (root / "file.md").symlink_to(outside / "secret.md")
    (root / "dangling.md").symlink_to(outside / "new.md")
    seen = place.write("mine.md", "mine", None)
    for attempt in (
        lambda: place.read("link/secret.md"), lambda: place.read("file.md"), lambda: place.names(["link"]),
        lambda: place.write("link/new.md", "x", None), lambda: place.write("dangling.md", "x", None),
        lambda: place.write("file.md", "x", place.stat("file.md")), lambda: place.backup("file.md"),
        lambda: place.move("mine.md", "link/new.md", seen), lambda: place.remove("link/secret.md", seen),
    ):  # several entries per line  # fmt: skip
        with pytest.raises((Unreadable, Unwritable), match="symbolic link"):
            attempt()
    assert {name: (outside / name).read_text() for name in files(outside)} == {"secret.md": "secret"}
    assert (root / "mine.md").read_text() == "mine"
    assert {name for name, _ in place.names()} == {"mine.md", "file.md", "dangling.md"}


def test_a_directory_swapped_for_a_link_during_writes_is_not_followed(place, root, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / "sub").mkdir()
    (root / "link").symlink_to(outside)
    over = threading.Event()

    def attack() -> None:
        directory = os.open(root, os.O_RDONLY)
        while not over.is_set():
            swap(directory, "sub", "link")
        os.close(directory)

    attacker = threading.Thread(target=attack)
    attacker.start()
    refused = 0
    written: set[str] = set()
    ends = time.monotonic() + 120
    # As long as it takes until both have been met: the directory, and the link in its place.
    while time.monotonic() < ends and (refused + len(written) < 400 or not (refused and written)):
        name = f"{refused + len(written)}.md"
        try:
            place.write(f"sub/{name}", "x", None)
        except (Unwritable, Unreadable):
            refused += 1
        else:
            written.add(name)
    over.set()
    attacker.join()
    assert files(outside) == set()
    assert refused
    assert set() < written <= {Path(file).name for file in files(root)}


def test_the_link_of_a_worktree_is_followed_and_stays_a_link(root, tmp_path):
    (root / "memories.md").write_text("one")
    link = tmp_path / "worktree.md"
    link.symlink_to(root / "memories.md")
    place, name = Directory.containing(link)
    write(place, name, "two")
    assert link.is_symlink()
    assert (root / "memories.md").read_text() == link.read_text() == "two"


# nobody's text is overwritten


def saved_in_place(file: Path, text: str) -> None:
    file.write_text(text)


def saved_by_rename(file: Path, text: str) -> None:
    aside = file.with_suffix(".swp")
    aside.write_text(text)
    aside.rename(file)


@pytest.mark.parametrize("save", [saved_in_place, saved_by_rename])
def test_a_file_that_changed_since_it_was_read_is_left_alone(place, root, save):
    file = root / "a.md"
    seen = place.write("a.md", "ours", None)
    save(file, "hers")
    for attempt in (
        lambda: place.write("a.md", "new", seen), lambda: place.write("a.md", "new", None),
        lambda: place.remove("a.md", seen), lambda: place.move("a.md", "b.md", seen),
    ):  # several entries per line  # fmt: skip
        with pytest.raises(Changed, match=r"a\.md is no longer what was read"):
            attempt()
    assert file.read_text() == "hers"
    file.unlink()
    for attempt in (lambda: place.write("a.md", "new", seen), lambda: place.remove("a.md", seen)):
        with pytest.raises(Changed):
            attempt()
    assert files(root) == set()


def test_a_save_with_the_same_stat_is_noticed_by_its_bytes(place, root):
    file = root / "a.md"
    seen = place.write("a.md", "ours", None)
    for attempt in (
        lambda: place.write("a.md", "new", seen),
        lambda: place.remove("a.md", seen),
        lambda: place.move("a.md", "b.md", seen),
    ):
        file.write_text("hers")  # of the same size, in the same file …
        os.utime(file, ns=(seen.mtime_ns, seen.mtime_ns))  # … and, as far as a coarse clock can tell, at the same time
        assert place.stat("a.md") == seen
        with pytest.raises(Changed):
            attempt()
        assert files(root) == {"a.md"}
        assert file.read_text() == "hers"


@pytest.mark.parametrize("save", [saved_in_place, saved_by_rename])
def test_every_save_of_an_editor_is_read_before_or_after_the_file_is_replaced(keeping, root, save):
    """The editor waits until its text was read; if it were overwritten unseen, it would wait for ever."""
    place = keeping
    saves = 300
    read = [threading.Event() for _ in range(saves)]
    lost: list[int] = []
    over = threading.Event()

    def edit() -> None:
        for number in range(saves):
            save(root / "a.md", f"editor {number}")
            if not read[number].wait(20):
                lost.append(number)
                break
        over.set()

    editor = threading.Thread(target=edit)
    editor.start()
    written = 0
    while not over.is_set():
        text, seen = place.read("a.md") or ("", None)
        late = [place.replaced.read(file) for file in place.replaced.late_saves()]
        for saved in (text, *late):
            if re.fullmatch(r"editor \d+", saved):
                read[int(saved.split()[1])].set()
        if seen and not text:  # it is being saved
            continue
        try:
            place.write("a.md", f"ours {written}", seen)
        except Changed:
            continue
        written += 1
    editor.join()
    assert lost == []
    assert written > 0
    assert {name for name in files(root) if not name.startswith(f"{BACKUPS}/")} == {"a.md"}


def test_a_move_never_overwrites(place, root):
    one, _ = place.write("a.md", "a", None), place.write("archive/a.md", "b", None)
    with pytest.raises(Changed, match=r"archive/a\.md is no longer"):
        place.move("a.md", "archive/a.md", one)
    assert {name: (root / name).read_text() for name in files(root)} == {"a.md": "a", "archive/a.md": "b"}
    place.move("a.md", "archive/c.md", one)
    place.remove("archive/c.md", one)
    assert files(root) == {"archive/a.md"}


# processes


def start_together(children: list) -> None:
    for process in children:
        assert process.stdout.readline() == "ready\n"
    for process in children:
        process.stdin.write("\n")
        process.stdin.flush()


def test_four_processes_that_append_to_one_file_lose_no_line(root, child):
    children = [child("append_lines", root, f"child{number}", 25) for number in range(4)]
    start_together(children)
    for process in children:
        _, errors = process.communicate()
        assert (errors, process.returncode) == ("", 0)
    lines = (root / "shared.md").read_text().splitlines()
    assert sorted(lines) == sorted(f"child{number} {n}" for number in range(4) for n in range(25))
    assert files(root) == {"shared.md"}


def test_threads_sharing_a_directory_take_turns(place, root):
    def append(name: str) -> None:
        for n in range(20):
            with place.lock(), place.lock():  # may be nested
                found = place.read("a.md")
                place.write("a.md", (found[0] if found else "") + f"{name} {n}\n", found[1] if found else None)

    threads = [threading.Thread(target=append, args=(f"thread{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len((root / "a.md").read_text().splitlines()) == 80


def test_a_killed_writer_leaves_a_whole_file_and_no_lock(root, place, child, long):
    (root / "a.md").write_text("begin\nend\n")
    for round in range(100 if long else 8):
        process = child("rewrite_for_ever", root)
        for _ in range(round % 4 + 1):
            process.stdout.readline()
        process.kill()
        process.communicate()
        text, seen = place.read("a.md")
        assert text.startswith("begin")
        assert text.endswith("end\n")
        place.write("a.md", text, seen)


@pytest.mark.parametrize(
    ("event", "time", "standing", "remains"),
    [
        ("os.link", 1, {"a.md": "before"}, "new"),
        ("os.remove", 1, {"a.md": "before", "b.md": "new"}, "new"),
        ("os.remove", 2, {"a.md": "after", "b.md": "new"}, "before"),
    ],
)
def test_leftovers_of_a_killed_writer_are_kept_for_a_while(root, child, event, time, standing, remains):
    (root / "a.md").write_text("before")
    assert child("die_at", root, event, time).wait() == -9
    (left,) = files(root) - set(standing)
    assert {name: (root / name).read_text() for name in files(root)} == {**standing, left: remains}
    write(Directory(root), "a.md", "again")
    assert (root / left).exists()  # it may be somebody's who is still writing
    os.utime(root / left, (0, 0))
    write(Directory(root), "a.md", "once more")
    assert files(root) - set(standing) == {f"{BACKUPS}/.gitignore", f"{BACKUPS}/left.1"}
    assert (root / BACKUPS / "left.1").read_text() == remains


def test_a_held_lock_is_waited_for_and_then_reported(root, child):
    holder = child("hold_lock", root)
    assert holder.stdout.readline() == "ready\n"
    hasty = Directory(root, wait=0)
    with pytest.raises(Unwritable, match="another process has been writing for 0 s: try again"):
        hasty.write("a.md", "x", None)
    assert hasty.read("a.md") is None  # reading waits for nobody
    waiting = threading.Thread(target=Directory(root).write, args=("a.md", "x", None))
    waiting.start()
    holder.stdin.write("\n")
    holder.stdin.flush()
    waiting.join()
    assert (root / "a.md").read_text() == "x"


# what a disk refuses


def test_a_full_disk_changes_no_file(root, child):
    (root / "a.md").write_text("before")
    output, errors = child("write_more_than_fits", root).communicate()
    assert errors == ""
    assert [line.split(" cannot")[0] for line in output.splitlines()] == [f"Unwritable {root}/{name}.md" for name in "ab"]
    assert output.count("the disk is full, make room and try again") == 2
    assert {name: (root / name).read_text() for name in files(root)} == {"a.md": "before"}


def test_a_read_only_directory_is_reported(public_path, without_rights):
    root = public_path / "root"
    root.mkdir()
    (root / "a.md").write_text("x")
    (root / "closed.md").write_text("x")
    (root / "closed.md").chmod(0)
    root.chmod(0o555)

    def attempts() -> list[str]:
        place = Directory(root)
        text, seen = place.read("a.md")
        messages = [text]
        for attempt in (
            lambda: place.write("a.md", "y", seen),
            lambda: place.read("closed.md"),
            lambda: place.backup("a.md"),
        ):
            try:
                attempt()
            except OmoideError as error:
                messages.append(f"{type(error).__name__} {error}")
        return messages

    text, *messages = without_rights(attempts)
    assert text == "x"
    assert [line.partition(" ")[0] for line in messages] == ["Unwritable", "Unreadable", "Unwritable"]
    assert all("permission denied, check the permissions" in line for line in messages)


def test_a_read_only_file_is_left_as_it_is(place, root):
    seen = place.write("a.md", "x", None)
    (root / "a.md").chmod(0o444)
    with pytest.raises(Unwritable, match="is read-only and was left as it is: `chmod u\\+w`"):
        place.write("a.md", "y", seen)
    assert (root / "a.md").read_text() == "x"


@pytest.mark.parametrize(
    ("data", "says"),
    [(b"one\ntwo \xff three", r"not UTF-8 \(line 2, byte 8\): save it as UTF-8"), ("x".encode("utf-16"), "is UTF-16: save")],
)
def test_text_that_is_not_utf_8_is_refused_with_its_line(place, root, data, says):
    (root / "a.md").write_bytes(data)
    with pytest.raises(Unreadable, match=says):
        place.read("a.md")
    assert (root / "a.md").read_bytes() == data


def test_special_and_oversized_files_are_refused(place, root):
    os.mkfifo(root / "pipe.md")
    (root / "huge.md").touch()
    os.truncate(root / "huge.md", LARGEST + 1)
    (root / "dir.md").mkdir()
    with pytest.raises(Unreadable, match="not an ordinary file"):
        place.read("pipe.md")
    with pytest.raises(Unreadable, match="100,000,001 bytes, at most 100,000,000: split it"):
        place.read("huge.md")
    with pytest.raises(Unreadable):
        place.read("dir.md")
    with pytest.raises(Unwritable, match="not a file"):
        place.write("pipe.md", "x", place.stat("pipe.md"))


# backups


def test_the_newest_backups_are_kept_and_git_does_not_see_them(root):
    place = Directory(root, backups=3)
    made = []
    for number in range(6):
        write(place, "archive/a.md", f"text {number}")
        made.append(place.backup("archive/a.md"))
    assert made == [f"{BACKUPS}/archive/a.md.{number}" for number in range(1, 7)]
    assert files(root) == {"archive/a.md", f"{BACKUPS}/.gitignore", *made[-3:]}
    assert [(root / name).read_text() for name in made[-3:]] == ["text 3", "text 4", "text 5"]
    assert (root / BACKUPS / ".gitignore").read_text() == "*\n"
    assert place.backup("none.md") is None
    assert Directory(root, backups=0).backup("archive/a.md") is None
    assert place.names(["", "archive"]) == [("archive/a.md", place.stat("archive/a.md"))]


# replaced files


def replaced_files(root: Path) -> list[Path]:
    return sorted((root / BACKUPS / "replaced").glob("*"))


@pytest.mark.parametrize("exchange", [True, False])
@pytest.mark.parametrize("name", ["a.md", "sub/100%/a.md"])
def test_what_is_written_to_a_replaced_or_removed_file_is_found(root, keeping, monkeypatch, exchange, name):
    if not exchange:
        monkeypatch.setattr(atomic, "swap", fail_to_swap)
    write(keeping, name, "old")
    with (root / name).open("r+") as first:
        write(keeping, name, "new")
        with (root / name).open("r+") as second:
            keeping.remove(name, keeping.stat(name))
            assert keeping.replaced.late_saves() == []
            second.write("saved second")
        first.write("saved first")
    late = keeping.replaced.late_saves()
    assert [(file.name, keeping.replaced.read(file)) for file in late] == [(name, "saved first"), (name, "saved second")]
    assert [keeping.back_up_replaced(file) for file in late] == [f"{BACKUPS}/{name}.1", f"{BACKUPS}/{name}.2"]
    assert (root / BACKUPS / f"{name}.2").read_text() == "saved second"
    assert replaced_files(root) == []
    assert keeping.replaced.late_saves() == []


def fail_to_swap(*_: object) -> None:
    raise NotImplementedError


def test_replaced_files_that_nobody_writes_to_are_deleted_after_a_while(root, keeping, monkeypatch):
    write(keeping, "a.md", "old")
    write(keeping, "a.md", "new")
    keeping.replaced.late_saves()
    assert [file.read_text() for file in replaced_files(root)] == ["old"]
    monkeypatch.setattr(late_saves, "KEEP_SECONDS", 0)
    keeping.replaced.late_saves()
    assert replaced_files(root) == []


def test_of_many_files_replaced_at_once_an_editor_may_still_have_any_open(root, keeping, monkeypatch):
    monkeypatch.setattr(late_saves, "_MOST_FILES", 10)
    monkeypatch.setattr(late_saves, "_GRACE_SECONDS", 3600)
    for number in range(100):
        write(keeping, "a.md", f"text {number}")
    keeping.replaced.late_saves()
    assert len(replaced_files(root)) == 99


def test_only_the_newest_replaced_files_are_kept(root, keeping, monkeypatch):
    monkeypatch.setattr(late_saves, "_MOST_FILES", 10)
    monkeypatch.setattr(late_saves, "_GRACE_SECONDS", 0)
    for number in range(100):
        write(keeping, "a.md", f"text {number}")
    assert len(replaced_files(root)) <= 10 + 17
    keeping.replaced.late_saves()
    assert {file.read_text() for file in replaced_files(root)} == {f"text {number}" for number in range(89, 99)}
    monkeypatch.setattr(late_saves, "_MOST_BYTES", 1)
    keeping.replaced.late_saves()
    assert {file.read_text() for file in replaced_files(root)} == {f"text {number}" for number in range(95, 99)}


@pytest.mark.parametrize("obstacle", ["file", "link"])
def test_a_file_is_replaced_where_the_old_one_cannot_be_kept(root, keeping, tmp_path, obstacle):
    if obstacle == "file":
        (root / BACKUPS).write_text("mine")
    else:
        (root / BACKUPS).symlink_to(tmp_path)
    write(keeping, "a.md", "old")
    write(keeping, "a.md", "new")
    assert keeping.replaced.late_saves() == []
    assert {path.name for path in root.iterdir()} == {"a.md", BACKUPS}
    keeping.remove("a.md", keeping.stat("a.md"))
    assert {path.name for path in root.iterdir()} == {BACKUPS}
    assert not (tmp_path / "replaced").exists()
