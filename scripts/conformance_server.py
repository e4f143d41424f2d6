"""Serve omoide over HTTP without a token, with the fixtures that the official conformance suite calls by name.

The protocol core and the transport are the real ones; only the tools, resources and prompts named test_… are added.
"""

import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from omoide.interfaces.http.tokens import Bearer
from omoide.interfaces.mcp.context import CallContext
from omoide.interfaces.mcp.dispatch import Dispatcher
from omoide.interfaces.mcp.jsonrpc import MISSING_CAPABILITY, RpcError
from omoide.interfaces.mcp.request import RequestContext
from omoide.interfaces.mcp.server import service_handle
from omoide.interfaces.mcp.transports import http
from omoide.model import Role
from omoide.settings import load_settings

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=="
IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}


def text(content: str) -> dict[str, Any]:
    return {"type": "text", "text": content}


def resource(uri: str, mime: str, content: str) -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime, "text": content}}


CONTENT: dict[str, list[dict[str, Any]]] = {
    "test_simple_text": [text("This is a simple text response for testing.")],
    "test_image_content": [IMAGE],
    "test_audio_content": [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}],
    "test_embedded_resource": [resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
    "test_multiple_content_types": [
        text("Multiple content types test:"),
        IMAGE,
        resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
    "test_tool_with_progress": [text("done")],
    "test_logging_tool": [text("nothing is logged, since nobody asked for it")],
    "test_streaming_elicitation": [text("nothing is asked, since nothing is missing")],
    "test_error_handling": [text("This tool intentionally returns an error for testing")],
}
PROMPTS: dict[str, list[str]] = {
    "test_simple_prompt": [],
    "test_prompt_with_arguments": ["arg1", "arg2"],
    "test_prompt_with_embedded_resource": ["resourceUri"],
    "test_prompt_with_image": [],
}
RESOURCES: dict[str, dict[str, str]] = {
    "test://static-text": {"mimeType": "text/plain", "text": "This is the content of the static text resource."},
    "test://static-binary": {"mimeType": "image/png", "blob": PNG},
}


class Fixtures(Dispatcher):
    def tools(self) -> Sequence[dict[str, Any]]:
        names = [*CONTENT, "test_missing_capability"]
        nothing = {"type": "object", "properties": {}}
        return [*super().tools(), *({"name": n, "description": "A fixture.", "inputSchema": nothing} for n in names)]

    def call(self, name: str, arguments: dict[str, Any], call: RequestContext) -> dict[str, Any]:
        if name == "test_missing_capability":
            raise RpcError(MISSING_CAPABILITY, "sampling is needed", {"requiredCapabilities": {"sampling": {}}})
        if name not in CONTENT:
            return super().call(name, arguments, call)
        if name == "test_tool_with_progress":
            for done in (0, 50, 100):
                call.progress(done, 100)
                time.sleep(0.05)
        return {"content": CONTENT[name], "isError": name == "test_error_handling"}

    def resources(self, first: int) -> tuple[Sequence[dict[str, Any]], int | None]:
        page, after = super().resources(first)
        return [*page, *({"uri": uri, "name": uri, "mimeType": r["mimeType"]} for uri, r in RESOURCES.items())], after

    def templates(self) -> Sequence[dict[str, Any]]:
        return [*super().templates(), {"uriTemplate": "test://template/{id}/data", "name": "template"}]

    def read(self, uri: str) -> Sequence[dict[str, Any]]:
        if uri in RESOURCES:
            return [{"uri": uri, **RESOURCES[uri]}]
        if uri.startswith("test://template/"):
            return [{"uri": uri, "mimeType": "application/json", "text": f'{{"id":"{uri.split("/")[3]}"}}'}]
        return super().read(uri)

    def prompts(self) -> Sequence[dict[str, Any]]:
        fixtures = [
            {"name": name, "description": "A fixture.", "arguments": [{"name": a, "required": True} for a in arguments]}
            for name, arguments in PROMPTS.items()
        ]
        return [*super().prompts(), *fixtures]

    def prompt(self, name: str, arguments: Mapping[str, str]) -> dict[str, Any]:
        if name not in PROMPTS:
            return super().prompt(name, arguments)
        listed = ", ".join(f"{key}='{value}'" for key, value in arguments.items())
        content = {
            "test_simple_prompt": [text("This is a simple prompt for testing.")],
            "test_prompt_with_arguments": [text(f"Prompt with arguments: {listed}")],
            "test_prompt_with_embedded_resource": [
                resource(arguments.get("resourceUri", ""), "text/plain", "Embedded resource content for testing."),
                text("Please process the embedded resource above."),
            ],
            "test_prompt_with_image": [IMAGE, text("Please analyze the image above.")],
        }
        return {"messages": [{"role": "user", "content": each} for each in content[name]]}

    def complete(self, ref: Mapping[str, str], name: str, begun: str, known: Mapping[str, str]) -> Sequence[str]:
        return [] if ref.get("name") in PROMPTS else super().complete(ref, name, begun, known)


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        handle = service_handle(load_settings({"store": str(Path(directory) / "memory.db")}))
        context = CallContext(handle, None, "shop")
        handle.service.remember("認証は JWT を採用", scope=context.scope(), topic="API auth")
        server = http.HttpServer(lambda *_: Fixtures(context, "all"), lambda _: Bearer(Role.OWNER, "suite"), "127.0.0.1:0")
        print(server.url, flush=True)
        sys.stdin.close()
        server.serve()


if __name__ == "__main__":
    main()
