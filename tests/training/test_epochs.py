"""Epochs play what a plain loop plays, stop when they should, and leave the best state behind."""

import signal
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import noregret as nr
from noregret.data.blocks import Rows, as_block, to_sparse
from noregret.learner.model_file import pack
from noregret.training.epochs import History
from tests.naive import streams
from tests.support import by_name, by_number, refusal, refused, small_stream

X, Y = small_stream(rows=60)
NOISY_X, NOISY_Y = streams.dense(80, 6, seed=3)


def plain(rule: Any = "pa1", **options: Any) -> nr.RuleLearner:
    return nr.make(rule, native=False, **options)


# ---- the same rounds as a loop ------------------------------------------------------------------------------------


@pytest.mark.parametrize("sampling", ["permute", "replace"])
def test_epochs_are_a_loop_of_single_rounds_in_orders_drawn_from_seed_and_epoch(sampling: Any) -> None:
    learner, alone = plain(), plain()
    history = nr.epochs(learner, X, Y, 4, seed=7, sampling=sampling)
    for epoch in range(4):
        chance = np.random.default_rng(7 + epoch)
        order = chance.permutation(60) if sampling == "permute" else chance.integers(60, size=60)
        mistakes, updates = alone.mistakes, alone.updates
        for at in order:
            alone.learn_one(X[at], Y[at])
        assert history.mistakes[epoch] == alone.mistakes - mistakes
        assert history.updates[epoch] == alone.updates - updates
    assert (len(history), history.stopped) == (4, "passes")
    assert pack(learner) == pack(alone)


def test_without_shuffling_rows_come_in_order() -> None:
    learner, alone = plain(), plain()
    nr.epochs(learner, X, Y, 3, shuffle=False)
    for _ in range(3):
        alone.learn(X, Y)
    assert pack(learner) == pack(alone)


def test_the_same_seed_gives_the_same_bits_and_another_other_ones() -> None:
    first, second, other = plain(), plain(), plain()
    for learner, seed in ((first, 1), (second, 1), (other, 2)):
        nr.epochs(learner, NOISY_X, NOISY_Y, 3, seed=seed)
    assert pack(first) == pack(second)
    assert pack(first) != pack(other)


KINDS: dict[str, Any] = {
    "lists": X.tolist(),
    "sparse": sp.csr_array(X),
    "columns": sp.csc_array(X),
    "dicts by number": [by_number(row) for row in X],
    "dicts by name": [by_name(row) for row in X],
    "rows of a stream": Rows(to_sparse(as_block(X))),
    "named rows of a stream": Rows(to_sparse(as_block(X)), ["f0", "f1", "f2", "f3"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_every_kind_can_be_shuffled(kind: str) -> None:
    learner, dense = plain("arow"), plain("arow", algebra="sparse")
    labels = np.where(Y > 0, "yes", "no").tolist()
    nr.epochs(learner, KINDS[kind], tuple(labels), 2, seed=5)
    for epoch in range(2):
        order = np.random.default_rng(5 + epoch).permutation(60)
        dense.learn(X[order], [labels[at] for at in order])
    np.testing.assert_allclose(learner.scores(KINDS[kind]), dense.scores(X), atol=1e-12)


def test_data_frames_are_rows_too() -> None:
    import pandas

    learner, alone = plain(), plain()
    nr.epochs(learner, pandas.DataFrame(X), pandas.Series(Y), 2)
    nr.epochs(alone, X, Y, 2)
    assert pack(learner) == pack(alone)


def test_weights_follow_their_rows() -> None:
    learner, alone = plain("pa1"), plain("pa1")
    weight = np.linspace(0.1, 2.0, 60)
    nr.epochs(learner, X, Y, 2, weight=weight)
    for epoch in range(2):
        for at in np.random.default_rng(epoch).permutation(60):
            alone.learn_one(X[at], Y[at], float(weight[at]))
    assert pack(learner) == pack(alone)


# ---- when to stop -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sampling", ["permute", "replace"])
def test_on_separable_rows_the_perceptron_stops_right_within_its_bound(sampling: Any, seed: int) -> None:
    rows, labels, _ = streams.separable(200, 5, 0.05, seed)
    learner = plain("perceptron")
    history = nr.epochs(learner, rows, labels, 500, sampling=sampling, seed=seed)
    assert history.stopped == "no update"
    assert history.updates[-1] == 0
    assert 0 < sum(history.updates) <= 1.0 / 0.05**2
    assert not learner.play(rows, labels).updated.any()


def test_an_epoch_drawn_with_replacement_that_missed_a_row_is_not_the_last() -> None:
    rows = np.concatenate((np.tile([1.0, 0.0], (30, 1)), [[-2.0, 0.1]]))
    labels = np.ones(31)
    learner = plain("perceptron")
    history = nr.epochs(learner, rows, labels, 200, sampling="replace", seed=0)
    assert 0 in history.updates[:-1]
    assert history.stopped == "no update"
    assert not learner.play(rows, labels).updated.any()


def test_an_epoch_without_a_mistake_that_still_updates_is_not_the_last() -> None:
    rows, labels, _ = streams.separable(100, 3, 0.1, 0)
    history = nr.epochs(plain("pa"), rows, labels, 30)
    assert history.mistakes.count(0) > 1
    assert all(history.updates[:-1])


def test_the_worked_example_converges_in_its_second_epoch() -> None:
    rows, labels = streams.four()
    history = nr.epochs(plain("perceptron"), rows, labels, shuffle=False)
    assert (history.updates, history.mistakes, history.stopped) == ([3, 0], [2, 0], "no update")


def test_a_learner_that_always_moves_takes_all_passes() -> None:
    history = nr.epochs(plain("adaline"), X, Y, 5)
    assert (len(history), history.stopped) == (5, "passes")


# ---- validation ---------------------------------------------------------------------------------------------------


def by_hand(learner: nr.RuleLearner, passes: int) -> tuple[list[float], list[bytes]]:
    """The validation error and the state after every epoch."""
    errors, states = [], []
    for epoch in range(passes):
        order = np.random.default_rng(epoch).permutation(60)
        learner.learn(NOISY_X[order], NOISY_Y[order])
        errors.append(
            float(np.mean([learner.predict_one(x) != y for x, y in zip(NOISY_X[60:], NOISY_Y[60:], strict=True)]))
        )
        states.append(pack(learner))
    return errors, states


@pytest.mark.parametrize("patience", [1, 2, 3])
def test_patience_ends_it_and_puts_the_best_state_back(patience: int) -> None:
    learner = plain("perceptron")
    held_out = (NOISY_X[60:], NOISY_Y[60:])
    history = nr.epochs(learner, NOISY_X[:60], NOISY_Y[:60], 50, validation=held_out, patience=patience)
    errors, states = by_hand(plain("perceptron"), len(history))
    assert history.validation == errors
    assert history.stopped == "patience"
    assert history.best == errors.index(min(errors)) == len(history) - 1 - patience
    assert pack(learner) == states[history.best]
    learner.learn_one(NOISY_X[0], NOISY_Y[0])
    assert pack(learner) == pack(taught_on(states[history.best]))


def taught_on(state: bytes) -> nr.RuleLearner:
    from noregret.learner.model_file import unpack

    learner: nr.RuleLearner = unpack(state, "a state", None)
    return learner.learn_one(NOISY_X[0], NOISY_Y[0])


@pytest.mark.parametrize("options", [{}, {"native": False}, {"bias": True, "scale": True}, {"algebra": "kernel"}])
def test_a_learner_put_back_goes_on_as_a_copy_of_its_best_state_would(options: dict[str, Any]) -> None:
    learner = nr.make("perceptron", **options)
    learner.learn_one(NOISY_X[0], NOISY_Y[0])
    learner.predict_one(NOISY_X[0])
    history = nr.epochs(learner, NOISY_X[:60], NOISY_Y[:60], validation=(NOISY_X[60:], NOISY_Y[60:]), patience=2)
    assert learner.rounds == 1 + 60 * (1 + (history.best or 0)) < 1 + 60 * len(history)
    other = learner.copy()
    for x, y in zip(NOISY_X, NOISY_Y, strict=True):
        assert learner.predict_one(x) == other.predict_one(x)
        learner.learn_one(x, y)
        other.learn(x[None, :], [y])
    assert pack(learner) == pack(other)


def test_single_rounds_of_dicts_go_on_from_the_state_put_back() -> None:
    rows = [by_name(row) for row in NOISY_X]
    learner = nr.make("perceptron")
    for row, y in zip(rows, NOISY_Y, strict=True):
        learner.learn_one(row, y)
    nr.epochs(learner, rows[:60], NOISY_Y[:60], validation=(rows[60:], NOISY_Y[60:]), patience=2)
    other = learner.copy()
    for row, y in zip(rows, NOISY_Y, strict=True):
        learner.learn_one(row, y)
    assert pack(learner) == pack(other.learn(rows, NOISY_Y))


def test_of_equal_epochs_the_first_is_the_best() -> None:
    assert History([3, 2, 2], [3, 2, 2], [0.3, 0.2, 0.2]).best == 1
    assert History([3], [3]).best is None


def test_passes_that_run_out_before_patience_put_the_best_state_back_too() -> None:
    errors, states = by_hand(plain("perceptron"), 8)
    passes = next(n for n in range(2, 9) if errors.index(min(errors[:n])) != n - 1)
    learner = plain("perceptron")
    held_out = (NOISY_X[60:], NOISY_Y[60:])
    history = nr.epochs(learner, NOISY_X[:60], NOISY_Y[:60], passes, validation=held_out, patience=50)
    assert history.stopped == "passes"
    assert pack(learner) == states[errors.index(min(errors[:passes]))]


def test_without_patience_validation_is_only_recorded() -> None:
    learner, alone = plain("perceptron"), plain("perceptron")
    history = nr.epochs(learner, NOISY_X[:60], NOISY_Y[:60], 6, validation=(NOISY_X[60:], NOISY_Y[60:]))
    errors, states = by_hand(alone, 6)
    assert history.validation == errors
    assert pack(learner) == states[-1]


def test_regression_is_validated_by_its_own_loss() -> None:
    target = X @ np.array([1.0, -2.0, 0.5, 0.0])
    learner = plain("pa1", task="regression", eps=0.1, bias=True)
    history = nr.epochs(learner, X[:40], target[:40], 3, validation=(X[40:], target[40:]))
    off = np.abs(learner.predict(X[40:]) - target[40:])
    assert history.validation[-1] == pytest.approx(np.maximum(0.0, off - 0.1 * target[:40].std()).mean())
    assert history.validation[-1] < history.validation[0]


def test_the_history_prints_as_a_table() -> None:
    history = nr.epochs(plain("perceptron"), NOISY_X, NOISY_Y, 2, validation=(NOISY_X, NOISY_Y))
    head, _, first, _, last = str(history).splitlines()
    assert head.split() == ["epoch", "mistakes", "updates", "validation"]
    assert first.split()[:3] == ["0", str(history.mistakes[0]), str(history.updates[0])]
    assert last == "stopped: passes"


# ---- what can go wrong --------------------------------------------------------------------------------------------


class Interrupting(dict[str, float]):
    """A row at which the user presses Ctrl-C, the third time it is read."""

    reads = 0

    def __iter__(self) -> Iterator[str]:  # with its own, a copy of the row asks for its keys
        return super().__iter__()

    def keys(self) -> Any:
        type(self).reads += 1
        if type(self).reads == 3:
            signal.raise_signal(signal.SIGINT)
        return super().keys()


@pytest.fixture
def heeds_interrupts() -> Iterator[None]:
    """Ctrl-C may be ignored where the tests run."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeds_interrupts")
def test_interrupted_the_learner_is_where_the_last_whole_epoch_left_it() -> None:
    rows: list[Any] = [by_name(row) for row in NOISY_X]
    rows[17] = Interrupting(rows[17])
    learner, alone = plain("perceptron"), plain("perceptron")
    with pytest.raises(KeyboardInterrupt):
        nr.epochs(learner, rows, NOISY_Y, 10)
    nr.epochs(alone, [by_name(row) for row in NOISY_X], NOISY_Y, 2)
    assert pack(learner) == pack(alone)


def test_a_bad_row_is_named_as_it_was_handed_over() -> None:
    bad = X.copy()
    bad[41, 2] = np.nan
    learner = plain()
    assert "row 41, feature 2" in refused(learner, lambda: nr.epochs(learner, bad, Y, seed=1))
    labels = [*Y.tolist()]
    labels[13] = None
    assert refused(learner, lambda: nr.epochs(learner, X, labels)).startswith("row 13: a label must be")
    message = refusal(lambda: nr.epochs(plain(), X, Y, validation=(bad, Y)))
    assert message.startswith("validation: row 41, feature 2")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"passes": 0}, "passes must be a whole number of at least 1, not 0"),
        ({"seed": -1}, "seed must be"),
        ({"seed": 0.5}, "seed must be"),
        ({"sampling": "bootstrap"}, "sampling must be one of permute, replace"),
        ({"sampling": "replace", "shuffle": False}, "leave shuffle=False out"),
        ({"shuffle": 1}, "shuffle must be True or False"),
        ({"patience": 3}, "give validation=(X, y)"),
        ({"patience": 0, "validation": (X, Y)}, "patience must be"),
        ({"validation": X}, "validation must be a pair"),
        ({"validation": (X, Y[:3])}, "validation: X has 60 rows and y has 3"),
        ({"weight": [1.0]}, "one weight for every row"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], words: str) -> None:
    learner = plain()
    assert words in refused(learner, lambda: nr.epochs(learner, X, Y, **options))


@pytest.mark.parametrize(
    ("rows", "labels", "words"),
    [
        (X, Y[:5], "X has 60 rows and y has 5 labels"),
        (X[:0], Y[:0], "X has no rows"),
        ([], [], "X has no rows"),
        (5, Y, "X must be a matrix"),
        (X, None, "y must be a list"),
        (X, "a" * 60, "y must be a list"),
        ([[1.0], [1.0, 2.0]], [1, 2], "different lengths"),
        (X[:, 0], Y, "two dimensions"),
    ],
)
def test_rows_that_are_none_are_refused(rows: Any, labels: Any, words: str) -> None:
    learner = plain()
    assert words in refused(learner, lambda: nr.epochs(learner, rows, labels))


def test_a_name_is_no_learner() -> None:
    assert "needs a learner, such as nr.make(\"arow\"), not 'pa1'" in refusal(lambda: nr.epochs("pa1", X, Y))  # type: ignore[arg-type]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, np.ndarray.tolist])
def test_learners_without_labels_take_rows_alone(form: Any) -> None:
    rows = np.random.default_rng(4).normal(size=(30, 2))
    learner, twice = (nr.make("mean_row", native=False) for _ in range(2))
    history = nr.epochs(learner, form(rows[:20]), passes=2, shuffle=False, validation=(form(rows[20:]), None))
    assert pack(learner) == pack(twice.learn(form(rows[:20])).learn(form(rows[:20])))
    assert history.validation[-1] == pytest.approx(np.mean(np.sum((rows[20:] - rows[:20].mean(axis=0)) ** 2, axis=1)))
    assert "validation must be a pair" in refusal(lambda: nr.epochs(learner, rows, validation=5))  # type: ignore[arg-type]
