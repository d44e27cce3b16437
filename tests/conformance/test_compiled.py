"""Compiled code is the plain text of the rule, only faster."""

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array

from noregret import RuleLearner, Transcript
from noregret.jit.cache import cache_folder
from tests.conformance.loops import CHECKED, exact
from tests.conformance.plays import CARDS, FEW_IN, Play, arrays, near, same_bits, stream, unusual
from tests.naive.rules import Array
from tests.support.cover import ALL, only_in_test_all

pytestmark = pytest.mark.compiles

EPS = float(np.finfo(float).eps)
# Steps of 1/(lam t) on a squared loss overshoot at first and multiply every rounding error: sums in the order of
# compiled code may then change as much as the result does when the last bits of the rows change.
AMPLIFYING = {Play("pegasos", "regression", "dense", (("projection", "no"), ("loss", "huber")))}


def played(play: Play, native: bool, factor: float = 1.0) -> tuple[RuleLearner, Transcript]:
    """Two batches, the second wider than the first, with numbers far from the defaults; all rows times a factor."""
    X, y = stream(play.task, dense=play.algebra == "dense", seed=3)
    X = factor * X
    learner = play.make(native=native, columns="grow", **unusual(play.card, play.algebra, play.options))
    rows = X if play.algebra == "dense" else csr_array(X)
    learner.learn(rows[:25, :5], y[:25])
    return learner, learner.play(rows[25:], y[25:])


@pytest.mark.parametrize("play", CHECKED, ids=str)
def test_compiled_equals_interpreted(play: Play) -> None:
    fast, fast_says = played(play, native=True)
    slow, slow_says = played(play, native=False)
    assert fast_says.updated.tolist() == slow_says.updated.tolist()
    assert fast_says.mistakes.tolist() == slow_says.mistakes.tolist()
    X, _ = stream(play.task, dense=True, seed=4)
    fast_numbers, slow_numbers = (numbers(*both, X) for both in ((fast, fast_says), (slow, slow_says)))
    for number, (found, expected) in enumerate(zip(fast_numbers, slow_numbers, strict=True)):
        if exact(play):
            assert same_bits(found, expected)
        elif play in AMPLIFYING:
            shaken = [numbers(*played(play, False, 1.0 + ulps * EPS), X)[number] for ulps in (-2, -1, 1, 2)]
            assert np.abs(found - expected).max() <= 4.0 * max(np.abs(one - expected).max() for one in shaken)
        else:
            near(found, expected, tolerance=1e-12)


def numbers(learner: RuleLearner, says: Transcript, X: Array) -> list[Array]:
    """The scores of all rounds, those of other rows afterwards, and the state."""
    kept = arrays(learner)
    return [says.scores, learner.scores(X), *(kept[name] for name in sorted(kept))]


def test_every_file_of_rules_and_every_kind_of_store_and_hook_in_every_algebra_is_compiled() -> None:
    assert {(play.name, play.algebra) for play in CHECKED} >= {
        (name, algebra) for algebra in ("sparse", "dense", "kernel") for name in FEW_IN[algebra]
    }
    files = {card.name: card.rule.__code__.co_filename for card in CARDS}
    assert {files[play.name] for play in CHECKED} == set(files.values())
    assert not ALL or {play.name for play in CHECKED} == set(files)


def test_the_sample_reaches_every_task() -> None:
    assert {play.task for play in CHECKED} == {"binary", "multiclass", "regression"}


RAGGED = """
import os
import numpy as np
import noregret as nr
from noregret.jit.compiler import OPTIONS

assert OPTIONS["boundscheck"]
rng = np.random.default_rng(0)
names = [f"f{j}" for j in range(40)]
rows = [{n: float(rng.normal()) for n in rng.choice(names[: 4 + t], size=t % 5, replace=False)} for t in range(36)]
of_many = [str(min(t, rng.integers(5))) for t in range(36)]
several = [
    ("pa1", {"algebra": "sparse", "task": "multiclass"}),
    ("arow", {"algebra": "dense", "task": "binary", "covariance": "full"}),
    ("perceptron_averaged", {"algebra": "kernel", "task": "binary"}),
    ("perceptron_pocket", {"algebra": "sparse", "task": "binary", "reservoir": 7}),
    ("arow", {"algebra": "sparse", "task": "multiclass", "covariance": "full"}),
    ("rda", {"algebra": "dense", "task": "multiclass"}),
    ("perceptron_averaged", {"algebra": "kernel", "task": "multiclass"}),
    ("perceptron_pocket", {"algebra": "sparse", "task": "multiclass", "reservoir": 7}),
]
for rule, told in several if os.environ.get("NOREGRET_TEST_ALL") else several[:4]:
    labels = of_many if told["task"] == "multiclass" else [label in "01" for label in of_many]
    learner = nr.make(rule, **told)
    for start in range(0, 36, 9):
        learner.learn(rows[start : start + 9], labels[start : start + 9])
        learner.scores([*rows, {}, {"never seen": 1.0}])
    for x, label in zip(rows, labels):
        learner.learn_one(x, label)
        learner.predict_one(x)
print("in bounds")
"""


@only_in_test_all
def test_no_loop_reaches_out_of_its_arrays() -> None:
    told = {**os.environ, "NOREGRET_BOUNDS_CHECK": "1", "NOREGRET_CACHE": str(cache_folder() / "bounds_checked")}
    done = subprocess.run([sys.executable, "-W", "error", "-c", RAGGED], env=told, capture_output=True, text=True)
    assert done.stdout == "in bounds\n", done.stderr
