"""Arrays that hardly hold anything are kept in model files as places and values, and come back bit for bit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.learner.model_file import pack, unpack
from noregret.learner.packed_arrays import LEAST, pack_arrays, unpack_arrays

ROWS = [{f"w{i * j % 50}": 1.0 for j in range(1, 6)} for i in range(60)]
Y = [i % 2 for i in range(60)]


@pytest.mark.parametrize("fill", [0.0, 1.0, -2.5, -0.0])
def test_what_is_packed_comes_back(fill: float) -> None:
    array = np.full((2, LEAST), fill)
    array[0, 3], array[1, 7] = 5.0, -0.0 if repr(fill) == "0.0" else 0.0
    small, dense, whole = np.zeros(10), np.arange(2.0 * LEAST), np.zeros(2 * LEAST, np.int64)
    given = {"a": array, "small": small, "dense": dense, "whole": whole}
    parts, packed = pack_arrays(given)
    assert set(packed) == {"a"}
    assert parts["a:places"].size == 2
    found = unpack_arrays(packed, parts)
    assert set(found) == set(given)
    assert all(found[name].tobytes() == given[name].tobytes() for name in given)
    assert found["a"].shape == array.shape


def test_a_hashed_model_takes_no_more_room_than_one_with_names(tmp_path: Path) -> None:
    sizes = {}
    for bits in (None, 12, 20):
        learner = nr.make("arow", bits=bits, native=False).learn(ROWS, Y)
        learner.save(tmp_path / "m.nr")
        sizes[bits] = (tmp_path / "m.nr").stat().st_size
        again = nr.load(tmp_path / "m.nr")
        assert pack(again) == pack(learner)
        assert again.scores(ROWS).tolist() == learner.scores(ROWS).tolist()
    assert sizes[20] < 1.5 * sizes[None]
    assert sizes[20] - sizes[12] < 100


Wrong = dict[str, Any]
WRONG: dict[str, Wrong] = {
    "places beyond the end": {"a:places": np.array([3, 5000], np.int32)},
    "places below 0": {"a:places": np.array([-1, 7], np.int32)},
    "places that do not increase": {"a:places": np.array([7, 7], np.int32)},
    "places of another kind": {"a:places": np.array([3.0, 7.0])},
    "fewer places than values": {"a:places": np.array([3], np.int32)},
    "values of another kind": {"a:values": np.array([1, 2], np.int32)},
    "a table of places": {"a:places": np.array([[3, 7]], np.int32)},
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_parts_that_do_not_fit_are_refused(wrong: Wrong) -> None:
    parts = {"a:places": np.array([3, 7], np.int32), "a:values": np.array([1.0, 2.0])}
    assert unpack_arrays({"a": [[LEAST], 0.0]}, parts)["a"][7] == 2.0
    with pytest.raises(nr.BadValue, match="corrupt"):
        unpack_arrays({"a": [[LEAST], 0.0]}, parts | wrong)


SHAPES = [[-1], [2**40], "1024", [1024.0], [True, 2048], [], [2**31, 2**31], [[1024]], [LEAST - 1]]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes_that_cannot_be_are_refused(shape: Any) -> None:
    parts = {"a:places": np.array([3], np.int32), "a:values": np.array([1.0])}
    with pytest.raises(nr.BadValue):
        unpack_arrays({"a": [shape, 0.0]}, parts)


@pytest.mark.parametrize("fill", [float("nan"), float("inf"), 0, "0", None])
def test_a_fill_value_that_is_no_number_is_refused(fill: Any) -> None:
    parts = {"a:places": np.array([3], np.int32), "a:values": np.array([1.0])}
    with pytest.raises(nr.BadValue):
        unpack_arrays({"a": [[LEAST], fill]}, parts)


def test_a_model_that_would_not_fit_in_memory_is_refused_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    from noregret.learner import packed_arrays

    content = pack(nr.make("pa1", bits=16, native=False).learn(ROWS, Y))
    monkeypatch.setattr(packed_arrays, "physical_memory", lambda: 1 << 20)
    with pytest.raises(nr.Error, match="does not fit in the memory of this machine"):
        unpack(content, "m.nr")
