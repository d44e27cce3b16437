"""Dependency trees: the best tree is the best of all trees, plain and with the loss added."""

import itertools
import random
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from noregret.data.sentences import find_cycle, is_projective
from noregret.tasks.decoders import arcs, nonprojective, projective
from noregret.tasks.decoders.arcs import arc_row, head_of
from noregret.tasks.decoders.layout import CHOSEN, COLUMNS, LENGTH, ROWS, TRUTH, WIDTH

BOTH = pytest.mark.parametrize("decoder", [projective, nonprojective], ids=["projective", "nonprojective"])


def trees(length: int) -> Iterator[tuple[int, ...]]:
    """Every tree over so many words with one root."""
    for heads in itertools.product(range(length + 1), repeat=length):
        if heads.count(0) == 1 and not find_cycle(heads):
            yield heads


def group(length: int, truth: tuple[int, ...] | None, before: int = 0) -> Any:
    y = np.zeros((before + length * length + 2, COLUMNS))
    y[before, ROWS], y[before, LENGTH], y[before, WIDTH] = length * length, length, 1
    y[:, TRUTH] = y[:, CHOSEN] = -1.0
    for modifier, head in enumerate(truth or (), 1):
        y[before + arc_row(length, head, modifier), TRUTH] = 0.0
    return y


def decode(
    decoder: ModuleType, f: Any, y: Any, first: int = 0, augment: float = 0.0, memory: float = np.nan
) -> tuple[int, ...]:
    length = int(y[first, LENGTH])
    work = np.full(decoder.scratch(length * length, length, 1), memory)
    decoder.search(f, y, work, first, 1, augment)
    chosen = np.flatnonzero(y[first : first + length * length, CHOSEN] == 0.0)
    assert (np.delete(y[first : first + length * length, CHOSEN], chosen) == -1.0).all()
    assert [arc // length + 1 for arc in chosen] == list(range(1, length + 1)), "a head for every word"
    return tuple(int(head_of(length, arc)) for arc in chosen)


def score(f: Any, heads: tuple[int, ...], first: int = 0) -> float:
    return float(sum(f[first + arc_row(len(heads), head, m), 0] for m, head in enumerate(heads, 1)))


def wrong(heads: tuple[int, ...], truth: tuple[int, ...]) -> int:
    return sum(a != b for a, b in zip(heads, truth, strict=True))


@pytest.mark.parametrize("length", [1, 2, 3, 6])
def test_rows_number_the_arcs_and_heads_are_found_again(length: int) -> None:
    pairs = [(h, m) for m in range(1, length + 1) for h in range(length + 1) if h != m]
    assert [arc_row(length, h, m) for h, m in pairs] == list(range(length * length))
    assert [(head_of(length, arc), arc // length + 1) for arc in range(length * length)] == pairs
    assert arcs.count_arcs(length) == len(pairs)


def test_there_are_as_many_trees_as_the_formulas_say() -> None:
    for length in (1, 2, 3, 4, 5):
        every = list(trees(length))
        assert len(every) == length ** (length - 1)  # Cayley, times the choice of the root word
        if length <= 4:
            assert sum(map(is_projective, every)) == [1, 2, 7, 30][length - 1]


@BOTH
@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_the_best_tree_is_the_best_of_all(decoder: ModuleType, length: int) -> None:
    rng = np.random.default_rng(length)
    every = [heads for heads in trees(length) if decoder is nonprojective or is_projective(heads)]
    truths = list(trees(length))
    for trial in range(40 if length < 5 else 12):
        before = trial % 3
        f = rng.standard_normal((before + length * length + 2, 1))
        if trial % 2:
            f = np.round(f)  # ties
        truth = truths[rng.integers(len(truths))]
        y = group(length, truth, before)
        for augment in (0.0, 1.0):
            found = decode(decoder, f, y, before, augment)
            assert found in every
            reached = score(f, found, before) + augment * wrong(found, truth)
            assert reached == pytest.approx(max(score(f, one, before) + augment * wrong(one, truth) for one in every))
            assert decoder_loss(y, before) == wrong(found, truth)


def decoder_loss(y: Any, first: int) -> float:
    return float(arcs.loss(y, first))


def maximum_branching(weights: dict[tuple[int, int], float], nodes: set[int]) -> float:
    """The weight of the best branching from node 0, by recursive contraction with dicts: an independent text."""
    best = {v: max((weights[u, v], u) for u in nodes if (u, v) in weights)[1] for v in nodes - {0}}
    cycle = next((found for v in best if (found := walk_to_cycle(best, v))), None)
    if cycle is None:
        return sum(weights[u, v] for v, u in best.items())
    inside, new = set(cycle), max(nodes) + 1
    total = sum(weights[best[v], v] for v in inside)
    merged: dict[tuple[int, int], float] = {}
    for (u, v), weight in weights.items():
        if u in inside and v in inside:
            continue
        key = (new if u in inside else u, new if v in inside else v)
        gain = weight - weights[best[v], v] if v in inside else weight
        merged[key] = max(merged.get(key, -np.inf), gain)
    return total + maximum_branching(merged, (nodes - inside) | {new})


def walk_to_cycle(best: dict[int, int], v: int) -> list[int] | None:
    path: list[int] = []
    while v not in path:
        if v == 0:
            return None
        path.append(v)
        v = best[v]
    return path[path.index(v) :]


@pytest.mark.parametrize("length", [7, 15, 40])
def test_long_sentences_reach_the_weight_of_the_best_branching(length: int) -> None:
    rng = np.random.default_rng(length)
    for trial in range(4):
        f = rng.standard_normal((length * length + 2, 1))
        if trial == 3:  # deep nests of cycles
            f = np.abs(f) ** 3
        found = decode(nonprojective, f, group(length, None))
        assert found.count(0) == 1
        assert not find_cycle(found)
        totals = []
        for root in range(1, length + 1):
            weights = {
                (h, m): float(f[arc_row(length, h, m), 0])
                for m in range(1, length + 1)
                for h in range(length + 1)
                if h != m and (h > 0 or m == root)
            }
            totals.append(maximum_branching(weights, set(range(length + 1))))
        assert score(f, found) == pytest.approx(max(totals))


@BOTH
def test_a_tree_with_higher_scores_is_found_at_any_length(decoder: ModuleType) -> None:
    rng = random.Random(4)
    for length in (1, 9, 30):
        heads = random_projective(rng, length)
        assert is_projective(heads)
        f = np.zeros((length * length + 2, 1))
        for m, head in enumerate(heads, 1):
            f[arc_row(length, head, m), 0] = 1.0 + rng.random()
        assert decode(decoder, f, group(length, None)) == heads


def random_projective(rng: random.Random, length: int) -> tuple[int, ...]:
    heads = [0] * (length + 1)

    def attach(low: int, high: int, head: int) -> None:
        while low <= high:
            last = rng.randint(low, high)
            word = rng.randint(low, last)
            heads[word] = head
            attach(low, word - 1, word)
            attach(word + 1, last, word)
            low = last + 1

    root = rng.randint(1, length)
    attach(1, root - 1, root)
    attach(root + 1, length, root)
    return tuple(heads[1:])


@BOTH
def test_equal_scores_give_one_tree_and_always_the_same(decoder: ModuleType) -> None:
    for length in (1, 2, 5, 12):
        f, y = np.zeros((length * length + 2, 1)), group(length, None)
        found = decode(decoder, f, y)
        assert found.count(0) == 1
        assert not find_cycle(found)
        assert decode(decoder, f, y) == found


def test_of_equal_projective_trees_the_one_of_the_first_root_and_the_widest_spans_is_found() -> None:
    """The order is that of the search: the first root word, then the last of its modifiers takes all the others."""
    for length in range(2, 7):
        found = decode(projective, np.zeros((length * length + 2, 1)), group(length, None))
        assert found == (0, *[length] * (length - 2), 1)


def test_of_equal_trees_with_crossing_arcs_every_word_has_the_one_after_it_as_head() -> None:
    for length in range(1, 7):
        found = decode(nonprojective, np.zeros((length * length + 2, 1)), group(length, None))
        assert found == (*range(2, length + 1), 0)


@BOTH
@pytest.mark.parametrize("memory", [0.0, 1.0, 1e9, -1e9, 2.0])
def test_what_the_memory_held_before_is_not_read(decoder: ModuleType, memory: float) -> None:
    rng = np.random.default_rng(8)
    for length in (1, 2, 3, 4, 7):
        for first in (0, 3):
            f, y = rng.standard_normal((length * length + first + 2, 1)), group(length, None, first)
            f[rng.random(len(f)) < 0.3] = 0.0
            found = decode(decoder, f, y, first, 1.0)
            written = y.copy()
            assert decode(decoder, f, y, first, 1.0, memory) == found
            np.testing.assert_array_equal(y, written)
            beside = np.delete(y, np.s_[first : first + length * length], axis=0)
            assert (beside[:, CHOSEN] == -1.0).all()


@BOTH
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308])
def test_scores_out_of_range_still_end_inside_the_arrays(decoder: ModuleType, value: float) -> None:
    rng = np.random.default_rng(3)
    for length in (2, 6):
        f = rng.standard_normal((length * length + 2, 1))
        f[rng.random(len(f)) < 0.5] = value
        with np.errstate(all="ignore"):
            decode(decoder, f, group(length, None), augment=1.0)


def test_tallies_count_the_arcs_of_both_trees() -> None:
    truth = (2, 0, 2)
    y = group(3, truth, 1)
    decode(projective, np.zeros((12, 1)), y, 1)
    counts = np.zeros(9)
    arcs.tally(y, counts, 1, TRUTH, 1.0)
    assert counts.sum() == 3.0
    assert all(counts[arc_row(3, head, m)] == 1.0 for m, head in enumerate(truth, 1))
    arcs.tally(y, counts, 1, CHOSEN, -1.0)
    assert counts.sum() == 0.0
    assert (counts == 1.0).sum() == arcs.loss(y, 1)
    assert arcs.loss(y, 1) > 0.0


@pytest.mark.parametrize(("decoder", "sizes"), [(projective, [19, 203, 11368]), (nonprojective, [32, 168, 5453])])
def test_memory_grows_with_the_square_of_the_length(decoder: ModuleType, sizes: list[int]) -> None:
    """7 charts and a stack, or 3 matrices and 5 vectors."""
    assert [decoder.scratch(length * length, length, 1) for length in (1, 5, 40)] == sizes
