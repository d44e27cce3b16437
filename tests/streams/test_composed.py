"""Which rows of a source are read, how often, in which order, and from where on."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.errors import BadValue
from noregret.streams import Cursor, Source, open_source
from noregret.streams.shuffling import BUFFER

ROWS = 40_000


def svm(path: Path, first: int, rows: int) -> Path:
    text = "".join(f"{row % 3} 1:{row} {row % 7 + 2}:1\n" for row in range(first, first + rows)).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def table(path: Path, first: int, rows: int) -> Path:
    path.write_text("row,kind,label\n" + "".join(f"{r},k{r % 5},{r % 3}\n" for r in range(first, first + rows)))
    return path


def vw(path: Path, first: int, rows: int) -> Path:
    path.write_text("".join(f"{r % 3} |n row:{r} |k k{r % 5} k{r % 700}\n" for r in range(first, first + rows)))
    return path


def numbers(batches: Any) -> list[float]:
    """The value of the first feature of every row, which counts the rows through."""
    return [float(batch.X.block.val[at]) for batch in batches for at in batch.X.block.indptr[:-1]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("shaped")
    svm(place / "day-1.svm", 0, ROWS)
    svm(place / "day-2.svm.gz", ROWS, 300)
    table(place / "t.csv", 0, ROWS)
    vw(place / "t.vw", 0, ROWS)
    return place


def test_a_pattern_names_files_that_are_read_in_order(folder: Path) -> None:
    source = open_source(str(folder / "day-*"))
    assert source.name.endswith("day-1.svm and 1 more")
    assert numbers(source) == list(range(ROWS + 300))
    assert numbers(open_source([folder / "day-2.svm.gz", folder / "day-1.svm"]))[:301] == [*range(ROWS, ROWS + 300), 0]
    with pytest.raises(BadValue, match="no file matches the pattern"):
        open_source(str(folder / "night-*"))


@pytest.mark.parametrize(("skip", "limit"), [(0, 5), (3, 4), (ROWS - 2, 5), (ROWS + 1, 2), (7, None), (0, 0)])
def test_skip_and_limit_count_over_all_files(folder: Path, skip: int, limit: int | None) -> None:
    source = open_source(str(folder / "day-*"), skip=skip, limit=limit)
    stop = ROWS + 300 if limit is None else min(skip + limit, ROWS + 300)
    assert numbers(source) == list(range(skip, stop))


def test_every_pass_reads_the_rows_asked_for(folder: Path) -> None:
    assert numbers(open_source(folder / "day-1.svm", skip=2, limit=3, passes=3)) == [2, 3, 4] * 3


def test_a_shuffle_is_another_order_of_the_same_rows_and_hangs_on_its_seed(folder: Path) -> None:
    whole = list(range(ROWS + 300))
    found = [numbers(open_source(str(folder / "day-*"), shuffle=seed)) for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]
    assert sorted(found[0]) == sorted(found[2]) == whole
    assert abs(np.corrcoef(whole, found[0])[0, 1]) < 0.02
    twice = numbers(open_source(folder / "day-2.svm.gz", shuffle=1, passes=2))
    assert sorted(twice[:300]) == sorted(twice[300:])
    assert twice[:300] != twice[300:]


def test_a_shuffled_table_keeps_labels_names_and_lines_beside_their_rows(folder: Path) -> None:
    seen = 0
    for batch in open_source([folder / "t.csv", folder / "t.csv"], shuffle=3):
        for row in range(0, batch.rows, 97):
            only = batch.cut(row, row + 1).X
            assert batch.lines is not None
            value = only.block.val[only.block.idx == only.names.index("row")][0]
            kinds = [only.names[j] for j in only.block.idx if only.names[j] != "row"]
            assert kinds == [f"kind=k{int(value) % 5}"]
            assert batch.y[row] == value % 3
            assert batch.lines[row] == value + 2
            seen += 1
    assert seen > ROWS // 60


def test_shuffled_named_features_keep_their_names_and_passes_read_them_again(folder: Path) -> None:
    seen = []
    for batch in open_source([folder / "t.vw", folder / "t.vw"], shuffle=3, passes=2):
        for row in range(0, batch.rows, 97):
            only = batch.cut(row, row + 1).X
            named = {only.names[j]: value for j, value in zip(only.block.idx, only.block.val, strict=True)}
            value = int(named.pop("n^row", 0.0))
            assert batch.lines is not None
            assert batch.lines[row] == value + 1
            assert batch.y[row] == value % 3
            assert set(named) == {f"k^k{value % 5}", f"k^k{value % 700}"}
            seen.append(value)
    assert len(seen) > 4 * ROWS // 100


def test_a_buffer_is_all_that_a_shuffle_holds() -> None:
    rows = 3 * BUFFER
    X, y = np.arange(float(rows)).reshape(-1, 1), np.arange(rows) % 2
    source = open_source((X, y), shuffle=0)
    order = np.concatenate([batch.X[:, 0] for batch in source])
    assert sorted(order) == list(range(rows))
    assert order[: BUFFER // 8].max() < BUFFER + 8192


@pytest.mark.parametrize("how", [{}, {"passes": 2}, {"skip": 11, "limit": 39_000, "passes": 2}, {"shuffle": 4}])
@pytest.mark.parametrize("name", ["day-*", "t.csv", "t.vw", "day-2.svm.gz"])
@pytest.mark.thinned(6)
def test_reading_goes_on_where_it_stopped(folder: Path, name: str, how: dict[str, Any]) -> None:
    def opened() -> Source:
        return open_source(str(folder / name), **how)

    whole = [(x, int(label), int(line)) for x, label, line in rounds(opened())]
    cursor, passed, stops = Cursor(), 0, 0
    for number, batch in enumerate(opened()):
        cursor.advance(batch)
        passed += batch.rows
        if number % 4 == 0 and stops < 3:
            stops += 1
            again = Cursor(**cursor.dump())
            assert [(x, int(label), int(line)) for x, label, line in rounds(again.resume(opened()))] == whole[passed:]
    assert passed == len(whole)
    assert list(cursor.resume(opened())) == []


def rounds(batches: Any) -> list[Any]:
    return [
        one
        for batch in batches
        for one in zip(numbers([batch]), np.asarray(batch.y).tolist(), batch.lines.tolist(), strict=True)
    ]


def test_a_place_beyond_the_end_or_damaged_is_refused(folder: Path) -> None:
    for start, words in (
        ({"byte": 10**9, "line": 3}, "ends before byte"),
        ({"byte": -1, "line": 3}, "its byte is -1"),
        ({"byte": "x"}, "its byte is 'x'"),
    ):
        for name in ("day-1.svm", "day-2.svm.gz", "t.csv", "t.vw"):
            source = open_source(folder / name)
            source.start = start
            with pytest.raises(BadValue, match=words):
                list(source)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"skip": True}, 'on_bad="skip"'),
        ({"limit": -1}, "limit must be a whole number"),
        ({"passes": 0}, "passes must be a whole number of at least 1"),
        ({"shuffle": 1.5}, "shuffle must be"),
        ({"on_bad": "ignore"}, '"stop" or "skip"'),
        ({"drop": [3]}, "by name"),
        ({"label": "a", "drop": "a"}, "both label and drop"),
        ({"labels": "a"}, "did you mean 'label'"),
        ({"format": "csw"}, "did you mean 'csv'"),
        ({"label": "a"}, "label does not apply to libsvm"),
    ],
)
def test_what_cannot_be_asked_of_a_source_is_refused(folder: Path, told: dict[str, Any], words: str) -> None:
    with pytest.raises(BadValue, match=words):
        open_source(folder / "day-1.svm", **told)


def test_a_format_may_be_told(tmp_path: Path) -> None:
    svm(tmp_path / "rows.data", 0, 3)
    assert numbers(open_source(tmp_path / "rows.data", format="svmlight")) == [0, 1, 2]


def test_weights_of_a_batch_reach_the_learner() -> None:
    from noregret.streams import Batch

    X, y, weight = np.array([[1.0], [1.0]]), np.array([1, -1]), np.array([1.0, 0.0])
    learner = nr.make("pa1")
    nr.play([Batch(X, y, weight=weight)], learner)
    assert learner.predict(X).tolist() == [1, 1]
