"""A list of memories as omoide writes it, and the same list as formatters, editors and agents rewrite it.

What prettier and markdownlint make of it is stored as they wrote it; tests/clients runs the real programs.
"""

import re

A, B, C = (f"019c2d3e-8d7b-7005-9b9f-00000000000{n}" for n in "abc")
LONG = "長い行を折り返す整形ツールがあっても、同じ記憶として読めなければなりません。トークンの有効期限は 30 分です。"
STEPS = """\
Ship in *this* order, and never on a Friday, because nobody will be there to roll it back when it breaks:

* build with `make build`
* ship_it with make ship

1) wait
2) look at the __graphs__

~~~sh
## build, then ship
make build && make ship
~~~"""
CONTENTS = {A: "Always use try-catch", B: STEPS, C: LONG}
"""The contents by id. The second has the topic `How to deploy!` and two tags; the third is a decision."""
WRITTEN = f"""\
# Memories

## Always use try-catch
- Tags: error-handling
- Date: 2026-02-05
- Id: {A}
- Content: Always use try-catch

## How to deploy!
- Tags: ops, snake_case
- Date: 2026-02-05
- Id: {B}
- Content: Ship in *this* order, and never on a Friday, because nobody will be there to roll it back when it breaks:

  * build with `make build`
  * ship_it with make ship

  1) wait
  2) look at the __graphs__

  ~~~sh
  ## build, then ship
  make build && make ship
  ~~~

## {LONG[:50]}...
- Tags: decision
- Date: 2026-02-05
- Id: {C}
- Content: {LONG}
"""
PRETTIER = f"""\
# Memories

## Always use try-catch

- Tags: error-handling
- Date: 2026-02-05
- Id: {A}
- Content: Always use try-catch

## How to deploy!

- Tags: ops, snake_case
- Date: 2026-02-05
- Id: {B}
- Content: Ship in _this_ order, and never on a Friday, because nobody will be
  there to roll it back when it breaks:

  - build with `make build`
  - ship_it with make ship

  1. wait
  2. look at the **graphs**

  ```sh
  ## build, then ship
  make build && make ship
  ```

## {LONG[:50]}...

- Tags: decision
- Date: 2026-02-05
- Id: {C}
- Content: 長い行を折り返す整形ツールがあっても、同じ記憶として読めなければなりません。
  トークンの有効期限は 30 分です。
"""
MARKDOWNLINT = f"""\
# Memories

## Always use try-catch

- Tags: error-handling
- Date: 2026-02-05
- Id: {A}
- Content: Always use try-catch

## How to deploy

- Tags: ops, snake_case
- Date: 2026-02-05
- Id: {B}
- Content: Ship in *this* order, and never on a Friday, because nobody will be there to roll it back when it breaks:

  - build with `make build`
  - ship_it with make ship

  1) wait
  2) look at the **graphs**

  ~~~sh
  ## build, then ship
  make build && make ship
  ~~~

## {LONG[:50]}

- Tags: decision
- Date: 2026-02-05
- Id: {C}
- Content: {LONG}
"""
BULLETS = f"""\
# Memories

* **Always use try-catch**
  * Tags: error-handling
  * Date: 2026-02-05
  * Id: `{A}`
  * Content: Always use try-catch
* **How to deploy!**
  * Tags: ops, snake_case
  * Id: `{B}`
  * Content: Ship in *this* order, and never on a Friday, because nobody will be there to roll it back when it breaks:

    - build with `make build`
    - ship_it with make ship

    1. wait
    2. look at the **graphs**

    ```sh
    ## build, then ship
    make build && make ship
    ```
* **{LONG[:30]}…**
  * Tags: decision
  * Id: `{C}`
  * Content: {LONG}
"""
WITHOUT_CONTENT_LABELS = f"""\
# Memories

### Always use try-catch
**Tags:** error-handling
**Id:** {A}

Always use try-catch

### How to deploy!
**Tags:** ops, snake_case
**Id:** {B}

{STEPS}

### {LONG[:50]}...
**Tags:** decision
**Id:** {C}

{LONG}
"""


def _setext(text: str) -> str:
    text = re.sub(r"^# (.*)$", r"\1\n===", text, flags=re.MULTILINE)
    return re.sub(r"^## (.*)$", r"\1\n---", text, flags=re.MULTILINE)


def _indent(text: str, by: int) -> str:
    return re.sub(r"^(?=[-* ]\S?)", " " * by, text, flags=re.MULTILINE)


REFORMATTED = {
    "prettier": PRETTIER,
    "markdownlint": MARKDOWNLINT,
    "prettier with tabs of 4": re.sub(r"^  (?=\S)", "    ", PRETTIER, flags=re.MULTILINE),
    "prose never wrapped": PRETTIER.replace("will be\n  there", "will be there").replace("せん。\n  ト", "せん。ト"),
    "headings of the third level": WRITTEN.replace("\n## ", "\n### "),
    "headings of the first level": WRITTEN.replace("\n## ", "\n# "),
    "headings with an underline": _setext(WRITTEN),
    "headings that are closed": re.sub(r"^(##? .*)$", r"\1 ##", WRITTEN, flags=re.MULTILINE),
    "bold labels": re.sub(r"^- (\w+):", r"- **\1:**", WRITTEN, flags=re.MULTILINE),
    "bold labels before the colon": re.sub(r"^- (\w+):", r"- __\1__:", WRITTEN, flags=re.MULTILINE),
    "labels without a mark": re.sub(r"^- (\w+):", r"**\1**:", WRITTEN, flags=re.MULTILINE),
    "items indented by 2": _indent(WRITTEN, 2),
    "items indented by 4": _indent(WRITTEN, 4),
    "items indented by a tab": re.sub(r"^(?=[-* ]\S?)", "\t", WRITTEN, flags=re.MULTILINE),
    "stars": re.sub(r"^- ", "* ", WRITTEN, flags=re.MULTILINE),
    "pluses": re.sub(r"^- ", "+   ", WRITTEN, flags=re.MULTILINE),
    "CRLF": WRITTEN.replace("\n", "\r\n"),
    "CRLF of prettier": PRETTIER.replace("\n", "\r\n"),
    "trailing spaces": WRITTEN.replace("\n", "  \n"),
    "no empty lines": re.sub(r"\n\n(?=#)", "\n", WRITTEN),
    "many empty lines": WRITTEN.replace("\n## ", "\n\n\n\n## "),
    "texts that are not indented": re.sub(r"^  (?=\S)", "", WRITTEN, flags=re.MULTILINE),
    "an agent's list of items": BULLETS,
    "an agent's numbered list": re.sub(r"^\* ", "1. ", BULLETS, flags=re.MULTILINE).replace("\n  ", "\n   "),
    "an agent's text without content labels": WITHOUT_CONTENT_LABELS,
}
"""What became of the list. Every entry of it still says what it said."""


_YAML = """\
```yaml
# services
web:
    image:   'shop:1.10'
    ports:
    - 8080:80
    - "443:443" # TLS
    env: {A: 1,B: two}
    note: >
        long
        text
```"""
_TYPESCRIPT = """\
```ts
type A = {'userId':string,n?:number}
export const f = async (x:A) => {
  const url = 'https://a.b/c?d=1,2'
  // don't
  return `${x.userId}; ok`
}
```"""
TEXTS = [
    "A long prose line that goes on and on, " * 4 + "so that any formatter breaks it",
    "Two steps, in this order:\n\n```sh\n## build, then ship\nmake build && make ship\n```",
    "Steps:\n\n1) first\n2) second\n3) third",
    "Steps:\n1. first\n1. second\n1. third",
    "* star one\n* star two\n  * nested\n",
    "use *emphasis* and __strong__ and snake_case_name and 2*3*4 and a_b_c",
    "# A heading in a memory\n\ntext below\n\n## another\n- item",
    "Title line\n==========\n\nbody\n\nSub\n---\n\nmore",
    "trailing spaces here  \nnext line   \nlast",
    "<b>html</b> & ampersand <https://example.com> https://example.org/a_b_c?x=1&y=2",
    "| a | b |\n|---|---|\n| 1 | longer cell |",
    "> quoted text\nlazy continuation\n\n> second quote",
    "a\n\n\n\nb\n\n\nc",
    "  leading white space\n    indented code?",
    "- [ ] todo\n- [x] done",
    "price is $5 + 10% [link](http://x.y 'title') ![img](a.png)",
    "line one\nline two\nline three",
    "ends with newline\n",
    "Tab\tseparated\n\tindented by tab",
    "* * *\n\nafter a rule\n\n---\n\nend",
    "+ plus item\n+ second\n\n+ loose",
    "    code by indentation\n    second line\n\ntext",
    "~~~python\nx = 1  # tilde fence\n~~~",
    "Setext?\n-------\ntext",
    "escape \\* and \\_ already",
    "1986\\. A great year",
    "1. one\n\n   para in one\n\n2. two\n   - sub\n     deeper",
    "hard\\\nbreak",
    "#hashtag no space and #123",
    "a | b without table",
    "[ref]: http://example.com\n\nuse [ref] here",
    "+1 for this\n-1 for that",
    "[footnote][^1]\n\n[^1]: The note",
    "“quotes” — dash … ellipsis ※ ① 😀",
    "| 名前 | 値 |\n|:--|--:|\n| 長い名前 | 1 |",
    "```js\nconst a = {'b': 1, c : [ 1,2 ]}\nlist.map(x => x.id)\n```",
    '```json\n{ "a":1 }\n```\n\n```css\na{color:red}\n```',
    _YAML,
    _TYPESCRIPT,
    '```jsonc\n{ // ports\n"a":[1,\n2], "b":{"c":"D, e"}}\n```\n\n```graphql\nquery Q($id:ID!){user(id:$id){id,name}}\n```',
    "```html\n<DIV class='a'><p>Text</p></DIV>\n```\n\n```scss\n$C:#FFF;\n.a{&:hover{color:$C}}\n```",
    "Reste à faire : tester l'accent. `a  b` et ``c ` d``",
    "- 一つ目の項目は長いので折り返されるかもしれません。" + "折り返されても同じ項目です。" * 4 + "\n- 二つ目",
    "x < y && y > z; a[i] = b*c; #define X 1",
    "Line with `code_span_*` and <kbd>Ctrl</kbd>+<kbd>C</kbd>",
    "$ make\n$ make install",
    "```sh\n$ make\n$ make install\n```",
    "a\n* b\nc",
    "Q: why?\nA: because",
    "2026. was a year\n\n2026) too",
    "***bold italic*** and ~~strike~~ and a\\_b",
]
"""Texts with everything in them that a formatter changes."""
