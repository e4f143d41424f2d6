"""Recall by words and meaning, with the bundled model: what is meant is found, and words alone do when it is missing."""

import os
import shlex
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from omoide import Draft, Scope
from omoide.embeddings import bundled
from omoide.errors import EmbedderUnavailable

SHOP, BANK = Scope.project("shop"), Scope.project("bank")
NOTES = (
    "Restart the web server after changing its configuration",
    "The cat sleeps on the warm window sill",
    "認証には JWT を採用する",
    "Invoices are sent on the first day of each month",
    "Use pnpm to install packages",
    "The staging database is refreshed every night",
)


@pytest.fixture
def meaning(tmp_path, open_memory):
    memory = open_memory(tmp_path / "memory.db", embedder="bundled")
    memory.remember_many([Draft(note, SHOP) for note in NOTES])
    assert memory.embed_pending() == len(NOTES)
    return memory


def at_rest(memory, seconds=30):
    """Waits until no vectors are made in the background."""
    worker = memory._embeddings._worker
    if worker is not None:
        worker.join(seconds)


def texts(found):
    return [hit.memory.content for hit in found.hits]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("kitty napping", NOTES[1]),
        ("How are users authenticated?", NOTES[2]),
        ("請求書はいつ送られますか", NOTES[3]),
        ("パッケージをインストールする", NOTES[4]),
    ],
)
def test_semantic_search_finds_across_languages_without_common_words(meaning, question, answer):
    assert texts(meaning.recall(question, scope=SHOP))[0] == answer


def test_a_hit_lists_the_evidence_for_it(meaning):
    hit = meaning.recall("kitty napping", scope=SHOP).hits[0]
    assert hit.why.startswith("meaning: ")
    assert "content: pnpm" in meaning.recall("pnpm", scope=SHOP).hits[0].why


def test_a_memory_with_all_words_beats_a_closer_vector_without_one(meaning):
    answer = (
        "What differs in staging: our own certificates, no mail, billing on port 8443, every service restarted on Sundays"
    )
    meaning.remember_many([Draft(answer, SHOP), Draft("The billing service uses port 8080", SHOP)])
    meaning.embed_pending()
    assert texts(meaning.recall("What is the port of the billing service in staging?", scope=SHOP))[0] == answer


def test_a_named_tool_beats_a_similar_one(meaning):
    meaning.remember_many([Draft("tar: unpack a file", SHOP), Draft("gunzip: unpack compressed files", SHOP)])
    meaning.embed_pending()
    assert texts(meaning.recall("tar で圧縮されたファイルを解凍する", scope=SHOP))[0] == "tar: unpack a file"


def test_a_match_by_words_does_not_hide_the_same_in_another_language(meaning):
    meaning.remember("猫が暖かい窓辺で眠っている", scope=SHOP)
    meaning.embed_pending()
    assert set(texts(meaning.recall(NOTES[1], scope=SHOP))[:2]) == {NOTES[1], "猫が暖かい窓辺で眠っている"}


def test_nonsense_finds_nothing_by_vectors(meaning):
    assert texts(meaning.recall("qwrtzp xkcdvb", scope=SHOP)) == []


def test_semantic_search_never_shows_other_projects_or_forgotten_memories(meaning):
    assert texts(meaning.recall("kitty napping", scope=BANK)) == []
    number = meaning.recall("kitty napping", scope=SHOP).hits[0].memory.number
    meaning.forget(number, scope=SHOP)
    assert NOTES[1] not in texts(meaning.recall("kitty napping", scope=SHOP))
    meaning.restore(number, scope=SHOP)
    assert texts(meaning.recall("kitty napping", scope=SHOP))[0] == NOTES[1]
    meaning.promote(number, scope=SHOP)
    assert texts(meaning.recall("kitty napping", scope=BANK)) == [NOTES[1]]
    meaning.revise(number, scope=SHOP, content="The dog barks at night")
    assert NOTES[1] not in texts(meaning.recall("kitty napping", scope=SHOP))


def test_vectors_made_by_another_process_are_found(meaning, tmp_path, open_memory):
    other = open_memory(tmp_path / "memory.db", embedder="bundled")
    assert texts(other.recall("kitty napping", scope=SHOP))[0] == NOTES[1]
    meaning.remember("My hamster rests in its cage", scope=SHOP)
    meaning.embed_pending()
    assert "My hamster rests in its cage" in texts(other.recall("rodent asleep", scope=SHOP))[:2]


def test_a_memory_revised_elsewhere_is_not_found_by_its_old_vector(meaning, tmp_path, open_memory):
    other = open_memory(tmp_path / "memory.db", embedder="bundled")
    other._embeddings._background = meaning._embeddings._background = False
    first = meaning.recall("kitty napping", scope=SHOP).hits[0].memory
    other.revise(first.number, scope=SHOP, content="Invoices are sent on the first of each month")
    assert first.number not in [hit.memory.number for hit in meaning.recall("kitty napping", scope=SHOP).hits]
    other.embed_pending()
    found = meaning.recall("when do customers get their bills", scope=SHOP)
    assert first.number in [hit.memory.number for hit in found.hits]
    other.reindex()
    assert first.number in [hit.memory.number for hit in meaning.recall("customers get their bills", scope=SHOP).hits]


def test_new_memories_are_embedded_in_the_background_once_the_model_is_loaded(meaning):
    meaning.recall("anything", scope=SHOP)
    meaning.remember("Bicycles must be locked in the yard", scope=SHOP)
    at_rest(meaning)
    assert meaning.coverage().pending == 0


def test_memories_of_other_processes_are_embedded_by_the_one_that_recalls(meaning, tmp_path, open_memory, monkeypatch):
    monkeypatch.setattr("omoide.embeddings.indexer.LOOK", 0.0)
    other = open_memory(tmp_path / "memory.db")
    for n in range(2):
        meaning.recall("anything", scope=SHOP)
        at_rest(meaning)
        other.revise(1, scope=SHOP, content=f"Horses are fed at {n + 7} in the morning")
        other.remember(f"My hamster rests in cage {n}", scope=SHOP)
        assert meaning.coverage().pending == 2
    meaning.recall("anything", scope=SHOP)
    at_rest(meaning)
    assert meaning.coverage().pending == 0
    assert "Horses are fed at 8 in the morning" in texts(meaning.recall("ponies eat", scope=SHOP))


def test_many_changes_of_other_processes_are_embedded(meaning, tmp_path, open_memory, monkeypatch):
    monkeypatch.setattr("omoide.embeddings.indexer.LOOK", 0.0)
    monkeypatch.setattr("omoide.embeddings.indexer._MANY", 10)
    meaning.recall("anything", scope=SHOP)
    at_rest(meaning)
    open_memory(tmp_path / "memory.db").remember_many([Draft(f"note {n} of subject{n}", SHOP) for n in range(20)])
    meaning.recall("anything", scope=SHOP)
    at_rest(meaning)
    assert meaning.coverage().pending == 0


def test_changes_of_others_are_not_looked_up_with_every_query(meaning, tmp_path, open_memory, monkeypatch):
    monkeypatch.setattr("omoide.embeddings.indexer.LOOK", 3_600.0)
    meaning.recall("anything", scope=SHOP)
    at_rest(meaning)
    open_memory(tmp_path / "memory.db").remember("My hamster rests in its cage", scope=SHOP)
    for _ in range(3):
        meaning.recall("anything", scope=SHOP)
        at_rest(meaning)
    assert meaning.coverage().pending == 1
    monkeypatch.setattr("omoide.embeddings.indexer.LOOK", 0.0)
    meaning.recall("anything", scope=SHOP)
    at_rest(meaning)
    assert meaning.coverage().pending == 0


def test_vectors_dropped_by_another_embedders_reindex_are_made_again(meaning, tmp_path, open_memory, monkeypatch):
    monkeypatch.setattr("omoide.embeddings.indexer.LOOK", 0.0)
    meaning.recall("anything", scope=SHOP)
    at_rest(meaning)
    other = open_memory(tmp_path / "memory.db", embedder="bundled")
    other._embeddings.embedder = Other()
    assert other.reindex().embedded == len(NOTES)
    assert meaning.coverage().pending == len(NOTES)
    meaning.recall("anything", scope=SHOP)
    at_rest(meaning)
    assert meaning.coverage().pending == 0
    assert texts(meaning.recall("kitty napping", scope=SHOP))[0] == NOTES[1]


def test_background_embedding_yields_to_writers_and_blocks_no_query(meaning, tmp_path, open_memory):
    begun = threading.Event()

    class Slow(bundled.BundledEmbedder):
        def vectors(self, texts, *, patient=True):
            return super().vectors(texts, patient=patient) if not patient or begun.wait(30) else None

    busy, other = (open_memory(tmp_path / "memory.db", embedder="bundled", wait=0.2) for _ in range(2))
    busy.recall("anything", scope=SHOP)
    at_rest(busy)
    busy._embeddings.embedder = Slow()
    busy.remember("Bicycles must be locked in the yard", scope=SHOP)
    with other._store.write():
        begun.set()
        at_rest(busy, 0.5)
        assert texts(busy.recall("kitty napping", scope=SHOP))[0] == NOTES[1]
    at_rest(busy)
    assert (busy.coverage().pending, busy.coverage().trouble) == (0, "")


_UNCLOSED = """
import atexit, sys, threading
import omoide

atexit.register(lambda: print([thread.name for thread in threading.enumerate()]))
memory = omoide.open(sys.argv[1], embedder="bundled")
shop = omoide.Scope.project("shop")
memory.remember_many([omoide.Draft(f"note {n} about the checkout", shop) for n in range(200)])
memory.recall("checkout", scope=shop)
print([thread.name for thread in threading.enumerate()])
"""


def test_a_process_that_ends_without_closing_lets_the_vectors_in_progress_be_stored_first(tmp_path):
    """The interpreter would otherwise end the thread wherever it is, inside of numpy or SQLite."""
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", _UNCLOSED, tmp_path / "memory.db"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["['MainThread', 'omoide-vectors']", "['MainThread']"]


def documented_commands():
    """The commands of the example at the top of the page on semantic search."""
    page = (Path(__file__).parents[2] / "docs" / "meaning.md").read_text(encoding="utf-8")
    return [shlex.split(line)[1:] for line in page.splitlines() if line.startswith("    omoide re")][:4]


def test_the_documented_example_works_from_the_command_line_alone_and_leaves_no_process(tmp_path):
    environment = {**os.environ, "OMOIDE_STORE": str(tmp_path / "memory.db"), "OMOIDE_EMBEDDER": "auto"}
    answers = []
    for command in documented_commands():
        process = subprocess.Popen(
            [sys.executable, "-c", "from omoide.interfaces.cli import main; main()", *command],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=tmp_path,
            start_new_session=True,
        )
        answers.append(process.communicate(timeout=120)[0])
        assert process.returncode == 0
        with pytest.raises(ProcessLookupError):  # nothing that it started runs any more
            os.killpg(process.pid, 0)
    assert answers[2].startswith("#1  The cat sleeps on the window sill")
    assert answers[3].startswith("#2  Use pnpm to install packages")


def test_a_process_that_only_remembers_loads_no_model(tmp_path, open_memory):
    memory = open_memory(tmp_path / "memory.db", embedder="bundled")
    memory.remember("Bicycles must be locked in the yard", scope=SHOP)
    assert memory._embeddings._worker is None
    assert memory.coverage().pending == 1


def test_without_an_embedder_recall_uses_words_and_reports_nothing(tmp_path, open_memory):
    memory = open_memory(tmp_path / "memory.db")
    memory.remember(NOTES[4], scope=SHOP)
    assert memory.embed_pending() == 0
    assert memory.coverage().embedder is None
    assert texts(memory.recall("pnpm", scope=SHOP)) == [NOTES[4]]


class Other(bundled.BundledEmbedder):
    name = "another"

    def vectors(self, texts, *, patient=True):
        return super().vectors(texts)[:, :256]


class Broken:
    name = "use-multilingual-3"

    def vectors(self, texts, *, patient=True):
        raise EmbedderUnavailable("the model is gone")


def test_a_broken_model_falls_back_to_words_and_is_reported(meaning):
    meaning._embeddings.embedder = Broken()
    assert texts(meaning.recall("pnpm", scope=SHOP)) == [NOTES[4]]
    assert meaning.coverage().trouble == "the model is gone"


def test_a_changed_model_uses_words_until_its_vectors_exist(meaning, tmp_path, open_memory):
    other = open_memory(tmp_path / "memory.db", embedder="bundled")
    other._embeddings.embedder = Other()
    other._embeddings._background = False
    assert other.coverage().pending == len(NOTES)
    assert texts(other.recall("kitty napping", scope=SHOP)) == []
    assert other.embed_pending() == len(NOTES)
    assert texts(other.recall("kitty napping", scope=SHOP))[0] == NOTES[1]


def test_a_long_memory_is_found_by_its_last_part(meaning):
    padding = "We talked about the weather, the traffic and lunch for quite a while that morning. " * 30
    meaning.remember(padding + "\n" + "Our kittens sleep in a basket and drink milk. " * 8, scope=SHOP)
    meaning.embed_pending()
    hits = meaning.recall("small cats", scope=SHOP).hits
    (why,) = [hit.why for hit in hits if "kittens" in hit.memory.content]
    assert why.startswith("meaning")


def test_a_dialogue_turn_is_found_by_neighbours_speaker_and_time(tmp_path, open_memory):
    memory = open_memory(tmp_path / "memory.db", embedder="bundled")
    talk = Scope.session("shop", "monday")
    start = datetime(2026, 1, 12, 9, tzinfo=UTC)
    for n, turn in enumerate((
        "Alice: Good morning!",
        "Bob: Which database shall we take for the ledger?",
        "Alice: I would go for the one we know.",
        "Bob: The parking lot is full again today.",
    )):  # several entries per line  # fmt: skip
        memory.remember(turn, scope=talk, created_at=start + timedelta(minutes=n))
    memory.remember(
        "Carol: Which database shall we take for the ledger?",
        scope=Scope.session("shop", "june"),
        created_at=datetime(2025, 6, 1, tzinfo=UTC),
    )
    memory.embed_pending()
    hits = memory.recall("Which database did Alice choose for the ledger?", scope=SHOP).hits
    assert "Alice: I would go for the one we know." in [hit.memory.content for hit in hits[:3]]
    why = {hit.memory.content: hit.why for hit in hits}["Alice: I would go for the one we know."]
    assert "beside it in the session" in why
    assert "said by: Alice" in why
    best = memory.recall("the database for the ledger last month", scope=SHOP).hits[0]
    assert best.memory.content.startswith("Bob: Which")
    assert "time: 2026-01-12" in best.why


def test_events_are_found_by_their_time_alone(tmp_path, open_memory):
    memory = open_memory(tmp_path / "memory.db", embedder="bundled")
    for day, text in ((5, "The ledger moved to the new cluster"), (5, "会計の担当が代わった"), (9, "Invoices are due")):
        memory.remember(text, scope=SHOP, created_at=datetime(2025, 2, day, 12, tzinfo=UTC))
    memory.embed_pending()
    for question in ("what happened on 2025-02-05?", "2025年2月5日に何があった？"):
        found = memory.recall(question, scope=SHOP)
        assert {hit.memory.number for hit in found.hits} == {1, 2}
        assert all("time: 2025-02-05" in hit.why for hit in found.hits)
        assert found.total == 2


def test_similar_lists_the_nearest_memories(meaning):
    other = meaning.remember("Cats like to doze in the sun", scope=SHOP).memory
    meaning.embed_pending()
    found = meaning.similar(other.number, scope=SHOP, limit=2)
    assert texts(found)[0] == NOTES[1]
    assert other.number not in [hit.memory.number for hit in found.hits]


def test_remember_names_near_duplicates(memory):
    first = memory.remember("Deploy the shop with make deploy on Fridays", scope=SHOP).memory
    again = memory.remember("Deploy the shop with make deploy on Friday", scope=SHOP)
    assert again.similar == (first.number,)


def test_the_command_line_alone_finds_by_meaning_and_counts_vectors(omoide):
    environment = {"OMOIDE_EMBEDDER": "bundled"}
    omoide("remember", "The cat sleeps on the window sill", **environment)
    omoide("remember", "Use pnpm to install packages", **environment)
    assert omoide("stats", "--json", **environment).data["vectors"]["pending"] == 2
    for question, answer in (("kitty napping", "cat"), ("パッケージをインストールする", "pnpm")):
        found = omoide("recall", *question.split(), "--json", **environment).data["memories"]
        assert answer in found[0]["content"]
    assert omoide("stats", "--json", **environment).data["vectors"] == {
        "embedder": "use-multilingual-3",
        "embedded": 2,
        "pending": 0,
    }
