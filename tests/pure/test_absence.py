"""An absence is not a deletion: what a missing entry means, from texts, earlier versions and git, without any of them."""

import re

import pytest

from omoide.model import FileVersions, Held
from omoide.sync.absence import MOST_VERSIONS, Absence, GitState, is_truncated, judge, judge_entries, next_versions, outline
from omoide.sync.snapshot import digest_of

IDS = {name: f"019c2d3e-8d7b-7801-afda-{number:012x}" for number, name in enumerate("abcdefghijklmnopqrstuvwxyz")}


def entry(name, text=""):
    return f"## Title {name}\n- Tags: x\n- Date: 2026-02-05\n- Id: {IDS[name]}\n- Content: {text or f'text of {name}'}\n"


def page(names, opening="# Memories\n"):
    return "\n".join([opening, *map(entry, names)])


def fake_git(state=GitState()):  # noqa: B008 - a frozen value
    """A git that answers this, and counts how often it is asked."""

    def git():
        git.count += 1
        return state

    git.count = 0
    return git


def verdict(before, after, missing, *, git=None, older=(), elsewhere=(), total=0):
    known = FileVersions("a.md", outline(before), (digest_of(before), *map(digest_of, older)))
    others = [id for name, id in IDS.items() if id in before and name not in missing]
    absence = Absence(
        {IDS[name] for name in missing}, others, after, digest_of(after or ""), known, elsewhere=elsewhere, total=total
    )
    return judge(absence, git or fake_git())


BULLETS = {
    name: f"- 2026-02-05 10:00 did {name} <!-- omoide:{IDS[name]} -->\n" + ("  and more\n" if name == "b" else "")
    for name in "abcd"
}
ACTIVITY = "# shop\n\n## 最近の活動\n\n" + "".join(BULLETS.values()) + "\nwords of a person\n\n## Notes\n"


@pytest.mark.parametrize("missing", ["a", "b", "d", "ac", "ab"])
def test_bullets_that_are_cut_out_whole_are_deleted(missing):
    after = ACTIVITY
    for name in missing:
        after = after.replace(BULLETS[name], "")
    assert verdict(ACTIVITY, after, missing) is None
    assert verdict(ACTIVITY, after.replace("words", "other words"), missing) is Held.EDITED


def test_a_bullet_whose_text_stays_is_not_deleted():
    assert verdict(ACTIVITY, ACTIVITY.replace(f" <!-- omoide:{IDS['a']} -->", ""), "a") is Held.EDITED


@pytest.mark.parametrize("missing", ["a", "c", "e", "ab", "bd", "be"])
def test_entries_that_are_cut_out_whole_are_deleted(missing):
    rest = [name for name in "abcde" if name not in missing]
    assert verdict(page("abcde"), page(rest), missing) is None


@pytest.mark.parametrize("after", [
    page("acd").replace("\n\n## Title c", "\n## Title c"),
    page("acd").replace("\n\n## Title c", "\n\n\n\n## Title c"),
    page("acd") + "\n\n",
    page("acd").rstrip("\n"),
])  # several entries per line  # fmt: skip
def test_empty_lines_at_the_cut_and_at_the_end_make_no_difference(after):
    assert verdict(page("abcd"), after, "b") is None


@pytest.mark.parametrize("after", [
    page("acd").replace("text of d", "text of  d"),
    page("acd").replace("- Tags: x", "* Tags: x"),
    page("acd").replace("## Title c", "### Title c"),
    page("acd") + "\nOne more line.\n",
    page("acd").replace("\n", "\r\n"),
    page("dca"),
    page("acd").replace("\n\n## Title d", "\n\n\n## Title d"),
    page("acd") + "- Content: text of b\n",
    page("acd", opening=""),
    page("acde"),
])  # several entries per line  # fmt: skip
def test_entries_are_not_deleted_where_any_other_line_differs(after):
    assert verdict(page("abcd"), after, "b") is Held.EDITED


def test_own_words_of_a_person_are_not_part_of_an_entry_to_be_cut_out():
    before = page("abcd").replace("text of b\n", "text of b\n\n## My notes\n\nKeep them.\n")
    assert verdict(before, before.replace(entry("b"), ""), "b") is None
    assert verdict(before, page("acd"), "b") is Held.EDITED


def test_a_section_with_its_subsections_is_cut_out_as_a_whole():
    before = page("abcd").replace("text of b\n", "text of b\n\n#### Details\n\nOf b.\n")
    assert verdict(before, page("acd"), "b") is None
    assert verdict(before, before.replace(entry("b"), ""), "b") is Held.EDITED


def test_an_id_within_a_text_does_not_hide_where_an_entry_ends():
    uuid = "11111111-2222-4333-8444-555555555555"
    assert verdict(page("abcd").replace("text of b", f"see {uuid}"), page("acd"), "b") is None
    both = page("abcd").replace("text of a", f"see {IDS['b']}")
    assert verdict(both, both.replace(entry("b") + "\n", ""), "b") is Held.EDITED, "it is not clear which section is b's"


def test_headings_that_are_underlined_and_headings_with_ids_end_a_section():
    def setext(names):
        return "\n".join(f"Title {name}\n-------\n- Id: {IDS[name]}\n- Content: text of {name}\n" for name in names)

    def tree(names):
        return "\n".join(f"### Title {name} <!-- omoide:{IDS[name]} -->\n- 内容: {name} の文\n" for name in names)

    for form in (setext, tree):
        assert verdict(form("abcd"), form("acd"), "b") is None
        assert verdict(form("abcd"), form("acd").replace("Title d", "Title x"), "b") is Held.EDITED


@pytest.mark.parametrize(("after", "reason"), [(None, Held.GONE), ("", Held.GONE), ("\ufeff \r\n\t\n", Held.GONE)])
def test_a_file_that_is_gone_or_empty_deletes_nothing(after, reason):
    git = fake_git()
    assert verdict(page("abcd"), after, "b", git=git) is reason
    assert git.count == 0


def test_an_id_that_is_still_somewhere_is_not_deleted():
    assert verdict(page("abcd"), page("acd"), "b", elsewhere={IDS["b"]}) is Held.UNREADABLE


def test_what_git_did_is_no_deletion():
    for after in (page("acd"), page("a")):
        assert verdict(page("abcd"), after, "b", git=fake_git(GitState(has_text=True))) is Held.GIT
        assert verdict(page("abcd"), after, "b", git=fake_git(GitState(operation=True))) is Held.OPERATION
    patched = fake_git(GitState(patched=True))
    assert verdict(page("abcd"), page("acd"), "b", git=patched) is Held.PATCHED
    assert verdict(page("abcd"), page("a"), "bcd", git=patched) is Held.MANY, "the reason that says more"


def test_a_text_older_than_the_last_two_versions_is_an_old_buffer():
    versions = [page("abcd"), page("abc"), page("ab"), page("a")]
    assert verdict(versions[0], versions[1], "d", older=versions[1:]) is None
    assert verdict(versions[0], versions[2], "cd", older=versions[1:]) is Held.OLDER


def versions_of(*texts):
    known = FileVersions("a.md")
    for text in texts:
        known = next_versions(known, text, digest_of(text))
    return known


def judge_versions(versions, after):
    """Which entries count as deleted, and which are held."""
    before = {name for name, id in IDS.items() if id in versions[-1]}
    rest = {name for name, id in IDS.items() if id in after}
    ids = {IDS[name] for name in before - rest}
    absence = Absence(ids, [IDS[name] for name in rest], after, digest_of(after), versions_of(*versions))
    verdicts = judge_entries(absence, fake_git())
    names = {id: name for name, id in IDS.items()}
    return tuple("".join(sorted(names[id] for id in ids if (verdicts[id] is None) is it)) for it in (True, False))


GROWING = [page("abcd"), page("abcde"), page("abcdef")]


@pytest.mark.parametrize(("versions", "after", "expected"), [
    (GROWING, "acd", ("b", "ef")),  # saved from the first version, or from the last
    (GROWING, "abcd", ("", "ef")),
    (GROWING, "bcd", ("a", "ef")),
    (GROWING, "abcdf", ("e", "")),  # the newest entry is there: so the person had the last version
    (GROWING, "abcde", ("f", "")),
    (GROWING, "acde", ("bf", "")),  # one write old, or none
    ([page("abcd"), page("fabcd"), page("fabecd")], "acd", ("b", "ef")),
    ([page("abcd"), page("abcdef"), page("abcdefgh")], "acd", ("", "befgh")),  # more than half
    ([page("abcdijk"), page("abcdijkef"), page("abcdijkefgh")], "acdijk", ("b", "efgh")),
    ([page("abcdx"), page("abcd"), page("abcde")], "acd", ("be", "")),  # without x, so it is no older one
    ([page("abcd"), page("abcde"), page("abcdef").replace("of a", "of A")], "acd", ("", "bef")),  # a is as it was before
    ([page("abcd"), page("abcde"), page("abcde").replace("of b", "of B")], "acd", ("b", "e")),  # b was changed meanwhile
    ([page("abcd"), page("abcde"), page("abcdef"), page("abcdf")], "acd", ("b", "f")),  # e came and went
    ([page("abcde"), page("abcdef"), page("abcdf")], "acd", ("bf", "")),  # e was there before, and is gone
    ([page("abcd"), page("abcde"), page("abcdef"), page("abcd"), page("abcdef")], "acde", ("b", "f")),  # git went and came
])  # several entries per line  # fmt: skip
def test_what_the_last_writes_added_is_deleted_only_if_something_of_them_is_there(versions, after, expected):
    assert judge_versions(versions, page(after)) == expected


def tight(names):
    return page(names).replace("# Memories\n\n", "# Memories\n")


NOTES = "\n## My notes\n\nKeep them.\n"
LONG = [f"{number:08x}-8d7b-7801-afda-000000000000" for number in range(600)]


def long_page(names, ids=LONG):
    return page(names) + "".join(f"\n## Title\n- Id: {id}\n- Content: text\n" for id in ids)


@pytest.mark.parametrize(("versions", "after", "expected"), [
    ([page("abc"), page("d"), tight("d"), tight("dabc")], page("ab"), ("c", "d")),  # empty lines say nothing
    ([page("abcd"), page("abcde"), page("abcde") + NOTES, page("abcdef")], page("acd"), ("b", "ef")),  # notes came and went
    ([page("abcd"), page("abcde"), page("abcdef") + NOTES], page("acd") + NOTES, ("bef", "")),  # the notes were read
    ([page("abcd") + NOTES, page("abcde") + NOTES, page("abcdef") + NOTES], page("acd") + NOTES, ("b", "ef")),
    ([page("abcd"), page("a"), page("abcdefghijklmnop"), page("abcde"), page("abcdef")], page("acd"), ("b", "ef")),
    ([long_page("abcd"), page("a"), long_page("abcdef")], long_page("acd"), ("", "bef")),  # more than can be recorded
    ([page("abcd"), long_page("abcd"), long_page("abcdef")], long_page("acd"), ("bef", "")),  # once: nothing undid it
])  # several entries per line  # fmt: skip
def test_versions_that_changed_anything_else_do_not_hide_how_an_earlier_one_differs(versions, after, expected):
    assert judge_versions(versions, after) == expected


def test_what_was_changed_since_shows_that_the_last_version_was_read():
    versions = [page("abcd"), page("abcde"), page("abcdef").replace("of a", "of A")]
    assert judge_versions(versions, page("acd").replace("of a", "of A")) == ("bef", "")


def test_what_was_changed_and_is_as_before_shows_nothing():
    changed = [page(names).replace("of a", "of A") for names in ("abcde", "abcdef")]
    versions = [page("abcd"), page("abcde"), *changed, page("abcdef")]
    assert judge_versions(versions, page("acd")) == ("b", "ef")


def changes(before, after):
    """What a version did to entries, by name: `d ~a -b` is one that was added, one that changed, one that was removed."""
    known = versions_of(before, after).changes[0]
    for name in set(IDS) - {"z"}:
        hash = versions_of(page("z"), page(["z", name])).changes[0][0]
        known = [change.replace(hash, name) for change in known]
    return " ".join(change.partition(":")[0] for change in known)


@pytest.mark.parametrize(("before", "after", "expected"), [
    ("abc", "abcd", "d"), ("abc", "dabc", "d"), ("abc", "adbec", "d e"), ("abc", "ab", "-c"), ("abc", "abd", "d -c"),
    ("abc", "bca", "="), ("ab", "abcdefghijklm", "c d e f g h i j k l m"),
])  # several entries per line  # fmt: skip
def test_a_version_records_what_it_added_and_removed(before, after, expected):
    assert changes(page(before), page(after)) == expected


def test_a_version_records_which_entries_it_changed_and_what_was_outside_of_them_before():
    assert changes(page("abc"), page("abcd").replace("of a", "of A")) == "d ~a"
    assert changes(page("abc"), page("abc").replace("Title b", "Other")) == "~b"
    assert changes(page("abc"), page("abc").replace("of c", "of C").replace("of a", "of A")) == "~a ~c"
    assert changes(page("abc"), page("abc").replace("\n\n", "\n")) == "="
    assert changes(page("abc"), page("abc", opening="# My memories\n")) == changes(page("abc"), page("abc", opening=""))
    assert re.fullmatch(r"d #[0-9a-f]+", changes(page("abc"), page("abcd") + "\n## My own\n\nWords.\n"))
    assert changes(page("abc").rstrip("\n"), page("abcd").rstrip("\n")) == "d", "without an end of the last line"


@pytest.mark.parametrize(("names", "missing", "expected"), [
    ("ab", "a", None), ("a", "a", Held.MANY), ("abc", "ab", Held.MANY), ("abcd", "ac", None),
    ("abcdefghijklmnopqrstuvwxyz", "abcdefghij", None), ("abcdefghijklmnopqrstuvwxyz", "abcdefghijk", Held.MANY),
])  # several entries per line  # fmt: skip
def test_more_than_half_or_more_than_ten_at_once_are_not_deleted(names, missing, expected):
    rest = [name for name in names if name not in missing]
    assert verdict(page(names), page(rest), missing) is expected
    assert verdict(page(names), page(rest), missing, total=11) is Held.MANY


@pytest.mark.parametrize("end", ["\n", "\n\n", ""])
def test_a_file_that_ends_before_its_last_two_entries_may_have_been_cut_off(end):
    assert verdict(page("abcdef"), page("abcd").rstrip() + end, "ef") is Held.CUT_OFF
    assert verdict(page("abcdef"), page("abcde").rstrip() + end, "f") is None
    assert verdict(page("abcdef"), page("bcd").rstrip() + end, "aef") is None, "nothing cuts a file off at both ends"


def test_without_a_record_of_the_file_nothing_is_deleted():
    absence = Absence({IDS["a"]}, [IDS["b"]], page("b"), digest_of(page("b")), FileVersions("a.md"))
    assert judge(absence, fake_git()) is Held.UNKNOWN


def test_versions_are_recorded_newest_first_once_each_and_up_to_a_number():
    known = FileVersions("a.md")
    for text in ("one", "two", "two", "one"):
        known = next_versions(known, text, digest_of(text))
    assert known.digests == tuple(map(digest_of, ("one", "two", "one")))
    assert known.outline == outline("one")
    assert next_versions(known, "one", digest_of("one")) is known
    for number in range(200):
        known = next_versions(known, str(number), digest_of(str(number)))
    assert len(known.digests) == MOST_VERSIONS


@pytest.mark.parametrize("cut", [60, 80, 150, -10, -30])
def test_a_text_that_is_cut_off_within_a_line_is_truncated(cut):
    assert is_truncated(outline(page("abcd")), page("abcd")[:cut])


@pytest.mark.parametrize("text", [
    page("abcd"), page("abcd").rstrip("\n"), page("abc"), page("acd").rstrip("\n"), "", page("abcd") + "more",
    page("abcd").replace("text of b", "other")[:-20],
])  # several entries per line  # fmt: skip
def test_any_other_text_is_not_truncated(text):
    assert not is_truncated(outline(page("abcd")), text)
    assert not is_truncated(b"", text)
    assert not is_truncated(outline(page("abcd").rstrip("\n")), page("abcd")[:-20]), "it never ended with a line end"


def test_an_outline_contains_no_text():
    assert b"secret" not in outline("# secret\n\nsecret plan\n")
    assert len(outline("one line\n" * 1000)) == 4000
