"""Who is taken for whom: the counts, and what follows from them, are scikit-learn's, in whatever chunks they come."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import metrics

import noregret as nr
from noregret.cli import main
from noregret.cli.cost_options import parse_cost
from noregret.evaluation.leaderboard import Leaderboard
from noregret.evaluation.race import Observer
from noregret.evaluation.tables import confusion_table
from noregret.metrics import Confusion
from noregret.metrics.confusion import FEW
from tests.support import refusal

rng = np.random.default_rng(0)
ROWS = 150
X = rng.normal(size=(ROWS, 4))
KINDS: dict[str, Any] = {
    "signs": np.where(rng.random(ROWS) < 0.2, 1, -1),
    "numbers": rng.integers(12, size=ROWS).astype(float),
    "words": np.array(["spam", "ham", "eggs"])[rng.integers(3, size=ROWS)],
    "truths": rng.random(ROWS) < 0.3,
    "mixed": np.array([1, "one", True, "two", 0, 7] * (ROWS // 6), dtype=object),
}
COSTS = (("spam", "ham", 5.0), ("ham", "spam", 0.25), ("eggs", "nobody", 9.0))


def played(y: Any, size: int = ROWS, costs: Any = None) -> tuple[Confusion, list[Any], list[Any]]:
    """A metric that saw a learner in chunks, and the truth and predictions of all rounds."""
    seen, learner = Confusion(costs), nr.make("pa1", native=False)
    truth: list[Any] = []
    predicted: list[Any] = []
    for start in range(0, ROWS, size):
        transcript = learner.play(X[start : start + size], y[start : start + size])
        seen.see(None, transcript)
        truth += transcript.truth.tolist()
        predicted += transcript.predictions.tolist()
    return seen, truth, predicted


@pytest.mark.parametrize("kind", KINDS)
def test_counts_are_those_of_the_obvious_loop_in_whatever_chunks(kind: str) -> None:
    whole, truth, predicted = played(KINDS[kind])
    for i, label in enumerate(whole.labels):
        for j, other in enumerate(whole.labels):
            both = sum(t == label and p == other for t, p in zip(truth, predicted, strict=True))
            assert whole.counts[i, j] == both, (label, other)
        assert whole.rounds[i] == truth.count(label)
    assert int(whole.table.sum()) == ROWS
    for size in (1, 7, 64):
        bitten, _, _ = played(KINDS[kind], size)
        order = [bitten.labels.index(label) for label in whole.labels]
        assert bitten.counts[np.ix_(order, order)].tolist() == whole.counts.tolist()
        assert bitten.report() == pytest.approx(whole.report(), rel=1e-15)


@pytest.mark.parametrize("kind", ["signs", "numbers", "words"])
def test_shares_are_those_of_scikit_learn(kind: str) -> None:
    seen, truth, predicted = played(KINDS[kind])
    nobody = "nobody" if kind == "words" else -99  # the first round may be answered by no class
    answers = [nobody if answer is None else answer for answer in predicted]
    labels = seen.labels
    precision, recall, f1, support = metrics.precision_recall_fscore_support(
        truth, answers, labels=labels, zero_division=np.nan
    )
    assert seen.precision == pytest.approx(precision, nan_ok=True)
    assert seen.recall == pytest.approx(recall, nan_ok=True)
    assert seen.f1 == pytest.approx(f1, nan_ok=True)
    assert seen.rounds.tolist() == support.tolist()
    assert seen.balanced_accuracy == pytest.approx(np.nanmean(recall))
    by_truth = metrics.confusion_matrix(truth, answers, labels=[*labels, nobody], normalize="true")[:-1, :-1]
    met = seen.rounds > 0
    assert seen.normalised()[:, met] == pytest.approx(by_truth.T[:, met])
    assert np.isnan(seen.normalised()[:, ~met]).all()


def test_columns_of_the_normalised_form_sum_to_one_and_a_class_without_rounds_has_none() -> None:
    seen = Confusion()
    truth, predicted = np.array(["a", "a", "b", "a"]), np.array(["a", "b", "b", "c"])
    nothing = np.zeros(4)
    seen.see(None, nr.Transcript(nothing, predicted, nothing, nothing.astype(bool), nothing.astype(bool), truth))
    assert seen.labels == ["a", "b", "c"]
    assert seen.normalised()[:, :2] == pytest.approx(np.array([[1 / 3, 0.0], [1 / 3, 1.0], [1 / 3, 0.0]]))
    assert np.isnan(seen.normalised()[:, 2]).all()
    assert seen.balanced_accuracy == pytest.approx((1 / 3 + 1.0) / 2)
    assert np.isnan(seen.recall[2])


@pytest.mark.parametrize("size", [1, 7, ROWS])
def test_mistakes_cost_what_was_told_and_others_one(size: int) -> None:
    seen, truth, predicted = played(KINDS["words"], size, COSTS)
    told = {(t, p): c for t, p, c in COSTS}
    by_hand = sum(told.get((t, p), 1.0) for t, p in zip(truth, predicted, strict=True) if t != p)
    assert seen.cost == pytest.approx(by_hand)
    assert seen.report()["cost"] == seen.cost
    unpriced, _, _ = played(KINDS["words"], size)
    assert unpriced.cost == sum(t != p for t, p in zip(truth, predicted, strict=True))
    assert set(unpriced.report()) == {"balanced_accuracy"}


def test_the_report_of_a_run_has_balanced_accuracy_and_told_costs() -> None:
    found = nr.play((X, KINDS["words"]), nr.make("pa1", native=False, cost={"spam": {"ham": 5.0}}))
    assert {"balanced_accuracy", "cost"} <= set(found)
    plain = nr.play((X, KINDS["words"]), nr.make("pa1", native=False))
    assert plain["balanced_accuracy"] == played(KINDS["words"])[0].balanced_accuracy
    assert "cost" not in plain
    assert "balanced_accuracy" not in nr.play((X, X[:, 0]), nr.make("pa1", native=False, task="regression"))


def head(race: Leaderboard) -> list[str]:
    return str(race).splitlines()[0].split()


def test_a_race_shows_balanced_accuracy_where_a_class_is_rare_or_classes_are_weighed() -> None:
    even, rare = np.array([1, -1] * (ROWS // 2)), KINDS["signs"]
    assert "balanced" not in head(nr.race((X, even), ["pa1"], native=False))
    assert "balanced" in head(nr.race((X, rare), ["pa1"], native=False))
    assert "balanced" in head(nr.race((X, even), ["pa1"], native=False, class_weight="balanced"))
    one = nr.race((X, rare), ["pa1"], native=False)["pa1"]
    assert one.confusion is not None
    assert f"{one.confusion.balanced_accuracy:.4f}" in str(nr.race((X, rare), ["pa1"], native=False))


@pytest.mark.parametrize(("rare", "shown"), [(25, False), (24, True)])
def test_rare_is_less_than_half_of_an_even_share(rare: int, shown: bool) -> None:
    seen = Confusion()
    truth = np.array([1] * rare + [0] * (100 - rare))
    nothing = np.zeros(100)
    seen.see(None, nr.Transcript(nothing, truth, nothing, nothing.astype(bool), nothing.astype(bool), truth))
    assert seen.imbalanced == shown


def test_a_race_with_costs_is_won_by_the_cheapest() -> None:
    costs = {"spam": {"ham": 50.0, "eggs": 50.0}}
    race = nr.race((X, KINDS["words"]), ["pa1", "pa2", "arow", "ogd"], native=False, cost=costs)
    assert "cost" in head(race)
    totals = [one.confusion.cost for one in race if one.confusion is not None]
    assert len(totals) == 4
    assert totals == sorted(totals)
    unweighed = nr.make("pa1", native=False)
    mixed = nr.race((X, KINDS["words"]), [unweighed, nr.make("pa2", native=False, cost=costs)])
    order = [one.confusion.cost_by(COST) for one in mixed if one.confusion is not None]
    assert order == sorted(order)


COST = (("spam", "ham", 50.0), ("spam", "eggs", 50.0))


def test_an_entry_keeps_its_counts_while_the_race_goes_on() -> None:
    early: list[Any] = []

    class Recorder(Observer):
        def progress(self, leaderboard: Callable[[], Leaderboard], done: float | None) -> None:
            early.append(leaderboard().best.confusion)

    batches = [(X[:50], KINDS["words"][:50]), (X[50:], KINDS["words"][50:])]
    nr.race(iter(batches), ["pa1"], native=False, observer=Recorder())
    assert [int(one.table.sum()) for one in early] == [50, ROWS]


def test_the_table_shows_counts_and_shares_and_many_classes_by_their_worst_rival() -> None:
    seen, _, _ = played(KINDS["words"])
    lines = confusion_table(seen).splitlines()
    assert lines[0].split()[3:6] == ["eggs", "ham", "spam"]
    at = seen.labels.index("eggs")
    assert lines[2].split()[1] == str(seen.counts[at, at])
    many, _, _ = played(np.array([f"c{number % 30}" for number in range(ROWS)]))
    text = confusion_table(many)
    assert "most often confused with" in text
    assert len(text.splitlines()) == 32


# ---- the command line ---------------------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path: Path) -> Path:
    chance = np.random.default_rng(3)
    path = tmp_path / "rows.csv"
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["a", "b", "label"])
        for _ in range(300):
            rare = chance.random() < 0.1
            out.writerow([*(chance.normal(size=2) + 1.5 * rare).round(3), "yes" if rare else "no"])
    return path


def report(*arguments: str) -> Any:
    assert main([*arguments, "--quiet"]) == 0
    return json.loads(Path(arguments[arguments.index("--json") + 1]).read_text())


def test_learn_tells_confusion_weights_and_costs(table: Path, tmp_path: Path, capsys: Any) -> None:
    out = str(tmp_path / "r.json")
    common = ("learn", str(table), "--learner", "arow", "--json", out)
    plain = report(*common, "--confusion")["learners"][0]
    assert "truth \\ predicted" in capsys.readouterr().out
    rare = plain["confusion"]["labels"].index("yes")
    unanswered = rare == 0  # the very first round, if it was one of them
    assert plain["confusion"]["rounds"][rare] == sum(plain["confusion"]["counts"][rare]) + unanswered
    weighed = report(*common, "--class-weight", "balanced")["learners"][0]
    told = report(*common, "--class-weight", "yes=9,no=1")["learners"][0]
    assert weighed["balanced_accuracy"] > plain["balanced_accuracy"]
    assert told["balanced_accuracy"] > plain["balanced_accuracy"]
    costly = report(*common, "--cost", "yes:no=20")["learners"][0]
    found, labels = np.array(costly["confusion"]["counts"]), costly["confusion"]["labels"]
    yes, no = labels.index("yes"), labels.index("no")
    silent = 300 - found.sum()
    assert costly["cost"] == 20.0 * found[yes, no] + found[no, yes] + silent


def test_a_race_heeds_weights_and_costs_and_says_how_to_train_the_winner(table: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "r.json")
    told = report("race", str(table), "--learners", "pa1", "--cost", "yes:no=20", "--json", out)
    assert "--cost yes:no=20" in told["train"]
    assert "cost" in told["learners"][0]
    told = report("race", str(table), "--learners", "pa1,pa2", "--class-weight", "balanced", "--json", out)
    assert "--class-weight balanced" in told["train"]


def test_a_race_of_all_leaves_out_those_that_do_not_support_costs(tmp_path: Path) -> None:
    from noregret.cli.options import parse
    from noregret.cli.race import select_variants

    names = [variant.card.name for variant in select_variants(parse(["race", "digits", "--cost", "1:2=3"]), None)]
    assert "pa1" in names
    assert "perceptron" not in names
    weighing = [
        variant.card.name for variant in select_variants(parse(["race", "digits", "--class-weight", "balanced"]), None)
    ]
    assert "pa1" in weighing
    assert "pa" not in weighing
    with pytest.raises(nr.BadValue, match="must be 0"):
        select_variants(parse(["race", "digits", "--cost", "1:1=3"]), None)


def test_costs_are_read_from_files(tmp_path: Path) -> None:
    by_name, listed = tmp_path / "a.json", tmp_path / "b.json"
    by_name.write_text('{"1": {"2": 3, "x": 0.5}}')
    listed.write_text('[[1, 2, 3], ["1", "x", 0.5]]')
    square, columns = tmp_path / "c.csv", tmp_path / "d.csv"
    square.write_text("truth,1,2,x\n1,0,3,0.5\n2,1,0,1\n")
    columns.write_text("truth,predicted,cost\n1,2,3\n1,x,0.5\n")
    expected = {(1, 2): 3.0, (1, "x"): 0.5}
    assert (
        parse_cost(str(by_name))
        == parse_cost(str(listed))
        == parse_cost(str(columns))
        == parse_cost("1:2=3,1:x=.5")
        == expected
    )
    assert parse_cost(str(square)) == {**expected, (1, 1): 0.0, (2, 1): 1.0, (2, 2): 0.0, (2, "x"): 1.0}


BAD_FILES = {
    "broken.json": ("{", "not JSON"),
    "flat.json": ('{"a": 3}', "should hold"),
    "word.json": ('{"a": {"b": "dear"}}', "must be a number"),
    "ragged.csv": ("t,a,b\na,0\n", "row 2 has 2 cells"),
    "empty.csv": ("", "name the classes"),
    "twice.csv": ("truth,predicted,cost\na,b,1\na,b,2\n", "twice"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_of_costs_are_refused_by_name(name: str, tmp_path: Path) -> None:
    text, words = BAD_FILES[name]
    (tmp_path / name).write_text(text)
    message = refusal(lambda: parse_cost(str(tmp_path / name)))
    assert words in message
    assert name in message


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--class-weight", "yes"], "labels and their weights"),
        (["--class-weight", "yes=much"], "must be a number"),
        (["--class-weight", "yes=1,yes=2"], "twice"),
        (["--class-weight", "yes=-1"], "at least 0"),
        (["--cost", "yes=1"], "truth:predicted=cost"),
        (["--cost", "yes:yes=1"], "it is no mistake"),
        (["--cost", "none.json"], "cannot be read"),
        (["--cost", "yes:no=1", "--task", "regression"], "has no costs"),
    ],
)
def test_bad_options_end_in_one_line(arguments: list[str], words: str, table: Path, capsys: Any) -> None:
    assert main(["learn", str(table), "--learner", "pa1", *arguments]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") <= 2


def test_a_class_that_never_came_is_mentioned_and_a_resumed_model_goes_on_as_it_was(
    table: Path, tmp_path: Path, capsys: Any
) -> None:
    model = str(tmp_path / "m.nr")
    common = ["learn", str(table), "--quiet"]
    assert main([*common, "--learner", "pa1", "--class-weight", "yes=2,nein=3", "--save", model]) == 0
    assert "no row has the label 'nein'" in capsys.readouterr().err
    assert nr.load(model).config.class_weight == {"yes": 2.0, "nein": 3.0}
    assert main([*common, "--resume", model, "--class-weight", "balanced"]) == 2
    assert "--class-weight is for a new model" in capsys.readouterr().err


# ---- few numbers ----------------------------------------------------------------------------------------------------


def happened(truth: Any, predicted: Any) -> nr.Transcript:
    """Rounds with these labels and predictions."""
    zeros = np.zeros(len(truth))
    return nr.Transcript(zeros, np.asarray(predicted), zeros, zeros > 0, zeros > 0, np.asarray(truth))


STREAMS: list[tuple[Any, Any]] = [
    ([1, -1, 1, 1, -1, 1], [1, 1, -1, 1, -1, 1]),
    ([0.0, 1.0, 2.0, 3.0, 0.0, 1.0], [None, 1.0, 2.0, 3.0, 3.0, 1.0]),  # a round without a prediction
    ([1, 2, 3, 4, 5, 1, 5], [1, 2, 3, 4, 5, 5, 1]),  # one class more than a few
    ([True, False, True, True], [1, 0, 0, 1]),
    ([1, 1, 1, 2], [1, 1, 1, 1]),
]


@pytest.mark.parametrize("size", [1, 2, 99])
@pytest.mark.parametrize(("truth", "predicted"), STREAMS)
def test_few_numbers_are_counted_as_any_labels_are(
    truth: Any, predicted: Any, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = []
    for few in (FEW, 0):
        monkeypatch.setattr("noregret.metrics.confusion.FEW", few)
        metric = Confusion()
        for _ in range(2):
            for at in range(0, len(truth), size):
                part = happened(truth[at : at + size], np.asarray(predicted[at : at + size]))
                metric.see(None, part)
        tables.append((metric.labels, metric.table.tolist()))
    assert tables[0] == tables[1]


def test_names_and_numbers_are_counted_together() -> None:
    metric = Confusion()
    metric.see(None, happened(np.array(["a", "b"]), np.array(["a", "a"])))
    metric.see(None, happened(np.array([1, 2, 1]), np.array([1, 1, 1])))
    assert metric.labels == ["a", "b", 1, 2]
    assert metric.counts.tolist() == [[1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 2, 0], [0, 0, 1, 0]]
    metric.see(None, happened(np.array([1, 2]), np.array([2, 2])))
    assert metric.counts[2:, 2:].tolist() == [[2, 1], [1, 1]]


def rounds_of(truth: Any, predicted: Any) -> nr.Transcript:
    none = np.zeros(len(truth))
    return nr.Transcript(None, predicted, none, none > 0.0, none > 0.0, truth)


@pytest.mark.parametrize("late", [3, 300, 999])
def test_a_class_that_appears_late_in_the_first_batch_keeps_its_place(late: int) -> None:
    rng = np.random.default_rng(late)
    truth, predicted = rng.integers(0, 2, 1000), rng.integers(0, 3, 1000)
    truth[late] = 7
    one, rows = Confusion(), Confusion()
    one.see(None, rounds_of(truth, predicted))
    codes = list(dict.fromkeys([*truth.tolist(), *predicted.tolist()]))
    assert one.labels == codes
    for row, column in zip(truth.tolist(), predicted.tolist(), strict=True):
        rows.see(None, rounds_of(np.array([row]), np.array([column])))
    at = [rows.labels.index(label) for label in codes]
    assert np.array_equal(one.counts, rows.counts[np.ix_(at, at)])
