"""What every learner must do, rule or not: the checks take any learner that follows the protocol.

A case says how a fresh learner is made and on which rounds it is checked.
"""

import copy
import json
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save

import noregret as nr
from noregret.learner.model_file import FORMAT, KEY, digest, pack, unpack
from tests.support.cover import ALL

CHUNKS = (1, 7, 1000)
SHARE = 3
WRONG: tuple[Any, ...] = (None, -1, 2.5, "x", [], {}, True, 10**30, [[1]], {"kind": "rule"})


@dataclass(frozen=True)
class Case:
    """A learner to check, with rounds that suit it; `loading` is what `load` needs beside the file."""

    make: Callable[[], Any]
    X: Any
    y: Any
    bad_row: Any = None  # a row that must be refused
    loading: dict[str, Any] = field(default_factory=dict)
    gains: bool = False  # whether a loss may be negative: a gain

    def part(self, start: int, stop: int) -> tuple[Any, Any]:
        return self.X[start:stop], self.y[start:stop]

    @property
    def rounds(self) -> int:
        return len(self.y)

    def trained(self, rounds: int | None = None) -> Any:
        learner = self.make()
        X, y = self.part(0, self.rounds if rounds is None else rounds)
        return learner.learn(X, y) if len(y) else learner


def state(learner: Any) -> bytes:
    """All that a learner knows, as bytes that are equal for equal learners."""
    return pack(learner)


def same_entries(one: Any, other: Any) -> bool:
    """Whether two arrays, or lists, of scores, labels or numbers are the same."""
    if one is None or other is None:
        return one is other
    return bool(np.asarray(one, object).tolist() == np.asarray(other, object).tolist())


def plain(prediction: Any) -> Any:
    """A prediction as a plain value: an array as a list, and what is given by name as the list of its values."""
    if isinstance(prediction, dict):
        return list(prediction.values())
    return prediction.tolist() if hasattr(prediction, "dtype") else prediction


# ---- rounds ----------------------------------------------------------------------------------------------------------


def check_protocol(case: Case) -> None:
    learner = case.make()
    assert isinstance(learner, nr.Learner)
    assert learner.source is None
    assert learner.predict_one(case.X[0]) is None or learner.rounds == 0
    assert learner.card.name
    assert learner.card.paper
    assert learner.card.about
    assert learner.task in learner.card.tasks
    rounds = learner.rounds
    assert learner.learn(case.X, case.y) is learner
    assert learner.rounds == rounds + case.rounds
    assert 0 <= learner.mistakes <= learner.rounds
    assert 0 <= learner.updates <= learner.rounds


def check_transcript(case: Case) -> None:
    """Counts are those of the transcript, and predictions those that predict_one gave before each round."""
    learner, twin = case.make(), case.make()
    mistakes, updates = learner.mistakes, learner.updates
    transcript = learner.play(case.X, case.y)
    assert transcript.rounds == case.rounds
    assert len(transcript.mistakes) == len(transcript.updated) == case.rounds
    assert learner.mistakes - mistakes == np.count_nonzero(transcript.mistakes)
    assert learner.updates - updates == np.count_nonzero(transcript.updated)
    assert transcript.losses.dtype == np.float64
    assert case.gains or (transcript.losses >= 0.0).all()
    assert state(case.make().learn(case.X, case.y)) == state(learner)
    for t in range(case.rounds):
        before = twin.predict_one(case.X[t])
        if before is not None and transcript.predictions is not None:
            assert plain(before) == plain(transcript.predictions[t]), f"round {t}"
        twin.learn_one(case.X[t], case.y[t])


def check_batch_equals_loop(case: Case) -> None:
    learner = case.make()
    for t in range(case.rounds):
        assert learner.learn_one(case.X[t], case.y[t]) is learner
    assert state(learner) == state(case.trained())


def check_chunks(case: Case) -> None:
    whole = case.make()
    expected = whole.play(case.X, case.y)
    for size in CHUNKS:
        learner = case.make()
        parts = [learner.play(*case.part(start, start + size)) for start in range(0, case.rounds, size)]
        assert state(learner) == state(whole)
        for name in ("predictions", "losses", "mistakes", "updated", "truth"):
            if getattr(expected, name) is None:  # the task has none
                assert all(getattr(part, name) is None for part in parts), name
                continue
            found = [value for part in parts for value in getattr(part, name)]
            assert same_entries(found, getattr(expected, name)), f"chunks of {size}: {name}"


def check_prediction(case: Case) -> None:
    """Predicting changes nothing, and one row is predicted as many are."""
    learner = case.trained()
    before = state(learner)
    found = learner.predict(case.X)
    assert len(found) == case.rounds
    ones = [learner.predict_one(case.X[t]) for t in range(case.rounds)]
    assert same_entries([plain(one) for one in ones], [plain(one) for one in found])
    assert state(learner) == before


# ---- copies and files ------------------------------------------------------------------------------------------------


def check_save_and_go_on(case: Case, folder: Path) -> None:
    """Saved, loaded and resumed is the same as never interrupted."""
    expected = state(case.trained())
    for stop in (0, 1, case.rounds // 2):
        learner = case.trained(stop)
        learner.source = {"name": "here"}
        learner.save(folder / "model.nr")
        again = nr.load(folder / "model.nr", **case.loading)
        assert type(again) is type(learner)
        assert again.source == {"name": "here"}
        assert state(again) == state(learner)
        assert repr(again) == repr(learner)
        again.source = None
        again.learn(*case.part(stop, case.rounds))
        assert state(again) == expected


def check_copies(case: Case) -> None:
    """A copy is the same learner and shares nothing with it; also by copy.deepcopy and by pickle."""
    half = case.rounds // 2
    learner = case.trained(half)
    before, expected = state(learner), state(case.trained())
    for copied in (learner.copy(), copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))):
        assert type(copied) is type(learner)
        assert state(copied) == before
        copied.learn(*case.part(half, case.rounds))
        assert state(copied) == expected
        assert state(learner) == before
    saved = learner.copy()
    learner.learn(*case.part(half, case.rounds))
    assert state(saved) == before
    learner.revert_to(saved)
    assert state(learner) == before
    learner.learn(*case.part(half, case.rounds))
    assert state(learner) == expected


def check_refusals(case: Case) -> None:
    """A refused call changes nothing, also where rounds before the bad one could have been learned."""
    half = case.rounds // 2
    for learner in (case.make(), case.trained(half)):
        before, shown = state(learner), repr(learner)
        X, y = case.part(half, case.rounds)
        calls: list[Callable[[], Any]] = [
            lambda learner=learner, X=X, y=y: learner.learn(X, y[:-1]),  # type: ignore[misc]
            lambda learner=learner, X=X, y=y: learner.play(X, y, weight=[1.0] * (len(y) - 1) + [-1.0]),  # type: ignore[misc]
            lambda learner=learner, X=X, y=y: learner.learn(X, [*y[:-1], {}]),  # type: ignore[misc]
            lambda learner=learner: learner.learn_one(case.X[0], {}),  # type: ignore[misc]
        ]
        if case.bad_row is not None:
            rows = X.copy() if isinstance(X, np.ndarray) else list(X)
            rows[-1] = case.bad_row
            calls += [
                lambda learner=learner, rows=rows, y=y: learner.learn(rows, y),  # type: ignore[misc]
                lambda learner=learner: learner.learn_one(case.bad_row, case.y[0]),  # type: ignore[misc]
            ]
        for number, call in enumerate(calls):
            try:
                call()
            except nr.BadValue:
                pass
            else:
                raise AssertionError(f"call {number} was not refused")
            assert state(learner) == before, f"call {number}"
            assert repr(learner) == shown
        learner.learn(*case.part(0, case.rounds))


def check_corrupt_files(case: Case) -> None:
    """Whatever stands in a header, loading ends in a learner or in an error of the library."""
    learner = case.trained()
    header, arrays = learner.dump()
    header = json.loads(json.dumps({"format": FORMAT, "kind": learner.kind, **header}))
    refused = 0
    for broken in broken_headers(header):
        refused += is_refused(case, broken, arrays)
    assert refused > 0
    for name in arrays:
        for other in ({}, {name: arrays[name].ravel()[:0]}, {name: arrays[name].ravel()[:-1]}):
            is_refused(case, header, {key: array for key, array in arrays.items() if key != name} | other)


def is_refused(case: Case, header: Any, arrays: Any) -> bool:
    """Whether a file with this header and these arrays is refused; a learner that is not can be saved again."""
    text = json.dumps(header)
    content = save(dict(arrays), metadata={KEY: text, "sha256": digest(text, arrays)})
    try:
        found = unpack(content, "model.nr", **case.loading)
    except nr.Error as error:
        return str(error).startswith("model.nr: ")
    pack(found)
    return False


def broken_headers(header: Any) -> Iterator[Any]:
    """The header with one entry, at any depth, left out or replaced by something else.

    Usually each entry is replaced by a part of what there is, another part for the entry after it.
    """
    entries: Any = header.items() if isinstance(header, dict) else enumerate(header)
    for number, (key, value) in enumerate(list(entries), len(str(header))):
        for wrong in WRONG if ALL else WRONG[number % SHARE :: SHARE]:
            yield replaced(header, key, wrong)
        if isinstance(header, dict):
            yield {name: kept for name, kept in header.items() if name != key}
        if isinstance(value, (dict, list)) and len(value) < 12:
            for broken in broken_headers(value):
                yield replaced(header, key, broken)


def replaced(header: Any, key: Any, value: Any) -> Any:
    new = copy.copy(header)
    new[key] = value
    return new


# ---- races and documents ---------------------------------------------------------------------------------------------


def check_race(case: Case) -> None:
    """It runs beside another learner, and its entry is that of its own transcript."""
    learner, alone = case.make(), case.make()
    rounds, mistakes = learner.rounds, learner.mistakes
    entry = next(one for one in nr.race((case.X, case.y), [learner, case.make().copy()]) if one.learner is learner)
    transcript = alone.play(case.X, case.y)
    assert entry.rounds == transcript.rounds == learner.rounds - rounds
    assert entry.mistakes == np.count_nonzero(transcript.mistakes) == learner.mistakes - mistakes
    assert state(learner) == state(alone)
    report = nr.play((case.X, case.y), case.make())
    assert report["mistakes"] == entry.mistakes
    assert report["loss"] == entry.loss


def check_documents(case: Case) -> None:
    """Its card is in the catalogue and writes its own entry."""
    from noregret.evaluation.catalog import page

    card = case.make().card
    assert nr.learners()[card.name] is card
    text = page([card])
    assert f"`{card.name}`" in text
    assert card.about in text


CHECKS: dict[str, Callable[[Case], None]] = {
    "protocol": check_protocol,
    "transcript": check_transcript,
    "batch_equals_loop": check_batch_equals_loop,
    "chunks": check_chunks,
    "prediction": check_prediction,
    "copies": check_copies,
    "refusals": check_refusals,
    "corrupt_files": check_corrupt_files,
    "race": check_race,
    "documents": check_documents,
}
