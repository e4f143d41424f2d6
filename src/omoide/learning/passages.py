"""The sentences of a message that belong together: statements next to each other, without tasks and small talk. Pure."""

from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from omoide.compiled_patterns import load_pattern
from omoide.learning.patterns import any_in_list, phrases
from omoide.learning.sentences import is_question, split_sentences

_MOST_BEFORE, _MOST_AFTER = 3, 2
"""Sentences before and after a request that may belong to it."""
_MOST_ITEMS = 8
"""Lines of a list that follows "remember these:"."""
_LONGEST = 500
"""Characters of what is kept of the sentences on one side of a request."""

_ITEM = load_pattern(r"^\s*(?:[-*+]\s+|[•・●◦‣]\s*|\(?\d{1,3}[.)]\s+|[①-⑳]\s*)")
_TASK_VERB = any_in_list("""
    fix, add, write(?! down), run, re-?run, check, update, remove, delete, rename, look, show, explain, make, create
    implement, refactor, change, move, deploy, review, test, commit, push, merge, open, find, bump, build, set, generate
    draft
    tidy, clean, sketch, wire, port, migrate, convert, extract, split, replace, rewrite, investigate, debug, see, give
    tell, list, summari[sz]e, translate, print, put, start, continue, finish, help, figure, get, try, revert, roll
    install, upgrade, publish, ship, format, lint, document, hook, extend, adjust, tweak, sort, parse, render, style
    draw, plot, compute, calculate, compare, analy[sz]e, profile, benchmark, measure, optimi[sz]e, mock, stub, cover
    reproduce, trace, read, scan, search, grep, scaffold, design, propose, suggest, proofread, shorten, patch, bisect
    insert, append, edit, connect, prepare, regenerate, restart, rebuild, redo, finali[sz]e, pull, squash, rebase, track down
    turn, switch, send, pick up, go (?:ahead|through), come up, dig, work on, take (?:a look|care|another)
    have a (?:look|go)
""")
"""What one asks an agent to do once; verbs of rules, such as use, keep and avoid, are none of them."""
_TASK_LEAD = (
    r"(?:(?:now|then|ok(?:ay)?|so|and|also|next|anyways?|please|pls|plz|btw|oh|right|first|meanwhile|for now|after that|"
    r"with (?:that|this)[^,]{0,20}|that said|when (?:you're|that's|it's) done|otherwise|but|alright|cool|thanks|back "
    r"to[^,:]{1,30}|"
    r"as for[^,:]{1,30}|just|quickly|in the meantime|for today|today|could you|can you)[\s,:;.!—–-]+)*"
)
_TASK = phrases(
    rf"^{_TASK_LEAD}(?:(?:can|could|would|will) (?:you|we)\b|(?:I(?:'d| would)? (?:need|want|like) you to|help me|we "
    rf"need to|"
    rf"go ahead and|let'?s|your (?:job|task)|(?:the |today's )?(?:task|todo)\b:?) )?{_TASK_VERB}\b(?!\s*[:,]|ing\b|s\b)",
    rf"^{_TASK_LEAD}(?:can|could|would|will) (?:you|we)\b",
    "(?:(?:(?<![いるただのん])っ|[いきぎしじちりえけげせてでねべめれみびにせ来見得出着寝似])て|"
    "(?<![たなるい])[んい]で)(?:ください|下さい|"
    "ほしい(?:です|んだ[^。]{0,4})?|欲しい(?:です)?|くれ(?:る|ます|へん|ん)?|もらえ(?:る|ます|ん)?|もらって[^。]{0,8}|"
    "おいて|"
    "いただけ(?:ます|ると[^。]{0,8})|ちょうだい|頂戴|や|な)?[かねよなやわ〜～ー。！!]*$",
    "(?<!覚え)(?<!忘れん)(?:と|ど)いて(?:ください|ほしい|くれ(?:る|ます)?|もらえ(?:る|ます)?)?[かねよなや〜～ー。！!]*$",
    "(?:(?:を|も|の(?:件|方|ほう)|作業|修正|対応|レビュー|確認|実装|調査)[^、。]{0,6})(?:お願い(?:します|いたします|"
    "できますか?)?|頼(?:む|みます|んます)|"
    "よろしく[^。]{0,8}|よろ)[ねよわで。！!]*$",
)
"""An order for this time: the end of what a request may be about."""
_SMALL_TALK = phrases(
    r"^(?:ok(?:ay)?|thanks|thank you|thx|great|nice|cool|perfect|hi|hello|hey|good|sorry|done|yes|right|sure|lol|haha)\b"
    r"[^,:;]{0,30}$",
    r"^no(?:pe|t)?\b[^,:;]{0,10}$",
    "(?:ありがとう|お疲れ|おつかれ|すみません|了解|おはよう|こんにちは|よろしく)[^、はが]{0,14}$",
    r"^(?:no rush|not urgent|no hurry|whenever you have time|take your time)\b",
    "(?:急ぎ|急が)(?:ません|ない|なくて|んで)[^、はが]{0,10}$",
    "(?:一点|ひとつ|一つ)だけ[^、はが]{0,6}$",
    "(?:書い|言っ|残し|伝え)(?:て(?:おく|おきます)|とく|ときます)[^、。]{0,6}[。！!]*$",
)
"""A greeting, thanks, or a sentence that something will be said."""
_OTHER_TOPIC = phrases(
    r"^(?:now|anyway|anyways|meanwhile|next|back to|as for|separately|unrelated|on another note|different (?:topic|"
    r"question)|"
    r"with (?:that|this)|that said|right now|currently|at the moment|for today|other(?:wise)? (?:question|than that)|"
    r"also|oh and|then)\b",
    "^(?:で、|では|じゃ|それでは|さて|ところで|それはそうと|それはさておき|それとは別|別件|ほんで|そんで|そのうえで|"
    "その上で|ちなみに|"
    "話(?:は|が)?(?:変わ|かわ)|本題|今日は|今は|今日やる|ついでに|とりあえず|あと[、は]|なお)",
)
"""The beginning of a sentence about something else."""
TROUBLE = phrases(
    r"\b(?:fails?|failing|failed|crash(?:es|ed|ing)?|broken|hangs?|throws?|stack ?trace|traceback|error:|segfault|"
    r"doesn'?t work|"
    r"trips? over|is (?:off|wrong) (?:now|again))\b",
    "(?:落ち(?:る|ます|てい?る)|動か(?:ない|ん|へん)|エラー(?:に|が|で)|失敗(?:する|し(?:ます|てい?る))|バグ(?:って|が)|"
    "おかしい)",
)
"""What is wrong at the moment: mostly the task."""


_SHORT, _SHORT_JA = 7, 18
"""Words and characters of a statement that may say little by itself."""
_KANA = load_pattern("[ぁ-ゖァ-ヺ]")
_LEANS = phrases(
    r"^(?:so|because|but|and|also|plus|since)\b",
    r"\b(?:this|that|it|they|them|those|these)(?:'s|'re|'ll|'d)?\b(?! (?:the|we|our|my|no|all)\b)",
)
_LEANS_JA = phrases("^(?:なので|だから|ですから|でも|しかも|それ|これ|その|この|そこ|あそこ|ただ|そして|また|だって)")
_TOPIC_JA = phrases("[はが]|なんだけど|の件|、")


class Sentence(NamedTuple):
    """A sentence of a message, and where it stands."""

    text: str
    paragraph: int
    """Number of the paragraph; an empty line ends one."""
    is_item: bool
    """Whether its line is one of a list."""


def split_message(text: str) -> list[Sentence]:
    """Return the sentences of a message with their paragraphs. Code blocks and quoted lines must be left out before."""
    sentences = []
    paragraph = 0
    for line in text.split("\n"):
        if not line.strip():
            paragraph += 1
            continue
        item = _ITEM.match(line)
        parts = split_sentences(line[item.end() :] if item else line)
        sentences += [Sentence(part, paragraph, item is not None) for part in parts]
    return sentences


def is_task(sentence: str) -> bool:
    """Whether a sentence is an order for this time."""
    return bool(_TASK.search(sentence))


def states_something(sentence: str) -> bool:
    """Whether a sentence is a statement: no question, task, greeting or announcement."""
    return not (is_question(sentence) or is_task(sentence) or _SMALL_TALK.search(sentence))


def list_after(sentences: Sequence[Sentence], place: int) -> list[int]:
    """Return the places of what a sentence announces: the list after it, else the rest of its paragraph or the next one."""
    places = range(place + 1, min(len(sentences), place + 1 + _MOST_ITEMS))
    if not places:
        return []
    if sentences[places[0]].is_item:
        return list(takewhile(lambda at: sentences[at].is_item, places))
    first = sentences[places[0]].paragraph
    return list(takewhile(lambda at: sentences[at].paragraph == first and not is_task(sentences[at].text), places))


def statements_before(sentences: Sequence[Sentence], place: int, enough: int = 2) -> list[int]:
    """Return the places of the statements before a sentence that belong together, in order.

    There are `enough` of them, and more where the first one says little without the one before it.
    """
    found: list[int] = []
    size = 0
    for at in range(place - 1, -1, -1):
        sentence = sentences[at]
        size += len(sentence.text)
        is_near = not found or sentence.paragraph == sentences[found[-1]].paragraph
        if not is_near or not states_something(sentence.text) or (found and size > _LONGEST):
            break
        found.append(at)
        is_enough = len(found) >= enough and not sentence.is_item and not leans_back(sentence.text)
        if is_enough or len(found) >= _MOST_BEFORE or _OTHER_TOPIC.match(sentence.text):
            break
    return found[::-1]


def leans_back(sentence: str) -> bool:
    """Whether a statement says little without the one before it: it is short, or points to it, or has no topic."""
    if _KANA.search(sentence):
        return len(sentence) <= _SHORT_JA or bool(_LEANS_JA.match(sentence)) or not _TOPIC_JA.search(sentence)
    return len(sentence.split()) <= _SHORT or bool(_LEANS.search(sentence))


def statements_after(sentences: Sequence[Sentence], place: int) -> list[int]:
    """Return the places of the statements after a sentence, in its paragraph, that go on with what it says."""
    places = range(place + 1, min(len(sentences), place + 1 + _MOST_AFTER))
    here = sentences[place]

    def goes_on(at: int) -> bool:
        text = sentences[at].text
        is_here = sentences[at].paragraph == here.paragraph and sentences[at].is_item == here.is_item
        is_other = _OTHER_TOPIC.match(text) or TROUBLE.search(text)
        return is_here and len(text) <= _LONGEST // 2 and states_something(text) and not is_other

    return list(takewhile(goes_on, places))
