"""Sums over all memories at once."""

from itertools import pairwise

from hypothesis import given, strategies as st

from omoide.retrieval.bit_sums import FINE, BitSums, members

held = st.lists(st.tuples(st.floats(0.01, 9.0), st.sets(st.integers(1, 300), max_size=80)), min_size=1, max_size=20)


def sum_bits(terms: list[tuple[float, set[int]]]) -> BitSums:
    sums = BitSums(max(worth for worth, _ in terms))
    for worth, numbers in terms:
        sums.add(worth, sum(1 << number for number in numbers))
    return sums


@given(st.sets(st.integers(0, 5_000)), st.integers(0, 100))
def test_bits_are_listed_from_the_highest_down(numbers: set[int], most: int) -> None:
    assert members(sum(1 << number for number in numbers), most) == sorted(numbers, reverse=True)[:most]


@given(held, st.integers(1, 60))
def test_every_number_is_listed_once_in_order_of_falling_weight(terms: list[tuple[float, set[int]]], enough: int) -> None:
    unit = max(worth for worth, _ in terms) / FINE
    worth = dict.fromkeys(set[int]().union(*(numbers for _, numbers in terms)), 0)
    for value, numbers in terms:
        for number in numbers:
            worth[number] += max(1, round(value / unit))
    sums = sum_bits(terms)
    assert len(sums) == len(worth)
    windows = list(sums.best(enough, 40))
    assert sorted(number for window in windows for number in window) == sorted(worth)
    for window, after in pairwise(windows):
        assert min(worth[number] for number in window) >= max(worth[number] for number in after)
        assert len(window) >= enough


def test_numbers_of_equal_weight_come_newest_first_and_in_batches() -> None:
    sums = sum_bits([(1.0, set(range(1, 201)))])
    first = next(sums.best(30, 40))
    assert first == list(range(200, 200 - len(first), -1))
    assert len(first) == 70
    assert len(sums) == 200 - len(first)


def test_a_sum_may_exceed_every_single_weight() -> None:
    sums = sum_bits([(1.0, {1, 2}), (1.0, {2, 3}), (1.0, {2, 4}), (0.5, {4})])
    assert list(sums.best(1, 40)) == [[2], [4, 3, 1]]


def test_empty_terms_have_no_postings() -> None:
    sums = BitSums(1.0)
    sums.add(1.0, 0)
    assert list(sums.best(10, 40)) == []
