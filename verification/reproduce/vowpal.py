"""Vowpal Wabbit's plain gradient descent on rcv1_small: the same predictions, and what clipping does to its loss."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

import noregret as nr
from verification.reproduce.data import rows
from verification.reproduce.report import AGREES, DEPARTS, MISS, NOT_RUN, Progress, Row, Table

FILES = ("rcv1_small/rcv1_small.train.svm.gz",)
SOURCE = "Vowpal Wabbit, `vw --sgd --noconstant`, run in the same process; 1,000 rows, one pass"
PROTOCOL = (
    "Its progressive loss must agree to 1e-3. Its rate in round t is l / (t + 1)^power_t, with l = 10 by default, so "
    "ours learns one empty row first; the remaining differences of the predictions come from single precision. It "
    "clips predictions to the range of the labels so far, and reports the loss of the clipped prediction. With the "
    "hinge loss the weights are equal, and our scores, clipped, have its loss. With the squared loss its step also "
    "uses the clipped prediction: without clipping (--min_prediction, --max_prediction) its result equals ours; with "
    "clipping it equals ours if each round is weighted by the part of the error that clipping leaves."
)
ALLOWED = 1e-3
WIDE = "--min_prediction -1000000 --max_prediction 1000000"
LOSSES = ("hinge", "logistic", "squared")


class Setting(NamedTuple):
    """A first rate, and the schedule of ours that a power of its rounds is."""

    rate: float
    power: float
    schedule: str

    def options(self, loss: str) -> str:
        return f"--sgd --noconstant --loss_function {loss} -l {self.rate:g} --power_t {self.power:g}"


SETTINGS = (Setting(10.0, 0.5, "inv_sqrt"), Setting(0.5, 0.5, "inv_sqrt"), Setting(0.5, 0.0, "constant"))


def example(x: Any, y: float) -> str:
    """A row as a line of its format."""
    cells = zip(x.indices.tolist(), x.data.tolist(), strict=True)
    return f"{y:+.0f} | " + " ".join(f"{j}:{value!r}" for j, value in cells)


def theirs(options: str, lines: list[str]) -> tuple[float, np.ndarray]:
    """Its progressive loss, and what it predicted."""
    from vowpalwabbit import Workspace

    machine = Workspace(f"{options} --quiet")
    predicted = []
    for line in lines:
        given = machine.example(line)
        machine.learn(given)
        predicted.append(given.get_simplelabel_prediction())
        machine.finish_example(given)
    loss = machine.get_sum_loss() / len(lines)
    machine.finish()
    return loss, np.array(predicted)


def learner(loss: str, setting: Setting, X: Any) -> nr.RuleLearner:
    """Ours, one empty round old."""
    made = nr.make("ogd", loss=loss, schedule=setting.schedule, eta0=setting.rate, classes=[-1.0, 1.0])
    return made.learn(sparse.csr_matrix((1, X.shape[1])), [-1.0])


def range_of_labels(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Between what a prediction is clipped: the labels up to its own round, and zero."""
    return np.minimum(np.minimum.accumulate(y), 0.0), np.maximum(np.maximum.accumulate(y), 0.0)


def clipped_loss(loss: str, scores: np.ndarray, y: np.ndarray) -> float:
    """The mean loss of clipped scores; of the logistic loss nothing is clipped."""
    margins = y * (scores if loss == "logistic" else np.clip(scores, *range_of_labels(y)))
    if loss == "hinge":
        return float(np.maximum(0.0, 1.0 - margins).mean())
    return float(np.logaddexp(0.0, -margins).mean() if loss == "logistic" else ((1.0 - margins) ** 2).mean())


def clipped_steps(setting: Setting, X: Any, y: np.ndarray) -> np.ndarray:
    """Our scores where every step of the squared loss is by the clipped score."""
    made = learner("squared", setting, X)
    scores, nothing = np.zeros(len(y)), sparse.csr_matrix((1, X.shape[1]))
    low, high = range_of_labels(y)
    for t, truth in enumerate(y):
        score = scores[t] = made.scores(X[t])[0]
        error = truth - min(max(score, low[t]), high[t])
        if error == 0.0:  # a round of weight 0 would be no round, and the next rate that of this one
            made.learn(nothing, [truth])
        else:
            made.learn(X[t], [truth], weight=[error / (truth - score)])
    return scores


def compared(loss: str, setting: Setting, X: Any, y: np.ndarray, lines: list[str]) -> Row:
    """Its progressive loss and ours, with the reason where they differ."""
    options = setting.options(loss)
    published, _ = theirs(options, lines)
    unclipped, predicted = theirs(f"{options} {WIDE}", lines)
    told = learner(loss, setting, X).play(X, y)
    ours = float(told.losses.mean())
    apart = float(np.abs(told.scores - predicted).max())
    scores = clipped_steps(setting, X, y) if loss == "squared" else told.scores
    clipped = clipped_loss(loss, scores, y)
    same = abs(unclipped - ours) <= ALLOWED and abs(clipped - published) <= ALLOWED
    verdict = MISS if not same else AGREES if abs(published - ours) <= ALLOWED else DEPARTS
    remark = f"its loss without clipping {unclipped:.6f}; predictions differ by at most {apart:.1g}"
    if loss != "logistic":
        remark += f"; our loss with clipping {clipped:.6f}"
    return Row(f"vw {options}", "ogd", f"{published:.6f}", f"{ours:.6f}", verdict, remark)


def run(base: Path) -> Iterator[Table]:
    title = "Vowpal Wabbit, progressive loss"
    if find_spec("vowpalwabbit") is None:
        why = "vowpalwabbit is not installed: pip install -e '.[bench]'"
        yield Table(title, SOURCE, PROTOCOL, [Row("vw --sgd", "ogd", "", "", NOT_RUN, why)])
        return
    X, y = rows(base, FILES[0])
    lines = [example(X[t], y[t]) for t in range(len(y))]
    progress, found = Progress("vw", len(SETTINGS) * len(LOSSES)), []
    for setting in SETTINGS:
        for loss in LOSSES:
            found.append(compared(loss, setting, X, y, lines))
            progress.step(found[-1].what)
    yield Table(title, SOURCE, PROTOCOL, found)
