"""What a person changes in an agent's work between two turns is learnt, by the hooks alone, with real git and processes."""

import subprocess
import sys
from pathlib import Path

import pytest

from journey.hooks.conftest import git
from omoide import Scope, State

COMMAND = [sys.executable, "-c", "from omoide.interfaces.cli import main; main()"]
CLIENT = "src/api/client.py"
BEFORE = "import os\n\n\ndef fetch(url):\n    pass\n"
AGENT = "import os\nimport requests\n\n\ndef fetch(url):\n    answer = requests.get(url, timeout=3)\n    return answer\n"
PERSON = AGENT.replace("requests.get(", "session.get(")
REPLACED = 'In src/api/*.py, the person replaced "requests.get(" with "session.get("'


@pytest.fixture
def tree(repository: Path, shop):
    write(repository, CLIENT, BEFORE)
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "second")
    return repository


def write(root, path, text):
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


@pytest.fixture
def turn(hook, asked, stopped, tree):
    """A turn of an agent, which writes files; the hooks of its client run as processes."""
    count = iter(range(100))

    def turn(files, session="5a2c", prompt="Make the client fetch pages"):
        number = next(count)
        assert hook({**asked, "session_id": session, "prompt": f"{prompt} {number}"}).code == 0
        for path, text in files.items():
            write(tree, path, text)
        assert hook({**stopped, "session_id": session, "last_assistant_message": f"Done {number}."}).code == 0

    return turn


def corrections(memory, scope):
    with memory() as service:
        found = service.list(scope=scope, type="learning", states=(State.ACTIVE, State.INACTIVE), limit=100).memories
        return sorted(one.content for one in found if "correction" in one.tags)


def test_the_next_prompt_learns_what_a_person_changed_in_the_agents_lines(turn, tree, memory, shop):
    turn({CLIENT: AGENT})
    write(tree, CLIENT, PERSON)
    turn({})
    assert corrections(memory, shop) == [REPLACED]
    turn({})
    assert corrections(memory, shop) == [REPLACED]


def test_lines_of_an_earlier_turn_of_the_session_count(turn, tree, memory, shop):
    turn({CLIENT: AGENT})
    turn({"notes.txt": "the agent wrote another file\n"})
    turn({})
    write(tree, CLIENT, PERSON)
    turn({})
    assert corrections(memory, shop) == [REPLACED]


def test_what_a_person_wrote_before_the_turn_is_not_the_agents(turn, tree, memory, shop):
    write(tree, CLIENT, AGENT)  # by the person
    turn({"notes.txt": "by the agent\n"})
    write(tree, CLIENT, PERSON)
    turn({})
    assert corrections(memory, shop) == []


def test_the_first_prompt_of_another_session_learns_it_too(turn, tree, memory, shop):
    turn({CLIENT: AGENT})
    write(tree, CLIENT, PERSON)
    git(tree, "commit", "-qam", "by the person")
    turn({}, session="tomorrow")
    assert corrections(memory, shop) == [REPLACED]


def test_a_word_of_the_first_prompt_of_another_session_corrects_the_last_turn(turn, tree, memory, shop):
    turn({CLIENT: AGENT})
    turn({}, session="tomorrow", prompt="No, use httpx instead of requests in the client. Number")
    assert any("httpx instead of requests" in text for text in corrections(memory, shop))


def test_what_another_agent_does_at_the_same_time_is_no_correction(turn, tree, hook, asked, memory, shop):
    turn({CLIENT: AGENT})
    assert hook({**asked, "session_id": "other", "prompt": "Rename the client"}).code == 0
    write(tree, CLIENT, PERSON)  # by the agent of the other session, whose turn has not ended
    turn({})
    turn({})
    assert corrections(memory, shop) == []


def test_a_turn_whose_beginning_is_not_known_teaches_nothing(turn, tree, hook, stopped, memory, shop):
    turn({CLIENT: AGENT})
    write(tree, CLIENT, PERSON)  # by the agent, in a turn whose prompt did not reach omoide
    hook({**stopped, "last_assistant_message": "Changed."})
    turn({})
    assert corrections(memory, shop) == []


def test_two_ends_of_one_turn_are_one(turn, tree, hook, stopped, memory, shop):
    turn({CLIENT: AGENT})
    hook({**stopped, "last_assistant_message": "A background task has ended, too."})
    write(tree, CLIENT, PERSON)
    turn({})
    assert corrections(memory, shop) == [REPLACED]


def test_omoide_review_shows_it_before_the_next_prompt(turn, tree, environment):
    turn({CLIENT: AGENT})
    write(tree, CLIENT, PERSON)
    done = subprocess.run([*COMMAND, "review"], cwd=tree, env=environment, capture_output=True, text=True, check=True)
    assert REPLACED in done.stdout


def test_a_repository_that_is_no_project_yet_is_made_none_by_a_prompt(hook, asked, stopped, repository, memory):
    with memory() as service:
        service.remember("zebra", scope=Scope.everywhere())
    hook(asked)
    hook(stopped)
    with memory() as service:
        assert [project.path for project in service.projects()] == []
        service.learn_from_inbox()
        assert [project.path for project in service.projects()] == ["shop"]


def test_a_run_of_omoide_run_is_left_to_it(tree, hook, asked, stopped, memory, shop):
    hook(asked, OMOIDE_RUN="run-1")
    write(tree, CLIENT, AGENT)
    hook(stopped, OMOIDE_RUN="run-1")
    with memory() as service, service._store.read() as tx:
        assert tx.work_tree(shop, str(tree.resolve())) is None


def test_secrets_in_files_are_not_stored(turn, tree, environment):
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    write(tree, "by_person.py", f'TOKEN = "{token}"\n')
    turn({CLIENT: f'{AGENT}\nTOKEN = "{token}"\n'})
    turn({})
    files = [file for file in Path(environment["OMOIDE_STORE"]).parent.iterdir() if file.is_file()]
    assert all(token.encode() not in file.read_bytes() for file in files)


def test_learning_can_be_switched_off(hook, asked, stopped, tree, memory, shop, environment):
    environment["OMOIDE_LEARN_FROM_SESSIONS"] = "false"
    hook(asked)
    write(tree, CLIENT, AGENT)
    hook(stopped)
    with memory() as service, service._store.read() as tx:
        assert tx.work_tree(shop, str(tree.resolve())) is None
