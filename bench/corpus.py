"""Generate notes and questions with the word frequencies of real text from a seed: no data is shipped or fetched."""

import random
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

import omoide

NOTE_LENGTH = 300

# Function words, roughly in order of frequency; they make a question expensive.
_ENGLISH_COMMON = [
    "the",
    "of",
    "and",
    "to",
    "in",
    "a",
    "is",
    "that",
    "for",
    "it",
    "was",
    "on",
    "are",
    "as",
    "with",
    "be",
    "at",
    "by",
    "this",
    "have",
    "from",
    "or",
    "had",
    "not",
    "but",
    "what",
    "we",
    "can",
    "which",
    "their",
    "if",
    "will",
    "do",
    "each",
    "how",
    "there",
    "use",
    "when",
    "your",
    "out",
    "them",
    "then",
    "so",
    "some",
    "would",
    "make",
    "like",
    "time",
    "has",
    "more",
    "go",
    "no",
    "way",
    "could",
    "my",
    "than",
    "first",
    "been",
    "who",
    "its",
    "now",
    "did",
    "get",
    "made",
    "may",
    "after",
    "should",
    "over",
    "only",
    "new",
    "our",
    "where",
    "most",
    "know",
    "into",
    "just",
    "any",
    "these",
    "two",
    "also",
]
_SYLLABLES = [
    "ba",
    "be",
    "bo",
    "ca",
    "ce",
    "co",
    "da",
    "de",
    "do",
    "fa",
    "fi",
    "fo",
    "ga",
    "ge",
    "go",
    "ha",
    "he",
    "ho",
    "ja",
    "jo",
    "ka",
    "ke",
    "ki",
    "la",
    "le",
    "li",
    "lo",
    "ma",
    "me",
    "mi",
    "mo",
    "na",
    "ne",
    "no",
    "pa",
    "pe",
    "po",
    "ra",
    "re",
    "ri",
    "ro",
    "sa",
    "se",
    "si",
    "so",
    "ta",
    "te",
    "ti",
    "to",
    "va",
    "ve",
    "vi",
    "wa",
    "we",
    "za",
    "zo",
    "con",
    "tra",
    "ver",
    "ter",
    "pro",
    "cle",
    "str",
    "and",
    "ing",
    "er",
]
_PARTICLES = ["は", "が", "を", "に", "で", "と", "の", "も", "から", "まで", "より", "へ"]
_ENDINGS = [
    "です",
    "ます",
    "した",
    "する",
    "している",
    "ました",
    "できる",
    "ない",
    "だった",
    "という",
    "ことになった",
    "必要がある",
    "場合は",
]
_KANJI = (
    "一人年大十二本中長出三時行見月後前生五間上東四今金九入学高円子外八六下来気小七山話女北午百書先名川千水半男西電校語土木"
    "聞食車何南万毎白天母火右読友左休父雨会同事自社発者地業方新場員立開手力問代明動京目通言理体田主題意不作用度強公持野以思家世"
    "多正安院心界教文元重近考画海売知道集別物使品計死特私始朝運終台広住真有口少町料工建空急止送切転研足究楽起着店病質待試族銀早"
    "映親験英医仕去味写字答夜音注帰古歌買悪図週室歩風紙黒花春赤青館屋色走秋夏習駅洋旅服夕借曜飲肉貸堂鳥飯勉冬昼茶弟牛魚兄犬妹姉漢"
    "政議民連対部合市内相定回選米実関決全表戦経最現調化当約首法性的要制治務成期取都和機平加受続進数記初指権支産点報済活原共得解交"
    "資予向際勝面告反判認参利組信在件側任引求所次昨論官増係感情投示変打直両式確果容必演歳争談能位置流格疑過局放常状球職与供役構割費"
    "付由説難優夫収断石違消神番規術備宅害配警育席訪乗残想声念助労例然限追商葉伝働形景落好退頭負渡失差末守若種美命福望非観察段横深"
    "申様財港識呼達良候程満敗値突光路科積他処太客否師登易速存飛殺号単座破除完降責捕危給苦迎園具辞因馬愛富彼未舞亡冷適婦寄込顔類余"
)
_KATAKANA = "アイウエオカキクケコサシスセソタチツテトナニノハヒフヘホマミムメモラリルレロワンー"


class Corpus(NamedTuple):
    notes: list[str]
    questions: list[str]


class _Language:
    def __init__(self, seed: int, words: int):
        self.random = random.Random(seed)
        self.words = self._vocabulary(words)
        self.weights = list(accumulate(1 / (rank + 12) for rank in range(len(self.words))))

    def _vocabulary(self, size: int) -> list[str]:
        raise NotImplementedError  # each language generates its own words

    def content(self, count: int) -> list[str]:
        return self.random.choices(self.words, cum_weights=self.weights, k=count)


class _English(_Language):
    def _vocabulary(self, size: int) -> list[str]:
        words: dict[str, None] = {}
        while len(words) < size:
            words["".join(self.random.choices(_SYLLABLES, k=self.random.choice((2, 2, 3, 3, 4))))] = None
        return list(words)

    def common(self, count: int) -> list[str]:
        return self.random.choices(_ENGLISH_COMMON, weights=[1 / (n + 2) for n in range(len(_ENGLISH_COMMON))], k=count)

    def note(self) -> str:
        text = ""
        while len(text) < NOTE_LENGTH:
            words = [*self.content(6), *self.common(6)]
            self.random.shuffle(words)
            text += " ".join(words).capitalize() + ". "
        return text[:NOTE_LENGTH].rstrip()

    def question(self, note: str) -> str:
        known = [word.strip(".").lower() for word in note.split()]
        rare = [word for word in known if word not in _ENGLISH_COMMON]
        size = self.random.randint(4, 8)
        picked = self.random.sample(rare, max(2, size // 2))
        words = [*picked, *self.common(size - len(picked))]
        self.random.shuffle(words)
        return " ".join(words) + "?"


class _Japanese(_Language):
    def _vocabulary(self, size: int) -> list[str]:
        words: dict[str, None] = {}
        while len(words) < size:
            if self.random.random() < 0.2:
                word = "".join(self.random.choices(_KATAKANA, k=self.random.randint(3, 6)))
            else:
                word = "".join(self.random.choices(_KANJI, k=2))
            words[word] = None
        return list(words)

    def note(self) -> str:
        text = ""
        while len(text) < NOTE_LENGTH:
            parts = [word + self.random.choice(_PARTICLES) for word in self.content(4)]
            text += "".join(parts) + self.content(1)[0] + self.random.choice(_ENDINGS) + "。"
        return text[:NOTE_LENGTH]

    def question(self, note: str) -> str:
        start = self.random.randrange(0, NOTE_LENGTH - 40)
        words = [word for word in self.words if word in note[start : start + 60]][:3] or self.content(2)
        parts = [word + self.random.choice(_PARTICLES) for word in words]
        return (
            "".join(parts)
            + self.random.choice(("どうする", "何", "なぜ必要", "いつ決めた"))
            + self.random.choice(("ですか", "のか"))
        )


def corpus(language: str, notes: int, questions: int = 100, seed: int = 7) -> Corpus:
    """Generate notes of 300 characters, and questions of four to eight words that some of them answer."""
    speaker = (_English if language == "en" else _Japanese)(seed, 20_000)
    generated = [speaker.note() for _ in range(notes)]
    return Corpus(generated, [speaker.question(note) for note in speaker.random.sample(generated, questions)])


def drafts(notes: list[str], scope: omoide.Scope) -> Iterator[omoide.Draft]:
    for note in notes:
        yield omoide.Draft(note, scope)
