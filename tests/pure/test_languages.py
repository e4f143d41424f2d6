"""The language of an example: given by its own fence, recognised by its code, or named by a tag."""

import pytest

from omoide.markdown.languages import read_example, recognise

SAMPLES = {
    "rust": [
        "#[tokio::main]\nasync fn main() {\n    let result = fetch_data().await;\n}",
        "use anyhow::Result;\n\npub fn process_data() -> Result<()> {\n    // 実装\n}",
        "async fn main() {}",
        "tokio::spawn(async move { work().await })",
        "let mut x = vec![1, 2];",
    ],
    "python": [
        "def f(x):\n    return x",
        "import os\nprint(os.getcwd())",
        "class A(B):\n    pass",
        "for x in y:\n    print(x)",
        "from pathlib import Path",
        "async def main():\n    await x()",
        'with open("x") as f:\n    f.read()',
    ],
    "typescript": [
        "interface Memory {\n  id: number;\n}",
        "export type A = { a: string };",
        "const f = (x: number): string => `${x}`;",
        "function add(a: number, b: number) { return a + b }",
        "enum Color { Red }",
    ],
    "javascript": [
        'const x = require("fs")',
        'import React from "react"',
        "const [a, setA] = useState(0)",
        "function f(a) { return a === 1 }",
        "items.map(x => x + 1)",
        "console.log(1)",
        "export default function App() { return null }",
    ],
    "go": ["package main\n\nfunc main() {}", "x := 1\nif err != nil { return err }", 'fmt.Println("hi")'],
    "java": ["public class A { public static void main(String[] a) { System.out.println(1); } }", "import java.util.List;"],
    "sql": [
        "SELECT * FROM memories WHERE id = 1;",
        "create table a (id int);",
        "INSERT INTO a VALUES (1)",
        "CREATE VIRTUAL TABLE memories_fts USING fts5(topic)",
        "select a,\n  b\nfrom c",
    ],
    "sh": [
        "pnpm install",
        "git log -1 --format=%B",
        "make build && make ship",
        'curl -H "Authorization: Bearer x" https://a.example',
        "$ omoide recall x",
        "docker run -it --rm x",
        "for f in *; do\n echo $f\ndone",
        "#!/bin/bash\nx",
        "cat a | grep b",
        'pip install "omoide[semantic]"',
        "cd /tmp\nls",
    ],
    "json": ['{"a": 1}', '["async fn main() {}", "tokio::spawn"]'],
    "yaml": ["a: 1\nb:\n  - c\n  - d", 'version: "3"\nservices:\n  web:\n    image: x'],
    "toml": ["[tool.ruff]\nline-length = 125", '[dependencies]\ntokio = { version = "1", features = ["full"] }'],
    "html": ['<div class="a">x</div>', "<!DOCTYPE html>\n<html></html>"],
    "css": [".a {\n  color: red;\n}", "body { margin: 0; }"],
    "dockerfile": ["FROM python:3.11\nRUN pip install x"],
    "diff": ["--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b"],
    "mermaid": ["graph TB\n  A --> B"],
    "ruby": ["def a(b)\n  puts b\nend", "items.each do |x|\n  p x\nend"],
    "php": ["<?php echo 1;", "$x = 1; $this->a();"],
    "kotlin": ['fun main() { println("x") }', "data class A(val a: Int)"],
    "c": ["#include <stdio.h>\nint main() { return 0; }"],
    "cpp": ["#include <iostream>\nint main() { std::cout << 1; }"],
    "csharp": ['using System;\nConsole.WriteLine("x");'],
    "makefile": ["build:\n\tgo build ./..."],
    "": [
        "x = 1",
        "make the call to the bank first",
        "認証は JWT を採用",
        "Use pnpm.",
        "これから日本語で答えて",
        "go to the office",
        "Always answer in Japanese",
        "foo",
        "a, b, c",
        "http://example.org/a?b=c",
        "ERROR: connection refused",
        "2026-01-01 10:00 started",
        "Note: use it",
        "{not json",
    ],
}


@pytest.mark.parametrize(("language", "code"), [(language, code) for language, codes in SAMPLES.items() for code in codes])
def test_code_is_recognised_and_prose_is_not(language, code):
    assert recognise(code) == language


@pytest.mark.parametrize(
    ("example", "tags", "expected"),
    [
        ("```rust\nx\n```", ["python"], ("x", "rust")),
        ("~~~~ SQL title\nselect\n~~~~", [], ("select", "sql")),
        ("```\nlet mut x = 1;\n```", [], ("let mut x = 1;", "rust")),
        ("x = 1", ["api", "Python"], ("x = 1", "python")),
        ("x = 1", ["golang"], ("x = 1", "go")),
        ("x = 1", [], ("x = 1", "text")),
        ("git push", ["python"], ("git push", "sh")),
        ("```sh\na\n```\ntext\n```sh\nb\n```", [], ("```sh\na\n```\ntext\n```sh\nb\n```", "text")),
        ("", [], ("", "text")),
    ],
)
def test_a_given_language_goes_before_a_recognised_one_and_that_before_a_tag(example, tags, expected):
    assert read_example(example, tags) == expected


def test_the_beginning_of_a_long_text_is_enough():
    assert recognise("fn main() {}\n" + "x" * 5_000_000) == "rust"
