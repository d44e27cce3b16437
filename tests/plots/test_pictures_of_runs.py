"""Pictures of races, models and reports, from objects and from JSON that somebody may have edited."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret import plots
from noregret.evaluation.evaluate import Evaluation
from noregret.evaluation.report import report_entry
from noregret.metrics import Confusion
from noregret.plots.figure import literal
from noregret.plots.report_data import number, read_report
from noregret.streams import open_source
from tests.support.command_line import SAMPLE, noregret, refused, succeeded

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 2))
Y = np.where(X[:, 0] > 0.3 * X[:, 1], "yes", "no").tolist()
POINTS = [
    {"rounds": n, "loss": 2.0 * n, "regret": n**0.5, "average": n**-0.5, "bound": 3.0 * n**0.5} for n in (1, 8, 90)
]


@pytest.fixture(scope="module")
def board() -> Any:
    return nr.race((X, Y), ["perceptron", "pa1", "arow"], native=False)


@pytest.fixture(scope="module")
def report(board: Any) -> dict[str, Any]:
    entries = [report_entry(entry) for entry in board]
    regret = {"loss": "hinge", "comparator": "the best weights", "says": "regret <= ...", "points": POINTS}
    whole = {"schema": 1, "noregret": "0", "task": "binary", "learners": [{**one, "regret": regret} for one in entries]}
    return json.loads(json.dumps(whole))  # type: ignore[no-any-return]


def lines(figure: Any, panel: int = 0) -> dict[str, list[float]]:
    return {line.get_label(): list(line.get_ydata()) for line in figure.axes[panel].lines}


def test_curves_show_the_rate_and_the_mean_loss_of_every_learner(board: Any, report: Any) -> None:
    figure = board.plot()
    rates, losses = lines(figure), lines(figure, 1)
    for entry in board:
        assert rates[entry.name][-1] == pytest.approx(entry.rate)
        assert losses[entry.name][-1] == pytest.approx(entry.mean_loss)
    assert figure.axes[0].get_xscale() == "log"
    assert lines(plots.curves(report)) == rates


def test_weights_of_entries_are_drawn_from_a_learner_its_report_and_json(tmp_path: Path) -> None:
    learner: Any = nr.make("auto", pool=["pa1", ("pa1", {"C": 0.01}), "arow"], native=False)
    board = nr.race((X, Y), [learner, "pa1"])
    pool: Any = next(entry.learner for entry in board if entry.name == "auto")
    drawn = lines(pool.plot())
    assert set(drawn) == {"pa1", "pa1(C=0.01)", "arow"}
    assert np.sum(list(drawn.values()), axis=0) == pytest.approx(np.ones(len(pool.history.rounds)))
    assert lines(pool.report().plot()) == lines(plots.entry_weights(board)) == drawn
    report = json.loads(json.dumps({"learners": [report_entry(entry) for entry in board]}))
    assert lines(plots.entry_weights(report)) == drawn
    pool.save(tmp_path / "auto.nr")
    loaded: Any = nr.load(tmp_path / "auto.nr")
    assert lines(loaded.plot()) == drawn
    assert "wrote" in succeeded(noregret("plot", "auto.nr", "--out", "w.png", cwd=tmp_path)).stdout


def test_weights_of_entries_need_an_auto_that_has_played() -> None:
    with pytest.raises(nr.BadValue, match="no weights over time"):
        nr.make("auto", native=False).plot()
    with pytest.raises(nr.BadValue, match="no auto among these learners"):
        plots.entry_weights({"learners": [{"name": "pa1"}]})
    with pytest.raises(nr.BadValue, match="no weights over time"):
        plots.entry_weights({"learners": [{"pool": {"history": [3, {"rounds": "x", "weights": {}}]}}]})


@pytest.mark.parametrize(("alarms", "drawn"), [([40, 70], 2), ("many", 0), (None, 0), ([0, -3, "x", 5], 1)])
def test_alarms_of_a_single_learner_are_dotted_lines(report: Any, alarms: Any, drawn: int) -> None:
    one = {**report["learners"][0], "drift": {"alarms": alarms}}
    panel = plots.curves({**report, "learners": [one]}).axes[0]
    assert sum(line.get_linestyle() == ":" for line in panel.lines) == drawn
    both = plots.curves({**report, "learners": [one, one]}).axes[0]
    assert not any(line.get_linestyle() == ":" for line in both.lines)


def test_targets_have_a_curve_of_the_loss_only() -> None:
    board = nr.race((X, X[:, 0]), ["pa1", "ogd"], task="regression", native=False)
    figure = plots.curves(board)
    assert [axes.get_ylabel() for axes in figure.axes] == ["mean loss so far"]


def test_regret_is_drawn_beside_its_bound(report: Any) -> None:
    figure = plots.regret(report, learner="pa1")
    solid, dashed = figure.axes[0].lines[:2]
    assert list(solid.get_ydata()) == pytest.approx([n**0.5 for n in (1, 8, 90)])
    assert list(dashed.get_ydata()) == pytest.approx([3.0 * n**0.5 for n in (1, 8, 90)])
    assert dashed.get_linestyle() == "--"
    assert figure.axes[0].get_ylim()[1] < 40.0
    far = [{**point, "bound": 1000.0 * point["rounds"]} for point in POINTS]
    wide = plots.regret({"learners": [{"name": "pa1", "regret": {"points": far}}]}).axes[0]
    assert wide.get_yscale() == "log"
    assert wide.get_ylim()[0] > 0.1
    assert list(figure.axes[1].lines[0].get_ydata()) == pytest.approx([n**-0.5 for n in (1, 8, 90)])
    with pytest.raises(nr.BadValue, match="no learner 'nobody'"):
        plots.regret(report, learner="nobody")


def test_what_a_theorem_bounds_instead_of_the_regret_has_its_own_panel(report: Any) -> None:
    bare = [{**point, "bound": None} for point in POINTS]
    measured = [{"rounds": n, "measured": n / 2, "bound": 3.0 * n} for n in (1, 8, 90)]
    theorem = {"bounds": "updates", "says": "updates <= ...", "when": "always", "points": measured}
    entry = {
        **report["learners"][0],
        "regret": {**report["learners"][0]["regret"], "points": bare, "guarantee": theorem},
    }
    figure = plots.regret({"learners": [entry, {"name": "x", "regret": {"why_not": "its loss is not convex"}}]})
    assert [axes.get_ylabel() for axes in figure.axes] == ["regret", "regret per round", "updates"]
    assert [list(line.get_ydata()) for line in figure.axes[2].lines] == [[0.5, 4.0, 45.0], [3.0, 24.0, 270.0]]


def test_regret_without_a_bound_and_reports_without_regret(report: Any, board: Any) -> None:
    bare = {**report["learners"][0], "regret": {"points": [{"rounds": 4, "regret": -2.0, "bound": None}]}}
    assert len(plots.regret({"learners": [bare]}).axes) == 2
    with pytest.raises(nr.BadValue, match="no learner of this report has regret"):
        plots.regret(board)


def test_columns_of_the_confusion_matrix_are_truths_and_sum_to_one(board: Any, report: Any) -> None:
    figure = plots.confusion(report, learner="pa1")
    shares = [float(text.get_text()) for text in figure.axes[0].texts]
    found = board["pa1"].confusion
    order = [found.labels.index(label) for label in ("no", "yes")]
    assert shares == pytest.approx(found.normalised()[np.ix_(order, order)].ravel().tolist(), abs=0.005)
    assert [axes.get_text() for axes in figure.axes[0].get_xticklabels()] == ["no", "yes"]
    assert figure.axes[0].get_xlabel() == "truth"
    with pytest.raises(nr.BadValue, match="no confusion matrix"):
        plots.confusion(Confusion())


def test_accuracies_on_tasks_are_drawn_in_percent_by_what_was_learned() -> None:
    figure = plots.accuracy_matrix(nr.AccuracyMatrix(np.array([[0.9, 0.1], [0.45, 0.8]])), "mlp")
    (panel,) = figure.axes
    assert [text.get_text() for text in panel.texts] == ["90", "10", "45", "80"]
    assert (panel.get_ylabel(), panel.get_title()) == ("after learning task", "mlp")
    with pytest.raises(nr.BadValue, match="learn_tasks"):
        plots.accuracy_matrix(np.eye(2))  # type: ignore[arg-type]
    with pytest.raises(nr.BadValue, match="the most are 50"):
        plots.accuracy_matrix(nr.AccuracyMatrix(np.zeros((51, 51))))


def test_weights_are_drawn_by_name_and_class() -> None:
    binary = nr.make("arow", native=False).learn([{"a": 1.0, "$b_c": -1.0}, {"a": -2.0}], ["x", "y"])
    (panel,) = binary.plot().axes
    assert {tick.get_text() for tick in panel.get_yticklabels()} == {"a", r"\$b_c"}
    many = nr.make("pa1", native=False).learn(np.eye(3), ["u", "v", "w"])
    assert [axes.get_title() for axes in many.plot().axes] == ["for u", "for v", "for w"]
    with pytest.raises(nr.BadValue, match="largest must be"):
        plots.weights(many, largest=0)
    with pytest.raises(nr.BadValue, match="no weights to draw"):
        nr.make("pa1", native=False, algebra="kernel", kernel="rbf").learn(X, Y).plot()


def test_regions_need_rows_of_two_features() -> None:
    learner = nr.make("pa1", native=False, bias=True).learn(X, Y)
    figure = learner.plot(X, Y)
    assert {text.get_text() for text in figure.axes[0].get_legend().texts} == {"no", "yes"}
    for rows, labels in ((np.ones((2, 3)), ["no", "yes"]), (X, Y[:3]), ([[np.nan, 1.0]], ["no"])):
        with pytest.raises(nr.BadValue, match="rows of two finite numbers"):
            learner.plot(rows, labels)


def test_reliability_of_an_evaluation() -> None:
    evaluation = Evaluation(nr.make("arow", native=False).learn(X, Y))
    for batch in open_source((X, Y)):
        evaluation.see(batch)
    figure = plots.reliability(evaluation)
    assert evaluation.reliability is not None
    bins = evaluation.reliability.bins()
    assert lines(figure)["measured"] == [one["right"] for one in bins]
    with pytest.raises(nr.BadValue, match="no probabilities"):
        plots.reliability([])


# ---- notebooks ------------------------------------------------------------------------------------------------------


def test_learners_and_races_are_tables_in_notebooks(board: Any) -> None:
    text = nr.make("pa1", C=0.5, native=False).learn([{"a": 1.0}, {"a": -1.0}], ["<b>", "y"])._repr_html_()
    assert "&lt;b&gt;, y" in text
    assert "C = 0.5" in text
    assert "2 rounds" in text
    assert "<table>" in board._repr_html_()
    delayed = nr.delayed(nr.make("pa1", native=False))
    assert "0 rounds" in delayed._repr_html_()


# ---- reports that somebody edited -----------------------------------------------------------------------------------


@pytest.mark.parametrize("learners", [None, [], 3, "pa1", [3]])
def test_reports_without_learners_are_refused(learners: Any) -> None:
    with pytest.raises(nr.BadValue, match="a report with learners is needed"):
        plots.curves({"noregret": "0", "learners": learners})


@pytest.mark.parametrize(
    "curve", [None, 3, "points", [3], [{"rounds": 0}], [{"rounds": "x"}], [{"rounds": float("nan")}]]
)
def test_reports_with_a_damaged_curve_are_refused(curve: Any) -> None:
    with pytest.raises(nr.BadValue, match="no curve to draw"):
        plots.curves({"noregret": "0", "learners": [{"name": "pa1", "curve": curve}]})


def test_damaged_confusion_matrices_are_refused() -> None:
    damaged = {"labels": ["a", "b"], "counts": [[1, 2], ["x", 3]], "rounds": [3, 3]}
    with pytest.raises(nr.BadValue, match="damaged"):
        plots.confusion({"learners": [{"name": "pa1", "confusion": damaged}]})


def test_numbers_of_reports() -> None:
    assert number("inf") == float("inf")
    assert number(10**400) == float("inf")
    wrong: list[Any] = [None, True, "nan", "x", [], {}]
    assert all(np.isnan(number(value)) for value in wrong)


def test_names_are_drawn_as_they_are() -> None:
    assert literal("a\nb$x$") == r"a b\$x\$"
    assert literal("_hidden") == " _hidden"
    assert len(literal("x" * 99)) == 40
    assert plots.curves({"learners": [
        {"name": name, "curve": [{"rounds": 4, "mistakes": 1, "loss": 1.0}]} for name in ("$\\frac{", "_", "人", "\x00")
    ]})._repr_png_()  # fmt: skip


# ---- noregret plot --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plot")
    (folder / "a.svm").write_text(SAMPLE)
    succeeded(
        noregret("learn", "a.svm", "--learner", "pa1", "--save", "m.nr", "--json", "r.json", "--quiet", cwd=folder)
    )
    return folder


@pytest.mark.parametrize(("words", "out"), [
    (("truncation",), "t.svg"), (("m.nr",), "m.png"), (("r.json",), "r.png"), (("r.json",), "r.html"),
    (("r.json", "--kind", "confusion", "--learner", "pa1"), "c.pdf"),
])  # fmt: skip
def test_the_command_draws(words: tuple[str, ...], out: str, folder: Path) -> None:
    assert f"wrote {out}" in succeeded(noregret("plot", *words, "--out", out, cwd=folder)).stdout
    begins = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF", ".html": b"<!DOCTYPE html>"}
    assert (folder / out).read_bytes().startswith(begins[Path(out).suffix])


def test_the_command_lists_what_it_can_draw(folder: Path) -> None:
    text = succeeded(noregret("plot", cwd=folder)).stdout
    assert all(name in text for name in ("losses", "winnow_total_weight", "REPORT.json"))


@pytest.mark.parametrize(("words", "said"), [
    (("losses",), "--out picture.png"),
    (("losses", "--out", "-"), "--out -"),
    (("losses", "--out", "no/a.png"), "no folder"),
    (("losses", "--out", "a.words"), "a.words"),
    (("losses", "--out", "a.png", "--kind", "curves"), "--kind"),
    (("nothing", "--out", "a.png"), "`noregret plot` lists"),
    (("a.svm", "--out", "a.png"), "a.svm"),
    (("r.json", "--out", "r.json"), "overwrite"),
    (("r.json", "--out", "a.png", "--kind", "regret"), "regret"),
    (("r.json", "--out", "a.png", "--learner", "pa1"), "--learner"),
    (("r.json", "--out", "a.png", "--kind", "confusion", "--learner", "pa2"), "pa2"),
])  # fmt: skip
def test_the_command_refuses(words: tuple[str, ...], said: str, folder: Path) -> None:
    refused(noregret("plot", *words, cwd=folder), said)


@pytest.mark.parametrize("text", ["", "[]", "{}", "{", '{"noregret": "0", "schema": 99}', "[" * 99999, "\ud800"])
def test_files_that_are_no_report_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(nr.BadValue, match=r"bad\.json"):
        read_report(str(path))


def test_the_plots_are_a_part_of_the_package() -> None:
    assert nr.plots is plots


def test_nothing_but_a_figure_imports_matplotlib() -> None:
    code = "import sys, noregret.plots, noregret.cli.plot; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def test_components_are_pictures_where_features_fill_a_square_and_bars_otherwise(tmp_path: Path) -> None:
    pixels = np.abs(RNG.normal(size=(60, 16)))
    svd: Any = nr.make("svd", rank=3, batch=1).learn(pixels)
    tiles = [axes.images[0].get_array() for axes in svd.plot().axes if axes.images]
    assert [tile.shape for tile in tiles] == [(4, 4)] * 3
    for tile, one in zip(tiles, svd.components, strict=True):
        grey = 0.5 + one / (2.0 * np.abs(one).max()) if one.min() < 0.0 else one / one.max()
        np.testing.assert_allclose(tile.ravel(), grey)
    assert plots.components(svd, (2, 8)).axes[0].images[0].get_array().shape == (2, 8)
    assert len(plots.components(svd, largest=2)._suptitle.get_text().split("2 of 3")) == 2

    named: Any = nr.make("pca_incremental", rank=2).learn([{"a": 1.0, "b": 9.0}, {"a": 2.0, "b": -3.0}])
    labels = [tick.get_text() for tick in named.plot().axes[0].get_yticklabels()]
    assert labels == ["b", "a"]
    svd.save(tmp_path / "svd.nr")
    succeeded(noregret("plot", "svd.nr", "--shape", "8x2", "--out", "svd.png", cwd=tmp_path))
    assert (tmp_path / "svd.png").read_bytes().startswith(b"\x89PNG")


def test_components_that_cannot_be_drawn_say_why(tmp_path: Path) -> None:
    svd: Any = nr.make("svd", rank=3, batch=1).learn(np.ones((4, 6)))
    shapes: tuple[Any, ...] = ((2, 2), (0, 6), (6,), "6", (1, 3, 2), (2.0, 3))
    for shape in shapes:
        with pytest.raises(nr.BadValue, match="shape"):
            plots.components(svd, shape)
    with pytest.raises(nr.BadValue, match="gaussian has no components"):
        nr.make("gaussian").learn(np.ones((4, 6))).plot()
    with pytest.raises(nr.BadValue, match="largest"):
        plots.components(svd, largest=0)
    with pytest.raises(nr.BadValue, match="takes no rows"):
        svd.plot(np.ones((4, 6)))
    svd.save(tmp_path / "svd.nr")
    for text, words in (("3", "shape must be"), ("3x3", "but there are 6 features"), ("axb", "as in 8x8")):
        refused(noregret("plot", "svd.nr", "--shape", text, "--out", "a.png", cwd=tmp_path), words)
    refused(noregret("plot", "losses", "--shape", "2x3", "--out", "a.png", cwd=tmp_path), "models without labels")
