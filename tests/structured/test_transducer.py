"""Transducers equal their twin, step as their rule says, and refuse words that cannot be learned."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests.naive.transducer import Key, NaiveTransducer, dot, features
from tests.structured.words import pronounce, spoken_words

OWN, SECOND = ["letter", "letter[-1]+letter"], ["letter"]
X, Y = spoken_words(40)


def transducer(name: str = "pa1", own: Any = OWN, second: Any = SECOND, **options: Any) -> Any:
    learner = nr.make(name, **{"native": False, **options})
    return nr.make("transducer", learner=learner, templates=own, inserted=second)


def weights(learner: Any) -> dict[Key, float]:
    rows = learner.learner.weights
    return {(name, symbol): value for symbol, row in rows.items() for name, value in row.items() if value}


def assert_same_weights(found: dict[Key, float], expected: dict[Key, float]) -> None:
    for key in found.keys() | expected.keys():
        assert found.get(key, 0.0) == pytest.approx(expected.get(key, 0.0), abs=1e-9), key


# ---- rules -----------------------------------------------------------------------------------------------------------

SHORT = ["at", "ta", "a", "xa", "tax", "tt", "ax", "t", "at", "xt"]
OUTPUTS = [list(word.replace("x", "TA").upper()) for word in SHORT]


def test_a_transducer_equals_its_twin() -> None:
    """Weights begin at random, so that no two outputs score the same; a round of weight 0 shows them."""
    fresh = transducer("perceptron", random_start=0.3)
    start = weights(fresh.copy().learn(SHORT, OUTPUTS, weight=0.0))
    learner, twin = fresh, NaiveTransducer(start)
    for word, output in zip(SHORT, OUTPUTS, strict=True):
        loss = learner.play([word], [output]).losses[0]
        assert loss == twin.learn_one(word, output)
    assert learner.updates >= 4
    assert_same_weights(weights(learner), twin.w)


def test_pa1_steps_as_its_twin_does_once_outputs_have_different_scores() -> None:
    learner = transducer("pa1").learn(SHORT, OUTPUTS)
    updates = learner.updates
    for word, output in (("axt", list("ATAT")), ("tat", list("TAA")), ("xx", list("TATA")), ("xa", list("AT"))):
        twin = NaiveTransducer(weights(learner), "pa1")
        twin.symbols = learner.classes
        loss = learner.play([word], [output]).losses[0]
        assert loss == twin.learn_one(word, output)
        assert_same_weights(weights(learner), twin.w)
    assert learner.updates == updates + 4


def test_after_a_step_of_pa_the_rival_is_beaten_by_its_edit_distance() -> None:
    learner = transducer("pa1", C=1e9).learn(SHORT, OUTPUTS)
    for word, output in (("axt", list("ATAT")), ("ttt", list("TAA"))):
        before = weights(learner)
        learner.learn_one(word, output)
        after = weights(learner)
        change = {key: after.get(key, 0.0) - before.get(key, 0.0) for key in after.keys() | before.keys()}
        # Parts are used a whole number of times, some of them once.
        step = min(abs(value) for value in change.values() if abs(value) > 1e-12)
        z = {key: value / step for key, value in change.items()}
        required = dot(after, z)
        assert required == pytest.approx(round(required), abs=1e-9)
        assert 1 <= round(required) <= 6


def test_pa_comes_closer_to_any_weights_that_separate_by_the_loss() -> None:
    """Two symbols for each letter leave one alignment, and the theorem holds: no step leads away from u.

    u has weight 1 for the right symbols of a letter, so that an output costs as much as slots are wrong, which is at
    least its edit distance.
    """
    sounds = {"a": "AI", "b": "BA", "c": "IB"}
    rng = np.random.default_rng(3)
    words = ["".join(rng.choice(list(sounds), size=rng.integers(1, 5))) for _ in range(40)]
    u = {(f"letter={letter}", pair[0]): 1.0 for letter, pair in sounds.items()}
    u |= {(f"insert letter={letter}", pair[1]): 1.0 for letter, pair in sounds.items()}
    learner, w, travelled, losses = transducer("pa1", C=1e9), dict[Key, float](), 0.0, 0.0
    for word in words:
        played = learner.play([word], [list("".join(sounds[letter] for letter in word))])
        now = weights(learner)
        step = sum((now.get(key, 0.0) - w.get(key, 0.0)) ** 2 for key in now.keys() | w.keys())
        keys = now.keys() | w.keys() | u.keys()
        distance = [sum((u.get(key, 0.0) - one.get(key, 0.0)) ** 2 for key in keys) for one in (w, now)]
        assert distance[1] <= distance[0] - step + 1e-9
        travelled, w, losses = travelled + step, now, losses + float(played.losses[0])
    assert 0.0 < travelled <= dot(u, u)
    assert learner.mistakes < 10 < losses


def test_outputs_whose_features_are_the_same_are_no_reason_to_step() -> None:
    learner = transducer("pa1", own=["bias"], second=["bias"])
    for _ in range(5):
        learner.learn(["ab", "ba"], [["A", "A"], ["A", "A"]])
    assert learner.predict(["ab"]).tolist() == [["A", "A"]]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", ["perceptron", "pa1", "pa2", "arow", "scw1", "ogd", "adagrad", "rda"])
def test_rules_play_alike_in_both_algebras(name: str) -> None:
    one, other = transducer(name), transducer(name, algebra="reference")
    a, b = one.play(X[:15], Y[:15]), other.play(X[:15], Y[:15])
    assert a.losses.tolist() == b.losses.tolist()
    assert a.predictions.tolist() == b.predictions.tolist()


@pytest.mark.thinned(2)
@pytest.mark.compiles
@pytest.mark.parametrize(("name", "options"), [("pa1", {}), ("perceptron", {"average": True})])
def test_compiled_transducers_equal_plain_ones(name: str, options: dict[str, Any]) -> None:
    plain, fast = transducer(name, **options), transducer(name, native=True, **options)
    a, b = plain.play(X, Y), fast.play(X, Y)
    assert a.predictions.tolist() == b.predictions.tolist()
    assert a.losses.tolist() == b.losses.tolist()
    assert plain.learner.weights == fast.learner.weights
    words = spoken_words(20, seed=2)[0]
    assert plain.predict(words).tolist() == fast.predict(words).tolist()


# ---- words and outputs -----------------------------------------------------------------------------------------------


def test_a_transducer_learns_the_language_and_its_alignment() -> None:
    own = ["bias", "letter", "letter+letter[1]"]
    learner: Any = transducer("pa1", own=own, average=True)
    encoded = learner.encode(*spoken_words(150, seed=3))
    for _ in range(2):
        learner.learn(encoded)
    words = spoken_words(60, seed=4)[0]
    assert learner.predict(words).tolist() == [pronounce(word) for word in words]
    assert learner.alignments(["axe"]) == [[("a", ["A"]), ("x", ["K", "S"]), ("e", [])]]
    assert learner.alignments(learner.encode(["se", "te"])) == [[("s", ["Z"]), ("e", [])], [("t", ["T"]), ("e", [])]]
    assert learner.alignments([]) == []


def test_what_is_given_is_what_is_predicted() -> None:
    texts = transducer().learn(X, ["".join(output) for output in Y])
    lists = transducer().learn([list(word) for word in X], Y)
    assert ["".join(output) for output in lists.predict(X)] == texts.predict(X).tolist()
    assert all(type(output) is str for output in texts.predict(X))
    numbers = transducer().learn([[1, 2], [2]], [[7, 8], [8]])
    assert numbers.classes == [7, 8]
    assert set(numbers.predict_one([2])) <= {7, 8}
    with pytest.raises(nr.BadValue, match="word 1: outputs were texts so far, and this one is a list"):
        transducer().learn(["a", "b"], ["A", ["B"]])
    with pytest.raises(nr.BadValue, match="word 0: outputs were lists so far, and this one is a text"):
        lists.learn_one("a", "A")


def test_an_output_may_be_empty() -> None:
    learner = transducer().learn(["e", "ee", "a", "e"], [[], [], ["A"], []])
    assert learner.predict(["e", "a"]).tolist() == [[], ["A"]]
    assert learner.classes == ["A"]


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (["a", ""], ["A", "B"], "word 1: it has no letters"),
        (["a", "b"], ["A", "BCD"], "word 1: 1 letters cannot write 3 symbols"),
        (["a", "b"], ["A", 3], "word 1: its output is a text or a list"),
        (["a", 3], ["A", "B"], "word 1: a word is a text or a list"),
        (["a", [None]], ["A", "B"], "word 1: a letter is"),
        (["a"], [["A", ""]], "word 0: a symbol of its output is an empty text"),
        (["a"], [["A", None]], "word 0: a label must be"),
        (["a"], None, "give y"),
        (["a"], ["A", "B"], "X has 1 rows and y has 2"),
    ],
)
def test_bad_words_are_refused_and_change_nothing(x: Any, y: Any, message: str) -> None:
    learner = transducer().learn(X[:5], ["".join(output) for output in Y[:5]])
    before = learner.learner.weights
    with pytest.raises(nr.BadValue, match=message):
        learner.learn(x, y)
    assert learner.learner.weights == before
    assert learner.rounds == 5


def test_words_are_refused_when_they_are_predicted() -> None:
    learner = transducer().learn(X, Y)
    with pytest.raises(nr.BadValue, match="word 1: it has no letters"):
        learner.predict(["a", ""])
    assert type(learner.predict_one("unknown")) is list
    assert transducer().predict_one("a") is None
    with pytest.raises(nr.NotLearned):
        transducer().predict(["a"])


def test_learners_and_templates_that_do_not_fit_are_refused() -> None:
    with pytest.raises(nr.BadValue, match="leave classes out"):
        transducer("pa1", classes=["", "A"])
    with pytest.raises(nr.BadValue, match="template"):
        transducer(own=["letter[x]"])
    with pytest.raises(nr.BadValue, match="template"):
        transducer(second=[])
    with pytest.raises(nr.BadValue, match="'vowel' is no property of a letter"):
        transducer(own=["letter", "vowel"])
    with pytest.raises(nr.BadValue, match="mira"):
        nr.make("transducer", learner="mira")


def test_features_are_those_of_the_twin() -> None:
    """The names that the twin makes are those of the weights."""
    learner = transducer("perceptron").learn(SHORT, OUTPUTS)
    made = {name for word, output in zip(SHORT, OUTPUTS, strict=True)
            for name, _ in features(word, tuple((symbol,) for symbol in output[: len(word)]))}  # fmt: skip
    assert {name for name, _ in weights(learner)} <= made | {"after=str:A", "after=str:T", "after=<start>"}
