"""Other embedders: a server that speaks OpenAI's embeddings, and packages that are not there."""

import json
import sys
import threading
import time
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import apsw
import pytest

from omoide import InvalidInput, Scope
from omoide.embeddings.base import make_embedder
from omoide.embeddings.bundled import BundledEmbedder
from omoide.embeddings.fastembed import FastembedEmbedder
from omoide.embeddings.openai import OpenAIEmbedder
from omoide.errors import EmbedderUnavailable

SHOP = Scope.project("shop")
WORDS = ("cat", "kitty", "invoice", "bill")


class Handler(BaseHTTPRequestHandler):
    """Cats and bills, in two dimensions."""

    answer = staticmethod(lambda text: [float("cat" in text or "kitty" in text), float("invoice" in text), 0.1])

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, asked["model"], self.headers.get("Authorization")))
        rows = [{"index": n, "embedding": self.answer(text)} for n, text in enumerate(asked["input"])]
        body = json.dumps({"data": rows[::-1]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.asked = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def at_rest(memory):
    """Waits until no vectors are made in the background."""
    worker = memory._embeddings._worker
    if worker is not None:
        worker.join(30)


def test_a_server_receives_model_and_key_and_returns_vectors(server, tmp_path, open_memory):
    url = f"http://127.0.0.1:{server.server_port}/v1#tiny"
    memory = open_memory(tmp_path / "memory.db", embedder=url, embedder_key="open sesame")
    for text in ("the cat sleeps", "the invoice is due", "nothing of either"):
        memory.remember(text, scope=SHOP)
    assert memory.embed_pending() == 3
    assert server.asked[0] == ("/v1/embeddings", "tiny", "Bearer open sesame")
    assert memory.recall("kitty", scope=SHOP).hits[0].memory.content == "the cat sleeps"
    assert memory.coverage().embedder == url


def test_an_unreachable_server_falls_back_to_words(server, tmp_path, open_memory):
    memory = open_memory(tmp_path / "memory.db", embedder=f"http://127.0.0.1:{server.server_port}/v1#tiny")
    memory.remember("the cat sleeps", scope=SHOP)
    memory.embed_pending()
    server.shutdown()
    server.server_close()
    assert memory.recall("cat", scope=SHOP).hits[0].memory.content == "the cat sleeps"
    assert "returned no vectors" in memory.coverage().trouble


def test_a_server_that_just_failed_is_not_awaited_again(server, tmp_path, open_memory, monkeypatch):
    memory = open_memory(tmp_path / "memory.db", embedder=f"http://127.0.0.1:{server.server_port}/v1#tiny")
    memory._embeddings._background = False
    memory.remember("the cat sleeps", scope=SHOP)
    memory.embed_pending()
    monkeypatch.setattr("omoide.embeddings.openai.QUERY_LIMIT", 0.2)
    monkeypatch.setattr(Handler, "answer", staticmethod(lambda text: time.sleep(1)))
    asked = len(server.asked)
    for _ in range(3):
        assert memory.recall("cat", scope=SHOP).hits[0].memory.content == "the cat sleeps"
    assert len(server.asked) == asked + 1
    assert "timed out" in memory.coverage().trouble
    # After a pause, or when told to embed, it is asked again.
    monkeypatch.setattr("omoide.embeddings.openai.QUERY_LIMIT", 30.0)
    monkeypatch.setattr("omoide.embeddings.indexer.PAUSE", 0.0)
    monkeypatch.setattr(Handler, "answer", staticmethod(lambda text: [1.0, 0.0, 0.1]))
    assert memory.recall("kitty", scope=SHOP).hits[0].why.startswith("meaning")


def dripping(where, most=4.0):
    """A server that sends a byte now and then, for so many seconds."""

    def drip(self):
        self.server.asked.append(where)
        self.wfile.write(b"HTTP/1.0 200 OK\r\n" + (b"X-Drops: " if where == "headers" else b"\r\n"))
        end = time.monotonic() + most
        with suppress(OSError):
            while time.monotonic() < end:
                self.wfile.write(b" ")
                time.sleep(0.05)

    return drip


@pytest.mark.parametrize("where", ["headers", "body"])
def test_a_slowly_sending_server_is_cut_off_for_a_query(server, tmp_path, open_memory, monkeypatch, where):
    memory = open_memory(tmp_path / "memory.db", embedder=f"http://127.0.0.1:{server.server_port}/v1#tiny")
    memory.remember("the cat sleeps", scope=SHOP)
    memory.embed_pending()
    monkeypatch.setattr("omoide.embeddings.openai.QUERY_LIMIT", 0.2)
    monkeypatch.setattr(Handler, "do_POST", dripping(where, 60.0))
    asked_at = time.monotonic()
    assert memory.recall("cat", scope=SHOP).hits[0].memory.content == "the cat sleeps"
    assert time.monotonic() - asked_at < 30
    assert "timed out after 0.2 s" in memory.coverage().trouble


def test_a_slow_name_lookup_is_cut_off_for_a_query(server, tmp_path, open_memory, monkeypatch):
    memory = open_memory(tmp_path / "memory.db", embedder=f"http://localhost:{server.server_port}/v1#tiny")
    memory.remember("the cat sleeps", scope=SHOP)
    memory.embed_pending()
    monkeypatch.setattr("omoide.embeddings.openai.QUERY_LIMIT", 0.2)
    found = threading.Event()
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: [found.wait(60)][:0])
    asked_at = time.monotonic()
    assert memory.recall("cat", scope=SHOP).hits[0].memory.content == "the cat sleeps"
    assert time.monotonic() - asked_at < 30
    found.set()


@pytest.mark.parametrize("where", ["headers", "body"])
def test_a_server_that_never_ends_its_answer_is_given_up_in_the_background_too(
    server, tmp_path, open_memory, monkeypatch, where
):
    memory = open_memory(tmp_path / "memory.db", embedder=f"http://127.0.0.1:{server.server_port}/v1#tiny")
    memory.remember("the cat sleeps", scope=SHOP)
    monkeypatch.setattr("omoide.embeddings.openai.BATCH_LIMIT", 0.2)
    monkeypatch.setattr(Handler, "do_POST", dripping(where))
    with pytest.raises(EmbedderUnavailable, match=r"timed out after 0\.2 s"):
        memory.embed_pending()


def test_a_late_server_gets_no_new_requests_until_it_has_answered(server, monkeypatch):
    slow = OpenAIEmbedder(f"http://127.0.0.1:{server.server_port}/v1", "tiny")
    quick = Handler.do_POST
    monkeypatch.setattr("omoide.embeddings.openai.QUERY_LIMIT", 0.2)
    monkeypatch.setattr(Handler, "do_POST", dripping("headers"))
    for _ in range(10):
        with pytest.raises(EmbedderUnavailable):
            slow.vectors(["cat"], patient=False)
    assert 0 < len(server.asked) <= 4
    monkeypatch.setattr(Handler, "do_POST", quick)
    for thread in slow._abandoned:
        thread.join(10)
    assert len(slow.vectors(["cat"])) == 1


def test_a_query_never_waits_for_a_model_download(tmp_path, open_memory, monkeypatch):
    loaded = []

    class TextEmbedding:
        def __init__(self, model, *, local_files_only):
            loaded.append((model, local_files_only))
            if local_files_only:
                raise ValueError("Could not load model from any source")

        def embed(self, texts):
            return ([float("cat" in text), 0.1] for text in texts)

    monkeypatch.setitem(sys.modules, "fastembed", SimpleNamespace(TextEmbedding=TextEmbedding))
    memory = open_memory(tmp_path / "memory.db", embedder="fastembed:some/model")
    memory._embeddings._background = False
    memory.remember("the cat sleeps", scope=SHOP)
    assert memory.embed_pending() == 1
    other = open_memory(tmp_path / "memory.db", embedder="fastembed:some/model")
    assert other.recall("cat", scope=SHOP).hits[0].why == "content: cat"
    assert loaded == [("some/model", False), ("some/model", True)]
    assert "where its hub can be reached" in other.coverage().trouble


def test_any_error_inside_fastembed_falls_back_to_words(tmp_path, open_memory, monkeypatch):
    class Strange(Exception): ...

    class TextEmbedding:
        def __init__(self, *_, **__):
            if broken == "load":
                raise Strange

        def embed(self, texts):
            raise Strange

    monkeypatch.setitem(sys.modules, "fastembed", SimpleNamespace(TextEmbedding=TextEmbedding))
    onnx = SimpleNamespace(Fail=Strange, Session=object, version="1")
    monkeypatch.setitem(sys.modules, "onnxruntime.capi.onnxruntime_pybind11_state", onnx)
    for broken in ("load", "embed"):
        memory = open_memory(tmp_path / f"{broken}.db", embedder="fastembed:some/model")
        memory.remember("the cat sleeps", scope=SHOP)
        with pytest.raises(EmbedderUnavailable):
            memory.embed_pending()
        assert memory.recall("cat", scope=SHOP).hits[0].why == "content: cat"


def test_vectors_of_different_sizes_are_never_mixed(server, tmp_path, open_memory, monkeypatch):
    memory = open_memory(tmp_path / "memory.db", embedder=f"http://127.0.0.1:{server.server_port}/v1#tiny")
    memory._embeddings._background = False
    memory.remember("the cat sleeps", scope=SHOP)
    memory.embed_pending()
    monkeypatch.setattr(Handler, "answer", staticmethod(lambda text: [0.1, 0.2, 0.3, 0.4]))
    assert memory.recall("cat", scope=SHOP).hits[0].why == "content: cat"
    memory.remember("the invoice is due", scope=SHOP)
    assert memory.embed_pending() == 1
    assert memory.coverage().pending == 1
    assert memory.embed_pending() == 1


def test_a_reindex_notices_that_a_server_changed_its_model(server, tmp_path, open_memory, monkeypatch):
    memory = open_memory(tmp_path / "memory.db", embedder=f"http://127.0.0.1:{server.server_port}/v1#tiny")
    for text in ("the cat sleeps", "the invoice is due"):
        memory.remember(text, scope=SHOP)
    assert memory.reindex().embedded == 2
    monkeypatch.setattr(
        Handler, "answer", staticmethod(lambda text: [float("cat" in text or "kitty" in text), 0.2, 0.3, 0.4])
    )
    assert "returns vectors of 4 dimensions, and the stored ones have 3" in memory.coverage(probe=True).trouble
    assert memory.reindex().embedded == 2
    assert memory.coverage(probe=True).trouble == ""
    assert memory.reindex().embedded == 0
    assert memory.recall("kitty", scope=SHOP).hits[0].why.startswith("meaning")
    assert kept_vectors(tmp_path / "memory.db") == 2


def test_a_process_learns_that_another_reindexed_for_a_server_that_changed_its_model(
    server, tmp_path, open_memory, monkeypatch
):
    monkeypatch.setattr("omoide.embeddings.indexer.LOOK", 0.0)
    url = f"http://127.0.0.1:{server.server_port}/v1#tiny"
    memory, other = (open_memory(tmp_path / "memory.db", embedder=url) for _ in range(2))
    memory.remember("the cat sleeps", scope=SHOP)
    memory.embed_pending()
    assert memory.recall("kitty", scope=SHOP).hits[0].why.startswith("meaning")
    monkeypatch.setattr(
        Handler, "answer", staticmethod(lambda text: [float("cat" in text or "kitty" in text), 0.2, 0.3, 0.4])
    )
    other.reindex()
    assert memory.recall("kitty", scope=SHOP).hits == []
    at_rest(memory)
    assert memory.recall("kitty", scope=SHOP).hits[0].why.startswith("meaning")


def test_no_text_is_sent_twice_by_the_process_that_remembered_it(server, tmp_path, open_memory, monkeypatch):
    monkeypatch.setattr("omoide.embeddings.indexer.LOOK", 0.0)
    seen = []
    monkeypatch.setattr(Handler, "answer", staticmethod(lambda text: seen.append(text) or [1.0, 0.2]))
    memory = open_memory(tmp_path / "memory.db", embedder=f"http://127.0.0.1:{server.server_port}/v1#tiny")
    memory.remember("the cat sleeps", scope=SHOP)
    memory.embed_pending()
    for _ in range(3):
        memory.recall("kitty", scope=SHOP)
        at_rest(memory)
        memory.remember("the invoice is due", scope=SHOP)
        at_rest(memory)
    assert sorted(text for text in seen if text != "kitty") == ["the cat sleeps", "the invoice is due"]


def kept_vectors(path):
    with closing(apsw.Connection(str(path))) as raw:
        return raw.execute("SELECT count(*) FROM vectors").get


def test_old_vectors_are_used_until_all_new_ones_exist(server, tmp_path, open_memory):
    path, count = tmp_path / "memory.db", 200
    old = open_memory(path, embedder=f"http://127.0.0.1:{server.server_port}/v1#tiny")
    for n in range(count - 1):
        old.remember(f"plain note {n} of the shop", scope=SHOP)
    old.remember("the cat sleeps", scope=SHOP)
    old.embed_pending()
    new = open_memory(path, embedder="bundled")

    def stop(step, *_):
        if step == "embedding":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        new.reindex(watch=stop)
    assert old.recall("kitty", scope=SHOP).hits[0].memory.content == "the cat sleeps"
    assert old.coverage().pending == 0
    left = new.coverage().pending
    assert 0 < left < count
    assert new.reindex().embedded == left  # it goes on where it was
    assert (new.coverage().pending, old.coverage().pending) == (0, count)
    assert kept_vectors(path) == count
    assert new.recall("kitten", scope=SHOP).hits[0].memory.content == "the cat sleeps"
    assert old.recall("cat", scope=SHOP).hits[0].memory.content == "the cat sleeps"


def test_a_reindex_without_its_embedder_keeps_all_vectors_and_reports_it(server, tmp_path, open_memory):
    memory = open_memory(tmp_path / "memory.db", embedder=f"http://127.0.0.1:{server.server_port}/v1#tiny")
    memory.remember("The cat sleeps on the old chair", scope=SHOP)
    memory.remember("invoices are due", scope=SHOP)
    memory.embed_pending()
    server.shutdown()
    server.server_close()
    memory.remember("the cat sleeps on the old chair.", scope=SHOP)
    done = memory.reindex()
    assert (done.merged, done.embedded) == (1, 0)
    assert "returned no vectors" in done.trouble
    other = open_memory(tmp_path / "memory.db", embedder="http://127.0.0.1:1/v1#another")
    assert "returned no vectors" in other.reindex().trouble
    assert memory.coverage().embedded >= 1


@pytest.mark.parametrize("row", [[], [1e300] * 3], ids=["empty", "too large"])
def test_a_server_that_returns_no_vectors_falls_back_to_words(server, tmp_path, open_memory, monkeypatch, row):
    memory = open_memory(tmp_path / "memory.db", embedder=f"http://127.0.0.1:{server.server_port}/v1#tiny")
    memory.remember("the cat sleeps", scope=SHOP)
    memory.embed_pending()
    monkeypatch.setattr(Handler, "answer", staticmethod(lambda _: row))
    assert memory.recall("cat", scope=SHOP).hits[0].memory.content == "the cat sleeps"
    memory.remember("the invoice is due", scope=SHOP)
    assert memory.reindex().trouble


def test_vectors_of_several_lengths_in_one_answer_fall_back_to_words(server, tmp_path, open_memory, monkeypatch):
    monkeypatch.setattr(Handler, "answer", staticmethod(lambda text: [1.0] * (2 + len(text) % 2)))
    memory = open_memory(tmp_path / "memory.db", embedder=f"http://127.0.0.1:{server.server_port}/v1#tiny")
    for text in ("the cat sleeps", "the cat sleeps on"):
        memory.remember(text, scope=SHOP)
    memory.remember("odd", scope=SHOP)
    assert "different or zero length" in memory.reindex().trouble


def test_an_invalid_address_or_key_falls_back_to_words(tmp_path, open_memory):
    for url, key in (("http://localhost/日本#m", ""), ("http://[bad/v1#m", ""), ("http://127.0.0.1:1/v1#m", "鍵")):
        memory = open_memory(tmp_path / "memory.db", embedder=url, embedder_key=key)
        memory.remember("the cat sleeps", scope=SHOP)
        assert "returned no vectors" in memory.reindex().trouble


def test_an_invalid_key_is_not_shown(tmp_path, open_memory):
    memory = open_memory(tmp_path / "memory.db", embedder="http://127.0.0.1:1/v1#m", embedder_key="open sesame\n")
    trouble = memory.coverage(probe=True).trouble
    assert "a line break" in trouble
    assert "sesame" not in trouble


def test_without_numpy_recall_uses_words_and_reports_it(server, tmp_path, open_memory, monkeypatch):
    url = f"http://127.0.0.1:{server.server_port}/v1#tiny"
    with open_memory(tmp_path / "memory.db", embedder=url) as memory:
        memory.remember("the cat sleeps", scope=SHOP)
        memory.embed_pending()
    for name in ("omoide.retrieval.vector_query", "omoide.embeddings.vectors", "omoide.embeddings.quantized"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.delattr("omoide.embeddings.vectors", raising=False)
    monkeypatch.setitem(sys.modules, "numpy", None)
    memory = open_memory(tmp_path / "memory.db", embedder=url)
    assert memory.recall("cat", scope=SHOP).hits[0].memory.content == "the cat sleeps"
    memory.remember("the cat sleeps on", scope=SHOP)
    assert "numpy" in memory.reindex().trouble


@pytest.mark.parametrize(
    "weights", [None, b"garbage", b"PK\x03\x04garbage"], ids=["missing", "no archive", "a broken archive"]
)
def test_a_damaged_bundled_model_falls_back_to_words(tmp_path, open_memory, monkeypatch, weights):
    with open_memory(tmp_path / "memory.db", embedder="bundled") as memory:
        memory.remember("the cat sleeps", scope=SHOP)
        memory.embed_pending()
    resources = tmp_path / "broken_model" / "resources"
    resources.mkdir(parents=True)
    (resources.parent / "__init__.py").touch()
    if weights is not None:
        (resources / "weights.npz").write_bytes(weights)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("omoide.embeddings.base.PACKAGE", "broken_model")
    monkeypatch.setattr("omoide.embeddings.base._bundled_embedder", BundledEmbedder)
    memory = open_memory(tmp_path / "memory.db", embedder="bundled")
    assert memory.recall("cat", scope=SHOP).hits[0].memory.content == "the cat sleeps"
    memory.remember("the dog barks", scope=SHOP)
    assert "cannot be loaded" in memory.reindex().trouble


def test_a_missing_package_is_named_with_the_command_to_install_it(monkeypatch):
    with pytest.raises(EmbedderUnavailable, match="install fastembed"):
        FastembedEmbedder("some/model").vectors(["text"])
    monkeypatch.setattr("omoide.embeddings.base.PACKAGE", "no_such_package")
    assert make_embedder("auto") is None
    assert isinstance(make_embedder("http://host/v1#m"), OpenAIEmbedder)


def test_an_unknown_embedder_is_refused(tmp_path, open_memory):
    with pytest.raises(InvalidInput, match=r"embedder must be .*, got 'file:///etc#x'"):
        open_memory(tmp_path / "memory.db", embedder="file:///etc#x")
