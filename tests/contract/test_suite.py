"""The contract needs nothing but a fixture, because no module of it imports an engine, and covers every method."""

import ast
import re
from pathlib import Path

import omoide

ENGINES = ("apsw", "sqlite3", "omoide.storage.sqlite")


def test_no_module_of_the_contract_imports_an_engine():
    for file in Path(__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            assert not any(name.startswith(ENGINES) for name in names), f"{file.name}: {names}"


WITHOUT_A_RESULT = {"enlarge_cache"}  # it only saves time


def test_every_method_of_the_protocols_is_called_by_a_test():
    here = Path(__file__).parent
    tests = "".join(file.read_text(encoding="utf-8") for file in sorted(here.glob("test_*.py")))
    tests += (here / "samples.py").read_text(encoding="utf-8")
    methods = {
        part.name
        for file in (Path(omoide.__file__).parent / "storage").glob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and "Protocol" in map(ast.unparse, node.bases)
        for part in node.body
        if isinstance(part, ast.FunctionDef)
    }
    assert {name for name in methods if not re.search(rf"\.{name}\b", tests)} == WITHOUT_A_RESULT
