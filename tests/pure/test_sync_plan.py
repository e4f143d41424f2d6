"""The plan of a sync: one function of both sides, the last synced state and git, without a disk, a database or a process."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from omoide.files.atomic import Stat
from omoide.markdown.single_file import SingleFile
from omoide.model import Choice, FileVersions, Held, Memory, Mirror, Scope, Side, State, SyncState, fields
from omoide.sync.absence import GitState, next_versions
from omoide.sync.database import DatabaseSide
from omoide.sync.plan import Comparison, ImportedEntry, Progress, SyncRequest, plan_sync
from omoide.sync.snapshot import FileScan, FileText, digest_of
from omoide.sync.three_way import Action

SHOP = Scope.project("shop")
AT = datetime(2026, 2, 5, 10, tzinfo=UTC)
FORMAT = SingleFile()
FILE = "memories.md"
LIST = Mirror(1, SHOP, "/shop/.agent", FILE, "memories", Choice.ALL, AT, seen=9)


def memory(number: int, **values: object) -> Memory:
    known = {
        "id": f"019c2d3e-8d7b-7801-afda-{number:012x}", "number": number, "scope": SHOP, "content": f"text {number}",
        "topic": f"topic {number}", "topic_given": True, "type": "note", "tags": (), "examples": (), "key": None,
        "source": "file", "created_at": AT, "updated_at": AT, "version": 1,
    }  # several entries per line  # fmt: skip
    return Memory(**fields.DEFAULTS | known | values)


MEMORIES = [memory(number) for number in range(1, 5)]


def page(memories) -> str:
    return FORMAT.render_list(memories)


class Case:
    """A list that was in sync with four memories, and the evidence that a plan may ask for."""

    def __init__(self):
        self.memories = {one.number: one for one in MEMORIES}
        self.versions = {one.number: [one] for one in MEMORIES}
        self.before = page(MEMORIES)
        self.states = {
            one.number: SyncState(one.number, FILE, one.id, 1, placed.digest)
            for one, placed in zip(MEMORIES, FORMAT.parse(FILE, self.before), strict=True)
        }
        self.git = GitState()
        self.stashed = set()
        self.committed = set()
        self.is_creatable = True
        self.known = next_versions(FileVersions(FILE), self.before, digest_of(self.before))
        self.asked = 0
        self.progress = Progress()

    # evidence

    def versions_since(self, number, version):
        return [one for one in self.versions[number] if one.version >= version]

    def is_current(self, one):
        return one.state is State.ACTIVE

    def file_versions(self, names):
        return dict.fromkeys(names, self.known)

    def other_texts(self, names):
        return []

    def git_state(self, name, text):
        self.asked += 1
        return self.git

    def is_moved(self, before, stat):
        return False

    def stashed_ids(self, name, ids):
        return self.stashed & set(ids)

    def committed_ids(self, name, ids):
        return self.committed & set(ids)

    def may_create(self, name):
        return self.is_creatable

    # what is planned

    def change(self, number, **values):
        new = replace(self.memories[number], version=self.memories[number].version + 1, **values)
        self.memories[number] = new
        self.versions[number].append(new)

    def plan(self, text, request=SyncRequest()):  # noqa: B008 - a frozen value
        stat = Stat(int(AT.timestamp() * 1e9), 1, 1)
        texts = {} if text is None else {FILE: FileText(text, stat, FORMAT.parse(FILE, text))}
        scan = FileScan({} if text is None else {FILE: stat}, list(texts), [] if texts else [FILE], [], unsettled=False)
        numbers = {one.id: one.number for one in self.memories.values()}
        database = DatabaseSide(LIST, 10, self.memories, self.states, numbers, {})
        return plan_sync(Comparison(Path("/shop/.agent"), FORMAT, scan, texts, (), database), request, self.progress, self)


@pytest.fixture
def case():
    return Case()


def without(*numbers):
    return page([one for one in MEMORIES if one.number not in numbers])


def held_reasons(plan):
    return {state.memory: state.held for state in plan.held}


def test_an_unchanged_list_and_an_ordinary_edit_ask_nothing_of_git(case):
    plan = case.plan(case.before)
    assert (plan.imports, plan.writes, plan.removals, plan.held, plan.left) == ([], [], [], [], [])
    plan = case.plan(case.before.replace("text 2", "edited"))
    assert [(change.number, change.fields) for _, change in plan.imports] == [(2, {"content": "edited"})]
    assert case.asked == 0


def test_a_plain_deletion_is_archived(case):
    plan = case.plan(without(3))
    assert [(seen, change.number, change.fields) for seen, change in plan.imports] == [(None, 3, {"state": State.ARCHIVED})]
    assert (plan.held, case.asked) == ([], 1)


@pytest.mark.parametrize(("git", "text", "reason"), [
    (GitState(has_text=True), without(3), Held.GIT),
    (GitState(operation=True), without(3), Held.OPERATION),
    (GitState(), without(3).replace("text 1", "edited"), Held.EDITED),
    (GitState(), without(1, 2, 3), Held.MANY),
    (GitState(), "", Held.GONE),
    (GitState(), None, Held.GONE),
])  # several entries per line  # fmt: skip
def test_any_other_absence_is_recorded_and_nothing_is_written(case, git, text, reason):
    case.git = git
    plan = case.plan(text)
    assert held_reasons(plan)[3] is reason
    assert [change for seen, change in plan.imports if seen is None] == []
    assert (plan.writes, plan.removals) == ([], [])
    assert plan.held[0].version == 1, "what it is compared with when it comes back"


def test_an_entry_that_git_put_into_a_stash_is_held_and_another_one_is_archived(case):
    case.stashed = {MEMORIES[2].id, "of another file"}
    assert held_reasons(case.plan(without(3))) == {3: Held.STASHED}
    plan = case.plan(without(2, 3))
    assert held_reasons(plan) == {3: Held.STASHED}
    assert [(change.number, change.fields) for _, change in plan.imports] == [(2, {"state": State.ARCHIVED})]


def test_an_entry_that_is_left_to_a_person_is_not_written_until_then(case):
    case.states[3] = replace(case.states[3], held=Held.GIT)
    case.change(3, content="revised")
    assert case.plan(without(3)).writes == []
    assert [one.number for one, *_ in case.plan(without(3), SyncRequest(put_back=[3])).writes] == [3]
    plan = case.plan(case.before)
    assert [one.number for one, *_ in plan.writes] == [3], "there again, it is brought up to date"


def test_an_entry_that_comes_back_is_in_sync_again(case):
    case.states[3] = replace(case.states[3], held=Held.GONE)
    plan = case.plan(case.before)
    assert [one.number for one, _ in plan.in_sync] == [3]
    assert plan.states()[0].held == ""


@pytest.mark.parametrize("state", [State.ARCHIVED, State.FORGOTTEN, State.INACTIVE])
def test_an_entry_of_a_memory_that_is_not_active_is_left_unless_it_says_something_new(case, state):
    case.change(2, content="second text")
    case.change(2, state=state)
    case.states[2] = SyncState(2, version=3)
    for text in ("text 2", "second text", "Second  *text*", "second", "- Cont"):
        plan = case.plan(case.before.replace("text 2", text))
        assert [one.number for one, *_ in plan.left] == [2]
        assert (plan.imports, plan.writes, plan.removals) == ([], [], [])
    assert [one.number for one, *_ in case.plan(case.before, SyncRequest(take_out=[2])).removals] == [2]
    plan = case.plan(case.before.replace("text 2", "something new"))
    assert [(change.number, change.fields["state"]) for _, change in plan.imports] == [(2, State.ACTIVE)]


def test_an_earlier_version_that_git_brought_back_is_no_edit_and_one_that_a_person_wrote_is(case):
    case.change(2, content="newer")
    case.states[2] = replace(case.states[2], version=2, digest="")
    assert [change.fields for _, change in case.plan(case.before).imports] == [{"content": "text 2"}]
    case.git = GitState(has_text=True)
    plan = case.plan(case.before)
    assert (plan.imports, plan.writes, plan.in_sync) == ([], [], [])
    assert [(one.number, held) for one, _, held in plan.left] == [(2, Held.OUTDATED)]


def test_an_earlier_version_beside_entries_that_are_missing_but_not_deleted_comes_from_an_old_text(case):
    case.change(2, content="newer")
    case.states[2] = replace(case.states[2], version=2, digest="")
    plan = case.plan(without(4).replace("text 1", "edited by hand"))
    assert [(change.number, change.fields) for _, change in plan.imports] == [(1, {"content": "edited by hand"})]
    assert [(one.number, held) for one, _, held in plan.left] == [(2, Held.OUTDATED)]
    assert held_reasons(plan) == {4: Held.EDITED}


def test_an_earlier_version_in_a_file_stays_until_a_person_says_which_stands_or_the_memory_changes(case):
    case.change(2, content="newer")
    case.states[2] = replace(case.states[2], version=2, held=Held.OUTDATED)
    case.git = GitState(has_text=True)
    plan = case.plan(case.before)
    assert (plan.imports, plan.writes, plan.left, plan.in_sync) == ([], [], [], [])
    assert [one.content for one, *_ in case.plan(case.before, SyncRequest(put_back=[2])).writes] == ["newer"]
    (accepted,) = case.plan(case.before, SyncRequest(accept=[2])).imports
    assert (accepted[1].number, accepted[1].fields, accepted[1].stands) == (2, {"content": "text 2"}, None)
    plan = case.plan(case.before.replace("text 2", "newer"))
    assert [one.number for one, _ in plan.in_sync] == [2], "the newer text is there again"
    case.change(2, content="newest")
    assert [one.content for one, *_ in case.plan(case.before).writes] == ["newest"]
    case.change(2, state=State.ARCHIVED)
    assert [one.number for one, *_ in case.plan(case.before).removals] == [2]


def test_a_missing_file_that_git_has_is_not_created_and_what_belongs_in_it_waits(case):
    new = memory(5)
    case.memories[5], case.versions[5] = new, [new]
    assert [one.number for one, *_ in case.plan(None).writes] == [5]
    case.is_creatable = False
    plan = case.plan(None)
    assert (plan.writes, held_reasons(plan)[5]) == ([], Held.WAITING)
    case.states[5] = plan.held[-1]
    assert [one.number for one, *_ in case.plan(case.before).writes] == [5], "once the file is there"
    assert [one.number for one, *_ in case.plan(None, SyncRequest(put_back=[5])).writes] == [5]


def test_a_side_that_is_preferred_wins_over_every_doubt(case):
    case.git = GitState(has_text=True)
    assert [one.number for one, *_ in case.plan(without(3), SyncRequest(Side.DATABASE)).writes] == [3]
    changes = [change for seen, change in case.plan(without(3), SyncRequest(Side.FILE)).imports if seen is None]
    assert [change.fields for change in changes] == [{"state": State.ARCHIVED}]


def import_entry(case, number, text, remaining, **values):
    """The case after a sync has imported an entry of a text, and was disturbed before it wrote the file."""
    ((seen, change),) = case.plan(text).imports
    case.change(number, **{**change.fields, **values})
    shown = replace(case.versions[number][0], **change.fields)
    case.progress.imported[number] = ImportedEntry(case.memories[number].version, remaining, seen, shown)


def test_an_entry_that_was_imported_is_only_recorded_while_it_and_its_memory_stay_the_same(case):
    text = case.before.replace("text 2", "edited")
    import_entry(case, 2, text, Action.MARK_SYNCED)
    plan = case.plan(text)
    assert ([one.number for one, _ in plan.in_sync], plan.imports, plan.writes) == ([2], [], [])
    plan = case.plan(case.before.replace("text 2", "edited again"))
    assert [(change.number, change.fields, change.stands) for _, change in plan.imports] == [
        (2, {"content": "edited again"}, None)
    ]
    assert plan.in_sync == []
    case.change(2, content="by an agent")
    assert [(one.content, seen.placed.entry.content) for one, _, seen in case.plan(text).writes] == [
        ("by an agent", "edited")
    ]


def test_an_entry_that_is_edited_again_is_compared_with_what_it_showed_not_with_what_an_agent_added(case):
    text = case.before.replace("text 2", "edited")
    import_entry(case, 2, text, Action.PUT, tags=("agent",))
    plan = case.plan(text)
    assert ([one.tags for one, _, _ in plan.writes], plan.imports) == ([("agent",)], [])
    plan = case.plan(case.before.replace("text 2", "edited again"))
    assert [(change.fields, change.stands) for _, change in plan.imports] == [({"content": "edited again"}, None)]


def test_an_entry_that_is_back_after_its_deletion_was_imported_is_left_or_says_something_new(case):
    import_entry(case, 3, without(3), Action.REMOVE)
    assert [one.number for one, _, seen in case.plan(without(3)).removals] == [3]
    plan = case.plan(case.before)
    assert ([one.number for one, *_ in plan.left], plan.removals, plan.imports) == ([3], [], [])
    plan = case.plan(case.before.replace("text 3", "something else"))
    assert [change.fields for _, change in plan.imports] == [{"content": "something else", "state": State.ACTIVE}]


def test_an_entry_that_is_gone_after_its_edit_was_imported_is_written_again(case):
    import_entry(case, 3, case.before.replace("text 3", "edited"), Action.MARK_SYNCED)
    ((seen, change),) = case.plan(without(3)).imports
    assert (seen, change.number, change.stands) == (None, 3, Side.DATABASE)
