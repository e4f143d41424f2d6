"""Words by which people say that they change the topic, in English and Japanese. Pure."""

import re

_HEAD = 200
"""Characters of a message in which a topic is changed: at its beginning."""
_OTHER = r"(?:another|different|separate|unrelated|other|new)"
_MATTER = r"(?:thing|topic|subject|question|issue|project|repo(?:sitory)?|matter|note|one|task|request|problem|app|codebase)"
_MOVE = "(?:chang(?:e|ing)|switch(?:ing)?|jump(?:ing)?|shift(?:ing)?|swap(?:ping)?|mov(?:e|ing))"
_ENGLISH = (
    r"btw|by the way|incidentally|meanwhile|anyway",
    rf"(?:(?:a|an|one|some|something|totally|completely|entirely|slightly|the|on|in|for|quick|next) )*{_OTHER} {_MATTER}s?",
    r"something (?:else|different|unrelated)|unrelated(?:ly)?|separately|off[- ]topic|elsewhere",
    rf"{_MOVE} (?:of |the |over |on )*(?:topics?|subjects?|gears|projects?|context|to|on|back)",
    r"(?:leaving|putting|parking|setting|let'?s (?:leave|park|pause)|enough (?:of|about)|forget|done with) (?:that|this|it)",
    r"on the [\w-]+ (?:side|front)|over (?:in|on|at) |back (?:to|on) |one more,? (?:other|for|on|in)|now (?:to|for|on) ",
)
_JAPANESE = (
    "別件|別の(?:話|件|プロジェクト|案件|リポジトリ|こと|質問|アプリ|ところ)|別(?:プロジェクト|案件)|別の方|他のプロジェクト",
    "話(?:は|が|を)?(?:変わ|かわ|変え|戻|逸れ|それ)|話題(?:は|が|を)?(?:変|移|戻)|(?:全然|全く|まったく|ちょっと)?(?:違う|別の)話",
    "ところで|それはそうと|それとは別|これとは別|そういえば|さて|ちなみに|一方で?|切り替え(?:て|ます)|それは(?:一旦|いったん)",
    "(?:それ|これ|そっち|こっち)は(?:後で|あとで|後回し|置いといて|置いておいて|さておき)",
)
_CHANGES = re.compile(
    rf"(?:^|[.!?。！？\n,、:：;—-]\s*)(?:(?:ok(?:ay)?|thanks|great|oh|and|also|so|well|hey|hm+|right|あと|では|じゃあ|それから)[\s,、.!]*)*"
    rf"(?:(?:{'|'.join(_ENGLISH)})\b|{'|'.join(_JAPANESE)})",
    re.I,
)


def changes_topic(message: str) -> bool:
    """Return whether a message begins by saying that it is about something else than before."""
    return _CHANGES.search(message[:_HEAD]) is not None
