"""Standing rules and decisions in English by their grammar, wherever they stand in a sentence. Pure."""

import re
from itertools import islice

from omoide.learning.english_labels import DONE_ONCE
from omoide.learning.passages import is_task
from omoide.learning.patterns import any_of, lazy_pattern, phrases
from omoide.learning.request_rule import ONE_OFF, Request

_LEAST_CLAUSE = 8
"""Characters before "from now on" that can be a rule by themselves."""
_MOST_CLAUSES = 10

_TYPED_FROM = "(?:from|form|frm)"
_FROM_NOW = phrases(
    rf"\b{_TYPED_FROM} (?:now|here|today|this (?:point|day|moment)) ?(?:on(?:wards?)?(?: out)?|forward)\b(?! (?:is|was|"
    rf"are|means)\b)",
    r"\b(?:going|moving) forwards?\b(?! (?:by|to|in|one|two|through|and back(?:ward)?s?)\b)",
    r"\b(?:from|effective) (?:today|tomorrow|\w+day)(?=[.!]|$)",
    r"\bhenceforth\b|\bhereafter\b",
    r"\b(?:starting|as of|beginning|effective) (?:(?:right )?now|today|immediately|this week|this sprint)\b",
    r"\bin (?:the )?future(?=[,.!]|$)",
    r"\b(?:in|for|across) (?:all|every|any|each)(?: of)?(?: my| our| the| your)? \w+ (?:to come|ahead|from now on)\b",
    r"\bfor all (?:future|later|coming) \w+",
    r"\b(?:once and )?for good(?=[,.!]|$)",
)
_CLAUSE_START = lazy_pattern(
    r"(?:[,;:—–(]\s*|\s-+\s|\b(?:and|but|so|also|then|plus)\b,?\s+|^)(?=(?:please |pls |also |just )*"
    + any_of(
        r"let'?s\b",
        r"I(?:'d| would|'m| want| need| expect| prefer| don'?t)\b",
        "(?:make|be) sure",
        r"(?:please|pls|always|never|only|we|we'll|you|your|every|each|all|any|no|don'?t|do not|stop|use|keep|avoid)\b",
        r"(?:the|our|new)\b",
    )
    + ")",
    re.I,
)
"""Where the part of a sentence begins that can be a rule by itself."""
_LINK = lazy_pattern(r"^|,? (?:so|and|then) |[;:—–] ")
_ASIDE = phrases(r"(?:please|pls),", r"(?:no|the|our|that|it'?s?|any|all|each|every)\b[^,;]{0,16}$")
"""A few words after a rule, such as "no exceptions": they are no rule by themselves."""
_HYPOTHETICAL = phrases(
    r"\b(?:might|maybe|perhaps|possibly|probably|would be|could be|may (?:want|need|have|be)|hopefully|I hope|I wish)\b",
    r"\b(?:if|in case|unless|until|whether|should) (?:we|they|you|I|he|she|it)\b(?! (?:add|change|touch|edit|need))",
    r"\b(?:thinking (?:about|of)|considering|debating|discussing|wondering|planning to|not sure|undecided|"
    r"to be decided|tbd)\b",
    r"\b(?:was|were) (?:going|supposed|meant) to\b",
    r"\bwould (?:from|going)\b",
    r"\b(?:used to|no idea|suppos(?:e|ing)|imagine|assume|thought experiment)\b",
)
_REPORT = phrases(
    r"(?<!let's )(?<!lets )\b(?:says?|said|claims?|claimed|thinks?|thought|suggest(?:s|ed)|propos(?:es|ed)|told|"
    r"reads|wrote|writes|mentioned|recommends?|announced?|announces|promised?|promises|argues|stated|warns|insists)\b"
)
"""What somebody else says is no rule until the person says so."""
_NO_RULE_ENGLISH = phrases(
    r"\b(?:fails?|crash(?:es)?|hangs?|is broken|errors?|worried|afraid|happens?|looks? (?:good|fine)|"
    r"should be (?:fine|ok))\b[^,;]*$"
)
"""An account of what happens from now on."""

_BASE_VERB = (
    r"(?!(?:mind|seen|been|had|got|gotten|knew|known|thought|saw|did|done|was|were|made|came|went|took|gave|heard|"
    r"felt|again|"
    r"the|an?|this|that|these|it|its|in|on|at|to|for|when|where|as|so|too|quite|more|less|much|very|there|here|happy|"
    r"good|great|"
    r"nice|fun|true|false|wrong|right|available|visible|on|off|null|empty|up|zero|one|my|our|your|i|we|you|he|she|they|any|"
    r"\w+(?:ed|ing|ly)|\w*[^su\W]s)\b)[a-z][a-z-]+\b"
)
"""A word that can be an imperative: no participle, third person, adjective or article."""
_ALWAYS_ENGLISH = phrases(
    r"^(?:(?:please|pls|also|and|but|so|ok(?:ay)?|oh|btw|just|hey|again|reminder|important)[\s,:!-]+)*"
    r"(?:(?:can|could|would|will) you (?:please )?|you (?:should|must|need to|have to|can|may) |I(?:'d|"
    r" would) like you to |"
    r"I (?:want|need|expect) you to |make sure (?:to|you|that you) |be sure to |remember to |don'?t forget to )?"
    rf"(?:always|allways|never(?: ever)?|by default,?|under no circumstances) {_BASE_VERB}(?= \S)",
    rf"^(?:(?:and|so|ok(?:ay)?|then),? )*let'?s (?:all |please )?(?:always|never) {_BASE_VERB}(?= \S)",
    r"^(?:please |pls )?(?:don'?t|do not) ever (?!forget)[a-z]+ \S",
    r"^(?:(?:please|pls|and|so|but|just)[\s,]+)*(?:don'?t|do not) (?:suggest|propose|ask|mention|recommend|offer|bring up|"
    r"use|"
    r"touch|call|reformat|tell)\b.{2,60}\bagain\b",
    r"^(?:(?:please|pls|and|so|but|just)[\s,]+)*(?:don'?t|do not) (?!forget|worry|be\b)[a-z]+ .{2,80}(?:, (?:not )?ever|"
    r"\bany ?more)[.!]*$",
    r"^(?:(?:please|pls|and|also|can you|could you|would you) )*stop [a-z]+ing\b.{2,80}\b(?:every time|always|"
    r"constantly|all the time|"
    r"again and again|each time)\b",
    r"^(?:please |pls |and |also )*stop [a-z]+ing\b .{2,60}\b(?:in|when|from|with|to|every|all|any|your|me|"
    r"my)\b .*\b(?:your|all|every|"
    r"answers?|code|commits?|messages?|me)\b",
    r"^(?:[A-Z`]|the |our |all |every |each |new )[^,;.]{2,50}\b(?:always|never) (?:(?:go(?:es)?|lives?|belongs?|"
    r"stays?|comes?|starts?|ends?|sits?) "
    r"(?:next|in|into|under|to|at|on|with|before|after|first|last|inside|outside)|(?:is|are|gets?) (?:written|named|"
    r"stored|kept|placed|put|"
    r"prefixed|sorted|called|formatted|rounded|shown|reviewed|squashed|merged|tagged))\b",
    r"^I(?: want| need| expect| would like|'d like) (?:every|all|each|any) .{2,60}\b(?:to (?:be|have|include|contain|"
    r"use|start|end|go|"
    r"come|follow|pass)|in|with|without|as)\b",
    r"^(?:please |pls )?(?:make sure|be sure|see to it|see|ensure) (?:that )?(?:we|you|I|every|all|each|any|"
    r"no)\b.* (?:always|"
    r"never)\b",
    r"^(?:please )?(?:every ?time|each time|every single time|any ?time|(?:the )?next time) (?:you|we) [^,]{3,80}, "
    rf"(?:please |also |always |just |simply |first |you (?:must|should|need to) |make sure ){{0,2}}{_BASE_VERB}(?= \S)",
    r"^(?:please )?(?:when(?:ever)?|if) (?:you|we) (?:ever )?(?:add|change|touch|edit|rename|write|create|delete|"
    r"remove|deploy|release|"
    r"commit|push|merge|update|bump|introduce|fix|move|answer|review|need|use) [^,]{3,80}, "
    rf"(?:always|never|also|please always|you must|make sure to|remember to) {_BASE_VERB}",
    rf"^(?:please )?(?:whenever (?:you|we)(?!'re| are| have| like| want| feel) [^,]{{3,80}}|when you (?!(?:have|get|are|"
    rf"find|can|see|finish)\b)[a-z]+ (?:(?!(?:the|"
    rf"this|that|these|those|it|a|an)\b)[\w-]+ ){{0,2}}?(?:\w{{2,}}s|code|text)\b[^,]{{0,40}}), (?:please |"
    rf"also )?{_BASE_VERB}(?= \S)",
    r"^I(?:'d)? (?:want|need|expect|prefer|(?:would )?like|(?:would )?prefer)(?: that)? "
    r"(?:you|us|all|every\w*|each|any|no|everyone)\b.*\b(?:always|never|everywhere|every time|each time|at all times|"
    r"without exception)\b",
    r"^I (?:always|generally) (?:want|prefer|expect|like) ",
    rf"^(?:please |pls )?never again {_BASE_VERB}(?= \S)|^I (?:don'?t|do not) ever want (?!to\b)\w+",
    r"^(?:every|each|all|any) (?:sessions?|answers?|repl(?:y|ies)|conversations?|commits?|prs?|pull requests?|"
    r"reviews?|chats?|explanations?|summar(?:y|ies)) (?!(?:in|of|on) (?:the|a|an)\b)(?:[\w-]+ ){0,5}?(?:should|must|shall|"
    r"has to|have to|"
    r"needs? to) ",
    r"^I (?:never|no longer|(?:don'?t|do not)(?: ever)?) want to (?:see|hear|find|read|get|have|deal with|come across|"
    r"run into)\b.{2,80}\b(?:again|ever|any ?more)\b",
    r"^I (?:don'?t|do not|never) (?:ever )?want (?:you to|to see you|you) \w+",
    r"^(?:it(?:'d| would) be|it'?s|I(?:'d| would)) (?:\w+ )?(?:good|great|nice|better|best|helpful|"
    r"appreciate(?: it)?|love|happy|glad|grateful|prefer|like)(?: it)? if(?=.*\b(?:always|never|every time|each time|"
    r"consistently|"
    r"from (?:now|here) on|going forward|in (?:the )?future|next time)\b)(?:,? [\w' ]{3,20},?)? you\b",
    r"^I(?:'d| would) (?:rather|prefer(?: it if)?|like(?: it if)?)(?: that)? you (?:did(?:n'?t| not)|never|always|"
    r"not|do(?:n'?t| not)|"
    r"stop(?:ped)?)\b.*\b(?:ever|again|any ?more|at all|always|never|any|every\w*|all|anything)\b",
    rf"^(?:please |pls )?{_BASE_VERB} .{{2,80}}\b(?:by default|as a default|as a rule|without exception|at all times|"
    r"every single time|and I mean (?:it|always|permanently|every time|forever|for good))\b",
    r"^(?:please |pls |always )?default to (?!.*\bwhen\b.*\b(?:null|none|empty|missing|unset)\b)\S",
    rf"^(?:when|whenever|while|before|after) \w+ing [^,]{{3,80}}, (?:please |just |simply |first )?(?:always |"
    rf"never )?{_BASE_VERB} .*"
    r"\b(?:always|every time|each time|no exceptions?)\b",
    rf"^(?:before|after|on|at|for|with|in) (?:every|each|any|everything|anything|all|"
    rf"whatever)\b[\w /-]{{0,40}}, (?:please |always |never )?{_BASE_VERB}(?= \S)",
    rf"^(?:please |pls |also |and )?{_BASE_VERB} .{{2,80}}\b(?:(?:before|after) (?:every|each) \w+(?: \w+)?[.!]*$|"
    rf"(?:whenever|"
    r"every ?time|each time|any ?time) (?:you|we) (?!are|have|like|want|feel)[a-z]+ )",
    r"^(?:(?:in|for|on|at|with|inside|across) (?:this|our|the|these|all|every|my)\b[^,]{2,40}?,? )?we (?:always|never|"
    r"only(?: ever)?|"
    r"(?:don'?t|do not) ever) (?:use|run|write|name|put|keep|deploy|merge|commit|push|squash|rebase|format|test|ship|"
    r"release|review|tag|"
    r"store|log|call|prefix|round|sort|import|pin|bump|ask|send|require|reply|answer|quote|bill|charge|spell|refer|"
    r"address)\b",
    r"^(?:(?:please|pls|can you|could you|would you|I(?:'d like| want| need) you to) )*stop \w+ing\b "
    r".*\b(?:when(?:ever)?|if|in|for|from|to) "
    r"(?:you|we|new|our|my|me|this repo|the code|any|all|every)\b",
    r"^(?:all|every|each|any) (?:new|future|further|other) [\w -]{2,60}\b(?:must|has to|have to|needs? to|needs|"
    r"shall|gets?|should) ",
)
_SETTLED_ENGLISH = phrases(
    r"^(?:[\w ,'-]{0,50}[,:] )?(?:(?:so|and|but|ok(?:ay)?|also|btw|finally) )*(?:after \w+(?: \w+){0,3},? )?"
    r"(?:we(?:'ve| have)?|I(?:'ve| have)|(?:the |our )?(?:\w+ )?(?:team|client|customer|board|group|management|committee|"
    r"legal|security|owner|boss|leadership|leads?|council|cto|ceo|manager|stakeholders?|everyone|everybody|partners?|po|pm|"
    r"product|design|marketing|finance|ops|architects?|maintainers)(?: has| have)?|"
    r"(?:me and \w+|\w+ and (?:I|me|the \w+(?: \w+)?))(?: have)?)"
    r" (?:(?:just|now|already|finally|all|also|officially|unanimously|formally) )*"
    + any_of(
        "(?:decided|agreed|settled(?= (?:on|that|for|to|upon|with|against|it)\\b|:)|opted|voted|committed|resolved|"
        "concluded|mandated|ruled(?= (?:that|out|against|"
        "in favou?r)\\b))",
        "(?:ended|wound) up (?:with|on|(?:choosing|picking|going|using|keeping|staying|adopting|dropping|taking)\\b)",
        "(?:okayed|gave (?:the )?green light (?:to|for)|gave (?:the|their|his|her) ok (?:to|for))",
        "(?:signed off|standardi[sz]ed|compromised|converged|landed) on",
        "(?:ruled out|dropped the idea|went with|gone with|are going with|is going with)",
        "(?:chosen|picked|chose|approved|selected|adopted)(?= \\S+.*(?:\\b(?:over|instead|for|as|to|the)\\b))",
    )
    + r"\b",
    r"\bwe ?(?:'re|re| are| r) (?:now |all |officially )?(?:going with|sticking (?:with|to)|staying (?:with|on)|"
    r"standardi[sz]ing on|"
    r"(?:switching|moving|migrating) (?:[\w' /.-]{2,30} )?(?:over )?to)\b(?! (?:the )?(?:left|right|top|bottom|next)\b)",
    r"\bwe(?:'ve| have)? (?:no longer|stopped) (?:us(?:e|ing)|support|ship|deploy|allow|accept|offer|maintain)(?:ing)?\b",
    r"\bwe(?:'ve| have) (?:moved|switched|changed|renamed|replaced) .{2,80}\b(?:for good|permanently)\b",
    r"\blet'?s (?:all )?(?:make|keep|have|treat|declare) .{2,80} (?:the|our|a|as) (?:\w+ )?"
    r"(?:standard|default|rule|convention|norm|policy|minimum|maximum|limit|practice)\b",
    r"\b(?:is|are) (?:now )?our (?:new |official |standard )?(?:standard|default|rule|convention|policy|practice|"
    r"guideline)\b",
    r"^(?:our|the|team|house|company|project) (?:\w+ )?(?:rule|policy|convention|standard|agreement|practice) (?:is|"
    r"says|will be)"
    r"(?: that| to|:|,? (?:always|never|no|one|every|all|we|two))\b",
    r"\bit(?: was| has been|'s been| got) (?:\w+ly )?(?:agreed|decided|settled)\b",
    r"\b(?:the|our|my) (?:(?:final|official|latest|team'?s?|unanimous) )*(?:decision|consensus|agreement|verdict|outcome|"
    r"conclusion|call|choice|ruling|deal|understanding|arrangement|preference)(?: (?:with|for|in|on|about|from|"
    r"of) [\w' -]{1,40}?)? "
    r"(?:is|was)(?: that| to|:)",
    r"^(?:the |our |my )?(?:house|team|company|project|coding|code|official|general) (?:style|standard|rule|"
    r"convention|policy) is\b",
    r"^(?:the|our) (?:standard|convention|rule|default|norm|policy|practice)(?: (?:for us|here|in \w+(?: \w+)?|"
    r"for \w+(?: \w+)?))+ is\b",
    r"^by convention,? ",
    r"\b(?:it(?:'s| is)|that(?:'s| is)) (?:settled|decided|agreed|final|official)\b",
)
_NO_SETTLED = phrases(
    r"\b(?:why|what|when|where|which|how|who|if|whether|once|until|before|unless|after|because|since) "
    r"(?:we|they|the \w+|our \w+)(?:'ve| have| has)? (?:\w+ )?(?:decided|agreed|settled|chose|chosen|picked|opted|"
    r"went|gone)\b",
    r"\b(?:n't|not|never|yet to|nobody|no one)\b(?: \w+)? (?:decided|agreed|settled|chosen|approved|final|official)\b",
    r"\bagreed with (?:you|me|him|her|that)[.!]?$",
    DONE_ONCE,
    r"\bwe(?:'re| are) .*\b(?:tomorrow|tonight)\b",
    r"\b(?:I thought|I think|I believe|didn'?t we|wasn'?t it|iirc|if I recall|apparently|supposedly)\b",
)

_NOTED = "(?:store|save|record|keep|log|file|treat|take|consider|note|remember|write|put|add)"
_AS_RULE = lazy_pattern(
    rf"\b(?P<phrase>{_NOTED} (?:that|this|it)(?: down)? (?:as|under|to|among) (?:a|an|the|our|my|your) (?:\w+ )?"
    r"(?:rules?|polic(?:y|ies)|conventions?|decisions?|preferences?|standard|default|facts?|guidelines?|notes?|"
    r"memor(?:y|ies)|standing order))"
    r"(?:(?: for (?:me|us|later|next time|(?:the )?future(?: \w+)?)| please| pls)*\s*[:,—–-]+\s*(?P<content>\S.*))?",
    re.I,
)
_INSIDE_ENGLISH = lazy_pattern(
    r"\b(?:please|pls|plz|you (?:should|must|need to|have to|can|could|might want to)|important (?:to|that you|you)|"
    r"important,|"
    r"sure (?:to|you|that you)|^|[,;]|\band|\bbut|(?:want|need|like|ask) you to|helps? to|worth|good to|thing to|"
    r"just|also|do)[ ,]+"
    r"(?P<phrase>rem(?:em)?m?e?be?r(?:ing)?|keep(?:ing)? in mind|bear in mind|note|noting|memori[sz]e|don'?t forget|"
    r"be(?:ing)? aware|know for (?:the future|later|next time|future \w+)|take into account)"
    r"(?: (?:the fact )?that\s+|\s*[:—–]\s*)(?P<content>\S.+)$",
    re.I,
)
_FYI = lazy_pattern(
    r"^(?:btw,? |and |oh,? )?(?P<phrase>fyi|for your information|just so you know|heads[- ]?up)[\s,:—–-]+"
    r"(?P<content>.+\b(?:so (?:please |always |never |don'?t |do not |we |you |keep |use |avoid |no |only )|always|never|"
    r"must|not? longer|"
    r"keep (?:that|it|this)|from now on|use that|now)\b.*)$",
    re.I,
)


def find_standing(sentence: str) -> Request | None:
    """Return the rule or the decision that an English sentence states for good, or None. It must be no question."""
    return (
        _noted_as_rule(sentence)
        or _fragment(sentence)
        or _from_now(sentence)
        or _always(sentence)
        or _find_agreement(sentence)
    )


def _noted_as_rule(sentence: str) -> Request | None:
    for pattern in (_INSIDE_ENGLISH, _FYI):
        match = pattern.search(sentence)
        if match and not ONE_OFF.search(match["content"]):
            return Request(match["content"], "remember", match["phrase"])
    match = _AS_RULE.search(sentence)
    if match is None:
        return None
    before = sentence[: match.start()].rstrip(" ,;—–-(")
    before = re.sub(r"(?:(?:^|[\s,]+)(?:and|so|but|please|pls|also|you can|can you|could you))+$", "", before, flags=re.I)
    content = ": ".join(filter(None, (before, (match["content"] or "").strip())))
    return Request(content, "remember", match["phrase"])


def _from_now(sentence: str) -> Request | None:
    match = _FROM_NOW.search(sentence)
    if match is None or _HYPOTHETICAL.search(sentence) or _NO_RULE_ENGLISH.search(sentence):
        return None
    before, after = sentence[: match.start()].rstrip(" ,"), sentence[match.end() :]
    if _REPORT.search(before):
        return None
    starts = [start.end() for start in _CLAUSE_START.finditer(before) if len(before) - start.end() >= _LEAST_CLAUSE]
    starts = [start for start in starts if not _ASIDE.match(before, start)] or starts
    if not starts and len(after.strip(" ,.!")) < _LEAST_CLAUSE:
        is_order = any(_is_order(before[link.end() :]) for link in islice(_LINK.finditer(before), _MOST_CLAUSES))
        return Request(before, "rule", match[0]) if len(before) >= _LEAST_CLAUSE and is_order else None
    clause = before[starts[-1] :] if starts else before
    if after[:1].isalnum() or after[:1] == " ":
        after = f" {after.strip()}"
    return Request(f"{clause}{after}".strip(" ,"), "rule", match[0])


_ORDER = lazy_pattern(
    rf"^(?:\w[\w /-]{{0,30}}: )?(?:please |pls |also |and |so |just |only ){{0,3}}{_BASE_VERB}(?= \S)", re.I
)


def _is_order(clause: str) -> bool:
    """Whether a clause begins with a verb in its base form."""
    return bool(_ORDER.match(clause))


_FRAGMENT = lazy_pattern(
    r"^(?:yes|no|\w[\w-]*(?: [\w-]+){0,6}), (?P<phrase>every (?:single )?time|always|each time|no exceptions|without "
    r"exception|everywhere)[.!]*$"
    r"|^(?P<ask>(?:so |and |please |really )*(?:no need to|don'?t|stop|you (?:don'?t|do not|needn'?t) (?:need to|have "
    r"to)?) ?(?:ask|asking|check|"
    r"confirm|confirming)\b.*\b(?:any ?more|again|every time|each time|ever))[.!]*$",
    re.I,
)
"""A few words that make a rule of the sentence before them."""


def _fragment(sentence: str) -> Request | None:
    match = _FRAGMENT.match(sentence)
    return Request(sentence, "rule", match["phrase"] or match["ask"], points=True) if match else None


_NOT_YET = lazy_pattern(r"\b(?:yet|for now|just this once|this time)\b", re.I)
"""Words of an order for the moment."""


def _always(sentence: str) -> Request | None:
    for start in (0, *(boundary.end() for boundary in islice(_CLAUSE_START.finditer(sentence), _MOST_CLAUSES))):
        clause = sentence[start:]
        match = _ALWAYS_ENGLISH.search(clause)
        if (
            match
            and not _REPORT.search(sentence[:start] + match[0])
            and not ONE_OFF.search(clause)
            and not _NOT_YET.search(clause)
        ):
            return Request(clause if is_task(sentence[:start]) else sentence, "rule", match[0])
    return None


def _find_agreement(sentence: str) -> Request | None:
    match = _SETTLED_ENGLISH.search(sentence)
    is_order = is_task(sentence) and not sentence.lower().startswith("let")
    if match is None or is_order or _NO_SETTLED.search(sentence) or _HYPOTHETICAL.search(sentence):
        return None
    return Request(sentence, "decision", match[0])
