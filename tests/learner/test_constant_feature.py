"""The constant feature: its value is given, or that of the first row, however rows are batched, saved or refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.learner.model_file import pack
from tests.support import refusal, refused, small_stream

ROWS: list[dict[str, float]] = [{}, {"a": -3.0, "b": 1.0}, {"a": 8.0}, {"c": 1.0}]
LABELS = [1, -1, 1, -1]


def fresh(**told: Any) -> nr.RuleLearner:
    return nr.make("pa1", native=False, **told)


@pytest.mark.parametrize("algebra", ["sparse", "dense", "reference"])
def test_a_number_is_the_value_of_the_constant(algebra: str) -> None:
    X, y = small_stream()
    wide = np.hstack((np.full((len(X), 1), 2.5), X))
    told = fresh(algebra=algebra, bias=2.5).play(X, y)
    assert told.scores.tolist() == fresh(algebra=algebra).play(wide, y).scores.tolist()
    assert fresh(bias=1.0).play(X, y).scores.tolist() == fresh(bias=True).play(X, y).scores.tolist()


@pytest.mark.parametrize("bias", ["yes", 0, 0.0, -1.0, np.inf, np.nan, None, 10**400])
def test_anything_else_is_refused(bias: Any) -> None:
    assert "bias must be" in refusal(lambda: fresh(bias=bias))


def test_the_first_row_with_values_decides_it() -> None:
    learner = fresh(bias="auto").learn(ROWS, LABELS)
    assert learner.model.constant == 2.0
    assert learner.learn([{"a": 100.0}], [1]).model.constant == 2.0


def test_batches_rows_copies_and_files_agree(tmp_path: Path) -> None:
    whole, single = fresh(bias="auto").learn(ROWS, LABELS), fresh(bias="auto")
    for x, label in zip(ROWS, LABELS, strict=True):
        single.learn_one(x, label)
        single.save(tmp_path / "m.nr")
        single = nr.load(tmp_path / "m.nr").copy()
    assert pack(single) == pack(whole)
    assert single.predict_one({"a": 1.0}) == whole.predict([{"a": 1.0}])[0]


def test_a_refused_call_leaves_it_undecided() -> None:
    learner = fresh(bias="auto").learn([{}], [1])
    assert "finite" in refused(learner, lambda: learner.learn([{"a": 3.0}, {"a": np.inf}], [1, 1]))
    assert learner.model.constant == 0.0


def test_learners_with_other_constants_cannot_be_merged() -> None:
    a, b = fresh(bias="auto").learn([{"a": 1.0}], [1]), fresh(bias="auto").learn([{"a": 4.0}], [-1])
    assert "constant feature is 1 in one learner and 4" in refused(a, lambda: a.merge(b))
    assert a.merge(fresh(bias="auto").learn([{"b": -1.0}], [-1])).rounds == 2


def test_a_race_of_sparse_rows_has_one_and_ranking_has_none(tmp_path: Path) -> None:
    file = tmp_path / "rows.svm"
    file.write_text("".join(f"{1 if t % 9 == 0 else -1} qid:{t // 3} 1:{t % 4} 2:0.5\n" for t in range(30)))
    board = nr.race(str(file), ["pa1"], native=False)
    assert board.winner.config.bias_value is None
    assert board.winner.model.constant == 0.5
    ranked = nr.race(nr.open_source(str(file), lists=True, targets=True), ["pa1"], task="ranking", native=False)
    assert not ranked.winner.config.bias
