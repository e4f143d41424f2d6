"""What a person changed in an agent's lines, from three texts of a file: before, as the agent left it, and now."""

import pytest

from omoide.learning.file_corrections import agent_hunks, find_corrections, glob_of, is_generated
from omoide.model import AgentFile

BEFORE = "import os\n\n\ndef load(path):\n    return None\n"
AGENT = "import os\n\n\ndef load(path):\n    data = open(path).read()\n    print(data)\n    return data\n"


def corrections(now, *, before=BEFORE, agent=AGENT, path="src/io/load.py"):
    file = AgentFile(path, agent, agent_hunks(before, agent), added=not before)
    return [correction.text for correction in find_corrections(file, now)]


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (
            "open(path).read()",
            "Path(path).read_text()",
            'the person replaced "open(path).read(" with "Path(path).read_text("',
        ),
        ("print(data)", "log.debug(data)", 'the person replaced "print(" with "log.debug("'),
        ("    print(data)\n", "", 'the person removed what the agent had written: "print(data)"'),
        ("data = open(path).read()", "data = slurp(path, mode=1)", "the person"),
    ],
)
def test_a_change_is_described_by_what_differs(old, new, text):
    (found, *_) = corrections(AGENT.replace(old, new))
    assert text in found
    assert found.startswith("In src/io/*.py, ")


def test_a_change_back_to_what_was_there_is_a_revert():
    (found,) = corrections(BEFORE)
    assert found == ('In src/io/*.py, the person reverted the agent\'s "data = open(path).read() …" to "return None"')
    deleted = corrections(BEFORE, agent="import os\n")
    assert deleted == ['In src/io/*.py, the person restored what the agent had deleted: "def load(path): …"']


def test_the_same_replacement_in_many_lines_is_described_once():
    agent = "".join(f"a{n} = requests.get(url{n})\n" for n in range(5))
    assert corrections(agent.replace("requests", "session"), before="", agent=agent) == [
        'In src/io/*.py, the person replaced "requests.get(" with "session.get("'
    ]


@pytest.mark.parametrize(
    ("path", "agent", "now"),
    [
        ("a/x.py", "x = f(1,2)\n", "x = f(1, 2)\n"),
        ("a/x.py", "x = 'a'\n", 'x = "a"\n'),
        ("a/x.ts", "const a = { b: 1 };\n", "const a = {\n  b: 1,\n}\n"),
        ("a/x.py", "import b\nimport a\n", "import a\nimport b\n"),
        ("a/x.md", "* one\n* two *x*\n", "- one\n- two _x_\n"),
        ("a/x.md", "| a | b |\n|--|--|\n", "| a   | b   |\n| --- | --- |\n"),
    ],
)
def test_what_a_formatter_does_is_no_correction(path, agent, now):
    assert corrections(now, before="", agent=agent, path=path) == []


def test_lines_around_those_of_the_agent_are_the_persons_own():
    assert corrections("import sys\n" + AGENT.removeprefix("import os\n")) == []
    assert corrections(AGENT + "\n\nmore = 1\n") == []
    assert corrections(AGENT) == []


def test_a_deleted_file_counts_only_if_the_agent_added_it():
    assert corrections(None) == []
    (found,) = corrections(None, before="")
    assert "deleted src/io/load.py, which the agent had added" in found


def test_a_very_long_file_is_not_compared():
    assert agent_hunks("", "x\n" * 5_000) == ()


def test_the_diff_is_bounded():
    agent = "".join(f"value_{n} = {n}\n" for n in range(90))
    file = AgentFile("a/b.py", agent, agent_hunks("", agent), added=True)
    (found,) = find_corrections(file, "")
    assert len(found.evidence) < 1_300
    assert found.evidence.startswith("--- a/b.py (agent)\n+++ a/b.py (person)\n-value_0 = 0\n")


@pytest.mark.parametrize(
    ("path", "glob"),
    [
        ("src/api/a.py", "src/api/*.py"),
        ("src/Makefile", "/src/Makefile"),
        ("setup.py", "/*.py"),
        ("src/.env", "/src/.env"),
        ("src/[id]/page.tsx", ""),
        ("a/b,c.py", ""),
        ("資料/計画.md", "資料/*.md"),
    ],
)
def test_a_glob_names_the_files_beside(path, glob):
    assert glob_of(path) == glob


def test_files_of_tools_are_generated():
    for path in ("uv.lock", "web/package-lock.json", "yarn.lock", "a/go.sum", "dist/app.min.js", "Cargo.lock"):
        assert is_generated(path)
    for path in ("src/lock.py", "locks.md", "a/clock.ts"):
        assert not is_generated(path)
