"""Requests to remember in English that no fixed phrase covers, by their signals: an act, a mind or a time to come. Pure."""

import re

from omoide.learning.english_labels import DONE_ONCE
from omoide.learning.passages import TROUBLE, is_task
from omoide.learning.patterns import any_in_list, any_of, lazy_pattern, phrases
from omoide.learning.request_rule import ONE_OFF, Request
from omoide.learning.standing_clauses import COMPLAINT

_OPEN = (
    r"(?:^|[,;:—–(.]\s*|\b(?:and|so|but|please|pls|plz|just|also|kindly|now|then|always|to|you|should|must|could|can|"
    r"better|let'?s)\s+)"
)
_MIND_VERB = any_in_list("""
    stick(?:ing)?, put(?:ting)?, get(?:ting)?, burn, hammer, drill, keep(?:ing)?, kept, hold(?:ing)?, stor(?:e|ing|ed)
    sav(?:e|ing|ed), fil(?:e|ing), carry(?:ing)?, hang, lodge, etch, engrave, tuck, commit(?:ting)?, tak(?:e|ing), bring
    writ(?:e|ing), add(?:ing)?, log(?:ging)?, record(?:ing)?, pin(?:ning)?, stash, retain, preserve, have, bear, transfer
    jot(?:ting)?, include, lock, ingrain, update, drop, pop, leave, enter, copy, move, beat, knock, internali[sz]e
""")
_MIND_PLACE = any_of(
    r"your (?:[\w-]+ ){0,2}?(?:memor(?:y|ies)|mind|head|brain|notes?|notebook|records?|radar|heart|knowledge(?: base)?|"
    r"rules|instructions|skull)",
    r"(?:long[- ]term|permanent|persistent|project) memory|(?:in|into|to) yourself|to (?:memory|heart)|in mind|on (?:file|"
    r"record)|what you "
    r"know(?: about [\w ]{1,30})?",
    r"(?:every|each|all|any|future|coming|later|the next|next|further|other) (?:\w+ )?(?:sessions?|conversations?|chats?)",
    r"between (?:sessions|conversations|chats|runs)",
)
_POINTER = (
    "(?:this|that|it|both|these|those|them|all (?:of )?(?:this|that|it|these)|the (?:following|above)|"
    "(?:this|that) (?:one|fact|rule|detail|bit|info|point|thing|decision|convention))"
)
_INTO_MIND = lazy_pattern(
    rf"{_OPEN}(?P<phrase>{_MIND_VERB} (?:(?P<thing>{_POINTER}) )?(?:\w+ ){{0,4}}?{_MIND_PLACE})(?P<rest>.*)$", re.I | re.S
)
"""To get something into a mind, a memory or notes, or over to later sessions."""
_AWAY = lazy_pattern(
    rf"{_OPEN}(?P<phrase>(?:fil|stor|sav|tuck|squirrel|stash|lock|put|lodge)\w* {_POINTER} away)(?P<rest>.*)$",
    re.I | re.S,
)
_FOLLOWS = lazy_pattern(r"[^:.;?!]{0,40}?(?::|—|–|\s-)\s+(?P<content>\S.{5,})$|\s+that\s+(?P<clause>\S.{5,})$", re.S)
_LABELLED = lazy_pattern(
    rf"^(?:(?P<label>(?!https?:)[^:\n?—–→]{{3,90}}?)(?::|\s-+>?|\s*[—–→])|(?P<complaint>.{{0,20}}?\b{COMPLAINT}),)\s+"
    r"(?P<content>\S.{5,})$",
    re.I | re.S,
)
_LABEL_SAYS = phrases(
    rf"\b{COMPLAINT}|\bon (?:the )?record\b|\bon file\b|\b(?:habit|routine|second nature|reflex)\b|\bevery time after\b",
    r"\bfor (?:whoever|anyone|anybody|everyone|everybody|the next (?:person|one|dev\w*|reader|maintainer|shift))\b",
    r"\b(?:decision|choice|call|matter|verdict|vote|question) (?:is|was|has been|are) (?:now )?(?:made|final|settled|"
    r"taken|in)\b",
    r"\b(?:has|have|'ve|'s) (?:now |just |finally |all )?(?:ruled|spoken|voted|decided|signed off|agreed|approved)\b",
    r"^(?:and |so |for )*(?:the )?next time\b(?! (?:I|it|we|the)\b)|\bknown (?:fact|quirk|limitation|gotcha)\b",
    r"\b(?:good|useful|important|worth|essential) (?:to know|knowing|to be aware)\b|^(?:and |also |very |"
    r"super )*important$|^(?:quick |short )?memo\b",
    r"\blet'?s (?:all )?agree\b|\bdone (?:discussing|debating|arguing|talking)\b|\b(?:discussion|debate)(?:'s|"
    r" is)? (?:over|closed|settled)\b",
    r"^(?:(?:and|so|just|but)\s)*(?:one|a|my|another|the|only|first|golden|main) (?:\w+ )?(?:rule|principle|condition)\b",
    r"\b(?:final|last) (?:answer|word|call|decision|verdict)\b|\b(?:a|the|our|new) (?:deal|agreement|arrangement|"
    r"understanding|rule|policy|principle|"
    r"convention|guideline|standard|default)\b",
    r"\b(?:something|things?|facts?|stuff|info(?:rmation)?|what) (?:that )?(?:you|I(?:'?d| would)? (?:really )?(?:like|love|"
    r"want|need) you) (?:should|need|have|ought|must|may|to|might)\b",
    r"\byou can (?:always )?(?:rely|count|depend|bank) on (?:this|that|it)\b|\b(?:permanent(?:ly)?|forever|indefinitely)\b",
    r"\b(?:for|in|across|with|on) (?:all|any|every|each)(?: of)? (?:the |our |my |your )?(?:upcoming|future|coming|new|"
    r"later|next|further)?\b",
    r"\b(?:upcoming|future|coming) (?:\w+ )?(?:reports?|work|tasks?|sessions?|prs?|releases?|code|texts?|answers?|files?|"
    r"tests?|projects?)\b",
    r"\b(?:lessons?|learnings?|takeaways?|moral of the story)\b|\b(?:my|our|the (?:team|client|boss|customer)'?s?) "
    r"(?:preferences?|wish|stance|position|take|way)\b",
    r"\bapply (?:it|this|that) (?:everywhere|always|in all)\b|\bonce and for all\b|\bfor the last time\b|\bI (?:keep|"
    r"hate) (?:having to )?(?:say|tell|repeat)",
    r"\b(?:later|other|future|next|coming|new) (?:sessions?|conversations?|chats?)\b|\bfor the rest of (?:the|this|"
    r"our)\b|\bfor good\b",
    r"\b(?:so|that|before|lest) (?:that )?(?:it|this|that|we|you|I|nobody) (?:doesn'?t|don'?t|won'?t|never|forgets?|"
    r"loses?|gets?)\b[^:]{0,20}\b(?:lost|forget|forgotten|lose|again|forgets?)?",
    r"\b(?:tl;?dr|summary|outcome|result|upshot|conclusion|bottom line|decisions?|news|verdict)\b[^:]{0,12}\b(?:of|from|"
    r"after|in) (?:the|our|today'?s|yesterday'?s|this|last)\b[^:]{0,20}"
    r"(?:meeting|call|discussion|vote|retro|sync|stand-?up|workshop|chat|talk|planning|review)\b",
    r"\b(?:consider|treat|take|regard|see) (?:this|that|it|the following) (?:as )?(?:a|an|the|my|our)\b|\bstanding "
    r"(?:order|instruction|rule)\b",
    r"\b(?:whole|entire|complete) (?:project|repo|codebase|app|team|company)\b|\b(?:stays?|holds?|remains?|is always) "
    r"(?:true|valid)\b|\brule of thumb\b|\bnew rule\b",
    r"\b(?:in|for) (?:the )?future\b|\bfor posterity\b|\b(?:house|team|ground|our|my) (?:rules|conventions|standards)\b|"
    r"\b(?:will|might|may|going to) (?:come up|matter|be needed|happen|bite us) (?:again|later)\b",
    r"\bheads?[- ]?up\b.*\b(?:next|future|later|when(?:ever)?)\b",
)
_LABEL_OF_HABIT = phrases(
    rf"\b{COMPLAINT}|\b(?:habits?|routine|reflex|second nature|rules?|standing|always|every|next time)\b"
)
"""Words before a colon after which an order is one for good."""
_NO_LABEL = phrases(
    r"^(?:(?:please|pls|now|also|then|and|can you|could you|ok(?:ay)?|so)[\s,]+)*(?:add|write|create|fix|update|change|"
    r"rename|remove|delete|implement|"
    r"insert|append|edit|generate|draft|translate|print|show|list|explain|check|run|build|make a|summari[sz]e|compare|"
    r"give|find|use)\b",
    r"\b(?:error|warning|output|log|traceback|exception|question|problem|issue|bug|idea|option|proposal|todo|example|"
    r"e\.g|i\.e|says?|said|reads?|quote)\b",
)
"""Words before a colon that announce a task, a log or somebody else's words."""
_HEADS_UP = lazy_pattern(
    r"^(?:(?:and|so|just|a|quick|btw|also|oh|ok(?:ay)?)[\s,]+)*(?P<phrase>(?:heads?[- ]?up|fyi|note|reminder|for (?:your "
    r")?info(?:rmation)?)[^,:]{0,10}"
    r"(?:for|from) (?:next time|the next|later|the future|future|now on|"
    r"when(?:ever)?)[^,:]{0,40})[,:]\s+(?P<content>\S.{5,})$",
    re.I | re.S,
)
_UNTIL = phrases(
    r"\b(?:until|unless) (?:I|we) (?:say|tell you|decide|ask|change)\b[^,;]{0,20}",
    r"\b(?:(?:this |that |which )?(?:applies|holds|is valid|counts|effective)) (?:from|as of|starting|for) (?:today|now|"
    r"tomorrow|monday|all|every|everything|"
    r"here on)\b",
    r"\bwhatever (?:happens|you do|the reason)\b|\bregardless of\b|\bat all times\b|\bunder (?:any|no) circumstances?\b|"
    r"\bno matter what\b|\bfor as long as\b|\bonce and for all\b|\bwithout (?:any )?exceptions?\b",
    r"(?:,| -|—|–) (?:not )?ever\b[^,;]{0,12}$|\b(?:not|don'?t|do not|nothing|no)\b.{2,80}\bever again\b",
    r"\bin (?:every|all|any|each)(?: of the)?(?: new| future| single)? \w+(?: \w+)? (?:that )?(?:you|we) (?:write|make|"
    r"create|touch|send|do|open|add|change|edit|produce)\b",
    r"\b(?:in|for|on) (?:all|every|any) (?:new|future|upcoming|coming) \w+",
    r", (?:permanently|forever|for good|everywhere|every time|no exceptions|every single time)[.!]*$|\bfrom (?:this|the "
    r"next|next) \w+ on(?:wards?)?\b|^from (?:the )?(?:[\w.]+ ){0,2}?(?:issue|version|release|sprint|week|month|quarter|"
    r"year|season|term|semester|edition|\w+day|v?\d[\d.]*) on(?:wards?)?,? (?:we|please|all|every|no|only|use|always|"
    r"never)\b|\b(?:as from|with effect from) (?:next|the next|this|today|now|\w+day)\b",
)
"""Words that make an order or a statement one for good."""
_EACH_TIME = lazy_pattern(
    r"^(?:(?:and|so|also|please|ok(?:ay)?|but)[\s,]+)*(?:whenever|every ?time|each time|any ?time|as soon as|the moment|"
    r"if ever) (?!you(?:'re| are| have| like| want| feel)\b|(?:an?|the|some|any) (?:\w+ )?(?:user|customer|visitor|player|"
    r"request|event|"
    r"button|timer|sensor|packet|order|row|record|cell|enemy)s?\b)[^,]{3,90}, "
    r"(?!I\b|it(?:'s)? (?!has|must|should|needs)|we (?!must|have|need|should|always|never|use|do)|they\b|he\b|she\b|the "
    r"(?:app|page|server|build|test|program|screen|console|"
    r"browser|api)\b|there\b|this\b|that\b|nothing\b|something\b|why\b|what\b|how\b|can\b|could\b)\S",
    re.I,
)
"""What is to be done each time that something happens."""
_NO_MORE = phrases(
    r"^(?:(?:and|so|also|please|ok(?:ay)?|but|pls)[\s,]+)*no more (?!than\b|(?:questions?|time|errors?|warnings?|issues?|"
    r"bugs?|problems?|failures?|luck|ideas?)\b)[a-z`\ua000-\ua48c]\S*",
)
_NOBODY = phrases(
    r"(?<!^)\b(?:have|got|set|made|introduced|is|follow|established|there's|there is) (?:a|an|the|one|our|this) (?:[\w-]+ "
    r")?(?:rule|policy|convention|principle)\b(?! (?:to|about|for) (?:add|write|check|fix)).{10,}",
    r"\b(?:in|on|for|at|here in) (?:this|our|the) (?:repo(?:sitory)?|project|team|company|codebase|code base|office|shop|"
    r"lab|house)\b.*\b(?:nobody|no one|everyone|everybody|"
    r"we all|all of us|nothing|we (?:only|always|never|don'?t|do not))\b",
    r"\b(?:nobody|no one|everyone|everybody) (?:uses?|is allowed|may|must|can|should|touches|deploys|pushes|merges|"
    r"commits|edits|writes)\b.*\b(?:any ?more|from now|here|ever|"
    r"without|unless)\b",
)
_SETTLED = phrases(
    r"^(?:(?:so|and|ok(?:ay)?|alright|well|update)[\s,:]+)*+(?:after \w+(?: \w+){0,4},? )?(?:ended up|wound up|went|"
    r"going|decided|settled|chose|picked|opted|landed) (?:with|on|for|choosing|picking|using|going|against)\b",
    r"\b(?:I|we)(?:'ve| have) (?:just |now |finally )*(?:picked|chosen|selected|named|finali[sz]ed|registered|locked)(?! "
    r"up)\b",
    r"\b(?:decided|agreed|settled|concluded|resolved|voted|ruled|opted) (?:to|that|on|against|for|in favou?r|upon|"
    r"with\b.{2,30}\b(?:to|that))\b",
    r"\b(?:I'm|I am|we're|we are|we ?re|we r) (?:now |all |finally |officially |definitely )*(?:going (?:with|for)|"
    r"dropping|switching (?:over )?to|moving (?:\w+ )?(?:over )?to (?!the next)|sticking|"
    r"adopting|retiring|phasing out|getting rid of|done with|standardi[sz]ing|staying (?:with|on))\b",
    r"\b(?:we|I)(?:'ll| will) (?:stick|stay|go|keep) (?:with|to|on) \S.*\b(?:from|instead|not|rather|for good|for all|"
    r"going forward)\b",
    r"\b(?:we|I|they|the \w+|everyone)(?:'ve| have|'s| has)? (?:finally |just |now |all )*(?:made up (?:our|my|their|"
    r"its) minds?|made (?:the|a|our|my) (?:decision|call|choice)|"
    r"come to (?:a|an|the) (?:decision|conclusion|agreement)|reached (?:a|an) (?:decision|agreement|consensus|verdict)|"
    r"locked in|settled (?:the (?:matter|question|debate|issue|discussion|dispute)|this|that)|"
    r"(?:ditched|dropped|scrapped|killed|abandoned) .{2,60}\b(?:in favou?r of|for good|support|entirely|altogether)|"
    r"given up on)\b",
    r"\b(?<!as )(?<!what )(?<!that )\b[\w.+#-]+(?<!as)(?<!what) it is\b(?=[,.!;]|$| then| from)|\b(?:has|have) been "
    r"(?:decided|agreed|settled|signed off|approved)\b|\b(?:is|are) (?:now |officially )*(?:set in stone|a done deal|off "
    r"the "
    r"table|final)\b",
    r"\b(?:votes? are in|the vote (?:is|was|went)|(?:the )?team (?:has )?voted)\b|\bdebate\b.{0,30}\b(?:is over|settled|"
    r"closed|won)\b|\bwon the (?:vote|debate)\b",
)
_OPEN_MATTER = phrases(
    r"\b(?:might|maybe|perhaps|possibly|probably|would be|could|may|hopefully|hope|wish|suppose|imagine|if|whether|"
    r"unless|should we|not (?:yet )?(?:sure|decided|settled|agreed|final)|undecided|"
    r"hasn'?t|haven'?t|isn'?t (?:final|settled|decided)|used to|was going to|thinking|considering|wondering|proposal|"
    r"propose)\b",
    r"\b(?:everything|what|which|all|whatever) (?:that )?(?:we|they|I)(?:'ve| have)? (?:\w+ )?(?:decided|agreed|settled)\b",
    r"\b(?:previous|former|old|last|ex-?) (?:company|job|team|employer|place|boss|school|project)\b|\bback (?:then|when|"
    r"in)\b|\bat (?:google|hq)\b|\bother team",
    r"\b(?:he|she|they|somebody|someone|(?:the|that|another|other|some) (?:other )?(?:team|company|guys?|people|folks|"
    r"vendor|competitors?)(?: \w+)?) (?:just |have |has )?(?:says?|said|thinks?|claims?|wants?|decided|agreed)\b",
    r"\bagreed? on a time\b|\b(?:not|n't|never|yet to|nobody|no one)\b(?: \w+){0,2} (?:decided|agreed|settled)\b",
    DONE_ONCE,
    r"\b(?:competitors?|rivals?|vendor|landlord|neighbou?rs?|school|government|teacher|professor|colleague) (?:\w+ )?"
    r"(?:decided|agreed|announced|settled|switched|ruled)\b",
    r"\b(?:why|what|when|where|which|how|who|whether|once|until|before|unless) (?:we|they|the \w+|our \w+|you|I)(?:'ve| "
    r"have| has)? (?:\w+ )?(?:decided|agreed|settled|chose|opted|voted)\b",
    r"\b(?:I think|I thought|I believe|iirc|apparently|supposedly|didn'?t we|wasn'?t it)\b",
)
_ABOUT_AGENT = phrases(
    r"^(?:(?:and|so|also|please|pls|ok(?:ay)?|but|just)[\s,]+)*(?:don'?t|do not|never|no|always|stop|avoid|use|keep|"
    r"write)\b.{2,80}\b(?:(?:in|with|on|for) (?:anything|everything|whatever|all (?:the )?\w+|any "
    r"\w+|every \w+) (?:that )?you\b|(?:in|with) (?:your|any of your|all your|all of your) (?:answers|replies|responses|"
    r"messages|code|commits|explanations|summaries|output|texts?|emails?))",
    r"\bif you(?:'d|d| would| could)? (?:please )?(?:always|never|stopped|consistently)\b",
    r"^(?:you|u) (?:don'?t|do not|needn'?t|never) (?:need to|have to)\b.*\b(?:ask|check|confirm|permission)\b.*\b(?:all|"
    r"any|every|always|ever|future|again|any ?more)\b",
    r"\b(?:until|unless) (?:I|we) (?:say|tell you|decide|ask|change)\b.{0,20}\botherwise\b|\bI repeat\b.*\b(?:don'?t|do "
    r"not|never)\b|\b(?:don'?t|do not|never)\b.*\b(?:I repeat|I mean it)\b",
    r"^I (?:expect|want|need|like|require|prefer) (?!to\b|you to (?:look|check|fix|add|write|find)).{2,60}\b(?:with|in|"
    r"on|for|after|before|at) (?:every|each)\b",
    r"\bplease (?:get|do|have) (?:that|this|it) right in (?:the )?future\b",
)
"""How the agent is to answer and to work in general."""
_OF_PROGRAM = phrases(
    r"^(?:the |this |our |a |an |each |every |that )?(?:[\w./-]+ ){0,3}?(?:function|method|class|helper|endpoint|button|"
    r"form|page|modal|component|api|server|client|app|query|user|parser|"
    r"enemy|player|npc|dialog|menu|field|input|widget|handler|service|job|worker|script|cache|loop|test)s? (?:must|"
    r"should|shall|has to|have to|needs? to|always|never|will)\b",
    r"\b(?:returns?|throws?|renders?|displays?|validates?|swallows?|retries|raises?|clicks?|fires?)\b.*\b(?:always|never|"
    r"every time|each time)\b",
    r"\bmake it so\b|\bmake the\b",
)
"""What a program does: a feature, not a rule for the agent."""


_MISTAKE = phrases(
    r"\b(?:don'?t|do not|never|not)(?: ever)? \w+ (?:that|this|it|them|those|the same)(?: \w+){0,4} (?:again|any ?more)\b",
    r"\b(?:don'?t|do not|never)(?: ever)? (?:make|repeat) (?:that|this|the same) (?:mistake|error)\b",
    r"\b(?:make|be) sure (?:it|this|that) (?:sticks|stays|is remembered|gets remembered|doesn'?t get lost)\b",
    r"^(?:\w+,? ){0,2}(?:make|let) (?:it|this|that|that one) (?:stick|sink in|become a habit|a habit|your habit|"
    r"permanent)\b",
    r"^(?:so |and )?(?:that|this)(?:'s| is) (?:what|how|where|the one|the way) (?:we|I)(?:'re|'ll| will| are|'ve| have)? "
    r"(?:go(?:ing)?|stick(?:ing)?|us(?:e|ing)|do(?:ing)?|want|settled|"
    r"agreed|decided|land(?:ed)?|stay(?:ing)?|keep(?:ing)?)\b",
    r"\b(?:treat|take|consider|regard|see|view|count|think of) (?:this|that|it|these|those|them)(?: one)? (?:as )?(?:a |"
    r"an |the |my |our |now )?(?:[\w-]+ ){0,2}?(?:law|rules?|"
    r"instructions?|orders?|given|facts?|policy|defaults?|requirements?|settled|final|permanent|fixed|standard|decided|"
    r"done|gospel|binding|mandatory|"
    r"non-negotiable|official|agreed|commandment)\b",
)
"""A sentence that makes a rule of the statement before it."""
_ANNOUNCES = phrases(
    r"^(?:(?:and|so|ok(?:ay)?|but|oh|also|btw)[\s,]+)*(?:here(?:'s| is| are)|there(?:'s| is| are)|one|two|three|a few|"
    r"some|another|a)\b.{0,40}?(?:worth (?:remembering|noting|knowing|keeping)|"
    r"to (?:remember|keep in mind|note|know|memori[sz]e|(?:add|put|write|store|keep|save|stick)\b[^.!]{0,20}(?:notes?|"
    r"memory|mind|notebook|list))|(?:you|we) (?:should|must|need to) (?:know|remember|keep|note)|(?:rules?|conventions?|"
    r"preferences?) (?:of mine|for you|from me))[^:]{0,60}[.!]*$"
)
"""A sentence after which something to keep follows."""
_LISTS = phrases(
    r"\b(?:keep|remember|note|memori[sz]e|save|store|retain|hold|follow|respect|observe|obey|stick "
    r"to)\b.{0,20}\b(?:following|these|this|below|those)\b"
)
_FUTURE_CASES = lazy_pattern(
    r"^(?:(?:and|so|ok(?:ay)?|but|also|please)[\s,]+)*(?:for|in|on|with) (?:all |any |every )?(?:future|upcoming|coming|"
    r"subsequent|later|further) (?!readers?|reference|use|maintainers?|developers?|me\b)[\w-]+(?: [\w-]+)?,\s+\S",
    re.I,
)


def find_signals(sentence: str) -> Request | None:
    """Return the request of an English sentence that is no question, or None. The rules with fixed phrases go first."""
    if _MISTAKE.search(sentence) and not _OPEN_MATTER.search(sentence):
        return Request(sentence, "rule", sentence, points=True)
    act = find_memory_act(sentence)
    if act is not None:
        return act
    purpose = _SO_YOU_KNOW.match(sentence)
    if purpose:
        return Request(purpose["content"] or "", "remember", purpose["phrase"], points=not purpose["content"])
    if _ANNOUNCES.match(sentence):
        return Request("", "remember", sentence)
    return _into_mind(sentence) or _find_labelled(sentence) or _standing(sentence) or _find_agreement(sentence)


_MEMORY_ACT = lazy_pattern(
    r"\b(?:(?:please|pls|plz|you|and|so|do|you must|you should|just|also|always|kindly|better|try to|you to|counting on "
    r"you to|trust you to|hope you(?:'ll| will)?|(?:can|could|would|will) you(?: please)?)\s+|^|[,;:]\s*)"
    r"(?P<phrase>remember|rember|remeber|memori[sz]e|(?:don'?t|do not|never|not) (?:ever )?forget|keep (?:in mind|track "
    r"of)|bear in mind|keep a note of|make a note of|take note of)"
    r"(?P<fact> (?:the fact )?that| about| of(?: the fact)?(?: that)?|:| —| –| -)?(?P<rest>.*)$",
    re.I | re.S,
)
_NO_MEMORY = phrases(
    r"\b(?:I|he|she|they|who|nobody|make|let|lets|have|has|users?|app|page|browser|git|form|it|that|which|how|can'?t|"
    r"cannot|couldn'?t|didn'?t|don'?t|doesn'?t|won'?t|never|need to|needs to|no need to|"
    r"without|able to|want to|wants to|trying to|hard to|easy to|reason to|time to|used to|like to|as (?:I|you|we)|if "
    r"(?:I|you|we)) (?:\w+ )?(?:remember|memori[sz]e)\b",
    r"\bremember (?:me|when|how|the time|to|last|login|my (?:choice|login|password|device)|password|device|state|"
    r"position|selection)\b|\bremember\w*\(",
    r"\b(?:does|do|did) (?:you|it|he|she|they|we|anyone|anybody)\b",
    r"\bforget to\b|\bforget (?:about|the|what|it[,.])",
    r"\btrack of (?:time|which|who|how|what|where|whether|the (?:number|count|state|progress|time|position))",
)
"""Remembering by somebody else, or by a program, or in a question."""


def find_memory_act(sentence: str) -> Request | None:
    """Return the request of a sentence with a verb of remembering that nobody but the agent can be meant with, or None."""
    match = _MEMORY_ACT.search(sentence)
    if match is None or _NO_MEMORY.search(sentence):
        return None
    rest = match["rest"].strip(" .,!?;:—–-")
    before = _CONNECTIVE.sub("", sentence[: match.start("phrase")].rstrip(" ,;:—–-(."))
    if match["fact"] and len(rest.split()) >= _LEAST_STATEMENT - 1:
        return Request(rest, "remember", match["phrase"])
    if len(before.split()) >= _LEAST_STATEMENT + 2 and not _ADDRESSES.match(before) and not is_task(before):
        return Request(before, "remember", match["phrase"])
    return Request("" if is_task(rest) else rest, "remember", match["phrase"], points=True)


_SO_YOU_KNOW = lazy_pattern(
    r"^(?:(?P<content>.{12,}?)[\s,;—–(-]+)?(?P<phrase>(?:just )?so (?:that )?(?:you|we)(?:'ll| will)? (?:have|know|"
    r"remember|don'?t forget|don'?t (?:have to )?ask|can|won'?t|needn'?t)\b.{0,30}?\b"
    r"(?:next time|later|in (?:the )?future|again|for later|from now on|another time))\b.{0,20}$",
    re.I,
)
"""A statement, and that it is told for later."""


def _into_mind(sentence: str) -> Request | None:
    match = _INTO_MIND.search(sentence) or _AWAY.search(sentence)
    if match is None or _NEGATED.search(sentence[: match.start("phrase")]):
        return None
    follows = _FOLLOWS.match(match["rest"])
    if follows:
        return Request(follows["content"] or follows["clause"], "remember", match["phrase"])
    before = sentence[: match.start("phrase")].rstrip(" ,;:—–-(.")
    before = _CONNECTIVE.sub("", before)
    if len(before.split()) >= _LEAST_STATEMENT and not is_task(before) and not _ADDRESSES.match(before):
        return Request(before, "remember", match["phrase"])
    return (
        Request("", "remember", match["phrase"], points=True)
        if match.groupdict().get("thing") or match.re is _AWAY
        else None
    )


_NEGATED = lazy_pattern(
    r"\b(?:don'?t|do not|never|not|no need to|needn'?t|without|can'?t|cannot|won'?t|it|they|users?)\s+(?:\w+ )?$", re.I
)
_CONNECTIVE = lazy_pattern(
    r"(?:[\s,]+(?:and|so|but|please|pls|also|just|you can|can you|could you|to|you|should|must|"
    r"I'd like you to|I want you to))+$",
    re.I,
)
_ADDRESSES = phrases(
    r"I'?d be|I would be|please|(?:can|could|would|will) you|(?:I'?d|I would) (?:like|love|appreciate)|"
    r"I (?:want|need)|it (?:would|'d)|one thing|something|would"
)
_LEAST_STATEMENT = 4
"""Words of a statement before a request to save."""


def _find_labelled(sentence: str) -> Request | None:
    match = _HEADS_UP.match(sentence)
    if match:
        return Request(match["content"], "remember", match["phrase"])
    if sentence.rstrip().endswith(":"):
        is_announced = not _NO_LABEL.search(sentence) and (_LISTS.search(sentence) or _LABEL_SAYS.search(sentence))
        return Request("", "remember", sentence) if is_announced else None
    match = _LABELLED.match(sentence)
    label = (match["label"] or match["complaint"]) if match else ""
    is_label = bool(_LABEL_SAYS.search(label)) and not _NO_LABEL.search(label)
    if match is None or not (match["complaint"] or is_label):
        return None
    is_errand = (is_task(match["content"]) or TROUBLE.search(match["content"])) and not _LABEL_OF_HABIT.search(label)
    return None if is_errand else Request(sentence, "rule", label)


def _standing(sentence: str) -> Request | None:
    general = _ABOUT_AGENT.search(sentence)
    if general:
        return Request(sentence, "rule", general[0])
    if _OPEN_MATTER.search(sentence) or ONE_OFF.search(_UNTIL.sub("", sentence)) or _OF_PROGRAM.search(sentence):
        return None
    for pattern in (_UNTIL, _FUTURE_CASES, _EACH_TIME, _NO_MORE, _NOBODY):
        match = pattern.search(sentence)
        if match:
            is_short = len(sentence.split()) < _LEAST_STATEMENT + 2 and pattern is _UNTIL
            return Request(sentence, "rule", match[0], points=is_short)
    return None


def _find_agreement(sentence: str) -> Request | None:
    match = _SETTLED.search(sentence)
    if match is None or _OPEN_MATTER.search(sentence) or is_task(sentence):
        return None
    return Request(sentence, "decision", match[0])
