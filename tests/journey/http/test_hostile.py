"""Thousands of hostile requests: no answer is a server error, and the server still works."""

import http.client
import random
from typing import Any

from journey.http.conftest import OWNER, needs_server

pytestmark = needs_server
PIECES = [
    *(
        "..",
        "%2e%2e",
        "%00",
        "%ff",
        "%",
        "//",
        "\\",
        ";",
        "~",
        "memories",
        "projects",
        "0",
        "-1",
        "99999999999999999999",
        "1e9",
    ),
    *(
        "search",
        "history",
        "links",
        "events",
        "api",
        "mcp",
        "openapi.json",
        "%E8%AA%8D",
        "{projectId}",
        "*",
        "'--",
        "restore",
    ),
]
VALUES = [
    "",
    "0",
    "-1",
    "null",
    "true",
    "x" * 300,
    "%00",
    "%f0%9f%92%a9",
    "1,2,,3",
    "%ff%fe",
    "9" * 40,
    "[]",
    "{}",
    "nan",
    "inf",
]
NAMES = [
    "limit",
    "active",
    "tags",
    "type",
    "cursor",
    "include",
    "q",
    "session",
    "since",
    "memoryId",
    "colour",
    "%00",
    "result",
]
JSON = [
    *("null", "[]", "{}", '""', "0", "{", "[[[[", "nul", '{"a":', "\xff", "[" * 5_000, "{" * 500, '{"content": null}'),
    *('{"content": ""}', '{"content": "\\ud800"}', '{"content": "\\u0000"}', '{"content": "x", "tags": "y"}', "1e999", "-0"),
    *(
        '{"content": "x", "relevanceScore": 1e400}',
        '{"content": "x", "expiresAt": "9999-99-99"}',
        '{"content": "x", "key": "../x"}',
    ),
    *('{"content": "x", "session": "con"}', '{"path": "a/b/c/d"}', '{"path": "\\u202e"}', '{"query": "\\"\\"OR*"}'),
    *('{"content": "x", "content": "y"}', '{"kind": "relates", "targetId": 0}', '{"task": {"writeScope": ["[["]}}'),
    *('{"result": "success", "helped": [1e30]}', '{"content": "x", "sourceRunId": 99999999999999999999999}'),
]
HEADERS = {
    "If-Match": ["*", '"', 'W/"1-x"', '"1-x", "2-y"', "x" * 2_000, '"99999999999999999999-x"'],
    "If-None-Match": ["*", "\xff"],
    "Idempotency-Key": ["x", "x" * 400, "é"],
    "Content-Type": ["text/plain", "application/json; charset=utf-16", "application/xml", "application/json;;;"],
    "Accept": ["text/html", "*/*;q=0", "\xff"],
    "Last-Event-ID": ["x"],
    "Range": ["bytes=0-1"],
    "Transfer-Encoding": ["gzip"],
    "Expect": ["100-continue"],
    "Origin": ["null", "http://evil.example"],
    "X-Forwarded-For": ["1.2.3.4"],
    "Cookie": ["a=b"],
}


def hostile(random: random.Random) -> tuple[str, str, bytes | None, dict[str, str]]:
    """A request that no client would send."""
    method = random.choice(["GET", "POST", "PATCH", "DELETE", "PUT", "HEAD", "OPTIONS", "TRACE", "PROPFIND"])
    path = "/api/projects/" + "/".join(random.choice(PIECES) for _ in range(random.randrange(5)))
    if random.random() < 0.5:
        tail = random.choice(["", "/1", "/1/history", "/1/links", "/1/archive", "/1/history/1/restore", "/1/similar"])
        path = f"/api/projects/{random.choice(['1', '0'])}/{random.choice(['memories', 'search', 'runs', 'compose'])}{tail}"
    query = "&".join(f"{random.choice(NAMES)}={random.choice(VALUES)}" for _ in range(random.randrange(4)))
    body = random.choice(JSON).encode("latin-1") if method in ("POST", "PATCH", "PUT") else None
    headers = {"Content-Type": "application/json"} if body is not None else {}
    for name in random.sample(list(HEADERS), random.randrange(4)):
        headers[name] = random.choice(HEADERS[name])
    return method, f"{path}?{query}" if query else path, body, headers


def test_hostile_requests_cause_no_server_error(server: Any, project: str, *, long: bool) -> None:
    chosen = random.Random(7)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    statuses = set()
    for number in range(10_000 if long else 800):
        method, path, body, headers = hostile(chosen)
        try:
            connection.request(method, path, body, {"Authorization": f"Bearer {OWNER}", **headers})
            answer = connection.getresponse()
            answer.read()
        except (http.client.RemoteDisconnected, ConnectionError):  # the connection was closed after the last refusal
            connection.close()
            continue
        statuses.add(answer.status)
        assert answer.status < 500, (number, method, path, body, headers)
    connection.close()
    assert {200, 400, 404, 405, 422} <= statuses
    assert server.request("GET", project).status == 200
    assert server.request("GET", "/health/ready").status == 200
