"""Kernel maps: beside obvious versions of them, and how close their dot products come to the kernel."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from noregret.features.kernel_maps import KernelMap
from noregret.learner.model_file import pack
from tests.naive import kernel_maps as naive
from tests.naive.rules import Array
from tests.support import by_name, refused
from tests.support.encoding import encoded

RNG = np.random.default_rng(7)
X = np.where(RNG.random((70, 5)) < 0.3, 0.0, RNG.normal(2.0, 3.0, size=(70, 5)))
Y = np.where(X[:, 0] * X[:, 1] > 2.0, 1, -1).tolist()
ROWS = [by_name(row) for row in X]
KERNELS: dict[str, Any] = {
    "rbf": naive.rbf(0.05),
    "laplacian": naive.laplacian(0.05),
    "polynomial": naive.polynomial(0.05, 0.5, 2),
    "cosine": naive.cosine,
    "linear": naive.linear,
}


def fitted(learner: Any) -> KernelMap:
    """The map of a learner."""
    found = learner.model.transforms[-1]
    assert isinstance(found, KernelMap)
    return found


def features(step: nr.Transform, rows: Any, native: bool = False, seed: int = 0) -> Array:
    """What rows become, learned in this order."""
    return np.asarray(encoded(step | nr.make("pa1", native=native, seed=seed), rows).val)


# ---- beside obvious versions -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_fourier_features_are_cosines_and_sines_of_random_frequencies(kernel: str, native: bool) -> None:
    found = features(nr.fourier(16, gamma=0.05, kernel=kernel), X, native, seed=3)
    np.testing.assert_allclose(found, naive.fourier(X, [0.05] * len(X), 16, kernel, seed=3), atol=1e-12)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_the_default_width_follows_the_spread_of_the_rows_before(kernel: str) -> None:
    found = features(nr.fourier(8, kernel=kernel), X, native=True)
    np.testing.assert_allclose(found, naive.fourier(X, naive.widths(X, kernel), 8, kernel), atol=1e-11)


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("kernel", KERNELS)
def test_nystrom_features_are_coordinates_among_the_landmarks(kernel: str, native: bool) -> None:
    step = nr.nystrom(12, gamma=0.05, kernel=kernel, coef0=0.5, degree=2, novelty=0.05)
    expected, _ = naive.nystrom(X, KERNELS[kernel], 12, 0.05)
    np.testing.assert_allclose(features(step, X, native), expected, atol=1e-9)


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize(
    ("size", "degree"), [(64, 1), (64, 2), (64, 3), (30, 2), (30, 3), (1, 2), (4, 1), (4, 2), (4, 3), (4, 4), (4, 5)]
)
def test_tensor_sketches_are_convolved_count_sketches(size: int, degree: int, native: bool) -> None:
    found = features(nr.tensor_sketch(size, gamma=0.05, coef0=0.5, degree=degree), X, native, seed=2)
    np.testing.assert_allclose(found, naive.tensor_sketch(X, [0.05] * len(X), size, degree, 0.5, seed=2), atol=1e-10)


def test_long_rows_are_convolved_by_fourier_transforms() -> None:
    wide = np.random.default_rng(2).normal(size=(6, 60))
    for degree in (2, 3):
        expected = naive.tensor_sketch(wide, [0.05] * len(wide), 64, degree, 1.0)
        np.testing.assert_allclose(
            features(nr.tensor_sketch(64, gamma=0.05, degree=degree), wide), expected, atol=1e-10
        )


def test_the_default_width_of_products_follows_the_norms_of_the_rows_before() -> None:
    expected = naive.tensor_sketch(X, naive.widths(X, "polynomial"), 16, 2, 1.0)
    np.testing.assert_allclose(features(nr.tensor_sketch(16), X), expected, atol=1e-11)


# ---- beside the kernel -----------------------------------------------------------------------------------------------


def errors(step: nr.Transform, kernel: Any, Z: Array, seed: int) -> Array:
    """The errors for pairs of rows, over sqrt(k(x, x) k(z, z))."""
    phi, size = features(step, Z, native=True, seed=seed), np.sqrt([kernel(z, z) for z in Z])
    pairs = [(a, b) for a in range(0, 60, 2) for b in range(1, 60, 2)]
    return np.array([(phi[a] @ phi[b] - kernel(Z[a], Z[b])) / (size[a] * size[b]) for a, b in pairs])


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "polynomial"])
def test_the_error_to_the_kernel_falls_like_the_root_of_the_number_of_features(kernel: str) -> None:
    Z, exact, mean = np.random.default_rng(1).normal(size=(60, 8)), dict(KERNELS), {}
    exact["polynomial"] = naive.polynomial(0.2, 0.5, 2)
    for count in (64, 1024):
        step = nr.fourier(count, gamma=0.05, kernel=kernel) if kernel != "polynomial" else nr.tensor_sketch(
            count, gamma=0.2, coef0=0.5
        )  # fmt: skip
        mean[count] = np.sqrt(np.mean([errors(step, exact[kernel], Z, seed) ** 2 for seed in range(12)]))
    assert mean[64] < 1.5 / np.sqrt(64)
    assert 2.5 < mean[64] / mean[1024] < 6.0  # 4 in the limit


@pytest.mark.parametrize("kernel", KERNELS)
def test_nystrom_is_exact_on_its_landmarks(kernel: str) -> None:
    learner = nr.nystrom(10, gamma=0.05, kernel=kernel, coef0=0.5, degree=2, novelty=0.05) | nr.make("pa1")
    learner.learn(X, Y)
    _, chosen = naive.nystrom(X, KERNELS[kernel], 10, 0.05)
    assert fitted(learner).count == len(chosen)  # type: ignore[attr-defined]
    phi = learner._encode(X).val
    exact = np.array([[KERNELS[kernel](X[a], row) for row in X] for a in chosen])
    np.testing.assert_allclose(phi[chosen] @ phi.T, exact, atol=1e-8)


def test_nystrom_is_exact_where_landmarks_span_all_rows() -> None:
    step = nr.nystrom(30, kernel="polynomial", gamma=0.1, degree=2, novelty=1e-8)
    learner = (step | nr.make("pa1")).learn(X, Y)
    assert fitted(learner).count == 21  # type: ignore[attr-defined]  # products of at most two of five features
    phi = learner._encode(X).val
    np.testing.assert_allclose(phi @ phi.T, (0.1 * X @ X.T + 1.0) ** 2, rtol=1e-6)


# ---- scale-free, and open to new features ----------------------------------------------------------------------------


@pytest.mark.parametrize("step", [nr.fourier(20), nr.fourier(20, kernel="laplacian"), nr.nystrom(8),
                                  nr.tensor_sketch(20)], ids=repr)  # fmt: skip
def test_by_default_the_units_of_the_rows_do_not_matter(step: nr.Transform) -> None:
    np.testing.assert_allclose(features(step, 1e3 * X, True), features(step, X, True), atol=1e-9)


@pytest.mark.parametrize("step", [nr.fourier(12, gamma=0.1), nr.tensor_sketch(12, gamma=0.1)], ids=repr)
def test_features_that_come_later_change_no_frequency_of_others(step: nr.Transform) -> None:
    more = np.concatenate((X, np.zeros((len(X), 1))), axis=1)
    more[-1, -1] = 3.0
    np.testing.assert_array_equal(features(step, more)[:-1], features(step, X)[:-1])
    assert (features(step, more)[-1] != features(step, X)[-1]).any()


def test_another_seed_draws_other_frequencies() -> None:
    assert (features(nr.fourier(4), X, seed=1) != features(nr.fourier(4), X, seed=2)).any()


def test_features_never_learned_are_left_out() -> None:
    learner = (nr.fourier(20) | nr.make("pa1", native=False)).learn(ROWS, Y)
    assert learner.scores_one({**ROWS[3], "new": 5.0}) == learner.scores_one(ROWS[3])


# ---- many rows, one row, dense, sparse -------------------------------------------------------------------------------

STEPS = [
    nr.fourier(20),
    nr.nystrom(8, novelty=0.01),
    nr.tensor_sketch(20),
    nr.scale() | nr.fourier(10, kernel="laplacian"),
    nr.nystrom(6) | nr.clip(0.5),
]


@pytest.mark.parametrize("step", [step for step in STEPS if "scale" not in repr(step)], ids=repr)
def test_dense_rows_are_sparse_rows(step: Any) -> None:
    np.testing.assert_array_equal(features(step, csr_array(X), True), features(step, X, True))


@pytest.mark.parametrize("step", STEPS, ids=repr)
def test_compiled_is_interpreted(step: Any) -> None:
    np.testing.assert_array_equal(features(step, X, native=True), features(step, X, native=False))


@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.parametrize("step", STEPS, ids=repr)
def test_the_size_of_calls_does_not_matter(step: Any, size: int) -> None:
    whole, parts = (step | nr.make("pa1", native=False) for _ in range(2))
    whole.learn(ROWS, Y)
    for first in range(0, len(Y), size):
        parts.learn(ROWS[first : first + size], Y[first : first + size])
    assert pack(parts) == pack(whole)


@pytest.mark.parametrize("lines", [1, 2, 3])
def test_frequencies_that_do_not_fit_in_the_table_are_drawn_again(lines: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = features(nr.fourier(20), X, native=True)
    monkeypatch.setattr("noregret.features.fourier.LARGEST_TABLE", 8 * 10 * lines)
    for native in (True, False):
        np.testing.assert_array_equal(features(nr.fourier(20), X, native), expected)


@pytest.mark.parametrize("rows", ["dicts", "table", "hashed"])
@pytest.mark.parametrize("step", STEPS, ids=repr)
def test_one_row_at_a_time_is_many_rows(step: Any, rows: str) -> None:
    given: Any = X if rows == "table" else ROWS
    options = {"bits": 8} if rows == "hashed" else {}
    whole, single = (step | nr.make("pa1", **options) for _ in range(2))
    whole.learn(given, Y)
    for x, y in zip(given, Y, strict=True):
        single.learn_one(x, y)
    assert single._loops.fast_path is not None
    assert pack(single) == pack(whole)
    expected = whole.scores(given)
    assert [single.scores_one(x) for x in given] == expected.tolist()


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("step", STEPS, ids=repr)
def test_a_saved_learner_goes_on_as_if_never_stopped(step: Any, native: bool, tmp_path: Any) -> None:
    learner = (step | nr.make("pa1", native=native)).learn(ROWS[:30], Y[:30])
    learner.save(tmp_path / "m.nr")
    loaded = nr.load(tmp_path / "m.nr")
    assert pack(loaded) == pack(learner)
    assert pack(loaded.learn(ROWS[30:], Y[30:])) == pack(learner.learn(ROWS[30:], Y[30:]))
    assert loaded.scores(ROWS).tolist() == learner.scores(ROWS).tolist()


@pytest.mark.parametrize("step", STEPS, ids=repr)
def test_a_learner_is_saved_before_its_first_round(step: Any, tmp_path: Any) -> None:
    learner = step | nr.make("pa1", native=False)
    learner.save(tmp_path / "m.nr")
    assert pack(nr.load(tmp_path / "m.nr").learn(ROWS, Y)) == pack(learner.learn(ROWS, Y))


@pytest.mark.parametrize("step", STEPS, ids=repr)
def test_a_copy_goes_its_own_way(step: Any) -> None:
    learner = (step | nr.make("pa1", native=False)).learn(ROWS[:9], Y[:9])
    before, copy = pack(learner), learner.copy()
    copy.learn(ROWS[9:30], Y[9:30])
    assert pack(learner) == before
    assert pack(learner.learn(ROWS[9:30], Y[9:30])) == pack(copy)


# ---- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [9, 40])
@pytest.mark.parametrize("step", STEPS, ids=repr)
def test_a_refused_call_leaves_the_map_as_it_was(step: Any, rows: int) -> None:
    learner = (step | nr.make("pa1")).learn(ROWS[:rows], Y[:rows])
    bad = [*ROWS[rows:], {"f0": 1e308, "f1": 1e308, "f2": 1e308, "zz": 1e308}]
    refused(learner, lambda: learner.learn(bad, [*Y[rows:], 1]))
    refused(learner, lambda: learner.learn_one(bad[-1], 1))
    fresh = (step | nr.make("pa1")).learn(ROWS, Y)
    assert pack(learner.learn(ROWS[rows:], Y[rows:])) == pack(fresh)


def test_learners_behind_maps_do_not_merge() -> None:
    one, other = ((nr.fourier(8) | nr.make("perceptron", native=False)).learn(ROWS, Y) for _ in range(2))
    with pytest.raises(nr.BadValue, match="transform by fourier cannot be merged"):
        one.merge(other)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fourier(gamma=-1)", "fourier: gamma must be at least 0, not -1"),
        ("fourier(gamma=nan)", "fourier: gamma must be at least 0, not nan"),
        ("fourier(gamma=wide)", "fourier: gamma must be a number at least 0, not 'wide'"),
        ("fourier(features=0)", "fourier: features must be at least 1"),
        ("fourier(features=7)", "fourier: features must be even"),
        ("fourier(features=2.5)", "fourier: features must be a whole number, not 2.5"),
        ("fourier(features=1e9)", "fourier: features must be at least 1 and at most 65536"),
        ("fourier(kernel=linear)", "fourier: kernel must be one of rbf, laplacian"),
        ("nystrom(features=0)", "nystrom: features must be at least 1"),
        ("nystrom(novelty=1)", "nystrom: novelty must be at least 1e-10 and below 1"),
        ("nystrom(degree=0)", "nystrom: degree must be at least 1"),
        ("nystrom(degree=1.5)", "nystrom: degree must be a whole number, not 1.5"),
        ("nystrom(kernel=string)", "nystrom: kernel must be one of rbf, laplacian, polynomial, cosine, linear"),
        ("tensor_sketch(degree=0)", "tensor_sketch: degree must be at least 1"),
        ("tensor_sketch(coef0=-1)", "tensor_sketch: coef0 must be at least 0"),
        ("tensor_sketch(size=9)", "tensor_sketch has no parameter 'size'"),
    ],
)
def test_bad_parameters_are_refused(text: str, message: str) -> None:
    with pytest.raises(nr.BadValue) as caught:
        nr.make("pa1", transforms=text)
    assert message in str(caught.value)


def test_a_map_is_written_as_a_call_or_with_a_colon() -> None:
    one = nr.make("pa1", transforms=["fourier(gamma=0.1, features=20)"])
    other = nr.make("pa1", transforms=["fourier:gamma=0.1,features=20"])
    assert (
        one.config.transforms
        == other.config.transforms
        == nr.make("pa1", transforms=nr.fourier(20, 0.1)).config.transforms
    )


def test_rows_of_zeros_have_features() -> None:
    for step in (nr.fourier(8), nr.nystrom(4), nr.nystrom(4, kernel="cosine"), nr.tensor_sketch(8)):
        assert np.isfinite(features(step, np.zeros((3, 2)))).all()
        assert np.isfinite(features(step, [{}, {"a": 0.0}, {"a": 1.0}])).all()


def test_rows_that_would_not_fit_in_memory_are_refused_before_they_are_made() -> None:
    learner = nr.fourier(60_000) | nr.make("pa1", native=False)
    many = csr_array((1 << 20, 3))
    assert "60000 features of each of 1,048,576 rows" in refused(learner, lambda: learner.learn(many, Y))


def test_landmarks_without_features_have_no_table_to_read() -> None:
    learner = nr.make("ogd", transforms="nystrom(gamma=0.5, features=4)", algebra="dense", native=False)
    learner.learn(csr_array(np.zeros((2, 3))), [1, -1])
    assert learner.scores(csr_array(np.array([[0.0, 2.0, 1.0]]))).shape == (1,)
    learner.learn(csr_array(np.array([[0.0, 2.0, 1.0], [0.0, 0.0, 0.0]])), [1, -1])
    assert np.isfinite(learner.scores(csr_array(np.eye(3)))).all()
