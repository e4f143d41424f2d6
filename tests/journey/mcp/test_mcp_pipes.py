"""The protocol over pipes, in both versions, with correct clients and faulty ones."""

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import omoide
from omoide.interfaces.mcp import jsonrpc
from omoide.interfaces.mcp.transports import stdio

PROGRAM = [sys.executable, "-c", "from omoide.interfaces.cli import main; main()"]
LIST = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}\n'
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def initialize(talk: Any, version: str) -> dict[str, Any]:
    return talk.request("initialize", protocolVersion=version, capabilities={}, clientInfo={"name": "t", "version": "1"})


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
def test_a_handshake_agrees_on_the_requested_version(talk: Callable[..., Any], version: str) -> None:
    client = talk()
    result = initialize(client, version)["result"]
    assert result["protocolVersion"] == version
    assert result["serverInfo"]["name"] == "omoide"
    assert set(result["capabilities"]) == {"tools", "resources", "prompts", "completions"}
    client.notify("notifications/initialized")
    assert client.request("ping")["result"] == {}
    assert "resultType" not in client.request("tools/list")["result"]


def test_an_unknown_version_is_answered_with_the_newest_handshake_version(talk: Callable[..., Any]) -> None:
    assert initialize(talk(), "1999-01-01")["result"]["protocolVersion"] == "2025-11-25"


def test_in_the_stateless_version_every_request_is_independent(talk: Callable[..., Any]) -> None:
    client = talk()
    found = client.request("server/discover", _meta=META)["result"]
    assert found["supportedVersions"] == ["2026-07-28"]
    assert found["resultType"] == "complete"
    assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "omoide"
    listed = client.request("tools/list", _meta=META)["result"]
    assert listed["resultType"] == "complete"
    assert listed["ttlMs"] > 0
    assert listed["cacheScope"] == "private"
    kept = client.request("tools/call", name="remember", arguments={"content": "pnpm を使用"}, _meta=META)["result"]
    assert kept["structuredContent"]["action"] == "created"


def test_a_stateless_request_without_its_envelope_is_refused_with_what_is_missing(talk: Callable[..., Any]) -> None:
    client = talk()
    error = client.request("server/discover")["error"]
    assert error["code"] == -32602
    assert "protocolVersion" in error["message"]
    wrong = {**META, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}
    error = client.request("tools/list", _meta=wrong)["error"]
    assert error["code"] == -32022
    assert error["data"] == {"supported": ["2026-07-28"], "requested": "2099-01-01"}
    assert client.request("ping", _meta=META)["error"]["code"] == -32601


@pytest.mark.parametrize(
    ("line", "code", "id"),
    [
        (b"{", -32700, None),
        (b"\xff\xfe", -32700, None),
        (b"[" * 100_000, -32700, None),
        (b"[]", -32600, None),
        (b'"ping"', -32600, None),
        (b'{"id": 7, "method": "ping"}', -32600, 7),
        (b'{"jsonrpc": "2.0", "id": 7}', -32600, 7),
        (b'{"jsonrpc": "2.0", "id": 7, "method": 3}', -32600, 7),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600, None),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600, None),
        (b'{"jsonrpc": "2.0", "id": [1], "method": "ping"}', -32600, None),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": [1]}', -32602, 7),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": 1}}', -32602, 7),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "x", "arguments": []}}', -32602, 7),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "nothing"}}', -32602, 7),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "resources/list", "params": {"cursor": "x"}}', -32602, 7),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "resources/read", "params": {"uri": "a:b"}}', -32002, 7),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "prompts/get", "params": {"name": "x"}}', -32602, 7),
        (b'{"jsonrpc": "2.0", "id": "x", "method": "sampling/createMessage"}', -32601, "x"),
    ],
)
def test_an_invalid_message_gets_its_error_code_and_the_next_one_is_answered(
    talk: Callable[..., Any], line: bytes, code: int, id: Any
) -> None:
    client = talk()
    client.send(line)
    answer = client.read()
    assert (answer["error"]["code"], answer["id"]) == (code, id)
    assert client.request("ping")["result"] == {}


def test_notifications_responses_and_blank_lines_get_no_answer(talk: Callable[..., Any]) -> None:
    client = talk()
    client.send(b"")
    client.send(b'{"jsonrpc": "2.0", "id": 1, "result": {}}')
    client.notify("notifications/initialized")
    client.notify("notifications/cancelled", requestId=99)
    client.notify("notifications/cancelled", requestId={"a": 1})
    client.notify("something/unheard/of")
    client.send(b'{"jsonrpc": "2.0", "method": "tools/list"}')
    assert client.request("ping")["result"] == {}


def test_a_line_of_ten_megabytes_is_read_and_its_too_large_content_is_refused(talk: Callable[..., Any]) -> None:
    client = talk()
    assert "1,000,000" in client.refusal("remember", content="あ" * 3_500_000)
    assert client.result("remember", content="x " * 400_000)["action"] == "created"


def test_invalid_arguments_are_a_tool_error_not_a_protocol_error(talk: Callable[..., Any]) -> None:
    client = talk()
    assert "content" in client.refusal("remember")
    assert "quer" in client.refusal("recall", quer="x")
    assert "tags" in client.refusal("recall", tags=[1])
    assert client.result("recall", query="x", limit="3", type=None)["total_count"] == 0  # what models do send


@pytest.mark.parametrize(("opened", "closed"), [("[", "]"), ('{"x": ', "}")], ids=["lists", "objects"])
def test_arguments_nested_too_deeply_are_a_tool_error(talk: Callable[..., Any], opened: str, closed: str) -> None:
    client = talk()
    for depth in (200, 500, 900):
        deep = f"{opened * depth}0{closed * depth}"
        params = f'{{"name": "remember", "arguments": {{"content": {deep}}}}}'
        client.send(f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {params}}}'.encode())
        result = client.read()["result"]
        assert result["isError"]
        assert "nested in more than 100 levels" in result["content"][0]["text"]
    client.process.stdin.close()
    assert client.process.stderr.read() == b""


def test_null_arguments_count_as_not_given(talk: Callable[..., Any]) -> None:
    client = talk("--tools", "all")
    notes = [{"content": "one", "topic": None, "key": None, "tags": ["a"]}, {"content": "two", "type": None}]
    assert client.result("remember_many", memories=notes, session=None)["count"] == 2
    assert "tags" in client.refusal("remember_many", memories=[{"content": "three", "tags": [None]}])


def test_requests_before_the_end_of_the_input_are_answered(talk: Callable[..., Any]) -> None:
    client = talk()
    for number in range(5):
        client.post("tools/call", name="remember", arguments={"content": f"note {number}"})
    code, out, err = client.end()
    answers = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [line for line in err.splitlines() if b"created the database" not in line] == []
    assert [answer["result"]["structuredContent"]["action"] for answer in answers] == ["created"] * 5


def test_a_server_ends_without_an_error_when_its_client_stops_reading(talk: Callable[..., Any]) -> None:
    client = talk()
    client.request("ping")
    client.process.stdout.close()
    client.post("ping")
    client.process.stdin.close()
    assert client.process.wait(timeout=30) == 0
    assert client.process.stderr.read() == b""


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_terminated_server_records_when_memories_were_used(
    talk: Callable[..., Any], place: Path, number: int, code: int
) -> None:
    client = talk()
    kept = client.result("remember", content="used before the end")["memory_id"]
    client.result("recall", query="used")
    client.process.send_signal(number)
    assert client.process.wait(timeout=30) == code
    assert client.process.stdout.read() == b""
    with omoide.open(place / "memory.db") as memory:
        assert memory.show(kept, scope=omoide.Scope.project("shop")).last_accessed_at is not None


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_terminated_server_ends_although_its_client_reads_nothing(talk: Callable[..., Any], number: int) -> None:
    client = talk()
    client.request("ping")
    client.send(LIST * 100)
    client.process.stdout.read(1)  # by now it waits to be read
    client.process.send_signal(number)
    assert client.process.wait(timeout=20) != 0


def start_on(source: int, sink: int) -> subprocess.Popen[bytes]:
    """A server on these two, which are closed here."""
    process = subprocess.Popen([*PROGRAM, "mcp"], stdin=source, stdout=sink, stderr=subprocess.PIPE)
    os.close(source)
    os.close(sink)
    return process


def test_a_server_ends_without_an_error_when_its_client_leaves_answers_unread(place: Path) -> None:
    source, asks = socket.socketpair()  # as Node gives them to what it starts
    sink, hears = socket.socketpair()
    with start_on(source.detach(), sink.detach()) as process:
        with asks, hears:
            asks.sendall(LIST * 100)  # more answers than fit: the server waits to be read
            hears.recv(1)
        assert process.wait(timeout=30) == 0
        assert process.stderr.read() == b""


def test_non_blocking_pipes_lose_no_answer(place: Path) -> None:
    (source, asks), (hears, sink) = os.pipe(), os.pipe()
    os.set_blocking(source, False)  # as a client that shares them with the server may make them
    os.set_blocking(sink, False)
    with start_on(source, sink) as process:
        os.write(asks, LIST * 100)
        os.close(asks)
        with os.fdopen(hears, "rb") as answers:
            assert sum(b'"recall"' in line for line in answers) == 100
        assert process.wait(timeout=30) == 0
        assert process.stderr.read() == b""


def test_a_client_that_reads_no_answers_is_not_read_from_without_limit(place: Path) -> None:
    (source, asks), (hears, sink) = os.pipe(), os.pipe()
    os.set_blocking(asks, False)
    with start_on(source, sink) as process:
        sent, patience = 0, 20
        while sent < 20_000 and patience:
            try:
                os.write(asks, LIST)
                sent, patience = sent + 1, 20
            except BlockingIOError:
                patience -= 1
                time.sleep(0.05)
        os.close(asks)
        with os.fdopen(hears, "rb") as answers:
            answered = sum(b'"recall"' in line for line in answers)
        assert process.wait(timeout=30) == 0
    assert answered == sent < 20_000


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("<&-", "standard input is closed"),
        (">&-", "standard output is closed"),
        ("<&- >&-", "standard input is closed"),
        ("0>/dev/null", "cannot read standard input"),
        ("1</dev/null", "cannot write to standard output"),
        pytest.param(
            ">/dev/full", "cannot write to standard output",
            marks=pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device here"),
        ),
    ],
)  # several entries per line  # fmt: skip
def test_a_server_without_usable_pipes_ends_with_a_reason(how: str, why: str, place: Path) -> None:
    command = f"{shlex.join([*PROGRAM, 'mcp'])} {how}"
    done = subprocess.run(["sh", "-c", command], input=LIST, capture_output=True, timeout=30)
    assert done.returncode in (1, 2)
    assert done.stderr.startswith(f"omoide: {why}".encode())
    assert done.stderr.count(b"\n") == 1


def test_standard_output_has_only_protocol_messages(talk: Callable[..., Any], place: Path) -> None:
    (place / "sitecustomize.py").write_text(
        "import sys\n"
        "from omoide.service.queries import Queries\n"
        "old = Queries.recall\n"
        "def recall(self, *a, **k):\n"
        "    print('a library that prints')\n"
        "    return old(self, *a, **k)\n"
        "Queries.recall = recall\n"
    )
    client = talk(PYTHONPATH=str(place))
    assert client.result("recall", query="x")["total_count"] == 0
    client.process.stdin.close()
    assert client.process.wait(timeout=30) == 0
    assert client.process.stdout.read() == b""
    assert b"a library that prints" in client.process.stderr.read()


def test_a_bug_in_one_answer_does_not_end_the_server(talk: Callable[..., Any], place: Path) -> None:
    (place / "sitecustomize.py").write_text(
        "from omoide.service.queries import Queries\n"
        "def recall(self, *a, **k):\n"
        "    raise ZeroDivisionError\n"
        "Queries.recall = recall\n"
    )
    client = talk(PYTHONPATH=str(place))
    error = client.request("tools/call", name="recall", arguments={})["error"]
    assert error["code"] == -32603
    assert "ZeroDivisionError" in error["message"]
    assert client.request("ping")["result"] == {}
    client.process.stdin.close()
    assert b"ZeroDivisionError" in client.process.stderr.read()


def many(count: int) -> list[dict[str, str]]:
    return [{"content": f"note {number} about thing {number % 7}"} for number in range(count)]


def test_a_long_call_reports_progress_if_requested(talk: Callable[..., Any]) -> None:
    client = talk("--tools", "all")
    arguments = {"memories": many(250)}
    id = client.post("tools/call", name="remember_many", arguments=arguments, _meta={"progressToken": "t"})
    heard = [client.read() for _ in range(5)]
    assert [note["params"]["progress"] for note in heard[:4]] == [0, 100, 200, 250]
    assert all(note["method"] == "notifications/progress" and note["params"]["total"] == 250 for note in heard[:4])
    assert heard[4]["id"] == id
    answer = client.request("tools/call", name="remember_many", arguments=arguments)  # and not otherwise
    assert answer["result"]["structuredContent"]["count"] == 250


def test_a_cancelled_call_ends_without_an_answer(talk: Callable[..., Any]) -> None:
    client = talk("--tools", "all")
    arguments = {"memories": many(5_000)}
    id = client.post("tools/call", name="remember_many", arguments=arguments, _meta={"progressToken": 1})
    assert client.read()["params"]["progress"] == 0
    client.notify("notifications/cancelled", requestId=id, reason="changed my mind")
    asked = client.post("tools/call", name="list", arguments={})
    answer = client.read()
    while "method" in answer:  # progress that was on its way
        answer = client.read()
    assert answer["id"] == asked
    assert 0 < answer["result"]["structuredContent"]["total_count"] < 5_000


def test_a_call_cancelled_in_the_queue_is_not_run(talk: Callable[..., Any]) -> None:
    client = talk("--tools", "all")
    client.post("tools/call", name="remember_many", arguments={"memories": many(2_000)})
    waiting = client.post("tools/call", name="remember", arguments={"content": "never mind"})
    client.notify("notifications/cancelled", requestId=waiting)
    client.read()
    assert client.result("recall", query="mind")["total_count"] == 0


def test_a_ping_is_answered_during_a_call(talk: Callable[..., Any]) -> None:
    client = talk("--tools", "all")
    client.request("ping")
    work = client.post("tools/call", name="remember_many", arguments={"memories": many(3_000)})
    ping = client.post("ping")
    assert [client.read()["id"], client.read()["id"]] == [ping, work]


def test_listing_the_tools_needs_no_database(talk: Callable[..., Any], place: Path) -> None:
    client = talk()
    assert client.request("tools/list")["result"]["tools"]
    assert not (place / "memory.db").exists()


def test_a_database_that_cannot_be_opened_is_a_tool_error(talk: Callable[..., Any], place: Path) -> None:
    (place / "memory.db").write_bytes(b"not a database at all, but long enough to be one" * 100)
    client = talk()
    assert "memory.db" in client.refusal("recall", query="x")


def test_invalid_settings_end_the_server_with_a_reason(talk: Callable[..., Any], place: Path) -> None:
    (place / "config.toml").write_text("limit = 0\n")
    code, out, err = talk().end()
    assert (code, out) == (2, b"")
    assert b"limit" in err


def test_the_default_project_is_the_repository_of_the_working_directory(
    talk: Callable[..., Any], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMOIDE_PROJECT")
    (place / "shop" / ".git").mkdir(parents=True)
    os.chdir(place / "shop")
    client = talk()
    client.result("remember", content="kept in the repository")
    client.result("remember", content="kept elsewhere", project="backend/other")
    client.result("remember", content="kept in a session", session="s1")
    client.result("remember", content="kept everywhere", scope="global")
    found = client.result("recall", query="kept")
    assert sorted(memory["layer"] for memory in found["memories"]) == ["global", "project", "session"]
    assert client.result("recall", query="kept", scope="session", session="s1")["total_count"] == 1
    assert client.result("recall", query="kept", project="backend/other", scope="project")["total_count"] == 1
    assert "session" in client.refusal("remember", content="x", scope="session")


def test_without_a_project_memories_are_global_and_a_session_is_refused(
    talk: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMOIDE_PROJECT")
    client = talk("--tools", "layers")
    client.result("remember", content="a preference")
    assert client.result("recall")["memories"][0]["layer"] == "global"
    assert "project" in client.refusal("remember", content="x", session="s1")
    assert "project" in client.refusal("save_to_memory", key="k", content="x")


def test_the_flag_global_overrides_the_project_of_the_settings(talk: Callable[..., Any], run: Callable[..., Any]) -> None:
    client = talk("--global")  # the settings name project shop
    client.result("remember", content="for all")
    assert client.result("recall")["memories"][0]["layer"] == "global"
    assert "choose one" in run("mcp", "--global", "--project", "x").err
    assert "after the command" in run("mcp", "--store", "elsewhere.db", "status").err


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux tells how long another process has worked")
def test_the_server_starts_with_about_a_tenth_of_a_second_of_work(talk: Callable[..., Any]) -> None:
    talk().request("tools/list")  # compiles
    client = talk()
    client.request("tools/list")
    ticks = Path(f"/proc/{client.process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    assert sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK") < 1  # a machine may be busy; bench/mcp.py measures


def test_listing_the_tools_loads_nothing_heavy(place: Path) -> None:
    script = (
        "import sys; sys.argv = ['omoide', 'mcp']\n"
        "from omoide.interfaces.cli import cli\n"
        "cli(standalone_mode=False)\n"
        "print(' '.join(sys.modules), file=sys.stderr)"
    )
    asked = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}\n'
    done = subprocess.run([sys.executable, "-c", script], input=asked, capture_output=True, check=True)
    assert json.loads(done.stdout)["result"]["tools"]
    assert not set(done.stderr.decode().split()) & {
        "apsw", "asyncio", "http", "json", "logging", "omoide.service", "omoide.storage", "socket", "ssl", "Stemmer",
        "subprocess", "tomllib", "traceback", "yaml",
    }  # several entries per line  # fmt: skip


def test_a_line_that_is_too_long_is_discarded_and_the_next_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "MAX_LINE", 100_000)
    source, sink = os.pipe()
    with os.fdopen(sink, "wb") as pipe:
        writer = threading.Thread(target=lambda: (pipe.write(b"x" * 1_000_000 + b"\nnext\n\nlast"), pipe.close()))
        writer.start()
        assert list(stdio.read_lines(source)) == [None, b"next", b"last"]
        writer.join()
    os.close(source)


def test_when_idle_is_called_if_no_input_is_waiting() -> None:
    source, sink = os.pipe()
    rested: list[str] = []
    lines = stdio.read_lines(source, lambda: (rested.append("rested"), os.write(sink, b"two\n"))[0])
    os.write(sink, b"one\n")
    assert (next(lines), rested) == (b"one", [])
    assert (next(lines), rested) == (b"two", ["rested"])
    os.close(sink)
    os.close(source)


def test_a_lone_surrogate_is_stored_as_a_question_mark(talk: Callable[..., Any]) -> None:
    client = talk()
    assert client.result("remember", content="cut in the mid\ud83d")["action"] == "created"
    assert client.result("recall", query="mid")["memories"][0]["content"] == "cut in the mid?"
    client.send(b'{"jsonrpc": "2.0", "id": 9, "method": "\\ud83d", ')
    assert client.read()["error"]["code"] == -32700


@given(
    st.binary()
    | st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: st.dictionaries(st.sampled_from(["jsonrpc", "id", "method", "params", "result"]) | st.text(), inner),
    ).map(lambda value: json.dumps(value).encode())
)
def test_any_bytes_are_a_message_or_a_protocol_error(data: bytes) -> None:
    try:
        request = jsonrpc.read(data)
    except jsonrpc.RpcError as error:
        said = jsonrpc.failure(error.id, error)
    else:
        said = jsonrpc.result(request.id if request else None, {})
    assert json.loads(said)["jsonrpc"] == "2.0"
