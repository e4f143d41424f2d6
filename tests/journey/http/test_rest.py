"""Memories over REST: the examples of the source design, roles and projects, wrong requests, two editors."""

import json
from pathlib import Path
from typing import Any

import pytest

import omoide
from journey.http.conftest import NUMBERS, OWNER, WORKER, needs_server

pytestmark = needs_server
BOUND = "a-token-that-is-bound-to-one"


def test_the_examples_of_the_source_design(server: Any, project: str) -> None:
    pattern = {
        "type": "pattern",
        "content": "このプロジェクトではpnpm + Turborepoを使用",
        "tags": ["build", "package-manager"],
        "relevanceScore": 1.0,
    }
    assert server.request("POST", project, pattern).status == 201
    warning = {
        "type": "warning",
        "content": "src/core/配下の変更は全テスト実行が必須",
        "tags": ["src/core/**", "testing"],
        "relevanceScore": 0.9,
    }
    made = server.request("POST", project, warning)
    assert made.status == 201
    assert made.headers["Content-Type"] == "application/json"
    assert {name: made.data[name] for name in warning} == warning
    assert made.headers["Location"] == f"{project}/{made.data['id']}"
    listed = server.request("GET", f"{project}?type=pattern").data
    (memory,) = listed["memories"]
    assert memory["createdAt"].endswith("Z")
    expected = {**pattern, "projectId": int(project.split("/")[3]), "source": "human", "active": True}
    assert {name: memory[name] for name in expected} == expected
    assert isinstance(memory["id"], int)


def test_a_list_has_active_or_inactive_memories_with_all_of_the_tags(server: Any, project: str) -> None:
    for content, tags in (("one", ["a", "b"]), ("two", ["a"]), ("three", [])):
        server.request("POST", project, {"content": content, "tags": tags})
    two = server.request("GET", f"{project}?tags=a").data["memories"][0]

    def contents(query: str) -> list[str]:
        return [memory["content"] for memory in server.request("GET", f"{project}?{query}").data["memories"]]

    assert contents("") == ["three", "two", "one"]
    assert contents("tags=A") == ["two", "one"]
    assert contents("tags=a,b") == ["one"]
    changed = server.request("PATCH", f"{project}/{two['id']}", {"active": False})
    assert (changed.status, changed.data["active"], changed.data["state"]) == (200, False, "inactive")
    assert contents("tags=a") == ["one"]
    assert contents("active=false") == ["two"]
    assert contents("limit=1") == ["three"]


def test_a_deleted_memory_is_gone_from_lists_and_can_still_be_read(server: Any, project: str) -> None:
    made = server.request("POST", project, {"content": "to be forgotten"}).data
    path = f"{project}/{made['id']}"
    deleted = server.request("DELETE", path)
    assert (deleted.status, deleted.text) == (204, b"")
    assert server.request("GET", project).data["memories"] == []
    assert server.request("GET", path).data["state"] == "forgotten"


def test_the_source_is_human_unless_the_body_or_a_run_says_otherwise(server: Any, project: str) -> None:
    def source(**more: Any) -> Any:
        made = server.request("POST", project, {"content": f"text {next(NUMBERS)}", **more}).data
        return made["source"], made["sourceRunId"]

    assert source() == ("human", None)
    assert source(sourceRunId=12) == ("run", 12)
    assert source(source="learning", sourceRunId="ci/7") == ("learning", "ci/7")


def test_the_same_memory_again_answers_200(server: Any, project: str) -> None:
    first = server.request("POST", project, {"content": "v1", "key": "build"})
    again = server.request("POST", project, {"content": "v2", "key": "build"})
    assert (first.status, again.status) == (201, 200)
    assert again.data["id"] == first.data["id"]
    assert (again.data["content"], again.data["version"]) == ("v2", 2)


def test_a_list_is_of_the_project_and_include_adds_layers(server: Any, project: str) -> None:
    server.request("POST", project, {"content": "of the project"})
    server.request("POST", project, {"content": "of a session", "session": "monday"})
    mark = f"of all {next(NUMBERS)}"
    everywhere = server.request("POST", "/api/projects/0/memories", {"content": mark}).data
    assert everywhere["projectId"] == 0

    def contents(query: str) -> set[str]:
        return {memory["content"] for memory in server.request("GET", f"{project}{query}").data["memories"]}

    assert contents("") == {"of the project"}
    assert contents("?include=sessions") == {"of the project", "of a session"}
    assert contents("?include=global,sessions") >= {"of the project", "of a session", mark}
    assert contents("?session=monday") == {"of a session"}
    assert mark in {memory["content"] for memory in server.request("GET", "/api/projects/0/memories").data["memories"]}


def test_a_second_editor_gets_412(server: Any, project: str) -> None:
    path = f"{project}/{server.request('POST', project, {'content': 'first'}).data['id']}"
    mine, theirs = (server.request("GET", path).headers["ETag"] for _ in range(2))
    assert server.request("PATCH", path, {"content": "theirs"}, If_Match=theirs).status == 200
    refused = server.request("PATCH", path, {"content": "mine"}, If_Match=mine)
    assert (refused.status, refused.headers["Content-Type"]) == (412, "application/problem+json")
    assert "version 2, not 1" in refused.data["detail"]
    assert server.request("DELETE", path, If_Match=mine).status == 412
    now = server.request("GET", path)
    assert now.data["content"] == "theirs"
    for tags in (now.headers["ETag"], f'"9-x", W/{now.headers["ETag"]}', "*"):
        unchanged = server.request("GET", path, If_None_Match=tags)
        assert (unchanged.status, unchanged.text, unchanged.headers["ETag"]) == (304, b"", now.headers["ETag"])
    assert server.request("GET", path, If_None_Match=mine).status == 200
    assert server.request("PATCH", path, {"content": "x"}, If_Match=f"W/{now.headers['ETag']}").status == 412
    assert server.request("PATCH", path, {"content": "merged"}, If_Match=f'"9-x", {now.headers["ETag"]}').status == 200
    assert server.request("PATCH", path, {"content": "x"}, If_Match=" ").status == 422
    assert server.request("DELETE", path, If_Match="*").status == 204


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"content": 5}, "/content"),
        ({"content": "x", "relevanceScore": 2}, "/relevanceScore"),
        ({"content": "x", "relevance_score": 0.5}, "/relevance_score"),
        ({"content": "x", "tags": ["ok", 7]}, "/tags/1"),
        ({"content": "x", "type": "nonsense"}, "/type"),
        ({"content": "x", "expiresAt": "2026-01-01T00:00:00"}, "/expiresAt"),
        ({"content": "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0bC3dE6"}, "/content"),
        ({"tags": []}, "/content"),
    ],
)
def test_a_wrong_field_is_named_with_422(body: Any, pointer: str, server: Any, project: str) -> None:
    refused = server.request("POST", project, body)
    assert (refused.status, refused.headers["Content-Type"]) == (422, "application/problem+json")
    assert [error["pointer"] for error in refused.data["errors"]] == [pointer]
    assert server.request("GET", project).data["memories"] == []


def test_a_wrong_parameter_is_named_with_422(server: Any, project: str) -> None:
    for query, name in (
        ("limit=0", "limit"),
        ("limit=x", "limit"),
        ("colour=red", "colour"),
        ("active=perhaps", "active"),
        ("cursor=zzz", "cursor"),
        ("include=nothing", "include"),
        ("limit=1&limit=2", "limit"),
    ):
        refused = server.request("GET", f"{project}?{query}")
        assert (refused.status, refused.data["errors"][0]["parameter"]) == (422, name)


def test_what_is_missing_is_404_and_what_is_no_json_400(server: Any, project: str) -> None:
    for path in ("/api/projects/99999/memories", f"{project}/99999", "/api/nothing", "/api/projects/shop/memories"):
        missing = server.request("GET", path)
        assert (missing.status, missing.data["status"]) == (404, 404)
    for body in (b"{", b"\xff", b"", b"[" * 100_000):
        assert server.request("POST", project, body).status in (400, 422)
    assert server.request("PUT", project, {}).headers["Allow"]


def test_another_project_is_missing_for_a_bound_token(server: Any, project: str, place_of_server: Path) -> None:
    other = server.request("POST", "/api/projects", {"path": f"other-{next(NUMBERS)}"}).data
    secret = server.request("POST", f"/api/projects/{other['id']}/memories", {"content": "the secret"}).data
    number = int(project.split("/")[3])
    path = server.request("GET", f"/api/projects/{number}").data["path"]
    with (place_of_server / "memory.db.mcp.tokens").open("a") as file:
        file.write(f"{BOUND} owner projects={path} layers=project\n")
    assert [each["id"] for each in server.request("GET", "/api/projects", token=BOUND).data["projects"]] == [number]
    assert server.request("POST", project, {"content": "mine"}, token=BOUND).status == 201
    for verb, body in (("GET", None), ("POST", {"content": "x"}), ("PATCH", {"content": "x"}), ("DELETE", None)):
        for where in (f"/api/projects/{other['id']}/memories", f"/api/projects/{other['id']}/memories/{secret['id']}"):
            answer = server.request(verb, where, body, token=BOUND)
            assert answer.status in (404, 405)
            assert b"secret" not in answer.text
    assert server.request("GET", f"{project}/{secret['id']}", token=BOUND).status == 404
    assert server.request("POST", "/api/projects/0/memories", {"content": "x"}, token=BOUND).status == 403


def test_a_worker_may_write_and_not_delete(server: Any, project: str) -> None:
    made = server.request("POST", project, {"content": "of a robot"}, token=WORKER)
    assert (made.status, made.data["author"], made.data["authorRole"]) == (201, "robot", "worker")
    assert server.request("DELETE", f"{project}/{made.data['id']}", token=WORKER).status == 403


def test_a_project_keeps_its_number_when_it_is_renamed(server: Any, project: str, place_of_server: Path) -> None:
    number = int(project.split("/")[3])
    path = server.request("GET", f"/api/projects/{number}").data["path"]
    with omoide.open(place_of_server / "memory.db") as memory:
        memory.rename_project(path, f"renamed-{number}")
    assert server.request("GET", f"/api/projects/{number}").data["path"] == f"renamed-{number}"
    assert server.request("PATCH", f"/api/projects/{number}", {"description": "sells"}).data["description"] == "sells"


def test_every_answer_has_security_headers_and_no_cors(server: Any) -> None:
    for path in ("/health/live", "/api/projects", "/nothing"):
        answer = server.request("GET", path, Origin="http://localhost")
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "no-store"
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["Access-Control-Allow-Origin"] is None
        assert answer.headers["Server"] is None


def test_health_and_version_need_no_token(server: Any) -> None:
    assert server.request("GET", "/health/live", token="").data == {"status": "ok"}
    assert server.request("GET", "/health/ready", token="").data == {"status": "ok"}
    assert server.request("GET", "/version", token="").data["name"] == "omoide"
    assert server.request("GET", "/health/live", token="", Host="evil.example").status == 403


def test_the_access_log_is_json_without_contents(start: Any) -> None:
    server = start("serve with log")
    made = server.request("POST", "/api/projects", {"path": "a-secret-plan"}).headers["Location"]
    server.request("GET", f"{made}/memories?tags=secret")
    server.request("GET", "/secret")
    server.process.terminate()
    assert server.process.wait(60) == 0
    text = server.process.stderr.read()
    lines = [json.loads(line) for line in text.splitlines() if not line.startswith("omoide: ")]  # it made a database
    assert [(line["method"], line["route"], line["status"], line["actor"]) for line in lines] == [
        ("POST", "/api/projects", 201, "owner"),
        ("GET", "/api/projects/{projectId}/memories", 200, "owner"),
        ("GET", None, 404, "owner"),
    ]
    assert "secret" not in text
    assert all(line["ms"] > 0 and line["time"].endswith("Z") for line in lines)


def test_the_owner_can_use_the_token_of_the_environment(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMOIDE_TOKEN", "a-token-of-the-environment")
    server = start("serve")
    assert server.request("GET", "/api/projects", token="a-token-of-the-environment").status == 200
    assert server.request("GET", "/api/projects", token=OWNER).status == 200
