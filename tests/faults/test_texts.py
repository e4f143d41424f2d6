"""Texts that break things: kept to the byte or refused with a clear error, by the rules of guard/checks.py."""

import unicodedata

import pytest

from omoide.errors import InvalidInput
from omoide.model import Draft, Scope

SHOP = Scope.project("shop")

FAITHFUL = {
    "composed and decomposed": "caf\u00e9 cafe\u0301 \u30d1 \u30cf\u309a",
    "half and full width": "ﾊﾝｶｸ ＦＵＬＬ",
    "right to left": "\u202eevil\u202c \u2067rtl\u2069 \u200f\u061c",
    "zero width": "zero\u200bwidth\u200d\ufeff\u2060",
    "controls": "bell\x07 escape\x1b[31m delete\x7f c1\x85\x9b",
    "line ends": "dos\r\nunix\nmac\rvertical\x0b\x0cseparators\u2028\u2029",
    "white space at the ends": "  \n both ends \t\n",
    "astral": "𠮷野家 🏳️‍🌈 \U0010ffff",
    "noncharacters": "\ufffe\uffff\ufdd0",
    "private": "\ue000\U000f0000",
    "many marks on one letter": "z" + "\u0301" * 1000,
    "syntax": """'; DROP TABLE memories; -- "quoted" \\ %s {} ${x} <script>&amp;""",
}


@pytest.mark.parametrize("text", FAITHFUL.values(), ids=FAITHFUL)
def test_contents_and_examples_are_stored_byte_for_byte(tmp_path, open_memory, text):
    with open_memory(tmp_path / "memory.db") as memory:
        number = memory.remember(text, scope=SHOP, examples=[text, text + "!"]).memory.number
        memory.revise(number, scope=SHOP, content=text + "?")
    with open_memory(tmp_path / "memory.db") as memory:
        kept = memory.show(number, scope=SHOP)
        assert kept.content.encode() == (text + "?").encode()
        assert kept.examples == (text, text + "!")
        assert [version.memory.content for version in memory.history(number, scope=SHOP)] == [text, text + "?"]
        memory.recall(text, scope=SHOP)
        assert memory.check() == []
        assert memory.repair() == 1
        assert memory.check() == []


@pytest.mark.parametrize(
    ("fault", "words"),
    [("a\0b", "NUL character at position 1"), ("a\ud800", "half a character at position 1"), ("\udfff", "surrogate")],
)
def test_nul_and_lone_surrogates_are_refused_in_every_field(memory, fault, words):
    drafts = [
        Draft(fault, SHOP), Draft("x", SHOP, topic=fault), Draft("x", SHOP, tags=["fine", fault]),
        Draft("x", SHOP, examples=["fine", fault]), Draft("x", SHOP, source=fault),
    ]  # several entries per line  # fmt: skip
    for draft in drafts:
        with pytest.raises(InvalidInput, match=words) as refusal:
            memory.remember(draft)
        str(refusal.value).encode()  # the message can be printed
    with pytest.raises(InvalidInput):
        memory.remember("x", scope=SHOP, key=fault)
    with pytest.raises(InvalidInput):
        Scope.project(fault)
    assert memory.list(scope=SHOP).total == 0


@pytest.mark.parametrize("field", ["topic", "source", "tag"])
@pytest.mark.parametrize("character", ["\x01", "\x1b", "\x7f", "\x9b", "\u202e", "\u2066", "\u200f", "\u061c"])
def test_control_and_direction_characters_are_refused_in_single_lines(memory, field, character):
    text = f"before{character}after"
    draft = Draft("x", SHOP, tags=[text]) if field == "tag" else Draft("x", SHOP, **{field: text})
    with pytest.raises(
        InvalidInput, match=f"the {field} contains the control character U\\+{ord(character):04X}: remove it"
    ):
        memory.remember(draft)


def test_a_derived_topic_drops_control_characters(memory):
    kept = memory.remember("safe\u202e evil\x1b[31m \x07 text\u2066", scope=SHOP).memory
    assert kept.topic == "safe evil[31m  text"
    assert memory.remember("\x01\x02", scope=SHOP).memory.topic == ""


def test_white_space_in_a_single_line_is_folded(memory):
    kept = memory.remember("x", scope=SHOP, topic=" two\u3000\n words\t", tags=[" a \n b "]).memory
    assert (kept.topic, kept.tags) == ("two words", ("a b",))


def test_zero_width_characters_stay_in_a_topic(memory):
    family = "👨\u200d👩\u200d👧"
    assert memory.remember("x", scope=SHOP, topic=family).memory.topic == family


def test_unicode_variants_of_a_word_match(memory):
    for n, form in enumerate(("NFC", "NFD")):
        memory.remember(unicodedata.normalize(form, f"Crème brûlée パン {n}"), scope=SHOP)
    for question in ("creme", "CRÈME", unicodedata.normalize("NFD", "brûlée"), "ﾊﾟﾝ", "パン"):
        assert memory.recall(question, scope=SHOP).total == 2


def test_a_content_over_the_limit_is_refused_with_its_size(memory):
    with pytest.raises(InvalidInput, match="the content has 10,000,000 bytes, at most 1,000,000: split it, or raise"):
        memory.remember("x" * 10_000_000, scope=SHOP)
    with pytest.raises(InvalidInput, match="1,000,002 bytes"):
        memory.remember("あ" * 333_334, scope=SHOP)
    assert memory.remember("あ" * 333_333, scope=SHOP).action == "created"


@pytest.mark.parametrize("unit", ["all work and no play ", "x", "思い出は大切"])
def test_ten_megabytes_are_stored_when_the_limit_allows_it(tmp_path, open_memory, unit):
    text = unit * (10_000_000 // len(unit.encode()))
    with open_memory(tmp_path / "memory.db", max_content=10_000_000) as memory:
        number = memory.remember(text, scope=SHOP).memory.number
        assert memory.show(number, scope=SHOP).content == text
        assert memory.check() == []


@pytest.mark.parametrize("question", ["\0", "\ud800", "\udfff text", '"', "a" * 1_000_000, "\u202e", "AND OR NOT", "*", "("])
def test_any_question_is_answered(memory, question):
    memory.remember("text", scope=SHOP)
    assert memory.recall(question, scope=SHOP).total in (0, 1)
