"""Words by which people say that they change the topic, in English and Japanese. Pure."""

import re

from omoide.compiled_patterns import load_pattern

_HEAD = 200
"""Characters of a message in which a topic is changed: at its beginning."""
_OTHER = r"(?:another|different|separate|unrelated|other|new(?= (?:topic|subject|question|issue|thing)))"
_MATTER = (
    r"(?:thing|topic|subject|question|issue|project|repo(?:sitory)?|matter|note|one|task|request|problem|app|codebase|"
    r"shop|store|site|client|customer|service|tool|product|system|team)"
)
_MOVE = "(?:changing|switching|jumping|shifting|swapping|moving|let'?s (?:change|switch|jump|shift|swap|move))"
_QUITE = "totally|completely|entirely|slightly"
_ENGLISH = (
    r"btw|by the way|incidentally|meanwhile|anyway",
    rf"(?:(?:a|an|one|some|something|{_QUITE}|the|on|in|for|quick|next) )*{_OTHER} (?:[\w-]+ )?{_MATTER}s?",
    r"something (?:else|different|unrelated)|unrelated(?:ly)?|separately|off[- ]topic|elsewhere",
    rf"{_MOVE} (?:of |the |over |on )*(?:topics?|subjects?|gears|projects?|context|to|on|back)",
    r"(?:leaving|putting|parking|setting|let'?s (?:leave|park|pause)|enough (?:of|about)) (?:that|this|it)",
    r"(?:forget|done with|hold) (?:that|this|it)",
    r"before I forget|while (?:I'?m|you'?re|we'?re) at it|not about this|totally different",
    r"on the [\w-]+ (?:side|front)|over (?:in|on|at) |one more,? (?:other|for|on|in)|now (?:to|for|on) ",
    r"back (?:to|on) (?!(?:the |an? )?(?:previous|old|original|last|default))",
)
_JAPANESE = (
    "別件|別の(?:話|件|プロジェクト|案件|リポジトリ|こと|質問|アプリ|ところ)|別(?:プロジェクト|案件)|別の方|他のプロジェクト",
    "話(?:は|が|を)?(?:変わ|かわ|変え|戻|逸れ|それ)|話題(?:は|が|を)?(?:変|移|戻)|(?:全然|全く|まったく|ちょっと)?(?:違う|別の)話",
    "ところで|それはそうと|それとは別|これとは別|そういえば|さて|ちなみに|一方で?|切り替え(?:て|ます)|それは(?:一旦|いったん)",
    "(?:それ|これ|そっち|こっち)は(?:後で|あとで|後回し|置いといて|置いておいて|さておき)",
)
_ANYWHERE = (
    r"\b(?:in|for|about|on) (?:an? |the |my |our )?(?:different|another|other|separate) (?:project|repo|codebase)\b",
    r"\babout something else\b|\b(?:nothing|not) to do with (?:this|that|the above)\b",
    "別件|関係(?:の|が)?な(?:い|く)(?:話|件|の|です|ん)|別(?:の)?プロジェクト|(?:この件|その件|それ|これ)は?(?:一旦|いったん)?(?:置い|おい)て",
)
"""What needs no beginning of a sentence before it."""
_LEAD = (
    r"ok(?:ay)?|thanks|great|oh|and|also|so|well|hey|hm+|(?:all )?right|alright|now|actually|wait|sorry|please|perfect",
    "cool|nice|fine|(?:all )?good|すみません|すいません|ごめん|了解(?:です)?|はい|ありがとう(?:ございます)?|急ぎの?",
    "ちょっと|あと|では|じゃあ|それから",
)
"""What people say before they say that they change the topic."""
_CHANGES = load_pattern(
    rf"(?:^|[.!?。！？\n,、:：;—-]\s*)(?:(?:{'|'.join(_LEAD)})[\s,、.!]*)*"
    rf"(?:(?:{'|'.join(_ENGLISH)})\b|{'|'.join(_JAPANESE)})|{'|'.join(_ANYWHERE)}",
    re.I,
)


def changes_topic(message: str) -> bool:
    """Return whether a message begins by saying that it is about something else than before."""
    return _CHANGES.search(message[:_HEAD]) is not None
