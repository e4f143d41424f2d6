"""Anything may happen on both sides, in any order: no text is lost, both sides agree in the end, and then all is still."""

import itertools
import re
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

import omoide
from omoide import Scope, State, app
from omoide.model import Mirror, derive_topic
from omoide.sync.file_edits import FileEdits

SHOP = Scope.project("shop")
HEADINGS = {"memories": "## ", "tree": "### "}
MEANWHILE = ("edit", "add", "retype", "delete", "stale", "own words", "touch", "vanish")
LABELS = {"memories": "- Content: ", "tree": "- 内容: "}

actions = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "remember",
                "revise",
                "retag",
                "archive",
                "restore",
                "forget",
                "pin",
                "unpin",
                "look",
                "die",
                "edit",
                "retype",
                "add",
                "delete",
                "stale",
                "touch",
                "vanish",
                "own words",
                "meanwhile",
            ]
        ),
        st.integers(0, 9),
    ),
    max_size=25,
)


class World:
    """A memory, its mirrored files, and an agent and a person who write to them."""

    def __init__(self, directory: Path, kind: str, choice: str) -> None:
        self.place = directory / "files"
        self.place.mkdir()
        self.kind = kind
        self.memory = omoide.open(directory / "memory.db")
        self.memory.mirror(self.place / "memories.md" if kind == "memories" else self.place, kind, scope=SHOP, choice=choice)
        self.texts = (f"text number {n}." for n in itertools.count())
        self.written: list[str] = []
        self.older: dict[Path, str] = {}
        self.silent = False
        self.waiting: list[tuple[str, int]] = []
        """What the person does as soon as a sync has imported something, and is about to write the files."""
        self.is_writing = False

    # the agent

    def numbers(self) -> list[int]:
        with self.memory._store.read() as tx:
            return [one.number for one in tx.everything() if one.state is not State.FORGOTTEN]

    def change(self, which: int, **fields: object) -> None:
        numbers = self.numbers()
        if numbers:
            with self.memory._store.write() as tx:
                old = tx.memory(numbers[which % len(numbers)])
                new = msgspec.structs.replace(old, **fields)
                if not new.topic_given:
                    new = msgspec.structs.replace(new, topic=derive_topic(new.content))
                if new != old:
                    self.memory._writes.within(tx, self.memory._clock()).change(old, new, "revised")
            self.follow()

    def follow(self) -> None:
        """The files are written, unless the process has just died."""
        if not self.silent:
            self.memory.hooks.after_commit([])
        self.silent = False

    def fresh(self) -> str:
        self.written.append(next(self.texts))
        return self.written[-1]

    # the person

    @contextmanager
    def interrupting(self) -> Iterator[None]:
        """Let the person save files while a sync is under way."""
        write = FileEdits.write

        def writing(edits: FileEdits, *arguments: object, **options: object) -> None:
            self.is_writing = True
            if self.waiting:
                self.by_hand(*self.waiting.pop(0))
            self.is_writing = False
            write(edits, *arguments, **options)  # type: ignore[arg-type]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(FileEdits, "write", writing)
            yield

    def look(self) -> None:
        """Import what is in the files, also what is saved while that is done. A sync that is about to write has done it."""
        waiting = None
        while not self.is_writing and waiting != self.waiting:
            waiting = list(self.waiting)
            self.memory.list(scope=SHOP)

    def files(self) -> list[Path]:
        return sorted(path for path in self.place.rglob("*.md") if ".omoide" not in str(path))

    def save(self, which: int, change: object) -> None:
        files = self.files()
        if files:
            file = files[which % len(files)]
            text = file.read_text(encoding="utf-8")
            self.older[file] = text
            file.write_text(change(text), encoding="utf-8")  # type: ignore[operator]

    def entry(self, text: str) -> str:
        if self.kind == "entries":
            return f"{text}\n"
        return f"\n{HEADINGS[self.kind]}{text[:20]}\n{LABELS[self.kind]}{text}\n"

    def retype(self, line: re.Match[str]) -> str:
        """Another text for a line; of a title none that must be found again: that of a forgotten memory says nothing new."""
        return f"{line[1]}title {len(self.written)}" if line[1].startswith("#") else f"{line[1]}{self.fresh()}"

    def do(self, action: str, n: int) -> None:
        if action == "remember":
            self.memory.remember(self.fresh(), scope=SHOP, topic=f"topic {n}" if n % 2 else None)
        elif action == "revise":
            if self.numbers():
                self.change(n, content=self.fresh())
        elif action in ("archive", "restore", "forget"):
            state = {"archive": State.ARCHIVED, "restore": State.ACTIVE, "forget": State.FORGOTTEN}[action]
            self.change(n, state=state)
        elif action in ("pin", "unpin"):
            self.change(n, pinned=action == "pin")
        elif action == "retag":
            self.change(n, tags=(f"tag{n}",))
        elif action == "look":
            self.memory.list(scope=SHOP)
        elif action == "die":
            self.silent = True
        elif action == "meanwhile":
            self.waiting.append((MEANWHILE[n % len(MEANWHILE)], n))
        else:
            self.by_hand(action, n)

    def by_hand(self, action: str, n: int) -> None:
        if action == "touch":
            self.save(n, lambda text: text)
        elif action == "add":
            if self.kind == "entries":
                (self.place / f"typed-{n}-{len(self.written)}.md").write_text(self.entry(self.fresh()), encoding="utf-8")
            else:
                self.save(n, lambda text: text + self.entry(self.fresh()))
        elif action == "edit":
            # Never a text of their own that has not come in yet: that would be lost by their own hand.
            self.look()
            self.save(n, lambda text: re.sub(r"(?m)^(.*)text number \d+\.$", self.retype, text, count=1))
        elif action == "retype":
            self.save(n, lambda text: re.sub(r"(?m)^- Tags:.*", f"- Tags: pattern, t{n}", text, count=1))
        elif action == "own words" and self.kind != "entries":
            self.save(n, lambda text: f"Words of my own, {n}.\n\n" + text)
        elif action == "vanish":
            self.look()
            files = self.files()
            if files:
                files[n % len(files)].unlink()
        elif action == "stale":
            self.look()
            for file, text in self.older.items():
                file.parent.mkdir(exist_ok=True)
                file.write_text(text, encoding="utf-8")
        elif action == "delete" and self.kind != "entries":
            self.look()
            mark = HEADINGS[self.kind]
            self.save(n, lambda text: re.sub(rf"(?m)^{mark}.*\n(?:(?!#).*\n)*", "", text, count=1))

    # in the end

    def all_texts(self) -> str:
        found = [path.read_text(encoding="utf-8") for path in self.place.rglob("*") if path.is_file()]
        with self.memory._store.read() as tx:
            for one in tx.everything():
                found += [f"{version.memory.topic}\n{version.memory.content}" for version in tx.versions(one.number)]
        return "\n".join(found)

    def settle(self, mirror: Mirror) -> None:
        """The person decides about what a sync leaves alone: it is put back, and what is not active taken out."""
        engine = app.sync_engine(self.memory)
        for trouble in engine.sync(mirror, whole=True).troubles:
            if twice := re.match(r"(.*), line (\d+): .* has an entry with the same id", trouble):
                self.delete_entry(Path(twice[1]), int(twice[2]))
        held = engine.held_states(mirror)
        missing = {memory.number for memory, state in held if not state.is_in_file}
        engine.sync(mirror, put_back=missing, take_out={memory.number for memory, _ in held} - missing, whole=True)
        assert engine.held_states(mirror) == []

    def delete_entry(self, file: Path, line: int) -> None:
        """Delete an entry that an old buffer brought back, after its memory had moved to another file."""
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        end = next((n for n in range(line, len(lines)) if lines[n].startswith("#")), len(lines))
        file.write_text("".join(lines[: line - 1] + lines[end:]), encoding="utf-8")

    def shown_texts(self) -> list[str]:
        text = "\n".join(path.read_text(encoding="utf-8") for path in self.files() if "archive" not in path.parts)
        return sorted(re.findall(r"^(?:- Content: |- 内容: )?(text number \d+\.)$", text, re.MULTILINE))


@pytest.mark.parametrize("choice", ["all", "own"])
@pytest.mark.parametrize("kind", ["memories", "entries", "tree"])
def test_whatever_happens_no_text_is_lost_and_both_sides_agree(kind, choice, long):
    @settings(max_examples=400 if long else 12)
    @given(actions)
    def run(actions):
        with tempfile.TemporaryDirectory() as directory, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            world = World(Path(directory), kind, choice)
            with world.interrupting():
                for action, n in actions:
                    world.do(action, n)
            mirror = world.memory.mirrors()[0]
            world.settle(mirror)
            left = world.all_texts()
            assert [text for text in world.written if text not in left] == []
            page = world.memory.list(scope=SHOP, limit=1000)
            if choice == "all":
                assert world.shown_texts() == sorted(one.content for one in page.memories)
            else:
                assert set(world.shown_texts()) <= {one.content for one in page.memories}
            before = {path: path.read_bytes() for path in world.files()}
            report = app.sync_engine(world.memory).sync(mirror, whole=True)
            assert (report.imported, report.written, report.conflicts) == (0, 0, 0)
            assert {path: path.read_bytes() for path in world.files()} == before
            assert world.memory.list(scope=SHOP, limit=1000).memories == page.memories
            world.memory.close()

    run()
