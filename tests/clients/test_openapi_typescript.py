"""Types for TypeScript from the OpenAPI document, by the generator that people use; it needs Node and OMOIDE_LONG=1."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from omoide.model import TYPES


def test_typescript_types_are_generated_and_compile(tmp_path: Path, *, long: bool) -> None:
    npm = shutil.which("npm")
    if not long or npm is None:
        pytest.skip("installs programs and takes a minute: run with OMOIDE_LONG=1, and Node")
    from omoide.interfaces.rest import openapi

    (tmp_path / "openapi.json").write_text(json.dumps(openapi.document(TYPES)))
    program = 'import type { operations } from "./api";\n'
    program += 'export const made: operations["createMemory"]["requestBody"]["content"]["application/json"] ='
    program += ' { content: "x", relevanceScore: 0.9 };\n'
    (tmp_path / "use.ts").write_text(program)
    commands = (
        [npm, "install", "--silent", "--no-audit", "--no-fund", "openapi-typescript", "typescript"],
        ["node_modules/.bin/openapi-typescript", "openapi.json", "-o", "api.ts"],
        ["node_modules/.bin/tsc", "--noEmit", "--strict", "use.ts"],
    )
    for command in commands:
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
