"""Taggers equal their twins, a sentence of one token is a row of many classes, and bad sentences are refused."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.structured.templates import Extractor, Numbers
from noregret.tasks import factored
from tests.naive.tagger import NaiveTagger, search
from tests.structured.sentences import tagged_sentences
from tests.support.command_line import noregret

ORDERS = Path(__file__).parents[2] / "examples" / "orders.csv"
FEW = ["word", "suffix1", "word[-1]", "bias"]


def with_noise(sentences: list[list[str]]) -> list[list[dict[str, Any]]]:
    """Tokens with a random feature each, so that no two outputs score the same."""
    rng = np.random.default_rng(len(sentences))
    return [[{"word": word, "u": rng.normal(), "v": rng.normal()} for word in sentence] for sentence in sentences]


WORDS, Y = tagged_sentences(60)
X = with_noise(WORDS)


def tagger(name: str = "pa1", order: int = 1, templates: Any = FEW, **options: Any) -> Any:
    return nr.make("tagger", learner=nr.make(name, **{"native": False, **options}), order=order, templates=templates)


def features(sentence: list[dict[str, Any]]) -> list[dict[str, float]]:
    names = Numbers()
    rows = Extractor(FEW, names.__getitem__).sentence(sentence)
    given = [{name: value for name, value in token.items() if name != "word"} for token in sentence]
    return [{names.order[at]: 1.0 for at in row} | more for row, more in zip(rows, given, strict=True)]


def weights(learner: Any) -> dict[tuple[str, str], float]:
    """Weights by feature and tag; contexts by the names of the twin."""
    return {
        (name.replace("str:", ""), tag): value
        for tag, row in learner.learner.weights.items()
        for name, value in row.items()
        if value
    }


@pytest.mark.parametrize("rule", ["perceptron", "pa1"])
def test_a_tagger_equals_its_twin(rule: str) -> None:
    learner, twin = tagger(rule), NaiveTagger(rule)
    transcript = learner.play(X, Y)
    losses = [twin.learn_one(features(x), y) for x, y in zip(X, Y, strict=True)]
    assert transcript.losses.tolist() == losses
    found, expected = weights(learner), {key: value for key, value in twin.w.items() if value}
    assert found.keys() == expected.keys()
    assert all(found[key] == pytest.approx(expected[key], abs=1e-12) for key in expected)
    rows = with_noise(tagged_sentences(20, seed=1)[0])
    assert learner.predict(rows).tolist() == [search(twin.w, features(x), twin.tags, ()) for x in rows]


def test_an_averaged_tagger_predicts_with_the_average() -> None:
    learner, twin = tagger("perceptron", average=True), NaiveTagger("perceptron")
    learner.learn(X, Y)
    for x, y in zip(X, Y, strict=True):
        twin.learn_one(features(x), y)
    rows = with_noise(tagged_sentences(40, seed=1)[0])
    assert learner.predict(rows).tolist() == [search(twin.average(), features(x), twin.tags, ()) for x in rows]


def test_a_sentence_of_one_token_is_a_row_of_many_classes() -> None:
    """The start of a sentence is then a constant feature."""
    rng = np.random.default_rng(0)
    labels = [str(label) for label in rng.integers(4, size=80)]
    rows = [{name: float(value) for name, value in zip("abc", rng.normal(size=3), strict=True)} for _ in labels]
    rule = {"loss": "hinge", "eta0": 0.3}
    one: Any = nr.make("tagger", learner=nr.make("ogd", native=False, **rule), templates=["first"])
    one.learn([[row] for row in rows], [[label] for label in labels])
    many = nr.make("ogd", native=False, task="multiclass", competitor="max_loss", **rule)
    many.learn([{**row, "first": 1.0, "after=<start>": 1.0} for row in rows], labels)
    found = many.predict([{**row, "first": 1.0, "after=<start>": 1.0} for row in rows]).tolist()
    assert [tags[0] for tags in one.predict([[row] for row in rows])] == found
    for label, row in many.weights.items():
        for name, value in row.items():
            assert one.learner.weights[label].get(name, 0.0) == pytest.approx(value, abs=1e-12)


BY_FEATURE = ("eg", "eg_signed", "mirror_descent", "fobos_group", "group_lasso", "multitask")
PLAYING = [
    card.name
    for card in nr.learners()
    if "structured" in card.tasks and hasattr(card, "rule") and card.name not in BY_FEATURE and card.built_in
]


@pytest.mark.thinned(8)
@pytest.mark.parametrize("name", PLAYING)
def test_every_rule_that_takes_signed_examples_tags_alike_in_both_algebras(name: str) -> None:
    x, y = X[:12], Y[:12]
    one, other = tagger(name), tagger(name, algebra="reference")
    a, b = one.play(x, y), other.play(x, y)
    assert a.predictions.tolist() == b.predictions.tolist()
    assert a.losses.tolist() == b.losses.tolist()
    assert one.updates == other.updates


@pytest.mark.parametrize("name", ["mira", "pa_all", "perceptron_pocket", *BY_FEATURE])
def test_rules_that_cannot_take_signed_examples_say_so(name: str) -> None:
    with pytest.raises(nr.BadValue, match=name):
        nr.make("tagger", learner=name)


@pytest.mark.compiles
@pytest.mark.parametrize(("name", "order", "options"), [("arow", 1, {}), ("perceptron", 2, {"average": True})])
def test_compiled_taggers_equal_plain_ones(name: str, order: int, options: dict[str, Any]) -> None:
    plain, fast = tagger(name, order, **options), tagger(name, order, native=True, **options)
    a, b = plain.play(WORDS, Y), fast.play(WORDS, Y)
    assert a.predictions.tolist() == b.predictions.tolist()
    assert plain.learner.weights == fast.learner.weights
    rows = tagged_sentences(30, seed=2)[0]
    assert plain.predict(rows).tolist() == fast.predict(rows).tolist()


def test_encoded_sentences_are_learned_in_several_passes() -> None:
    learner, twin = tagger("arow"), tagger("arow")
    encoded = learner.encode(X, Y)
    for _ in range(3):
        learner.learn(encoded)
        twin.learn(X, Y)
    assert learner.learner.weights == twin.learner.weights
    assert learner.predict(encoded).tolist() == twin.predict(X).tolist()
    with pytest.raises(nr.BadValue, match="leave y out"):
        learner.learn(encoded, list(Y))


def test_inputs_encoded_by_another_learner_are_refused() -> None:
    encoded = tagger().encode(WORDS, Y)
    words: Any = nr.make("transducer", learner=nr.make("pa1", native=False))
    for other in (tagger(order=2), tagger(templates=["word"]), words, nr.make("parser")):
        for call in (other.learn, other.play, other.learn(*SOME[other.card.name]).predict):
            with pytest.raises(nr.BadValue, match="encoded by a learner with other features"):
                call(encoded)
    assert tagger("arow").learn(encoded).rounds == len(WORDS)


SOME: dict[str, Any] = {
    "tagger": ([["a"]], [["N"]]),
    "transducer": (["ab"], ["X"]),
    "parser": ([[("a", "N")]], [[0]]),
}


@pytest.mark.parametrize("at", [10**9, -1])
def test_encoded_inputs_that_were_changed_reach_no_loop(at: int) -> None:
    """Whoever makes an array of them writable and writes there gets an error, also where all names are known."""
    learner = tagger().learn(WORDS, Y)
    encoded = learner.encode(WORDS, Y)
    with pytest.raises(ValueError, match="read-only"):
        encoded.parts.idx[0] = at
    encoded.parts.idx.setflags(write=True)
    encoded.parts.idx[0] = at
    before = learner.learner.weights
    for call in (learner.predict, learner.learn):
        with pytest.raises((nr.BadValue, IndexError)):
            call(encoded)
    assert learner.learner.weights == before


def test_truths_that_do_not_fit_their_rows_are_refused() -> None:
    rows, truth = tagger().arrange(tagger().encode(WORDS[:2], Y[:2]))
    rule = nr.make("pa1", native=False, task="factored", decoder="sequence")
    for at, labels in ((truth.at[1:], truth.labels[1:]), (truth.at - 100, truth.labels), (truth.at[:-1], truth.labels)):
        with pytest.raises(nr.BadValue):
            rule.learn(rows, replace(truth, at=at, labels=labels))
    assert rule.learn(rows, truth).rounds == 2


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([["a"], []], [["N"], []], "sentence 1: it has no tokens"),
        ([["a"], ["b", "c"]], [["N"], ["N"]], "sentence 1: it has 2 tokens and 1 tags"),
        ([["a"], "b"], [["N"], ["N"]], "sentence 1: a sentence is a list of tokens"),
        ([["a"], ["b"]], [["N"], [None]], "sentence 1: a label must be"),
        ([["a"], ["b", {"c": 1}]], [["N"], ["N", "N"]], "sentence 1: its tokens must all be"),
        ([["a"], [{"c": float("inf")}]], [["N"], ["N"]], "sentence 1: feature 'c' is inf"),
        ([["a"]], None, "give y"),
        ([["a"]], [["N"], ["V"]], "X has 1 rows and y has 2"),
    ],
)
def test_bad_sentences_are_refused_and_change_nothing(x: Any, y: Any, message: str) -> None:
    learner = tagger().learn(X[:5], Y[:5])
    before = learner.learner.weights
    with pytest.raises(nr.BadValue, match=message):
        learner.learn(x, y)
    assert learner.learner.weights == before
    assert learner.rounds == 5


def test_rows_of_a_table_are_no_sentences(tmp_path: Path) -> None:
    done = noregret("learn", str(ORDERS), "--learner", "tagger", cwd=tmp_path)
    assert done.returncode == 2
    assert "tagger learns sentences, not rows of a table; see `noregret tag --help`" in done.stderr


def test_before_any_sentence_there_is_no_prediction() -> None:
    assert tagger().predict_one(["a"]) is None
    with pytest.raises(nr.NotLearned):
        tagger().predict([["a"]])
    assert len(tagger().learn(X, Y).predict([])) == 0


@pytest.mark.parametrize("templates", [[], "word", ["word3"], ["suffix"], ["word[x]"], [3], ["word+"]])
def test_templates_that_make_no_sense_are_refused(templates: Any) -> None:
    with pytest.raises(nr.BadValue, match="template"):
        nr.make("tagger", templates=templates)


def test_a_misspelt_template_is_named_when_words_are_tagged() -> None:
    learner = nr.make("tagger", templates=["word", "sufix3[-1]"])
    with pytest.raises(nr.BadValue, match="'sufix3' is no property of a word; did you mean 'suffix3'"):
        learner.learn([["a"]], [["N"]])
    dicts: Any = nr.make("tagger", learner=nr.make("pa1", native=False), templates=["word", "lemma"])
    dicts.learn([[{"word": "runs", "lemma": "run"}]], [["V"]])
    assert "lemma=run" in dicts.learner.features


def test_words_never_seen_are_tagged_by_their_parts() -> None:
    learner = tagger("arow", templates=["suffix2", "word"])
    learner.learn([["walked"], ["jumped"], ["table"], ["apple"]] * 3, [["V"], ["V"], ["N"], ["N"]] * 3)
    assert learner.predict([["barked"], ["maple"]]).tolist() == [["V"], ["N"]]


def test_a_tagger_learns_the_language() -> None:
    learner = tagger("arow", templates=["word", "suffix2", "word[-1]", "bias"])
    learner.learn(*tagged_sentences(300, seed=3))
    x, y = tagged_sentences(100, seed=4)
    wrong = sum(
        a != b for found, right in zip(learner.predict(x), y, strict=True) for a, b in zip(found, right, strict=True)
    )
    assert wrong / sum(map(len, y)) < 0.06


def test_options_of_the_rival_are_checked() -> None:
    with pytest.raises(nr.BadValue, match="max_loss"):
        nr.make("tagger", learner="pa1", margin="sqrt")
    root: Any = nr.make("tagger", learner="pa1", competitor="predicted", margin="sqrt")
    assert root.learner.params["margin"] == "sqrt"
    by_mistakes: Any = nr.make("tagger", learner="perceptron")
    assert by_mistakes.learner.params["competitor"] == "predicted"
    with pytest.raises(nr.BadValue, match="full covariance"):
        nr.make("tagger", learner=nr.make("arow", covariance="full"))
    with pytest.raises(nr.BadValue, match="order"):
        nr.make("tagger", order=3)
    with pytest.raises(nr.BadValue, match="fresh"):
        nr.make("tagger", learner=nr.make("pa1", native=False).learn([{"a": 1.0}, {"a": 2.0}], [0, 1]))
    for algebra in ("kernel", "dense"):
        with pytest.raises(nr.BadValue, match="algebra"):
            nr.make("tagger", learner=nr.make("pa1", algebra=algebra))
    with pytest.raises(nr.BadValue, match="scale"):
        nr.make("tagger", learner=nr.make("pa1", scale=True))


def test_a_rival_must_be_beaten_by_its_loss_the_root_of_it_or_one() -> None:
    assert [factored.by_loss(loss) for loss in (0.0, 0.25, 4.0)] == [0.0, 0.25, 4.0]
    assert [factored.by_root(loss) for loss in (0.0, 0.25, 4.0)] == [0.0, 0.5, 2.0]
    assert [factored.by_one(loss) for loss in (0.0, 0.25, 4.0)] == [0.0, 1.0, 1.0]
