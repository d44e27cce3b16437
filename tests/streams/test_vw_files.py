"""Files of Vowpal Wabbit's text: known by their ending or their look, read by threads that nobody notices."""

import gzip
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.cli import main
from noregret.errors import BadValue
from noregret.streams import Cursor, libsvm, open_source, vw
from noregret.streams.formats import sniff_format
from noregret.streams.read_options import ReadOptions
from noregret.streams.vw import Vw
from tests.naive import vw_rows as naive
from tests.support.command_line import noregret


def lines(rows: int, seed: int = 5) -> list[bytes]:
    """Rows of words whose labels follow from them."""
    rng = random.Random(seed)
    made = []
    for _ in range(rows):
        words = [f"w{int(300 ** rng.random())}" for _ in range(6)]
        label = 1 if sum(hash_of(word) for word in words) > 0 else -1
        made.append(f"{label} |text {' '.join(words)} |n x:{rng.random():.4f}".encode())
    return made


def hash_of(word: str) -> int:
    return int(word[1:]) * 7919 % 13 - 6


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("vw") / "rows.vw"
    made.write_bytes(b"\n".join(lines(6000)) + b"\n")
    return made


def whole(source: Vw) -> list[Any]:
    """All rows with their names, and the names in order."""
    found: list[Any] = []
    for batch in source:
        block, names = batch.X.block, batch.X.names
        for row in range(batch.rows):
            part = slice(block.indptr[row], block.indptr[row + 1])
            pairs = [(names[j], v) for j, v in zip(block.idx[part].tolist(), block.val[part].tolist(), strict=True)]
            assert batch.lines is not None
            found.append((batch.y[row], pairs, int(batch.lines[row])))
    found.append(list(names))
    return found


def test_two_threads_read_what_one_reads_and_what_is_there(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Vw(str(path), ReadOptions())
    at_once = whole(source)
    expected = naive.read(path.read_bytes())
    assert at_once[-1] == list(expected.names)
    assert [(label, dict(pairs), line) for label, pairs, line in at_once[:-1]] == [
        (row.label, row.features, row.line) for row in expected.rows
    ]
    source.window = 1 << 12
    assert whole(source) == at_once
    assert whole(source) == at_once
    monkeypatch.setattr(vw, "THREADS", 1)
    assert whole(source) == at_once


def test_the_place_of_a_batch_is_where_reading_goes_on(path: Path) -> None:
    source = Vw(str(path), ReadOptions())
    source.window = 1 << 14
    rows = whole(source)[:-1]
    passed = 0
    for batch in list(source)[:-1]:
        passed += batch.rows
        again = Vw(str(path), ReadOptions())
        again.start = batch.position
        assert [(y, dict(pairs), line) for y, pairs, line in whole(again)[:-1]] == [
            (y, dict(pairs), line) for y, pairs, line in rows[passed:]
        ]


def weights(learner: nr.RuleLearner) -> Any:
    return np.array([learner.model.arrays.w[number] for number in range(len(learner.model.names.known))])


def test_learning_that_was_stopped_goes_on_to_the_same_model(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vw, "WINDOW", 1 << 14)

    def learned(stop: int | None) -> nr.RuleLearner:
        cursor, learner = Cursor(), nr.make("pa1")
        for number, batch in enumerate(open_source(path)):
            if number == stop:
                break
            learner.learn(batch.X, batch.y)
            cursor.advance(batch)
        if stop is not None:
            learner = learner.copy()
            for batch in cursor.resume(open_source(path)):
                learner.learn(batch.X, batch.y)
        return learner

    straight = learned(None)
    assert straight.rounds == 6000
    for stop in (1, 7, 20):
        stopped = learned(stop)
        assert stopped.model.names.as_list() == straight.model.names.as_list()
        np.testing.assert_array_equal(weights(stopped), weights(straight))
        assert stopped.mistakes == straight.mistakes


def test_a_learner_that_knows_other_names_first_learns_the_same(path: Path) -> None:
    """Its numbers are in another order than those of the stream; the sums are the same up to rounding."""
    one, other = nr.make("perceptron"), nr.make("perceptron")
    other.learn([{"text^w9": 0.0, "other": 0.0, "text^w1": 0.0}], [1])
    one.learn([{"nothing": 0.0}], [1])
    for batch in open_source(path):
        one.learn(batch.X, batch.y)
        other.learn(batch.X, batch.y)
    assert one.mistakes == other.mistakes
    batch = next(iter(open_source(path)))
    np.testing.assert_allclose(one.scores(batch.X), other.scores(batch.X), rtol=1e-9, atol=1e-9)
    rows = [
        {batch.X.names[j]: v for j, v in zip(part.idx.tolist(), part.val.tolist(), strict=True)}
        for part in (batch.X[row : row + 1].block for row in range(50))
    ]
    np.testing.assert_allclose(other.scores(rows), other.scores(batch.X)[:50], rtol=1e-9, atol=1e-9)


def test_names_a_learner_does_not_know_do_not_move_its_scores(path: Path) -> None:
    learner = nr.make("pa1")
    for batch in open_source(path):
        learner.learn(batch.X, batch.y)
    text = path.read_bytes().replace(b"|n x", b"|strange s%d more |n x" % 7)
    (path.parent / "strange.vw").write_bytes(text)
    for mine, theirs in zip(open_source(path), open_source(path.parent / "strange.vw"), strict=True):
        np.testing.assert_allclose(learner.scores(theirs.X), learner.scores(mine.X), rtol=1e-9, atol=1e-12)


def test_features_without_a_value_are_never_scaled(tmp_path: Path) -> None:
    rng = random.Random(1)
    text = "".join(f"{rng.choice([-1, 1])} |a word{rng.randrange(3)} |n x:{100 + rng.random()}\n" for _ in range(500))
    (tmp_path / "rows.vw").write_text(text)
    learner = nr.make("pa1", scale=True)
    for batch in open_source(tmp_path / "rows.vw"):
        learner.learn(batch.X, batch.y)
        assert dict(zip(batch.X.names, batch.X.indicator.tolist(), strict=True)) == {
            **{f"a^word{j}": True for j in range(3)}, "n^x": False,
        }  # fmt: skip
    assert learner.model.scaling is not None
    number = learner.model.names.known["a^word1"]
    assert learner.model.scaling.count[number] == -1.0
    assert learner.model.scaling.count[learner.model.names.known["n^x"]] == 500


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (b"1 |a x y\n-1 |b z", "vw"),
        (b"1 | x:1 y:2\n-1 | z w\n", "vw"),
        (b"\xef\xbb\xbf1 |f 13:3.9e-02 24:3.4e-02\n0 |f 9:8.5e-02\n", "vw"),
        (b"1 2.0 'tag |a x\n\n| x y z\n", "vw"),
        (b"spam |words buy now |n:2 x:3\nham |words hello\n", "vw"),
        (b"1 1 0 'x|a b\n", "vw"),
        (b"a|b|label\n1|2|1\n", "csv"),
        (b"a | b | label\n1 | 2 | 1\n", "csv"),
        (b"1|2|1\n3|4|0\n", "csv"),
        (b"name,x|y,label\nu,1,2\n", "csv"),
        (b"1 1:2 3:4\n", "libsvm"),
    ],
)
def test_a_look_at_the_first_lines_tells_the_format(text: bytes, kind: str) -> None:
    assert sniff_format(text, "text") == kind


def test_the_command_line_learns_and_predicts(path: Path, tmp_path: Path) -> None:
    packed, report = tmp_path / "rows.vwtxt.gz", tmp_path / "report.json"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert main(["learn", str(packed), "--learner", "pa1", "--json", str(report)]) == 0
    straight = json.loads(report.read_text())
    assert straight["source"]["rounds"] == 6000
    told = ("learn", "-", "--learner", "pa1", "--save", "m.nr", "--json", "report.json")
    done = noregret(*told, cwd=tmp_path, stdin=path.read_bytes())
    assert done.returncode == 0, done.stderr
    piped = json.loads(report.read_text())
    assert piped["learners"][0]["mistakes"] == straight["learners"][0]["mistakes"] < 2000
    (tmp_path / "new.vw").write_bytes(b"|text w1 w2 |n x:0.5\n'tag |text w3\n")
    assert main(["predict", str(tmp_path / "m.nr"), str(tmp_path / "new.vw"), "--out", str(tmp_path / "out.csv")]) == 0
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 3


def test_an_error_of_the_learner_names_the_line(tmp_path: Path) -> None:
    (tmp_path / "huge.vw").write_bytes(b"1 | x\n1 | x:1e308 x:1e308\n")
    with pytest.raises(BadValue, match=r"huge\.vw:2: feature 0: the value is inf"):
        nr.play(open_source(tmp_path / "huge.vw"), nr.make("pa1"))


def test_options_of_tables_do_not_apply(path: Path) -> None:
    with pytest.raises(BadValue, match="label does not apply to vw"):
        open_source(path, label="x")


def test_a_file_without_rows_says_so(tmp_path: Path) -> None:
    (tmp_path / "none.vw").write_text("\n  \r\n")
    with pytest.raises(BadValue, match=r"none\.vw: holds no rows"):
        list(open_source(tmp_path / "none.vw"))


def test_libsvm_and_vw_read_the_same_numbers(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    rows = [
        (int(rng.integers(-1, 2)), {int(j): float(rng.normal()) for j in rng.integers(1, 90, 9)}) for _ in range(300)
    ]
    pairs = [(label, " ".join(f"{j}:{v!r}" for j, v in sorted(row.items()))) for label, row in rows]
    (tmp_path / "a.svm").write_text("".join(f"{label} {text}\n" for label, text in pairs))
    (tmp_path / "a.vw").write_text("".join(f"{label} | {text}\n" for label, text in pairs))
    (one,) = libsvm.Libsvm(str(tmp_path / "a.svm"), ReadOptions())
    (other,) = Vw(str(tmp_path / "a.vw"), ReadOptions())
    for row in range(300):
        mine, theirs = other.X[row : row + 1].block, one.X[row : row + 1].block
        named = {int(other.X.names[j]): v for j, v in zip(mine.idx.tolist(), mine.val.tolist(), strict=True)}
        assert named == {j + 1: v for j, v in zip(theirs.idx.tolist(), theirs.val.tolist(), strict=True)}
    np.testing.assert_array_equal(one.y, other.y)
