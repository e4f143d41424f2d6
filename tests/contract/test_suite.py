"""The contract needs nothing but a fixture: no module of it imports an engine."""

import ast
from pathlib import Path

ENGINES = ("apsw", "sqlite3", "omoide.storage.sqlite")


def test_no_module_of_the_contract_imports_an_engine():
    for file in Path(__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            assert not any(name.startswith(ENGINES) for name in names), f"{file.name}: {names}"
