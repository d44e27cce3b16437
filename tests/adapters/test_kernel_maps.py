"""FOGD and NOGD: gradient descent behind a kernel map, beside twins that map rows and descend the obvious way."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.evaluation.capabilities import describe_preparation, given_options
from noregret.learner.model_file import pack
from tests import naive
from tests.naive import kernel_maps
from tests.naive.rules import Array
from tests.support import by_name, refusal

RNG = np.random.default_rng(11)
X = RNG.normal(size=(120, 3))
Y = np.where(X[:, 0] * X[:, 1] > 0.0, 1, -1)
MAPPED: dict[str, Any] = {
    "fogd": ({"features": 24, "gamma": 0.3}, kernel_maps.fourier(X, [0.3] * len(X), 24)),
    "nogd": ({"features": 9, "gamma": 0.3}, kernel_maps.nystrom(X, kernel_maps.rbf(0.3), 9, 0.1)[0]),
}


def twin(mapped: Array, y: Any, **options: Any) -> tuple[Array, Any]:
    return naive.binary("ogd", **{"eta0": 0.0, **options}).run(mapped, y)


@pytest.mark.parametrize("options", [{}, {"eta0": 0.5}, {"eta0": 0.2, "schedule": "constant", "loss": "logistic"}])
@pytest.mark.parametrize("name", MAPPED)
def test_they_descend_on_mapped_rows(name: str, options: dict[str, Any]) -> None:
    given, mapped = MAPPED[name]
    learner = nr.make(name, native=False, **given, **options)
    transcript = learner.play(X, Y)
    scores, updated = twin(mapped, Y, **options)
    np.testing.assert_allclose(transcript.scores, scores, atol=1e-8)
    assert transcript.updated.tolist() == updated.tolist()


@pytest.mark.parametrize("name", MAPPED)
def test_one_step_moves_the_score_of_its_row_by_the_rate_times_the_kernel(name: str) -> None:
    given, _ = MAPPED[name]
    learner = nr.make(name, native=False, eta0=0.1, schedule="constant", **given).learn(X[:40], Y[:40])
    row, truth = X[40:41], Y[40:41]
    before = learner.scores(X)
    phi = learner.copy().learn(row, truth, weight=[0.0])._encode(np.concatenate((X, row))).val
    transcript = learner.play(row, truth)
    assert transcript.losses[0] > 0.0
    np.testing.assert_allclose(learner.scores(X) - before, 0.1 * truth[0] * (phi[:-1] @ phi[-1]), atol=1e-9)


@pytest.mark.parametrize("name", MAPPED)
def test_they_are_ogd_behind_the_map(name: str) -> None:
    step = nr.fourier(24) if name == "fogd" else nr.nystrom(24)
    one = nr.make(name, features=24, scale=True, native=False).learn(X, Y)
    other = (nr.scale() | step | nr.make("ogd", native=False)).learn(X, Y)
    assert one.scores(X).tolist() == other.scores(X).tolist()
    assert one.card.name == name
    assert one.params["features"] == 24.0


@pytest.mark.parametrize("name", MAPPED)
def test_products_of_signs_are_learned_by_kernels_and_not_linearly(name: str) -> None:
    Z = RNG.normal(size=(1500, 2))
    truth = np.where(Z[:, 0] * Z[:, 1] > 0.0, 1, -1)
    kernel, linear = nr.make(name), nr.make("ogd")
    for learner in (kernel, linear):
        learner.learn(Z[:1000], truth[:1000])
    assert np.mean(kernel.predict(Z[1000:]) != truth[1000:]) < 0.1
    assert np.mean(linear.predict(Z[1000:]) != truth[1000:]) > 0.3


@pytest.mark.parametrize("kernel", ["rbf", "polynomial"])
def test_targets_are_learned_with_a_rate_that_fits_the_length_of_mapped_rows(kernel: str, tmp_path: Path) -> None:
    learner = nr.make("nogd", task="regression", kernel=kernel, features=8, native=False).learn(X, X[:, 0])
    assert learner.params["eta0"] == (4.0 if kernel == "rbf" else 0.1)
    assert nr.make("nogd", task="regression", eta0=0.5).params["eta0"] == 0.5
    learner.save(tmp_path / "m.nr")
    assert pack(nr.load(tmp_path / "m.nr")) == pack(learner)


@pytest.mark.parametrize("name", MAPPED)
def test_their_files_keep_the_name(name: str, tmp_path: Path) -> None:
    learner = nr.make(name, features=8, kernel="laplacian", native=False, transforms=["clip:limit=2"]).learn(X, Y)
    learner.save(tmp_path / "m.nr")
    loaded = nr.load(tmp_path / "m.nr")
    assert repr(loaded) == repr(learner)
    assert loaded.card is nr.learners()[name]
    assert pack(loaded) == pack(learner)
    assert loaded.predict(X).tolist() == learner.predict(X).tolist()


def test_transforms_and_scaling_come_before_the_map() -> None:
    learner = nr.scale() | nr.make("fogd", features=8, transforms=[nr.clip(2.0)])
    assert [step.name for step in learner.config.transforms] == ["scale", "clip", "fourier"]
    assert repr(learner) == "<scale() | clip(limit=2.0) | fogd, features=8.0: binary, 0 rounds, 0 mistakes>"


def test_pools_and_races_know_them_by_name() -> None:
    pool: Any = nr.make("auto", pool=["pa1", ("fogd", {"features": 8}), ("nogd", {"features": 4})], native=False)
    pool.learn([by_name(row) for row in X], Y.tolist())
    assert "fogd(features=8)" in [entry.name for entry in pool.entries]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("fogd", {"gamma": -1.0}, "fogd: gamma must be at least 0, not -1.0"),
        ("fogd", {"features": 0}, "fogd: features must be at least 1"),
        ("fogd", {"features": 3}, "fourier: features must be even"),
        ("fogd", {"kernel": "linear"}, "fourier: kernel must be one of rbf, laplacian"),
        ("fogd", {"C": 1.0}, "fogd has no parameter 'C'"),
        ("nogd", {"degree": 0}, "nogd: degree must be at least 1"),
        ("nogd", {"novelty": 0.0}, "nogd: novelty must be at least 1e-10"),
    ],
)
def test_bad_parameters_are_refused(name: str, options: dict[str, Any], message: str) -> None:
    assert message in refusal(lambda: nr.make(name, **options))


def test_commands_and_notes_tell_what_the_method_was_made_with() -> None:
    learner = nr.make("fogd", gamma=0.5, scale=True, features=8)
    assert dict(given_options(learner)) == {"gamma": 0.5, "scale": True, "features": 8.0}
    assert [note.partition(" by ")[0] for note in describe_preparation(learner)] == ["numbers are scaled"]


@pytest.mark.parametrize("name", MAPPED)
def test_regret_keeps_the_theorem_of_gradient_descent_on_mapped_rows(name: str) -> None:
    given, phi = MAPPED[name]
    learner = nr.make(name, native=False, eta0=0.2, schedule="constant", **given)
    transcript = learner.play(X, Y)
    squared = float((phi[transcript.updated] ** 2).sum())
    for seed in range(20):
        u = np.random.default_rng(seed).normal(scale=3.0, size=phi.shape[1])
        u = u if seed else 5.0 * (phi * Y[:, None]).mean(axis=0)
        regret = float(transcript.losses.sum() - np.maximum(0.0, 1.0 - Y * (phi @ u)).sum())
        bound = learner.card.bound(learner.params, norm=float(np.linalg.norm(u)), squared_gradients=squared)
        assert regret <= bound + 1e-9
