"""The end of a process while a thread is in native code: C++ code that the interpreter stops aborts the process."""

import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import omoide
from omoide import Scope
from omoide.embeddings import indexer

SHOP = Scope.project("shop")

_TOKENIZE = """
import sys, threading
from omoide.embeddings import bundled, indexer

encode = bundled._load_tokenizer()
text = "the long story of the checkout 決済の長い話 " * 100
tokenizing = threading.Event()

def tokenize():
    tokenizing.set()
    encode(text, out_type=int)
"""

_VECTORS = """
import omoide

class Slow(bundled.BundledEmbedder):
    def vectors(self, texts, *, patient=True):
        made = super().vectors(texts)
        tokenize()
        while ended.is_alive():
            tokenize()
        for _ in range(200):
            tokenize()
        return made

ended = threading.main_thread()
indexer._CLOSE_WAIT = 0.0
shop = omoide.Scope.project("shop")
memory = omoide.open(sys.argv[1], embedder="bundled")
memory._embeddings.embedder = Slow()
memory.remember_many([omoide.Draft(f"note {n} about the checkout", shop) for n in range(int(sys.argv[2]))])
memory.recall("checkout", scope=shop)
tokenizing.wait()
if sys.argv[3] == "closed":
    memory.close()
"""


@pytest.mark.parametrize("end", ["closed", "left open"])
def test_a_process_that_ends_while_a_text_is_tokenized_ends_after_the_batch(tmp_path, open_memory, end):
    store = tmp_path / "memory.db"
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", _TOKENIZE + _VECTORS, store, str(2 * indexer.BATCH), end],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    # An open store gets the batch in progress, and no other one is begun.
    missing = indexer.BATCH if end == "left open" else 2 * indexer.BATCH
    assert open_memory(store, embedder="bundled").coverage().pending == missing


_SERVER = """
from omoide.interfaces.mcp.transports import stdio
from omoide.interfaces.cli import main

def vectors(self, texts, *, patient=True):
    print("tokenizing", file=sys.stderr, flush=True)
    while True:
        tokenize()

stdio._FLUSH_SECONDS = 0.0
bundled.BundledEmbedder.vectors = vectors
main()
"""


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_server_that_is_terminated_while_a_call_tokenizes_ends_with_the_code_of_the_signal(tmp_path, number, code):
    store = tmp_path / "memory.db"
    with omoide.open(store, embedder="bundled") as memory:
        kept = memory.remember("note about the checkout", scope=SHOP).memory
        memory.embed_pending()
    call = {"name": "similar", "arguments": {"id": str(kept.number)}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    with subprocess.Popen(
        [sys.executable, "-c", _TOKENIZE + _SERVER, "mcp", "--tools", "all", "--project", "shop", "--store", store],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "OMOIDE_EMBEDDER": "bundled"},
    ) as server:
        server.stdin.write(json.dumps(request).encode() + b"\n")
        server.stdin.flush()
        assert select.select([server.stderr], [], [], 60)[0], "the call was answered, or never begun"
        assert server.stderr.readline() == b"tokenizing\n"
        server.send_signal(number)
        assert (server.wait(timeout=60), server.stderr.read().strip(), server.stdout.read()) == (code, b"", b"")


class _Endless(BaseHTTPRequestHandler):
    """An embedder's server that sends byte after byte, and never an answer."""

    def do_POST(self) -> None:
        self.server.asked.set()
        self.send_response(200)
        self.end_headers()
        try:
            while not self.server.ended.wait(0.1):
                self.wfile.write(b" ")
        except ConnectionError:
            pass

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def endless_server() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Endless) as server:
        server.asked, server.ended = threading.Event(), threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.ended.set()
        server.shutdown()


_REMOTE = """
import sys
import omoide

memory = omoide.open(sys.argv[1], embedder=sys.argv[2])
memory.remember("note about the checkout", scope=omoide.Scope.project("shop"))
memory.recall("checkout", scope=omoide.Scope.project("shop"))
"""


def test_a_process_that_ends_does_not_wait_for_a_server_that_never_ends_its_answer(
    tmp_path: Path, endless_server: ThreadingHTTPServer
) -> None:
    url = f"http://127.0.0.1:{endless_server.server_port}/v1#tiny"
    # A batch may take 120 s, however slowly its bytes arrive.
    done = subprocess.run(
        [sys.executable, "-c", _REMOTE, tmp_path / "memory.db", url], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert endless_server.asked.is_set()
