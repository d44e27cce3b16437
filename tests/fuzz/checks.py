"""All that must be true of one learner on one stream, whatever they are."""

import re
from dataclasses import replace
from typing import Any

import numpy as np

import noregret as nr
from noregret.learner.model_file import pack, unpack
from tests.conformance.loops import CHECKED, exact
from tests.conformance.plays import arrays, can_begin_at_random, same_bits
from tests.fuzz.agreeing import SHAKEN, Said, Tally, agree, columns, measurable
from tests.fuzz.case import Case, Stream
from tests.fuzz.invariants import holds
from tests.naive.rules import Array

COMPILED = set(CHECKED)
FEW = 4  # rows that are predicted after all were learned
ROUND = re.compile(r"^round (\d+) \(row (\d+) of this call\): a weight or a score is no longer finite")


class TooLarge(Exception):
    """The rounds were learned, but weights and values are too large for their scores to be finite."""


def check(case: Case, totals: Tally | None = None) -> None:
    """Play a case in every way it can be played, and hold what is said against each other; raises what is wrong."""
    totals = Tally() if totals is None else totals
    totals.streams += 1
    totals.rounds += len(case.stream)
    try:
        check_stream(case, totals)
    except TooLarge:
        totals.refused += 1


def check_stream(case: Case, totals: Tally) -> None:
    learner, said = played_or_refused(case, probe(case))
    if isinstance(said, str):
        case = without_refused(case, said, totals)
        if not len(case.stream):
            return
        learner, said = played_or_refused(case, probe(case))
    assert isinstance(said, Said), f"refused, and again what came before: {said}"
    holds(case, learner)
    predicting_is_pure(case, learner)
    any_calls(case, learner, native=False)
    if compiled(case, totals):
        totals.compiled += 1
        same_when_compiled(case, learner, said)
    if not measurable(case):
        return
    if has_reference(case):
        totals.reference += 1
        expected = by_reference(case, case.stream.X)
        if expected is not None:
            shaken = shaking(case, lambda X, y: by_reference(case, X, y))
            totals.undecided += not agree(case, said, expected, shaken, "the algebras")
    if not case.auto:
        totals.twin += 1
        expected = by_twin(case, case.stream.X, case.stream.y)
        rounds = len(expected.updated)
        if rounds < len(case.stream):  # the twin overflowed
            said = Said(said.scores[:rounds], said.updated[:rounds], np.zeros(0))
            expected = Said(expected.scores, expected.updated, np.zeros(0))
        shaken = shaking(case, lambda X, y: by_twin(case, X, y))
        totals.undecided += not agree(case, said, expected, shaken, "learner and twin")


def has_reference(case: Case) -> bool:
    """Whether the reference algebra can play it, too; random weights that shrink it has only where it has cells."""
    play = case.play
    if play.algebra not in ("sparse", "dense") or "reference" not in play.card.algebras:
        return False
    return not case.numbers.get("random_start") or can_begin_at_random(play.card, "reference", play.options)


def compiled(case: Case, totals: Tally) -> bool:
    """Whether the compiled loop is one that is compiled anyway."""
    return case.play in COMPILED and not case.auto and not totals.plain


def without_refused(case: Case, said: str, totals: Tally) -> Case:
    """The rounds before the first one that is refused, which is so by every engine, and for the same reason."""
    totals.refused += 1
    found = ROUND.match(said)
    assert found is not None, f"refused for no good reason: {said}"
    if compiled(case, totals) and has_exact_sums(case):
        _, other = played_or_refused(case, probe(case), native=True)
        assert other == said, f"compiled: {other}; plain text: {said}"
    return case.upto(int(found[2]))


def played_or_refused(case: Case, probe: Array, **told: Any) -> tuple[nr.RuleLearner, Said | str]:
    """What is said of every round, or why the call is refused; that leaves the learner as it was, bit for bit."""
    learner = case.make(**told)
    before = pack(learner)
    try:
        return learner, played(learner, case.stream, probe)
    except nr.Error as error:
        said = str(error)
    assert pack(learner) == before, "a refused call left a trace"
    return learner, said


def probe(case: Case) -> Array:
    """The first rows of the stream, and one for each feature up to the last one that had a value."""
    X = case.stream.X
    weight = np.ones(len(X)) if case.stream.weight is None else np.asarray(case.stream.weight)
    used = np.flatnonzero(X[weight > 0.0].any(axis=0))
    return np.concatenate([X[:FEW], np.eye(X.shape[1])[: 1 + int(used.max(initial=-1))]])


def played(learner: nr.RuleLearner, stream: Stream, probe: Array) -> Said:
    transcript = learner.play(stream.handed, stream.y, **stream.told)
    assert not np.isnan(transcript.scores).any(), "a score is no number"
    assert not np.isposinf(transcript.scores).any(), "a score is infinite"
    assert not np.isnan(transcript.losses).any(), "a loss is no number"
    try:
        after = learner.scores(stream.rows(probe))
    except nr.BadValue as error:
        raise TooLarge(str(error)) from None
    return Said(columns(transcript.scores, len(stream)), transcript.updated.tolist(), np.asarray(after, dtype=float))


def predicting_is_pure(case: Case, learner: nr.RuleLearner) -> None:
    before = pack(learner)
    rows = case.stream.rows(case.stream.X[:FEW])
    learner.predict(rows)
    first = learner.scores(rows)
    row = {int(j): float(case.stream.X[0, j]) for j in np.flatnonzero(case.stream.X[0])}
    if case.play.algebra != "dense":
        learner.predict_one(row)
        learner.explain_one(row)
    assert same_bits(learner.scores(rows), first), "predicting twice says two things"
    assert pack(learner) == before, "predicting left a trace"


def any_calls(case: Case, whole: nr.RuleLearner, native: bool) -> None:
    """Cut into calls, saved and loaded between them, told something impossible: nothing changes, not one bit."""
    first, rest = case.stream[: case.cut], case.stream[case.cut :]
    if not len(first) or not len(rest):
        return
    parts = case.make(native=native)
    parts.learn(first.handed, first.y, **first.told)
    middle = pack(parts)
    bad = rest.X.copy()
    bad[-1, -1] = np.nan
    try:
        parts.learn(bad, rest.y, **rest.told)
    except nr.Error:
        assert pack(parts) == middle, "a refused call left a trace"
    else:
        raise AssertionError("a value that is no number was taken")
    resumed = unpack(middle, "the fuzzer", case.play.card)
    for learner in (parts, resumed):
        if case.stream.kind == "dicts":
            for t, x in enumerate(rest.handed):
                learner.learn_one(x, rest.y[t], *([] if rest.weight is None else [rest.weight[t]]))
        else:
            learner.learn(rest.handed, rest.y, **rest.told)
    assert pack(parts) == pack(resumed), "a learner that was saved and loaded went another way"
    assert pack(parts) == pack(whole), "cut into calls, the stream led elsewhere"


def has_exact_sums(case: Case) -> bool:
    """Whether no sum may be reordered; dense rows of a kernel learner are kept as dense rows, too."""
    return exact(case.play) and (case.play.algebra != "kernel" or case.stream.kind != "array")


def same_when_compiled(case: Case, plain: nr.RuleLearner, said: Said) -> None:
    if not has_exact_sums(case) and not measurable(case):
        return
    fast = case.make(native=True)
    found = played(fast, case.stream, probe(case))
    if not has_exact_sums(case):
        shaken = shaking(case, lambda X, y: played(case.make(), replaced(case.stream, X, y), probe(case)))
        agree(case, found, said, shaken, "compiled and plain text")
        return
    assert found.updated == said.updated, "compiled and plain text move on different rounds"
    assert same_bits(found.scores, said.scores), f"compiled scores {found.scores} and plain {said.scores}"
    assert same_bits(found.after, said.after), "compiled and plain text predict otherwise"
    kept = arrays(plain)
    assert all(same_bits(array, kept[name]) for name, array in arrays(fast).items()), "compiled state is another"
    any_calls(case, fast, native=True)


def replaced(stream: Stream, X: Array, y: Any = None) -> Stream:
    return Stream(X, stream.y if y is None else y, stream.weight, stream.kind)


def by_reference(case: Case, X: Array, y: Any = None) -> Said | None:
    """The same text over eager NumPy vectors; None where its numbers overflow."""
    shaken = replace(case, stream=replaced(case.stream, X, y))
    _, said = played_or_refused(shaken, probe(case), algebra="reference")
    if isinstance(said, Said):
        return said
    assert ROUND.match(said) is not None, said
    return None


def by_twin(case: Case, X: Array, y: Any) -> Said:
    """What the twin says, up to the round in which it overflows."""
    classes = len(set(case.stream.y)) if case.play.task == "multiclass" else 1
    twin = case.twin(classes)
    weight = None if case.stream.weight is None else np.asarray(case.stream.weight)
    with np.errstate(all="ignore"):
        found, moved = twin.run(X, np.asarray(y), weight=weight)
        scores = columns(found, len(X))
        if case.play.task == "multiclass":
            for c in range(classes):
                scores[list(y).index(c), c] = -np.inf  # a class has no score before its first label was seen
        after = np.asarray(twin.final(probe(case)), dtype=float)
    broken = np.flatnonzero((np.isnan(scores) | np.isposinf(scores)).any(axis=1))
    rounds = int(broken[0]) if broken.size else len(X)
    if rounds == len(X) and (np.isnan(after) | np.isposinf(after)).any():
        rounds -= 1
    return Said(scores[:rounds], moved.tolist()[:rounds], after)


def shaking(case: Case, play: Any) -> Any:
    """What a player says when every value is changed a little; None where its numbers overflow then."""

    def shaken(seed: int) -> Said | None:
        rng = np.random.default_rng(seed)
        X = case.stream.X * (1.0 + SHAKEN * rng.uniform(-1.0, 1.0, case.stream.X.shape))
        if case.play.algebra == "kernel":  # a row of zeros is a row like any other
            X = X + SHAKEN * rng.uniform(-1.0, 1.0, X.shape)
        y = case.stream.y
        if case.play.task == "regression":
            y = [target * (1.0 + SHAKEN * rng.uniform(-1.0, 1.0)) for target in y]
        said: Said | None = play(X, y)
        return said

    return shaken
