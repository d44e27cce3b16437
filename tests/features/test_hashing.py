"""Names that are hashed: cells and signs, collisions counted, everything exact as with names that are kept."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.features.hashing import HashedNames, hash_name
from noregret.streams import open_source

rng = np.random.default_rng(0)
ROWS = [
    {f"word{j}": float(v) for j, v in zip(rng.integers(400, size=6), rng.normal(size=6), strict=True)}
    for _ in range(200)
]
Y = [["no", "yes"][int(sum(row.values()) > 0)] for row in ROWS]


def by_hand(row: dict[str, float], bits: int) -> dict[int, float]:
    """The cells of a row and their values, from the definition."""
    found: dict[int, float] = {}
    for name, value in row.items():
        h = hash_name(name)
        found[h % 2**bits] = found.get(h % 2**bits, 0.0) + (value if (h >> 31) & 1 else -value)
    return found


@pytest.mark.parametrize("bits", [4, 12, 20])
@pytest.mark.parametrize("rule", ["pa1", "arow"])
def test_learning_by_hash_is_learning_the_hashed_columns(rule: str, bits: int) -> None:
    learner = nr.make(rule, bits=bits).learn(ROWS, Y)
    columns = nr.make(rule).learn([by_hand(row, bits) for row in ROWS], Y)
    assert learner.mistakes == columns.mistakes
    np.testing.assert_allclose(
        learner.scores(ROWS), columns.scores([by_hand(row, bits) for row in ROWS]), rtol=1e-12, atol=1e-14
    )


def test_the_hash_of_a_name_never_changes() -> None:
    fixed = [0x2F42665B399EF840, 0x754F854DE3C27284, 0xE99A32C955E1F8F4, 0xB4B2797457A0A6E4]
    assert [hash_name(name) for name in ("a", "b", "größe", "")] == fixed


@pytest.mark.parametrize("bits", [5, 9])
def test_collisions_are_the_cells_that_several_names_share(bits: int) -> None:
    learner = nr.make("pa1", bits=bits).learn(ROWS, Y)
    cells: dict[int, set[str]] = {}
    for row in ROWS:
        for name in row:
            cells.setdefault(hash_name(name) % 2**bits, set()).add(name)
    assert learner.collisions == sum(len(names) > 1 for names in cells.values())
    assert nr.make("pa1", bits=24).learn(ROWS, Y).collisions <= 1
    assert nr.make("pa1").learn(ROWS, Y).collisions == 0


def state(learner: Any) -> Any:
    from noregret.learner.model_file import pack

    return pack(learner)


@pytest.mark.parametrize("cut", [1, 7])
def test_chunks_one_by_one_and_kept_models_give_the_same_bits(cut: int, tmp_path: Path) -> None:
    whole = nr.make("arow", bits=8).learn(ROWS, Y)
    parts, one = nr.make("arow", bits=8), nr.make("arow", bits=8)
    for at in range(0, 200, cut):
        parts.learn(ROWS[at : at + cut], Y[at : at + cut])
        parts.save(tmp_path / "m.nr")
        parts = nr.load(tmp_path / "m.nr")
    for row, label in zip(ROWS, Y, strict=True):
        one.predict_one(row)
        one.learn_one(row, label)
    assert state(whole) == state(parts) == state(one)


def test_a_stream_that_names_its_features_is_hashed_like_dicts(tmp_path: Path) -> None:
    lines = [f"{label} | " + " ".join(f"{n}:{v!r}" for n, v in row.items()) for row, label in zip(ROWS, Y, strict=True)]
    (tmp_path / "t.vw").write_text("\n".join(lines))
    stream, dicts = nr.make("arow", bits=8), nr.make("arow", bits=8).learn(ROWS, Y)
    stream.predict_one({"word1": 1.0})
    for batch in open_source(tmp_path / "t.vw"):
        stream.learn(batch.X[:50], batch.y[:50])
        stream.predict(batch.X)
        stream.learn(batch.X[50:], batch.y[50:])
    np.testing.assert_allclose(stream.scores(ROWS), dicts.scores(ROWS), rtol=1e-12)
    assert stream.collisions == dicts.collisions > 0


def test_a_refused_call_and_a_prediction_leave_no_mark() -> None:
    learner = nr.make("pa1", bits=6).learn(ROWS[:20], Y[:20])
    before = state(learner)
    with pytest.raises(nr.BadValue, match="must be finite"):
        learner.learn([*ROWS[20:40], {"x": float("nan")}], Y[:21])
    with pytest.raises(nr.BadValue):
        learner.learn(ROWS[20:40], [None] * 20)
    learner.predict(ROWS)
    assert state(learner) == before
    learner.learn(ROWS[20:], Y[20:])
    assert state(learner) == state(nr.make("pa1", bits=6).learn(ROWS, Y))


def test_merging_counts_the_collisions_of_both() -> None:
    a, b = (
        nr.make("perceptron", bits=6).learn(ROWS[:100], Y[:100]),
        nr.make("perceptron", bits=6).learn(ROWS[100:], Y[100:]),
    )
    assert a.merge(b).collisions == nr.make("perceptron", bits=6).learn(ROWS, Y).collisions
    with pytest.raises(nr.BadValue, match="6 bits, the other 7"):
        a.merge(nr.make("perceptron", bits=7).learn(ROWS, Y))


def test_explanations_go_by_the_names_of_the_row() -> None:
    learner = nr.make("pa1", bits=10).learn(ROWS, Y)
    assert set(learner.explain_one(ROWS[0])) == set(ROWS[0])


@pytest.mark.parametrize(
    ("told", "X", "words"),
    [
        ({"bits": 0}, ROWS, "bits must be a whole number from 1 to 30"),
        ({"bits": True}, ROWS, "bits must be a whole number"),
        ({"bits": 31}, ROWS, "from 1 to 30"),
        ({"bits": 8}, [{1: 1.0}] * 200, "only column numbers"),
        ({"bits": 8}, np.ones((200, 2)), "only column numbers"),
        ({"bits": 8}, [{"a": 1.0, 3: 1.0}] * 200, "feature 3: .*a name is a string"),
    ],
)
def test_what_cannot_be_hashed_is_refused(told: dict[str, Any], X: Any, words: str) -> None:
    with pytest.raises(nr.BadValue, match=words):
        nr.make("pa1", **told).learn(X, Y)


def test_marks_from_a_file_are_not_believed() -> None:
    names = HashedNames(4)
    names.record(*[names.hash_names([f"n{k}" for k in range(30)])[k] for k in (0, 2)])
    good = names.dump()
    assert HashedNames(4).restore(good)
    for name, change in (
        ("names.cells", lambda log: np.append(log, np.int32(16))),
        ("names.cells", lambda log: np.append(log, np.int32(-17))),
        ("names.cells", lambda log: np.append(log, log[:1])),
        ("names.cells", lambda log: log.astype(np.int64)),
        ("names.marks", lambda marks: marks[:-1]),
        ("names.marks", lambda marks: marks * np.uint32(0)),
    ):
        assert not HashedNames(4).restore({**good, name: change(good[name])}), name
    assert not HashedNames(4).restore({})
