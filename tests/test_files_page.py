"""The examples of docs/files.md are what the formats write, to the byte."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from omoide.files.atomic import LARGEST as LARGEST_FILE
from omoide.files.directory import BACKUPS
from omoide.markdown.file_per_memory import FilePerMemory
from omoide.markdown.format import ProjectFrame
from omoide.markdown.pages import render_document
from omoide.markdown.project_tree import ProjectTree
from omoide.markdown.single_file import SingleFile
from omoide.model import Memory, Scope, State, derive_topic
from omoide.prompt.managed_block import LARGEST, LAST, ManagedBlock

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "files.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"^<!-- example: (\S+) -->\n```markdown\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
DEPLOY = "Two steps, in this order:\n\n```sh\n## build, then ship\nmake build && make ship\n```"


def memory(content: str, id: str = "", day: str = "2026-02-05", **fields: object) -> Memory:
    at = datetime.fromisoformat(f"{day}T10:00:00+00:00").astimezone(UTC)
    made = {
        "id": id, "number": 1, "scope": Scope.project("shop"), "key": None, "type": "note", "topic": derive_topic(content),
        "topic_given": "topic" in fields, "content": content, "tags": (), "examples": (), "source": "file",
        "confidence": 1.0, "relevance": 0.5, "reference_count": 0, "pinned": False, "state": State.ACTIVE,
        "created_at": at, "updated_at": at, "last_accessed_at": None, "expires_at": None, "version": 1,
    }  # several entries per line  # fmt: skip
    return Memory(**{**made, **fields})


def memories_md() -> str:
    pattern = memory("Always use try-catch", "019bfb9a-3c00-7a3e-8f21-5b0c9d7e6f10", "2026-01-26", type="pattern",
                     tags=("error-handling",))  # several entries per line  # fmt: skip
    deploy = memory(DEPLOY, "019c2d3e-8d7b-7801-afda-c943987502d4", topic="How to deploy", tags=("ops",))
    return SingleFile().render_list([pattern, deploy])


def entry_file() -> str:
    one = memory(
        "## API の方針\n\n- リソース指向\n- バージョンは URL に(/api/v1/…)", "019c2d3e-8d7b-7005-9b9f-0bab03f3a2bc",
        key="api-design", type="decision", tags=("architecture", "api"),
    )  # several entries per line  # fmt: skip
    return FilePerMemory().rewrite("api-design.md", None, {one.id: one}, (), {}) or ""


def tree() -> str:
    one = memory(
        "有効期限は 30 分",
        "019c2d3e-8d7b-7fd7-97a7-dab38bd3c250",
        tags=("api", "auth"),
        source="slack",
        examples=('curl -H "Authorization: Bearer …"',),
    )
    text = ProjectTree("shop").update_frame(
        "shop/MEMORY.md", None, ProjectFrame("shop", "通販サイトのバックエンド", ("2026-02-05",))
    )
    return ProjectTree("shop").rewrite("shop/MEMORY.md", text, {one.id: one}, (), {}) or ""


def block() -> str:
    deploy = memory("Two steps, in this order:\n\nmake build, then make ship", "b", topic="How to deploy")
    return ManagedBlock().render("# My rules\n\nBe kind.\n", [memory("有効期限は 30 分", "a", type="decision"), deploy])


def tech() -> str:
    one = memory(
        "`tokio` を使う。",
        topic="Rustの非同期プログラミング",
        tags=("rust", "async"),
        reference_count=15,
        confidence=0.95,
        examples=("#[tokio::main]",),
    )
    return render_document("tech", [one]).replace("```", "~~~")  # so that it can stand in a fence of the page


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("memories.md", memories_md),
        ("api-design.md", entry_file),
        ("shop/MEMORY.md", tree),
        ("CLAUDE.md", block),
        ("tech.md", tech),
    ],
)
def test_an_example_of_the_page_equals_the_written_file(name, write):
    assert EXAMPLES[name] == write()


def test_numbers_and_names_on_the_page_are_true():
    for told in (f"{LARGEST:,} characters", f"up to {LARGEST_FILE // 1_000_000} MB", f"`{BACKUPS}/`", LAST):
        assert told in PAGE
