"""The searches over the lattice of edits are compared with all outputs of short words."""

from itertools import product
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from noregret.tasks.decoders import DECODERS, string
from noregret.tasks.decoders.layout import AFTER, CHOSEN, COLUMNS, LENGTH, ROWS, TRUTH, TRUTH2, WIDTH
from noregret.tasks.decoders.string import LISTED
from tests.naive.transducer import edit_distance

STRING = DECODERS["string"]
FIRST = 2
Codes = tuple[int, ...]


def group(length: int, classes: int, symbols: int, seed: int) -> tuple[Any, Any]:
    """Random scores of a word in the middle of others, and its truth; scores of odd seeds often tie."""
    rng = np.random.default_rng(seed)
    rows = STRING.rows(length, classes)
    f = np.round(rng.normal(size=(rows + 3, classes)), 0 if seed % 2 else 12)
    y = np.full((rows + 3, COLUMNS), np.nan)
    y[FIRST, [ROWS, LENGTH, AFTER, WIDTH]] = rows, length, classes, classes
    y[FIRST : FIRST + rows, [TRUTH, CHOSEN]] = -1.0
    y[FIRST, TRUTH] = 0.0
    y[FIRST + 1 : FIRST + 1 + symbols, TRUTH] = rng.integers(1, max(classes, 2), size=symbols)
    return f, y


def codings(length: int, known: int) -> list[Codes]:
    """The codes of slots of all outputs, in all alignments."""
    single = [(0, -1), *product(range(1, known), range(known))]
    return [tuple(code for pair in pairs for code in pair) for pairs in product(single, repeat=length)]


def output(codes: Codes) -> Codes:
    return tuple(code for code in codes if code > 0)


def score(f: Any, codes: Codes) -> float:
    """The sum of the scores of the slots used, of each symbol after the one before it, and of the end."""
    total, before = 0.0, 0
    for slot, code in enumerate(codes):
        if code >= 0:
            total += f[FIRST + slot, code]
        if code > 0:
            total += f[FIRST + len(codes) + before, code]
            before = code
    return total + float(f[FIRST + len(codes) + before, 0])


def right_output(y: Any) -> Codes:
    return tuple(int(code) for code in y[FIRST + 1 :, TRUTH] if code > 0)


def column(y: Any, which: int) -> Codes:
    return tuple(int(code) for code in y[FIRST : FIRST + 2 * int(y[FIRST, LENGTH]), which])


def listed_scores(work: Any, length: int, classes: int) -> list[float]:
    """The scores of the outputs that a search with a loss has listed last."""
    places = (2 * length + 1) * classes
    scores = work[places:].reshape(-1, 3)[places * LISTED :, 0][:LISTED]
    return [float(one) for one in scores if one > -1e308]


def scratch(length: int, classes: int) -> Any:
    return np.full(STRING.scratch(STRING.rows(length, classes), length, classes), np.nan)


SIZES = [(1, 1), (1, 3), (2, 3), (3, 3), (2, 4), (4, 2), (1, 7)]


@pytest.mark.parametrize(("length", "classes"), SIZES)
def test_the_search_finds_the_best_of_all_outputs(length: int, classes: int) -> None:
    for seed in range(8):
        known = max(1, classes - seed % 3 // 2)
        f, y = group(length, classes, 0, seed)
        STRING.search(f, y, scratch(length, classes), FIRST, known, 0.0)
        best = max(score(f, codes) for codes in codings(length, known))
        assert column(y, CHOSEN) in codings(length, known)
        assert score(f, column(y, CHOSEN)) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("augment", [1.0, 0.3])
@pytest.mark.parametrize(("length", "classes"), SIZES[1:])
def test_the_rival_is_the_best_with_its_loss_among_the_best_outputs(length: int, classes: int, augment: float) -> None:
    for seed in range(0, 12, 2):
        f, y = group(length, classes, min(seed // 2, 2 * length), seed)
        f *= 0.1 * (1 + seed)  # from scores that are all close to scores that are far apart
        best: dict[Codes, float] = {}
        for codes in codings(length, classes):
            best[output(codes)] = max(best.get(output(codes), -np.inf), score(f, codes))
        listed = sorted(best, key=best.__getitem__, reverse=True)[:LISTED]
        rival = max(listed, key=lambda one: best[one] + augment * edit_distance(one, right_output(y)))
        work = scratch(length, classes)
        STRING.search(f, y, work, FIRST, classes, augment)
        assert listed_scores(work, length, classes) == pytest.approx([best[one] for one in listed], abs=1e-12)
        assert output(column(y, CHOSEN)) == rival
        assert score(f, column(y, CHOSEN)) == pytest.approx(best[rival], abs=1e-12)


@pytest.mark.parametrize("scale", [0.0, 0.1, 1.0, 10.0, 300.0])
def test_outputs_are_listed_again_only_while_too_few_came_close_to_the_best(
    scale: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At first those within 1 of the best, then within 8, 64 ..., until there are five."""
    listing = Mock(wraps=string.list_best)
    monkeypatch.setattr(string, "list_best", listing)
    for seed, (length, classes) in product(range(0, 6, 2), [(2, 3), (3, 3)]):
        f, y = group(length, classes, 2, seed)
        f *= scale
        best: dict[Codes, float] = {}
        for codes in codings(length, classes):
            best[output(codes)] = max(best.get(output(codes), -np.inf), score(f, codes))
        listed = sorted(best.values(), reverse=True)[:LISTED]
        wider = 0
        while listed[-1] < listed[0] - 8.0**wider:
            wider += 1
        for augment, expected in ((0.5, 1 + wider), (0.0, 1)):
            listing.reset_mock()
            STRING.search(f, y, scratch(length, classes), FIRST, classes, augment)
            assert listing.call_count == expected


@pytest.mark.parametrize("scale", [0.001, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(0, 6, 2))
def test_the_best_outputs_may_all_go_through_the_same_place(seed: int, scale: float) -> None:
    """The last letter writes one of two symbols, of which the second ends better: all five differ before it."""
    length, classes = 3, 4
    f, y = group(length, classes, 3, seed)
    f *= scale
    f[FIRST + 2 * (length - 1), 1:3] += 50.3, 50.0
    f[FIRST + 2 * length + 2, 0] += 0.6
    best: dict[Codes, float] = {}
    for codes in codings(length, classes):
        best[output(codes)] = max(best.get(output(codes), -np.inf), score(f, codes))
    listed = sorted(best, key=best.__getitem__, reverse=True)[:LISTED]
    rival = max(listed, key=lambda one: best[one] + 1.5 * edit_distance(one, right_output(y)))
    work = scratch(length, classes)
    STRING.search(f, y, work, FIRST, classes, 1.5)
    assert listed_scores(work, length, classes) == pytest.approx([best[one] for one in listed], abs=1e-12)
    assert output(column(y, CHOSEN)) == rival


def test_long_outputs_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those of more symbols than a number has digits: five that are close to the best are listed at once."""
    length = 90
    f, y = group(length, 3, 0, 0)
    f[:] = -10.0
    for letter in range(length):
        f[FIRST + 2 * letter, 1:] = 0.0, -0.001 * (1 + letter)
        f[FIRST + 2 * letter + 1, 0] = 0.0
    f[FIRST + 2 * length :] = 0.0
    listing = Mock(wraps=string.list_best)
    monkeypatch.setattr(string, "list_best", listing)
    STRING.search(f, y, scratch(length, 3), FIRST, 3, 1.0)
    assert listing.call_count == 1
    assert output(column(y, CHOSEN)) == (1,) * length


def test_of_rivals_that_are_as_good_the_one_with_the_highest_score_is_taken() -> None:
    """Nothing is right: its score is 1, and that of a wrong symbol 0, with a loss of 1."""
    f, y = group(1, 3, 0, 0)
    f[:] = -10.0
    f[FIRST, 0], f[FIRST, 1], f[FIRST + 1, 0] = 1.0, 0.0, 0.0
    f[FIRST + 2 :, :] = 0.0
    STRING.search(f, y, scratch(1, 3), FIRST, 3, 1.0)
    assert column(y, CHOSEN) == (0, -1)


@pytest.mark.parametrize(("length", "classes"), [(3, 4), (1, 1), (20, 2)])
def test_the_search_and_the_alignment_use_all_of_their_room_and_nothing_beside_it(length: int, classes: int) -> None:
    """Of a long word with few classes the alignment takes more."""
    f, y = group(length, classes, 2 * length if classes > 1 else 0, 0)
    rows, needed = STRING.rows(length, classes), list[int]()
    outside = np.isnan(y)
    for act, begins in ((STRING.search, (2 * length + 1) * classes), (STRING.align, 0)):
        work = scratch(length, classes)
        if act is STRING.search:
            STRING.search(f, y, work, FIRST, classes, 1.0)
        else:
            STRING.align(f, y, work, FIRST)
        last = int(np.flatnonzero(~np.isnan(work))[-1])
        needed.append(begins + 3 * ((last - begins) // 3 + 1))
    assert len(scratch(length, classes)) == max(needed)
    for beside in (slice(0, FIRST), slice(FIRST + rows, None)):
        assert np.array_equal(np.isnan(y[beside]), outside[beside])


def test_fewer_outputs_than_are_searched_for_may_exist() -> None:
    """A word of one letter and no symbols has one output: the search ends nevertheless."""
    f, y = group(1, 1, 0, 0)
    STRING.search(f, y, scratch(1, 1), FIRST, 1, 1.0)
    assert column(y, CHOSEN) == (0, -1)


def test_the_right_output_gets_its_best_alignment() -> None:
    for seed, (length, classes) in product(range(9), SIZES[1:]):
        f, y = group(length, classes, min(seed, 2 * length), seed)
        STRING.align(f, y, scratch(length, classes), FIRST)
        found = [codes for codes in codings(length, classes) if output(codes) == right_output(y)]
        assert column(y, TRUTH2) in found
        assert score(f, column(y, TRUTH2)) == pytest.approx(max(score(f, codes) for codes in found), abs=1e-12)


@pytest.mark.parametrize(
    ("length", "symbols", "written"),
    [(4, 4, [1, 1, 1, 1]), (4, 2, [0, 1, 0, 1]), (2, 4, [2, 2]), (3, 0, [0, 0, 0]), (6, 3, [0, 1, 0, 1, 0, 1])],
)
def test_of_equal_alignments_that_closest_to_the_diagonal_is_taken(
    length: int, symbols: int, written: list[int]
) -> None:
    f, y = group(length, 3, symbols, 0)
    STRING.align(np.zeros_like(f), y, scratch(length, 3), FIRST)
    codes = column(y, TRUTH2)
    assert [sum(code > 0 for code in codes[2 * i : 2 * i + 2]) for i in range(length)] == written


def test_counts_of_parts_times_their_scores_is_the_score() -> None:
    for seed, (length, classes) in product(range(6), SIZES):
        f, y = group(length, classes, min(seed, 2 * length) if classes > 1 else 0, seed)
        work, rows = scratch(length, classes), STRING.rows(length, classes)
        STRING.align(f, y, work, FIRST)
        STRING.search(f, y, work, FIRST, classes, 0.0)
        for given, which in ((TRUTH, TRUTH2), (CHOSEN, CHOSEN)):
            counts = np.zeros(rows * classes)
            STRING.tally(y, counts, FIRST, given, 1.5)
            expected = 1.5 * score(f, column(y, which))
            assert counts @ f[FIRST : FIRST + rows].ravel() == pytest.approx(expected, abs=1e-12)


def test_the_loss_is_the_edit_distance() -> None:
    for seed, (length, classes) in product(range(8), SIZES[1:]):
        f, y = group(length, classes, min(seed, 2 * length), seed)
        assert STRING.loss(y, FIRST) == len(right_output(y))
        STRING.search(f, y, scratch(length, classes), FIRST, classes, 0.0)
        assert STRING.loss(y, FIRST) == edit_distance(output(column(y, CHOSEN)), right_output(y))


@pytest.mark.parametrize("lost", [np.nan, -np.inf, np.inf, -1e308])
@pytest.mark.parametrize("augment", [0.0, 1.0])
def test_scores_that_overflow_lead_to_an_output_that_there_is(lost: float, augment: float) -> None:
    """Whatever was in the memory before; anything else would be an index."""
    for length, symbols in ((1, 0), (1, 2), (2, 3), (3, 1), (3, 6)):
        f, y = group(length, 3, symbols, 0)
        f[FIRST:] = lost
        work = np.full(STRING.scratch(len(f), length, 3), np.nan)
        y[FIRST : FIRST + 2 * length, CHOSEN] = 2.0  # what was chosen in an earlier round
        with np.errstate(all="ignore"):
            STRING.align(f, y, work, FIRST)
            work[:] = np.nan
            STRING.search(f, y, work, FIRST, 3, augment)
        assert output(column(y, TRUTH2)) == right_output(y)
        assert column(y, CHOSEN) in codings(length, 3)
