"""Corrections become memories: what a person changes in an agent's lines, seen with real git, and what a person says."""

import subprocess

import pytest

import omoide
from omoide import LinkKind, Scope, State
from omoide.learning.transcript import Speaker, Turn
from omoide.model import Actor, Role

SHOP = Scope.project("shop")
BEFORE = "import os\n\n\ndef fetch(url):\n    pass\n"
AGENT = "import os\nimport requests\n\n\ndef fetch(url):\n    answer = requests.get(url, timeout=3)\n    return answer\n"
REPLACED = 'In src/api/*.py, the person replaced "requests.get(" with "session.get("'


class Tree:
    """A repository in which an agent and a person take turns."""

    def __init__(self, root, memory):
        self.root, self.memory, self.runs = root, memory, 0
        self.git("init", "-q", "-b", "main")
        self.write("src/api/client.py", BEFORE)
        self.write("src/api/other.py", "x = 1\n")
        self.git("add", ".")
        self.git("commit", "-qm", "first")

    def git(self, *arguments):
        done = subprocess.run(
            ["git", "-c", "user.name=P", "-c", "user.email=p@example.com", *arguments],
            cwd=self.root,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())

    def agent(self, files=None, *, commit=False):
        """An agent's run, which writes some files."""
        self.runs += 1
        learnt = self.learn()
        for path, text in (files or {"src/api/client.py": AGENT}).items():
            self.write(path, text)
        if commit:
            self.git("add", ".")
            self.git("commit", "-qm", "by the agent")
        self.memory.record_work_tree(f"run-{self.runs}", self.root / "src", scope=SHOP)
        return learnt

    def learn(self):
        return self.memory.learn_corrections(self.root, scope=SHOP)

    def correction_texts(self):
        """The texts of the corrections that the next run learns."""
        report = self.learn()
        assert report.kept == report.rejected == []
        return [memory.content for memory in report.proposed]


@pytest.fixture
def memory(tmp_path):
    with omoide.open(tmp_path / "memory.db", actor=Actor("me", Role.OWNER, "cli")) as memory:
        yield memory


@pytest.fixture
def tree(tmp_path, memory, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    root = tmp_path / "shop"
    root.mkdir()
    return Tree(root, memory)


def test_what_a_person_changes_in_the_agents_lines_is_proposed_with_a_glob_and_the_diff(tree, memory):
    assert tree.agent().proposed == []
    tree.write("src/api/client.py", AGENT.replace("requests.get", "session.get"))
    (proposal,) = tree.learn().proposed
    assert proposal.content == REPLACED
    assert proposal.tags == ("correction", "src/api/*.py")
    assert (proposal.state, proposal.type, proposal.source, proposal.source_run_id) == (
        State.INACTIVE,
        "learning",
        "learning",
        "run-1",
    )
    assert "-    answer = requests.get(url, timeout=3)\n+    answer = session.get(url, timeout=3)" in proposal.examples[0]
    assert memory.recall("session", scope=SHOP).hits == []
    assert tree.learn().proposed == []


def test_a_correction_that_is_seen_after_another_run_is_active(tree, memory):
    tree.agent()
    tree.write("src/api/client.py", AGENT.replace("requests.get", "session.get"))
    tree.agent({"src/api/upload.py": "import requests\n\n\ndef load(url):\n    return requests.get(url)\n"})
    tree.write("src/api/upload.py", "import requests\n\n\ndef load(url):\n    return session.get(url)\n")
    report = tree.learn()
    assert [(one.content, one.state) for one in report.confirmed] == [(REPLACED, State.ACTIVE)]
    assert memory.recall("requests session", scope=SHOP).hits[0].memory.content == REPLACED


def test_two_corrections_in_similar_words_are_two(tree, memory):
    tree.agent({"src/api/a.py": "one = requests.get(url)\n", "src/api/b.py": "two = parse_json(body)\n"})
    tree.write("src/api/a.py", "one = session.get(url)\n")
    tree.write("src/api/b.py", "two = parse_yaml(body)\n")
    assert sorted(tree.correction_texts()) == [
        'In src/api/*.py, the person replaced "parse_json(" with "parse_yaml("',
        REPLACED,
    ]
    assert len(memory.proposals(scope=SHOP)) == 2


def test_changes_that_the_agent_or_the_person_committed_meanwhile_count_too(tree):
    tree.agent(commit=True)
    tree.write("src/api/client.py", AGENT.replace("requests.get", "session.get"))
    tree.git("commit", "-qam", "use the session")
    assert tree.correction_texts() == [REPLACED]


def test_a_revert_says_what_was_reverted(tree):
    tree.agent()
    tree.git("checkout", "-q", "--", "src/api/client.py")
    texts = tree.correction_texts()
    assert 'In src/api/*.py, the person removed what the agent had added: "import requests"' in texts
    assert any("reverted the agent's" in text and 'to "pass"' in text for text in texts)


def test_a_revert_with_git_counts_as_a_persons(tree):
    tree.agent(commit=True)
    tree.git("revert", "--no-edit", "HEAD")
    assert any("reverted" in text for text in tree.correction_texts())


def test_lines_that_only_the_person_wrote_are_no_correction(tree):
    tree.agent()
    tree.write("src/api/other.py", "x = 2\n")
    tree.write("src/api/new.py", "y = 3\n")
    tree.write("src/api/client.py", AGENT.replace("import os\n", "import sys\n") + "\n\nz = 4\n")
    assert tree.correction_texts() == []


def test_what_was_changed_before_the_run_is_not_the_agents(tree):
    tree.write("src/api/other.py", "x = 2\n")
    tree.agent()
    tree.write("src/api/other.py", "x = 3\n")
    assert tree.correction_texts() == []


@pytest.mark.parametrize(
    "formatted",
    [
        AGENT.replace("    ", "\t"),
        AGENT.replace("\n", "\r\n"),
        AGENT.replace("import os\nimport requests", "import requests\nimport os"),
        AGENT.replace("requests.get(url, timeout=3)", "requests.get(\n        url,\n        timeout=3,\n    )"),
    ],
)
def test_a_formatter_corrects_nothing(tree, formatted):
    tree.agent()
    tree.write("src/api/client.py", formatted)
    assert tree.correction_texts() == []


@pytest.mark.parametrize(
    "steps",
    [
        [("stash", "-u", "-q")],
        [("checkout", "-qb", "other"), ("checkout", "-q", "--", ".")],
        [("add", "."), ("commit", "-qm", "x"), ("reset", "-q", "--hard", "HEAD~1")],
        [("add", "."), ("commit", "-qm", "x"), ("checkout", "-q", "HEAD~1")],
    ],
)
def test_what_git_does_to_the_files_corrects_nothing(tree, steps):
    tree.agent()
    for step in steps:
        tree.git(*step)
    assert tree.correction_texts() == []


def test_a_rebase_corrects_nothing(tree):
    tree.git("checkout", "-qb", "base")
    tree.write("src/api/client.py", BEFORE.replace("pass", "return None"))
    tree.git("commit", "-qam", "theirs")
    tree.git("checkout", "-q", "main")
    tree.agent({"src/api/client.py": BEFORE.replace("import os", "import io")}, commit=True)
    tree.git("rebase", "-q", "base")
    assert tree.correction_texts() == []


def test_a_file_that_the_agent_added_and_the_person_deleted_is_a_correction_unless_it_moved(tree):
    tree.agent({"src/api/helper.py": "def help():\n    return 1\n", "notes.txt": "keep me\n"})
    (tree.root / "src/api/helper.py").unlink()
    tree.write("docs/notes.txt", "keep me\n")
    (tree.root / "notes.txt").unlink()
    (text,) = tree.correction_texts()
    assert text.startswith("In src/api/*.py, the person deleted src/api/helper.py")


def test_binary_huge_and_generated_files_are_left_out(tree):
    huge = "".join(f"line {number}\n" for number in range(20_000))
    tree.agent({"a.bin": b"\0\1\2", "huge.txt": huge, "package-lock.json": '{"a": 1}\n', "uv.lock": "a = 1\n"})
    tree.write("a.bin", b"\0\3")
    tree.write("huge.txt", huge.replace("line 7\n", "line seven\n"))
    tree.write("package-lock.json", '{"a": 2}\n')
    tree.write("uv.lock", "a = 2\n")
    assert tree.correction_texts() == []


def test_a_file_that_was_rewritten_from_end_to_end_corrects_nothing_in_particular(tree):
    agent = "".join(f"value_{number} = {number}\nspace = 0\n" for number in range(200))
    tree.agent({"src/values.py": agent})
    tree.write("src/values.py", agent.replace("value_", "number_"))
    assert tree.correction_texts() == []


def test_secrets_in_files_are_neither_recorded_nor_learnt(tree, memory, tmp_path):
    token = "ghp_" + "x7Kq" * 9
    tree.agent({"src/api/client.py": AGENT.replace("url, timeout=3", f'url, headers={{"auth": "{token}"}}')})
    tree.write("src/api/client.py", AGENT.replace("requests.get", "session.get"))
    tree.learn()
    tree.write("src/api/client.py", AGENT + f'TOKEN = "{token}"\n')
    tree.learn()
    memory.flush()
    for file in tmp_path.glob("memory.db*"):
        assert token.encode() not in file.read_bytes()


def test_without_a_work_tree_nothing_is_recorded_and_nothing_breaks(memory, tmp_path, tree):
    for directory in (tmp_path, tmp_path / "gone"):
        assert memory.record_work_tree("run-1", directory, scope=SHOP) is None
        assert memory.learn_corrections(directory, scope=SHOP) == omoide.LearningReport()
    tree.agent()
    tree.root.rename(tmp_path / "away")
    assert tree.learn() == omoide.LearningReport()


def test_without_a_record_of_the_start_the_lines_of_the_run_are_those_since_it_began(tree, memory):
    run = memory.compose(omoide.Task(title="fetch"), scope=SHOP, run="run-9").run
    tree.write("src/api/client.py", AGENT)
    tree.git("commit", "-qam", "by the agent")
    record = memory.record_work_tree(run.number, tree.root, scope=SHOP)
    assert (record.run, [file.path for file in record.files]) == ("run-9", ["src/api/client.py"])
    tree.write("src/api/client.py", AGENT.replace("requests.get", "session.get"))
    assert tree.correction_texts() == [REPLACED]


def test_a_purge_leaves_no_text_of_the_work_tree(tree, memory):
    tree.agent()
    note = memory.remember("requests.get is used in the client", scope=SHOP).memory
    memory.forget(note.number, scope=SHOP)
    memory.purge([note.number], scope=SHOP)
    tree.write("src/api/client.py", AGENT.replace("requests.get", "session.get"))
    assert tree.correction_texts() == []


def test_a_correction_can_be_silenced_and_a_dropped_one_does_not_come_back(tree, memory):
    tree.agent()
    tree.write("src/api/client.py", AGENT.replace("requests.get", "session.get"))
    (proposal,) = tree.learn().proposed
    memory.reject(proposal.number, scope=SHOP)
    tree.write("src/api/client.py", AGENT)
    tree.agent({"src/api/client.py": AGENT + "\n"})
    tree.agent({"src/api/more.py": "import requests\nanswer = requests.get(url, timeout=3)\n"})
    tree.write("src/api/more.py", "import requests\nanswer = session.get(url, timeout=3)\n")
    assert [one.reason for one in tree.learn().rejected] == ["it was dropped before"]


def make_turns(*texts):
    speakers = {"User": Speaker.PERSON, "Agent": Speaker.AGENT}
    return [Turn(speakers[name], text, line) for line, (name, text) in enumerate((text.split(": ", 1) for text in texts), 1)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("From now on use npm for installs.", "No, use pnpm instead of npm."),
        ("今後は npm を使ってください。", "違う、npmじゃなくて pnpm を使って。"),
        ("Remember that the test database listens on port 5432.", "That's wrong, the test database listens on port 5544."),
    ],
)
def test_what_a_person_corrects_takes_the_place_of_what_was_learnt(memory, first, second):
    (old,) = memory.learn(make_turns("User: Hello there.", f"User: {first}"), scope=SHOP, run="one").kept
    report = memory.learn(make_turns("User: Hello there.", f"User: {second}"), scope=SHOP, run="two")
    (new,) = report.kept
    assert [one.number for one in report.replaced] == [old.number]
    assert new.tags[0] in ("correction", "request", "convention")
    assert [one.content for one in memory.list(scope=SHOP).memories] == [new.content]
    assert memory.show(old.number, scope=SHOP).state is State.ARCHIVED
    assert [(link.kind, link.target) for link in memory.links(new.number, scope=SHOP)] == [(LinkKind.SUPERSEDES, old.id)]
    prompt = memory.compose(omoide.Task(title="install the test database"), scope=SHOP).text
    assert new.content in prompt
    assert old.content not in prompt


@pytest.mark.parametrize(
    "correction",
    [
        "No, use session.get in the client, it keeps the connection open.",
        "そうじゃなくて、クライアントでは session.get を使って。",
        "違う、設定は config/app.toml に置くこと。",
    ],
)
def test_a_correction_that_contradicts_nothing_known_waits_until_it_is_seen_twice(memory, correction):
    talk = make_turns("User: Please write the client.", "Agent: I used requests.get for now.", f"User: {correction}")
    (proposal,) = memory.learn(talk, scope=SHOP, run="one").proposed
    assert proposal.tags[0] == "correction"
    assert proposal.state is State.INACTIVE
    (confirmed,) = memory.learn(talk, scope=SHOP, run="two").confirmed
    assert confirmed.state is State.ACTIVE


def test_a_similar_request_that_can_hold_too_replaces_nothing(memory):
    talk = make_turns("User: Hi.", "User: Remember to run the linter before you push to the main branch.")
    other = make_turns("User: Hi.", "User: Remember to run the tests before you push to the main branch.")
    (first,) = memory.learn(talk, scope=SHOP, run="one").kept
    report = memory.learn(other, scope=SHOP, run="two")
    assert len(report.kept) == 1
    assert report.replaced == []
    assert memory.show(first.number, scope=SHOP).state is State.ACTIVE


def test_what_somebody_has_stored_is_not_replaced_by_what_is_learnt(memory):
    own = memory.remember("Use npm for installs.", scope=SHOP).memory
    report = memory.learn(make_turns("User: Hi.", "User: No, use pnpm instead of npm for installs."), scope=SHOP)
    assert report.replaced == []
    assert memory.show(own.number, scope=SHOP).state is State.ACTIVE


def test_an_approved_proposal_takes_the_place_of_what_it_supersedes(memory):
    (old,) = memory.learn(make_turns("User: Hi.", "User: Remember that the worker listens on port 9000."), scope=SHOP).kept
    (new,) = memory.learn(make_turns("User: Hi.", "Agent: The worker listens on port 9001."), scope=SHOP).proposed
    assert memory.show(old.number, scope=SHOP).state is State.ACTIVE
    memory.approve(new.number, scope=SHOP)
    assert memory.show(old.number, scope=SHOP).state is State.ARCHIVED


# what a person says at the beginning of the next run


BUILD = {"Dockerfile": "FROM node:22\nRUN npm ci\n", "docs/build.md": "Run npm ci, then make.\n"}


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("No, use pnpm instead of npm. Then fix the login.", "use pnpm instead of npm."),
        ("That's wrong. Packages come from pnpm, not npm.", "Packages come from pnpm, not npm."),
        ("いや、npm じゃなくて pnpm で", "npm じゃなくて pnpm で"),
        ("そうじゃなくて、npm ではなく pnpm を使って。あとログインも直して。", "npm ではなく pnpm を使って。"),
    ],
)
def test_what_the_first_message_refuses_is_a_correction_of_the_last_run(tree, memory, message, text):
    tree.agent(BUILD)
    report = memory.learn_corrections(tree.root, scope=SHOP, message=message, run="run-2")
    (proposal,) = report.proposed
    assert proposal.content == text
    assert proposal.tags[0] == "correction"
    assert set(proposal.tags[1:]) == {"/Dockerfile", "docs/*.md"}
    assert (proposal.state, proposal.source_run_id) == (State.INACTIVE, "run-2")
    assert "--- Dockerfile (agent)\n+RUN npm ci" in proposal.examples[0]
    assert memory.recall("pnpm", scope=SHOP).hits == []


def test_a_name_that_the_message_gives_up_and_the_agent_wrote_is_a_correction_without_a_no(tree, memory):
    tree.agent(BUILD)
    (proposal,) = memory.learn_corrections(tree.root, scope=SHOP, message="Use pnpm instead of npm in CI.").proposed
    assert proposal.tags[0] == "correction"
    assert "/Dockerfile" in proposal.tags
    tree.agent({"src/a.py": "x = 1\n"})
    assert memory.learn_corrections(tree.root, scope=SHOP, message="Use poetry rather than pip in CI.").proposed == []


@pytest.mark.parametrize(
    "message",
    [
        "No problem, go on with the login.",
        "No. Fix the login first.",
        "No, thanks. Run the tests.",
        "いや、ありがとう。続けて。",
        "いいえ、まずログインを直して",
        "Why did you use npm here?",
        "> No, use pnpm instead of npm.\nFix the login.",
        "<private>No, use pnpm instead of npm.</private> Fix the login.",
    ],
)
def test_a_message_that_refuses_without_saying_what_is_right_corrects_nothing(tree, memory, message):
    tree.agent(BUILD)
    report = memory.learn_corrections(tree.root, scope=SHOP, message=message)
    assert report.kept == report.proposed == []


def test_a_message_corrects_only_the_run_before_it(tree, memory):
    message = "No, use pnpm instead of npm."
    assert memory.learn_corrections(tree.root, scope=SHOP, message=message).proposed == []
    tree.agent(BUILD)
    assert len(memory.learn_corrections(tree.root, scope=SHOP, message=message, run="run-2").proposed) == 1
    again = memory.learn_corrections(tree.root, scope=SHOP, message=message, run="run-2")
    assert (again.proposed, again.confirmed) == ([], [])


@pytest.mark.parametrize("message", ["No, use pnpm instead of npm.", "いや、npm じゃなくて pnpm を使って。"])
def test_a_spoken_correction_is_active_when_it_is_said_after_another_run(tree, memory, message):
    tree.agent(BUILD)
    memory.learn_corrections(tree.root, scope=SHOP, message=message, run="run-2")
    seen = memory.learn([Turn(Speaker.PERSON, message, 1)], scope=SHOP, run="run-2")
    assert [one.state for one in seen.confirmed] == [State.INACTIVE]  # the transcript of the same run
    memory.record_work_tree("run-2", tree.root, scope=SHOP)
    report = memory.learn_corrections(tree.root, scope=SHOP, message=message, run="run-3")
    assert [one.state for one in report.confirmed] == [State.ACTIVE]


@pytest.mark.parametrize(
    "message", ["No, use pnpm instead of npm for installs.", "いや、インストールは npm じゃなくて pnpm で"]
)
def test_a_spoken_correction_takes_the_place_of_what_was_learnt(tree, memory, message):
    first = "今後はインストールに npm を使って。" if "いや" in message else "From now on use npm for installs."
    (old,) = memory.learn(make_turns("User: Hi.", f"User: {first}"), scope=SHOP, run="run-0").kept
    tree.agent(BUILD)
    report = memory.learn_corrections(tree.root, scope=SHOP, message=message, run="run-2")
    assert [one.number for one in report.replaced] == [old.number]
    assert [one.state for one in report.kept] == [State.ACTIVE]


def test_a_correction_of_a_run_that_wrote_nothing_has_its_task_as_evidence(tree, memory):
    memory.compose(omoide.Task(title="Explain the build"), scope=SHOP, run="run-1")
    memory.record_work_tree("run-1", tree.root, scope=SHOP)
    message = "No, answers must be in English."
    (proposal,) = memory.learn_corrections(tree.root, scope=SHOP, message=message, run="run-2").proposed
    assert proposal.tags == ("correction",)
    assert proposal.examples == ("Explain the build → answers must be in English.",)


def test_a_secret_in_a_spoken_correction_is_not_kept(tree, memory):
    tree.agent(BUILD)
    message = f"No, use the token ghp_{'x7Kq' * 9} instead of npm."
    report = memory.learn_corrections(tree.root, scope=SHOP, message=message)
    assert report.kept == report.proposed == []
