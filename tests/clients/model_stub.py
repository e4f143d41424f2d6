"""A model that answers every request with one sentence, by the APIs of Anthropic, OpenAI and Google."""

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, NamedTuple

ROUTE = '{"reasoning": "short", "model_choice": "flash"}'
"""What the router of Gemini CLI asks for before the first turn: it tries again for a minute if it gets no JSON."""


class ModelRequest(NamedTuple):
    path: str
    body: dict[str, Any]

    @property
    def text(self) -> str:
        """The whole request as one text, with the characters that JSON escapes."""
        return json.dumps(self.body, ensure_ascii=False)

    @property
    def is_turn(self) -> bool:
        """Whether it is a turn of the conversation: not a title, a count of tokens or a choice of the model."""
        return bool(self.body.get("tools")) and "countTokens" not in self.path and "count_tokens" not in self.path


class ModelStub:
    """The running model: where it is, and what it was asked."""

    def __init__(self, url: str):
        self.url = url
        self.requests: list[ModelRequest] = []
        self._numbers = count(1)

    def answer(self) -> str:
        """Return what to say next: never the same twice, as a model would."""
        return f"Understood, this is answer {next(self._numbers)}."

    def turns(self) -> list[ModelRequest]:
        """The requests for a turn of the conversation, since the last call."""
        found = [request for request in self.requests if request.is_turn]
        self.requests.clear()
        return found


@contextmanager
def serve() -> Iterator[ModelStub]:
    """Run the model on a free port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    stub = ModelStub(f"http://127.0.0.1:{server.server_address[1]}")
    server.stub = stub  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def do_HEAD(self) -> None:
        self._send(b"", "text/plain")

    def do_GET(self) -> None:
        self._json({"object": "list", "data": [{"id": "stub", "object": "model"}], "models": []})

    def do_POST(self) -> None:
        body = self._body()
        stub: ModelStub = self.server.stub  # type: ignore[attr-defined]
        stub.requests.append(ModelRequest(self.path, body))
        self._answer = stub.answer()
        path = self.path.partition("?")[0]
        streams = bool(body.get("stream")) or "streamGenerateContent" in path
        if path.endswith("count_tokens"):
            self._json({"input_tokens": 10})
        elif "countTokens" in path:
            self._json({"totalTokens": 10})
        elif path.endswith("/messages"):
            self._anthropic(body, streams=streams)
        elif path.endswith("/responses"):
            self._responses(streams=streams)
        elif path.endswith("/chat/completions"):
            self._chat(streams=streams)
        elif "enerateContent" in path:
            self._google(body, streams=streams)
        else:
            self._json({})

    def _anthropic(self, body: dict[str, Any], *, streams: bool) -> None:
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model", "stub")}
        usage = {"input_tokens": 10, "output_tokens": 3}
        if not streams:
            content = [{"type": "text", "text": self._answer}]
            self._json({**message, "content": content, "stop_reason": "end_turn", "stop_sequence": None, "usage": usage})
            return
        start = {**message, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        delta = {"stop_reason": "end_turn", "stop_sequence": None}
        self._events(
            {"type": "message_start", "message": start},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": self._answer}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 3}},
            {"type": "message_stop"},
        )

    def _responses(self, *, streams: bool) -> None:
        item = {"type": "message", "id": "item_1", "role": "assistant", "status": "completed"}
        text = [{"type": "output_text", "text": self._answer, "annotations": []}]
        details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        usage = {"input_tokens": 10, "output_tokens": 3, "total_tokens": 13, **details}
        done = {"id": "resp_1", "object": "response", "status": "completed", "model": "stub", "usage": usage}
        done["output"] = [{**item, "content": text}]
        if not streams:
            self._json(done)
            return
        place = {"item_id": "item_1", "output_index": 0, "content_index": 0}
        self._events(
            {"type": "response.created", "response": {"id": "resp_1"}},
            {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
            {"type": "response.output_text.delta", **place, "delta": self._answer},
            {"type": "response.output_item.done", "output_index": 0, "item": {**item, "content": text}},
            {"type": "response.completed", "response": done},
        )

    def _chat(self, *, streams: bool) -> None:
        answer = {"id": "chat_1", "created": 1, "model": "stub"}
        usage = {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}
        message = {"role": "assistant", "content": self._answer}
        if not streams:
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            self._json({**answer, "object": "chat.completion", "choices": [choice], "usage": usage})
            return
        chunk = {**answer, "object": "chat.completion.chunk"}
        self._events(
            {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage},
            end="data: [DONE]\n\n",
        )

    def _google(self, body: dict[str, Any], *, streams: bool) -> None:
        wants_json = body.get("generationConfig", {}).get("responseMimeType") == "application/json"
        content = {"role": "model", "parts": [{"text": ROUTE if wants_json else self._answer}]}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 3, "totalTokenCount": 13}
        answer = {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}
        if streams:
            self._events(answer)
        else:
            self._json(answer)

    def _body(self) -> dict[str, Any]:
        length = self.headers.get("content-length")
        data = self.rfile.read(int(length)) if length else b"".join(self._chunks())
        if self.headers.get("content-encoding") == "gzip":
            data = gzip.decompress(data)
        try:
            body = json.loads(data)
        except ValueError:
            return {}
        return body if isinstance(body, dict) else {}

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().strip() or b"0", 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _events(self, *events: dict[str, Any], end: str = "") -> None:
        lines = [f"event: {event['type']}\n" if "type" in event else "" for event in events]
        text = "".join(f"{line}data: {json.dumps(event)}\n\n" for line, event in zip(lines, events, strict=True)) + end
        self._send(text.encode(), "text/event-stream")

    def _json(self, value: Any) -> None:
        self._send(json.dumps(value).encode(), "application/json")

    def _send(self, data: bytes, type: str) -> None:
        self.send_response(200)
        self.send_header("content-type", type)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
