"""A few random streams for every kind of learner, always the same; `make fuzz` plays thousands for every learner."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import noregret as nr
from tests import naive
from tests.conformance.plays import FEW, Play, plays
from tests.fuzz.agreeing import Parted, Said, Tally, agree
from tests.fuzz.case import Case, Stream
from tests.fuzz.checks import COMPILED, by_twin, check, played, probe
from tests.fuzz.invariants import holds
from tests.fuzz.strategies import cases
from tests.naive.rules import Rule
from tests.support.cover import ALL

STREAMS = 6 if ALL else 4
X = np.array([[1.0, 2.0], [0.5, -1.0], [0.0, 0.0], [-2.0, 1.5], [1.0, 1.0], [0.3, 0.7]])
Y = [1, -1, 1, -1, 1, -1]
RIGHT = dict(naive.RULES)


@pytest.mark.slow
@pytest.mark.filterwarnings("default::RuntimeWarning")  # eager NumPy may overflow where the learner says so itself
@pytest.mark.parametrize("name", FEW)
@pytest.mark.thinned(6)
def test_every_claim_holds_on_random_streams(name: str) -> None:
    several = [play for play in plays() if play.name == name and play in COMPILED]

    @settings(
        max_examples=STREAMS,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(cases(several))
    def every_claim(case: Case) -> None:
        check(case)

    every_claim()


# ---- the checks can fail ------------------------------------------------------------------------------------------


def case(name: str, algebra: str = "sparse", **numbers: float) -> Case:
    defaults = {param: number.default for param, number in nr.learners()[name].numbers.items()}
    play = next(play for play in plays(["binary"], [algebra]) if play.name == name)
    return Case(play, {**defaults, **numbers}, Stream(X, Y), cut=3)


def test_a_case_is_played_by_every_player() -> None:
    totals = Tally()
    check(case("pa1"), totals)
    assert (totals.streams, totals.rounds, totals.compiled, totals.reference, totals.twin) == (1, 6, 1, 1, 1)
    assert totals.undecided == totals.refused == 0


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("pa1", lambda C, gate: RIGHT["pa1"](C=0.1, gate=gate)),
        ("perceptron", lambda **told: RIGHT["perceptron_margin"](b=2.0)),
        ("arow", lambda r, covariance: RIGHT["arow"](r=r + 1e-6, covariance=covariance)),
        ("ofs", lambda B, eta, lam: RIGHT["ofs"](B=1.0, eta=eta, lam=lam)),
    ],
    ids=["pa1", "perceptron", "arow", "ofs"],
)
def test_a_twin_of_another_mind_is_found(
    name: str, wrong: Callable[..., Rule], monkeypatch: pytest.MonkeyPatch
) -> None:
    check(case(name))
    monkeypatch.setitem(naive.RULES, name, wrong)
    with pytest.raises(Parted, match="learner and twin part"):
        check(case(name))


def test_a_weight_outside_of_its_set_is_found() -> None:
    ofs = case("ofs", B=1.0)
    learner = ofs.make().learn(X, Y)
    holds(ofs, learner)
    with pytest.raises(AssertionError, match="more than B weights"):
        holds(ofs, case("ofs", B=2.0).make().learn(X, Y))
    learner.model.arrays.w.v[:] = np.nan
    with pytest.raises(AssertionError, match="not finite"):
        holds(ofs, learner)


def test_rounding_excuses_what_it_explains_and_nothing_else() -> None:
    pa = case("pa")
    said = played(pa.make(), pa.stream, probe(pa))
    expected = by_twin(pa, X, Y)

    def shaken(seed: int) -> Said:
        return by_twin(pa, X * (1.0 + 1e-12), Y)

    assert agree(pa, said, expected, shaken, "both")
    a_little = Said(said.scores + 1e-8, said.updated, said.after)
    with pytest.raises(Parted, match="round 1"):
        agree(pa, a_little, expected, shaken, "both")
    moved = Said(said.scores, [*said.updated[:-1], not said.updated[-1]], said.after)
    with pytest.raises(Parted, match="round 6"):
        agree(pa, moved, expected, shaken, "both")


@pytest.mark.parametrize("kind", ["array", "csr", "dicts"])
def test_a_case_can_be_written_down_and_played_again(kind: str) -> None:
    written = Case(Play("pa1", "binary", "sparse", (("gate", "loss"),)), {"C": 0.3}, Stream(X, Y, [0.5] * 6, kind))
    names: dict[str, object] = {}
    exec(written.text().replace("print(", "said = (", 1), names)
    said = names["said"]
    assert isinstance(said, nr.Transcript)
    expected = written.make().play(X, Y, weight=0.5)
    np.testing.assert_array_equal(said.scores, expected.scores)
