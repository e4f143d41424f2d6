"""What a process keeps of the index never differs from the index: whoever writes, in whatever order."""

import random

import pytest

import omoide
from omoide import Draft, Scope
from omoide.errors import OmoideError

SHOP, MONDAY = Scope.project("shop"), Scope.session("shop", "monday")
WORDS = ["okapi", "zebra", "gnu", "認証", "設計", "データ", "移行", "pnpm", "release", "昨日の会議"]
DEEDS = ("remember", "revise", "forget", "restore", "archive", "promote", "purge", "many", "repair")


def said(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, k=chance.randint(1, 6))) + f" {chance.randint(0, 9_999)}"


def done(memory, chance: random.Random, deed: str, number: int) -> None:
    if deed == "remember":
        memory.remember(said(chance), scope=chance.choice((SHOP, MONDAY, Scope.everywhere())))
    elif deed == "revise":
        memory.revise(number, scope=SHOP, content=said(chance))
    elif deed == "many":
        memory.remember_many(Draft(said(chance), SHOP) for _ in range(chance.choice((2, 80))))
    elif deed == "purge":
        memory.purge([number], scope=SHOP)
    elif deed == "repair":
        memory.repair()
    else:
        getattr(memory, deed)(number, scope=SHOP)


@pytest.mark.parametrize("seed", range(4))
def test_a_long_open_store_finds_what_a_fresh_one_finds(tmp_path, seed):
    chance = random.Random(seed)
    path = tmp_path / "memory.db"
    with (
        omoide.open(path, embedder="off", retire="manual") as one,
        omoide.open(path, embedder="off", retire="manual") as other,
    ):
        one.remember_many(Draft(said(chance), SHOP) for _ in range(60))
        for _ in range(60):
            try:
                done(chance.choice((one, other)), chance, chance.choice(DEEDS), chance.randint(1, 80))
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
