"""Densities of Gaussians: those of scipy in every form of covariances, sums of logarithms, and rows drawn from them."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

import noregret as nr
from noregret.decomposition import gaussian_scores
from noregret.decomposition.gaussian_scores import Gaussians, check_size, draw_rows, find_root, sum_logs
from noregret.decomposition.matrix_rows import row_dots

Floats = NDArray[np.float64]
RNG = np.random.default_rng(5)
MEANS, ROWS = RNG.normal(size=(4, 3)), 2.0 * RNG.normal(size=(9, 3))
ROOTS = RNG.normal(size=(4, 3, 3))
COVARIANCES = ROOTS @ ROOTS.transpose(0, 2, 1) + 0.3 * np.eye(3)
VARIANCES = RNG.uniform(0.2, 5.0, (4, 3))
FORMS: dict[str, tuple[Floats, Floats]] = {  # what is given, and the covariance of each of the four
    "a covariance each": (COVARIANCES, COVARIANCES),
    "one covariance": (COVARIANCES[:1], COVARIANCES[[0, 0, 0, 0]]),
    "variances each": (VARIANCES, np.array([np.diag(one) for one in VARIANCES])),
    "one row of variances": (VARIANCES[:1], np.array([np.diag(VARIANCES[0])] * 4)),
}
forms = pytest.mark.parametrize(("given", "covariances"), FORMS.values(), ids=FORMS)


@forms
@pytest.mark.parametrize("middle", [np.zeros(3), np.array([3.0, -2.0, 0.5])], ids=str)
def test_log_densities_are_those_of_scipy(given: Floats, covariances: Floats, middle: Floats) -> None:
    found = Gaussians.of(MEANS, given, "x")
    expected = [multivariate_normal.logpdf(ROWS, mean, own) for mean, own in zip(MEANS, covariances, strict=True)]
    logs = found.logs - 0.5 * found.distances(ROWS, middle)
    np.testing.assert_allclose(logs, np.transpose(expected), rtol=1e-12)


@forms
def test_one_gaussian_is_scored_as_one_of_many(given: Floats, covariances: Floats) -> None:
    one, rows, middle = Gaussians.of(MEANS[:1], given[:1], "x"), ROWS[:1], np.ones(3)
    expected = multivariate_normal.logpdf(rows, MEANS[0], covariances[0])
    assert (one.logs - 0.5 * one.distances(rows, middle)).tolist() == [[pytest.approx(expected, rel=1e-12)]]


@forms
def test_distances_are_never_negative(given: Floats, covariances: Floats) -> None:
    """Differences of squares may be below 0 by rounding where rows are the means."""
    for shift in np.random.default_rng(6).normal(scale=1e4, size=(20, 3)):
        found = Gaussians.of(MEANS + shift, given, "x").distances(MEANS + shift, np.zeros(3))
        assert (found >= 0.0).all()
        np.testing.assert_allclose(np.diag(found), 0.0, atol=1e-5)
        assert (found[~np.eye(4, dtype=bool)] > 1e-3).all()


@pytest.mark.parametrize("name", ["one covariance", "variances each", "one row of variances"])
def test_distances_of_rows_near_the_means_are_never_negative(name: str) -> None:
    """Where squares have enough digits that nothing is measured once more, and rounding goes below 0."""
    for shift in np.random.default_rng(6).normal(scale=30.0, size=(40, 3)):
        found = Gaussians.of(MEANS + shift, FORMS[name][0], "x").distances(MEANS + shift, np.zeros(3))
        assert (found >= 0.0).all()


WIDE = (500.0, 500.0, 0.0)  # whose square is half of the limit of 1e6
APART = ((1062.0, 9944.0, 5.0), (1061.0, 9943.0, 5.0))  # the squares of both are 1e8 times that of their difference


@pytest.mark.parametrize("form", ["one covariance", "one row of variances"])
@pytest.mark.parametrize(("row", "mean", "again"), [
    ((700.0, 0.0, 0.0), (700.0, 0.0, 0.0), False), (WIDE, WIDE, False), (APART[0], APART[1], False),
    ((800.0, 0.0, 0.0), (800.0, 0.1, 0.0), True), ((800.0, 0.0, 0.0), (800.0, 0.12, 0.0), False),
    ((800.0, 0.1, 0.0), (800.0, 0.0, 0.0), True), ((800.0, 0.12, 0.0), (800.0, 0.0, 0.0), False),
    ((-1e9, 0.0, 0.0), (700.0, 0.0, 0.0), False), ((1e9, 1.0, 0.0), (1e9, 0.0, 0.0), True),
])  # fmt: skip
def test_what_is_measured_once_more_is_far_away_and_has_lost_its_digits(
    row: Any, mean: Any, again: bool, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The squares of row and mean together are above 1e6, and less than 1e-8 of them is left; others are beside it."""
    given = np.eye(3)[None] if form == "one covariance" else np.ones((1, 3))
    measured: list[int] = []

    def watched(left: Floats, right: Floats) -> Floats:
        measured.append(len(left))
        return row_dots(left, right)

    monkeypatch.setattr(gaussian_scores, "row_dots", watched)
    for near, own in (([], []), ([], [[0.0, 0.0, 0.0]]), ([[0.0, 0.0, 0.0]], [[0.0, -3000.0, 0.0]])):
        if form == "one covariance" and not own:
            continue  # of a single one, distances are squares of differences anyway
        measured.clear()
        rows, means = np.array([row, *near]), np.array([mean, *own])
        found = Gaussians.of(means, given, "x").distances(rows, np.zeros(3))
        assert measured[1:] == [1] * again  # the first are the squares of the means
        np.testing.assert_allclose(found[0, 0], ((rows[0] - means[0]) ** 2).sum(), rtol=1e-5)


@forms
@pytest.mark.parametrize("far", [1e4, 1e6, 1e9])
def test_distances_have_digits_far_from_the_middle(given: Floats, covariances: Floats, far: float) -> None:
    """Rows near means that are far from those of other Gaussians."""
    shift = far * np.array([1.0, -2.0, 0.5])
    away = (ROWS[:, None] + shift) - (MEANS + shift)
    expected = np.einsum("nmi,mij,nmj->nm", away, np.linalg.inv(covariances), away)
    gaussians = Gaussians.of(MEANS + shift, given, "x")
    found = gaussians.distances(ROWS + shift, np.zeros(3))
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert found.tolist() == [gaussians.distances(row[None] + shift, np.zeros(3))[0].tolist() for row in ROWS]


@forms
def test_no_row_depends_on_those_beside_it(given: Floats, covariances: Floats) -> None:
    gaussians, middle = Gaussians.of(MEANS, given, "x"), MEANS.mean(axis=0)
    rows = np.concatenate((ROWS, MEANS * (1.0 + 1e-9), 1e8 * ROWS[:2]))  # some near means, some far away
    whole = gaussians.distances(rows, middle)
    assert whole.tolist() == [gaussians.distances(row[None], middle)[0].tolist() for row in rows]


@pytest.mark.parametrize("shift", [0.0, 1e4, -1e4])
def test_sums_of_logarithms_are_those_of_scipy(shift: float) -> None:
    logs = 5.0 * np.random.default_rng(6).normal(size=(6, 4)) + shift
    logs[2, 1] = -np.inf
    found, shares = sum_logs(logs)
    np.testing.assert_allclose(found, logsumexp(logs, axis=1), rtol=1e-14)
    np.testing.assert_allclose(shares, np.exp(logs - logsumexp(logs, axis=1, keepdims=True)), rtol=1e-10)
    assert shares[2, 1] == 0.0
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-14)


def test_roots_are_lower_triangular_and_their_squares_are_the_covariances() -> None:
    roots = find_root(COVARIANCES, "x")
    np.testing.assert_allclose(roots @ roots.transpose(0, 2, 1), COVARIANCES, rtol=1e-12)
    assert not np.triu(roots, 1).any()
    with pytest.raises(nr.BadValue, match=r"^mixture: .* singular"):
        find_root(np.array([[1.0, 2.0], [2.0, 1.0]]), "mixture")


@pytest.mark.parametrize("least", [0.0, -1e-11, -1e-9])
def test_covariances_that_rounding_made_singular_get_the_smallest_ridge_with_a_root(least: float) -> None:
    """A share of each variance, whatever units features have; those that have a root stay as they are."""
    scales = np.array([1e-6, 1e6])
    singular = np.array([[1.0, 1.0 - least], [1.0 - least, 1.0]])
    together = np.array([np.eye(2), singular]) * np.outer(scales, scales)
    roots = find_root(together, "x")
    np.testing.assert_allclose(roots[0], np.diag(scales), rtol=1e-15)
    share = {0.0: 1e-12, -1e-11: 1e-10, -1e-9: 1e-8}[least]
    found = (roots[1] @ roots[1].T - together[1]) / np.outer(scales, scales)
    np.testing.assert_allclose(found, share * np.eye(2), atol=4e-16)
    assert roots[1].tolist() == find_root(together[1], "x").tolist()


@forms
def test_drawn_rows_are_normal_ones_that_are_turned_and_moved(given: Floats, covariances: Floats) -> None:
    numbers, normal = np.array([2, 0, 2, 3, 1]), np.random.default_rng(6).normal(size=(5, 3))
    expected = [MEANS[one] + np.linalg.cholesky(covariances[one]) @ z for one, z in zip(numbers, normal, strict=True)]
    np.testing.assert_allclose(draw_rows(MEANS, given, numbers, normal, "x"), expected, rtol=1e-12)


def test_one_gaussian_is_drawn_from() -> None:
    drawn = draw_rows(MEANS[:1], COVARIANCES[:1], np.zeros(2, int), np.zeros((2, 3)), "x")
    assert drawn.tolist() == [MEANS[0].tolist()] * 2


def test_covariances_have_at_most_as_many_numbers_as_fit_in_memory() -> None:
    check_size("mixture", 2, 1 << 13, True)  # 1 << 27 numbers
    check_size("mixture", 1000, 1 << 20, False)
    for count, features in ((2, (1 << 13) + 1), (3, 1 << 13), ((1 << 27) + 1, 1)):
        with pytest.raises(nr.BadValue, match=f"mixture: {count} covariances of {features} features"):
            check_size("mixture", count, features, True)
