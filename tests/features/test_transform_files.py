"""Transforms in model files: what is written, what is read, and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

import noregret as nr
from noregret.learner.model_file import KEY, digest, pack, unpack
from tests.support.model_files import header, tensors

ROWS = [{"a": 1.0, "b": 2.0}, {"a": 3.0, "c": 0.5}, {"b": -1.0, "c": 2.0}, {"a": 2.0, "b": 1.0, "c": 4.0}] * 3
y = [1, -1, -1, 1] * 3
STEPS: dict[str, nr.Transform] = {
    "scale": nr.scale(),
    "min_max": nr.min_max(),
    "tf_idf": nr.tf_idf(),
    "mean": nr.missing("mean"),
    "indicator": nr.missing("indicator"),
    "squares": nr.squares(),
    "pairs": nr.pairs(),
    "one_hot": nr.one_hot(),
    "conjunctions": nr.conjunctions(3, negate=["d", "e"], only=["a", "b", "c"]),
    "chosen pairs": nr.pairs(between=[("b", "a")]),
    "chosen hot": nr.one_hot(only="a"),
    "fourier": nr.fourier(4),
    "given": nr.fourier(4, gamma=0.5),
    "nystrom": nr.nystrom(3),
    "tensor_sketch": nr.tensor_sketch(4),
}


def learned(name: str) -> nr.RuleLearner:
    return (STEPS[name] | nr.make("pa1", native=False)).learn(ROWS, y)


def sealed(told: dict[str, Any], arrays: dict[str, np.ndarray]) -> bytes:
    text = json.dumps(told, sort_keys=True)
    return bytes(save(arrays, metadata={KEY: text, "sha256": digest(text, arrays)}))


def test_transforms_are_kept_in_the_header_and_the_arrays() -> None:
    assert header(learned("scale"))["parameters"]["transforms"] == ["scale"]
    assert header(nr.clip(3) | nr.make("pa1"))["parameters"]["transforms"] == ["clip:limit=3.0"]
    arrays = tensors(learned("scale"))
    assert {name for name in arrays if name.startswith("transform.")} == {
        "transform.0.count", "transform.0.mean", "transform.0.spread",
    }  # fmt: skip
    assert arrays["transform.0.count"].tolist() == [9.0, 9.0, 9.0]


def test_files_without_transforms_are_written_as_ever() -> None:
    before = nr.make("pa1", scale=True, bias=True).learn(ROWS, y)
    names = {"scaling.count", "scaling.mean", "scaling.spread", "state.w", "names.bytes", "names.offsets"}
    names |= {"recent_scores"}
    assert set(tensors(before)) == names
    assert "transforms" not in header(before)["parameters"]


def turned(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[dict[str, np.ndarray]], None]:
    def damage(arrays: dict[str, np.ndarray]) -> None:
        for name in list(arrays):
            if name.startswith("transform."):
                arrays[name] = change(arrays[name])

    return damage


def without(arrays: dict[str, np.ndarray]) -> None:
    for name in list(arrays):
        if name.startswith("transform."):
            del arrays[name]


def spoiled(part: str, at: int, value: float) -> Callable[[dict[str, np.ndarray]], None]:
    def damage(arrays: dict[str, np.ndarray]) -> None:
        array = arrays[f"transform.0.{part}"].copy()
        array[at] = value
        arrays[f"transform.0.{part}"] = array

    return damage


@pytest.mark.parametrize("name", STEPS)
def test_arrays_of_the_wrong_size_or_kind_are_refused(name: str) -> None:
    learner = learned(name)
    assert pack(unpack(sealed(header(learner), tensors(learner)), "m")) == pack(learner)
    ways = [
        without, turned(lambda array: array[:-1]), turned(lambda array: np.append(array, array[:1])),
        turned(lambda array: array.reshape(1, -1)), turned(lambda array: array.astype(np.int32)),
    ]  # fmt: skip
    for damage in ways:
        arrays = tensors(learner)
        damage(arrays)
        with pytest.raises(nr.Error, match=r"^m: corrupt model file"):
            unpack(sealed(header(learner), arrays), "m")


DAMAGES: list[tuple[str, Callable[[dict[str, np.ndarray]], None]]] = [
    ("scale", spoiled("mean", 1, np.nan)),
    ("scale", spoiled("count", 0, np.inf)),
    ("scale", spoiled("spread", 0, -1.0)),
    ("min_max", spoiled("low", 0, 1e9)),
    ("min_max", spoiled("seen", 0, 0.5)),
    ("min_max", spoiled("high", 0, np.nan)),
    ("tf_idf", spoiled("rows", 0, 1e9)),
    ("tf_idf", spoiled("rows", 0, -1.0)),
    ("tf_idf", spoiled("documents", 0, np.nan)),
    ("tf_idf", spoiled("documents", 0, -1.0)),
    ("mean", spoiled("count", 0, -1.0)),
    ("mean", spoiled("mean", 0, np.inf)),
    ("indicator", spoiled("right", 0, 7)),
    ("indicator", spoiled("left", 0, 99)),
    ("indicator", spoiled("left", 0, -1)),
    ("squares", spoiled("left", 0, 1)),
    ("squares", spoiled("right", 0, 1)),
    ("pairs", spoiled("right", 3, 99)),
    ("pairs", spoiled("right", 0, -2)),
    ("pairs", spoiled("left", 0, 1)),
    ("one_hot", spoiled("right", 0, -1)),
    ("one_hot", spoiled("left", 0, 3)),
    ("one_hot", spoiled("right", 0, -1)),
    ("conjunctions", spoiled("left", 0, 3)),
    ("conjunctions", spoiled("right", 0, -2)),
    ("conjunctions", spoiled("right", 0, -3)),
    ("conjunctions", spoiled("left", 2, 2)),
    ("conjunctions", spoiled("right", 4, 0)),
    ("conjunctions", spoiled("right", 4, 5)),
    ("conjunctions", spoiled("right", 4, 2**31 + 1)),
    ("conjunctions", spoiled("right", 4, 2**62)),
    ("conjunctions", spoiled("left", 4, 4)),
    ("conjunctions", spoiled("left", 9, 10)),
    ("conjunctions", spoiled("left", -1, 12)),
    ("chosen hot", spoiled("right", 0, -2)),
    ("chosen pairs", spoiled("right", 2, 1)),
    ("chosen pairs", spoiled("right", 2, -2)),
    ("chosen pairs", spoiled("right", 2, 99)),
    ("fourier", spoiled("known", 0, 4.0)),
    ("fourier", spoiled("known", 0, 1.5)),
    ("fourier", spoiled("known", 0, np.nan)),
    ("fourier", spoiled("seen", 0, 257.0)),
    ("fourier", spoiled("seen", 0, -1.0)),
    ("fourier", spoiled("gamma", 0, -0.5)),
    ("fourier", spoiled("gamma", 0, np.inf)),
    ("fourier", spoiled("spread", 0, -1.0)),
    ("fourier", spoiled("total", 0, np.nan)),
    ("given", spoiled("gamma", 0, 0.25)),
    ("given", spoiled("seen", 0, 3.0)),
    ("nystrom", spoiled("idx", 0, 3)),
    ("nystrom", spoiled("idx", 0, -1)),
    ("nystrom", spoiled("val", 0, np.nan)),
    ("nystrom", spoiled("starts", 0, 1)),
    ("nystrom", spoiled("starts", 1, 99)),
    ("nystrom", spoiled("starts", -1, 1)),
    ("tensor_sketch", spoiled("known", 0, -1.0)),
]


@pytest.mark.parametrize("number", range(len(DAMAGES)))
def test_what_no_transform_can_have_seen_is_refused(number: int) -> None:
    name, damage = DAMAGES[number]
    learner = learned(name)
    arrays = tensors(learner)
    damage(arrays)
    with pytest.raises(nr.Error, match=r"^m: corrupt model file"):
        unpack(sealed(header(learner), arrays), "m")


@pytest.mark.parametrize("given", [7, {"scale": 1}, [7], ["clop"], ["clip:limit=-1"], ["clip:limit"], ["scale:a=1"],
                                   ["scale", "missing"], [["scale"]], ["clip:limit=nan"],
                                   ["pairs:between=a"]])  # fmt: skip
def test_transforms_that_cannot_be_are_refused(given: Any, tmp_path: Path) -> None:
    learner = learned("scale")
    told = header(learner)
    told["parameters"] = {**told["parameters"], "transforms": given}
    (tmp_path / "m.nr").write_bytes(sealed(told, tensors(learner)))
    with pytest.raises(nr.Error) as caught:
        nr.load(tmp_path / "m.nr")
    assert str(caught.value).startswith(str(tmp_path / "m.nr"))


def test_other_transforms_than_those_that_learned_are_refused() -> None:
    learner = learned("scale")
    for given in (["squares"], ["scale", "pairs"], ["tf_idf"]):
        told = header(learner)
        told["parameters"] = {**told["parameters"], "transforms": given}
        with pytest.raises(nr.Error, match="corrupt"):
            unpack(sealed(told, tensors(learner)), "m")
