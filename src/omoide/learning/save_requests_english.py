"""Requests to save in English, an open family: "record this: …", "worth jotting down, …", "keep that on file". Pure."""

import re

from omoide.learning.passages import is_task
from omoide.learning.patterns import any_of, lazy_pattern, phrases
from omoide.learning.request_rule import Request

_NEEDS = (
    *("slip", "escap", "crack", "expect", "follow", "stick", "respect", "observ", "adher", "compl", "obey", "worth", "make"),
    *("forget", "learn", "bear", "mind"),
    *("remember", "memori", "record", "stor", "retain", "not", "sav", "keep", "jot", "writ", "log", "hold", "hang", "fil"),
    *("preserv", "persist", "pin", "captur", "put", "mark", "commit", "add", "los", "known", "go", "get", "tak"),
    *(
        "accordingly",
        "engrav",
        "etch",
        "burn",
        "internali",
        "updat",
        "treat",
        "consider",
        "regard",
        "appl",
        "valid",
        "kept",
        "agree",
    ),
)
"""Parts of words, one of which is in every request to save."""
_BREAKS = (":", "—", "–", " -", "→")
_PLACES = (
    *("somewhere", "what you know", "for ", "permanent", "forever", "always", "please", "pls", "memor", "note", "record"),
    *("rule", "knowledge", "instruction", "guideline", "convention", "mind", "file", "radar", "hand", "down", "away"),
)
_POINTERS = ("this", "that", "it", "these", "following")
"""What else is in every text that a pattern below matches: most messages are for none of them, and compile none."""
_MEMORY_VERB = any_of(
    "remember(?:ing|ed)?",
    "memori[sz](?:e|ing)",
    "retain(?:ing)?",
    "not(?:e|ing)(?: down)?",
    "jot(?:ting)?(?: down)?",
    "writ(?:e|ing) down",
    "(?:put|tak|mark|mak)(?:e|ting|ing)? (?:a |an )?(?:\\w+ )?(?:notes?|record|memo|entry)",
    "(?:hold(?:ing)?|hang(?:ing)?) on to",
    "keep(?:ing)? (?:a )?(?:\\w+ )?(?:note|record|memo)(?: of)?",
    "keep(?:ing)? in mind|kept in mind|noted",
    "internali[sz](?:e|ing)",
    "(?:treat|take|consider|regard|see) it as (?:a |an )?(?:given|fact|rule|settled)",
)
"""What one does with a statement, rarely with data."""
_DATA_VERB = any_of(
    "(?:record|log|persist|add|mark)(?:ing)?",
    "(?:stor|sav|fil|preserv|captur|writ)(?:e|ing)",
    "keep(?:ing)?|pin(?:ning)?|put(?:ting)?|commit(?:ting)?|get(?:ting)?|hav(?:e|ing)|engrav(?:e|ing)|etch(?:ing)?|"
    "burn(?:ing)?",
    "tak(?:e|ing)(?= (?:this|that|it) down)",
)
"""What a program does with data as often as a person with a statement."""
_UPDATE = (
    "(?:updat(?:e|ing) your (?:memor(?:y|ies)|notes?|records?|knowledge)|"
    "make (?:this|that|it) (?:a|an|your|part of your) (?:\\w+ )?(?:entry|note|rule|fact|memory|record))"
)
_VERB = any_of(_MEMORY_VERB, _DATA_VERB)
_IT = any_of(
    "(?:this|that|it)(?: (?:one|fact|rule|detail|point|bit|info(?:rmation)?|convention|decision|preference))?(?: down)?",
    "these(?: (?:facts|rules|points|details))?",
    "the following(?: (?:fact|rule|point|detail)s?)?",
)
_STORE = (
    "(?:memor(?:y|ies)|notes?|notebook|records?|rules?|rulebook|knowledge(?: base)?|instructions|guidelines|conventions)"
)
_PLACE = any_of(
    "somewhere(?: safe)?",
    "for (?:(?:all |any |the |my |our |your )?(?:later|future|next|coming|other|new)(?: (?:\\w+ )?(?:use|reference|"
    "sessions?|time|work|tasks?|conversations?|chats?))?|good|posterity|keeps|the record|me|us)",
    "permanently|forever|for ever|always|please|pls",
    f"(?:in|to|into|on|under|among|as part of) (?:(?:your|the|our|my|long[- ]term|project|permanent|persistent|own|team|"
    f"list of|set of) ){{0,4}}{_STORE}",
    "to what you know(?: about [\\w ]{1,20})?",
    "in (?:the )?(?:back|front|corner) of (?:your|the) (?:mind|head)",
    "(?:in|to) (?:mind|memory)|on (?:file|record|your radar)|at hand|handy|down|away",
)
_OPEN = (
    "(?:"
    + any_of(
        r"^(?:(?!(?:I|we|you|they|he|she|who|it)\b)\w+[,!]? ){0,2}",
        r"[,;:—–(]\s*(?:and |so |but |also )?(?:please |pls |just )?",
        r"\b(?:and|so|but|please|pls|kindly|also|just|let'?s|worth|needs?) ",
        r"\b(?:can|could|would|will) you (?:please |kindly |also |maybe |just )?",
        r"\bif you (?:could |would |can |will )?(?:please |also )?",
        r"\byou (?:should|must|need to|have to|ought to|can|could|may|(?:might|may) want to|had better) (?:also |please )?",
        r"\b(?:want|need|like|ask|expect|prefer|trust|beg) you to (?:please |also |always )?",
        r"\b(?:sure|important|essential|good|useful|helpful|remember|best|wise|careful) (?:for you )?to ",
        r"\bmind ",
    )
    + ")"
)
_THING = (
    r"(?:^|[,;:—–(.]\s*|\b(?:and|but|so|also|here's|here is|there's|there is|is) )(?:\w+[,!]? ){0,2}?"
    r"(?:something|(?:things?|facts?|points?|details?|items?|rules?|info(?:rmation)?|bits?|one|news|corrections?|notes?|"
    r"reminders?|remarks?|preferences?|decisions?|conventions?|lessons?|names?|dates?|numbers?)(?: for (?:you|us))?)"
    r"(?: (?:that|which)(?:'s| is| are)?)?(?: really| also| definitely)? "
)
_KEPT = (
    "(?:noted|recorded|remembered|stored|saved|kept|retained|written down|logged|filed|on (?:file|record)|known|"
    f"in (?:your|the|our|my) (?:\\w+ )?(?:{_STORE}|mind|head))"
)
_BREAK = r"\s*(?::|—|–|→|\s-+>?)\s*"
_ACTS = (
    (
        (_BREAKS, (*_POINTERS, "updat")),
        lazy_pattern(
            rf"{_OPEN}(?P<phrase>(?:{_VERB} {_IT}|{_UPDATE})(?:,? {_PLACE})*){_BREAK}(?P<content>\S.{{5,}})$", re.I
        ),
    ),
    (
        ((*_BREAKS, ", "), _PLACES),
        lazy_pattern(
            rf"{_OPEN}(?P<phrase>{_VERB}(?: {_IT})?(?:,? {_PLACE})+)(?:{_BREAK}|,\s+)(?P<content>\S.{{5,}})$", re.I
        ),
    ),
    (
        ((*_BREAKS, ", ", "is that"), (" to ", "worth", "you")),
        lazy_pattern(
            rf"{_THING}(?P<phrase>(?:to|worth|you (?:should|must|need to|have to|'?d better)|(?:I|we)(?:'d| would)? (?:want|"
            rf"need|like) you to|not to|you'd better not|to not|never to)\s(?:{_VERB}|know|knowing|lose|forget|overlook|"
            rf"learn)(?:,? {_PLACE})*)(?:{_BREAK}|,\s+|\s+is that\s+)(?P<content>\S.{{5,}})$",
            re.I,
        ),
    ),
    (
        (("on ", "in ", "writ", "noted", "known", "clear", "remembered", "recorded", "kept"), (*_BREAKS, ", ", " that ")),
        lazy_pattern(
            rf"(?:^|[,;]\s*|\b(?:and|so|but) )(?P<phrase>(?:just )?(?:so (?:that )?(?:it|this|that|we|you)(?:'s| is|'ve|"
            rf" have| has|'re| are)?(?: it)?|to (?:have|get|keep|put) (?:it|this|that)|(?:I(?:'d)?|we(?:'d)?|let'?s|"
            rf"please|pls)(?: (?:would|really|also))*(?: (?:want|"
            rf"like|need|have|get|see))? (?:it|this|that)) (?:{_KEPT}|clear)(?:,? {_PLACE})*)(?:{_BREAK}|,\s+|\s+that\s+)"
            r"(?P<content>\S.{5,})$",
            re.I,
        ),
    ),
    (
        ((" that ",),),
        lazy_pattern(
            rf"{_OPEN}(?P<phrase>(?:{_MEMORY_VERB}|record|keep on (?:file|record)|add)(?:,? {_PLACE})*) "
            r"(?:the (?:fact|rule|info(?:rmation)?) )?that "
            r"(?P<content>(?!(?:to|in|into|on|as|at|for|under|with|from)\b)\S.{5,})$",
            re.I,
        ),
    ),
    (
        ((" that ",), ("stor", "sav", "keep", "fil", "captur")),
        lazy_pattern(
            rf"{_OPEN}(?P<phrase>(?:stor|sav|captur)(?:e|ing)|keep(?:ing)?) that "
            r"(?P<content>(?:the|our|we|I|I'm|my|all|no|every|each|any|there|you)\b(?: [\w'-]+){0,8}? "
            r"(?:is|are|was|were|has|have|must|can|cannot|can't|will|won't|never|always|only|don't|doesn't|needs?|"
            r"uses?)\b.*)$",
            re.I,
        ),
    ),
    (
        (("agree",),),
        lazy_pattern(
            r"^(?:so |ok(?:ay)?,? |and )*(?P<phrase>(?:can|could|shall) we (?:please |all |just )?agree) (?:that|on|to) "
            r"(?P<content>\S.{5,})$",
            re.I,
        ),
    ),
    (
        (_BREAKS, ("appl", "goes", "holds", "counts", "valid")),
        lazy_pattern(
            r"^(?:and |so |but |also )?(?P<phrase>(?:this|that|it|the following) (?:applies|goes|holds|counts|is valid)"
            rf"(?: true)? (?:for|to|in) (?:all|every|any|each|everything)(?: [\w-]+){{0,4}}){_BREAK}(?P<content>\S.{{5,}})$",
            re.I,
        ),
    ),
    (
        ((" that ",), (*_PLACES, "the fact", "the rule", "the info")),
        lazy_pattern(
            rf"{_OPEN}(?P<phrase>{_DATA_VERB}(?: {_IT})?(?:(?:,? {_PLACE})+| the (?:fact|rule|info(?:rmation)?))) "
            r"that (?P<content>(?!(?:to|in|into|on|as|at|for|under|with|from)\b)\S.{5,})$",
            re.I,
        ),
    ),
    (
        (("record", "known", "noted", "remembered"), ("let", "it")),
        lazy_pattern(
            r"^(?:and |so |but )?(?P<phrase>let the record (?:show|state|reflect)|let it be (?:known|noted|recorded)|"
            r"(?:be it|it should be|it must be) (?:known|noted|recorded|remembered)|may it be noted) (?:that\s+|:\s*)"
            r"(?P<content>\S.{5,})$",
            re.I,
        ),
    ),
)
"""Requests to save before their statement, each with words that it needs: one of each group."""
_POINTS_BACK = lazy_pattern(
    r"^(?:(?P<content>.{8,}?)(?:\s*[,;—–(]+\s*|\s+-\s+|\s+(?:and|so)\s+))?(?:and |so |but |also |oh,? |ok(?:ay)?,? )*"
    r"(?:please |pls |just |can you |could you |would you |I(?:'d| would) like you to |I want you to |you should |let'?s |"
    r"(?:(?:it )?would be|it'?d be|it'?s) (?:good|great|nice|best|useful|helpful|better) (?:to|if you) )*"
    "(?P<phrase>"
    + any_of(
        rf"{_VERB} {_IT}(?:,? {_PLACE})+",
        rf"(?:retain|memori[sz]e|hold on to|hang on to) {_IT}",
        r"(?:this|that|it) (?:should|must|has to|needs to|ought to|can|may|might as well|belongs?|goes)"
        r"(?: (?:please|also|always))?(?: (?:go|stay|be (?:added|put|saved|stored|recorded|noted|kept|remembered|filed|"
        rf"written)))?(?:,? {_PLACE})+",
        r"(?:I(?:'d)?|we(?:'d)?)(?: (?:would|really|also))* (?:want|like|need|have) (?:it|this|that) "
        rf"{_KEPT}(?:,? {_PLACE})*",
        r"(?:treat|take|consider|regard|see|understand) (?:this|that|it) as (?:a |an |the |my |our )?(?:[\w-]+ ){0,2}"
        r"(?:instruction|order|rule|given|fact|requirement|policy|law|guideline|default|preference|convention)",
        r"(?:just )?so (?:that )?you (?:know|remember|don'?t forget|have) ?(?:it|this|that)?",
        r"(?:act|behave|work|proceed|plan|answer) accordingly",
        r"(?:(?:this|that|it)(?:'s| is) )?(?:also |well |really )?worth (?:knowing|remembering|noting|keeping|retaining|"
        r"recording|writing down|jotting down)"
        rf"(?:,? {_PLACE})*",
        r"(?:I|we) (?:\w+ )?(?:expect|want|need|'?d like|would like|ask|trust) you to (?:\w+ )?(?:follow|respect|observe|"
        r"honou?r|stick to|adhere to|keep to|obey|comply with|apply|live by) (?:this|that|it|these|those|them)"
        r"(?: \w+){0,2}(?:,? (?:from (?:now|here) on|going forward|always|everywhere|at all times|in (?:the )?future))*",
    )
    + r")(?:,? (?:please|pls|ok(?:ay)?|thanks|thx|will you|would you))*[\s.!?)]*$",
    re.I,
)
"""A request to save after its statement, which is before it in the sentence, or the sentence before it."""
_POINTED = (
    "(?:this|that|taht|it|both|these|those|them|all (?:of )?(?:this|that|it|these|those)|the (?:above|two)|everything above|"
    "(?:what|everything) I (?:just )?(?:said|wrote|told you))"
    "(?: (?:order|sequence|name|number|list|thing|part|way|trick|quirk|gotcha|address|port|one|two|fact|rule|detail|point|"
    "bit|info|information|convention|decision|preference|stuff|lesson|tip|note|setting|value|exception|distinction|"
    "correction|requirement|constraint|reminder|warning|message)s?)?"
)
_POINTED_WORDS = (
    "remember",
    "this",
    "that",
    "it",
    "both",
    "these",
    "those",
    "them",
    "the two",
    "above",
    "what i",
    "everything i",
    "taht",
)
_AFTER_POINTER = (
    r"(?=[\s]*$|\s*[.,;:!?—–)(]|\s-|\s(?:again|please|pls|too|as well|forever|permanently|always|somewhere|this time|"
    r"next time|"
    r"from (?:now|here)|going forward|for (?:later|next|the (?:next|future|other|whole|rest)|other|future|good|me|us|when|"
    r"all|any|every)|"
    r"when(?:ever)? (?:you|we|I)\b[^,]*$|so (?:you|we|I|that|it)\b|because|since|until|would you|will you|ok|properly|"
    r"once and|"
    r"(?:on|about|under|regarding|re) |in (?:future|the future|all|any|every)|across|between|over|beyond|once|for once|"
    r"and (?:then )?(?!the\b|our\b|"
    r"my\b)\w+ ))"
)
"""What can follow "remember that" where "that" is a statement said before."""
_POINTING_ACT = any_of(
    rf"(?:remember|memori[sz]e|learn|internali[sz]e|retain|note|(?:do(?:n'?t| not)|never) (?:ever )?(?:forget|lose)|"
    rf"(?:hold|hang) on to|"
    rf"(?:do(?:n'?t| not)|never) (?:ever )?(?:lose (?:track|sight) of|forget about|overlook|drop)|take note of|(?:make|"
    rf"take|keep) (?:a )?(?:\w+ )?(?:note|record) of|keep track of|mark) {_POINTED}(?: down)?{_AFTER_POINTER}",
    rf"(?<=if you )(?:could |would )?(?:remember|memori[sz]e|note|learn|retain|hang on to|hold on to|hung on to|held on "
    rf"to|kept|remembered|noted|saved|stored|"
    rf"wrote|recorded|memori[sz]ed|learn(?:ed|t)|made a note of|retained) {_POINTED}(?: down| in mind)?{_AFTER_POINTER}",
    r"(?<=if you could )(?:remember|keep (?:it|that|this))(?=[.!]*$)|(?<=if you would )remember(?=[.!]*$)|(?<=if you can "
    r")remember(?=[.!]*$)",
    rf"(?:keep|stick|adhere|hold) to {_POINTED} (?:in|for|on|across|at|with) (?:all|every|any|each|the whole)\b",
    rf"(?:keep|bear|have|keeping|bearing) {_POINTED} in mind",
    rf"(?:do(?:n'?t| not)|never) (?:ever )?let {_POINTED} (?:ever )?(?:slip(?: (?:your|our) minds?)?|get lost|be (?:lost|"
    r"forgotten)|escape you|fall through the cracks)",
    rf"(?:write|jot|note|take|put|mark|get) {_POINTED} down",
    "(?:(?:do )?not|never) (?:ever )?forget (?:this|that|it|these|those)(?: (?:one|bit|fact|detail|point|"
    "rule))?(?=[\\s]*$|\\s*[.,;:!?—–])",
    "(?:know|be aware of|understand) (?:this|that|it) for (?:all|any|the (?:next|future)|future|later|next)\\b",
    f"{_DATA_VERB} (?:both|all three|all of (?:this|that|these|it)|these two)(?= ?[:—–.,])",
    rf"{_DATA_VERB} {_POINTED}(?:,? {_PLACE}| somewhere(?: \w+){{0,2}}| (?:in|as) (?:a |your )?(?:permanent|"
    rf"long[- ]term)(?: \w+)?)+{_AFTER_POINTER}",
)
"""A request to save of what was said before."""
_ACT_AND_REST = lazy_pattern(
    r"^(?:(?P<content>.{8,}?)(?:\s*[,;—–(.:!]+\s*|\s+-+\s+|\s+(?:and|so|but)\s+))??"
    r"(?:(?:and|so|but|also|oh|ok(?:ay)?|please|pls|plz|just|then|hey|yeah|now|kindly|do|always|maybe|again)[\s,]+){0,4}"
    r"(?:(?:can|could|would|will) you (?:please |kindly |just |also )?|I(?:'d| would) like you to |I (?:want|need) you to |"
    r"you (?:should|must|need to|have to|had better|might want to) |let'?s |(?:try(?: not)?|make sure|be sure|remember) to |"
    r"(?:it )?(?:would|'?d|will|'ll|might) be (?:\w+ )?(?:good|great|nice|helpful|useful|best|wise|lovely|awesome) (?:to "
    r"|if (?:you|u) (?:could |would |can )?)|"
    r"(?:I(?:'d| would) (?:appreciate (?:it )?|be \w+ |love it |like it )if you (?:could |would |can )?))?"
    rf"(?P<phrase>{_POINTING_ACT})(?P<rest>.*)$",
    re.I | re.S,
)
"""Such an act wherever it stands in a sentence, and what is said after it."""
_NO_ACT = lazy_pattern(
    r"\b(?:don'?t|do not|never|not|no need to|needn'?t|without|can'?t|cannot|will|they|he|she|who|which|users?|it|"
    r"(?:needs?|has|have|supposed|able|used|tr(?:y|ies)|fails?|how|ought|does|app) to)\s+(?:\w+ )?$",
    re.I,
)
"""Words before a request to save with which it asks for nothing."""
_FOLLOWS = lazy_pattern(
    r"(?:,?\s(?:between|over|across|for|from|in|once|please|pls|at|next|going|this|forever|permanently|"
    r"always)\b[^:.;?!]{0,40})?\s*(?:[:—–→]|-+>?)\s+(?P<content>\S.{5,})$",
    re.S,
)
"""A colon after a request to save: what is to be kept follows."""
_SAYS_MORE = phrases(
    r"\b(?:don'?t|do not|never|always|must|mustn'?t|should(?:n'?t)?|use|only|because|since|as|otherwise|or else|instead|"
    r"no|not|avoid|every|each)\b"
)
"""Words of a rule or a reason after a request to save."""
_ASIDE = phrases(r"(?:so|for|when(?:ever)?|next|again|please|pls|in case|until|before|after|the next time)\b")
_LEAST_STATEMENT = 7
"""Words of a statement before a request to save; fewer may be a comment on the sentence before it."""
_LEAST_REST = 4
"""Words after a request to save that say more than "please" and "next time"."""
_NEXT_CLAUSE = lazy_pattern(r"[,;.]\s+(?:and |then |so )?|\s+(?:and|then)\s+", re.I)
_DATA = phrases(
    r"\b(?:in|to|into|on|as|at) (?:the |a |an |our |your |this |that )?(?:\w+ )?(?:log(?:s|file)?|database|db|tables?|redis|"
    r"files?|csv|json|disk|cache|session storage|local ?storage|cookies?|columns?|fields?|tickets?|issues?|readme|"
    r"changelog|comments?|docstrings?|analytics|variables?|bucket|s3|prometheus)[.!?]*$",
    r"^(?:value|result|output|number|count|id|user|response|name|key|file|state|object|list|row|record)\b",
    r"^(?:the |a |an |each |every )?(?:user|request|job|event|login|click|visitor|payment|call)s? "
    r"(?:has|have|was|were|\w+ed)\b",
)
"""What is stored by the program, not kept in mind."""
_STATES = phrases(
    r"\b(?:is|are|was|were|has|have|had|isn'?t|aren'?t|must|mustn'?t|should|will|won'?t|can|can'?t|cannot|may|do|does|"
    r"don'?t|doesn'?t|did|only|never|always|no|not|needs?|lives?|takes?|runs?|uses?|\w+ed|\w{2,}s)\b",
    r"'(?:s|re|ve|ll|m|d)\b|\b(?:we|I|you|they) [a-z]+",
)


def find_save_request(sentence: str) -> Request | None:
    """Return what an English sentence asks to keep, or None. The content is empty if it points to another sentence."""
    folded = sentence.lower()
    if not _has_each(folded, (_NEEDS,)):
        return None
    if _has_each(
        folded,
        (
            (*_POINTERS, "so ", "worth"),
            (
                *_PLACES,
                "retain",
                "hold on",
                "hang on",
                "worth",
                " you to ",
                "kept",
                "noted",
                "stored",
                " as ",
                "remember",
                "forget",
            ),
        ),
    ):
        back = _POINTS_BACK.match(sentence)
        if back:
            return Request((back["content"] or "").strip(), "remember", back["phrase"])
    for needs, act in _ACTS:
        match = act.search(sentence) if _has_each(folded, needs) else None
        if match and _STATES.search(match["content"]) and not _DATA.search(match["content"]):
            return Request(match["content"], "remember", match["phrase"])
    return find_pointing_act(sentence)


def find_pointing_act(sentence: str) -> Request | None:
    """Return the request of a sentence that asks to keep what was said before, in it or before it; None if it does not."""
    folded = sentence.lower()
    match = _ACT_AND_REST.match(sentence) if _has_each(folded, (_NEEDS, _POINTED_WORDS)) else None
    if match is None or _NO_ACT.search(sentence[: match.start("phrase")]) or _DATA.search(match["phrase"] + match["rest"]):
        return None
    before = (match["content"] or "").strip()
    follows = _FOLLOWS.match(match["rest"])
    if follows:
        return Request(follows["content"], "remember", match["phrase"])
    rest = _without_tasks(match["rest"].lstrip(" .,;:!?—–-)"))
    if len(rest.split()) < _LEAST_REST or _ACT_AND_REST.match(rest) or (_ASIDE.match(rest) and not _SAYS_MORE.search(rest)):
        rest = ""
    is_statement = bool(_STATES.search(before)) and not is_task(before) and len(before.split()) >= _LEAST_STATEMENT
    content = f"{before}, {rest}" if before and rest else before or rest
    is_comment = not is_statement and bool(before) and not is_task(before)
    return Request(content if is_statement or is_comment else rest, "remember", match["phrase"], points=not is_statement)


def _without_tasks(text: str) -> str:
    """The beginning of a text up to the first clause that is a task."""
    start = 0
    for boundary in (*_NEXT_CLAUSE.finditer(text), None):
        end = boundary.start() if boundary else len(text)
        if is_task(text[start:end]):
            return text[:start].rstrip(" ,;.") if start else ""
        start = boundary.end() if boundary else end
    return text


def _has_each(text: str, groups: tuple[tuple[str, ...], ...]) -> bool:
    return all(any(part in text for part in group) for group in groups)
