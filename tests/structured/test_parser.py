"""Parsers find the best tree, learn as their twins do, and refuse what is no tree."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.data.sentences import Sentence, is_projective
from noregret.structured.arc_features import ArcExtractor, all_arcs, make_nodes
from tests.conformance.protocol import state
from tests.naive.parser import TEMPLATES, NaiveParser, all_trees, arc_features, crosses
from tests.structured.treebank import random_trees, treebank

X, Y = treebank(60)
HEADS = [[head for head, _ in tree] for tree in Y]
FEW = {"arcs": TEMPLATES}
BITS = 20  # enough that no two features of the random trees share a cell


def parser(name: str = "pa1", projective: bool = True, bits: int = 14, **options: Any) -> Any:
    given = {key: options.pop(key) for key in ("competitor", "templates") if key in options}
    learner = nr.make(name, **{"native": False, **options})
    return nr.make("parser", learner=learner, bits=bits, projective=projective, **{"templates": FEW, **given})


def heads_of(output: Any) -> list[int]:
    return [one[0] if isinstance(one, tuple) else one for one in output]


@pytest.mark.parametrize("projective", [True, False], ids=["projective", "nonprojective"])
@pytest.mark.parametrize("rule", ["perceptron", "pa1"])
def test_a_parser_predicts_and_learns_as_its_twin_does(rule: str, projective: bool) -> None:
    """What it predicts is a best tree for the twin that tries all, and both learn from that tree."""
    sentences, trees = random_trees(25, 4)
    learner, twin = parser(rule, projective, bits=BITS, competitor="predicted"), NaiveParser(rule, projective)
    wrong = 0
    for x, y in zip(sentences * 2, trees * 2, strict=True):
        played = learner.play([x], [y])
        found = heads_of(played.predictions[0])
        assert not (projective and crosses(found))
        assert twin.score(x, found) == pytest.approx(twin.best_score(x), abs=1e-9)
        assert played.losses[0] == sum(a != b for a, b in zip(found, y, strict=True))
        wrong += bool(played.losses[0])
        twin.learn(x, y, found)
    assert wrong > 12
    scores = list(arc_scores(learner, sentences))
    expected = [
        sum(twin.w[name] for name in arc_features(x, head, m))
        for x in sentences
        for m in range(1, len(x) + 1)
        for head in range(len(x) + 1)
        if head != m
    ]
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(scores, expected, atol=1e-9)


def arc_scores(learner: Any, sentences: Any) -> list[float]:
    """The scores of all arcs, from the cells of their features and the weights of the learner."""
    extractor = ArcExtractor(tuple(TEMPLATES), BITS)
    nodes = make_nodes([[{"word": word, "tag": tag} for word, tag in x] for x in sentences], extractor.atoms)
    counts, cells = extractor.rows(nodes, all_arcs(nodes))
    weights = learner.learner.dump()[1]["state.w"][0]
    return [weights[row].sum() for row in np.split(cells, np.cumsum(counts)[:-1])]


def test_the_rival_is_the_tree_with_the_highest_score_and_loss() -> None:
    """PA-I then reaches the margin against every tree, if C allows: the loss of each is at most what it is behind."""
    sentences, trees = random_trees(1, 4, seed=3)
    x, y = sentences[0], trees[0]
    learner, twin = parser("pa1", projective=False, bits=BITS, C=100.0), NaiveParser("pa1", False)
    updates = -1
    while learner.updates > updates:
        updates = learner.updates
        learner.learn([x], [y])
    pairs = [(head, m) for m in range(1, len(x) + 1) for head in range(len(x) + 1) if head != m]
    scores = dict(zip(pairs, arc_scores(learner, [x]), strict=True))
    own = sum(scores[head, m] for m, head in enumerate(y, 1))
    twin.score = lambda sentence, heads: sum(scores[head, m] for m, head in enumerate(heads, 1))  # type: ignore[method-assign]
    assert own == pytest.approx(twin.best_score(x, lambda heads: sum(a != b for a, b in zip(heads, y, strict=True))))


def test_mistakes_on_separable_trees_are_bounded() -> None:
    """Collins 2002: if u beats every other tree by gamma, a perceptron makes at most (R |u| / gamma)^2 mistakes."""
    sentences, trees = unlike_trees()
    learner, twin = parser("perceptron", projective=False, bits=BITS), NaiveParser("perceptron", False)
    mistakes = -1
    while learner.mistakes > mistakes:
        mistakes = learner.mistakes
        for x, y in zip(sentences, trees, strict=True):
            twin.learn(x, y, heads_of(learner.play([x], [y]).predictions[0]))
    gamma, radius = np.inf, 0.0
    for x, y in zip(sentences, trees, strict=True):
        for other in all_trees(len(x)):
            if list(other) != y:
                z = twin.features(x, y)
                z.subtract(twin.features(x, other))
                gamma = min(gamma, sum(twin.w[name] * value for name, value in z.items()))
                radius = max(radius, sum(value * value for value in z.values()))
    assert gamma > 0.0
    size = sum(value * value for value in twin.w.values())
    assert 5 < learner.mistakes <= radius * size / gamma**2


def unlike_trees() -> tuple[list[Any], list[Any]]:
    """Sentences of two to four words with random trees, no two with the same tags: weights can separate them."""
    pairs = zip(*random_trees(60, 4, seed=7), strict=True)
    kept = {tuple(tag for _, tag in x): (x, y) for x, y in pairs if len(x) > 1}
    few = list(kept.values())[:12]
    return [x for x, _ in few], [y for _, y in few]


def test_trees_and_relations_of_a_small_language_are_learned() -> None:
    learner = parser("arow", templates=None)
    for _ in range(3):
        learner.learn(X, Y)
    x, y = treebank(40, seed=1)
    found = learner.predict(x).tolist()
    assert np.mean([a == b for a, b in zip(found, y, strict=True)]) > 0.95
    assert set(learner.classes) == {"det", "amod", "nsubj", "root", "obj", "punct"}
    assert learner.predict_one(x[0]) == found[0]


def test_heads_without_relations_are_enough() -> None:
    learner = parser().learn(X, HEADS)
    assert learner.classes == []
    assert all(isinstance(head, int) for head in learner.predict_one(X[0]))
    learner.learn(X[:1], Y[:1])
    assert all(isinstance(one, tuple) for one in learner.predict_one(X[0]))


def test_arcs_cross_only_where_they_may() -> None:
    sentences, trees = random_trees(50, 7, seed=5)
    free, plain = parser(projective=False, bits=BITS), parser(projective=True, bits=BITS)
    for _ in range(8):
        free.learn(sentences, trees)
        plain.learn(sentences, trees)
    crossing = [number for number, tree in enumerate(trees) if not is_projective(tree)]
    assert len(crossing) > 10
    found = [free.predict_one(sentences[number]) for number in crossing]
    assert sum(not is_projective(one) for one in found) > len(crossing) / 2
    assert np.mean([one == trees[number] for one, number in zip(found, crossing, strict=True)]) > 0.5
    assert all(is_projective(one) for one in plain.predict(sentences))


@pytest.mark.thinned(2)
@pytest.mark.compiles
@pytest.mark.parametrize("projective", [True, False], ids=["projective", "nonprojective"])
def test_compiled_parsers_equal_plain_ones(projective: bool) -> None:
    sentences, trees = random_trees(60, 9, seed=2)
    plain, fast = parser("arow", projective), parser("arow", projective, native=True)
    a, b = plain.play(sentences, trees), fast.play(sentences, trees)
    assert a.predictions.tolist() == b.predictions.tolist()
    assert plain.learner.weights == fast.learner.weights
    rows = random_trees(30, 12, seed=4)[0]
    assert plain.predict(rows).tolist() == fast.predict(rows).tolist()


def test_encoded_sentences_are_learned_in_several_passes() -> None:
    learner, twin = parser("arow"), parser("arow")
    encoded = learner.encode(X, Y)
    for _ in range(3):
        learner.learn(encoded)
        twin.learn(X, Y)
    assert state(learner) == state(twin)
    assert learner.predict(encoded).tolist() == twin.predict(X).tolist()


def test_sentences_encoded_by_another_learner_are_refused() -> None:
    learner = parser().learn(X, Y)
    tagger: Any = nr.make("tagger", learner=nr.make("pa1", native=False))
    for other in (parser(bits=16), parser(templates={"arcs": ["h.tag+m.tag"]}), tagger):
        sentences = X if other is not tagger else [["a"]]
        trees = Y if other is not tagger else [["N"]]
        encoded = other.encode(sentences, trees)
        for call in (learner.learn, learner.play, learner.predict):
            with pytest.raises(nr.BadValue, match="other features"):
                call(encoded)
    assert learner.rounds == len(X)


def test_many_sentences_are_predicted_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = parser().learn(X, Y)
    expected = learner.predict(learner.encode(X)).tolist()
    monkeypatch.setattr("noregret.structured.parser.ARCS_AT_ONCE", 100)
    assert learner.predict(X).tolist() == expected
    with pytest.raises(nr.BadValue, match="sentence 57: it has no tokens"):
        learner.predict([*X[:57], []])
    assert len(learner.predict([])) == 0


def test_sentences_of_files_are_taken_as_they_are() -> None:
    read = [
        Sentence(
            words=tuple(word for word, _ in x),
            upos=tuple(tag for _, tag in x),
            heads=tuple(head for head, _ in y),
            relations=tuple(relation for _, relation in y),
        )
        for x, y in zip(X, Y, strict=True)
    ]
    learner, twin = parser().learn(read, read), parser().learn(X, Y)
    assert state(learner) == state(twin)
    assert learner.predict(read).tolist() == twin.predict(X).tolist()


ONE = [("a", "N")]


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([], [], "sentence 1: it has no tokens"),
        ([("a", "N")] * 501, [0] + [1] * 500, "sentence 1: it has 501 words, more than the 500"),
        ("a text", [0], "sentence 1: a sentence is a list of words with tags"),
        (["a"], [0], "sentence 1: a word is a pair"),
        ([{"tag": "N"}], [0], "sentence 1: a word is a pair"),
        ([("a", 3)], [0], "sentence 1: a word is a pair"),
        (Sentence(words=("a",)), [0], "sentence 1: its words have no tags"),
        (ONE, Sentence(words=("a",)), "sentence 1: its words have no heads"),
        (ONE, [0, 1], "sentence 1: it has 1 words and 2 heads"),
        (ONE, None, "sentence 1: its tree is a list of heads"),
        (ONE, [2], "sentence 1: the head of word 1 is 2, outside the sentence"),
        (ONE, [-1], "sentence 1: the head of word 1 is -1, outside"),
        (ONE, [1], "sentence 1: no word has head 0"),
        (ONE, [0.0], "sentence 1: a head is 0 or the number of a word, not 0.0"),
        (ONE, [True], "sentence 1: a head is 0 or the number of a word, not True"),
        (ONE * 3, [0, 3, 2], "sentence 1: the heads form a cycle, 2 -> 3 -> 2"),
        (ONE * 2, [0, 0], "sentence 1: words 1 and 2 both have head 0"),
        (ONE * 2, [(0, "root"), 1], "sentence 1: give a relation with all heads or with none"),
        (ONE, [(0, None)], "sentence 1: a label must be"),
    ],
)
def test_bad_sentences_are_refused_by_number_and_change_nothing(x: Any, y: Any, message: str) -> None:
    learner = parser().learn(X[:5], Y[:5])
    before = learner.copy()
    with pytest.raises(nr.BadValue, match=message) as caught:
        learner.learn([ONE, x, ONE], [[0], y, [0]])
    assert caught.value.row == 1
    assert state(learner) == state(before)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bits": 9}, "bits must be a whole number of at least 10"),
        ({"bits": 29}, "bits must be a whole number from 10 to 28"),
        ({"bits": 12.5}, "bits must be a whole number"),
        ({"projective": "yes"}, "projective is True or False"),
        ({"templates": ["h.tag"]}, "templates are given as"),
        ({"templates": {"words": ["h.tag"]}}, "templates are given as"),
        ({"templates": {"arcs": []}}, "templates must be a list"),
        ({"templates": {"arcs": ["h.tag+tag"]}}, "'tag' is not side, span, or h"),
        ({"templates": {"arcs": ["between.tag[1]"]}}, "a word between has no offset"),
        ({"templates": {"arcs": ["between.tag+between.word"]}}, "more than one word between"),
        ({"templates": {"relations": [3]}}, "a template is a text"),
        ({"learner": "mira"}, "mira"),
        ({"learner": nr.make("pa1", scale=True)}, "leave transforms and scale out"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(nr.BadValue, match=message):
        nr.make("parser", **options)


def test_a_failure_while_relations_are_learned_undoes_the_trees_too(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = parser().learn(X[:5], Y[:5])
    before = learner.copy()

    def fail(*given: Any) -> Any:
        raise RuntimeError("stopped")

    monkeypatch.setattr("noregret.structured.parser.learn_relations", fail)
    with pytest.raises(RuntimeError, match="stopped"):
        learner.learn(X[5:9], Y[5:9])
    assert state(learner) == state(before)
