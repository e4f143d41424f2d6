"""Measure the shape of the code: names, repetition, complexity, and the files that one operation passes.

    python scripts/code_metrics.py            this source tree
    python scripts/code_metrics.py DIR        another checkout, measured with its own `DIR/.venv/bin/python`

Everything is counted from the source (ast, radon, grimp) except the paths of operations, which are traced while they run.
"""

import ast
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOGETHER = 5
"""An expression with at least so many names of a memory's fields counts as spelling them out."""
_IRREGULAR = frozenset(
    [
        "told",
        "kept",
        "met",
        "held",
        "said",
        "found",
        "known",
        "seen",
        "made",
        "sought",
        "lent",
        "taken",
        "given",
        "written",
        "shown",
        "understood",
        "meant",
        "begun",
        "done",
        "gone",
        "drawn",
        "spoken",
        "left",
        "sent",
        "built",
        "bound",
        "laid",
        "lost",
        "thought",
        "heard",
        "caught",
        "chosen",
        "driven",
        "hidden",
        "broken",
        "brought",
        "grown",
    ]
)
_PREPOSITIONS = frozenset(
    ["as", "at", "between", "by", "from", "in", "into", "of", "off", "on", "out", "since", "to", "with"],
)
_VERBS = frozenset(
    [
        *["add", "are", "back", "check", "decide", "delete", "describe", "drop", "find", "forget", "has", "is", "note"],
        *["print", "read", "record", "refuse", "render", "require", "restore", "split", "strip", "was"],
    ]
)
"""Verbs that functions begin with whose object is a participle."""
_ASYNCIO = frozenset(["connection_made", "connection_lost", "data_received", "eof_received"])
"""Names that asyncio gives to the methods of a protocol."""
_NOT_PARTICIPLES = frozenset(["embed", "need", "feed", "seed", "speed", "exceed", "proceed"])

TRACE = r"""
import json, sys, tempfile
from pathlib import Path
import omoide
source = Path(omoide.__file__).parent
trail = []
def note(frame, event, _):
    file = frame.f_code.co_filename
    if event == "call" and file.startswith(str(source)) and frame.f_code.co_name not in ("<module>", "<lambda>"):
        name = str(Path(file).relative_to(source))
        if not trail or trail[-1] != name:
            trail.append(name)
def trace(operation):
    trail.clear()
    sys.setprofile(note)
    try:
        operation()
    finally:
        sys.setprofile(None)
    return {"files": len(set(trail)), "switches": len(trail), "names": sorted(set(trail))}
directory = Path(tempfile.mkdtemp())
scope = omoide.Scope.project("shop")
memory = omoide.open(directory / "memory.db", embedder="off")
memory.remember("something else", scope=scope)
memory.recall("anything", scope=scope)
result = {"remember": trace(lambda: memory.remember("pnpm is used here", topic="packages", scope=scope)),
          "recall": trace(lambda: memory.recall("pnpm", scope=scope))}
file = directory / "memories.md"
memory.mirror(file, "memories", scope=scope)
memory.remember("one more", scope=scope)
memory.list(scope=scope)
text = file.read_text()
def edit():
    memory.list(scope=scope)
file.write_text(text.replace("pnpm is used here", "pnpm is used everywhere"))
result["edited file"] = trace(edit)
assert any("everywhere" in one.content for one in memory.list(scope=scope).memories)
memory.close()
print(json.dumps(result))
"""


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def is_participle(name: str) -> bool:
    """Whether a function is named by what has been done instead of by what it does or returns.

    Such are `told`, `changed_since` and `session_named`; not `stored_texts`, which names what it returns, nor
    `refuse_truncated`, which begins with a verb, nor `is_held`.
    """
    words = name.strip("_").split("_")

    def participle(word: str) -> bool:
        return word in _IRREGULAR or (word.endswith("ed") and len(word) > 3 and word not in _NOT_PARTICIPLES)

    if participle(words[0]):
        return len(words) == 1 or words[-1] in _PREPOSITIONS or participle(words[-1])
    return participle(words[-1]) and words[0] not in _VERBS and name not in _ASYNCIO


def memory_fields(trees: dict[Path, ast.Module]) -> frozenset[str]:
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name == "Memory":
                return frozenset(
                    part.target.id
                    for part in node.body
                    if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
                )
    raise SystemExit("no class Memory in this tree")


def own_names(node: ast.AST, fields: frozenset[str]) -> set[str]:
    """The names of fields that an expression lists itself, as keywords, keys, strings, attributes or parameters."""
    names: set[str] = set()
    if isinstance(node, ast.Call):
        names |= {keyword.arg for keyword in node.keywords if keyword.arg}
        parts: list[ast.expr | None] = [*node.args]
    elif isinstance(node, ast.Tuple | ast.List | ast.Set):
        parts = [*node.elts]
    elif isinstance(node, ast.Dict):
        parts = [*node.keys]
    elif isinstance(node, ast.arguments):
        return {argument.arg for argument in [*node.posonlyargs, *node.args, *node.kwonlyargs]} & fields
    elif isinstance(node, ast.ClassDef):
        return {
            part.target.id for part in node.body if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
        } & fields
    else:
        return set()
    for part in parts:
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            names.add(part.value)
        elif isinstance(part, ast.Attribute):
            names.add(part.attr)
        elif isinstance(part, ast.Name):
            names.add(part.id)
    return names & fields


def listed_in_text(node: ast.AST, fields: frozenset[str]) -> bool:
    """Whether a string constant, such as SQL, names the fields as columns."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or "," not in node.value:
        return False
    return len(set(re.findall(r"\w+", node.value)) & fields) >= TOGETHER and "SELECT" in node.value.upper()


def spelled_out(trees: dict[Path, ast.Module], fields: frozenset[str]) -> list[tuple[Path, int]]:
    places: dict[tuple[Path, int], None] = {}
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if len(own_names(node, fields)) >= TOGETHER or listed_in_text(node, fields):
                places[path, getattr(node, "lineno", 0)] = None
    return list(places)


def protocol_methods(trees: dict[Path, ast.Module]) -> dict[str, int]:
    return {
        node.name: sum(isinstance(part, ast.FunctionDef) for part in node.body)
        for path, tree in trees.items()
        if path.parent.name in ("storage", "store")
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base_class) == "Protocol" for base_class in node.bases)
    }


def complexity(root: Path) -> list[tuple[int, str]]:
    from radon.complexity import cc_visit  # lazy: needed here alone; part of the dev extra

    found: list[tuple[int, str]] = []
    for path in root.rglob("*.py"):
        blocks = cc_visit(path.read_text(encoding="utf-8"))
        names = {
            (block.lineno, block.name): block.complexity
            for block in [*blocks, *(method for block in blocks for method in getattr(block, "methods", []))]
            if not hasattr(block, "methods")
        }
        found += [(count, f"{path.relative_to(root)}:{line} {name}") for (line, name), count in names.items()]
    return sorted(found, reverse=True)


def paths(checkout: Path) -> dict[str, dict[str, object]]:
    python = checkout / ".venv" / "bin" / "python"
    done = subprocess.run(
        [str(python) if python.exists() else sys.executable, "-c", TRACE], check=True, capture_output=True, text=True
    )
    answer: dict[str, dict[str, object]] = json.loads(done.stdout)
    return answer


def main() -> None:
    given = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    checkout = Path(given[0]).resolve() if given else ROOT
    root = checkout / "src" / "omoide"
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(root.rglob("*.py"))}
    texts = [path.read_text(encoding="utf-8") for path in trees]
    fields = memory_fields(trees)
    places = spelled_out(trees, fields)
    every_function = [function for tree in trees.values() for function in functions(tree)]
    participles = [function.name for function in every_function if is_participle(function.name)]
    classes = Counter(node.name for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    shared_names = {name: count for name, count in classes.items() if count > 1}
    methods = protocol_methods(trees)
    ranked = complexity(root)
    traced = paths(checkout)
    rows = [
        ("lines of code", sum(text.count("\n") for text in texts)),
        ("files", len(trees)),
        *((f"files of a {name}", path["files"]) for name, path in traced.items()),
        *((f"switches between files of a {name}", path["switches"]) for name, path in traced.items()),
        ("places that spell out a memory's fields", f"{len(places)} in {len({path for path, _ in places})} files"),
        ("methods of the store protocols", f"{sum(methods.values())}: {methods}"),
        ("classes that share a name", f"{sum(shared_names.values())}: {', '.join(sorted(shared_names))}"),
        (
            "functions named by a participle",
            f"{len(participles)} of {len(every_function)} ({len(participles) / len(every_function):.1%})",
        ),
        ("functions of complexity 11 or more", sum(count >= 11 for count, _ in ranked)),
        ("highest complexity", f"{ranked[0][0]}: {ranked[0][1]}"),
        ("fmt: skip", sum(text.count("# fmt: skip") for text in texts)),
        ("noqa", sum(text.count("# noqa") for text in texts)),
    ]
    for what, value in rows:
        sys.stdout.write(f"{what:45} {value}\n")
    if "--places" in sys.argv:
        for path, line in places:
            sys.stdout.write(f"  {path.relative_to(root)}:{line}\n")
        for name in participles:
            sys.stdout.write(f"  {name}\n")


if __name__ == "__main__":
    main()
