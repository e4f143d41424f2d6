"""What an agent said and did, read once and compared with many memories. Pure."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from itertools import pairwise

from omoide.compiled_patterns import load_pattern
from omoide.learning.sentences import split_sentences
from omoide.learning.wording import Wording, wording
from omoide.lifecycle import alternatives, concepts
from omoide.retrieval import analyzer

NAME_WEIGHT, _LOANWORD_WEIGHT, WORD_WEIGHT = 3.0, 1.5, 1.0
_LONG_WEIGHT, _SHORT_WEIGHT = 1.5, 0.6
_LONG_NUMBER = 3
"""Digits of a number that is as good as a name: shorter ones occur by chance."""
_MOST_READ = 100_000
"""Characters of each text that are read, from its end: a transcript may be long."""
_MOST_FILES = 100
_MOST_OF_A_SENTENCE = 1_000
_MOST_STATEMENTS = 400
"""Sentences and lines of the agent that a memory is compared with one by one, from the last one."""

_NAME = load_pattern(
    r"(?<![\w@~-])[A-Za-z_@~.#]?[\w@~-]*(?:[./_:-]\w[\w@*-]*)+|#\w[\w-]*"
    r"|\b(?:[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|[A-Z]{2,}\b|\w*\d\w*)",
    re.ASCII,
)
"""A path, an identifier, an abbreviation, a channel, a version, a number."""
_LATIN_NAME = load_pattern(rf"{_NAME.pattern}|[A-Za-z]{{3,}}", re.ASCII)
_PROGRAM = load_pattern(r"(?:^|[;&|] *)(?:sudo +)?([\w.-]+)", re.M)
_EVERYDAY_PROGRAMS = frozenset(
    [
        *(
            "git",
            "ls",
            "cat",
            "cd",
            "echo",
            "grep",
            "rg",
            "find",
            "sed",
            "awk",
            "head",
            "tail",
            "wc",
            "mkdir",
            "cp",
            "mv",
            "rm",
        ),
        *(
            "for",
            "do",
            "done",
            "if",
            "then",
            "fi",
            "while",
            "bash",
            "sh",
            "python",
            "python3",
            "node",
            "npx",
            "curl",
            "diff",
        ),
    ]
)
_CODE = load_pattern(r"`([^`\n]{2,80})`")
_KANA = load_pattern("[ぁ-ゖ]")
_KATAKANA = load_pattern("[ァ-ヺー]{3,}")
_IDEOGRAPHS = load_pattern("[一-鿿々]{2,}|[ァ-ヺー]{2,}")
_DENIED = load_pattern(
    r"\b(?:not|never|nothing|no longer|instead of|rather than|without|avoid\w*|remov\w+|replac\w+|drop\w*)\b"
    r"|\b(?:switch|migrat)\w* from\b|n't\b|ではなく|じゃなく|代わりに|使わ|使用しな|禁止|やめ|削除し|置き換え|廃止"
    "|避け|せず|ていません|ていない|無効|除外|含めず",
    re.I,
)
_DIGIT = load_pattern(r"\d")
GRAMMAR = frozenset(
    [
        *("a", "an", "the", "and", "or", "as", "at", "by", "for", "from", "if", "in", "is", "are", "was", "of", "on", "so"),
        *("that", "then", "than", "to", "until", "when", "with", "but", "after", "before", "within", "about", "over"),
        *("under", "up", "down", "only", "just", "now", "every", "each", "per"),
    ]
)
"""Words that are no names by themselves."""


class AgentWork:
    """What happened after memories were injected. It is read once, for all of them."""

    def __init__(self, prompt: str, answer: str, changes: str = "", commands: str = "", files: Sequence[str] = ()):
        """`prompt`: what the person said: what stands there already is no use of a memory. `answer`: what the agent said.
        `changes`: the lines that it added. `commands`: the commands that it ran, one a line. `files`: the paths of the files
        that it changed."""
        texts = (prompt, answer, changes, commands)
        self.prompt, self.answer, self.changes, self.commands = (text[-_MOST_READ:] for text in texts)
        self.files = files[:_MOST_FILES]
        self.done = "\n".join([self.answer, self.commands, *self.files, self.changes])

    @cached_property
    def _prompt_terms(self) -> "TextTerms":
        return TextTerms(self.prompt)

    @cached_property
    def _work_terms(self) -> "TextTerms":
        return TextTerms(self.done)

    @property
    def asked_terms(self) -> dict[str, float]:
        """The terms of the prompt."""
        return self._prompt_terms.telling

    @property
    def done_terms(self) -> dict[str, float]:
        """The terms of everything that the agent said and did."""
        return self._work_terms.telling

    @property
    def asked_content(self) -> dict[str, float]:
        """The words of the prompt."""
        return self._prompt_terms.content

    @property
    def done_content(self) -> dict[str, float]:
        """The words of everything that the agent said and did."""
        return self._work_terms.content

    @cached_property
    def asked_wording(self) -> Wording:
        """The runs of words of the prompt."""
        return wording(self.prompt)

    @cached_property
    def done_wording(self) -> Wording:
        """The runs of words of everything that the agent said and did."""
        return wording(self.done)

    @cached_property
    def asked_pairs(self) -> set[tuple[str, str]]:
        """The pairs of words of the prompt."""
        return word_pairs(self.prompt)

    @cached_property
    def done_pairs(self) -> set[tuple[str, str]]:
        """The pairs of words of the answer."""
        return word_pairs(self.answer)

    @cached_property
    def programs(self) -> set[str]:
        """The programs that the agent ran, but for those that everybody runs."""
        return {match[1].lower() for match in _PROGRAM.finditer(self.commands)} - _EVERYDAY_PROGRAMS

    @cached_property
    def kinds(self) -> dict[str, frozenset[str]]:
        """The tools and values that the agent names, by kind."""
        return alternatives.kinds_of(self.done)

    @cached_property
    def kinds_asked(self) -> dict[str, frozenset[str]]:
        """The tools and values that the person names, by kind."""
        return alternatives.kinds_of(self.prompt)

    @cached_property
    def kinds_used(self) -> dict[str, frozenset[str]]:
        """The tools and values that the agent names without denying them, by kind."""
        return alternatives.kinds_of("\n".join(each.text for each in self.statements if not each.is_denied))

    def has_concept(self, concept: int) -> bool:
        """Return whether the agent said or did something that shows a concept."""
        return concepts.shows(concept, self.done, self.done_terms)

    def is_asked_concept(self, concept: int) -> bool:
        """Return whether the prompt shows a concept."""
        return concepts.shows(concept, self.prompt, self.asked_terms)

    @cached_property
    def written(self) -> str:
        """The commands that the agent ran and the lines that it added."""
        return f"{self.commands}\n{self.changes}"

    @cached_property
    def written_terms(self) -> dict[str, float]:
        """The terms of what the agent ran, added and changed."""
        return TextTerms("\n".join([self.written, *self.files])).telling

    @cached_property
    def claims(self) -> str:
        """The sentences in which the agent says what it did."""
        return "\n".join(sentence for sentence in split_sentences(self.answer) if not _DENIED.search(sentence))

    @cached_property
    def statements(self) -> "list[AgentStatement]":
        """The sentences of the answer, the commands and the changed lines."""
        lines = (line for line in self.written.splitlines() if line.strip())
        texts = [*split_sentences(self.answer), *lines]
        files = [AgentStatement(path, is_change=True) for path in self.files]
        return [*files, *(AgentStatement(text) for text in texts[-_MOST_STATEMENTS:])]

    @cached_property
    def statements_with_numbers(self) -> "list[AgentStatement]":
        """Those statements that have a number."""
        return [statement for statement in self.statements if statement.has_number]


class AgentStatement:
    """A sentence of the agent, a line that it added, a command that it ran, or the path of a file that it changed."""

    def __init__(self, text: str, *, is_change: bool = False):
        self.text = text[:_MOST_OF_A_SENTENCE]
        self.is_change = is_change
        self.is_denied = not is_change and bool(_DENIED.search(self.text))

    @cached_property
    def terms(self) -> dict[str, float]:
        """Its terms."""
        return telling_terms(self.text)

    @cached_property
    def has_number(self) -> bool:
        """Whether it has a number."""
        return bool(_DIGIT.search(self.text))


class TextTerms:
    """The terms of a text, read once."""

    def __init__(self, text: str):
        self._text = text
        found = analyzer.query_terms(text, limit=100_000).items()
        self._full = [term for term, weight in found if weight == 1.0 and len(term) > 1]

    @cached_property
    def telling(self) -> dict[str, float]:
        """The terms that distinguish the text from others, with their weights."""
        weights: dict[str, float] = {}
        for name in _names(self._text):
            weights[name] = WORD_WEIGHT if name.isdigit() and len(name) < _LONG_NUMBER else NAME_WEIGHT
        for match in _KATAKANA.finditer(self._text):
            weights[match[0]] = _LOANWORD_WEIGHT
        for term in self._full:
            if term not in weights and not _is_ending(term):
                weights[term] = WORD_WEIGHT
        return weights

    @cached_property
    def content(self) -> dict[str, float]:
        """The weights of words: names and long words count more, pairs with hiragana nothing."""
        weights = {term: _content_weight(term) for term in self._full if term.isascii()}
        for run in () if self._text.isascii() else _IDEOGRAPHS.findall(self._text):
            weights[run] = _LONG_WEIGHT if len(run) > 2 else WORD_WEIGHT
            if run[0] > "ヿ":
                weights.update((run[place : place + 2], WORD_WEIGHT) for place in range(len(run) - 1))
        return weights


def telling_terms(text: str) -> dict[str, float]:
    """Return the terms that distinguish a text from others, with their weights."""
    return TextTerms(text).telling


def _content_weight(term: str) -> float:
    if term.isdigit():
        return _LONG_WEIGHT if len(term) >= _LONG_NUMBER else _SHORT_WEIGHT
    if not term.isalpha():
        return NAME_WEIGHT
    return _SHORT_WEIGHT if len(term) < 5 else WORD_WEIGHT if len(term) < 8 else _LONG_WEIGHT


def sentences_of(memory: str) -> list[str]:
    """Return the sentences of a memory; long ones are cut."""
    return [sentence[:_MOST_OF_A_SENTENCE] for sentence in split_sentences(memory)]


def code_spans(text: str) -> list[str]:
    """Return what stands in backticks."""
    return [match[1].strip() for match in _CODE.finditer(text)]


def word_pairs(text: str) -> set[tuple[str, str]]:
    """Return the pairs of telling English words that stand together: `integer cents`."""
    words = [word if len(word) > 3 and word not in GRAMMAR else "" for word in re.findall(r"[a-z]+", text.lower())]
    return {(one, other) for one, other in pairwise(words) if one and other}


def has_word(text: str, word: str) -> bool:
    """Return whether a text has a word, in upper or lower case."""
    return bool(_word_pattern(word).search(text.lower()))


@cache
def _word_pattern(word: str) -> re.Pattern[str]:
    if not word.isascii():
        return re.compile(re.escape(word))
    # `.env` is another file than `.env.example`.
    end = r"(?!\.?\w)" if word.startswith(".") else "" if word.endswith("/") else r"(?!\w)"
    return re.compile(rf"(?<!\w){re.escape(word)}{end}", re.ASCII)


def _names(text: str) -> Iterator[str]:
    # In Japanese a word in Latin letters is a name.
    pattern = _LATIN_NAME if _KANA.search(text) else _NAME
    for match in pattern.finditer(text):
        name = match[0].strip(".:-/").lower()
        if len(name) > 1:
            yield name


def _is_ending(term: str) -> bool:
    """Whether a term is made of hiragana, which carries grammar."""
    return all("ぁ" <= character <= "ゖ" for character in term)
