"""A local server that speaks the HTTP interfaces of Anthropic and OpenAI, with answers that a test chooses."""

import json
import socket
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ModelServer:
    """Answers each request with the next of `answers`, the last one again and again, and keeps what it was asked.

    An answer is a text; or an HTTP status; or "reset", which closes the connection; or "hang", which never answers; or
    "garbage", which is no JSON; or bytes, which are the whole body.
    """

    def __init__(self) -> None:
        self.answers: list[str | bytes | int] = ["{}"]
        self.requests: list[dict[str, Any]] = []
        self.released = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()

    def question(self, number: int = -1) -> str:
        """The text of the person's part of a request."""
        message = self.requests[number]["messages"][-1]["content"]
        return message if isinstance(message, str) else message[0]["text"]

    def _handler(server) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - `self` is the handler's
        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["content-length"])))
                server.requests.append(request)
                answer = server.answers.pop(0) if len(server.answers) > 1 else server.answers[0]
                if answer == "reset":
                    linger = struct.pack("ii", 1, 0)
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    self.connection.close()
                elif answer == "hang":
                    server.released.wait(30)
                elif answer == "garbage":
                    self._send(200, b"<html>not what you asked for")
                elif isinstance(answer, bytes):
                    self._send(200, answer)
                elif isinstance(answer, int):
                    self._send(answer, json.dumps({"error": {"message": "no", "type": "stub"}}).encode())
                else:
                    self._send(200, json.dumps(self._body(answer, request["model"])).encode())

            def _body(self, text: str, model: str) -> dict[str, Any]:
                if self.path.endswith("/messages"):
                    return {
                        "id": "m",
                        "type": "message",
                        "role": "assistant",
                        "model": model,
                        "content": [{"type": "text", "text": text}],
                        "stop_reason": "end_turn",
                        "stop_sequence": None,
                        "usage": {"input_tokens": 100, "output_tokens": 20},
                    }
                return {
                    "id": "c",
                    "object": "chat.completion",
                    "created": 1,
                    "model": model,
                    "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
                }

            def _send(self, status: int, body: bytes) -> None:
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        return Handler
