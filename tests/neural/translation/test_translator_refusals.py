"""Bad input of translators: a short error that names what is wrong, and nothing changes."""

import json
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

import noregret as nr
from noregret.learner.model_file import KEY, digest, unpack
from noregret.neural.translation.sizes import LONGEST
from noregret.neural.translation.vocabulary import Vocabulary
from tests.neural.translation.tiny import SIZES, X, Y, translator, vocabulary
from tests.support import refusal, refused
from tests.support.model_files import header, tensors

LONG = "dog " * (LONGEST + 1)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"width": 6}, "multiple of twice the heads"), ({"layers": 1.5}, "layers"), ({"heads": 0}, "heads"),
        ({"hidden": -1}, "hidden"), ({"optimizer": "adamw"}, "optimizer"), ({"eta": float("nan")}, "eta"),
        ({"clip": -1.0}, "clip"), ({"trains": "encoder"}, "trains"), ({"beam": 0}, "beam"), ({"beam": 1.5}, "beam"),
        ({"alpha": -1.0}, "alpha"), ({"seed": -1}, "seed"), ({"seed": 0.5}, "seed"), ({"margin": -1.0}, "margin"),
        ({"vocabulary": "words"}, "Vocabulary.learn"), ({"depth": 3}, "depth"),
    ],
)  # fmt: skip
def test_options_that_make_no_sense_are_named(options: dict[str, Any], named: str) -> None:
    given: dict[str, Any] = {"vocabulary": vocabulary(), **SIZES, **options}
    assert named in refusal(lambda: nr.make("translator", **given))


@pytest.mark.parametrize(
    ("pair", "named"),
    [
        (("", "Hund"), "round 2: the sentence is empty"), (("dog", " "), "round 2: the translation is empty"),
        ((None, "Hund"), "round 2: the sentence must be a string"), (("dog", 3.5), "round 2: the translation must be"),
        ((LONG, "Hund"), "round 2: the sentence has"), (("dog", LONG), "at most 4,096"),
    ],
)  # fmt: skip
def test_pairs_that_cannot_be_learned_are_named(pair: tuple[Any, Any], named: str) -> None:
    learner = translator().learn(X[:1], Y[:1])
    for call in (learner.learn, learner.play, learner.evaluate):
        assert named in refused(learner, lambda call=call: call([X[0], pair[0]], [Y[0], pair[1]]))  # type: ignore[misc]


def test_other_calls_that_make_no_sense_are_refused() -> None:
    learner = translator()
    assert "they must match" in refused(learner, lambda: learner.learn(X[:3], Y[:2]))
    assert "a list of sentences, not one text" in refused(learner, lambda: learner.predict(X[0]))
    assert "a list of sentences, not one text" in refused(learner, lambda: learner.learn(X[0], Y[:1]))
    assert "too long to translate" in refused(learner, lambda: learner.predict([LONG]))
    assert "must be a string" in refused(learner, lambda: learner.predict_one(3))
    assert "must be a string" in refused(learner, lambda: learner.complete(X[0], None))
    assert "n_best" in refused(learner, lambda: learner.n_best(X[0], 0))
    assert "leave weight and query out" in refused(learner, lambda: learner.learn(X[:1], Y[:1], weight=[2.0]))
    assert "width cannot be changed" in refused(learner, lambda: learner.with_options(width=4))


def test_a_loss_that_is_not_finite_is_named_and_nothing_is_learned() -> None:
    learner = translator()
    learner = learner.with_weights(learner.state.vector * 1e30)
    message = refused(learner, lambda: learner.learn_one(X[0], Y[0]), nr.Error)
    assert message.startswith("round 1: the loss of this pair or its gradient is not finite")


def test_a_step_that_makes_no_finite_weights_is_named_and_nothing_is_learned() -> None:
    learner = translator(optimizer="adagrad", clip=0.0)
    vector = learner.state.vector.clone()
    learner.sizes.views(vector)["decoder.norm.gain"].mul_(1e25)  # the squares of the gradient overflow
    learner = learner.with_weights(vector)
    message = refused(learner, lambda: learner.learn_one(X[0], Y[0]), nr.Error)
    assert message.startswith("round 1: the step of this pair makes weights that are not finite")


def test_a_step_that_overflows_is_named_and_rounds_before_it_are_undone() -> None:
    learner = translator(optimizer="adagrad", clip=0.0, eta=1e6)
    message = refused(learner, lambda: learner.learn(X * 4, Y * 4), nr.Error)
    assert message.startswith("round ")
    assert not message.startswith("round 1:")
    assert "smaller eta" in message


def is_refused(changed: dict[str, Any], arrays: dict[str, Any]) -> bool:
    text = json.dumps(changed)
    content = save(dict(arrays), metadata={KEY: text, "sha256": digest(text, arrays)})
    with pytest.raises(nr.Error) as caught:
        unpack(content, "model.nr")
    return "corrupt model file" in str(caught.value)


def test_arrays_that_do_not_fit_are_refused() -> None:
    learner = translator(optimizer="adam").learn(X[:2], Y[:2])
    good, arrays = header(learner), tensors(learner)
    weights, squares = arrays["weights"], arrays["kept.squares"]
    broken: list[dict[str, Any]] = [
        {"weights": np.where(np.arange(weights.size) == 5, np.nan, weights).astype(np.float32)},
        {"weights": weights.astype(np.float64)}, {"weights": weights[:-1]}, {"weights": weights.reshape(1, -1)},
        {"kept.squares": squares - 1.0}, {"kept.mean": np.full_like(squares, np.inf)},
        {"vocabulary": np.zeros(100, np.uint8)}, {"vocabulary": arrays["vocabulary"][:-7]},
        {"vocabulary": vocabulary(330).dump()}, {"vocabulary": weights}, {"more": weights},
    ]  # fmt: skip
    for change in broken:
        assert is_refused(good, {**arrays, **change}), list(change)
    for name in arrays:
        assert is_refused(good, {key: one for key, one in arrays.items() if key != name}), name


@pytest.mark.parametrize("change", [{"width": 16}, {"pieces": 10**12}, {"encoder": 10**6}, {"heads": 3}, {"hidden": 0}])
def test_sizes_that_do_not_fit_are_refused_without_taking_their_memory(change: dict[str, int]) -> None:
    learner = translator()
    good = header(learner)
    assert is_refused({**good, "sizes": {**good["sizes"], **change}}, tensors(learner))


def test_a_vocabulary_that_cannot_be_learned_is_refused() -> None:
    assert "no vocabulary of 300 pieces" in refusal(lambda: Vocabulary.learn([], 300))
    assert "no vocabulary of 3 pieces" in refusal(lambda: Vocabulary.learn(X, 3))
