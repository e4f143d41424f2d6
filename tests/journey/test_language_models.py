"""Language models: off unless configured; every client answers or fails clearly, and learning goes on without it."""

import json
import os
import stat
import sys

import pytest

import omoide
from journey.model_server import ModelServer
from omoide import Scope
from omoide.errors import BudgetSpent, ModelUnavailable
from omoide.learning.transcript import Speaker, Turn
from omoide.llm.base import Completion
from omoide.llm.client import ModelClient
from omoide.model import CallState
from omoide.settings import load_settings
from omoide.storage.sqlite.store import SqliteStore

SHOP = Scope.project("shop")
TALK = [
    Turn(Speaker.PERSON, "Remember that the port is 8766.", 1),
    Turn(Speaker.AGENT, "The nightly job writes its report somewhere else now.", 2),
]
LEARNT = json.dumps({"learnings": [{"text": "The nightly job writes its report to another place", "kind": "environment"}]})
CLIENTS = ["anthropic", "openai", "server"]


@pytest.fixture
def server():
    server = ModelServer()
    yield server
    server.close()


@pytest.fixture(params=CLIENTS)
def llm(request, server, monkeypatch):
    """The setting for a client of the server's."""
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "x")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    pytest.importorskip("anthropic" if request.param == "anthropic" else "openai")
    return {"anthropic": "anthropic:stub", "openai": "openai:stub", "server": f"{server.url}/v1#stub"}[request.param]


def open_memory(tmp_path, **settings):
    return omoide.open(tmp_path / "memory.db", **settings)


def test_no_model_is_asked_unless_one_is_configured(tmp_path, server):
    with open_memory(tmp_path) as memory:
        report = memory.learn(TALK, scope=SHOP)
        assert [kept.content for kept in report.kept] == ["the port is 8766."]
        assert report.trouble == ""
        assert memory.llm_usage().rows == []
    assert server.requests == []


def test_a_model_adds_proposals_and_its_tokens_are_recorded(tmp_path, server, llm):
    server.answers = [f"Here you are:\n```json\n{LEARNT}\n```"]
    with open_memory(tmp_path, llm=llm, llm_price="1/5") as memory:
        report = memory.learn(TALK, scope=SHOP)
        (usage,) = memory.llm_usage().rows
    assert [memory.content for memory in report.proposed] == ["The nightly job writes its report to another place"]
    assert (usage.purpose, usage.calls, usage.unusable, usage.input_tokens, usage.output_tokens) == ("learn", 1, 0, 100, 20)
    assert usage.cost == pytest.approx((100 * 1 + 20 * 5) / 1_000_000)
    assert server.question().startswith("```conversation\n")


@pytest.mark.parametrize(
    "garbage",
    [
        "no JSON at all",
        '{"learnings": [{"text": "half',
        '{"learnings": "of a wrong type"}',
        '{"a":' * 5_000 + "1" + "}" * 5_000,
    ],
    ids=["words", "half", "wrong-type", "depth"],
)
def test_an_answer_that_cannot_be_used_is_shown_to_the_model_once_more(tmp_path, server, llm, garbage):
    server.answers = [garbage, LEARNT]
    with open_memory(tmp_path, llm=llm) as memory:
        report = memory.learn(TALK, scope=SHOP)
        (usage,) = memory.llm_usage().rows
    assert len(report.proposed) == 1
    assert f"```your answer\n{garbage[:2_000]}\n```" in server.question()
    assert "cannot be used" in server.question()
    assert (usage.calls, usage.unusable) == (2, 1)


@pytest.mark.parametrize("fault", ["reset", "hang", "garbage", 429, 500, 401])
def test_a_model_that_fails_leaves_what_the_rules_find_and_says_why(tmp_path, server, llm, fault):
    server.answers = [fault]
    with open_memory(tmp_path, llm=llm, llm_timeout=1 if fault == "hang" else 60) as memory:
        report = memory.learn(TALK, scope=SHOP)
        (usage,) = memory.llm_usage().rows
    assert [kept.content for kept in report.kept] == ["the port is 8766."]
    assert llm in report.trouble
    assert usage.unusable == usage.calls
    # On a busy machine the limit may be over before the server is reached.
    assert len(server.requests) == usage.calls or (fault == "hang" and len(server.requests) < usage.calls)


def test_a_model_that_answers_garbage_twice_is_given_up(tmp_path, server, llm):
    server.answers = ["still nothing"]
    with open_memory(tmp_path, llm=llm) as memory:
        report = memory.learn(TALK, scope=SHOP)
    assert "no usable answer twice" in report.trouble
    assert len(server.requests) == 2


def test_the_daily_budget_stops_calls_until_the_next_day(tmp_path, server, clock):
    server.answers = [LEARNT]
    settings = load_settings({"llm": f"{server.url}/v1#stub", "llm_daily_tokens": 200})
    store = SqliteStore(tmp_path / "memory.db")
    client = ModelClient(store, settings, clock)
    for _ in range(2):
        client.ask("learn", "x", "y", dict)
    with pytest.raises(BudgetSpent, match="240 of 200 tokens"):
        client.ask("learn", "x", "y", dict)
    clock.step(86_400)
    client.ask("learn", "x", "y", dict)
    assert len(server.requests) == 3
    store.close()


def test_a_call_counts_while_it_runs_so_that_a_killed_process_is_charged(tmp_path, server, clock):
    """The record is there before the answer is: seen here by a model that looks at the store while it is asked."""
    store = SqliteStore(tmp_path / "memory.db")
    seen = []

    class Model:
        name = "looking"

        def complete(self, instructions, question, *, seconds):
            assert store.idle, "a transaction is open while the model thinks"
            with store.read() as tx:
                seen.extend(tx.llm_calls(clock()))
            raise ModelUnavailable("enough seen")

    with pytest.raises(ModelUnavailable, match="enough seen"):
        ModelClient(store, load_settings(), clock, Model()).ask("route", "x" * 300, "y" * 300, dict)
    assert [(call.state, call.purpose) for call in seen] == [(CallState.RUNNING, "route")]
    assert seen[0].input_tokens >= 200
    store.close()


FAKE = """#!{python}
import json, os, sys, time
with open(os.environ["FAKE_LOG"], "a") as log:
    log.write(json.dumps({{"arguments": sys.argv[1:], "question": sys.stdin.read(), "cwd": os.getcwd(),
        "child": os.environ.get("OMOIDE_LLM_CHILD"), "environment": dict(os.environ)}}) + "\\n")
{behaviour}
"""
ANSWER = "print(json.dumps({'result': %r, 'total_cost_usd': 0.002, 'usage': {'input_tokens': 90, 'output_tokens': 9}}))"


@pytest.fixture
def fake_claude(tmp_path, monkeypatch):
    """Puts a command `claude` with some behaviour on the PATH, and returns the file that logs its calls."""

    def install(behaviour):
        command = tmp_path / "bin" / "claude"
        command.parent.mkdir()
        command.write_text(FAKE.format(python=sys.executable, behaviour=behaviour))
        command.chmod(command.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{command.parent}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setenv("FAKE_LOG", str(tmp_path / "calls"))
        return tmp_path / "calls"

    return install


def test_the_claude_command_is_asked_without_tools_in_no_project_and_marked_as_our_child(tmp_path, fake_claude):
    calls = fake_claude(ANSWER % LEARNT)
    with open_memory(tmp_path, llm="claude") as memory:
        report = memory.learn(TALK, scope=SHOP)
        (usage,) = memory.llm_usage().rows
    assert report.trouble == ""
    assert len(report.proposed) == 1
    assert (usage.cost, usage.input_tokens) == (0.002, 90)
    call = json.loads(calls.read_text())
    assert call["child"] == "1"
    assert call["arguments"][:6] == ["-p", "--output-format", "json", "--no-session-persistence", "--tools", ""]
    assert "--bare" not in call["arguments"]  # it ignores the login of a subscription
    assert '{"disableAllHooks":true}' in call["arguments"]
    assert call["environment"]["CLAUDE_CODE_DISABLE_CLAUDE_MDS"] == "1"
    assert call["environment"]["MAX_THINKING_TOKENS"] == "0"
    assert "the port is 8766" in call["question"]
    assert call["cwd"] != os.getcwd()  # noqa: PTH109 - the same spelling as in the child


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        ("time.sleep(60)", "within 1 s"),
        ("sys.exit('not logged in')", "not logged in"),
        ("print('half of a {')", "not answer in JSON"),
        ("print(json.dumps({'is_error': True, 'result': 'overloaded'}))", "reported an error: overloaded"),
        (
            "print(json.dumps({'is_error': True, 'result': 'Not logged in'})); sys.exit(1)",
            "reported an error: Not logged in",
        ),
        ("print(json.dumps({'result': ['no', 'text']}))", "not answer in JSON"),
        ('sys.stdout.buffer.write(b\'{"result": "\\xff"}\')', "not answer in JSON"),
        ("print('{\"a\":' * 100_000 + '1' + '}' * 100_000)", "not answer in JSON"),
    ],
)
def test_a_claude_command_that_fails_leaves_what_the_rules_find(tmp_path, fake_claude, behaviour, message):
    fake_claude(behaviour)
    with open_memory(tmp_path, llm="claude:haiku", llm_timeout=1) as memory:
        report = memory.learn(TALK, scope=SHOP)
    assert message in report.trouble
    assert len(report.kept) == 1


@pytest.mark.parametrize("cost", ["-3", "1e300"])
def test_a_cost_that_cannot_be_true_is_not_counted(tmp_path, fake_claude, cost):
    fake_claude((ANSWER % LEARNT).replace("0.002", cost))
    with open_memory(tmp_path, llm="claude", llm_price="1/5") as memory:
        memory.learn(TALK, scope=SHOP)
        (usage,) = memory.llm_usage().rows
    assert usage.cost == pytest.approx((90 * 1 + 9 * 5) / 1_000_000)


def test_without_the_claude_command_the_message_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with open_memory(tmp_path, llm="claude") as memory:
        report = memory.learn(TALK, scope=SHOP)
        usage = memory.llm_usage()
    assert "no command `claude`" in report.trouble
    assert (usage.tokens_today, usage.rows[0].unusable) == (0, 1)  # nobody was asked


def chat_body(content, usage):
    """The body of an answer of a server with OpenAI's chat interface."""
    message = {"role": "assistant", "content": content}
    return json.dumps({"id": "c", "choices": [{"index": 0, "message": message}], "usage": usage}).encode()


TOKENS = {"prompt_tokens": 5, "completion_tokens": 6}
NOTHING = '{"learnings": []}'


@pytest.mark.parametrize(
    "body",
    [
        chat_body(123, TOKENS),
        chat_body([{"type": "text", "text": NOTHING}], TOKENS),
        chat_body('{"learnings": [{"text": "half', TOKENS),
        chat_body('{"learnings": "none"}', TOKENS),
        chat_body('{"learnings": [{"text": "port \ud800 8766 is new", "kind": 5}]}', TOKENS),
        chat_body(NOTHING, "x"),
        b'{"choices": []}',
        b'{"choices": [',
        b'"hello"',
        b"[1]",
        b'{"choices":' * 100_000 + b"1" + b"}" * 100_000,
    ],
    ids=["number", "list", "half", "wrong-type", "surrogate", "usage", "empty", "cut", "string", "array", "depth"],
)
def test_an_answer_of_another_shape_is_no_traceback_and_leaves_what_the_rules_find(tmp_path, server, body):
    server.answers = [body]
    with open_memory(tmp_path, llm=f"{server.url}/v1#stub") as memory:
        report = memory.learn(TALK, scope=SHOP)
        usage = memory.llm_usage()
    assert [kept.content for kept in report.kept] == ["the port is 8766."]
    assert report.trouble
    assert sum(row.unusable for row in usage.rows) == len(server.requests)


@pytest.mark.parametrize(
    "tokens",
    [
        {"prompt_tokens": "many", "completion_tokens": None},
        {"prompt_tokens": -5, "completion_tokens": 10**30},
        {"prompt_tokens": 1.5, "completion_tokens": 0},
        None,
    ],
)
def test_tokens_that_a_server_cannot_have_used_are_estimated(tmp_path, server, tokens):
    server.answers = [chat_body(NOTHING, tokens)]
    with open_memory(tmp_path, llm=f"{server.url}/v1#stub", llm_price="1/5") as memory:
        assert memory.learn(TALK, scope=SHOP).trouble == ""
        (usage,) = memory.llm_usage().rows
    assert 100 < usage.input_tokens < 2_000
    assert 0 < usage.output_tokens < 100
    assert usage.cost == pytest.approx((usage.input_tokens + 5 * usage.output_tokens) / 1_000_000)


@pytest.mark.parametrize("status", [401, 429])
def test_a_question_that_was_refused_uses_no_tokens(tmp_path, server, llm, status):
    server.answers = [status]
    with open_memory(tmp_path, llm=llm) as memory:
        assert llm in memory.learn(TALK, scope=SHOP).trouble
        assert memory.llm_usage().tokens_today == 0


@pytest.mark.parametrize(("llm", "variable"), [("openai:gpt", "OPENAI_API_KEY"), ("anthropic:m", "ANTHROPIC_API_KEY")])
def test_a_question_that_cannot_be_sent_without_a_key_uses_no_tokens(tmp_path, monkeypatch, llm, variable):
    pytest.importorskip(llm.partition(":")[0])
    for name in (variable, "OPENAI_ADMIN_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with open_memory(tmp_path, llm=llm) as memory:
        assert "key" in memory.learn(TALK, scope=SHOP).trouble
        assert memory.llm_usage().tokens_today == 0


@pytest.mark.parametrize(("status", "advice"), [(429, "try again later"), (500, "try again later"), (401, "`llm_key`")])
def test_the_message_of_a_failure_says_whether_the_settings_or_time_can_help(tmp_path, server, llm, status, advice):
    server.answers = [status]
    with open_memory(tmp_path, llm=llm) as memory:
        assert advice in memory.learn(TALK, scope=SHOP).trouble


def test_a_server_that_is_not_there_uses_no_tokens(tmp_path, server, llm):
    server.close()
    with open_memory(tmp_path, llm=llm) as memory:
        assert llm in memory.learn(TALK, scope=SHOP).trouble
        assert memory.llm_usage().tokens_today == 0


def test_calls_of_other_processes_count_before_they_are_answered(tmp_path, clock):
    """Two clients of one store: the second asks while the first still waits for its answer."""
    store, other = SqliteStore(tmp_path / "memory.db"), SqliteStore(tmp_path / "memory.db")
    settings = load_settings({"llm": "claude", "llm_daily_tokens": 100})

    class Model:
        name = "slow"

        def complete(self, instructions, question, *, seconds):
            with pytest.raises(BudgetSpent):
                ModelClient(other, settings, clock, Model()).ask("learn", "x", "y", dict)
            return Completion("{}", 10, 1)

    assert ModelClient(store, settings, clock, Model()).ask("learn", "x" * 300, "y" * 300, dict) == {}
    store.close()
    other.close()
