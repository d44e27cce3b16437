"""The theorems of the perceptron and of PA hold for sequences: on streams that some weights tag with a margin."""

from itertools import product
from typing import Any

import numpy as np
import pytest

import noregret as nr

TAGS, NAMES = ("a", "b", "c"), ("f", "g", "h", "i")
Sentence = list[dict[str, float]]


def parts(sentence: Sentence, tags: tuple[int, ...]) -> np.ndarray:
    """The features of a tagged sentence: of tokens, then of transitions, in a block for each tag."""
    found = np.zeros((len(TAGS), len(NAMES) + 1 + len(TAGS)))
    context = 0
    for token, tag in zip(sentence, tags, strict=True):
        found[tag, : len(NAMES)] += [token[name] for name in NAMES]
        found[tag, len(NAMES) + context] += 1.0
        context = tag + 1
    return found.ravel()


def separable(count: int, seed: int) -> tuple[list[Sentence], list[list[str]], Any, list[list[tuple[Any, float]]]]:
    """Sentences that hidden weights tag with a margin, the weights, and each sentence's differences and losses."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=len(TAGS) * (len(NAMES) + 1 + len(TAGS)))
    X: list[Sentence] = []
    Y: list[list[str]] = []
    differences: list[list[tuple[Any, float]]] = []
    while len(X) < count:
        sentence = [
            dict(zip(NAMES, rng.normal(size=len(NAMES)).tolist(), strict=True)) for _ in range(rng.integers(1, 4))
        ]
        outputs = list(product(range(len(TAGS)), repeat=len(sentence)))
        features = [parts(sentence, tags) for tags in outputs]
        best = int(np.argmax([u @ one for one in features]))
        rivals = [
            (features[best] - one, float(sum(a != b for a, b in zip(outputs[best], tags, strict=True))))
            for one, tags in zip(features, outputs, strict=True)
            if tags != outputs[best]
        ]
        if min(u @ z for z, _ in rivals) > 0.5:
            X.append(sentence)
            Y.append([TAGS[tag] for tag in outputs[best]])
            differences.append(rivals)
    return X, Y, u, differences


def tagger(name: str, **options: Any) -> Any:
    return nr.make("tagger", learner=nr.make(name, native=False), templates=["none"], **options)


@pytest.mark.parametrize("seed", range(3))
def test_the_perceptron_updates_at_most_radius_over_margin_squared_times(seed: int) -> None:
    X, Y, u, differences = separable(60, seed)
    margin = min(float(u @ z) for rivals in differences for z, _ in rivals)
    radius = max(float(z @ z) for rivals in differences for z, _ in rivals)
    learner = tagger("perceptron")
    for _ in range(4):
        learner.learn(X, Y)
    assert 0 < learner.updates <= radius * float(u @ u) / margin**2


@pytest.mark.parametrize("seed", range(3))
def test_pa_suffers_at_most_the_squared_norm_times_the_squared_radius(seed: int) -> None:
    """With margins that are roots of losses: the sum of the losses of all predictions."""
    X, Y, u, differences = separable(60, seed)
    scale = max(np.sqrt(loss) / float(u @ z) for rivals in differences for z, loss in rivals)
    radius = max(float(z @ z) for rivals in differences for z, _ in rivals)
    learner, total = tagger("pa", competitor="predicted", margin="sqrt"), 0.0
    for _ in range(4):
        total += learner.play(X, Y).losses.sum()
    first = sum(map(len, Y[:3]))  # tags are not known yet in the first rounds
    assert 0.0 < total - first <= radius * float(u @ u) * scale**2


@pytest.mark.parametrize("name", ["pa", "pa1", "pa2"])
def test_a_step_of_pa_solves_its_problem(name: str) -> None:
    """After a step the margin over the rival is its loss (pa), or falls short by what the slack costs (pa1, pa2)."""
    X, Y, _, differences = separable(12, 5)
    learner = tagger(name)
    learner.learn(X[:6], Y[:6])
    for sentence, tags, rivals in zip(X[6:], Y[6:], differences[6:], strict=True):
        before = weights(learner)
        learner.learn_one(sentence, tags)
        after = weights(learner)
        worst = max(rivals, key=lambda rival: rival[1] - float(before @ rival[0]))
        z, loss = worst
        missing = loss - float(before @ z)
        if missing <= 0.0:
            assert np.array_equal(before, after)
            continue
        step = {"pa": missing / (z @ z), "pa1": min(1.0, missing / (z @ z)), "pa2": missing / (z @ z + 0.5)}[name]
        assert after == pytest.approx(before + step * z, abs=1e-12)


def weights(learner: Any) -> np.ndarray:
    """The weights in the order of `parts`."""
    found = np.zeros((len(TAGS), len(NAMES) + 1 + len(TAGS)))
    names = [*NAMES, "after=<start>", *(f"after=str:{tag}" for tag in TAGS)]
    for tag, row in learner.learner.weights.items():
        found[TAGS.index(tag)] = [row.get(name, 0.0) for name in names]
    return found.ravel()
