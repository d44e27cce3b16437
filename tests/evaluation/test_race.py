"""A run carries rounds from a source through learners to metrics, and reports what single runs would."""

import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import noregret as nr
from noregret.cli import main
from noregret.data.batch import Batch
from noregret.learner.model_file import pack
from noregret.metrics import Loss, Mistakes, Runtime, Updates
from noregret.streams import blocks
from noregret.streams.datasets import LOADERS, dataset
from tests.support import by_name, load_own_rules, refusal, small_stream

X, Y = small_stream(rows=60)
NAMES = ["perceptron", "pa1", "arow", "ogd"]
own = load_own_rules()


def plain(rule: Any = "pa1", **told: Any) -> nr.RuleLearner:
    return nr.make(rule, native=False, **told)


# ---- races --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_entries_equal_single_runs(threads: int) -> None:
    for entry in nr.race((X, Y), NAMES, threads=threads, native=False):
        alone = plain(entry.name)
        transcript = alone.play(X, Y)
        assert entry.rounds == 60
        assert entry.mistakes == transcript.mistakes.sum() == alone.mistakes
        assert entry.updates == transcript.updated.sum() == alone.updates
        assert entry.loss == pytest.approx(transcript.losses.sum(), rel=1e-12)
        assert entry.rate == entry.mistakes / 60
        assert pack(entry.learner) == pack(alone)


def test_the_fewest_mistakes_come_first_and_then_the_smallest_loss() -> None:
    race = nr.race((X, Y), NAMES, native=False)
    keys = [(entry.mistakes, entry.loss) for entry in race]
    assert keys == sorted(keys)
    assert race.winner is race.best.learner
    assert race[race.best.name] is race.best
    assert len(race) == 4
    with pytest.raises(KeyError):
        race["nobody"]


def test_races_of_learners_that_shrink_all_weights_on_dense_rows() -> None:
    source = nr.open_source("digits", limit=60)
    names = ["fobos", "truncated_gradient", "rounding", "fobos_group", "fobos_l2"]
    board = nr.race(source, names, native=False)
    assert {entry.name for entry in board} == set(names)
    assert all(entry.nonzeros is not None and entry.nonzeros > 0 for entry in board)
    assert len(str(board).splitlines()) > len(names)


def test_sums_of_losses_that_overflow_warn_nobody() -> None:
    big = np.where(np.arange(60) % 2, 1.5e308, -1.5e308)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        board = nr.race((X, big), ["pa1", "ogd"], task="regression", native=False, scale_target="no", eps=0.0)
    assert board.best.loss == float("inf")


def test_regression_is_ranked_by_loss() -> None:
    race = nr.race((X, X[:, 0]), ["pa1", "pa2", "ogd"], task="regression", native=False)
    losses = [entry.loss for entry in race]
    assert losses == sorted(losses)
    assert {entry.mistakes for entry in race} == {0}


def test_the_table_has_a_line_for_every_learner_and_aligned_columns() -> None:
    race = nr.race((X, Y), NAMES, native=False)
    head, rule, *lines = str(race).splitlines()
    assert head.split() == ["learner", "mistakes", "rate", "loss", "updates", "non-zeros", "rounds/s"]
    assert set(rule) == {"-", " "}
    assert [line.split()[0] for line in lines] == [entry.name for entry in race]
    assert {len(line) for line in (head, rule, *lines)} == {len(head)}
    assert lines[0].split()[1:3] == [str(race.best.mistakes), f"{race.best.rate:.4f}"]
    assert repr(race) == str(race)


def test_names_rules_and_learners_may_enter_and_learners_go_on_from_where_they_are() -> None:
    before = plain().learn(X, Y)
    race = nr.race((X, Y), ["arow", own.halfway, before], native=False)
    assert {entry.name for entry in race} == {"arow", "halfway", "pa1"}
    assert race["pa1"].learner is before
    assert (race["pa1"].rounds, before.rounds) == (60, 120)


def test_without_names_the_learners_enter_whose_card_says_so() -> None:
    race = nr.race((X[:6], Y[:6]), native=False)
    assert {entry.name for entry in race} == {
        "scw1",
        *(card.name for card in nr.learners() if card.runs_by_default and "binary" in card.tasks),
    }
    assert len(race) >= 10


@pytest.mark.parametrize(
    ("source", "learners", "words"),
    [
        (5, NAMES, "a source is"),
        ("nosuch", NAMES, "no built-in data set 'nosuch'"),
        ((X, Y[:3]), NAMES, "X has 60 rows and y has 3"),
        ((X, None), NAMES, "have no labels"),
        (X, NAMES, "have no labels"),
        ([(X[0], 1, 2)], NAMES, "rounds (x, y)"),
        ([1, 2], NAMES, "rounds (x, y)"),
        ([({"a": 1.0}, 1), ({"a": "b"}, 1)], NAMES, "row 1, feature 'a'"),
        ((X, Y), [], "at least one learner"),
        ((X, Y), "pa1", "a list of names"),
        ((X, Y), ["pa11"], "did you mean 'pa1'?"),
        ((X, Y), [3], "not from 3"),
    ],
)
def test_a_race_that_cannot_be_run_is_refused(source: Any, learners: Any, words: str) -> None:
    assert words in refusal(lambda: nr.race(source, learners, native=False))


# ---- sources ------------------------------------------------------------------------------------------------------


def by_blocks(rows: Any) -> Iterator[tuple[Any, Any]]:
    for start in range(0, 60, 25):
        yield rows[start : start + 25], Y[start : start + 25]


DENSE_SOURCES: dict[str, Any] = {
    "pair": lambda: (X, Y),
    "pair of lists": lambda: (X.tolist(), Y.tolist()),
    "rounds": lambda: zip(X, Y, strict=True),
    "rounds of lists": lambda: list(zip(X.tolist(), Y.tolist(), strict=True)),
    "blocks": lambda: by_blocks(X),
}
SPARSE_SOURCES: dict[str, Any] = {
    "pair": lambda: (sp.csr_array(X), Y),
    "pair in columns": lambda: (sp.csc_array(X), Y),
    "blocks": lambda: by_blocks(sp.csr_array(X)),
    "rounds by number": lambda: ((dict(enumerate(x)), y) for x, y in zip(X.tolist(), Y, strict=True)),
}
NAMED_SOURCES: dict[str, Any] = {
    "pair": lambda: ([by_name(x) for x in X], Y),
    "rounds": lambda: ((by_name(x), y) for x, y in zip(X, Y, strict=True)),
    "blocks": lambda: by_blocks([by_name(x) for x in X]),
}


@pytest.mark.parametrize("kind", DENSE_SOURCES)
def test_every_dense_source_gives_the_same_rounds(kind: str) -> None:
    assert pack(nr.race(DENSE_SOURCES[kind](), ["pa1"], native=False).winner) == pack(plain().learn(X, Y))


@pytest.mark.parametrize("kind", SPARSE_SOURCES)
def test_every_sparse_source_gives_the_same_rounds(kind: str) -> None:
    learner = nr.race(SPARSE_SOURCES[kind](), ["pa1"], native=False).winner
    assert pack(learner) == pack(plain().learn(sp.csr_array(X), Y))


@pytest.mark.parametrize("kind", NAMED_SOURCES)
def test_every_named_source_gives_the_same_rounds(kind: str) -> None:
    learner = nr.race(NAMED_SOURCES[kind](), ["pa1"], native=False).winner
    assert pack(learner) == pack(plain().learn([by_name(x) for x in X], Y))


def test_a_stream_is_read_only_as_far_as_it_is_played() -> None:
    endless = (({"a": 1.0}, number) for number in itertools.count())
    rows, labels = next(blocks(endless, rows=100))
    assert (len(rows), labels[-1], next(endless)[1]) == (100, 99, 100)
    endless_blocks = ((X, number) for number in itertools.count())
    assert next(blocks(endless_blocks))[1] == 0
    assert next(endless_blocks)[1] == 1


def test_a_long_pair_is_cut_into_blocks() -> None:
    parts = list(blocks((np.zeros((20_000, 1)), np.zeros(20_000))))
    assert sum(len(labels) for _, labels in parts) == 20_000
    assert len(parts) > 1


@pytest.mark.parametrize("name", LOADERS)
def test_built_in_data_are_scaled_and_in_a_seeded_order(name: str) -> None:
    rows, labels = dataset(name)
    assert len(rows) == len(labels) > 100
    assert np.abs(rows).max(axis=0) == pytest.approx(np.where(rows.any(axis=0), 1.0, 0.0))
    np.testing.assert_array_equal(dataset(name)[0], rows)
    assert not np.array_equal(dataset(name, seed=1)[0], rows)


def test_a_name_stands_for_built_in_data() -> None:
    rows, labels = dataset("iris")
    assert pack(nr.race("iris", ["pa1"], native=False).winner) == pack(plain().learn(rows, labels))


# ---- metrics -----------------------------------------------------------------------------------------------------


def test_play_reports_what_the_transcript_holds() -> None:
    transcript = plain().play(X, Y)
    report = nr.play((X, Y), plain())
    assert report["rounds"] == 60
    assert report["mistakes"] == transcript.mistakes.sum()
    assert report["rate"] == transcript.mistakes.mean()
    assert report["loss"] == pytest.approx(transcript.losses.sum())
    assert report["mean_loss"] == pytest.approx(transcript.losses.mean())
    assert report["updates"] == transcript.updated.sum()
    assert report["seconds"] > 0.0
    assert report["rounds_per_second"] == pytest.approx(60 / report["seconds"])


def test_only_the_metrics_asked_for_report() -> None:
    assert set(nr.play((X, Y), plain(), [Updates()])) == {"updates"}
    assert nr.play((X, Y), plain(), []) == {}


class Witness:
    """A metric of a user's own."""

    def __init__(self) -> None:
        self.truth: list[int] = []

    def see(self, batch: Batch, transcript: nr.Transcript) -> None:
        self.truth += transcript.truth.tolist()

    def report(self) -> dict[str, float]:
        return {"seen": len(self.truth)}


def test_a_metric_of_ones_own_sees_every_round_once_and_in_order() -> None:
    witness = Witness()
    assert nr.play(by_blocks(X), plain(), [witness]) == {"seen": 60}
    assert witness.truth == Y.tolist()


def test_metrics_report_before_the_first_round() -> None:
    reports = [metric.report() for metric in (Mistakes(), Loss(), Updates(), Runtime())]
    assert {value for report in reports for value in report.values()} == {0.0}


def test_play_takes_a_learner() -> None:
    assert "not 'pa1'" in refusal(lambda: nr.play((X, Y), "pa1"))  # type: ignore[arg-type]


# ---- the command line ---------------------------------------------------------------------------------------------


def test_the_command_lists_the_learners(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learners"]) == 0
    _, _, *lines, _, _ = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [card.name for card in nr.learners()]


def test_the_command_says_what_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["race", "nosuch"]) == 2
    assert capsys.readouterr().err.startswith("noregret: there is no built-in data set 'nosuch'")


def test_two_learners_named_alike_are_refused() -> None:
    X, y = np.array([[1.0], [-1.0], [2.0]] * 5), np.array([1, -1, 1] * 5)
    with pytest.raises(nr.Error, match="two learners of the race are called 'pa1'"):
        nr.race((X, y), ["pa1", "arow", "pa1"])
