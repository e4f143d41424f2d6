"""Composing a prompt: the seeds' format to the byte, the same everywhere, and clear errors."""

import subprocess
import tomllib
from datetime import timedelta
from pathlib import Path

import pytest

import omoide
from omoide import InvalidInput, Scope, SecretFound, Task

GOLDEN = Path(__file__).parent / "golden"
SHOP = Scope.project("shop")
ENGLISH = (
    ("This project uses pnpm and Turborepo", "pattern", ["build"], 1.0),
    (
        "Run all tests after a change in src/core/:\npnpm test\n## Constraints\n- [pattern] not a memory of its own",
        "warning",
        ["src/core/**", "testing"],
        0.9,
    ),
    ("Task#12 failed because nobody looked at .eslintrc.js", "learning", ["eslint"], 0.8),
)
JAPANESE = (
    ("このプロジェクトではpnpm + Turborepoを使用", "pattern", ["build", "package-manager"], 1.0),
    ("src/core/配下の変更は全テスト実行が必須", "warning", ["src/core/**", "testing"], 0.9),
    ("前回Task#12でESLint設定変更時、.eslintrc.jsの確認漏れで失敗", "learning", ["eslint"], 0.8),
)


def fill(store, memories):
    with omoide.open(store) as memory:
        for content, type, tags, relevance in memories:
            memory.remember(content, type=type, tags=tags, relevance=relevance, scope=SHOP)


@pytest.mark.parametrize(("memories", "task", "expected"), [
    (ENGLISH, "task.en.toml", "prompt.en.md"),
    (JAPANESE, "task.ja.json", "prompt.ja.md"),
])  # several entries per line  # fmt: skip
def test_a_prompt_is_that_of_the_seed_to_the_byte(place, run, memories, task, expected):
    fill(place / "memory.db", memories)
    done = run("compose", "--task", str(GOLDEN / task))
    assert (done.code, done.err) == (0, "")
    assert done.out == (GOLDEN / expected).read_text(encoding="utf-8")


def test_the_same_memories_give_the_same_bytes_in_every_environment_and_order(place, omoide):
    equal = [(f"{text} {number}", "note", [], 0.5) for number in range(3) for text in ("あ", "b", "Ü", "c")]
    fill(place / "one.db", [*JAPANESE, *equal])
    fill(place / "two.db", [*equal[::-1], *JAPANESE[::-1]])
    environments = (
        {"LC_ALL": "C", "PYTHONHASHSEED": "1", "OMOIDE_STORE": str(place / "one.db")},
        {"LC_ALL": "ja_JP.UTF-8", "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "2", "OMOIDE_STORE": str(place / "one.db")},
        {"LC_ALL": "C.UTF-8", "TZ": "America/New_York", "PYTHONHASHSEED": "3", "OMOIDE_STORE": str(place / "two.db")},
    )
    prompts = {omoide("compose", "--task", str(GOLDEN / "task.ja.json"), **each).out for each in environments}
    assert len(prompts) == 1
    assert prompts.pop().count("- [note]") == 7


def test_flags_say_what_a_file_would(place, run):
    fill(place / "memory.db", ENGLISH)
    task = tomllib.loads((GOLDEN / "task.en.toml").read_text(encoding="utf-8"))
    flags = [f"--{name}={value}" for name, value in task.pop("task").items()]
    for name, value in task.items():
        option = "--" + name.replace("_", "-").replace("constraints", "constraint")
        flags += [f"{option}={each}" for each in (value if isinstance(value, list) else [value])]
    assert run("compose", *flags).out == (GOLDEN / "prompt.en.md").read_text(encoding="utf-8")


def test_python_and_the_command_line_give_the_same_text(place, run):
    fill(place / "memory.db", JAPANESE)
    with omoide.open(place / "memory.db") as memory:
        composed = memory.compose(Task(title="直す", write_scope=("src/core",)), scope=SHOP)
    assert composed.text == run("compose", "--title", "直す", "--write-scope", "src/core").out
    assert [one.rule for one in composed.receipt.memories] == ["scope", "relevance", "relevance"]


def test_only_current_memories_that_the_project_sees_are_chosen(memory, clock):
    kept = memory.remember("project", scope=SHOP).memory
    memory.remember("everywhere", scope=Scope.everywhere())
    memory.remember("of another project", scope=Scope.project("bank"))
    memory.remember("expired", scope=SHOP, expires_at=clock.now + timedelta(days=1))
    for verb in (memory.archive, memory.forget, lambda number, scope: memory.revise(number, scope=scope, active=False)):
        verb(memory.remember(f"gone by {verb}", scope=SHOP).memory.number, scope=SHOP)
    assert "expired" in memory.compose(Task(), scope=SHOP).text
    clock.step(86_400)
    composed = memory.compose(Task(), scope=SHOP)
    assert composed.text == "## Memories\n- [note] everywhere\n- [note] project\n"
    assert kept.number in [one.number for one in composed.receipt.memories]
    assert composed.receipt.left_out_count == 0


def test_at_most_ten_memories_by_relevance_and_the_rest_is_counted(memory):
    for number in range(15):
        memory.remember(f"note {number:02}", relevance=number / 20, scope=SHOP)
    receipt = memory.compose(Task(), scope=SHOP).receipt
    assert [one.relevance for one in receipt.memories] == [number / 20 for number in range(14, 4, -1)]
    assert receipt.left_out_count == 5
    assert {one.rule for one in receipt.left_out} == {"limit"}
    assert len(memory.compose(Task(), scope=SHOP, limit=3).receipt.memories) == 3
    assert memory.compose(Task(title="x"), scope=SHOP, limit=0).text == "## Task\nTitle: x\n"


def test_what_does_not_fit_the_budget_makes_room_for_shorter_ones(memory):
    memory.remember("long " * 100, relevance=0.9, scope=SHOP)
    memory.remember("short", relevance=0.1, scope=SHOP)
    composed = memory.compose(Task(title="x"), scope=SHOP, budget_bytes=100)
    assert composed.text == "## Task\nTitle: x\n\n## Memories\n- [note] short\n"
    assert [(one.rule, one.excess > 0) for one in composed.receipt.left_out] == [("budget", True)]
    assert "short" not in memory.compose(Task(title="x"), scope=SHOP, budget_bytes=len(composed.text.encode()) - 1).text
    assert "short" in memory.compose(Task(title="x"), scope=SHOP, budget_bytes=len(composed.text.encode())).text
    tokens = composed.receipt.tokens
    assert "short" in memory.compose(Task(title="x"), scope=SHOP, budget_tokens=tokens + 2).text
    assert "short" not in memory.compose(Task(title="x"), scope=SHOP, budget_tokens=tokens - 2).text


def test_a_budget_below_the_fixed_sections_says_how_much_they_need(run):
    done = run("compose", "--title", "あ", "--budget", "10")
    assert done.code == 2
    assert "need 19 bytes" in done.err
    done = run("compose", "--title", "word " * 50, "--budget-tokens", "10")
    assert done.code == 2
    assert "tokens" in done.err


def test_a_glob_in_the_write_scope_stands_for_the_files_of_the_work_tree(place, run, monkeypatch):
    fill(place / "memory.db", [("for types", "note", ["*.d.ts"], 0.1), ("other", "note", [], 0.9)])
    repository = place / "repository"
    (repository / "src").mkdir(parents=True)
    (repository / "src" / "api.d.ts").touch()
    (repository / "src" / "ignored.d.ts").touch()
    (repository / ".gitignore").write_text("ignored*\n")
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    monkeypatch.chdir(repository)
    assert run("compose", "--write-scope", "src/**").out.index("for types") < run("compose").out.index("other") + 40
    explained = run("compose", "--write-scope", "src/**", "--explain").out
    assert "a glob tag matches src/api.d.ts" in explained
    assert "a glob tag" not in run("compose", "--write-scope", "lib/**", "--explain").out
    assert "ignored" not in run("compose", "--write-scope", "src/ignored*", "--explain").out


def test_a_broken_glob_is_named_and_matches_nothing(place, run):
    fill(place / "memory.db", [("broken", "note", ["src/[core"], 0.1), ("other", "note", [], 0.9)])
    done = run("compose", "--write-scope", "src/core")
    assert done.code == 0
    assert "src/[core" in done.err
    assert done.out.index("other") < done.out.index("broken")


def test_a_profile_is_a_template_of_the_settings(place, run):
    (place / "config.toml").write_text('[profiles]\nbuilder = "You build."\n')
    assert run("compose", "--profile", "builder").out == "## Role\nYou build.\n"
    done = run("compose", "--profile", "planner")
    assert done.code == 2
    assert "builder" in done.err
    assert run("compose", "--task", "-", input='role = "x"\nprofile = "builder"').code == 2


def test_the_text_of_the_task_ranks_where_the_settings_say_so(tmp_path):
    texts = [("deploy with the blue script", 0.1), ("cats sleep a lot", 0.9), ("deploy needs approval", 0.2)]
    for select, first in (("relevance", "cats"), ("task", "deploy")):
        with omoide.open(tmp_path / f"{select}.db", select=select) as memory:
            for text, relevance in texts:
                memory.remember(text, relevance=relevance, scope=SHOP)
            composed = memory.compose(Task(title="deploy", description="deploy the shop"), scope=SHOP)
            lines = [line for line in composed.text.splitlines() if line.startswith("- [note]")]
            assert lines[0].startswith(f"- [note] {first}")
            assert len(lines) == 3


@pytest.mark.parametrize(("text", "message"), [
    ('role = "x"\nrol = "y"\n', "task.toml, line 2: rol is no field"),
    ('\n\nrole = 3\n', "task.toml, line 3: role must be a text, got 3"),
    ('role = "x"\n\n[task]\nid = 1\ntitel = "y"\n', "task.toml, line 5: task.titel is no field"),
    ('[task]\ntitle = ["y"]\n', "task.toml, line 2: task.title must be a text"),
    ('read_first = [1]\n', "task.toml, line 1: read_first must be a list of texts"),
    ('[[task]]\nid = 1\n', "task.toml, line 1: task must be a table"),
    ('role = \n', "task.toml is not valid TOML: Invalid value (at line 1"),
    ('{"role": "x",\n "task": {"id": 1,\n "titel": "y"}}', "task.toml, line 3: task.titel is no field"),
    ('{"role": "x"', "task.toml is not valid JSON"),
])  # several entries per line  # fmt: skip
def test_a_task_that_is_not_valid_names_file_line_and_field(place, run, text, message):
    (place / "task.toml").write_text(text)
    done = run("compose", "--task", "task.toml")
    assert done.code == 2
    assert message in done.err


def test_a_task_that_cannot_be_read_or_stored_is_refused(memory, place, run):
    assert run("compose", "--task", "missing.toml").code != 0
    assert run("compose", "--task", "-", input=b"role = '\xff'").code != 0
    with pytest.raises(SecretFound):
        memory.compose(Task(description="password = hunter2hunter2X9"), scope=SHOP)
    with pytest.raises(InvalidInput):
        memory.compose(Task(write_scope="src"), scope=SHOP)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput):
        memory.compose(Task(title="\ud800"), scope=SHOP)
    with pytest.raises(InvalidInput):
        memory.compose(Task(), scope=SHOP, limit=-1)


def test_the_block_of_a_project_comes_after_the_prompt_and_shows_the_newest_session(run):
    run("remember", "JWT を採用")
    run("remember", "日本語で答える", "--pin")
    run("remember", "古い", "--session", "sunday")
    run("remember", "新しい", "--session", "monday")
    run("remember", "x", "--project", "bank")
    run("project", "describe", "bank", "銀行")
    text = run("project", "inject", "直して", "--context", "Slack: はい", "--secondary", "bank").out
    places = [text.index(part) for part in (
        "直して", "Slack: はい", "---\n## プロジェクトメモリ: shop", "JWT を採用", "新しい", "### 固定記憶",
        "日本語で答える", "### 関連プロジェクト: bank", "銀行",
    )]  # several entries per line  # fmt: skip
    assert places == sorted(places)
    assert text.endswith("\n---\n")
    assert "古い" not in text
    assert "古い" in run("project", "inject", "--session", "sunday").out
    small = run("project", "inject", "--max-bytes", "200", "--json").data["block"]
    assert 0 < len(small.encode()) <= 200
    assert run("project", "inject", "--project", "none").out == ""
    assert run("project", "inject", "--secondary", "none").code == 1


def test_the_list_and_the_block_are_the_same_in_every_locale_and_time_zone(place, omoide):
    omoide("memories", "add", "例外は必ず捕捉する", "-t", "pattern")
    omoide("remember", "JWT を採用", "--pin")
    environments = (
        {"LC_ALL": "C", "TZ": "America/New_York", "PYTHONHASHSEED": "1"},
        {"LC_ALL": "ja_JP.UTF-8", "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "2"},
    )
    for command in (("memories", "inject"), ("project", "inject")):
        texts = {omoide(*command, **environment).out for environment in environments}
        assert len(texts) == 1
        assert texts.pop()
