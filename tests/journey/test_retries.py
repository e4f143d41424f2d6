"""Operations with an idempotency key, from Python: done once, for a day, by one actor in one project."""

from typing import Any

import pytest

from omoide.errors import AlreadyDone, InvalidInput
from omoide.model import Scope, Task

SHOP, BANK = Scope.project("shop"), Scope.project("bank")


def test_a_key_is_kept_for_a_day(memory: Any, clock: Any) -> None:

    def remember(text: str) -> Any:
        return memory.with_idempotency_key("k", text.encode(), scope=SHOP).remember(text, scope=SHOP)

    first = remember("認証は JWT")
    clock.step(24 * 3_600 - 60)
    with pytest.raises(AlreadyDone) as again:
        remember("認証は JWT")
    assert again.value.result == first
    with pytest.raises(InvalidInput, match="another request"):
        remember("another text")
    clock.step(120)
    assert remember("another text").action == "created"


def test_a_key_belongs_to_one_project_and_one_actor(memory: Any) -> None:
    memory.with_idempotency_key("k", b"x", scope=SHOP).remember("x", scope=SHOP)
    assert memory.with_idempotency_key("k", b"x", scope=BANK).remember("x", scope=BANK).action == "created"
    other = memory.acting_as("robot")
    assert other.with_idempotency_key("k", b"y", scope=SHOP).remember("y", scope=SHOP).action == "created"


def test_an_operation_that_fails_leaves_its_key_free(memory: Any) -> None:
    memory.remember("x", scope=SHOP)
    memory.compose(Task(title="t"), scope=SHOP, run="ci-1")
    keyed = memory.with_idempotency_key("k", b"request", scope=SHOP)
    with pytest.raises(InvalidInput):
        keyed.outcome("ci-1", "so so", scope=SHOP)
    done = keyed.outcome("ci-1", "success", scope=SHOP, note="通った")
    with pytest.raises(AlreadyDone) as again:
        keyed.outcome("ci-1", "success", scope=SHOP, note="通った")
    assert (again.value.result.outcome, again.value.result.id) == (done.outcome, "ci-1")
