"""Layers as a whole: resuming a session in one call, and what a layer and its archive hold in numbers."""

import pytest

from omoide import Draft, InvalidInput, Layer, NotFound, Scope, State

SHOP, BANK, EVERYWHERE = Scope.project("shop"), Scope.project("bank"), Scope.everywhere()
MONDAY, TUESDAY = Scope.session("shop", "monday"), Scope.session("shop", "tuesday")


def contents(memories):
    return [memory.content for memory in memories]


@pytest.fixture
def layered_memory(memory, clock):
    """A project with two sessions, preferences and pins, and another project with the same."""
    for content, scope, fields in (
        ("project", SHOP, {}),
        ("monday 1", MONDAY, {}),
        ("monday 2", MONDAY, {}),
        ("tuesday", TUESDAY, {}),
        ("tuesday pinned", TUESDAY, {"pinned": True}),
        ("project pinned", SHOP, {"pinned": True}),
        ("global pinned preference", EVERYWHERE, {"pinned": True, "type": "preference"}),
        ("global preference", EVERYWHERE, {"type": "preference"}),
        ("project preference", SHOP, {"type": "preference"}),
        ("global", EVERYWHERE, {}),
        ("theirs", BANK, {"pinned": True, "type": "preference"}),
        ("set aside", SHOP, {"pinned": True}),
    ):
        memory.remember(content, scope=scope, **fields)
        clock.step()
    memory.archive(12, scope=SHOP)
    return memory


def test_a_session_is_resumed_with_its_context_and_the_preferences_and_no_memory_twice(layered_memory):
    resumed = layered_memory.resume(scope=MONDAY)
    assert contents(resumed.pinned) == ["global pinned preference", "project pinned"]
    assert contents(resumed.preferences) == ["project preference", "global preference"]
    assert contents(resumed.session) == ["monday 2", "monday 1"]
    assert contents(resumed.project) == ["project"]


def test_a_project_is_resumed_without_a_session_and_the_global_layer_without_a_project(layered_memory):
    resumed = layered_memory.resume(scope=SHOP)
    assert contents(resumed.pinned) == ["global pinned preference", "project pinned", "tuesday pinned"]
    assert (resumed.session, contents(resumed.project)) == ([], ["project"])
    resumed = layered_memory.resume(scope=EVERYWHERE)
    assert contents(resumed.pinned) == ["global pinned preference"]
    assert contents(resumed.preferences) == ["global preference"]
    assert contents(resumed.project) == ["global"]
    unknown = layered_memory.resume(scope=Scope.session("unheard", "of"))
    assert (unknown.session, unknown.project, len(unknown.pinned), len(unknown.preferences)) == ([], [], 1, 1)


def test_the_limit_applies_to_each_list_separately(memory):
    fields = [{"pinned": True}, {"type": "preference"}, {}]
    memory.remember_many(Draft(f"{n} {more}", SHOP, **more) for more in fields for n in range(8))
    resumed = memory.resume(scope=SHOP, limit=5)
    assert [len(each) for each in (resumed.pinned, resumed.preferences, resumed.project)] == [5, 5, 5]
    for limit in (0, -1, 1001):
        with pytest.raises(InvalidInput, match="limit"):
            memory.resume(scope=SHOP, limit=limit)


def test_resume_counts_as_access(layered_memory, clock):
    at = clock.step(60)
    layered_memory.resume(scope=MONDAY)
    layered_memory.remember("written", scope=BANK)  # access times are written with the next write
    accessed = {
        memory.content for memory in layered_memory.list(scope=SHOP, limit=99).memories if memory.last_accessed_at == at
    }
    assert accessed == {
        "project", "monday 1", "monday 2", "project pinned", "global pinned preference", "global preference",
        "project preference",
    }  # several entries per line  # fmt: skip


def test_a_summary_counts_what_the_scope_sees(memory, clock):
    first = clock.now
    memory.remember("認証は JWT", scope=SHOP, type="decision", tags=["API", "auth"])
    clock.step()
    memory.remember("more", scope=MONDAY, tags=["api"])
    clock.step()
    memory.remember("everywhere", scope=EVERYWHERE, tags=["api", "Straße"])
    memory.remember("theirs", scope=BANK, tags=["api"])
    last = clock.step()
    memory.revise(1, scope=SHOP, topic="auth")
    summary = memory.summary(scope=SHOP)
    assert (summary.count, summary.by_type) == (3, {"note": 2, "decision": 1})
    assert list(summary.by_tag.items()) == [("API", 3), ("Straße", 1), ("auth", 1)]
    assert (summary.oldest, summary.newest) == (first, last)
    assert summary.bytes == len("認証は JWT".encode()) + len("more") + len("everywhere")
    assert memory.summary(scope=SHOP, layers=[Layer.PROJECT]).count == 1
    assert memory.summary(scope=MONDAY, layers=[Layer.SESSION]).count == 1
    assert memory.summary(scope=SHOP, layers=[Layer.EVERYWHERE]).count == 1


def test_a_summary_of_the_archive_and_of_nothing(memory):
    assert memory.summary(scope=SHOP).oldest is None
    memory.remember("zebra", scope=SHOP)
    memory.archive(1, scope=SHOP)
    assert memory.summary(scope=SHOP).count == 0
    assert memory.summary(scope=SHOP, states=[State.ARCHIVED]).count == 1


def test_a_summary_names_the_twenty_most_common_tags(memory):
    memory.remember_many(Draft(f"{n}", SHOP, tags=[f"tag{tag:02}" for tag in range(n)]) for n in range(1, 31))
    tags = memory.summary(scope=SHOP).by_tag
    assert list(tags.items()) == [(f"tag{n:02}", 30 - n) for n in range(20)]


@pytest.mark.parametrize("reader", [EVERYWHERE, BANK, Scope.session("bank", "monday")], ids=str)
def test_no_verb_reaches_a_project_or_session_from_another_scope(memory, reader):
    """By number, id or key: the answer is that of a memory that does not exist."""
    project = memory.remember("project", scope=SHOP, key="rule").memory
    session = memory.remember("session", scope=MONDAY, key="task").memory
    own = memory.remember("own", scope=reader).memory
    for hidden in (project, session):
        for ref in (hidden.number, f"#{hidden.number}", hidden.id, hidden.key):
            for call in (
                lambda ref: memory.show(ref, scope=reader),
                lambda ref: memory.history(ref, scope=reader),
                lambda ref: memory.events(ref, scope=reader),
                lambda ref: memory.links(ref, scope=reader),
                lambda ref: memory.similar(ref, scope=reader),
                lambda ref: memory.revise(ref, scope=reader, content="taken over"),
                lambda ref: memory.pin(ref, scope=reader),
                lambda ref: memory.unpin(ref, scope=reader),
                lambda ref: memory.archive(ref, scope=reader),
                lambda ref: memory.forget(ref, scope=reader),
                lambda ref: memory.restore(ref, scope=reader),
                lambda ref: memory.promote(ref, scope=reader),
                lambda ref: memory.purge([ref], scope=reader),
                lambda ref: memory.link(ref, "relates", own.number, scope=reader),
                lambda ref: memory.link(own.number, "relates", ref, scope=reader),
            ):
                with pytest.raises(NotFound, match="there is no memory"):
                    call(ref)
    assert memory.show(project.number, scope=SHOP) == project
    assert memory.show(session.number, scope=SHOP) == session


@pytest.mark.parametrize("target", [BANK, Scope.session("bank", "monday"), TUESDAY, MONDAY], ids=str)
def test_a_memory_is_never_promoted_into_another_project_or_session(memory, target):
    kept = memory.remember("monday", scope=MONDAY).memory
    with pytest.raises(InvalidInput, match="wider scope"):
        memory.promote(kept.number, scope=SHOP, to=target)
    assert memory.show(kept.number, scope=SHOP) == kept
