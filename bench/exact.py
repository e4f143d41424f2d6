"""Measure whether the one memory that holds what a question names is found first: a code, a Japanese name, a number.

Generates notes about the same few things from a seed, half in Japanese and half in English; some hold something that no
other note holds. The question names it together with what the note is about, as many others are.
"""

import argparse
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import omoide

_JAPANESE_SUBJECTS = [
    "携帯アプリ",
    "認証基盤",
    "請求書発行",
    "夜間バッチ",
    "在庫管理",
    "検索画面",
    "通知メール",
    "管理コンソール",
    "決済代行",
    "顧客データ",
    "監視アラート",
    "ログ収集",
    "画像変換",
    "印刷プレビュー",
    "権限見直し",
    "性能試験",
]
_JAPANESE_TASKS = [
    "移行",
    "再設計",
    "障害調査",
    "リリース",
    "見積もり",
    "検証",
    "引き継ぎ",
    "手順書",
    "負荷試験",
    "契約更新",
    "監査対応",
    "運用テスト",
]
_ENGLISH_SUBJECTS = [
    "mobile app",
    "login service",
    "invoice run",
    "nightly batch",
    "stock keeping",
    "search page",
    "notification mail",
    "admin console",
    "payment provider",
    "customer data",
    "monitoring alert",
    "log collection",
    "image conversion",
    "print preview",
    "access review",
    "load test",
]
_ENGLISH_TASKS = [
    "migration",
    "redesign",
    "outage",
    "release",
    "estimate",
    "check",
    "handover",
    "manual",
    "rollout",
    "contract",
    "audit",
    "rehearsal",
]
_JAPANESE_SENTENCES = [
    "{}の方針を打ち合わせで決めた。",
    "{}は来週までに担当者が確認する。",
    "{}で不具合が見つかり、原因を調べている。",
    "{}の設定を変更し、結果を共有した。",
    "{}は前回と同じ手順で進める。",
    "{}に時間がかかった。",
    "{}の日程を組み直すことになった。",
    "利用者から{}の問い合わせがあった。",
    "{}の資料を更新しておくこと。",
    "{}が失敗したらやり直す。",
    "{}のために環境を用意した。",
]
_ENGLISH_SENTENCES = [
    "We agreed how to go on with the {}.",
    "The {} has to be checked by next week.",
    "A fault in the {} is looked into.",
    "The settings for the {} were changed.",
    "The {} follows the same steps as before.",
    "The {} took long.",
    "The dates of the {} have to be moved.",
    "A customer asked about the {}.",
    "Update the document on the {}.",
    "When the {} fails, it is done again.",
    "An environment for the {} is ready.",
]
_JAPANESE_REST = [
    "担当は先週から変わっていない。",
    "詳しくは議事録を見ること。",
    "費用は部署の予算から出る。",
    "次の会議で報告する。",
    "関係者には連絡済み。",
    "期限に余裕はない。",
    "手が空いたら始める。",
    "前任者の資料が残っている。",
]
_ENGLISH_REST = [
    "The owner has not changed since last week.",
    "The minutes have the details.",
    "The team pays for it.",
    "It will be reported in the next meeting.",
    "Everybody concerned knows.",
    "There is no slack.",
    "Start when there is time.",
    "Papers of the previous owner are still there.",
]
_CODE_LETTERS = "abcdefghkmnpqrstvwxz"
_NAME_CHARACTERS = "東西南北上中下大小高山川田村本井"
_NAME_ENDINGS = ["丸", "式", "案", "号機", "班", "方式", "計画", "系統", "文書", "工区"]


class Question(NamedTuple):
    text: str
    note: int
    """The place of the only note that holds what the question names."""


class Kind(NamedTuple):
    """A kind of question, and what share of its notes has to be first and among the first five."""

    name: str
    language: str
    thing: Callable[[int], str]
    words: tuple[float, float]
    semantic: tuple[float, float]


def code(number: int) -> str:
    """Return a code of its own for each number, in one of four forms."""
    letters = _CODE_LETTERS[number % len(_CODE_LETTERS)] + _CODE_LETTERS[number // 7 % len(_CODE_LETTERS)]
    return (f"{letters}{number}", f"{letters.upper()}-{number}", f"{letters}_{number}.log", f"#{number}")[number // 4 % 4]


def japanese_name(number: int) -> str:
    """Return a name of its own for each number: two common characters and an ending, each of which other names have too."""
    place, ending = divmod(number // len(KINDS), len(_NAME_ENDINGS))
    first, second = divmod(place, len(_NAME_CHARACTERS))
    return _NAME_CHARACTERS[first % len(_NAME_CHARACTERS)] + _NAME_CHARACTERS[second] + _NAME_ENDINGS[ending]


def japanese_number(number: int) -> str:
    return f"第{number}号"


KINDS = (
    Kind("Japanese, a code", "ja", code, (0.99, 0.99), (0.99, 0.99)),
    Kind("English, a code", "en", code, (0.99, 0.99), (0.99, 0.99)),
    Kind("Japanese, a name", "ja", japanese_name, (0.0, 0.99), (0.0, 0.92)),
    Kind("Japanese, a number", "ja", japanese_number, (0.0, 0.99), (0.0, 0.92)),
)


def notes_and_questions(size: int, seed: int) -> tuple[list[str], dict[str, list[Question]]]:
    """Return the notes, and for each kind its questions."""
    chance = random.Random(seed)
    notes: list[str] = []
    questions: dict[str, list[Question]] = defaultdict(list)
    for place in range(size):
        kind = KINDS[place % len(KINDS)]
        is_japanese = kind.language == "ja"
        subject, sentences, rest = _subject(chance, japanese=is_japanese)
        # What others say three times, the note with the code says once.
        has_thing = chance.random() < 0.6
        text = [sentence.format(subject) for sentence in chance.sample(sentences, 1 if has_thing else 3)]
        text += chance.sample(rest, chance.randint(1, 4))
        chance.shuffle(text)
        if has_thing:
            thing = kind.thing(1_000 + place)
            text.insert(chance.randrange(len(text) + 1), f"{thing}を参照。" if is_japanese else f"See {thing}.")
            asked = f"{thing} の{subject}はどうなったか" if is_japanese else f"What happened to {thing}, the {subject}?"
            questions[kind.name].append(Question(asked, place))
        notes.append(("" if is_japanese else " ").join(text))
    return notes, questions


def _subject(chance: random.Random, *, japanese: bool) -> tuple[str, Sequence[str], Sequence[str]]:
    """Return what a note is about, sentences about it, and sentences about anything."""
    if japanese:
        return chance.choice(_JAPANESE_SUBJECTS) + chance.choice(_JAPANESE_TASKS), _JAPANESE_SENTENCES, _JAPANESE_REST
    subject = f"{chance.choice(_ENGLISH_SUBJECTS)} {chance.choice(_ENGLISH_TASKS)}"
    return subject, _ENGLISH_SENTENCES, _ENGLISH_REST


def measure(size: int, seed: int, embedder: str, most: int) -> Iterator[tuple[Kind, int, float, float]]:
    """Yield each kind, the number of its questions, and the share of its notes that are first and among the first five."""
    notes, questions = notes_and_questions(size, seed)
    scope = omoide.Scope.project("bench")
    with (
        tempfile.TemporaryDirectory() as directory,
        omoide.open(Path(directory) / "memory.db", secrets="redact", retire="manual", embedder=embedder) as memory,
    ):
        done = memory.remember_many(omoide.Draft(note, scope) for note in notes)
        memory.embed_pending()
        for kind in KINDS:
            asked = questions[kind.name][:most]
            ranks = []
            for question in asked:
                found = [hit.memory.number for hit in memory.recall(question.text, scope=scope, limit=5).hits]
                wanted = done[question.note].memory.number
                ranks.append(found.index(wanted) if wanted in found else len(found) + 1)
            yield kind, len(asked), ranks.count(0) / len(asked), sum(rank < 5 for rank in ranks) / len(asked)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--semantic", action="store_true", help="search by words and embeddings, not by words alone")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 4_000, 10_000], help="how many notes")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--questions", type=int, default=300, help="of each kind, at most")
    options = parser.parse_args(arguments)
    print("| question | notes | questions | first | among five | claims | |")
    print("| --- | ---: | ---: | ---: | ---: | --- | --- |")
    all_met = True
    for size in options.sizes:
        embedder = "bundled" if options.semantic else "off"
        for kind, count, first, five in measure(size, options.seed, embedder, options.questions):
            least_first, least_five = kind.semantic if options.semantic else kind.words
            is_met = first >= least_first and five >= least_five
            all_met = all_met and is_met
            claims = f"first ≥ {least_first:g}" if least_first else f"five ≥ {least_five:g}"
            row = f"{kind.name} | {size:,} | {count} | {first:.3f} | {five:.3f} | {claims} | {'✓' if is_met else '✗'}"
            print(f"| {row} |", flush=True)
    return 0 if all_met else 1


if __name__ == "__main__":
    sys.exit(main())
