"""Words in English that announce a statement to keep, or make a rule of one: labels, and sentences next to it. Pure."""

from omoide.learning.patterns import any_of

RULE = "(?:rule|policy|convention|guideline|practice)"
LABEL = (
    r"(?=[^:\n]{1,60}:\s)(?!https?:)(?!(?:please |can you |now )*(?:add|write|create|fix|update|change|rename|remove|"
    r"delete|check|"
    r"implement|insert|append|edit|extend|move|show|find|see|read|make (?:a|an|me|us) (?!\w*\s?note)|draw|draft|generate|"
    r"list|print)\b)(?![^:\n]*\b(?:that|this|it) as\b)[^:\n?]*?\b"
    + any_of(
        *(
            "remember",
            "in mind",
            "memory",
            "forget",
            "(?<!release )notes?(?! taking)",
            "reminder",
            "heads[- ]up",
            "for the record",
        ),
        *("agreed", "decided", "settled", "official", "decision", "takeaway", "agreement", "consensus", "preference"),
        *("settle", "for later", "for next time", "for (?:the )?future(?: \\w+)?", "lessons? learn(?:ed|t)"),
        *(f"new {RULE}", f"{RULE}(?= (?:of thumb|for|from|going|as of|here|is)\\b| ?:)"),
        "keep (?:in|for|around|track|handy|as)",
        "agree on",
        "(?:told|reminded) you|(?:said|mentioned) (?:it |this |that )?(?:before|again|already|earlier)",
        "(?:need|want|use) (?:this|that|it) (?:later|again|more often|a lot)|correction for",
        "(?:you to|that you) (?:always|never|keep|know|understand|be aware)(?: \\w+)?",
    )
    + r"\b[^:\n?]*"
)
"""A few words before a colon that say what follows: "one thing to remember: …"."""
DONE_ONCE = (
    r"(?:\b(?:decided?|agreed?) (?:nothing|to (?:take (?:a|the)|go (?:home|out|to)|call it|stop (?:here|for)|rest|sleep|"
    r"wait|"
    r"postpone (?:it|this|that|the decision|everything)|think|have (?:a|some|lunch|dinner|breakfast)|leave early|eat|grab|"
    r"get (?:some|a)|check|look|try|ask|see|"
    r"discuss|meet|talk|disagree|catch up|start with|do (?:it|this|that)))\b|\bI(?:'ve| have)? (?:\w+ )?decided to (?:re)?"
    r"(?:write|do|factor|build|start|fix|skip|add|remove|delete|finish|clean)\b|\bdecide[ds]? (?:later|tomorrow|next week|"
    r"on "
    r"(?:monday|tuesday|wednesday|thursday|friday))\b)"
)
"""A decision about what somebody does next."""
OBSERVE = any_of(
    "(?:please |pls |always |let'?s |do )*(?:stick to|keep to|adhere to|respect|honou?r|observe|follow|comply with|live by) "
    "(?:that|this|it|these|those|them)(?: (?:rules?|conventions?|style))?"
    "(?:,? (?:please|pls|always|too|everywhere|from (?:now|here) on|going forward|in (?:the )?future|at all times))*",
    "(?:please |pls )*(?:keep|leave) (?:it|that|this|them) (?:that way|like that|this way|like this)",
    "(?:please |pls )*(?:do|use|apply|keep|write|handle|treat) (?:that|this|it|these|those|them|so|"
    "the same)(?: like (?:that|this))?,? "
    "(?:from (?:now|here) on|going forward|in (?:the )?future|every time|each time|at all times|for good|everywhere|"
    "throughout|always)",
    "(?:and )?(?:that|this|it)(?:'s| is| goes) (?:now )?(?:(?:a|an|the|our) (?:\\w+ )?(?:rule|policy|convention|"
    "standard|default|must|deal|law|agreement|arrangement|way it is)|"
    "non[- ]negotiable|final|policy|for good|forever|for every \\w+)(?: (?:now|here|from now on|for us|going forward))?",
    "(?:that|this|it|the same) (?:goes|applies|holds|counts) (?:for|to) (?:every|all|any|each|the whole|both|"
    "everything|everywhere)[^.!?]{0,120}",
    "(?:the |this |that |my |our )?(?:decision|matter|choice|call)(?:'s| is) (?:final|made|settled|closed|"
    "done)[^.!?:]{0,80}",
)
"""The end of a statement, or a sentence after it, that makes it a rule."""
ANNOUNCED = (
    r"(?!(?:please |can you |now )*(?:add|write|create|fix|update|change|rename|remove|delete|implement|insert|append|"
    r"edit|generate|"
    r"draft|translate)\b)[^:\n?]{0,60}?\b"
    + any_of(
        *(
            "remember(?:ed)?",
            "in mind",
            "memory",
            "memori[sz]e",
            "forget",
            "for later",
            "for next time",
            "for (?:the )?future(?: \\w+)?",
        ),
        *(
            "(?:we|we've) (?:agreed|decided|settled)(?: on)?",
            "(?:ground|house|team|new|my|our) (?:rules|conventions|preferences|policies)",
        ),
    )
    + r"\b[^:\n?]{0,60}"
)
"""A line that ends with a colon and says that what follows is to be kept."""
FOR_LATER = any_of(
    "(?:just )?for (?:your |my |our )?(?:future|later) (?:reference|use|sessions?)",
    "for the record",
    "fyi,? for (?:later|the future|next time|future \\w+)",
    "(?:just )?so (?:that )?you know(?: it)?,? (?:for (?:the future|later|next time|future \\w+)|next time|in future)",
)
"""What says that a statement is told for later."""
NOTE_TO_YOU = "(?:a )?note to (?:self|myself|you|yourself)(?: and (?:to |for )?(?:self|me|myself|you|yourself|us))?"
HOW_IT_IS = any_of(
    "(?:that|this|it)(?:'s| is| was) (?:now |just |always )?(?:our|the|a|my|an?) (?:[\\w-]+ ){0,2}(?:rule|policy|"
    "convention|standard|practice|default)"
    " (?:for|in|on|from|across|everywhere|here|now|around|going)\\b[^.!?]{0,60}",
    "(?:that|this)(?:'s| is) (?:how|the way) (?:we|I) (?:do|want|like|handle|name|write) (?:it|things|this|that|"
    "them)?[^.!?]{0,40}",
    "(?:I|we)(?:'d)? (?:want|need|expect|like) (?:that|this|it|these|those) (?:to be )?(?:\\w+ )?(?:respected|followed|"
    "observed|applied|honou?red|"
    "done|kept|used|enforced)\\b[^.!?]{0,80}",
)
"""A sentence that makes a rule of the one before it."""
