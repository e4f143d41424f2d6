"""A reference page of the API in plain HTML: it needs no script and nothing from another host."""

import json
from html import escape
from typing import Any

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1d1d1f; }
h2 { margin-top: 2.5rem; text-transform: capitalize; } summary { cursor: pointer; padding: .3rem 0; }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; }
pre { background: #f4f4f6; padding: .8rem; overflow: auto; }
.method { display: inline-block; width: 4.5rem; font-weight: 600; } table { border-collapse: collapse; }
td, th { text-align: left; padding: .2rem .8rem .2rem 0; vertical-align: top; } details { border-top: 1px solid #ddd; }
@media (prefers-color-scheme: dark) { body { background: #1d1d1f; color: #eee; } pre { background: #2b2b2e; } }
"""


def render(document: dict[str, Any]) -> str:
    """Return the page of an OpenAPI document."""
    sections: dict[str, list[str]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            sections.setdefault(operation["tags"][0], []).append(_operation(path, method, operation))
    body = "".join(f'<h2 id="{escape(tag)}">{escape(tag)}</h2>{"".join(parts)}' for tag, parts in sections.items())
    title = f"{document['info']['title']} {document['info']['version']}"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>'
        f"<h1>{escape(title)}</h1><p>{escape(document['info']['description'])} Every request needs a bearer token:"
        ' <code>omoide mcp token</code> prints it. The same as <a href="/openapi.json">OpenAPI 3.1</a>.</p>'
        f"{body}</body></html>"
    )


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    parts = [f"<p>{escape(operation['description'])}</p>" if "description" in operation else ""]
    rows = [
        f"<tr><td><code>{escape(each['name'])}</code></td><td>{each['in']}</td><td>{escape(_type(each['schema']))}</td>"
        f"<td>{escape(each.get('description', ''))}</td></tr>"
        for each in operation["parameters"]
    ]
    if rows:
        parts.append(f"<table><tr><th>parameter</th><th>in</th><th>type</th><th></th></tr>{''.join(rows)}</table>")
    sent = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    if "example" in sent:
        parts.append(f"<p>Request</p>{_example(sent['example'])}")
    for status, response in operation["responses"].items():
        content = response.get("content", {}).get("application/json", {})
        if content.get("example") is not None:
            parts.append(f"<p>Answer {status}</p>{_example(content['example'])}")
            break
    statuses = ", ".join(status for status in operation["responses"] if status != "default")
    parts.append(f"<p>Statuses: {statuses}</p>")
    return (
        f'<details id="{escape(operation["operationId"])}"><summary><span class="method">{method.upper()}</span>'
        f"<code>{escape(path)}</code> {escape(operation['summary'])}</summary>{''.join(parts)}</details>"
    )


def _type(schema: dict[str, Any]) -> str:
    options = schema.get("anyOf") or [schema]
    text = " or ".join(str(each.get("type", "")) for each in options)
    return f"{text}, default {json.dumps(schema['default'])}" if "default" in schema else text


def _example(value: Any) -> str:
    return f"<pre>{escape(json.dumps(value, indent=2, ensure_ascii=False))}</pre>"
