"""What surrounds memories over REST: retries, pages, states, history, links, search, events; and who may do what."""

import json
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import omoide
from journey.http.conftest import ADMIN, NUMBERS, OWNER, WORKER, needs_server
from omoide.model import Role, Scope

pytestmark = needs_server
PROGRAM = [sys.executable, "-c", "from omoide.interfaces.cli import main; main()"]


# retries


def test_a_retry_with_the_same_key_gets_the_same_answer_and_does_nothing(server: Any, project: str) -> None:
    body = {"content": "知識は一度だけ保存する", "tags": ["retry"], "expiresAt": "2999-02-05T10:00:00+09:00"}
    key = f"key-{next(NUMBERS)}"
    first = server.request("POST", project, body, Idempotency_Key=key)
    server.request("PATCH", f"{project}/{first.data['id']}", {"content": "changed since"})
    again = server.request("POST", project, body, Idempotency_Key=key)
    assert (first.status, again.status) == (201, 201)
    assert again.text == first.text
    assert (first.headers["Idempotency-Replayed"], again.headers["Idempotency-Replayed"]) == (None, "true")
    assert again.headers["Location"] == first.headers["Location"]
    assert len(server.request("GET", project).data["memories"]) == 1


def test_a_key_that_was_used_for_another_request_is_refused(server: Any, project: str) -> None:
    key = f"key-{next(NUMBERS)}"
    assert server.request("POST", project, {"content": "one"}, Idempotency_Key=key).status == 201
    refused = server.request("POST", project, {"content": "two"}, Idempotency_Key=key)
    assert (refused.status, len(server.request("GET", project).data["memories"])) == (422, 1)
    assert server.request("POST", project, {"content": "three"}, Idempotency_Key=key, token=WORKER).status == 201
    for wrong in ("x" * 256, " "):
        assert server.request("POST", project, {"content": "four"}, Idempotency_Key=wrong).status in (400, 422)


def test_of_many_requests_at_once_with_one_key_one_is_done(server: Any, project: str) -> None:
    key, answers = f"key-{next(NUMBERS)}", []

    def post() -> None:
        body = {"content": "at once", "key": "only"}
        answers.append(server.request("POST", project, body, Idempotency_Key=key))

    threads = [threading.Thread(target=post) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    statuses = Counter(answer.status for answer in answers)
    assert set(statuses) <= {201, 409}
    done = [answer.text for answer in answers if answer.status == 201]
    assert len(set(done)) == 1
    assert server.request("GET", f"{project}/{json.loads(done[0])['id']}").data["referenceCount"] == 0


def test_projects_sessions_links_and_states_can_be_retried_too(server: Any, project: str) -> None:
    one, two = (server.request("POST", project, {"content": text}).data["id"] for text in ("one", "two"))
    base = project.removesuffix("/memories")
    for path, body in (
        ("/api/projects", {"path": f"retried-{next(NUMBERS)}"}),
        (f"{base}/sessions", {"name": "monday"}),
        (f"{project}/{one}/links", {"kind": "relates", "targetId": two}),
        (f"{project}/{one}/archive", None),
        (f"{project}/{one}/restore", None),
    ):
        key = f"key-{next(NUMBERS)}"
        first, again = (server.request("POST", path, body, Idempotency_Key=key) for _ in range(2))
        assert (first.status, first.text) == (again.status, again.text), path
        assert again.headers["Idempotency-Replayed"] == "true"


def test_a_retry_gets_the_project_and_the_session_as_they_were_created(server: Any, project: str) -> None:
    base = project.removesuffix("/memories")
    key, body = f"key-{next(NUMBERS)}", {"path": f"retried-{next(NUMBERS)}", "description": "売り場"}
    made = server.request("POST", "/api/projects", body, Idempotency_Key=key)
    server.request("PATCH", made.headers["Location"], {"description": "changed since"})
    assert server.request("POST", "/api/projects", body, Idempotency_Key=key).text == made.text
    started = server.request("POST", f"{base}/sessions", {"name": "monday"}, Idempotency_Key=key)
    server.request("POST", project, {"content": "added since", "session": "monday"})
    assert server.request("POST", f"{base}/sessions", {"name": "monday"}, Idempotency_Key=key).text == started.text


def test_a_retry_gets_the_link_as_it_was_made(server: Any, project: str) -> None:
    one, two, three = (server.request("POST", project, {"content": text}).data for text in ("one", "two", "三"))
    path, body, key = f"{project}/{one['id']}/links", {"kind": "relates", "targetId": two["id"]}, f"key-{next(NUMBERS)}"
    made = server.request("POST", path, body, Idempotency_Key=key)
    server.request("DELETE", f"{path}/relates/{two['id']}")
    server.request("POST", path, {"kind": "relates", "targetId": three["id"]})
    again = server.request("POST", path, body, Idempotency_Key=key)
    assert (again.status, again.text, again.headers["Idempotency-Replayed"]) == (made.status, made.text, "true")
    assert [link["targetUuid"] for link in server.request("GET", path).data["links"]] == [three["uuid"]]


@pytest.mark.parametrize("where", ["project", "global"])
@pytest.mark.parametrize("more", [{}, {"record": True}, {"run": "ci-77"}], ids=["prompt only", "recorded", "named run"])
def test_a_prompt_is_composed_once_for_a_key(server: Any, project: str, where: str, more: dict[str, Any]) -> None:
    base = project.removesuffix("/memories") if where == "project" else "/api/projects/0"
    memory = server.request("POST", f"{base}/memories", {"content": f"pnpm を使う {next(NUMBERS)}"}).data["id"]
    if "run" in more:
        more = {"run": f"ci-{next(NUMBERS)}"}
    key, body = f"key-{next(NUMBERS)}", {"task": {"title": "ログインを直す", "writeScope": ["src/[x"]}, **more}
    first = server.request("POST", f"{base}/compose", body, Idempotency_Key=key)
    runs = len(server.request("GET", f"{base}/runs").data["runs"])
    server.request("PATCH", f"{base}/memories/{memory}", {"content": "changed since"})
    if first.data["run"]:
        server.request("POST", f"{base}/runs/{first.data['run']['id']}/outcome", {"result": "success"})
    again = server.request("POST", f"{base}/compose", body, Idempotency_Key=key)
    assert (first.status, again.status, again.text) == (200, 200, first.text)
    assert (first.headers["Idempotency-Replayed"], again.headers["Idempotency-Replayed"]) == (None, "true")
    assert len(server.request("GET", f"{base}/runs").data["runs"]) == runs
    assert server.request("POST", f"{base}/compose", {**body, "limit": 3}, Idempotency_Key=key).status == 422


def test_a_prompt_whose_memory_was_purged_since_is_not_composed_again(
    server: Any, project: str, place_of_server: Path
) -> None:
    base = project.removesuffix("/memories")
    memory = server.request("POST", project, {"content": "to be purged"}).data["uuid"]
    key, body = f"key-{next(NUMBERS)}", {"task": {"title": "x"}}
    assert "to be purged" in server.request("POST", f"{base}/compose", body, Idempotency_Key=key).data["prompt"]
    path = server.request("GET", base).data["path"]
    with omoide.open(place_of_server / "memory.db") as service:
        service.forget(memory, scope=Scope.project(path))
        service.purge([memory], scope=Scope.project(path))
    refused = server.request("POST", f"{base}/compose", body, Idempotency_Key=key)
    assert (refused.status, "purged" in refused.data["detail"]) == (404, True)


def test_an_outcome_is_recorded_once_for_a_key(server: Any, project: str) -> None:
    base = project.removesuffix("/memories")
    memory = server.request("POST", project, {"content": "pnpm を使う", "relevanceScore": 0.5}).data["id"]
    run = server.request("POST", f"{base}/compose", {"task": {"title": "x"}, "record": True}).data["run"]["id"]
    path, key = f"{base}/runs/{run}/outcome", f"key-{next(NUMBERS)}"
    body = {"result": "success", "helped": [memory], "note": "テストが通った", "exitCode": 0}
    first = server.request("POST", path, body, Idempotency_Key=key)
    moved = server.request("GET", f"{project}/{memory}").data["relevanceScore"]
    again = server.request("POST", path, body, Idempotency_Key=key)
    assert (first.status, again.status, again.text) == (200, 200, first.text)
    assert server.request("POST", path, {"result": "failure", "force": True}).status == 200
    assert server.request("POST", path, body, Idempotency_Key=key).text == first.text
    assert server.request("GET", f"{base}/runs/{run}").data["outcome"]["result"] == "failure"
    assert moved > 0.5 > server.request("GET", f"{project}/{memory}").data["relevanceScore"]
    assert server.request("POST", path, {**body, "note": "x"}, Idempotency_Key=key).status == 422


def test_every_post_that_changes_something_takes_a_key() -> None:
    from omoide.interfaces.rest import routes, routing

    _ = routes
    without = {route.operation for route in routing.ROUTES if route.method == "POST" and not route.idempotent}
    assert without == {"searchMemoriesByBody"}


# pages


def test_pages_lead_from_one_to_the_next_while_memories_change(server: Any, project: str) -> None:
    ids = [server.request("POST", project, {"content": f"note {number}"}).data["id"] for number in range(7)]
    page = server.request("GET", f"{project}?limit=3")
    seen = [memory["id"] for memory in page.data["memories"]]
    server.request("PATCH", f"{project}/{ids[0]}", {"content": "moved to the front"})
    while page.data["nextCursor"]:
        link = page.headers["Link"]
        assert link.endswith('; rel="next"')
        page = server.request("GET", link[1 : link.index(">")])
        seen += [memory["id"] for memory in page.data["memories"]]
    assert page.headers["Link"] is None
    assert seen == [*reversed(ids[1:])]


def test_a_page_has_fifty_memories_unless_a_limit_says_otherwise(server: Any, project: str, place_of_server: Path) -> None:
    scope = Scope.project(server.request("GET", project.removesuffix("/memories")).data["path"])
    with omoide.open(place_of_server / "memory.db") as memory:
        memory.remember_many([omoide.Draft(f"note {number} 番", scope) for number in range(60)])
    assert len(server.request("GET", project).data["memories"]) == 50
    assert len(server.request("GET", f"{project}?limit=1000").data["memories"]) == 60
    assert len(server.request("GET", f"{project}?type=note").data["memories"]) == 50
    link = server.request("GET", f"{project}?type=note&limit=25").headers["Link"]
    assert "?type=note&active=true&limit=25&cursor=" in link


# states, history, links


def test_a_memory_is_archived_restored_pinned_and_promoted(server: Any, project: str) -> None:
    base = project.removesuffix("/memories")
    one = f"{project}/{server.request('POST', project, {'content': 'one', 'session': 'monday'}).data['id']}"
    tag = server.request("GET", one).headers["ETag"]
    assert server.request("POST", f"{one}/archive", If_Match=tag).data["state"] == "archived"
    assert server.request("POST", f"{one}/restore", If_Match=tag).status == 412
    listed = server.request("GET", f"{base}/archive?include=sessions").data["memories"]
    assert [memory["content"] for memory in listed] == ["one"]
    assert server.request("POST", f"{one}/restore").data["active"] is True
    assert server.request("POST", f"{one}/pin").data["pinned"] is True
    assert server.request("GET", f"{base}/resume?session=monday").data["pinned"][0]["content"] == "one"
    assert server.request("POST", f"{one}/unpin").data["pinned"] is False
    assert server.request("POST", f"{one}/promote").data["session"] is None
    assert server.request("DELETE", one).status == 204
    assert server.request("POST", f"{one}/restore").data["state"] == "active"


def test_a_past_version_is_listed_and_restored(server: Any, project: str) -> None:
    one = f"{project}/{server.request('POST', project, {'content': 'first', 'tags': ['a']}).data['id']}"
    server.request("PATCH", one, {"content": "second", "tags": [], "topic": "a topic"})
    versions = server.request("GET", f"{one}/history").data["versions"]
    assert [(each["version"], each["content"]) for each in versions] == [(1, "first"), (2, "second")]
    restored = server.request("POST", f"{one}/history/1/restore")
    assert (restored.data["version"], restored.data["content"], restored.data["tags"]) == (3, "first", ["a"])
    assert restored.data["topic"] == "first"
    assert server.request("POST", f"{one}/history/9/restore").status == 404


def test_links_and_similar_memories(server: Any, project: str) -> None:
    one = server.request("POST", project, {"content": "pnpm installs the packages of the shop"}).data
    two = server.request("POST", project, {"content": "pnpm installs all packages of the web shop"}).data
    path = f"{project}/{one['id']}/links"
    made, again = (server.request("POST", path, {"kind": "supersedes", "targetId": two["id"]}) for _ in range(2))
    assert (made.status, again.status) == (201, 200)
    (link,) = server.request("GET", path).data["links"]
    assert made.data == again.data == link
    assert (link["sourceUuid"], link["kind"], link["targetUuid"]) == (one["uuid"], "supersedes", two["uuid"])
    assert server.request("DELETE", f"{path}/supersedes/{two['id']}").status == 204
    assert server.request("GET", path).data["links"] == []
    assert server.request("DELETE", f"{path}/nonsense/{two['id']}").status == 422
    similar = server.request("GET", f"{project}/{one['id']}/similar").data["hits"]
    assert [hit["memory"]["id"] for hit in similar] == [two["id"]]


# search, sessions, events, statistics


def test_search_by_get_and_post_has_score_and_why(server: Any, project: str) -> None:
    base = project.removesuffix("/memories")
    server.request("POST", project, {"content": "認証は JWT を採用する", "type": "decision"})
    server.request("POST", project, {"content": "The build uses pnpm", "tags": ["build"]})
    found = server.request("GET", f"{base}/search?q=%E8%AA%8D%E8%A8%BC").data
    assert [hit["memory"]["content"] for hit in found["hits"]] == ["認証は JWT を採用する"]
    assert found["hits"][0]["score"] > 0
    assert "認証" in found["hits"][0]["why"]
    assert server.request("POST", f"{base}/search", {"query": "認証"}).data == found
    assert server.request("POST", f"{base}/search", {"query": "pnpm", "tags": ["other"]}).data["total"] == 0
    assert server.request("POST", f"{base}/search", {"query": "pnpm", "layers": ["global"]}).data["total"] == 0
    assert server.request("GET", f"{base}/search?q=pnpm&layers=nowhere").status == 422
    assert server.request("GET", f"{base}/search").status == 422


def test_sessions_events_and_statistics(server: Any, project: str) -> None:
    base = project.removesuffix("/memories")
    started = server.request("POST", f"{base}/sessions", {"name": "月曜 1/2".replace("/", "-"), "source": "slack:C1"})
    assert started.status == 201
    assert server.request("GET", started.headers["Location"]).data == started.data
    assert server.request("POST", f"{base}/sessions", {"name": "月曜 1-2"}).status == 409
    made = server.request("POST", project, {"content": "kept", "session": "月曜 1-2", "tags": ["x"]}).data
    assert [each["memoryCount"] for each in server.request("GET", f"{base}/sessions").data["sessions"]] == [1]
    events = server.request("GET", f"{base}/events?memoryId={made['id']}").data["events"]
    assert [(each["action"], each["memoryId"], each["via"]) for each in events] == [("remembered", made["id"], "rest")]
    assert server.request("GET", f"{base}/stats").data["byTag"]["x"] == 1
    assert server.request("GET", "/api/stats").data["byState"]["active"] >= 1
    assert server.request("GET", "/api/stats", token=WORKER).status == 403


# prompts and runs


def test_a_prompt_is_the_same_bytes_over_rest_and_on_the_command_line_also_when_it_is_replayed(
    server: Any, project: str, place_of_server: Path
) -> None:
    base = project.removesuffix("/memories")
    path = server.request("GET", base).data["path"]
    for body in (
        {"type": "pattern", "content": "このプロジェクトではpnpm + Turborepoを使用", "relevanceScore": 1.0},
        {"type": "warning", "content": "src/core/配下の変更は全テスト実行が必須", "tags": ["src/core/**"]},
    ):
        server.request("POST", project, body)
    task = {"id": "12", "title": "ログインを直す", "writeScope": ["src/core/api.py"], "constraints": ["テストを書く"]}
    made = server.request("POST", f"{base}/compose", {"task": task, "run": "ci-1"})
    assert made.status == 200
    assert "- [warning] src/core/配下の変更は全テスト実行が必須\n- [pattern]" in made.data["prompt"]
    flags = ("--id", "12", "--title", "ログインを直す", "--write-scope", "src/core/api.py", "--constraint", "テストを書く")
    command = [*PROGRAM, "compose", *flags, "--project", path, "--store", str(place_of_server / "memory.db"), "--json"]
    typed = json.loads(subprocess.run(command, capture_output=True, check=True, cwd=place_of_server).stdout)
    assert typed["prompt"] == made.data["prompt"]
    assert typed["receipt"]["sha256"] == made.data["receipt"]["sha256"]
    (run,) = server.request("GET", f"{base}/runs").data["runs"]
    assert (run["runId"], run["task"]["writeScope"], run["outcome"]) == ("ci-1", ["src/core/api.py"], None)
    server.request("PATCH", f"{project}/{run['receipt']['memories'][0]['memoryId']}", {"content": "changed since"})
    assert server.request("GET", f"{base}/runs/{run['id']}/prompt").data["prompt"] == made.data["prompt"]
    assert server.request("POST", f"{base}/compose", {"task": task, "run": "ci-1"}).status == 409


def test_an_outcome_is_recorded_and_taken_back(server: Any, project: str) -> None:
    base = project.removesuffix("/memories")
    memory = server.request("POST", project, {"content": "pnpm を使う", "relevanceScore": 0.5}).data["id"]
    run = server.request("POST", f"{base}/compose", {"task": {"title": "x"}, "record": True}).data["run"]
    path = f"{base}/runs/{run['id']}/outcome"
    done = server.request("POST", path, {"result": "success", "helped": [memory], "exitCode": 0})
    assert (done.status, done.data["outcome"]["result"], done.data["outcome"]["helped"]) == (200, "success", [memory])
    assert server.request("GET", f"{project}/{memory}").data["relevanceScore"] > 0.5
    assert server.request("POST", path, {"result": "failure"}).status == 409
    assert server.request("GET", f"{base}/runs?result=success").data["runs"][0]["id"] == run["id"]
    assert server.request("GET", f"{base}/runs?pending=true").data["runs"] == []
    assert server.request("DELETE", path).data["outcome"] is None
    assert server.request("GET", f"{project}/{memory}").data["relevanceScore"] == 0.5
    for wrong in ({"result": "so so"}, {"result": "success", "helped": [99999]}):
        assert server.request("POST", path, wrong).status in (404, 422)
    assert server.request("GET", f"{base}/runs/999").status == 404


# who may do what


TRUSTED = {"deleteMemory", "archiveMemory", "restoreMemory", "promoteMemory", "getStats"}
"""The operations that a worker may not do."""


def every_route(number: int, memory: int, other: int | None = None) -> list[tuple[str, str, str, Any]]:
    """Every operation of the table with a body that is right, on a project and a memory, linked with another one."""
    from omoide.interfaces.rest import routes, routing

    _ = routes
    bodies = {
        "createProject": {"path": f"made-{next(NUMBERS)}"},
        "updateProject": {"description": "x"},
        "createMemory": {"content": "x"},
        "updateMemory": {"content": "x"},
        "createLink": {"kind": "relates", "targetId": other or memory},
        "searchMemoriesByBody": {"query": "secret"},
        "startSession": {},
        "composePrompt": {"task": {"title": "x"}},
        "recordOutcome": {"result": "success"},
    }
    queries = {"searchMemories": "?q=secret"}
    values = {
        "runId": 1,
        "projectId": number,
        "memoryId": memory,
        "version": 1,
        "kind": "relates",
        "otherId": other or memory,
        "session": "monday",
    }
    found = []
    for route in routing.ROUTES:
        path = route.path
        for name, value in values.items():
            path = path.replace(f"{{{name}}}", str(value))
        assert "{" not in path, f"a value for {path} is missing here"
        assert (route.body is None) or route.operation in bodies, f"a body for {route.operation} is missing here"
        found.append((route.operation, route.method, path + queries.get(route.operation, ""), bodies.get(route.operation)))
    return found


@pytest.mark.parametrize("role", list(Role))
def test_no_route_lets_a_bound_token_leave_its_project(role: str, server: Any, place_of_server: Path) -> None:
    mine, other = (server.request("POST", "/api/projects", {"path": f"bound-{next(NUMBERS)}"}).data for _ in range(2))
    base = f"/api/projects/{other['id']}"
    secret = server.request("POST", f"{base}/memories", {"content": "the secret marker", "session": "monday"}).data
    run = {"task": {"title": "the secret marker"}, "record": True, "session": "monday"}
    assert server.request("POST", f"{base}/compose", run).data["run"]["id"] == 1
    bound = f"a-token-of-a-bound-{role}-{mine['id']}"
    with (place_of_server / "memory.db.mcp.tokens").open("a") as file:
        file.write(f"{bound} {role} projects={mine['path']}\n")

    def state() -> Any:
        with omoide.open(place_of_server / "memory.db") as memory:
            scope = Scope.project(other["path"])
            listed = memory.list(scope=scope, layers=["session", "project"], limit=100)
            return listed, memory.runs(scope=scope), memory.sessions(scope=scope), memory.project(other["path"])

    before = state()
    tried = Counter[str]()
    for number in (other["id"], mine["id"]):
        for operation, method, where, body in every_route(number, secret["id"]):
            answer = server.request(method, where, body, token=bound)
            assert answer.status < 500, (operation, answer.text)
            assert b"marker" not in answer.text, operation
            if f"/projects/{other['id']}" in where or f"/memories/{secret['id']}" in where:
                # What a role may never do is refused in its own project, whether the memory exists or not.
                is_forbidden = role == Role.WORKER and operation in TRUSTED and number == mine["id"]
                assert answer.status == (403 if is_forbidden else 404), (operation, answer.status, answer.text)
                tried[operation] += 1
    assert len(tried) > 30, "every route of a project was tried"
    assert state() == before


@pytest.mark.parametrize("role", list(Role))
def test_no_route_lets_a_bound_token_leave_its_layers(role: str, server: Any, place_of_server: Path) -> None:
    mine = server.request("POST", "/api/projects", {"path": f"layers-{next(NUMBERS)}"}).data
    base = f"/api/projects/{mine['id']}"
    seen = server.request("POST", f"{base}/memories", {"content": "a secret of the project"}).data
    hidden = server.request("POST", f"{base}/memories", {"content": "the marker of a session", "session": "monday"}).data
    shared = server.request("POST", "/api/projects/0/memories", {"content": "the marker of the global layer"}).data
    composed = server.request("POST", f"{base}/compose", {"task": {"title": "x"}, "record": True}).data
    assert composed["run"]["id"] == 1
    assert "the marker of the global layer" in composed["prompt"]
    body = {"task": {"title": "the marker of a run"}, "record": True, "session": "monday"}
    assert server.request("POST", f"{base}/compose", body).status == 200
    bound = f"a-token-of-the-project-layer-{role}-{mine['id']}"
    with (place_of_server / "memory.db.mcp.tokens").open("a") as file:
        file.write(f"{bound} {role} projects={mine['path']} layers=project\n")
    for memory in (hidden, shared, seen):
        for operation, method, where, body in every_route(mine["id"], memory["id"]):
            answer = server.request(method, where, body, token=bound)
            assert answer.status < 500, (operation, answer.text)
            for kept in ("marker", "monday", hidden["uuid"], shared["uuid"]):
                assert kept.encode() not in answer.text, (operation, kept)
    purge = server.request("DELETE", f"/api/projects/0/memories/{shared['id']}")
    assert purge.status < 300, "the other tests of this server do not see it"


def test_every_route_but_the_public_ones_needs_a_token(server: Any, project: str) -> None:
    public = {"getLiveness", "getReadiness", "getVersion"}
    for operation, method, path, body in every_route(int(project.split("/")[3]), 1):
        status = server.request(method, path, body, token="").status
        assert status == 200 if operation in public else status in (401, 429), operation


@pytest.mark.parametrize("token", [OWNER, ADMIN, WORKER])
def test_a_role_may_do_what_the_table_of_permissions_says(token: str, server: Any, project: str) -> None:
    number = int(project.split("/")[3])
    base = project.removesuffix("/memories")
    other = server.request("POST", project, {"content": f"text {next(NUMBERS)}"}).data["id"]
    server.request("POST", project, {"content": "in a session", "session": "monday"})
    server.request("POST", f"{base}/compose", {"task": {"title": "x"}, "record": True})
    refused = set()
    for operation, method, path, body in every_route(number, 0, other):
        memory = server.request("POST", project, {"content": f"text {next(NUMBERS)}"}).data["id"]
        answer = server.request(method, path.replace("/memories/0", f"/memories/{memory}"), body, token=token)
        if answer.status == 403:
            refused.add(operation)
        else:  # 409: what it does was done already
            assert answer.status < 300 or answer.status == 409, (operation, answer.status, answer.text)
    assert refused == (TRUSTED if token == WORKER else set())


def test_a_client_that_hangs_up_in_its_body_changes_nothing(server: Any, project: str) -> None:
    body = json.dumps({"content": "never sent in full"}).encode()
    with server.connect() as peer:
        peer.sendall(
            f"POST {project} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {OWNER}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body[:-1]
        )
    assert server.request("GET", project).data["memories"] == []
    assert server.request("GET", "/health/ready").status == 200
