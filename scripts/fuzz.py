"""Fuzz the Markdown parsers: each must parse any text or report why it cannot, in time.

    python scripts/fuzz.py --count 1000000 --jobs 2
    python scripts/fuzz.py --atheris -runs=1000000      guided by coverage, if atheris is installed

A text is assembled from fragments that one of the formats understands, repeated, cut, spliced and damaged. All parsers read
it. None may raise anything but Unreadable, none may take longer than the size allows, and a page must stay unchanged when
nothing in it is changed. A failure is printed with the seed that reproduces it.
"""

import argparse
import multiprocessing
import random
import signal
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from types import FrameType

from omoide.errors import Conflict, Unreadable
from omoide.markdown import frontmatter
from omoide.markdown.file_per_memory import FilePerMemory
from omoide.markdown.format import Format, ProjectFrame
from omoide.markdown.project_tree import ProjectTree, read_description
from omoide.markdown.single_file import SingleFile
from omoide.model import Memory, Scope, State
from omoide.prompt.managed_block import FIRST, LAST, ManagedBlock
from omoide.transfer.claude_code.facts import parse_directory, parse_instructions

AT = datetime(2026, 2, 5, 10, 0, tzinfo=UTC)
ID, OTHER = "019c2d3e-8d7b-7005-9b9f-0bab03f3a2bc", "019c2d3e-8d7b-7801-afda-c943987502d4"
FRAGMENTS = [
    # lists and trees
    "# Memories\n", "## ", "### ", "#### x\n", "##\n", "- Tags: ", "- Date: ", "- Date: 2026-01-26\n", f"- Id: {ID}\n",
    f"- Id: {OTHER}\n", "- Id: x\n", "- Content: ", "- Content:\n", "- 内容: ", "- 例:\n", "- 種類: decision\n", "- X: y\n",
    "- a\n", f"### t <!-- omoide:{ID} -->\n", "<!-- omoide:", " -->\n", "## 最近の活動\n", "## セッション\n", "> quote\n",
    "- [s](MEMORY_s.md)\n", "1. one\n", "  indented\n", "<<<<<<< HEAD\n", "=======\n", ">>>>>>> x\n",
    # front matter
    "---\n", "--- \n", "...\n", "key: value\n", "key: ", "tags: [a, b]\n", "tags:\n  - a\n", "id: ", f"id: {ID}\n", "'", '"',
    "pinned: yes\n", "examples:\n- |\n  x\n", "&a [*a]\n", "*a\n", "!!python/object:x {}\n", "? x\n: y\n", "{a: {", "[[[[",
    "]]", "}}", "|\n", ">\n", "name: x\n", "metadata:\n  type: user\n",
    # fences, marks, comments
    "```\n", "````\n", "```py\n", "~~~\n", "~~~~~\n", "   ```\n", "`", "~", f"{FIRST}\n", f"{LAST}\n", "<!--", "-->",
    "@docs/x.md\n", "[t](x.md) — y\n",
    # white space and other texts
    "  ", "\t", " ", "\n", "\n\n", "\r\n", "\r", "\ufeff", "\0", "\x85", "\u2028", "\u3000", "text", "words of a text\n",
    "日本語の記憶\n", "🏳️‍🌈", "\u202e",
]  # a table: several entries per line  # fmt: skip
QUICK, PER_CHARACTER = 0.5, 0.000_05
"""Seconds of processor time that a parser has for any text, and in addition for each character."""
LONG_EVERY, LONG = 2_000, 100_000
"""How often a very long text is generated, and its maximum length."""
MEMORY = Memory(
    id=OTHER, number=1, scope=Scope.project("shop"), key=None, type="tech", topic="t", topic_given=True,
    content="a\n\n```\nb", tags=("x",), examples=(), source="cli", confidence=1.0, relevance=0.5, reference_count=0,
    pinned=False, state=State.ACTIVE, created_at=AT, updated_at=AT, last_accessed_at=None, expires_at=None, version=1,
)  # fields side by side  # fmt: skip


def page(format: Format, name: str) -> Callable[[str], None]:
    """Return a target that parses a file of a format and writes to it."""

    def run(text: str) -> None:
        entries = format.parse(name, text)
        assert format.rewrite(name, text, {}, (), {}) == text, "a page changed although nothing was changed in it"
        stamps = {located.line: MEMORY for located in entries[:1] if located.entry.id is None}
        changed = format.rewrite(name, text, {} if stamps or name == "a.md" else {OTHER: MEMORY}, {ID}, stamps)
        if changed is not None:
            ids = [located.entry.id for located in format.parse(name, changed)]
            assert ID not in ids, "a dropped entry is still there"
            assert not stamps or OTHER in ids, "a stamped entry has no id"

    return run


def entry_file(text: str) -> None:
    try:
        page(FilePerMemory(), "a.md")(text)
    except Conflict:
        return


def block(text: str) -> None:
    made = ManagedBlock().render(text, [MEMORY])
    assert ManagedBlock().render(made, [MEMORY]) == made, "a block is not stable"
    ManagedBlock().remove(made)


def tree(text: str) -> None:
    frame = ProjectFrame("shop", "what it is", ("s", "t u"))
    framed = ProjectTree("shop").update_frame("shop/MEMORY.md", text, frame)
    assert framed is not None
    assert ProjectTree("shop").update_frame("shop/MEMORY.md", framed, frame) == framed, "a frame is not stable"
    assert read_description(framed) == "what it is"


TARGETS: dict[str, Callable[[str], object]] = {
    "memories.md": page(SingleFile(), "memories.md"),
    "MEMORY.md": page(ProjectTree("shop"), "shop/MEMORY.md"),
    "MEMORY_s.md": page(ProjectTree("shop"), "shop/MEMORY_s.md"),
    "entry file": entry_file,
    "front matter": frontmatter.parse,
    "fields": lambda text: frontmatter.parse(f"---\n{text}\n---\nx"),
    "block": block,
    "tree": tree,
    "CLAUDE.md": lambda text: parse_instructions("CLAUDE.md", text),
    "Claude Code": lambda text: parse_directory({"MEMORY.md": text, "x.md": text}),
}


def generate(seed: int) -> str:
    """Generate the text of a seed."""
    rng = random.Random(seed)
    if seed % LONG_EVERY == 0:
        few = "".join(rng.choices(FRAGMENTS, k=rng.randint(1, 3)))
        lead = "".join(rng.choices(FRAGMENTS, k=rng.randint(0, 3)))
        return lead + few * (LONG // len(few))
    text = "".join(rng.choices(FRAGMENTS, k=rng.randint(0, 25)))
    for _ in range(rng.choice((0, 0, 1, 2, 5))):
        place, other = sorted(rng.randint(0, len(text)) for _ in range(2))
        character = chr(rng.choice((0, 9, 10, 13, 32, 35, 45, 58, 96, 126, 0x85, 0x3042, 0x1F600)))
        edits = (
            text[:place] + text[other:],
            text[:place] + text[place:other] * 3 + text[other:],
            text[:place] + character + text[place:],
            text.replace("\n", "\r\n"),
        )
        text = rng.choice(edits)
    return text


def raise_timeout(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise TimeoutError("the parser takes too long")


def find_failure(text: str) -> str | None:
    """Run all parsers on a text. Return the first failure, or None."""
    allowed = QUICK + len(text) * PER_CHARACTER
    for name, parse in TARGETS.items():
        signal.setitimer(signal.ITIMER_PROF, allowed)
        try:
            parse(text)
        except Unreadable:
            continue
        except Exception as error:  # noqa: BLE001 - any exception is a finding
            return f"{name}: {type(error).__name__}: {error}"
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    return None


def run(seeds: range) -> list[tuple[int, str]]:
    """Return the seeds that fail, each with its failure."""
    signal.signal(signal.SIGPROF, raise_timeout)
    return [(seed, failure) for seed in seeds if (failure := find_failure(generate(seed)))]


def fuzz_by_coverage() -> None:
    import atheris  # lazy: an optional package

    signal.signal(signal.SIGPROF, raise_timeout)

    def test_one_input(data: bytes) -> None:
        failure = find_failure(data.decode(errors="ignore"))
        if failure:
            raise AssertionError(failure)

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        # Sometimes a text of known fragments: random bytes alone would never produce an id or a fence.
        return generate(seed).encode()[:most] if seed % 4 == 1 else atheris.Mutate(data, most)

    atheris.instrument_all()
    arguments = [argument for argument in sys.argv if argument != "--atheris"]
    atheris.Setup(arguments, test_one_input, custom_mutator=mutate)
    atheris.Fuzz()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000, help="number of texts")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first text")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    options = parser.parse_args()
    started = time.monotonic()
    size = min(5_000, -(-options.count // options.jobs))
    last = options.seed + options.count
    parts = [range(start, min(start + size, last)) for start in range(options.seed, last, size)]
    failures = 0
    with multiprocessing.Pool(options.jobs) as pool:
        for found in pool.imap_unordered(run, parts):
            for seed, failure in found:
                print(f"seed {seed}: {failure}\n{generate(seed)!r:.2000}", flush=True)
            failures += len(found)
    taken = time.monotonic() - started
    print(f"{options.count:,} texts, {len(TARGETS)} parsers each, {failures or 'no'} failures, {taken:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(fuzz_by_coverage() if "--atheris" in sys.argv else main())
