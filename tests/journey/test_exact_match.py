"""What a question names is found first, however many memories are about the same subject."""

import pytest

from bench import exact
from omoide import Draft, Scope

SHOP = Scope.project("shop")


@pytest.fixture(params=["off", "bundled"])
def embedder(request):
    return request.param


@pytest.mark.parametrize(
    ("note", "other", "question"),
    [
        ("zq7 の携帯アプリの担当は田中", "携帯アプリ、携帯アプリ、また携帯アプリ。{}回目", "zq7 携帯アプリ"),
        ("zq7 の携帯アプリの担当は田中", "携帯アプリ、携帯アプリ、また携帯アプリ。{}回目", "携帯アプリ zq7"),
        ("ERR-47 は決済の障害", "決済の障害。決済を調査。決済は{}回再起動", "ERR-47 の決済の障害はどうなったか"),
        ("第1234号は契約更新の件", "契約更新の件。契約更新を確認。契約更新は{}回延期", "第1234号 の契約更新はどうなったか"),
        ("See ab_17.log for the mobile app", "mobile app, mobile app and mobile app again, {}", "ab_17.log mobile app"),
    ],
)
def test_the_only_memory_with_the_code_of_the_question_is_first(tmp_path, open_memory, embedder, note, other, question):
    memory = open_memory(tmp_path / "memory.db", embedder=embedder)
    wanted = memory.remember(note, scope=SHOP).memory
    memory.remember_many([Draft(other.format(number), SHOP) for number in range(50)])
    memory.embed_pending()
    assert memory.recall(question, scope=SHOP, limit=51).hits[0].memory.id == wanted.id


@pytest.mark.parametrize("question", ["quokka8", "release notes quokka8", "quokka", "release notes"])
def test_a_memory_without_a_vector_is_first_if_it_matches_the_words_best(tmp_path, open_memory, question):
    file = tmp_path / "memory.db"
    before = open_memory(file, embedder="bundled")
    before._embeddings._background = False  # no thread gives the note a vector meanwhile
    before.remember_many([Draft(f"release notes {n % 9} quokka{n % 9} part {n}", SHOP) for n in range(9, 413)])
    before.embed_pending()
    new = open_memory(file, embedder="off").remember("release notes 8 quokka8", scope=SHOP).memory
    assert before.recall(question, scope=SHOP).hits[0].memory.id == new.id
    assert before.coverage().pending == 1


def test_the_benchmark_of_exact_matches_meets_its_claims_on_a_small_store(capsys):
    assert exact.main(["--sizes", "400", "--questions", "40"]) == 0
    assert capsys.readouterr().out.count("✓") == len(exact.KINDS)
