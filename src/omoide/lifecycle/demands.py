"""What a memory demands and an agent's work lacks though it is about that: a member of a list, a name, a language. Pure."""

import re

from omoide.compiled_patterns import load_pattern
from omoide.lifecycle import concepts
from omoide.lifecycle.agent_work import AgentWork, has_word, telling_terms

_LISTED = load_pattern(
    r"((?:[A-Za-z][\w.-]*, ){1,6}[A-Za-z][\w.-]*,? (?:and|or|&) [A-Za-z][\w.-]*|(?:[A-Za-z][\w.-]*, ){2,6}[A-Za-z][\w.-]*"
    r"|\bboth [A-Za-z][\w.-]* and [A-Za-z][\w.-]*|[^\s、。・()（）]{2,10}(?:・[^\s、。・()（）のはをにでも]{2,10}){2,6}"
    r"|[一-鿿ァ-ヺーA-Za-z]{2,10}と[一-鿿ァ-ヺーA-Za-z]{2,10}の両方)"
)
_ALL = load_pattern(
    r"\b(?:all|every|each|both|always|must|has to|have to|needs?)\b|すべて|全て|全部|必ず|それぞれ|両方", re.I
)
_BOTH = load_pattern("both |の両方")
_SEPARATOR = load_pattern(r", (?:and |or )?| and | or | & |・|(?<=[一-鿿ァ-ヺー])と")
_ADDRESS = load_pattern(r"[\w.+-]+@([\w-]+(?:\.[\w-]+)+)", re.ASCII)
_DEMAND = load_pattern(
    r"\b(?:must|always|every|each|has to|have to|all|ends|closes?|begins?|starts?|gets?|carr(?:y|ies))\b"
    r"|必ず|必須|付ける|付けて|つける|入れる|添える|書く|載せる|経由|こと(?:[。)]|$)",
    re.I,
)
_LITERAL = load_pattern(
    r"`([^`\n]{3,60})`|'([^'\n]{3,40})'|\"([^\"\n]{3,40})\"|「([^」\n]{3,30})」|(?<![\w/#.-])(--?[a-z][\w-]+|[a-z]+(?:[-_][a-z]+)+)(?![\w/.-])"
)
_MOST = 0.5
"""Of the terms before a demanded name, the share that shows that the work is about them."""
_PART = load_pattern("[ぁ-ゖ]|^[ァ-ヺー]{2}$")
"""Pairs of characters that are no words."""
_FORMATS = (
    frozenset({"docx", "html", "pdf", "odt", "rtf"}),
    frozenset({"xlsx", "csv", "tsv", "parquet", "ods"}),
    frozenset({"png", "svg", "jpg", "jpeg", "webp", "gif", "avif"}),
    frozenset({"yaml", "yml", "toml", "json", "ini"}),
)
_EXTENSION = load_pattern(r"(?<![\w/])\.([a-z]{2,7})\b|\b([A-Z]{3,4})(?=で|に|形式)")
_BELONGS = load_pattern(
    r"\b([A-Za-z][\w-]+) (?:belongs?|go(?:es)?|lives?|are (?:kept|put|stored|written)|is (?:kept|put|stored|written)) "
    r"(?:in|to|into|under) `?((?:/|[\w.-]+/)[\w./-]+)",
    re.I,
)
_BEFORE = load_pattern(
    r"\bbefore (?:every |each |any |a |an |you |the |we )?(commit|push|merg|deploy|appl|releas|publish|migrat)"
    r"(?:ing|e|es|y|ies|s)?\b"
    "|(コミット|プッシュ|push|commit|マージ|デプロイ|deploy|apply|適用|リリース|公開)(?:する|の)?前",
    re.I,
)
_ACTS = {
    "merg": "merge", "appl": "apply", "releas": "release", "migrat": "migrate", "コミット": "commit", "プッシュ": "push",
    "マージ": "merge", "デプロイ": "deploy", "適用": "apply", "リリース": "release", "公開": "publish",
}  # a table: several entries per line  # fmt: skip
"""The word of a command for each act."""
_STEP = load_pattern(r"`([^`\n]{2,60})`|(?<![\w-])(--[a-z][\w-]+)|\b[Rr]un ((?:[\w./-]+ ){0,2}[\w./-]+?)(?= before)")
_DEMANDS_TEST = load_pattern(
    r"\b(?:every|each|any|all|new)\b[^.;]{0,40}\b(?:needs?|gets?|comes? with|requires?|has|have|must have|ships? with)\b"
    r"[^.;]{0,20}\btests?\b"
    "|テストを?(?:必ず|も)?(?:一緒に)?(?:書|付け|追加)(?:く|ける|する)?(?:こと)?|必ずテスト",
    re.I,
)
_WITH_EVERY = load_pattern(
    r"\b(?:with|in|for|after|on) (?:every|each|any) (?:pull request|pr|change|commit|release|merge)\b"
    r"|変更のたび|毎回|同じコミット",
    re.I,
)
_FILE_NAME = load_pattern(r"(?<![\w/.-])[\w-]+\.(?:md|txt|json|toml|ya?ml|lock|rst)(?![\w/])")
_SOURCE = load_pattern(r"\.(?:py|ts|tsx|js|jsx|go|rs|rb|java|kt|cs|php|swift|c|cc|cpp|vue|scala|ex)$")
_LINE_LENGTH = load_pattern(
    r"\blines?\b[^.;\d]{0,30}\b(\d{2,3})\b(?: columns| char| wide|[.,;]|$)"
    r"|(\d{2,3})[ -](?:columns?|characters?)(?: wide| per line| lines?)"
    r"|1行(?:は|を)?(\d{2,3})(?:文字|桁)",
    re.I,
)
_FORMS = {
    "snake_case": load_pattern(r"[a-z0-9]+(?:_[a-z0-9]+)*"),
    "camelcase": load_pattern(r"[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)*"),
    "kebab_case": load_pattern(r"[a-z0-9]+(?:-[a-z0-9]+)*"),
    "pascalcase": load_pattern(r"[A-Z][A-Za-z0-9]*"),
}
"""Forms of names, with what has them."""
_FORBIDDEN_FORM = load_pattern(r"\b(?:no|not|never|avoid)\b|ない|ではなく|禁止|ず", re.I)
_NAMED = (
    (load_pattern(r"\bkeys?\b|\bfields?\b|\bjson\b|キー|フィールド", re.I), load_pattern(r"[\"'](\w+)[\"']\s*:")),
    (
        load_pattern(r"\btables?\b|テーブル", re.I),
        load_pattern(r"CREATE TABLE (?:IF NOT EXISTS )?[`\"]?(\w+)", re.I),
    ),
    (load_pattern(r"\bcolumns?\b|列|カラム", re.I), load_pattern(r"ADD COLUMN [`\"]?(\w+)", re.I)),
    (
        load_pattern(r"\bfunctions?\b|\bmethods?\b|関数|メソッド", re.I),
        load_pattern(r"\b(?:def|function|func|fn|fun) (\w+)"),
    ),
    (load_pattern(r"\bvariables?\b|変数", re.I), load_pattern(r"\b(?:const|let|var|val) (\w+)")),
)
"""What a name is of, and where such names are made."""
_ABOUT_FILES = load_pattern(r"\bfile ?names?\b|\bfiles\b|ファイル名", re.I)
_ABOUT_BRANCHES = load_pattern(r"\bbranch(?:es)?\b|ブランチ", re.I)
_TEMPLATE = load_pattern(r"[\w./-]*<[^<>\s]+>[\w./<>-]*")
_PLACEHOLDER = load_pattern("<[^<>]*>")
_NEW_BRANCH = load_pattern(r"\bgit (?:checkout -b|switch -c|branch) ([\w./-]+)")
_COMMENT = load_pattern(r"^\s*(?:#(?!!)|//|/\*\*?|--|\*) ?(\S.*)$", re.M)
_COMMIT = load_pattern(r"\bgit commit\b.*? -[a-z]*m[ =]?(['\"])(.+?)\1", re.S)
_JAPANESE = load_pattern("[ぁ-ゖァ-ヺ一-鿿]")
_IN_JAPANESE = load_pattern(r"\bin japanese\b|日本語(?:で|の|に)", re.I)
_IN_ENGLISH = load_pattern(r"\bin english\b|英語(?:で|の|に)", re.I)
_ABOUT_COMMENTS = load_pattern(r"\b(?:code )?comments\b|コメント", re.I)
_ABOUT_COMMITS = load_pattern(r"\bcommit(?:s| messages?)\b|コミット", re.I)
_TICKET = load_pattern(r"\b(?:ticket|issue|jira) (?:number|id|key)|(?:チケット|課題|イシュー)(?:の)?番号", re.I)
_HAS_TICKET = load_pattern(r"[A-Z]{2,}-\d+|#\d+")


def find_unmet(sentence: str, work: AgentWork) -> str:
    """Say what a sentence of a memory demands that the work of an agent lacks; empty: nothing."""
    return (
        _incomplete_list(sentence, work)
        or _other_address(sentence, work)
        or _other_language(sentence, work)
        or _no_ticket(sentence, work)
        or _skipped_step(sentence, work)
        or _other_case(sentence, work)
        or _other_branch(sentence, work)
        or _no_test(sentence, work)
        or _no_companion(sentence, work)
        or _long_line(sentence, work)
        or _other_format(sentence, work)
        or _other_directory(sentence, work)
        or _missing_name(sentence, work)
    )


def _incomplete_list(sentence: str, work: AgentWork) -> str:
    """Say which member of a list an agent left out though it has most of the others; empty: none."""
    if not _ALL.search(sentence):
        return ""
    for listed in _LISTED.finditer(sentence):
        members = [
            member.strip()
            for member in _SEPARATOR.split(listed[1].removeprefix("both ").removesuffix("の両方"))
            if member.strip()
        ]
        missing = [
            member
            for member in members
            if not has_word(work.done, member.lower()) and not has_word(work.prompt, member.lower())
        ]
        present = len(members) - len(missing)
        if missing and (present > len(missing) or (present and _BOTH.search(listed[0]))):
            return f"it demands {', '.join(members)}, the agent's work lacks {missing[0]}"
    return ""


def _other_address(sentence: str, work: AgentWork) -> str:
    """Say which other address of the same domain the agent uses; empty: none."""
    for wanted in _ADDRESS.finditer(sentence):
        if wanted[0] in work.done:
            continue
        for found in _ADDRESS.finditer(work.written):
            if found[1] == wanted[1] and found[0] not in sentence and found[0] not in work.prompt:
                return f"it names {wanted[0]}, the agent uses {found[0]}"
    return ""


def find_met(sentence: str, work: AgentWork) -> str:
    """Say which demand of a sentence the work of an agent meets in a form that has none of its words; empty: none."""
    right, wrong = _texts_by_language(sentence, work)
    return f"the agent writes {right[0][:60]}" if right and not wrong else ""


def _other_language(sentence: str, work: AgentWork) -> str:
    """Say where an agent writes another language than a sentence demands; empty: nowhere."""
    right, wrong = _texts_by_language(sentence, work)
    return f"the agent writes {wrong[0][:60]}" if wrong and not right else ""


def _texts_by_language(sentence: str, work: AgentWork) -> tuple[list[str], list[str]]:
    """The comments and messages that a sentence is about: those in the language that it demands, and the others."""
    is_japanese, is_english = (pattern.search(sentence) is not None for pattern in (_IN_JAPANESE, _IN_ENGLISH))
    texts: list[str] = []
    if is_japanese != is_english and _ABOUT_COMMENTS.search(sentence):
        texts += [match[1] for match in _COMMENT.finditer(work.changes) if " " in match[1] or _JAPANESE.search(match[1])]
    if is_japanese != is_english and _ABOUT_COMMITS.search(sentence):
        texts += [match[2] for match in _COMMIT.finditer(work.commands)]
    right = [text for text in texts if (_JAPANESE.search(text) is not None) is is_japanese]
    return right, [text for text in texts if text not in right]


def _no_ticket(sentence: str, work: AgentWork) -> str:
    """Say which commit lacks the number of a ticket that a sentence demands; empty: none."""
    if not (_TICKET.search(sentence) and _ABOUT_COMMITS.search(sentence)):
        return ""
    messages = [match[2] for match in _COMMIT.finditer(work.commands)]
    lacking = [message for message in messages if not _HAS_TICKET.search(message)]
    return f"the agent's commit has no number of a ticket: {lacking[0][:60]}" if lacking else ""


def _skipped_step(sentence: str, work: AgentWork) -> str:
    """Say which command that a sentence demands before an act the agent did not run though it did that; empty: none."""
    trigger = _BEFORE.search(sentence)
    if trigger is None or not work.commands:
        return ""
    act = _ACTS.get((trigger[1] or trigger[2]).lower(), (trigger[1] or trigger[2]).lower())
    steps = [step.strip() for match in _STEP.finditer(sentence) if (step := match[1] or match[2] or match[3])]
    if not steps or not has_word(work.commands, act) or any(step.lower() in work.done.lower() for step in steps):
        return ""
    return f"it demands {steps[0]} before {act}, which the agent ran without it"


def _other_case(sentence: str, work: AgentWork) -> str:
    """Say which name of the agent has another form than a sentence demands for such names; empty: none."""
    forms = [form for form in _FORMS if form in sentence.lower().replace("-case", "_case").replace(" ", "_")]
    if len(forms) != 1 or _FORBIDDEN_FORM.search(sentence):
        return ""
    names = [name for about, found in _NAMED if about.search(sentence) for name in found.findall(work.changes)]
    if _ABOUT_FILES.search(sentence):
        names = [path.rsplit("/", 1)[-1].split(".")[0] for path in work.files]
    others = [name for name in names if not _FORMS[forms[0]].fullmatch(name)]
    return f"it demands {forms[0]}, the agent has {others[0]}" if others and len(others) == len(names) else ""


def _other_branch(sentence: str, work: AgentWork) -> str:
    """Say which branch of the agent is not named as a sentence demands; empty: none."""
    template = _TEMPLATE.search(sentence) if _ABOUT_BRANCHES.search(sentence) else None
    if template is None:
        return ""
    form = re.compile("[\\w.-]+".join(map(re.escape, _PLACEHOLDER.split(template[0]))), re.ASCII)
    made = [match[1] for match in _NEW_BRANCH.finditer(work.commands)]
    return (
        f"it demands {template[0]}, the agent's branch is {made[0]}" if made and not any(map(form.fullmatch, made)) else ""
    )


def _no_test(sentence: str, work: AgentWork) -> str:
    """Say that the agent changed code without a test though a sentence demands one; empty: it does not, or there is one."""
    if not _DEMANDS_TEST.search(sentence) or not any(_SOURCE.search(path) for path in work.files):
        return ""
    has_test = "test" in work.done.lower() or "spec" in work.done.lower() or "テスト" in work.done
    return "" if has_test else "it demands a test, the agent wrote none"


def _no_companion(sentence: str, work: AgentWork) -> str:
    """Say which file that a sentence wants changed with every change the agent left alone; empty: none."""
    file = _FILE_NAME.search(sentence) if _WITH_EVERY.search(sentence) and work.files else None
    if file is None or any(path.endswith(file[0]) for path in work.files) or file[0] in work.done:
        return ""
    return f"it wants {file[0]} changed too, the agent did not"


def _long_line(sentence: str, work: AgentWork) -> str:
    """Say how long a line of the agent is that is longer than a sentence allows; empty: none is."""
    limit = _LINE_LENGTH.search(sentence)
    longest = max(map(len, work.changes.splitlines()), default=0)
    if limit is None or longest <= int(limit[1] or limit[2] or limit[3]):
        return ""
    return f"it limits lines to {limit[1] or limit[2] or limit[3]} characters, the agent has one of {longest}"


def _other_format(sentence: str, work: AgentWork) -> str:
    """Say in which other format of the same kind the agent writes a file; empty: in none."""
    wanted = {(match[1] or match[2]).lower() for match in _EXTENSION.finditer(sentence)}
    for kind in _FORMATS:
        asked = wanted & kind
        if len(asked) != 1 or not asked.isdisjoint(work.extensions) or any(has_word(work.prompt, name) for name in kind):
            continue
        others = sorted(kind & work.extensions)
        if others and _share_found(sentence, work) > 0:
            return f"it demands .{min(asked)}, the agent writes .{others[0]}"
    return ""


def _other_directory(sentence: str, work: AgentWork) -> str:
    """Say what an agent put elsewhere than in the directory that a sentence demands for it; empty: nothing."""
    for match in _BELONGS.finditer(sentence):
        name, directory = match[1].lower(), match[2].strip("/`")
        if directory in work.done or directory in work.prompt:
            continue
        place = re.search(rf"(?<![\w/]){re.escape(name)}/[\w<>{{}}.-]+", work.done, re.I)
        if place:
            return f"it demands {directory} for {name}, the agent uses {place[0]}"
    return ""


def _missing_name(sentence: str, work: AgentWork) -> str:
    """Say which name that a sentence demands the work lacks though it is about that; empty: none."""
    if not _DEMAND.search(sentence) or not work.changes:
        return ""
    match = _LITERAL.search(sentence)
    if match is None:
        return ""
    name = next(filter(None, match.groups())).lower()
    if has_word(work.done, name) or has_word(work.prompt, name) or _share_found(sentence[: match.start()], work) <= _MOST:
        return ""
    return f"it demands {name}, the agent's work lacks it"


def _share_found(text: str, work: AgentWork) -> float:
    """Which share of the terms of a text the work of an agent has, by the word or by another one for the same matter."""
    terms = [term for term in telling_terms(text) if term.isascii() or not _PART.search(term)]
    found = [
        term for term in terms if term in work.done_terms or any(map(work.has_concept, concepts.concepts_of_term(term)))
    ]
    return len(found) / len(terms) if terms else 0.0
