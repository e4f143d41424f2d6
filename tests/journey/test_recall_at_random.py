"""What a process keeps of the index never differs from the index: whoever writes, in whatever order."""

import random

import pytest

import omoide
from omoide import Draft, Scope
from omoide.errors import OmoideError

SHOP, MONDAY = Scope.project("shop"), Scope.session("shop", "monday")
WORDS = ["okapi", "zebra", "gnu", "認証", "設計", "データ", "移行", "pnpm", "release", "昨日の会議"]
ACTIONS = ("remember", "revise", "forget", "restore", "archive", "promote", "purge", "many", "repair")


def random_text(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, k=chance.randint(1, 6))) + f" {chance.randint(0, 9_999)}"


def act(memory, chance: random.Random, action: str, number: int) -> None:
    if action == "remember":
        memory.remember(random_text(chance), scope=chance.choice((SHOP, MONDAY, Scope.everywhere())))
    elif action == "revise":
        memory.revise(number, scope=SHOP, content=random_text(chance))
    elif action == "many":
        memory.remember_many(Draft(random_text(chance), SHOP) for _ in range(chance.choice((2, 80))))
    elif action == "purge":
        memory.purge([number], scope=SHOP)
    elif action == "repair":
        memory.repair()
    else:
        getattr(memory, action)(number, scope=SHOP)


@pytest.mark.parametrize("seed", range(4))
def test_a_long_open_store_finds_what_a_fresh_one_finds(tmp_path, seed):
    chance = random.Random(seed)
    path = tmp_path / "memory.db"
    with (
        omoide.open(path, embedder="off", retire="manual") as one,
        omoide.open(path, embedder="off", retire="manual") as other,
    ):
        one.remember_many(Draft(random_text(chance), SHOP) for _ in range(60))
        for _ in range(60):
            try:
                act(chance.choice((one, other)), chance, chance.choice(ACTIONS), chance.randint(1, 80))
            except OmoideError:
                continue  # that memory is not there, or not in the state for it
            question = " ".join(chance.sample(WORDS, 2))
            with omoide.open(path, embedder="off", retire="manual") as newcomer:
                found = [
                    [(hit.memory.number, hit.score, hit.why) for hit in memory.recall(question, scope=SHOP, limit=20).hits]
                    for memory in (newcomer, one, other)
                ]
            assert found[1] == found[0]
            assert found[2] == found[0]
