"""How people ask in English that something be remembered: phrases, each with what it asks to keep. Pure."""

from omoide.learning.english_labels import ANNOUNCED, DONE_ONCE, FOR_LATER, HOW_IT_IS, LABEL, NOTE_TO_YOU, OBSERVE, RULE
from omoide.learning.patterns import any_of, phrases
from omoide.learning.request_rule import rule

_LEAD = (
    any_of(
        *(
            "please",
            "pls",
            "also",
            "and",
            "but",
            "so",
            "then",
            "plus",
            "btw",
            "by the way",
            "ok(?:ay)?",
            "yes",
            "yeah",
            "oh",
        ),
        *("hey", "hi", "thanks", "just", "well", "right", "important", "fyi", "one (?:more )?thing", "reminder"),
        r"(?:for|in|on|re) [\w/]+(?:[.-][\w/]+)*",
    )
    + r"[\s,:;!.-]+"
)
_ASK = any_of(
    "(?:can|could|would|will) you (?:please |kindly |also )?",
    "(?:would|do) you mind ",
    "(?:it(?:'s| is|'d be| would be) )?(?:important|good|useful|helpful|nice|worth)(?: for you)? (?:to |if you )",
    "I(?:'d| would) like you to ",
    "I want you to ",
    "you (?:should|must|need to) ",
    "(?:make|be) sure (?:to|you) ",
    "(?:let'?s|we (?:should|need to|have to)) (?:all )?",
)
_FIRST = "(?:(?:before|when|while|if) you [^,]{2,40}, )?"
_START = rf"^(?:{_LEAD})*{_FIRST}(?:{_ASK})?(?:please |also |always )?"
_FOR = "(?: for (?:(?:all|any|the) )?(?:future|later|next|new)(?: [\\w-]+){0,2})?"
_REMEMBER = any_of(
    "remember(?:ing)?|rember|remeber|rememeber|remmember|rmember|remembr|rememebr",
    "memori[sz](?:e|ing)",
    "keeping in mind",
    "(?:(?:important|essential|good) )?(?:that )?you (?:should )?(?:know|are aware)(?= ?:)",
    f"(?:keep|bear) (?:it )?in mind{_FOR}",
    "(?:don'?t|do not|never) (?:ever )?(?:let (?:me|us|yourself) )?forget",
    "(?:let'?s not|we (?:must|should)(?:n'?t| not)) (?:ever )?forget",
)
_NOTE = any_of(
    f"(?:mak(?:e|ing)|tak(?:e|ing)|keep(?:ing)?) (?:a )?(?:\\w+ )?note{_FOR}(?= (?:of|that)\\b| ?[:,—–]| -|$)",
    f"(?:please |pls )?note{_FOR}(?= that\\b|:)",
    "note (?:(?:this|that|it) )?down(?= that\\b| ?[:,—–-])",
    "for your notes",
    "(?:put|jot|write|get) (?:this|that|it) (?:down|in(?:to)? (?:your |the )?(?:notes|memory))",
    "write (?:this|that|it) down",
    "save (?:this|that|it)(?: (?:to|in) (?:your |the )?memory)?",
    "store (?:this|that) in (?:your |the )?memory",
    "add (?:(?:this|that) )?to (?:your |the )?(?:memor(?:y|ies)|notes)",
)
_IT = "(?:that|this|it)"
_NOTE_AFTER = (
    "(?:(?:and |so |but )?(?:please |pls )?(?:always )?(?:can you |could you )?)"
    + any_of(
        f"(?:remember|memori[sz]e|keep|note|save|write|jot|put|store|record|log) {_IT}"
        "(?: in mind| down| somewhere| in(?:to)? (?:your |the )?(?:notes|memory))?",
        f"(?:make|take|keep) (?:a )?(?:mental )?note(?: of {_IT})?",
        "(?<=please )(?:remember|note|keep in mind|memori[sz]e)",
        f"(?:add|save|commit) {_IT} to (?:your |the )?(?:notes|memory|memories)",
        f"do(?:n'?t| not) (?:ever )?forget(?: (?:about )?{_IT})?",
        f"update (?:what you (?:know|have)(?: about {_IT})?|your (?:notes?|memor(?:y|ies)|knowledge|"
        f"records?))(?: accordingly)?",
        "(?:keep|bear) (?:that|this|it) in mind",
        f"(?:stick to|hold on to|pin|mark down) {_IT}(?: down)?",
        f"(?:record|log|store|save|note|remember|pin|keep) {_IT} (?:decision|rule|fact|policy|convention|preference)",
        f"make {_IT} permanent",
        f"(?:treat|consider|take) {_IT} (?:as )?(?:settled|final|given|fixed|decided|a rule|the rule)",
    )
    + "(?:,? (?:please|pls|ok(?:ay)?|thanks|for (?:later|next time|the future|good)))*"
)
_PLACE = (
    "(?:in(?:to)?|to|on|under) (?:your |the |my |our )?(?:(?:long[- ]term|permanent|project|own|persistent) )*"
    "(?:notes?|memor(?:y|ies)|notebook|records?|knowledge(?: base)?|radar|list)"
)
_LATER = (
    "(?:for|in) (?:(?:all|any|the|our|your|my) )?(?:later(?: on)?|future(?: \\w+)?|next time|good|the record|coming \\w+|"
    "(?:next|further|other|all|any|every|each) (?:\\w+ )?(?:sessions?|tasks?|times?|conversations?|chats?|projects?))"
)
_POINTED = "(?:this(?: one| fact| rule)?|that|it|these|the following)"
_MEMORY_ACT = any_of(
    f"(?:remember|memori[sz]e|note|jot|write|put|keep|save|store|record|add|commit|file|hold|pin|log) {_POINTED}"
    f"(?: down)? (?:{_PLACE}|somewhere(?: safe)?|{_LATER}|in mind)(?:,? {_LATER})?",
    f"(?:jot|write|note|mark|put) (?:{_POINTED} )?down(?:,? {_LATER})?(?= that\\b| ?[:,—–-])",
    f"(?:hold|hang) on to {_POINTED}",
    f"(?:keep track|take note|(?:keep|make) (?:a )?(?:note|record)) of {_POINTED}",
    f"(?:don'?t|do not|never) (?:lose (?:track|sight) of|overlook|lose) {_POINTED}",
    "commit to memory|keep (?:in|on) (?:your )?(?:memory|radar)|bear in mind",
    "(?:log|record|file|save|store|note) (?:this|the following) (?:down )?as (?:a |an |our |the )?(?:\\w+ )?"
    "(?:decision|rule|fact|policy|convention|preference|standard)",
)
"""What one does to remember something that follows: "put this in your notes", "jot down"."""
_REFERENCE = any_of(
    "(?:just |a |an |and |another |one more |quick |small |little |friendly |important )*"
    "(?:heads[- ]up|reminder|fyi|for your information|for info|note|hint|so you know|just so you know|remark|tip)"
    f"(?: (?:to|for) (?:self|yourself|you|us)(?: and (?:to |for )?\\w+)?)?,? {_LATER}",
    "(?:a )?note to self(?: and (?:to |for )?\\w+)?(?= ?[:—–])",
    "(?:just )?for (?:future|later) reference",
    "(?:just )?so you know(?: for (?:the future|later|next time))?",
    "for (?:the future|next time|later)(?= ?[:,—–])",
    "for the record",
    "note for (?:the future|later|next time)",
    "(?:a )?note(?: to self)?(?= ?[:—–])",
    "to remember(?= ?:)",
)
_AGAIN = (
    r"\b(?:always|never|every|each|any|whenever|when(?:ever)? you(?!'?(?:re| are|'?ve| have) (?:done|finished|ready|back|"
    r"through))|(?:before|after|when) \w+ing|in (?:the )?future|"
    r"next time|(?:before|after) you (?:push|commit|merge|deploy|release|publish|rebase|open|edit|change|touch|run))\b"
)
"""What makes "remember to …" more than an order for today."""
_CALLED_RULE = any_of(
    f"(?:(?:a|the|our|one|another) )?(?:(?:new|more|general|team|house|standing|hard) )?{RULE}"
    "(?: (?:for|in|on|from|going) [\\w -]{1,30}?)?(?: is)?",
    f"(?:make|call) (?:it|this|that) (?:a|the|our) (?:new |general )?{RULE}",
    f"as a (?:general )?{RULE}",
)
FROM_NOW = any_of(
    "from now on(?! (?:is|was|are|means)\\b)",
    "(?:going|moving) forward(?! (?:by|to|in|one|two|through|and back(?:ward)?s?)\\b)",
    "from here on(?: out)?",
    "from (?:this point|today) on(?:wards?)?",
    "in (?:the )?future(?=,| (?:please|pls|always|never|don'?t|do not|use|only)\\b)",
    "henceforth",
    "(?:starting|as of|beginning|effective) (?:now|today|immediately)",
    "until further notice",
    "(?:for|in|across) (?:all|every|any)(?: of)?(?: my| our| the| your)? (?:(?:future|other|new) )?"
    "(?:projects?|repos?(?:itories)?|tasks?|sessions?|conversations?|answers?|code|work)"
    "(?:(?= ?[:,])| (?:to come|ahead)\\b)",
    "in (?:all )?future \\w+(?= ?,)",
    "whatever you do(?=, (?:please )?(?:don'?t|do not|never|always))",
)
_FROM_DATE = any_of(
    "from (?:tomorrow|(?:(?:the )?next |this )?\\w+) on(?:wards?)?",
    "(?:starting|as of|beginning|effective) (?:with )?(?:tomorrow|next \\w+|\\w+day|(?:version|release|v) ?[\\d.]+)",
)
"""From another time than now: that belongs to what is to be kept."""
_RULE_VERB = any_of(
    "always",
    "never",
    "no(?: more)?",
    "don'?t",
    "do not",
    "please",
    "use",
    "prefer",
    "avoid",
    "we (?:always|never|only)",
    "you (?:should|must)",
)
_DECIDED = any_of(
    r"\bwe(?:'ve| have)? (?:just |already |finally |now )?(?:decided|agreed|settled)\b",
    r"\b(?:the )?(?:team|group|board|client|management|\w+ team) (?:has )?(?:decided|agreed)\b",
    r"\b(?:it (?:has been|was)|it's been) decided\b",
)
_SETTLE = any_of(
    "let'?s (?:all )?(?:(?:standardi[sz]e|settle|agree) on(?! an? (?:time|date|day|place|meeting))|agree (?:that|to))",
    "we(?:'re| are) (?:now )?(?:standardi[sz]ing|settling) on",
    "(?:we(?:'ll| will)|let'?s) (?:all )?(?:stick|go) with(?! (?:(?:option|variant|version|number|plan) \\w+ for (?:this|"
    "that|now)|(?:your|the|that|this) "
    "(?:\\w+ )?(?:suggestion|proposal|idea|option|variant|version|approach|one))\\b)",
)
_DASH = r"\s*[:,—–-]\s*"
_KEEP = (
    "remember memori keep note save write jot put store record log add commit forget stick hold hang pin mark lose overlook"
    " make treat consider take update bear file mind"
)
_KEPT_TO = (
    "stick keep adhere respect hono observe follow comply live leave do use apply write handle treat that's this is it's"
    " goes applies holds counts"
)
"""Words one of which is in every text that a rule matches; see `rule`."""
ENGLISH = (
    rule(
        "remember",
        rf"^(?P<content>.*?)(?:^|\s*[-,;:—–.(]+\s*)(?P<phrase>{_NOTE_AFTER}),? (?:and|then|before you|next time)\b.*$",
        _KEEP,
    ),
    rule(
        "remember",
        rf"^(?P<content>.{{8,}}?)\s*[-,;—–(]+\s*(?P<phrase>{_NOTE_AFTER}) (?:when|whenever|while|if|for)\b[^:]*$",
        _KEEP,
    ),
    rule(
        "rule",
        rf"{_START}(?P<phrase>(?:that|this|it)(?:'s| is) (?:now )?(?:a|the|"
        rf"our)(?: \w+)? {RULE})(?P<content>)[.!]*$",
        "rule policy convention guideline practice",
    ),
    rule(
        "remember",
        rf"{_START}(?P<phrase>{_REMEMBER})(?: (?:the following|this(?: (?:one|fact|rule))?|that|these))?(?:{_DASH}|\s+)"
        rf"(?P<content>(?!when\b|me\b|how (?:we|I)\b|the time\b|(?:again|too|as well|(?:this|next) time|please|pls|"
        rf"somewhere|forever)\b)(?!to\b(?!.*{_AGAIN})).+)$",
        "rem memori mind forget know aware",
    ),
    rule(
        "remember",
        rf"{_START}(?P<phrase>{_NOTE})(?: (?:of this|that|of the fact that))?(?:{_DASH}|\s+(?:that\s+)?)"
        r"(?P<content>(?!(?:for|as|to|in|into|under|with|at|on|somewhere|table|column|page|field|file|app|section|"
        r"view)\b).+)$",
        "note memor jot write save put get",
    ),
    rule("remember", rf"^(?P<content>.*?)(?:^|\s*[-,;:—–.(]+\s*)(?P<phrase>{_NOTE_AFTER})\W*$", _KEEP),
    rule(
        "remember",
        rf"^(?:{_LEAD})*(?P<phrase>{_REFERENCE}){_DASH}(?P<content>.+)$",
        "heads-up heads reminder fyi info note hint know remark tip reference future later time record remember",
    ),
    rule(
        "remember",
        rf"^(?:{_LEAD})*{_FIRST}(?:please )?(?P<phrase>(?:you (?:should|need to|must) )?(?:know|"
        r"be (?:aware|advised|warned|mindful|conscious)|(?:get used to|accept|live with|allow for|consider) the fact|"
        r"take into (?:account|consideration))(?: (?:for|in) [\w ]{3,24}?)?|mind|(?:(?:just|a|an|quick|friendly|small|"
        r"another) )*(?:reminder|heads[- ]up)) that"
        r"\s+(?P<content>.+)$",
        "know aware advised warned mind conscious fact account consideration reminder heads",
    ),
    rule("remember", rf"{_START}(?:and please )?(?P<phrase>{_MEMORY_ACT})(?:{_DASH}|\s+that\s+)(?P<content>.+)$", _KEEP),
    rule("rule", rf"^(?P<content>.{{8,}}?)\s*[-,;:—–.(]+\s*(?:and |so |but )?(?P<phrase>{OBSERVE})\W*$", _KEPT_TO),
    rule("rule", rf"{_START}(?P<phrase>{OBSERVE})(?P<content>)\W*$", _KEPT_TO),
    rule(
        "rule",
        rf"{_START}(?P<phrase>{FROM_NOW})[\s,:—–-]+(?P<content>.+)$",
        "now forward here point today future henceforth immediately notice all every any whatever",
    ),
    rule("rule", rf"{_START}(?P<content>(?P<phrase>{_FROM_DATE})[\s,:—–-]+.+)$", "on starting as beginning effective"),
    rule(
        "rule",
        rf"{_START}(?P<content>{_RULE_VERB} .+?)[\s,]+"
        r"(?P<phrase>from now on|going forward|in (?:the )?future|every time|each time)[.!]*$",
        "now forward future time",
    ),
    rule(
        "rule",
        rf"{_START}(?P<phrase>next time|every time|whenever)[\s,]+"
        r"(?P<content>(?!I\b|it\b).*(?:\balways\b|\bnever\b|\bplease\b|\buse\b|\brun\b|don'?t|do not).+)$",
        "time whenever",
    ),
    rule("rule", rf"{_START}(?P<phrase>{_CALLED_RULE}){_DASH}(?P<content>.+)$", "rule policy convention guideline practice"),
    rule(
        "rule",
        rf"{_START}(?P<phrase>as a (?:general |basic |hard |matter of )?(?:{RULE}|principle|standard)),? "
        r"(?P<content>(?!of\b).+)$",
        "rule policy convention guideline practice principle standard",
    ),
    rule(
        "rule",
        rf"{_START}(?P<content>(?P<phrase>if (?:you|we) ever) (?:need|want|see|hit|get|run into|have to|find|"
        rf"touch) .+, .+)$",
        "ever",
    ),
    rule(
        "rule",
        rf"{_START}(?P<phrase>make (?:it|this) an? (?:\w+ )?(?:{RULE}|habit|point|principle) (?:that|to|of))\s+"
        r"(?P<content>.+)$",
        "make",
    ),
    rule(
        "rule",
        rf"{_START}(?P<phrase>(?:that|this|it)(?: was| has been| had been|'s been|'s| is) (?:\w+ly |already )?"
        r"(?:decided|agreed|settled|approved|signed off)(?! to\b|.*\bthat\b)[^?:,]*(?:,(?: so\b[^?:]*|"
        r"[^?:,]{0,16}))?)(?P<content>)$",
        "decided agreed settled approved signed",
    ),
    rule("decision", rf"^.{{0,80}}?(?P<phrase>{_DECIDED})\b:?\s+(?P<content>.+)$", "decided agreed settled"),
    rule(
        "decision",
        rf"{_START}(?P<phrase>(?:(?:the|our|my) )?(?:final |official |team |latest )*(?:decision|call|verdict|ruling|"
        rf"word|choice|outcome)"
        rf"(?: is| was)?(?: to)?){_DASH}(?P<content>.+)$",
        "decision call verdict ruling word choice outcome",
    ),
    rule(
        "decision",
        rf"{_START}(?P<phrase>(?:it(?:'s| is) )?(?:settled|agreed|decided)){_DASH}(?P<content>.+)$",
        "settled agreed decided",
    ),
    rule("decision", rf"{_START}(?P<phrase>{_SETTLE})\s+(?P<content>.+)$", "settl standard agree stick go"),
    rule(
        "decision",
        rf"{_START}(?P<phrase>as (?:agreed|decided|settled)(?: (?:with|by|in|on) [^,]{{2,40}})?),\s+(?P<content>(?!here|"
        rf"attached|I\b|find).+)$",
        "agreed decided settled",
    ),
    rule("decision", rf"{_START}(?P<phrase>going with)\s+(?P<content>.+)$", "going"),
    rule("rule", rf"{_START}(?P<content>(?P<phrase>when(?:ever)? I (?:say|write|ask for|mention|type)) .+, .+)$", "when"),
    rule("remember", rf"^(?P<phrase>{LABEL}):\s+(?P<content>.+)$", ":"),
    rule("remember", rf"^(?P<phrase>{ANNOUNCED}):(?P<content>)\s*$", ":"),
    rule(
        "remember",
        rf"^(?:{_LEAD})*(?P<phrase>{FOR_LATER})(?:[\s,:—–-]+(?P<content>(?!so\b|when\b)\S.{{5,}})|(?P<end>)\W*)$",
        "future later record next",
    ),
    rule(
        "remember",
        rf"^(?:{_LEAD})*(?P<phrase>{NOTE_TO_YOU})(?P<content>)(?:\W*$|,? (?:since|because|as|for|so)\b.*$)",
        "note",
    ),
    rule(
        "rule",
        rf"{_START}(?P<phrase>{HOW_IT_IS})(?P<content>)\W*$",
        "rule policy convention standard practice default way how want like",
    ),
)
NOT_ENGLISH = phrases(
    r"\b(?:do|did|don'?t|didn'?t|doesn'?t|can'?t|cannot|couldn'?t) (?:you |\w+ )?remember\b",
    r"\b(?:I|I'll|they|he|she|who|nobody) (?:\w+ )?remember(?:s|ed)?\b",
    r"\bremember (?:me|when|how we|the time)\b",
    r"\b(?:if|as|as far as) (?:I|you|we) remember\b",
    r"\b(?:not|n't|never) (?:yet )?(?:been )?(?:decided|agreed|settled)\b",
    r"\bhave(?:n'?t| not) decided\b",
    r"\b(?:everything|what|all|whatever|anything) (?:that )?(?:we|they|I)(?:'ve| have)? (?:\w+ )?(?:decided|agreed|"
    r"settled)\b",
    r"\b(?:what|which|where|when|why|how|whether|if|who|until|unless) (?:we|they|I)(?:'ve| have)? (?:\w+ )?"
    r"(?:decided|agreed|settled)\b",
    r"\b(?:recall|remind me|never ?mind|on second thoughts?|scratch that)\b",
    r"\b(?:was|were) (?:\w+ )?(?:going|about|supposed|meant|planning) to (?:ask|tell|have|remind|let)\b",
    r"\bforget (?:the|an?|my|your|those|these) (?!.*\b(?:is|are|has|have|must|needs?|should|can|will|only|never|"
    r"always|don'?t|doesn'?t|"
    r"lives?|runs?|uses?|takes?|gets?)\b)",
    r"\b(?:I|we) (?:forgot|forget|can'?t remember|don'?t know) (?:what|which|why|who|how|where|when)\b",
    DONE_ONCE,
    r"\b(?:I (?:think|thought|guess|believe|suppose|assume)|iirc|apparently|supposedly|not sure|maybe|perhaps)\b[^.;]{0,20}"
    r"\b(?:decided|agreed|settled|chose|went with)\b",
    r"\b(?:no need|don'?t (?:need|have)|not necessary|needn'?t) (?:for you )?to (?:remember|note|memori[sz]e|save|keep)\b",
    r"^(?:suppose|imagine|assum(?:e|ing)|what if|hypothetically|say)\b.*\b(?:decided|agreed|settled|for good|from now on)\b",
    r"\b(?:before we decide|once we(?:'ve| have) decided|if we (?:decided|agreed))\b",
    r"\b(?:do(?:n'?t| not)|no need to|needn'?t|not (?:necessary|needed) to|without|rather not|never) (?:(?:sav|stor|keep|"
    r"record|log|not|writ|put|"
    r"commit)\w* [\w ]{0,20}?(?:or|and) )?(?:remember|memori[sz]|sav|stor|record|keep|not)(?:e|ing)? (?:this|that|it|"
    r"them|any of)\b",
    r"\b(?:claim(?:s|ed)|pretends?|insinuat\w+)\b.*\b(?:decided|agreed|settled|from now on|always|never)\b",
)
