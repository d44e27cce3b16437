"""Edges of what is handed over: features that are new, turned or only looked at; long runs; odd cells of tables."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import noregret as nr
from noregret.data.blocks import Rows, as_block, to_sparse
from noregret.data.transcript import Transcript
from noregret.features.names import Names
from noregret.metrics import LabelBaselines, LearningCurve
from noregret.streams.column_kinds import has_decimal_commas
from noregret.streams.columns import split_cells
from noregret.streams.csv import Csv
from noregret.streams.read_options import ReadOptions
from noregret.streams.synthetic import Separable, Synthetic

PARIS = np.array([False, True])


def named(X: Any, names: list[str], indicator: Any = None) -> Rows:
    block = to_sparse(as_block(np.asarray(X, float)))
    return Rows(block, names, indicator)


def transcript(labels: list[Any]) -> Transcript:
    zeros, no = np.zeros(len(labels)), np.zeros(len(labels), bool)
    return Transcript(zeros, zeros, zeros, no, no, np.array(labels))


def labels_seen(*chunks: list[Any]) -> dict[str, float]:
    metric = LabelBaselines()
    for labels in chunks:
        metric.see(None, transcript(labels))
    return metric.report()


def test_only_fresh_features_become_indicators() -> None:
    learner = nr.make("pa1", scale=True).learn([{"height": float(n), "a": 1.0} for n in range(30)], [0, 1] * 15)
    learner.learn(named([[5.0, 1.0]], ["a", "height"], PARIS), [1])
    assert learner.model.scaling is not None
    assert learner.model.scaling.count[:2].tolist() == [31.0, 31.0]


def test_indicators_are_known_by_the_number_the_learner_has_for_them() -> None:
    learner = nr.make("pa1", scale=True).learn([{"x": 1.0, "y": 2.0}, {"x": 2.0, "y": 1.0}], [0, 1])
    learner.learn(named([[7.0, 1.0], [9.0, 1.0]], ["height", "city=Paris"], PARIS), [0, 1])
    assert learner.model.scaling is not None
    assert learner.model.scaling.count[:4].tolist() == [2.0, 2.0, 2.0, -1.0]


def test_a_refused_call_leaves_no_indicators() -> None:
    learner = nr.make("pa1", scale=True).learn([{"x": 1.0}, {"x": 2.0}], [0, 1])
    with pytest.raises(nr.BadValue):
        learner.learn(named([[7.0, 0.0]], ["x", "city=Paris"], PARIS), [None])
    learner.learn([{"z": 1.0}, {"z": 2.0}], [0, 1])
    assert learner.model.scaling is not None
    assert learner.model.scaling.count[1] == 2.0


@pytest.mark.parametrize("told", [{"bias": True}, {"scale": True}, {"scale": True, "bias": True}])
def test_room_behind_the_last_row_is_no_row(told: dict[str, Any]) -> None:
    tight = sparse.csr_matrix(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]))
    loose = sparse.csr_matrix((2, 3))
    loose.data, loose.indptr = np.append(tight.data, [9.0, 9.0]), tight.indptr
    loose.indices = np.append(tight.indices, [0, 1]).astype(np.int32)
    a, b = (nr.make("perceptron", **told).learn(X, [0, 1]) for X in (tight, loose))
    assert np.array_equal(a.scores(tight), b.scores(tight))
    if a.model.scaling is not None and b.model.scaling is not None:
        assert a.model.scaling.count.tolist() == b.model.scaling.count.tolist()


def test_a_bias_does_not_make_unchecked_rows_checked() -> None:
    X = sparse.csr_matrix(np.array([[1.0, np.nan]]))
    with pytest.raises(nr.BadValue, match="every value must be finite"):
        nr.make("perceptron", bias=True).learn(X, [1])


def test_unheard_names_leave_rows_sorted_and_without_duplicates() -> None:
    names = Names()
    names.encode_rows(named([[1.0]], ["a"]), grow=True)
    block, _ = names.encode_rows(named([[1.0, 2.0, 3.0]], ["a", "b", "c"]), grow=False)
    assert bool((np.diff(block.idx) > 0).all())


@pytest.mark.parametrize("rule", ["winnow", "sop"])
def test_unheard_names_weigh_the_same_in_a_stream_and_in_a_dict(rule: str) -> None:
    learner = nr.make(rule).learn([{"a": 1.0}, {"b": 1.0}], [1, 0])
    row = {"a": 1.0, "u": 2.0, "v": 3.0}
    assert learner.scores(named([list(row.values())], list(row)))[0] == learner.scores([row])[0]


def test_looking_does_not_decide_how_features_are_known() -> None:
    learner = nr.make("pa1").learn([{}], [1])
    learner.predict(named([[1.0]], ["a"]))
    assert learner.model.names.mode is None


def test_columns_of_a_stream_are_not_taken_for_names() -> None:
    learner = nr.make("pa1").learn([{"a": 1.0}, {"b": 1.0}], [1, 0])
    with pytest.raises(nr.BadValue, match="by name"):
        learner.learn(Rows(to_sparse(as_block(np.eye(2)))), [0, 1])


def test_long_transcripts_count_every_round() -> None:
    labels = ["a", "b"] * 10_000
    assert labels_seen(labels) == labels_seen(*[labels[at : at + 7] for at in range(0, 20_000, 7)])


def test_a_ninth_class_finds_the_leader_where_it_was() -> None:
    few = [0, 1, 2, 3, 4, 5, 6, 7, 3]
    rest = [3, 8, 3]
    whole = labels_seen([*few, *rest])
    assert labels_seen(few, rest) == whole
    assert whole["majority"] == 10.0


def test_a_point_of_the_curve_is_there_as_soon_as_its_round_is() -> None:
    curve = LearningCurve(2)
    curve.see(None, transcript([0, 1]))
    assert [point[0] for point in curve.points] == [2]


def test_blocks_of_a_stream_do_not_repeat_and_the_seed_decides_what_is_hidden() -> None:
    (batch,) = Synthetic("separable:rows=2048")
    assert not np.array_equal(batch.X[:1024], batch.X[1024:])
    assert not np.allclose(hidden(Synthetic("separable:seed=1")), hidden(Synthetic("separable:seed=2")))


def hidden(source: Synthetic) -> np.ndarray:
    assert isinstance(source.generator, Separable)
    return source.generator.u


def test_separable_rows_fill_the_ball_and_half_of_them_are_near_the_plane() -> None:
    source = Synthetic("separable:rows=8192,margin=0.1,features=5")
    (batch,) = source
    along = np.abs(batch.X @ hidden(source))
    assert 0.5 < np.mean(along <= 0.3) < 0.7
    length = np.linalg.norm(batch.X, axis=1)
    assert length[along > 0.8].max() > 0.99
    across = np.sqrt(np.maximum(length**2 - along**2, 0.0)) / np.sqrt(1.0 - along**2)
    assert np.mean(across > 0.5) == pytest.approx(1.0 - 0.5**4, abs=0.02)


def test_the_plane_cuts_a_full_ball() -> None:
    (batch,) = Synthetic("hyperplane:rows=8192,features=10")
    assert np.mean(np.linalg.norm(batch.X, axis=1) > 0.9) == pytest.approx(1.0 - 0.9**10, abs=0.03)


def test_few_numbers_among_many_words_and_few_words_among_few_numbers_are_text(tmp_path: Path) -> None:
    for name, cells in {"many": ["w"] * 500 + ["1"] * 30, "few": ["1"] * 18 + ["w"]}.items():
        (tmp_path / name).write_text("a,y\n" + "".join(f"{cell},0\n" for cell in cells))
        (batch,) = Csv(str(tmp_path / name))
        assert "a=w" in batch.X.names, name


@pytest.mark.thinned(2)
@pytest.mark.parametrize("native", [True, False])
def test_a_blank_line_is_no_row_of_a_table_of_one_column(native: bool, tmp_path: Path) -> None:
    (tmp_path / "cities.csv").write_text("city\nParis\n\nRome\n")
    (batch,) = Csv(str(tmp_path / "cities.csv"), ReadOptions(labelled=False), native=native)
    assert len(batch.X) == 2


def test_one_decimal_comma_among_words_is_not_told() -> None:
    import pyarrow as pa

    assert not has_decimal_commas(pa.chunked_array([["1,5", "x", "y"]]))


def test_text_behind_a_closing_quote_stays() -> None:
    assert split_cells('"a"b,c', ",") == ["ab", "c"]
