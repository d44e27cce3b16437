"""The pictures show what the textbook says; what is drawn is computed by functions that need nothing to draw with."""

import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import changing_terrain
import choosing_ads
import compression
import confusion
import figures
import kernels
import label_noise
import learned_atoms
import matrix_games
import ofs_against_kbest
import order_and_average
import rare_and_common_words
import rock_paper_scissors
import sparsity_against_error
import splitting_a_budget
import svd_error
import winnow_against_perceptron
from tests.support.cover import only_in_test_all

SCRIPTS = Path(figures.__file__).parent
PAGE = Path(__file__).parent.parent / "docs" / "pictures.md"


GREY = 100.0 + 50.0 * np.sin(np.arange(64)[:, None] / 5.0) * np.cos(np.arange(72) / 3.0)
PATCH_ROWS = compression.measure(
    {"grey": GREY, "colour": np.stack([GREY, 200.0 - GREY, GREY**2 / 200.0], axis=2)}, (1, 2)
)


def test_a_dictionary_is_compared_with_lines_at_the_same_size() -> None:
    assert [(row.picture, row.atoms) for row in PATCH_ROWS] == [("grey", 1), ("grey", 2), ("colour", 1), ("colour", 2)]
    for row in PATCH_ROWS:
        assert 0.0 <= row.best_svd <= row.svd + 1e-9
        assert 0.0 < row.share < 100.0


@cache
def learned() -> learned_atoms.Learned:
    return learned_atoms.measure()


def test_bars_that_made_the_rows_are_learned_and_found_in_a_sum_of_three() -> None:
    """Every weight of x = .8 a + .3 b + .5 c is found, each smaller by about the penalty, and no other bar is."""
    for row in learned().rows:
        assert row.cosine > 0.99
        assert row.found == pytest.approx(max(row.weight - 0.15, 0.0), abs=0.04)


def test_three_atoms_without_a_penalty_have_the_weights_of_the_sum() -> None:
    for row in learned().rows:
        assert row.pursued == pytest.approx(row.weight, abs=0.05)


SVD_ROWS = svd_error.measure(ranks=(2, 8, 16), rows=400)


def test_one_pass_of_the_online_svd_is_near_the_best_rank() -> None:
    for row in SVD_ROWS:
        assert row.least_possible <= row.at_the_end <= 1.1 * row.least_possible
        assert row.at_the_end < row.before_learning


def test_a_kernel_learns_what_no_line_separates() -> None:
    rows = kernels.measure(passes=3)
    assert {row.problem for row in rows} == {"exclusive or", "two rings", "interval"}
    for row in rows:
        if row.learner == kernels.KERNEL:
            assert row.passes[0] > 0.0
            assert row.passes[1:] == (0.0, 0.0)
            assert 2 <= row.supports < 10
        else:
            assert min(row.passes) > 0.25, row


def test_four_times_the_features_cost_winnow_a_constant_and_the_perceptron_a_factor() -> None:
    rows = winnow_against_perceptron.measure(features=(50, 200, 800), rounds=6000)
    assert all(row.winnow <= row.winnow_bound and row.perceptron <= row.perceptron_bound for row in rows)
    added = np.diff([row.winnow for row in rows])
    assert 0 < added[1] <= 1.5 * added[0]
    factors = [after.perceptron / before.perceptron for before, after in pairwise(rows)]
    assert min(factors) > 2.5


@only_in_test_all
@pytest.mark.compiles
def test_label_noise_costs_cw_more_than_any_softer_learner() -> None:
    rows = label_noise.measure(noise=(0.0, 0.2), rounds=2000, tested=2000, streams=3)
    lost, more = {}, {}
    for clean, noisy in zip(rows[::2], rows[1::2], strict=True):
        lost[clean.learner] = noisy.clean_error - clean.clean_error
        more[clean.learner] = noisy.online_mistakes - clean.online_mistakes
    assert max(lost, key=lost.__getitem__) == max(more, key=more.__getitem__) == "cw"
    assert lost["cw"] > 2.0 * lost["pa1"]
    assert lost["cw"] > 3.0 * max(lost["arow"], lost["scw1"], lost["scw2"])
    assert min(more.values()) > 0.15, "a lie is itself a mistake"


@only_in_test_all
def test_averaging_makes_the_perceptron_nearly_independent_of_the_order() -> None:
    last, mean = order_and_average.measure(orders=40, tested=2000)
    assert np.std(mean.errors) < 0.5 * np.std(last.errors)
    assert np.median(mean.errors) < np.median(last.errors)
    assert np.ptp(last.errors) > 0.05


def test_cw_moves_the_rare_word_more_and_pa1_both_alike() -> None:
    cw, pa1 = (trace.summary() for trace in rare_and_common_words.measure(rounds=300))
    assert cw[1] == pa1[1] > 5
    assert pa1[2] > 0.5
    assert pa1[4] == pytest.approx(1.0, abs=1e-9)
    assert cw[4] > 2.0


@only_in_test_all
@pytest.mark.compiles
def test_rda_is_sparse_where_it_errs_least() -> None:
    rows = sparsity_against_error.measure(strengths=(1e-4, 3e-3, 3e-2), rounds=4000, tested=2000, streams=2)
    by = {learner: [row for row in rows if row.learner == learner] for learner in sparsity_against_error.LEARNERS}
    for mine in by.values():
        assert mine[-1].nonzeros < 0.8 * mine[0].nonzeros
    best = {learner: min(mine, key=lambda row: row.test_error) for learner, mine in by.items()}
    assert best["rda"].nonzeros < 0.5 * min(best["truncated_gradient"].nonzeros, best["fobos"].nonzeros)


@only_in_test_all
@pytest.mark.compiles
def test_ofs_comes_near_to_choosing_features_beforehand() -> None:
    data = ofs_against_kbest.like_spambase()
    few, many = ofs_against_kbest.measure(kept=(2, 20), orders=3, data=data)
    assert many.ofs < few.ofs
    assert many.ofs < many.kbest_chi2 + 0.05
    assert few.kbest_chi2 > many.kbest_chi2


def test_balanced_weights_find_the_rare_class_and_pay_with_the_common_one() -> None:
    rows = confusion.measure(rounds=5000)
    found = {(row.weights, row.label): row for row in rows}
    plain, balanced = found["no class weights", "rare"], found["balanced", "rare"]
    assert plain.recall < 0.1
    assert balanced.recall > plain.recall + 0.2
    assert found["balanced", "common"].recall < found["no class weights", "common"].recall
    assert all(sum(row.predicted_as) == pytest.approx(1.0, abs=1e-3) for row in rows)  # the first round has no answer


def test_the_player_of_rock_paper_scissors_wins_against_strategies_and_not_against_chance() -> None:
    rows = {row.opponent: row for row in rock_paper_scissors.measure(("copycat", "random"), rounds=400, seeds=2)}
    assert rows["copycat"].net > 0.9
    assert abs(rows["random"].net) < 0.15
    for row in rows.values():
        assert len(row.scores) == len(row.regrets) == 400
        assert row.regret == row.regrets[-1] <= row.bound


def test_the_gaps_of_matrix_games_shrink_below_their_bounds() -> None:
    rows = matrix_games.measure(rounds=400, games=1)
    assert len(rows) == 3
    for row in rows:
        assert row.gap <= row.bound
        assert row.curve[-1][0] == 400
    assert abs(rows[0].value - rows[0].exact) <= rows[0].bound


def test_paths_over_changing_terrain_keep_their_bounds_and_seeing_everything_helps() -> None:
    rows = changing_terrain.measure(rounds=150)
    assert all(row.regret <= row.bound for row in rows)
    for destination in ("known", "unknown"):
        mine = {row.player: row.regret for row in rows if row.destination == destination}
        assert mine["own path only"] > mine["Hedge"]


@only_in_test_all
@pytest.mark.compiles
def test_online_splits_cost_hardly_more_than_the_best_fixed_one() -> None:
    for row in splitting_a_budget.measure(rounds=300):
        assert row.gap < 1e-3 * row.best
        assert row.best <= row.cost + row.gap
        assert row.regret < 0.1 * (row.even - row.best)


@only_in_test_all
@pytest.mark.compiles
def test_ads_are_chosen_better_than_at_random_and_within_the_bound() -> None:
    small, _ = choosing_ads.measure(rounds=2000, seeds=3)
    assert small.regret <= small.bound
    assert small.regrets[-1] < 0.8 * 2000 * (0.3 - 0.15)


SPARSE_ROWS = [
    sparsity_against_error.Row(learner, strength, 100.0 * strength, 0.1)
    for learner in sparsity_against_error.LEARNERS
    for strength in (0.1, 0.2)
]
KBEST_ROWS = [ofs_against_kbest.Row(2, 0.3, 0.2, 0.1), ofs_against_kbest.Row(9, 0.2, 0.1, 0.1)]
CONFUSED = [
    confusion.Row(name, label, 9, float(label == "common"), 0.25, (1.0, 0.0, 0.0, 0.0))  # all are taken for common
    for name in confusion.WEIGHTS
    for label in confusion.CLASSES
]
RPS_ROWS = [
    rock_paper_scissors.Row(name, 0.0, 0.0, 1.0, 2.0, (0, 40 * k), (0.0, 0.5 * k)) for k, name in enumerate("ab")
]
GAMES = [matrix_games.Row("a", 9, 0.1, 0.2, 0.5, 0.5, ((1, 1.0), (9, 0.1)))] * 2
WALKS = [
    changing_terrain.Row(which, name, 1.0, 1.0, 1.0, 2.0, (0.0, 1.0 + number))
    for which in ("known", "unknown")
    for number, name in enumerate(changing_terrain.PLAYERS)
]
SPLITS = [
    splitting_a_budget.Row(
        name, 1.0, 1.0, 2.0, 0.1, 0.0, ((0.2, 0.8), (0.5 + number / 4, 0.5 - number / 4)), (0.0, 1.0 + number)
    )
    for number, name in enumerate(splitting_a_budget.LEARNERS)
]
ADS = [choosing_ads.Row(name, 1.0, 2.0, 1.0, 0.1, 9.0, (0.0, 1.0 + k)) for k, name in enumerate(choosing_ads.LEARNERS)]
SMALL: dict[str, tuple[Callable[[Any], None], int]] = {
    "winnow_against_perceptron": (
        lambda axes: winnow_against_perceptron.draw_both(
            axes,
            winnow_against_perceptron.measure((20, 40), rounds=100),
            winnow_against_perceptron.measure_concepts((16, 32), rounds=100),
        ),
        2,
    ),
    "label_noise": (
        lambda axes: label_noise.draw(axes, label_noise.measure((0.0, 0.2), 100, 5, streams=1, tested=50)),
        2,
    ),
    "order_and_average": (
        lambda axes: order_and_average.draw(axes, order_and_average.measure(5, rounds=50, tested=50)),
        1,
    ),
    "rare_and_common_words": (
        lambda axes: rare_and_common_words.draw(axes, rare_and_common_words.measure(rounds=30)),
        2,
    ),
    "sparsity_against_error": (lambda axes: sparsity_against_error.draw(axes, SPARSE_ROWS), 1),
    "rock_paper_scissors": (lambda axes: rock_paper_scissors.draw(axes, RPS_ROWS), 2),
    "matrix_games": (lambda axes: matrix_games.draw(axes, [*GAMES, *(row._replace(exact=np.nan) for row in GAMES)]), 2),
    "changing_terrain": (lambda axes: changing_terrain.draw(axes, WALKS), 2),
    "splitting_a_budget": (lambda axes: splitting_a_budget.draw(axes, SPLITS), 2),
    "choosing_ads": (lambda axes: choosing_ads.draw(axes, ADS), 1),
    "confusion": (lambda axes: confusion.draw(axes, CONFUSED), 2),
    "kernels": (kernels.draw, 3),
    "ofs_against_kbest": (lambda axes: ofs_against_kbest.draw(axes, KBEST_ROWS), 1),
    "compression": (lambda panels: compression.draw(panels, PATCH_ROWS), 2),
    "learned_atoms": (
        lambda panels: learned_atoms.draw(panels, learned().atoms, learned_atoms.learn_patches(GREY, 8)),
        2,
    ),
    "svd_error": (lambda axes: svd_error.draw(axes, SVD_ROWS), 1),
}


@pytest.mark.thinned(6)
@pytest.mark.parametrize("name", SMALL)
def test_every_picture_can_be_drawn(name: str, tmp_path: Path) -> None:
    from PIL import Image

    draw, panels = SMALL[name]
    figures.save(tmp_path / "a" / f"{name}.png", draw, panels)
    pixels = np.asarray(Image.open(tmp_path / "a" / f"{name}.png").convert("RGB"))
    reds, blues = (
        np.all(np.abs(pixels - np.array(colour)) < 40, axis=2).sum() for colour in ((209, 73, 91), (27, 108, 168))
    )
    assert min(reds, blues) > 20, "both of the first two colours are seen"


def test_there_is_a_drawing_for_every_script() -> None:
    assert {path.stem for path in SCRIPTS.glob("*.py")} - {"figures"} == set(SMALL)


@only_in_test_all
def test_a_script_prints_its_numbers_and_writes_its_picture(tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPTS / "rare_and_common_words.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[: len(rare_and_common_words.HEAD)] == list(rare_and_common_words.HEAD)
    assert (tmp_path / "rare_and_common_words.png").stat().st_size > 1000


def test_the_page_shows_every_picture_there_is_and_they_are_small() -> None:
    page, drawn = PAGE.read_text(), sorted((PAGE.parent / "pictures").glob("*.png"))
    assert len(drawn) >= 4
    for picture in drawn:
        assert f"(pictures/{picture.name})" in page
        assert picture.stat().st_size < 60_000


def test_a_table_has_columns() -> None:
    assert figures.table(("a", "long"), [("x", 0.123456), ("yy", 2)]) == " a    long\n x  0.1235\nyy       2"
