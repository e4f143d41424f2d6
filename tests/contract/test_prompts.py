"""What a store knows about prompts: the memories that one may contain."""

from datetime import timedelta

from omoide.model import PromptCandidate, Query, Scope, State

SHOP, BANK = Scope.project("shop"), Scope.project("bank")


def test_candidates_are_the_current_memories_that_a_scope_sees_in_their_present_version(samples):
    kept = samples.add("old", SHOP, tags=("src/**", "日本"), relevance=0.25, type="warning")
    kept = samples.change(kept, content="new")
    everywhere = samples.add("everywhere")
    samples.add("theirs", BANK)
    samples.add("archived", SHOP, state=State.ARCHIVED)
    samples.add("expired", SHOP, expires_at=samples.now + timedelta(hours=1))
    at = samples.now + timedelta(hours=2)
    found = samples.ask(lambda tx: tx.prompt_candidates(Query(SHOP), at))
    assert sorted(found, key=lambda one: one.number) == [
        PromptCandidate(kept.number, kept.id, 2, "warning", "new", ("src/**", "日本"), 0.25),
        PromptCandidate(everywhere.number, everywhere.id, 1, "note", "everywhere", (), 0.5),
    ]
    assert samples.ask(lambda tx: tx.prompt_candidates(Query(Scope.project("none")), at)) == [
        PromptCandidate(everywhere.number, everywhere.id, 1, "note", "everywhere", (), 0.5)
    ]
