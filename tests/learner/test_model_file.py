"""A model file is plain, complete and checked: what was saved comes back to the bit, and nothing else is let in."""

import json
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save

import noregret as nr
from noregret.learner.model_file import FORMAT, KEY, digest, pack
from tests.golden.make import EXPECTED, FOLDER, SHAPES, matrix, scores
from tests.support import by_name, load_own_rules, refusal, registered, small_stream
from tests.support.cover import only_in_test_all
from tests.support.model_files import header, tensors

X, Y = small_stream()
own = load_own_rules()


def small(**told: Any) -> nr.RuleLearner:
    return nr.make("pa1", native=False, **told).learn([by_name(row) for row in X], Y)


def sealed(told: Any, arrays: dict[str, np.ndarray]) -> bytes:
    """A file with these contents and the right digest."""
    text = json.dumps(told, sort_keys=True)
    return bytes(save(arrays, metadata={KEY: text, "sha256": digest(text, arrays)}))


def not_loaded(file: Path, content: bytes) -> str:
    file.write_bytes(content)
    message = refusal(lambda: nr.load(file), nr.Error)
    assert message.startswith(f"{file}: ")
    return message


# ---- what is in it ------------------------------------------------------------------------------------------------


def test_the_arrays_can_be_read_by_any_reader_of_safetensors(tmp_path: Path) -> None:
    learner, file = small(), tmp_path / "model.nr"
    learner.save(file)
    found = load_file(file)
    assert set(found) == {"state.w", "names.bytes", "names.offsets", "recent_scores"}
    np.testing.assert_array_equal(found["state.w"][0], [learner.scores_one({f"f{j}": 1.0}) for j in range(4)])
    assert found["names.bytes"].tobytes() == b"f0f1f2f3"
    assert found["names.offsets"].tolist() == [0, 2, 4, 6, 8]


def test_the_header_says_what_was_learned_and_how(tmp_path: Path) -> None:
    learner, file = small(C=0.5, seed=7), tmp_path / "model.nr"
    learner.save(file)
    with safe_open(file, "numpy") as opened:
        told = json.loads(opened.metadata()[KEY])
    assert told["format"] == 4
    assert (told["rule"], told["task"], told["algebra"]) == ("pa1", "binary", "sparse")
    assert told["parameters"] == {"C": 0.5, "native": False, "seed": 7}
    assert told["counters"]["t"] == 20.0
    assert told["random"] == {"seed": 7}
    assert (told["rounds"], told["mistakes"]) == (20, learner.mistakes)


NAMES = ["", " ", "a\x00b", "snø", "雪", "🌧", "\ud800", "a" * 1000]


def test_any_string_is_a_name(tmp_path: Path) -> None:
    learner = nr.make("pa1", native=False).learn([dict.fromkeys(NAMES, 1.0), {"雪": -1.0}], [1, -1])
    learner.save(tmp_path / "model.nr")
    assert nr.load(tmp_path / "model.nr").model.names.as_list() == NAMES


@only_in_test_all
def test_a_hundred_thousand_names_come_back(tmp_path: Path) -> None:
    names = [f"word-{number}" for number in range(100_000)]
    nr.make("perceptron", native=False).learn([dict.fromkeys(names, 1.0)], [1]).save(tmp_path / "model.nr")
    assert nr.load(tmp_path / "model.nr").model.names.as_list() == names


@pytest.mark.parametrize(
    "told",
    [
        {"classes": ["a", "b", "c"]},
        {"class_weight": {1: 2.0, -1: 0.5}},
        {"task": "regression", "eps": 0.5},
        {"algebra": "kernel", "kernel": "polynomial", "degree": 2.0},
        {"rule": "arow", "covariance": "full"},
        {"rule": "sop", "covariance": "drop"},
        {"rule": "winnow"},
        {"rule": "ogd", "loss": "logistic", "schedule": "constant"},
    ],
    ids=str,
)
def test_a_loaded_learner_is_the_saved_one_and_goes_on_as_it_would(told: dict[str, Any], tmp_path: Path) -> None:
    labels = [told["classes"][t % 3] for t in range(20)] if "classes" in told else Y
    learner = nr.make(**{"rule": "pa1", "native": False, **told}).learn(X[:10], labels[:10])
    learner.save(tmp_path / "model.nr")
    loaded = nr.load(tmp_path / "model.nr")
    assert repr(loaded) == repr(learner)
    assert pack(loaded) == pack(learner)
    assert pack(loaded.learn(X[10:], labels[10:])) == pack(learner.learn(X[10:], labels[10:]))


def test_a_learner_that_learned_nothing_can_be_saved(tmp_path: Path) -> None:
    nr.make("pa1", C=0.5).save(tmp_path / "model.nr")
    loaded = nr.load(tmp_path / "model.nr")
    assert loaded.predict_one({"a": 1.0}) is None
    assert loaded.params == {"C": 0.5, "gate": "loss", "universum": 0.1, "random_start": 0.0}


def test_a_learner_that_saw_no_feature_but_the_constant_one_can_be_saved(tmp_path: Path) -> None:
    learner, file = nr.make("pa1", bias=True, native=False).learn_one({}, 1), tmp_path / "constant.nr"
    learner.save(file)
    loaded = nr.load(file)
    assert pack(loaded) == pack(learner)
    assert pack(loaded.learn_one({"a": 1.0}, -1)) == pack(learner.learn_one({"a": 1.0}, -1))


def test_labels_keep_their_kind(tmp_path: Path) -> None:
    labels = [True, "1", 2, 3.0]
    nr.make("pa1", native=False).learn(np.eye(4), labels).save(tmp_path / "model.nr")
    loaded = nr.load(tmp_path / "model.nr")
    assert [(type(label), label) for label in loaded.predict(np.eye(4))] == [(type(label), label) for label in labels]


def test_copies_and_pickles_are_the_same_learner() -> None:
    learner = small()
    for twin in (learner.copy(), pickle.loads(pickle.dumps(learner))):
        assert pack(twin) == pack(learner)
        twin.learn_one({"f0": 100.0}, -1)
        assert twin.rounds == learner.rounds + 1


# ---- writing ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_file(step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "model.nr"
    small().save(file)
    before = file.read_bytes()

    def full(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, full)
    message = refusal(lambda: small(C=0.5).save(file), nr.Error)
    assert message == f"{file}: the model cannot be saved: No space left on device"
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


def test_a_folder_is_no_place_for_a_model(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "missing" / "model.nr", tmp_path / "model.nr\0", None, ""):
        refusal(lambda path=place: small().save(path), nr.Error)  # type: ignore[misc]
    assert list(tmp_path.iterdir()) == []


def test_a_model_can_be_read_by_whoever_may_read_any_other_file(tmp_path: Path) -> None:
    small().save(tmp_path / "model.nr")
    (tmp_path / "other").touch()
    assert (tmp_path / "model.nr").stat().st_mode == (tmp_path / "other").stat().st_mode


# ---- reading what is no model -------------------------------------------------------------------------------------


def test_a_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    content = pack(small())
    for length in range(len(content)):
        not_loaded(tmp_path / "cut.nr", content[:length])


@pytest.mark.thinned(3)
@pytest.mark.parametrize("flip", [0x01, 0x20, 0xFF])
def test_a_file_with_any_byte_changed_is_refused_or_means_the_same(flip: int, tmp_path: Path) -> None:
    content = pack(small())
    file, harmless = tmp_path / "flipped.nr", 0
    for at in range(len(content)):
        changed = bytearray(content)
        changed[at] ^= flip
        file.write_bytes(changed)
        try:
            loaded = nr.load(file)
        except nr.Error as error:
            assert str(error).startswith(f"{file}: ")  # noqa: PT017
        else:
            harmless += 1
            assert pack(loaded) == content
    assert harmless < 20


@pytest.mark.parametrize(
    "content", [b"", b"# a text file\n" * 20, b"\0" * 100, b"\xff" * 100], ids=lambda c: repr(c[:8])
)
def test_what_is_no_model_is_refused(content: bytes, tmp_path: Path) -> None:
    assert "not a noregret model" in not_loaded(tmp_path / "other.nr", content)


def test_a_safetensors_file_of_others_is_refused(tmp_path: Path) -> None:
    assert "not a noregret model" in not_loaded(tmp_path / "other.nr", bytes(save({"weight": np.ones(3)})))


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path, words in ((tmp_path / "none.nr", "No such file"), (tmp_path, "directory"), (None, "PathLike")):
        assert words in refusal(lambda place=path: nr.load(place), nr.Error)  # type: ignore[misc]


def test_a_newer_format_asks_for_an_upgrade(tmp_path: Path) -> None:
    learner = small()
    content = sealed({**header(learner), "format": FORMAT + 1}, tensors(learner))
    assert f"newer noregret (format {FORMAT + 1}; this one reads up to {FORMAT})" in not_loaded(tmp_path / "a", content)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("what", list(header(small())))
@pytest.mark.parametrize("value", [None, [], {}, "x", -1, 1.5, True, ["a", "a"], "kernel", {"C": -1}], ids=repr)
def test_a_header_that_makes_no_sense_is_refused_or_does_no_harm(what: str, value: Any, tmp_path: Path) -> None:
    learner, file = small(), tmp_path / "odd.nr"
    file.write_bytes(sealed({**header(learner), what: value}, tensors(learner)))
    try:
        loaded = nr.load(file)
    except nr.Error as error:
        assert str(error).startswith(f"{file}: ")  # noqa: PT017
    else:
        assert what in ("random", "parameters", "defaults", "algebra", "format")
        loaded.interpret()
        assert loaded.learn([by_name(X[0])], [1]).rounds == 21


def odd_arrays(learner: nr.RuleLearner) -> list[dict[str, np.ndarray]]:
    """The arrays of a learner, each in turn missing, cut, of another type, not finite, or out of range."""
    arrays = tensors(learner)
    found = []
    for name, array in arrays.items():
        rest = {other: value for other, value in arrays.items() if other != name}
        found += [rest, {**rest, name: array[..., :-1].copy()}, {**rest, name: array.astype(np.float32)}]
        if name.startswith(("state", "bank.val", "bank.sq")):
            found.append({**rest, name: np.full_like(array, np.nan)})
        if name in ("bank.idx", "bank.start", "names.offsets"):
            found += [{**rest, name: array - 1}, {**rest, name: array + 1000}]
    return found


@pytest.mark.parametrize("told", [{"rule": "pa1", "algebra": "kernel"}, {"rule": "sop", "covariance": "full"}], ids=str)
def test_arrays_that_do_not_fit_together_are_refused(told: dict[str, Any], tmp_path: Path) -> None:
    learner = nr.make(native=False, **told).learn([by_name(row) for row in X], Y)
    for arrays in odd_arrays(learner):
        not_loaded(tmp_path / "odd.nr", sealed(header(learner), arrays))


@pytest.mark.parametrize(
    ("told", "counter"),
    [
        ({"rule": "pa1"}, "t"),
        ({"rule": "ofs"}, "w_size"),
        ({"rule": "ofs"}, "w_ordered"),
        ({"rule": "ogd", "onto": "simplex"}, "features"),
        ({"rule": "ogd", "onto": "simplex"}, "classes"),
        ({"rule": "ofs_partial"}, "features"),
    ],
    ids=str,
)
def test_counters_that_lead_out_of_the_weights_are_refused(told: dict[str, Any], counter: str, tmp_path: Path) -> None:
    learner = nr.make(native=False, **told).learn([by_name(row) for row in X], Y)
    kept = header(learner)["counters"]
    odd = [float("nan"), float("inf"), *([-1.0] if counter == "t" else [1e9, 1e300])]
    for value in odd:
        told_of = {**header(learner), "counters": {**kept, counter: value}}
        assert "counters" in not_loaded(tmp_path / "odd.nr", sealed(told_of, tensors(learner)))


# ---- a rule of one's own ------------------------------------------------------------------------------------------


def test_a_rule_of_ones_own_is_asked_for_by_name(tmp_path: Path) -> None:
    learner, file = nr.make(own.halfway, native=False).learn(X, Y), tmp_path / "model.nr"
    learner.save(file)
    message = refusal(lambda: nr.load(file), nr.Error)
    assert "'halfway', which is not known here" in message
    assert "give it as rule=" in message
    assert pack(nr.load(file, rule=own.halfway)) == pack(learner)
    assert "'halfway'" in refusal(lambda: nr.load(file, rule=own.steady), nr.Error)
    with registered(own.halfway):
        assert pack(nr.load(file)) == pack(learner)


# ---- golden files -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHAPES)
def test_the_golden_files_are_read_and_learned_on(name: str) -> None:
    _, view, label = SHAPES[name]
    expected = json.loads(EXPECTED.read_text())[name]
    learner = nr.load(FOLDER / f"{name}.nr")
    fresh, late = matrix(6, first=100), matrix(20, first=30)
    np.testing.assert_allclose(scores(learner, view(fresh)), expected["scores"], rtol=1e-12, atol=1e-12)
    learner.learn(view(late), label(late))
    np.testing.assert_allclose(scores(learner, view(fresh)), expected["after_more"], rtol=1e-12, atol=1e-12)


def test_a_learner_that_has_seen_only_empty_rows_comes_back(tmp_path: Path) -> None:
    for options in ({}, {"bits": 10}, {"bias": True}, {"bits": 10, "bias": True}):
        learner = nr.make("perceptron", native=False, **options).learn([{}, {}], [0, 1])
        learner.save(tmp_path / "m.nr")
        assert pack(nr.load(tmp_path / "m.nr")) == pack(learner.copy()) == pack(learner)
