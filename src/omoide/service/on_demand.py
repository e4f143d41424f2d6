"""Verbs on demand: those of a class whose modules are imported when one of them is first used.

A process uses few verbs of the service. One that lists memories should not wait for the modules that summarize, route or
learn, so the class has a placeholder for each verb until then.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, TypeVar

Owner = TypeVar("Owner", bound=type)


def verbs_on_demand(use_cases: Mapping[str, str]) -> Callable[[Owner], Owner]:
    """Return a decorator that gives a class the verbs of other classes, each loaded when it is first used.

    `use_cases`: the public names that each class defines, separated by spaces, by the module and the name of the class,
    such as `{"omoide.service.runs.Runs": "runs run"}`. The bases of a class that are no bases of the decorated one are
    loaded with it.
    """

    def add_placeholders(owner: Owner) -> Owner:
        for use_case, names in use_cases.items():
            for name in names.split():
                setattr(owner, name, Placeholder(owner, use_case, name))
        return owner

    return add_placeholders


class Placeholder:
    """Stands for a verb in its class. The first use imports the verb's use case, whose methods replace it."""

    def __init__(self, owner: type, use_case: str, name: str):
        self._owner = owner
        self._use_case = use_case
        self._name = name

    def __get__(self, instance: object | None, owner: type) -> Any:
        module, _, name = self._use_case.rpartition(".")
        _add_members(self._owner, getattr(import_module(module), name))
        return vars(self._owner)[self._name].__get__(instance, owner)


def _add_members(owner: type, use_case: type) -> None:
    """Give a class the members of a use case, and of the use cases that it is based on."""
    bases = [base for base in reversed(use_case.__mro__) if not issubclass(owner, base)]
    members = {name: member for base in bases for name, member in vars(base).items() if not name.startswith("__")}
    # Verbs come last: as soon as one is there, another thread may call it, and it needs the private methods.
    for name in sorted(members, key=lambda name: not name.startswith("_")):
        if name not in vars(owner) or isinstance(vars(owner)[name], Placeholder):
            setattr(owner, name, members[name])
