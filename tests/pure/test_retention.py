"""Which memories retire: the plan as a pure function of what was used when."""

from datetime import UTC, datetime, timedelta

from hypothesis import given, strategies as st

from omoide.lifecycle.retention import RECENT, Reason, Rules, plan, unused_since
from omoide.model import Scope, Usage
from omoide.model.expiry import has_expired

NOW = datetime(2026, 2, 5, tzinfo=UTC)
SHOP, BANK, MONDAY = Scope.project("shop"), Scope.project("bank"), Scope.session("shop", "monday")
RULES = Rules(ttl_days=90, max_entries=2)


def make_usage(number, days, scope=SHOP, *, pinned=False, expires_in=None):
    expires_at = None if expires_in is None else NOW + timedelta(days=expires_in)
    return Usage(number, 1, scope, f"topic {number}", pinned, NOW - timedelta(days=days), expires_at)


def retirements(usages, rules=RULES, layer_sizes=None, most=None):
    if layer_sizes is None:
        layer_sizes = {scope: sum(usage.scope == scope for usage in usages) for scope in {usage.scope for usage in usages}}
    usages = sorted(usages, key=lambda usage: (not has_expired(usage.expires_at, NOW), usage.used_at, usage.number))
    return [(one.memory.number, one.reason.value) for one in plan(usages, layer_sizes, rules, NOW, most).retirements]


def test_memories_unused_for_the_given_days_are_retired():
    assert retirements([make_usage(1, 90), make_usage(2, 89.99)]) == [(1, "unused")]


def test_expired_memories_are_retired_however_recently_used():
    assert retirements([make_usage(1, 0, expires_in=0), make_usage(2, 0, expires_in=0.01)]) == [(1, "expired")]


def test_a_layer_over_the_limit_retires_its_longest_unused():
    assert retirements([make_usage(n, 10 + n) for n in range(5)]) == [
        (4, "over_limit"),
        (3, "over_limit"),
        (2, "over_limit"),
    ]


def test_the_limit_is_applied_to_each_layer_separately():
    usages = [make_usage(n, 10, scope) for n, scope in enumerate([SHOP, SHOP, BANK, BANK, MONDAY, MONDAY, Scope()])]
    assert retirements(usages) == []
    assert retirements([*usages, make_usage(9, 11, MONDAY)]) == [(9, "over_limit")]


def test_memories_used_within_a_week_are_never_retired_by_the_limit():
    assert retirements([make_usage(n, 6.99) for n in range(2000)]) == []
    assert retirements([make_usage(1, 7), *(make_usage(n, 6) for n in range(2, 9))]) == [(1, "over_limit")]


def test_memories_retired_for_other_reasons_count_towards_the_limit():
    assert retirements([make_usage(1, 100), make_usage(2, 10, expires_in=-1), make_usage(3, 20), make_usage(4, 30)]) == [
        (2, "expired"),
        (1, "unused"),
    ]


def test_memories_not_considered_still_count_towards_the_limit():
    assert retirements([make_usage(1, 10), make_usage(2, 9)], layer_sizes={SHOP: 3}) == [(1, "over_limit")]


def test_pinned_memories_are_never_retired_but_counted():
    usages = [make_usage(n, 1000, pinned=True, expires_in=-1) for n in range(3)]
    assert retirements(usages) == []
    assert retirements([*usages, make_usage(9, 10)]) == [(9, "over_limit")]


def test_a_limit_of_zero_disables_the_rule():
    usages = [make_usage(n, 1000) for n in range(5)]
    assert retirements(usages, Rules(ttl_days=0, max_entries=0)) == []
    assert len(retirements(usages, Rules(ttl_days=0, max_entries=2))) == 3
    assert retirements([make_usage(1, 0, expires_in=-1)], Rules(ttl_days=0, max_entries=0)) == [(1, "expired")]


def test_a_shorter_plan_is_a_prefix_of_the_longer_one():
    usages = [make_usage(n, n * 7, expires_in=-1 if n % 3 == 0 else None) for n in range(30)]
    whole = retirements(usages)
    assert len(whole) > 10
    assert [retirements(usages, most=most) for most in range(len(whole) + 1)] == [
        whole[:most] for most in range(len(whole) + 1)
    ]


usages = st.builds(
    make_usage,
    number=st.integers(1, 10**6),
    days=st.floats(0, 200),
    scope=st.sampled_from([SHOP, BANK, MONDAY, Scope()]),
    pinned=st.booleans(),
    expires_in=st.none() | st.floats(-10, 10),
)
rules = st.builds(Rules, ttl_days=st.integers(0, 120), max_entries=st.integers(0, 5))


@given(st.lists(usages, max_size=40, unique_by=lambda usage: usage.number), rules)
def test_the_rules_hold_for_random_memories(all_of_them, rules):
    reasons = dict(retirements(all_of_them, rules))
    for usage in all_of_them:
        reason, unused = reasons.get(usage.number), NOW - usage.used_at
        expired = usage.expires_at is not None and usage.expires_at <= NOW
        due = expired or (rules.ttl_days and unused >= timedelta(days=rules.ttl_days))
        assert not (usage.pinned and reason)
        assert usage.pinned or bool(due) == (reason in (Reason.EXPIRED, Reason.UNUSED))
        assert reason != Reason.OVER_LIMIT or unused >= RECENT
        # Whoever need not be looked at would not have gone.
        assert usage.used_at <= unused_since(rules, NOW) or expired or reason is None
    for scope in {usage.scope for usage in all_of_them}:
        layer = [usage for usage in all_of_them if usage.scope == scope]
        left = [usage for usage in layer if usage.number not in reasons]
        crowded = [usage.used_at for usage in layer if reasons.get(usage.number) == Reason.OVER_LIMIT]
        idle = [usage.used_at for usage in left if not usage.pinned and NOW - usage.used_at >= RECENT]
        if crowded:
            assert len(left) >= rules.max_entries
            assert max(crowded) <= min(idle, default=NOW)
        elif rules.max_entries:
            assert len(left) <= rules.max_entries or not idle
