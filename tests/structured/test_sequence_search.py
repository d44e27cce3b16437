"""The best sequence is the best of all sequences, with and without its loss, for one and for two tags of context."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from noregret.data.group_truth import GroupTruth
from noregret.tasks.decoders import DECODERS
from noregret.tasks.decoders.layout import AFTER, CHOSEN, COLUMNS, LENGTH, ROWS, TRUTH, WIDTH

ORDERS = {"sequence": 1, "sequence_pairs": 2}


def group(name: str, length: int, classes: int, known: int, seed: int) -> tuple[Any, Any]:
    """Random scores of a sentence in the middle of others, and its truth."""
    rng = np.random.default_rng(seed)
    rows = DECODERS[name].rows(length, classes)
    f = np.round(rng.normal(size=(rows + 3, classes)), 1 if seed % 2 else 9)
    y = np.full((rows + 3, COLUMNS), np.nan)
    first = 2
    y[first, [ROWS, LENGTH, AFTER, WIDTH]] = rows, length, classes, classes
    y[first : first + rows, [TRUTH, CHOSEN]] = -1.0
    y[first : first + length, TRUTH] = rng.integers(classes, size=length)
    return f, y


def score(name: str, f: Any, length: int, tags: tuple[int, ...], classes: int) -> float:
    total, context = 0.0, [0] * ORDERS[name]
    for at, tag in enumerate(tags):
        number = 0
        for one in context:
            number = number * (classes + 1) + one
        total += f[2 + at, tag] + f[2 + length + number, tag]
        context = [*context[1:], tag + 1]
    return total


@pytest.mark.parametrize("augment", [0.0, 1.0])
@pytest.mark.parametrize("name", ORDERS)
def test_the_search_finds_the_best_of_all_sequences(name: str, augment: float) -> None:
    decoder = DECODERS[name]
    for seed, length, classes in product(range(6), (1, 2, 4), (1, 2, 3)):
        known = max(1, classes - seed % 2)
        f, y = group(name, length, classes, known, seed)
        work = np.full(decoder.scratch(len(f), length, classes), np.nan)
        decoder.search(f, y, work, 2, known, augment)
        chosen = tuple(y[2 : 2 + length, CHOSEN].astype(int).tolist())
        truth = y[2 : 2 + length, TRUTH]

        def value(
            tags: tuple[int, ...], truth: Any = truth, f: Any = f, length: int = length, k: int = classes
        ) -> float:
            return score(name, f, length, tags, k) + augment * float(np.count_nonzero(np.array(tags) != truth))

        assert value(chosen) == pytest.approx(max(map(value, product(range(known), repeat=length))), abs=1e-12)
        assert decoder.loss(y, 2) == np.count_nonzero(np.array(chosen) != truth)


@pytest.mark.parametrize("name", ORDERS)
def test_counts_of_parts_times_their_scores_is_the_score(name: str) -> None:
    for seed, length, classes in product(range(4), (1, 3, 5), (1, 2, 4)):
        f, y = group(name, length, classes, classes, seed)
        rows = DECODERS[name].rows(length, classes)
        counts = np.zeros(rows * classes)
        DECODERS[name].tally(y, counts, 2, TRUTH, 1.5)
        tags = tuple(y[2 : 2 + length, TRUTH].astype(int).tolist())
        assert counts @ f[2 : 2 + rows].ravel() == pytest.approx(1.5 * score(name, f, length, tags, classes))


def test_rounds_are_cut_where_they_end() -> None:
    truth = GroupTruth(np.array([3, 4, 2]), np.array([2, 3, 1]), np.array([0, 1, 3, 4, 5, 7]), list("abcdef"))
    assert len(truth) == 9
    some = truth[3:7]
    assert (some.sizes.tolist(), some.lengths.tolist(), some.at.tolist(), some.labels) == (
        [4],
        [3],
        [0, 1, 2],
        list("cde"),
    )
    assert truth[:3].labels == ["a", "b"]
    assert truth[7:].at.tolist() == [0]


@pytest.mark.parametrize("length", [1, 2, 5])
@pytest.mark.parametrize("name", ORDERS)
def test_of_equal_sequences_the_one_with_the_smallest_tags_wins(name: str, length: int) -> None:
    f, y = group(name, length, 3, 3, 0)
    before = y.copy()
    work = np.full(DECODERS[name].scratch(len(f), length, 3), np.nan)
    DECODERS[name].search(0.0 * f, y, work, 2, 3, 0.0)
    before[2 : 2 + length, CHOSEN] = 0.0
    np.testing.assert_array_equal(y, before)  # and rows of other sentences stay as they are


def test_tags_are_found_also_where_no_context_has_a_finite_score() -> None:
    """As after an overflow; what was in the memory before is read by nobody."""
    f, y = group("sequence", 3, 4, 4, 0)
    f[2 + 3 :] = -np.inf
    f[4, 2] = 1e307
    DECODERS["sequence"].search(f, y, np.full(DECODERS["sequence"].scratch(len(f), 3, 4), 3.0), 2, 4, 0.0)
    assert y[2:5, CHOSEN].tolist() == [0.0, 0.0, 2.0]


@pytest.mark.parametrize("length", [1, 2, 4])
@pytest.mark.parametrize("name", ORDERS)
def test_the_search_does_not_read_what_was_in_the_memory_before(name: str, length: int) -> None:
    """As numbers above all scores would show: no place has the tag of the start, nor one of before the sentence."""
    f, y = group(name, length, 3, 3, 0)
    chosen = list[Any]()
    for left in (np.nan, 1e300, -1e300):
        work = np.full(DECODERS[name].scratch(len(f), length, 3), left)
        DECODERS[name].search(f, y, work, 2, 3, 1.0)
        chosen.append(y[2 : 2 + length, CHOSEN].tolist())
    assert chosen[1] == chosen[2] == chosen[0]


@pytest.mark.parametrize(("length", "classes"), [(1, 2), (3, 1), (2, 4), (9, 2), (30, 3)])
@pytest.mark.parametrize("name", ORDERS)
def test_memory_is_as_much_as_the_search_or_the_marginals_need(name: str, length: int, classes: int) -> None:
    rows, side = DECODERS[name].rows(length, classes), (classes + 1) ** (ORDERS[name] - 1)
    searched = 2 * length * (classes + 1) ** ORDERS[name] if name == "sequence_pairs" else 2 * length * classes
    marginals = (rows - length) * classes + 2 * length * classes * side + 3 * (classes + 1)
    assert DECODERS[name].scratch(rows, length, classes) == max(searched, marginals)


@pytest.mark.parametrize("lost", [np.nan, -np.inf, np.inf, -1e308])
@pytest.mark.parametrize("known", [1, 3])
@pytest.mark.parametrize("length", [1, 2, 3, 5])
@pytest.mark.parametrize("name", ORDERS)
def test_scores_that_overflow_lead_to_tags_that_there_are(name: str, length: int, known: int, lost: float) -> None:
    """Whatever was in the memory before; a tag of -1 would be an index."""
    for contexts in (True, False):
        f, y = group(name, length, known, known, 0)
        f[2 + length if contexts else 2 :] = lost
        work = np.full(DECODERS[name].scratch(len(f), length, known), np.nan)
        with np.errstate(all="ignore"):
            DECODERS[name].search(f, y, work, 2, known, 1.0)
        assert set(y[2 : 2 + length, CHOSEN]) <= set(range(known))
