"""Tags from the text itself: what memories like it are tagged with, and the names it is about. Offline, Japanese too."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

MOST = 4
READ = 1_000
"""Characters: what a text is about stands near its beginning."""
_AGREED = 0.34
"""Share of the likeness of all neighbours that must carry a tag."""

_code = re.compile(r"`([A-Za-z][\w.+#/-]{1,29})`")
_tool = re.compile(
    r"(?<![\w./@-])(?:[A-Za-z]+[a-z][A-Z]\w*|[A-Z]{2,6}\d{0,2}|[A-Za-z]{2,}\d[\w.]*|[a-z]+(?:-[a-z]+)*\.js)(?![\w/-])"
)
_name = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{2,}(?: ?[A-Z][a-z]+)?\b")
_foreign = re.compile(r"[A-Za-z][A-Za-z0-9.+#-]{1,29}")
_katakana = re.compile("[ァ-ヺー]{4,}")
_subject = re.compile("(?:^|[。、\n])([一-鿿々ァ-ヺー]{2,8})(?:は|を|が|の)")
_japanese = re.compile("[ぁ-ゖァ-ヺ一-鿿]")
_COMMON = """
    the this that with from use uses using when where should must never always note todo fixme http https www com org ok api
    url id ui it is in on at to of and or for a an i we you he she they monday tuesday wednesday thursday friday saturday
    sunday january february march april may june july august september october november december
    こと もの ため よう それ これ 場合 必要 今日 昨日 明日 今回 次回 全部 一部 以下 以上 自分 我々 皆
"""


def suggested(text: str, neighbours: Iterable[tuple[Sequence[str], float]], most: int = MOST) -> list[str]:
    """Tags for a text, the surest first. `neighbours` are the tags of memories like it, and how alike each is."""
    return list(dict.fromkeys([*_carried(text, neighbours), *_named(text)]))[:most]


def _carried(text: str, neighbours: Iterable[tuple[Sequence[str], float]]) -> list[str]:
    """What most of the neighbours carry, and what one of them carries that stands in the text."""
    folded = unicodedata.normalize("NFKC", text[:READ]).casefold()
    shares: dict[str, float] = {}
    carriers: dict[str, int] = {}
    whole = 0.0
    for tags, likeness in neighbours:
        whole += likeness
        for tag in tags:
            shares[tag] = shares.get(tag, 0.0) + likeness
            carriers[tag] = carriers.get(tag, 0) + 1
    written = {tag for tag in shares if re.search(_as_word(tag), folded)}
    agreed = {tag for tag, share in shares.items() if share >= _AGREED * whole and carriers[tag] > 1}
    return sorted(written | agreed, key=lambda tag: (tag not in written, -shares[tag], tag))


def _as_word(tag: str) -> str:
    tag = re.escape(unicodedata.normalize("NFKC", tag).casefold())
    return tag if _japanese.search(tag) else rf"(?<![a-z0-9]){tag}(?![a-z0-9])"


def _named(text: str) -> list[str]:
    """Names in the text: code, tools, products; in Japanese also words in other letters, and what a sentence is about."""
    text = unicodedata.normalize("NFKC", text[:READ])
    found = [*_code.findall(text), *_tool.findall(text)]
    if _japanese.search(text):
        found += [*_subject.findall(text), *_foreign.findall(text), *_katakana.findall(text)]
    else:
        found += _name.findall(text)
    common = frozenset(_COMMON.split())
    return [tag for name in found if (tag := name.strip(".-").lower()) and tag not in common and len(tag) > 1]
