"""Structured output follows the protocol of all learners: the same checks as for rules and adapters."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.learner.model_file import FindCard, restore
from tests.conformance.protocol import CHECKS, Case, check_save_and_go_on, state
from tests.naive.structured import matchings
from tests.structured.test_structured_learner import Classes, rounds

X, Y = rounds()
X, Y = X[:30], Y[:30]


def nearness(left: float, right: float) -> dict[str, float]:
    return {"pair": 1.0, "distance": abs(left - right), "product": left * right}


def matching_rounds() -> tuple[list[Any], list[Any]]:
    rng = np.random.default_rng(1)
    inputs = [(rng.normal(size=3).tolist(), rng.normal(size=2).tolist()) for _ in range(25)]
    every = list(matchings(3, 2, True))
    return inputs, [every[rng.integers(len(every))] for _ in inputs]


def lists() -> tuple[list[Any], list[Any]]:
    rng = np.random.default_rng(2)
    inputs = [[{f"f{j}": float(v) for j, v in enumerate(row)} for row in rng.normal(size=(4, 3))] for _ in range(25)]
    return inputs, [rng.integers(0, 4, size=4).astype(float).tolist() for _ in inputs]


def made(decoder: Any, rule: str = "pa1", native: bool = False, average: Any = None, **options: Any) -> Any:
    given = {} if average is None else {"average": average}
    return nr.make("structured", decoder=decoder, learner=nr.make(rule, native=native, **given), **options)


M, L = matching_rounds(), lists()
MATCHING, LISTS, CLASSES = {"decoder": nr.Matching(nearness)}, {"decoder": nr.Reranking()}, {"decoder": Classes()}
NAN, BAD_LIST = {"f1": float("nan")}, [{"f0": float("inf")}, {"f0": 1.0}, {"f1": 1.0}, {"f2": 1.0}]
CASES = {
    "classes": Case(lambda: made(Classes()), X, Y, NAN, CLASSES),
    "averaged perceptron": Case(lambda: made(Classes(), "perceptron", average=True), X, Y, NAN, CLASSES),
    "arow": Case(lambda: made(Classes(), "arow", margin="sqrt"), X, Y, NAN, CLASSES),
    "all": Case(lambda: made(Classes(), competitor="all"), X, Y, NAN, CLASSES),
    "matching": Case(lambda: made(nr.Matching(nearness)), *M, ([float("inf")], [1.0]), MATCHING),
    "compiled matching": Case(lambda: made(nr.Matching(nearness), native=True), *M, ([1.0, 2.0], [1e999]), MATCHING),
    "reranking": Case(lambda: made(nr.Reranking(), "pa2", competitor="all"), *L, BAD_LIST, LISTS),
    "k best": Case(lambda: made(nr.Reranking(), "pa", competitor="k_best", k=2), *L, BAD_LIST, LISTS),
}


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.thinned(6)
def test_structured_output_follows_the_protocol(case: Case, check: Callable[[Case], None]) -> None:
    check(case)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_saved_and_loaded_it_goes_on(case: Case, tmp_path: Path) -> None:
    check_save_and_go_on(case, tmp_path)


# ---- files -----------------------------------------------------------------------------------------------------------


def test_the_decoder_is_given_again_when_a_model_is_loaded(tmp_path: Path) -> None:
    learner = made(Classes(), k=3).learn(X, Y)
    learner.save(tmp_path / "classes.nr")
    decoder: Any
    for decoder in (Classes(), {"Classes": Classes()}, [Classes()]):
        again = nr.load(tmp_path / "classes.nr", decoder=decoder)
        assert again.predict(X).tolist() == learner.predict(X).tolist()
        assert again.params == learner.params
    for decoder, words in (
        (None, "learned with the decoder 'Classes'; give it to load as decoder="),
        (nr.Reranking(), "learned with the decoder 'Classes'"),
        ({"Classes": 3}, "decoder must be an object with the methods"),
    ):
        with pytest.raises(nr.Error, match=words):
            nr.load(tmp_path / "classes.nr", decoder=decoder)
    nameless = made(type("", (Classes,), {})()).learn(X, Y)
    with pytest.raises(nr.Error, match="must have a name to be saved"):
        nameless.save(tmp_path / "nameless.nr")
    assert nameless.copy().learn(X, Y).rounds == 2 * len(Y)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"decoder": 3}, "decoder must be the name of a class"),
        ({"competitor": "nobody"}, "competitor must be one of"),
        ({"margin": 7}, "margin must be one of"),
        ({"k": 0}, "k must be at least 1"),
        ({"k": 2.5}, "k must be a whole number"),
        ({"rounds": -1}, "rounds must be a whole number"),
    ],
)
def test_a_corrupt_header_is_refused(changes: dict[str, Any], words: str) -> None:
    header, arrays = made(Classes()).learn(X, Y).dump()
    with pytest.raises(nr.BadValue, match=words) as caught:
        restore({"kind": "structured", **header, **changes}, arrays, FindCard(decoder=Classes()))
    assert "corrupt model file" in str(caught.value)


def test_a_learner_of_another_task_inside_is_refused() -> None:
    header, _ = made(Classes()).learn(X, Y).dump()
    other, others = nr.make("pa1", native=False).learn([[1.0]], [1]).dump()
    parts = {f"learner/{name}": array for name, array in others.items()}
    with pytest.raises(nr.BadValue, match="corrupt model file: structured output needs a fresh learner"):
        restore(
            {"kind": "structured", **header, "learner": {"kind": "rule", **other}}, parts, FindCard(decoder=Classes())
        )
    fresh, _ = nr.make("pa1", native=False).dump()
    with pytest.raises(nr.BadValue, match="does not fit structured output"):
        restore({"kind": "structured", **header, "learner": {"kind": "rule", **fresh}}, {}, FindCard(decoder=Classes()))


def test_copies_share_the_decoder_and_pickles_carry_it() -> None:
    learner = made(Classes()).learn(X, Y)
    assert copy.deepcopy(learner).decoder is learner.decoder
    assert isinstance(pickle.loads(pickle.dumps(learner)).decoder, Classes)


def test_learners_of_one_decoder_merge_by_the_law_of_the_rule() -> None:
    one, other = made(Classes()).learn(X[:15], Y[:15]), made(Classes()).learn(X[15:], Y[15:])
    before = state(one), state(other)
    merged, inside = one.merge(other), one.learner.merge(other.learner)
    assert merged.weights == inside.weights
    assert (merged.rounds, merged.mistakes) == (30, one.mistakes + other.mistakes)
    assert merged.updates == one.updates + other.updates
    assert (state(one), state(other)) == before
    for wrong in (made(Classes(), margin="sqrt"), one.learner, made(nr.Reranking())):
        with pytest.raises(nr.BadValue, match="only learners of one decoder with the same options"):
            one.merge(wrong)


def test_it_races_beside_others_and_reports_the_losses_of_the_task() -> None:
    racing = [made(nr.Matching(nearness), name) for name in ("pa1", "perceptron")]
    for entry in nr.race(M, racing):
        learner: Any = entry.learner
        alone = made(nr.Matching(nearness), learner.learner.card.name).play(*M)
        assert entry.rounds == len(M[1])
        assert entry.mistakes == np.count_nonzero(alone.mistakes)
        assert entry.loss == alone.losses.sum()


# ---- passes and evaluation -------------------------------------------------------------------------------------------


def test_it_is_evaluated_by_the_losses_of_its_decoder_and_nothing_is_learned() -> None:
    for case in CASES.values():
        learner = case.trained()
        before, decoder = state(learner), learner.decoder
        found = [learner.predict_one(x) for x in case.X]
        transcript, report = learner.evaluate(case.X, case.y), nr.evaluate((case.X, case.y), learner)
        assert transcript.losses.tolist() == [decoder.loss(y, one) for y, one in zip(case.y, found, strict=True)]
        assert report["loss"] == transcript.losses.sum()
        assert report["mistakes"] == np.count_nonzero(transcript.mistakes) == np.count_nonzero(transcript.losses)
        assert not transcript.updated.any()
        assert state(learner) == before
        with pytest.raises(nr.NotLearned):
            case.make().evaluate(case.X, case.y)


def test_passes_shuffle_inputs_of_any_kind_and_stop_early() -> None:
    learner, alone = made(nr.Matching(nearness)), made(nr.Matching(nearness))
    history = nr.epochs(learner, *M, 3, validation=M)
    for epoch in range(3):
        order = np.random.default_rng(epoch).permutation(len(M[1]))
        alone.learn([M[0][at] for at in order], [M[1][at] for at in order])
        assert history.validation[epoch] == alone.evaluate(*M).losses.mean()
    assert state(learner) == state(alone)
    best = nr.online_to_batch(made(nr.Matching(nearness)), *M, by="best_on_validation", validation=M)
    assert best.evaluate(*M).losses.mean() <= made(nr.Matching(nearness)).learn(*M).evaluate(*M).losses.mean()
    for X, y, words in ((3, M[1], "X must be a list"), (M[0], "text", "y must be a list"), (M[0], M[1][1:], "25 rows")):
        with pytest.raises(nr.BadValue, match=words):
            nr.epochs(made(nr.Matching(nearness)), X, y, 3)
    with pytest.raises(nr.BadValue, match="validation: X must be a list"):
        nr.epochs(made(nr.Matching(nearness)), *M, 3, validation=(3, M[1]))
