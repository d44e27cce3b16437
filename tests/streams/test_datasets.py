"""A text, arrays or an iterable become a source; a name is found where it should be, or refused with a suggestion."""

import bz2
import gzip
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from noregret.errors import BadValue
from noregret.streams import Batch, ReadOptions, Source, blocks, open_source
from noregret.streams.datasets import BUILT_IN, LOADERS, dataset, list_datasets
from noregret.streams.synthetic import GENERATORS

LIBSVM, CSV = "1 1:0.5 3:2\n-1 2:1\n", "a,b,y\n1,2,1\n3,4,0\n"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of data sets, as NOREGRET_DATA names it, and an empty folder to work in."""
    base, here = tmp_path / "data", tmp_path / "here"
    here.mkdir()
    for name, text in {
        "plain.svm": LIBSVM,
        "table.csv": CSV,
        "single/whatever.csv": CSV,
        "split/split.train.svm": LIBSVM,
        "split/split.test.svm": LIBSVM,
        "a9a/a9a.svm": LIBSVM,
        "a9a/a9a.t.svm": LIBSVM,
        "a9a/notes.md": "nothing to read",
        "many/one.csv": CSV,
        "many/two.csv": CSV,
        "raw/rows.data": CSV,
        "nameless": CSV,
    }.items():
        path = base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (base / "packed").mkdir()
    (base / "packed" / "packed.svm.gz").write_bytes(gzip.compress(LIBSVM.encode()))
    (base / "packed.bz2.csv.bz2").write_bytes(bz2.compress(CSV.encode()))
    monkeypatch.setenv("NOREGRET_DATA", str(base))
    monkeypatch.chdir(here)
    return base


def kind_and_rows(spec: Any, **how: Any) -> tuple[str, int]:
    source = open_source(spec, ReadOptions(**how))
    return source.kind, sum(len(batch.y) for batch in source)


def refusal(spec: Any) -> str:
    with pytest.raises(BadValue) as error:
        list(open_source(spec))
    return str(error.value)


# ---- files ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("x.svm", LIBSVM, "libsvm"),
        ("x.libsvm", LIBSVM, "libsvm"),
        ("x.svmlight", LIBSVM, "libsvm"),
        ("x.csv", CSV, "csv"),
        ("x.tsv", CSV.replace(",", "\t"), "csv"),
        ("x.txt", LIBSVM, "libsvm"),
        ("x.txt", CSV, "csv"),
        ("x", LIBSVM, "libsvm"),
        ("x.data", "# a comment\n" + LIBSVM, "libsvm"),
        ("x.data", "when,y\n2020-01-01 12:30,1\n2020-01-01 12:31,2\n", "csv"),
        ("x.data", "1\n" * 3 + LIBSVM, "libsvm"),
    ],
)
def test_a_file_is_read_by_its_ending_or_its_first_lines(name: str, text: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert kind_and_rows(str(path))[0] == kind
    assert kind_and_rows(path)[0] == kind
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert kind_and_rows(str(packed)) == kind_and_rows(str(path))


def test_a_file_of_another_format_is_refused_with_the_formats_there_are(tmp_path: Path) -> None:
    path = tmp_path / "poem.txt"
    path.write_text("shall I compare thee\n")
    words = refusal(str(path))
    assert "libsvm" in words
    assert "commas" in words


def test_how_a_file_is_to_be_read_is_passed_on(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(CSV)
    (batch,) = open_source(str(path), ReadOptions(label="b"))
    assert batch.y.tolist() == [2, 4]


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("text", "kind"), [(LIBSVM, "libsvm"), (CSV, "csv")])
@pytest.mark.parametrize("packed", [False, True])
def test_standard_input_is_recognised_and_read_once(text: str, kind: str, packed: bool) -> None:
    program = (
        "from noregret.streams import open_source\n"
        "source = open_source('-')\n"
        "print(source.kind, source.name, sum(len(batch.y) for batch in source))\n"
        "try:\n    list(source)\nexcept ValueError as error:\n    print(error)\n"
    )
    given = gzip.compress(text.encode()) if packed else text.encode()
    done = subprocess.run([sys.executable, "-c", program], input=given, capture_output=True, check=False)
    lines = done.stdout.decode().splitlines()
    assert lines[0] == f"{kind} standard input 2", done.stderr.decode()
    assert "only once" in lines[1]


# ---- names ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("plain", "libsvm"),
        ("plain.svm", "libsvm"),
        ("table", "csv"),
        ("single", "csv"),
        ("single/whatever", "csv"),
        ("single/whatever.csv", "csv"),
        ("split", "libsvm"),
        ("split/split.test", "libsvm"),
        ("a9a", "libsvm"),
        ("a9a/a9a.t", "libsvm"),
        ("many/one", "csv"),
        ("raw", "csv"),
        ("raw/rows.data", "csv"),
        ("nameless", "csv"),
        ("packed", "libsvm"),
        ("packed.bz2", "csv"),
    ],
)
def test_names_are_found_under_the_folder_of_data(name: str, kind: str, data: Path) -> None:
    assert kind_and_rows(name) == (kind, 2)


@pytest.mark.parametrize(
    ("name", "file"), [("split", "split.train.svm"), ("a9a", "a9a.svm"), ("a9a/a9a.t", "a9a.t.svm")]
)
def test_a_folder_stands_for_its_file_for_training(name: str, file: str, data: Path) -> None:
    assert Path(open_source(name).name).name == file
    assert Path(open_source(str(data / name.split("/")[0])).name).name == file.replace(".t.", ".")


def test_a_folder_that_stands_for_no_file_names_those_there_are(data: Path) -> None:
    assert refusal("many") == "many is a folder of 2 files; name one of them: many/one.csv, many/two.csv"


@pytest.mark.parametrize(
    ("name", "close"),
    [
        ("digts", "digits"),
        ("seperable", "separable"),
        ("tabel", "table"),
        ("a9a/a9a.tt", "a9a/a9a.t"),
        ("mine.cvs", "mine.csv"),
    ],
)
def test_a_name_of_nothing_is_refused_with_what_is_close(name: str, close: str, data: Path) -> None:
    Path("mine.csv").write_text(CSV)
    words = refusal(name)
    assert words.startswith(
        f"there is no built-in data set {name!r}, and no file of that name; did you mean {close!r}?"
    )
    assert words.endswith("noregret datasets lists them")


@pytest.mark.parametrize("name", ["", "zzzzzz", "../data/plain.svm.x", "no/such/file.csv"])
def test_a_name_of_nothing_at_all_is_refused(name: str, data: Path) -> None:
    assert f"no built-in data set {name!r}" in refusal(name)


def test_a_folder_of_data_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOREGRET_DATA", "/no/such/folder")
    assert "NOREGRET_DATA is set to '/no/such/folder'" in refusal("foo")
    assert kind_and_rows("iris") == ("built-in", 150)


def test_a_file_without_ending_does_not_hide_a_data_set(data: Path) -> None:
    for name in ("iris", "other", "table"):
        Path(name).write_text(LIBSVM)
    assert kind_and_rows("iris")[0] == "built-in"
    assert kind_and_rows("table")[0] == "csv"
    assert kind_and_rows("other")[0] == "libsvm"
    assert kind_and_rows("./iris")[0] == "libsvm"
    Path("table.csv").write_text("a,y\n1,1\n")
    assert kind_and_rows("table.csv") == ("csv", 1)


@pytest.mark.parametrize("name", LOADERS)
def test_built_in_data_are_as_listed(name: str) -> None:
    source = open_source(name, seed=2)
    entry = next(one for one in BUILT_IN if one.name == name)
    X, y = dataset(name, seed=2)
    assert X.shape == (entry.rows, entry.features)
    assert source.rows == entry.rows
    assert source.learner_defaults.get("task") == ("regression" if name == "diabetes" else None)
    classes = {"binary": 2, "multiclass": 3, "regression": 20}[entry.task]
    assert len(set(y.tolist())) >= classes
    (batch,) = source
    np.testing.assert_array_equal(batch.X, X)
    np.testing.assert_array_equal(batch.y, y)


def test_made_up_streams_are_asked_for_by_name_and_seed() -> None:
    source = open_source("separable:rows=100,margin=0.2", seed=5)
    assert (source.kind, source.rows) == ("synthetic", 100)
    (batch,), (again,) = source, open_source("separable:rows=100,margin=0.2,seed=5")
    np.testing.assert_array_equal(batch.X, again.X)


# ---- the list -------------------------------------------------------------------------------------------------------


def test_everything_listed_can_be_opened_by_its_name(data: Path) -> None:
    entries = list_datasets()
    assert {entry.where for entry in entries} == {"built-in", "synthetic", "file"}
    for entry in entries:
        source = open_source(entry.name)
        assert isinstance(source, Source)
        assert entry.about
        if entry.rows is not None:
            assert (source.rows, entry.size) == (entry.rows, f"{entry.rows} x {entry.features}")
        if entry.where == "file":
            assert sum(len(batch.y) for batch in source) == 2
    assert set(LOADERS) | set(GENERATORS) <= {entry.name for entry in entries}
    assert {"a9a", "a9a/a9a.t", "many/one", "many/two", "split/split.test"} <= {entry.name for entry in entries}


def test_listing_loads_nothing_heavy() -> None:
    program = (
        "import sys\nfrom noregret.streams.datasets import list_datasets\nlist_datasets()\n"
        "print([name for name in ('sklearn', 'pyarrow', 'numba', 'scipy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, env=dict(os.environ))
    assert done.stdout.decode().strip() == "[]"


# ---- what a user hands over -----------------------------------------------------------------------------------------

X, Y = np.arange(12.0).reshape(6, 2), np.arange(6)


@pytest.mark.parametrize(
    "pair",
    [
        (X, Y),
        (X.tolist(), Y.tolist()),
        (sp.csc_array(X), Y),
        ([{"a": float(x), "b": 1.0} for x, _ in X], Y.tolist()),
    ],
)
def test_arrays_know_how_many_rows_they_have_and_are_cut_into_batches(pair: Any) -> None:
    source = open_source(pair)
    assert source.rows == 6
    assert [len(y) for _, y in blocks(pair, rows=4)] == [4, 2]
    assert [batch.progress for batch in source] == [1.0]
    assert [batch.progress for batch in source] == [1.0]


def test_a_source_is_taken_as_it_is() -> None:
    source = open_source((X, Y))
    assert open_source(source) is source


def test_an_iterable_of_batches_is_passed_on() -> None:
    batch = Batch(X, Y, np.arange(6), 0.5)
    assert list(open_source([batch])) == [batch]


@pytest.mark.parametrize("wrong", [5, None, io])
def test_what_is_no_source_is_refused(wrong: Any) -> None:
    assert refusal(wrong).startswith("a source is")
