"""Practices that projects rule out, and how each looks in code and commands: `print(` for "nothing to stdout". Pure.

A memory names a practice in words ("no emojis", 例外にせず, "pin images to a digest"); an agent shows it in what it writes.
The table holds rules that projects commonly have, not those of one project.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from omoide.compiled_patterns import load_pattern


class Practice(NamedTuple):
    """One practice: the words by which a memory forbids it, and the pattern of what shows it."""

    named: str
    shown: str
    opposite: str = ""
    """The words by which a memory asks for the opposite; empty: only a memory that names the practice forbids it."""
    said: str = ""
    """The pattern of words by which an agent says that it did so."""


_PRACTICES = (
    # output, waiting, errors
    Practice(
        "print|stdout|標準出力|console.log|println",
        r"(?<![\w.])print\(|console\.log\(|\bprintln!?\(|System\.out\.print|fmt\.Print",
    ),
    Practice("sleep|sleeps|sleeping", r"\b(?:time|thread)(?:\.|::)sleep\(|(?<![\w.])sleep\(|^sleep \d"),
    Practice("delay|delays", r"(?<!\w)delay\("),
    Practice(
        "例外に|例外を|例外で|raise exceptions|throw exceptions|throwing|exceptions",
        r"^\s*(?:raise|throw)\b|\bthrow (?:new )?\w+\(",
    ),
    Practice("unwrap", r"\.unwrap\(\)"),
    Practice("panic|panics", r"\bpanic!?\("),
    Practice("bare except|broad except|except exception|catch-all|swallow|握りつぶ", r"except:|except (?:Base)?Exception\b"),
    Practice(
        "ts-ignore|eslint-disable|noqa|type: ignore|suppress|suppressing|抑制|黙らせ",
        r"@ts-(?:ignore|expect-error)|eslint-disable|# noqa|# type: ignore|@SuppressWarnings|nolint|rubocop:disable",
    ),
    # types and language
    Practice("any型|anyは|anyを|anyへ|anyや|`any`|any type|type any|any or as", r":\s*any\b|\bas any\b|<any>"),
    Practice(
        "default export|default exports|export default|デフォルトエクスポート",
        r"^\s*export default\b",
        "named exports|named export|名前付きexport|名前付きエクスポート",
    ),
    Practice("`var`|varは|varを|use var|using var|var keyword", r"^\s*var \w+\s*="),
    Practice("enum|enums", r"^\s*(?:export )?(?:const )?enum \w"),
    Practice(
        "wildcard import|wildcard imports|star import|star imports|import *", r"^\s*from \S+ import \*|^import [\w.]+\.\*;"
    ),
    Practice("eval", r"\beval\("),
    Practice(".then|then chains|then-chains", r"\.then\("),
    Practice("global variable|global variables|global state|グローバル変数", r"^\s*global \w"),
    Practice("singleton|singletons|.shared|シングルトン", r"\.shared\b|\.getInstance\("),
    Practice(
        "class component|class components|クラスコンポーネント",
        r"extends (?:React\.)?(?:Pure)?Component\b",
        "function components|functional components|関数コンポーネント",
    ),
    Practice("options api|オプションapi", r"^export default \{|^\s*data\(\) \{", "script setup|composition api"),
    Practice(
        "非同期リセット|async reset|asynchronous reset|asynchronous resets",
        r"\bor (?:neg|pos)edge \w*(?:rst|reset)",
        "は同期リセット|synchronous reset|synchronous resets",
    ),
    Practice("by name|名前で探|名前で検索|by tag", r"\.Find\(\"|FindWithTag\(|find_by_name\("),
    Practice("mock|mocks|mocking|モック", r"\bmock\.|\b(?:jest|vi)\.mock\(|MagicMock|@patch\b"),
    Practice("snapshot test|snapshot tests|スナップショットテスト", r"toMatch(?:Inline)?Snapshot"),
    Practice("semicolon|semicolons|セミコロン", r";\s*$"),
    Practice("hard tabs|tab characters|indent with tabs|tabs for indentation|タブ文字|タブインデント", r"^\t"),
    Practice("no comments|code comments|コメントを書|コメントを残", r"^\s*(?:#|//|/\*) ?\w"),
    Practice("todo|todos", r"\b(?-i:TODO)\b"),
    Practice("lambda|lambdas", r"\blambda\b[^:\n]*:"),
    Practice("relative import|relative imports|相対インポート", r"^\s*from \.+\w* import|from ['\"]\.\./"),
    Practice("assert statement|asserts in|bare assert|assert文", r"^\s*assert "),
    Practice("f-strings in log|f-string in log|ログにf文字列", r"\blog\w*\.\w+\(f[\"']"),
    Practice(
        "untyped|without type hints|without annotations", r"^\s*def \w+\([^)]*\)\s*:", "type hints|type annotations|型ヒント"
    ),
    Practice(
        "field injection|フィールドインジェクション",
        r"@Autowired\s+(?:private|protected)|@Inject lateinit",
        "constructor injection",
    ),
    Practice("lombok", r"\blombok\b|^\s*@(?:Data|Getter|Setter|Builder)\b"),
    Practice("non-null assertion|force unwrap|force-unwrap|force unwrapping|強制アンラップ|!!", r"\w!!|\btry!|\bas!|\w!\."),
    Practice("raw pointer|raw pointers|naked new|生ポインタ", r"\bnew \w+[({\[]", "smart pointers|スマートポインタ"),
    Practice("dynamic allocation|heap allocation|動的確保|動的メモリ", r"\bmalloc\(|\bnew \w+[({\[]|\bString \w+ ?="),
    Practice("cout|iostream", r"\bcout\b|<iostream>"),
    Practice("using namespace", r"^\s*using namespace"),
    Practice("macro|macros|マクロ", r"^\s*#define \w+\("),
    Practice("goto", r"\bgoto \w"),
    Practice("unsafe", r"\bunsafe\s*\{"),
    Practice("expect()|.expect", r"\.expect\("),
    Practice("init()|init functions", r"^func init\("),
    Practice("jquery", r"\$\(['\"]"),
    Practice("fetch directly|raw fetch|fetch()|fetchを直接", r"(?<![\w.])fetch\("),
    Practice("useeffect", r"\buseEffect\("),
    Practice("document.cookie", r"document\.cookie"),
    Practice("inline script|inline scripts|インラインスクリプト", r"<script>\s*\w|\son\w+=\""),
    Practice("alert|alerts", r"(?<![\w.])alert\("),
    Practice("pickle", r"\bpickle\b"),
    Practice(
        "function declarations|function keyword",
        r"^\s*(?:export )?(?:default )?(?:async )?function \w",
        "arrow functions|アロー関数",
    ),
    Practice(
        "comma-separated|comma separated|カンマ区切り",
        r"(?:delimiter|sep|separator)\s*[=:(]\s*['\"],['\"]",
        "delimiter is a semicolon|semicolon-separated|semicolon as delimiter|セミコロン区切り|separator is a semicolon",
    ),
    Practice(
        "個人情報|personal data|pii|email addresses|メールアドレス",
        r"\b(?:log\w*|print|console)\b[.(].*(?:e?mail|phone|password|address|birth)",
    ),
    # pages and texts
    Practice(
        "american dates|dd/mm|mm/dd",
        r"%[dm]/%[dm]/%[Yy]|(?:DD/MM|MM/DD)/Y+|(?:dd/MM|MM/dd)/y+",
        "yyyy-mm-dd|iso 8601|iso dates|iso date",
    ),
    Practice("px|pixels|ピクセル", r":\s*\d+px\b", "rem|rem単位"),
    Practice("である調|だ・である", r"(?:である|だった)。", "ですます|です・ます|敬体"),
    Practice("です・ます|ですます|敬体", r"(?:です|ます|ました)。", "である調|だ・である|常体"),
    Practice("和暦|令和", r"令和\d|R\d+\.\d", "西暦"),
    Practice("西暦", r"20\d\d年", "和暦"),
    Practice("全角数字|全角英数", r"[０-９Ａ-Ｚａ-ｚ]", "半角数字|半角英数|数字は半角|英数字は半角"),
    Practice("半角カナ", r"[ｦ-ﾟ]"),
    Practice("「、。」|、。", r"[^\s]、|[^\s]。", "「,」「.」|「，」「．」"),
    Practice("12-hour|am/pm|12時間", r"\d ?[ap]\.?m\b", "24-hour|24h|24時間"),
    Practice("american spelling", r"\b(?:color|behavior|center|organiz|initializ)\w*", "british english|british spelling"),
    Practice(
        "british spelling", r"\b(?:colour|behaviour|centre|organis|initialis)\w*", "american english|american spelling"
    ),
    Practice("simply|'just'|\"just\"", r"\b(?:simply|just)\b"),
    Practice("emoji|emojis|絵文字", "[\u2600-\u27bf\U0001f300-\U0001faff]"),
    Practice("exclamation mark|exclamation marks|exclamation points|感嘆符|ビックリマーク", r"\w[!！](?:\s|$)"),
    Practice("inline style|inline styles|inline css|インラインスタイル|style属性", r"\bstyle=[{\"]"),
    Practice("!important", r"!important"),
    Practice("innerhtml", r"innerHTML"),
    Practice(
        "hard-coded colors|hard-coded colours|hardcoded colors|hardcoded colours|hex colors|hex colours|hex codes"
        "|色の直書き|カラーコード",
        r"#[0-9a-fA-F]{6}\b|#[0-9a-fA-F]{3}\b",
    ),
    Practice("vertical rules|vertical lines|縦罫線", r"\\begin\{tabular\}\{[^}]*\|"),
    Practice("numbered headings|見出しに番号|番号付きの見出し", r"^#+ \d+[.)]"),
    Practice("trailing punctuation|punctuation at the end of headings", r"^#+ .*[.:!]\s*$"),
    Practice("title case", r"^#+ (?:[A-Z]\w+ ){2,}[A-Z]\w+\s*$", "sentence case"),
    # data
    Practice("orm|orms", r"\bsession\.query\(|\.objects\.(?:filter|all|get)\(|\.find(?:Many|Unique|First)\("),
    Practice(
        "raw sql|生のsql|生sql|sqlを直接|sqlを生で|sqlを直に|string-built sql|sql strings",
        r"DB::(?:select|statement|raw|unprepared)\(|[\"'`]\s*(?:select\s.+\sfrom|insert into|update \w+ set|delete from)\b",
    ),
    Practice("select *|全列", r"\bselect\s+\*"),
    Practice(
        "hard delete|hard-delete|hard deletes|hard-deleted|物理削除|physically delete|physically deleted",
        r"\.destroy(?:!|_all)?\b|\bDELETE FROM\b|\.delete\(\)|delete_all",
        "soft delete|soft-delete|soft-deleted|soft deletes|論理削除",
        "hard[- ]delete|物理削除",
    ),
    Practice(
        "process memory|in memory|in-memory|in-process|プロセス内|メモリ上",
        r"(?!)",
        said=r"\bin[ -]memory\b|メモリ(?:上|内)",
    ),
    Practice(
        "float|floats|浮動小数",
        r"\b(?:price|amount|total|cost)\w*\s*:\s*(?:float|f32|f64|double)\b",
        "integer cents|integer yen|whole cents",
    ),
    Practice("on delete cascade|cascade|cascading deletes|カスケード", r"ON DELETE CASCADE"),
    Practice("trigger|triggers|トリガー", r"CREATE (?:OR REPLACE )?TRIGGER"),
    Practice("stored procedure|stored procedures|ストアド", r"CREATE (?:OR REPLACE )?(?:FUNCTION|PROCEDURE)"),
    Practice("foreign key|foreign keys|外部キー", r"\bREFERENCES \w|FOREIGN KEY"),
    Practice(
        "timestamp without time zone|naive timestamp|naive datetime|naive",
        r"\bTIMESTAMP\b(?! WITH)|datetime\.now\(\)|utcnow\(",
        "timestamptz",
    ),
    Practice("float column|real column|float型", r"\b(?:FLOAT|REAL|DOUBLE)\b"),
    # versions, networks, rights
    Practice("caret|carets|version ranges|キャレット", r"[\"']\^\d", "exact versions|exact version|バージョンは固定"),
    Practice(
        "latest|floating tag|floating tags",
        r":latest\b|@latest\b",
        "pin|pins|pinned|digest|digests|ダイジェスト|版を固定|バージョンを固定",
    ),
    Practice(
        "action by tag",
        r"uses: [\w./-]+@(?:v\d[\w.]*|main|master)\s*$",
        "commit sha|commit shas|commit hash|commit hashes|full sha|コミットのハッシュ|コミットハッシュ|コミットsha",
    ),
    Practice(
        "all interfaces|0.0.0.0", r"0\.0\.0\.0|^\s*- [\"']?\d{2,5}:\d{2,5}[\"']?\s*$", "127.0.0.1|loopback|ループバック"
    ),
    Practice("plain http|unencrypted http|平文", r"[\"'`(]http://(?!localhost|127\.)"),
    Practice("as root|rootで|root user|rootユーザー", r"^USER root|^\s*sudo |runAsUser: 0|user: root"),
    Practice("sudo", r"(?:^|[;&|] *)sudo "),
    # version control
    Practice("force push|force-push|push --force|強制プッシュ|強制push", r"\bpush\b.*(?: --force\b(?!-)| -f\b)"),
    Practice("--no-verify|skip hooks|skip the hooks", r"--no-verify"),
    Practice(
        "to main|to master|on main|on master|mainへ|mainに|masterへ|masterに", r"\bpush \S+ (?:HEAD:)?(?:main|master)\b"
    ),
    Practice("git add .|git add -a|add everything", r"\bgit add (?:-A|--all|\.)(?:\s|$)"),
    Practice(
        "merge commit|merge commits|マージコミット", r"\bgit merge (?!--ff-only|--squash)", "rebase onto|linear history"
    ),
    Practice("pull_request_target", r"pull_request_target"),
    Practice("wildcard permission|wildcard permissions|wildcard action|wildcards in iam", r"[\"']\*[\"']"),
    Practice("chmod 777|world-writable", r"\bchmod (?:-R )?777|mode: ['\"]?0?777"),
    Practice("curl | sh|pipe curl|piping curl", r"curl\b.*\| *(?:sudo )?(?:ba)?sh\b"),
    Practice("amend", r"commit\b.* --amend"),
)
_FORBIDS = load_pattern(
    r"\b(?:no|not|never|nothing|nobody|avoid\w*|banned|forbid\w*|without|instead of|rather than|stop\w*|removed|reject\w*)\b"
    r"|n't\b|ない|禁止|避け|ず(?:[、,に]|$)|不可|NG|やめ|いけ|ません",
    re.I,
)
_GAP = load_pattern(r"(?<=[^\x00-\x7f]) +(?=[\x00-\x7f])|(?<=[\x00-\x7f]) +(?=[^\x00-\x7f])")
"""Spaces between Latin letters and Japanese, which some people write."""
_CLAUSE = load_pattern(r"[;:。]|[,.] ")


def forbidden_practices(sentence: str) -> Iterator[tuple[str, Practice]]:
    """Yield each practice that a sentence of a memory forbids, with the word by which it does."""
    forbidding: list[str] = []
    asking: list[str] = []
    for clause in _CLAUSE.split(_GAP.sub("", sentence.lower())):
        (forbidding if _FORBIDS.search(clause) else asking).append(clause)
    for named, opposite, practice in _words():
        # Most sentences forbid nothing, and most practices have no opposite.
        word = _find(named, forbidding) if forbidding else ""
        if not word and opposite:
            word = _find(opposite, asking)
        if word:
            yield word, practice


def find_practice(practice: Practice, written: str, said: str) -> str:
    """Return what shows a practice in the commands and lines of an agent, or in what it says; empty: nothing does."""
    found = _pattern(practice.shown).search(written) or (_pattern(practice.said).search(said) if practice.said else None)
    return found[0].strip() or practice.named if found else ""


def _find(words: list[str], clauses: list[str]) -> str:
    """Return the first of the words that is in a clause, and not inside another word; empty: none is."""
    for clause in clauses:
        for word in words:
            place = clause.find(word)
            if place >= 0 and not (
                _joins(clause[place - 1 : place], word[0]) or _joins(clause[place + len(word) :][:1], word[-1])
            ):
                return word
    return ""


def _joins(neighbour: str, edge: str) -> bool:
    """Whether two characters side by side are inside one word."""
    return bool(neighbour) and (neighbour + edge).isascii() and neighbour.isalnum() and edge.isalnum()


@cache
def _words() -> list[tuple[list[str], list[str], Practice]]:
    return [(each.named.split("|"), each.opposite.split("|") if each.opposite else [], each) for each in _PRACTICES]


@cache
def _pattern(shown: str) -> re.Pattern[str]:
    # Loaded where a memory needs it: most memories need none.
    return load_pattern(shown, re.M | re.I)
