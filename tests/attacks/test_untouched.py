"""What is refused or only looked at changes nothing, to the last bit; both paths take the same values."""

import subprocess
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.learner.model_file import pack
from tests.conformance.plays import NAMES, ONE_OF_A_KIND
from tests.support.cover import ALL, only_in_test_all

TRICKY = ("p_norm", "alma", "mirror_descent", "sop", "narow", "winnow")
BINARY = [name for name in NAMES if "binary" in nr.learners()[name].tasks and (ALL or name in ONE_OF_A_KIND)]


def plays(names: Iterable[str]) -> list[tuple[str, str]]:
    """The names with the algebras they play in, of the two that are compared."""
    return [(name, one) for one in ("sparse", "reference") for name in names if one in nr.learners()[name].algebras]


def stream(seed: int, rows: int = 20) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, 6)) * (rng.random((rows, 6)) < 0.5), np.where(rng.random(rows) > 0.5, 1, -1)


def learned(name: str, algebra: str) -> nr.RuleLearner:
    return nr.make(name, native=False, algebra=algebra, columns="grow").learn(*stream(1))


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("name", "algebra"), plays(BINARY))
def test_a_refused_call_leaves_every_bit(name: str, algebra: str) -> None:
    learner, (X, y) = learned(name, algebra), stream(2, 8)
    X[-2:] *= 1e200
    X[-1, 0], X[-2, 0] = 1e300, -1e300
    before = bytes(pack(learner))
    try:
        learner.learn(X, y)
    except nr.Error:
        assert bytes(pack(learner)) == before


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("name", "algebra"), plays(sorted({*BINARY, *TRICKY})))
def test_wider_rows_that_are_only_scored_change_no_bit(name: str, algebra: str) -> None:
    learner, (X, y) = learned(name, algebra), stream(3)
    other, expected = learner.copy(), learner.scores(X)
    learner.scores(np.random.default_rng(4).normal(size=(3, 40)))
    assert learner.scores(X).tobytes() == expected.tobytes()
    assert learner.learn(X, y).scores(X).tobytes() == other.learn(X, y).scores(X).tobytes()


@pytest.mark.parametrize("name", ["perceptron", "winnow"])
def test_rows_too_large_to_learn_are_too_large_to_score(name: str) -> None:
    learner = learned(name, "sparse")
    with pytest.raises(nr.BadValue, match="row 1: the score is not finite"):
        learner.scores(np.array([np.zeros(6), np.full(6, 1.7e308)]))
    with pytest.raises(nr.BadValue, match="row 0: the score is not finite"):
        learner.predict_one(dict.fromkeys(range(6), 1.7e308))


def test_a_norm_that_overflows_while_rows_are_scored_is_not_kept() -> None:
    """As of a model file with other parameters than the weights were learned with: it could not be saved again."""
    learner = nr.make("alma", native=False).learn(*stream(5))
    before, engine = pack(learner), learner._loops.engine
    engine.params = engine.params._replace(p=2e6)
    with pytest.raises(nr.BadValue, match="row 0: the score is not finite"):
        learner.scores(np.full((1, 6), 2.0))
    assert pack(learner) == before


@pytest.mark.parametrize("native", [False, True], ids=["plain", "compiled"])
def test_one_row_and_many_take_the_same_targets(native: bool) -> None:
    learner = nr.make("pa1", task="regression", native=native).learn([{"a": 1.0}], [1.0])
    learner.learn_one({"a": 2.0}, 1.5).learn_one({"a": 2.0}, 1.5)
    for target, words in ((2**70, ""), (10**400, "too large"), ("3", "must be numbers"), (None, "must be numbers")):
        said = []
        for one in (True, False):
            other = learner.copy()
            other.learn_one({"a": 1.0}, 1.0)
            try:
                other.learn_one({"a": 1.0}, target) if one else other.learn([{"a": 1.0}], [target])
                said.append("")
            except nr.BadValue as error:
                said.append(str(error))
        assert all(words in text and bool(text) == bool(words) for text in said)


def test_a_row_that_disagrees_with_itself_is_read_once() -> None:
    class Odd(dict[str, float]):
        def __len__(self) -> int:
            return 100

        def values(self) -> Any:
            return [1.0]

    learner = nr.make("arow").learn([{"a": 1.0}, {"b": 1.0}], [0, 1])
    row = Odd(a=1.0, b=2.0, c=3.0)
    for act in (lambda: learner.learn([row], [1]), lambda: learner.learn_one(row, 1), lambda: learner.predict([row])):
        act()
    assert learner.features == ["a", "b", "c"]


WIDE = """
import resource
import noregret as nr
learner = nr.make("pa1", task="multiclass").learn([{"a": 1.0}] * 300, [f"c{i}" for i in range(300)])
learner.learn_one({"a": 1.0}, "c0").predict_one({"a": 1.0})
before = learner.scores_one({"a": 1.0})
resource.setrlimit(resource.RLIMIT_AS, (700 << 20, 700 << 20))
wide = {f"x{i}": 1.0 for i in range(300_000)}
for act in (learner.predict_one, lambda x: learner.learn_one(x, "c1"), lambda x: learner.learn([x], ["c1"])):
    try:
        act(wide)
    except nr.Error as error:
        assert "memory" in str(error)
    assert learner.scores_one({"a": 1.0}) == before
print("sound")
"""


@only_in_test_all
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is limited in this way on Linux only")
def test_a_row_too_wide_for_memory_leaves_every_score() -> None:
    done = subprocess.run([sys.executable, "-c", WIDE], capture_output=True, text=True)
    assert done.stdout == "sound\n", done.stderr
