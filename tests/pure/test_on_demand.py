"""Verbs that are loaded when they are first used: what a class looks like before and after, and to several threads."""

import inspect
import pydoc
import sys
import threading
from types import ModuleType

import pytest

from omoide.service import _USE_CASES, Service
from omoide.service.on_demand import Placeholder, verbs_on_demand


class Base:
    """What the class and its use cases have in common."""

    def __init__(self):
        self.shelf = ["a", "b"]

    def _first(self):
        return self.shelf[0]


class Reading(Base):
    def read(self):
        """Return the first book."""
        return self._first()

    def _private(self):
        return "hidden"


class Lending(Reading):
    def lend(self, name: str, *, days: int = 7) -> str:
        """Lend the first book."""
        return f"{self._first()} to {name} for {days}: {self._private()}"

    @property
    def size(self):
        return len(self.shelf)


USE_CASES = {"library_use_cases.Reading": "read", "library_use_cases.Lending": "lend size"}


@pytest.fixture
def library(monkeypatch):
    """A class with verbs on demand whose module counts how often it is loaded."""
    module = ModuleType("library_use_cases")
    module.Reading, module.Lending = Reading, Lending
    monkeypatch.setitem(sys.modules, "library_use_cases", module)

    @verbs_on_demand(USE_CASES)
    class Library(Base):
        def close(self):
            """Close the library."""

    return Library


def placeholders(owner):
    return {name for name, member in vars(owner).items() if isinstance(member, Placeholder)}


def test_a_class_has_all_verbs_before_any_is_loaded(library):
    assert {"read", "lend", "size", "close"} <= set(dir(library))
    assert placeholders(library) == {"read", "lend", "size"}


def test_the_first_call_loads_the_verb_with_the_verbs_and_private_methods_that_it_is_based_on(library):
    assert library().lend("Aiko", days=3) == "a to Aiko for 3: hidden"
    assert placeholders(library) == set()


def test_another_use_case_is_loaded_only_when_it_is_used(library):
    assert library().read() == "a"
    assert placeholders(library) == {"lend", "size"}
    assert library().size == 2
    assert placeholders(library) == set()


def test_a_verb_of_the_class_is_the_function_with_its_docstring_and_signature(library):
    assert library.lend is Lending.lend
    assert str(inspect.signature(library.lend)) == "(self, name: str, *, days: int = 7) -> str"
    assert isinstance(library.size, property)


def test_a_subclass_and_a_replaced_verb_are_not_overwritten(library, monkeypatch):
    class Branch(library):
        def read(self):
            return f"branch: {super().read()}"

    assert Branch().read() == "branch: a"
    monkeypatch.setattr(library, "read", lambda _: "replaced")
    assert library().lend("Aiko").startswith("a to Aiko")
    assert library().read() == "replaced"


def test_many_threads_may_call_a_verb_first(library):
    for _ in range(50):
        fresh = verbs_on_demand(USE_CASES)(type("Fresh", (Base,), {}))
        start, said, failures = threading.Barrier(4), [], []

        def call(fresh=fresh, start=start, said=said, failures=failures):
            start.wait()
            try:
                said.append(fresh().lend("Aiko"))
            except AttributeError as error:
                failures.append(error)

        threads = [threading.Thread(target=call) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert said == ["a to Aiko for 7: hidden"] * 4


def test_a_module_that_is_missing_is_named_and_tried_again(library, monkeypatch):
    monkeypatch.delitem(sys.modules, "library_use_cases")
    with pytest.raises(ModuleNotFoundError, match="library_use_cases"):
        library().lend("Aiko")
    assert "lend" in placeholders(library)


def test_help_shows_the_verbs_of_all_use_cases_with_their_docstrings():
    text = pydoc.plain(pydoc.render_doc(Service))
    for names in _USE_CASES.values():
        for name in names.split():
            member = getattr(Service, name)
            assert f"{name}(" in text or isinstance(member, property), name
            assert member.__doc__.partition("\n")[0] in text, name
