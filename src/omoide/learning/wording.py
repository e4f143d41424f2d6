"""Compare what texts say by their words: how much of one is in another, and whether they contradict each other. Pure."""

import re
from collections.abc import Iterable

from omoide.compiled_patterns import load_pattern

Wording = set[int]
"""The runs of three words of a text, or of characters where it is Japanese, as hashes: small, and only for comparing."""
_RUN = 3
_UNIT = load_pattern(r"[a-z0-9_]+|[\u3040-\u30ff\u3400-\u9fff]")


def wording(text: str) -> Wording:
    """Return the wording of a text, for comparing it with that of another."""
    words = _UNIT.findall(text.lower())
    return {hash(tuple(words[place : place + _RUN])) for place in range(len(words) - _RUN + 1)} or {hash(tuple(words))}


def share_of(part: str, whole: Wording) -> float:
    """Return which share of the wording of a text occurs in another one."""
    own = wording(part)
    return len(own & whole) / len(own)


_LETTER = r"a-z0-9_\u00c0-\u024f"
_WORD = load_pattern(
    rf"[{_LETTER}$@](?:[{_LETTER}.+:/$@#*'’-]*[{_LETTER}$*#+])?|[\u30a0-\u30ff]{{2,}}|[\u3400-\u9fff々]+", re.I
)
_FUNCTION_WORDS = frozenset(
    re.findall(
        r"\S+",
        """
    a an the this that these those it its they them their he she we our us you your i me my one ones there here is
    are was were be been being am do does did done have has had having will would can could should shall may might
    must not no nor and or but if then than so as at by for from in into of off on onto out over to up with without
    about after before again all any each every some such only just also too very more most much many own same other
    another what which who whom whose when where why how because since while until though although please pls always
    never now yes ok okay nope well oh ah hm let lets let's don't dont doesn't doesnt isn't isnt won't can't cannot
    didn't hasn't haven't wouldn't shouldn't couldn't wasn't weren't aren't you're you'd you've you'll they're they've they'd
    i'm i'd i'll i've we're we've we'll we'd thats thing things way get got make made go going use uses used
    using instead rather like want need needs keep decide decided agree agreed remember remembered note noted said
    told known
""",
    )
)


def content_words(text: str) -> frozenset[str]:
    """Return the words of a text that say what it is about, folded; without function words and endings."""
    words = (word.lower().replace("’", "'").removesuffix("'s") for word in _WORD.findall(text))
    return frozenset(_stem(word) for word in words if word not in _FUNCTION_WORDS)


def _stem(word: str) -> str:
    if not word.isascii() or not word.isalpha() or len(word) <= 4:
        return word
    for ending in ("ing", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


_NEGATION = load_pattern(
    r"\b(?:not|no|never|without|stop|avoid|cannot|nothing|none)\b|n'?t\b"
    "|ない|ません|なし|禁止|やめ|ず[、に。]|不要|不可",
    re.I,
)


def is_negative(text: str) -> bool:
    """Whether a text says that something is not so, or not to be done."""
    return bool(_NEGATION.search(text))


def substitutes(new: str, old: str) -> bool:
    """Whether a text puts something else in the place of what a similar one says, or denies it.

    One that only says more, or less, does not.
    """
    ours, theirs = content_words(new), content_words(old)
    added, gone = ours - theirs, theirs - ours
    return bool(added and gone) or (is_negative(new) != is_negative(old) and not gone)


_USES = load_pattern(r"\b(?:use|uses|using|prefer)\b|を?使", re.I)


def takes_place_of(new: str, old: str) -> bool:
    """Whether only one of two similar statements can hold: they name another number or another thing to use, or one denies
    the other.

    "Run the linter before a push" and "Run the tests before a push" hold both, and so do "tool2 for step 2" and "tool3 for
    step 3": where two things differ, the statements are about different things.
    """
    ours, theirs = content_words(new), content_words(old)
    added, gone = ours - theirs, theirs - ours
    if len(added) > 1 or len(gone) > 1:
        return False
    if added and gone and all(any(map(str.isdigit, word)) for word in added | gone):
        return True
    return bool(_USES.search(new) and _USES.search(old)) or is_negative(new) != is_negative(old)


def is_covered(text: str, known: Iterable[frozenset[str]], share: float) -> bool:
    """Whether this share of the words of a text occurs in one of the known texts, given by their content words."""
    own = content_words(text)
    return bool(own) and any(len(own & each) / len(own) >= share for each in known)
