"""A model file whose checksum is right and whose contents are not: refused, or as good as any other."""

import struct
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.learner.model_file import pack, unpack
from tests.attacks.model_files import NAMES, attack, saved, use
from tests.attacks.mutations import seal
from tests.attacks.victims import VICTIMS

TRIED = 2 * len(NAMES)


@pytest.mark.thinned(4)
@pytest.mark.parametrize("name", NAMES)
def test_the_files_that_are_attacked_are_sound(name: str) -> None:
    assert use(VICTIMS[name], seal(*saved(name, native=False))) == "loaded"


@pytest.mark.parametrize("first", range(0, TRIED, TRIED // 2))
def test_mutated_files_do_no_harm(first: int) -> None:
    outcomes = [attack(number, native=False) for number in range(first, first + TRIED // 2)]
    assert {"refused", "loaded"} == set(outcomes)


def changed(name: str, **entries: Any) -> bytes:
    """The file of a victim with other counters, parameters or entries of its header."""
    header, arrays = saved(name, native=False)
    header = {**header, "counters": dict(header["counters"]), "parameters": dict(header["parameters"])}
    for key, value in entries.items():
        place = next((header[part] for part in ("counters", "parameters") if key in header[part]), header)
        place[key] = value
    return seal(header, arrays)


def refused(content: bytes) -> str:
    with pytest.raises(nr.Error, match=r"^m\.nr: ") as caught:
        unpack(content, "m.nr")
    assert len(str(caught.value)) < 500
    return str(caught.value)


@pytest.mark.parametrize("random", [-1e308, 0.0, -1.0, 0.5, 2147483647.0, 1e300])
@pytest.mark.parametrize("name", ["top k, partial", "bandit", "asked"])
def test_a_random_number_outside_its_sequence_is_refused(name: str, random: float) -> None:
    counter = "asking_random" if name == "asked" else "random"
    assert "not a random number" in refused(changed(name, **{counter: random}))


@pytest.mark.parametrize(
    ("name", "entries"),
    [
        ("lazy groups", {"groups": 10**9}),
        ("grouped", {"groups": 2**40}),
        ("kernel", {"features": 2**40}),
        ("kernel, classes", {"features": 2**31 - 1}),
        ("kernel, scaled", {"features": 10**9}),
        ("hashed", {"bits": 30}),
        ("hashed pairs", {"bits": 30}),
        ("plain", {"features": 2**40}),
        ("full", {"features": 10**9}),
        ("convex", {"dimension": 10**12}),
    ],
)
def test_a_small_file_that_declares_a_large_learner_is_refused_before_memory_is_taken(
    name: str, entries: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = np.zeros

    def zeros(shape: Any, *rest: Any, **options: Any) -> Any:
        assert np.prod(shape, dtype=float) < 1 << 25, f"memory for {shape} was asked for"
        return real(shape, *rest, **options)

    monkeypatch.setattr(np, "zeros", zeros)
    refused(changed(name, **entries))


@pytest.mark.parametrize(
    ("name", "entries"),
    [
        ("plain", {"rounds": 2**63}),
        ("plain", {"updates": 2**63 - 1}),
        ("plain", {"rule": "x" * 5000}),
        ("plain", {"t": "x" * 5000}),
        ("class weights", {"labels": [1, -1]}),
        ("class weights", {"labels": [-1, 5]}),
    ],
)
def test_headers_whose_entries_do_not_fit_are_refused(name: str, entries: dict[str, Any]) -> None:
    refused(changed(name, **entries))


def test_groups_of_a_billion_features_are_refused_when_a_learner_is_made() -> None:
    with pytest.raises(nr.BadValue, match="a group has at most 65536 features"):
        nr.make("fobos_group", groups=10**9)


@pytest.mark.parametrize(
    ("name", "array", "values"),
    [
        ("scale", "scaling.count", -5.0),
        ("scale", "scaling.count", 0.0),
        ("positive", "state.w", -1.0),
        ("diagonal", "state.sigma", -1.0),
        ("log weights", "state.theta", 0.0),
        ("svd", "state.basis", 1.0),
        ("svd", "state.turn", 1e200),
        ("svd", "state.sums", 7.0),
        ("svd, rows", "state.rows.0", 2.0),
        ("svd", "pending.values", 1e200),
        ("svd, missing", "pending.values", np.inf),
        ("incremental pca", "state.values", 1e200),
        ("oja", "state.columns", 1.0),
        ("oja", "state.variances", -1.0),
        ("online pca", "state.vectors", 1.0),
        ("kmeans", "state.counts", 7),
        ("kmeans", "state.centres", 1e200),
        ("dictionary", "state.atoms", 1e200),
        ("lda", "state.weights", 1e308),
        ("lda", "pending.values", 0.5),
        ("hdp, filtered", "filter.documents", 2**63 - 1),
        ("network", "network/features", 1e300),
        ("network, names", "network/pending", -1e308),
    ],
)
def test_arrays_that_no_learner_can_have_are_refused(name: str, array: str, values: float) -> None:
    header, arrays = saved(name, native=False)
    refused(seal(header, {**arrays, array: np.full_like(arrays[array], values)}))


@pytest.mark.parametrize(
    ("name", "place", "entry", "value"),
    [
        ("oja, mini-batches", "state", "rows", 12),
        ("online pca, drawn", "state", "rows", 12),
        ("incremental pca", "state", "mean_of", 12),
        ("gaussian", "state", "count", 12),
        ("mixture", "state", "effective", 1e-320),
        ("dictionary", "rows", "features", 2**28),
        ("svd, rows", "rows", "features", 2**28),
        ("svd, rows", "state", "rows", 2**40),
        ("network", "network", "counters", [0.0] * 3),
    ],
)
def test_states_of_other_rows_than_were_learned_are_refused(name: str, place: str, entry: str, value: Any) -> None:
    header, arrays = saved(name, native=False)
    assert entry in header[place]
    refused(seal({**header, place: {**header[place], entry: value}}, arrays))


def test_names_with_other_types_are_refused() -> None:
    header, arrays = saved("plain", native=False)
    refused(seal(header, {**arrays, "names.offsets": np.zeros((2**20, 0), np.int64)}))
    refused(seal(header, {**arrays, "names.offsets": np.zeros(0, np.int64)}))
    refused(seal(header, {**arrays, "names.bytes": arrays["names.bytes"].view(np.int8).astype(np.int32)}))


def test_a_learner_of_hashed_names_that_saw_only_empty_rows_is_kept() -> None:
    learner = nr.make("perceptron", bits=10, native=False).learn([{}], [0])
    assert pack(unpack(pack(learner), "m.nr")) == pack(learner)
    assert pack(learner.copy()) == pack(learner)


def test_files_that_end_in_their_header_are_refused() -> None:
    content = seal(*saved("plain", native=False))
    for size in (0, 7, 8, 2**63, 2**64 - 1):
        refused(struct.pack("<Q", size) + content[8:])
    for end in range(0, len(content), 97):
        refused(content[:end])
