"""The OpenAPI document: valid, complete, with examples; what is generated from it, and what a fuzzer finds by it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from journey.http.conftest import OWNER, needs_server
from omoide.model import TYPES

pytestmark = needs_server
BIN = Path(sys.executable).parent
LEFT_OUT = "positive_data_acceptance,ignored_auth"
"""Checks that are not run: docs/rest.md says why."""


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    from omoide.interfaces.rest import openapi

    return openapi.document(TYPES)


def operations(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [operation for path in document["paths"].values() for operation in path.values()]


def test_the_server_offers_the_document_and_the_page_without_a_token(server: Any, document: dict[str, Any]) -> None:
    assert server.request("GET", "/openapi.json", token="").data == document
    page = server.request("GET", "/reference", token="")
    text = page.text.decode()
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    for operation in operations(document):
        assert f'id="{operation["operationId"]}"' in text
    assert "<script" not in text
    assert "http://" not in text
    assert "https://" not in text


def test_every_route_has_an_operation_with_a_name_of_its_own_and_a_summary(document: dict[str, Any]) -> None:
    from omoide.interfaces.rest import routing

    found = operations(document)
    assert document["openapi"] == "3.1.0"
    assert len(found) == len(routing.ROUTES) == len({operation["operationId"] for operation in found})
    assert all(operation["summary"] for operation in found)


def test_links_lead_from_what_an_operation_creates_to_the_operations_on_it(document: dict[str, Any]) -> None:
    by_id = {operation["operationId"]: operation for operation in operations(document)}
    links = by_id["composePrompt"]["responses"]["200"]["links"]
    assert set(links) == {"getRun", "replayRun", "recordOutcome", "undoOutcome"}
    assert links["getRun"]["parameters"] == {"projectId": "$request.path.projectId", "runId": "$response.body#/run/id"}
    for operation in by_id.values():
        for response in operation["responses"].values():
            for link in response.get("links", {}).values():
                needed = {each["name"] for each in by_id[link["operationId"]]["parameters"] if each["in"] == "path"}
                assert set(link["parameters"]) == needed


def test_every_example_fits_its_schema(document: dict[str, Any]) -> None:
    def check(content: dict[str, Any]) -> None:
        schema = {**content["schema"], "components": document["components"]}
        jsonschema.validate(content["example"], schema, jsonschema.Draft202012Validator)

    for operation in operations(document):
        if "requestBody" in operation:
            check(operation["requestBody"]["content"]["application/json"])
        for status, response in operation["responses"].items():
            if status.startswith("2") and "content" in response:
                check(response["content"]["application/json"])


def test_a_python_client_is_generated_without_a_warning(document: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "openapi.json").write_text(json.dumps(document))
    command = [BIN / "openapi-python-client", "generate", "--path", "openapi.json", "--output-path", "client"]
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}  # it runs ruff
    done = subprocess.run(
        [*command, "--meta", "none", "--fail-on-warning"], cwd=tmp_path, capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "client" / "api" / "memories" / "create_memory.py").exists()


def test_a_fuzzer_finds_nothing_by_the_document(server: Any, project: str, tmp_path: Path, *, long: bool) -> None:
    size = ["--max-examples", "300" if long else "2"]
    done = subprocess.run(
        [
            *(BIN / "st", "run", f"http://127.0.0.1:{server.port}/openapi.json", "-H", f"Authorization: Bearer {OWNER}"),
            # Slower than the limit of requests without a token, which it also tries.
            *("--exclude-checks", LEFT_OUT, "--seed", "1", "--no-color", "--rate-limit", "60/s", *size),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr
    assert server.request("GET", project).status == 200
