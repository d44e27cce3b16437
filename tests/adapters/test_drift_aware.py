"""A drift-aware learner is the loop that its description tells, in any batches, and gains where the stream changes."""

from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import pytest

import noregret as nr
from noregret.adapters.drift_aware import DriftAware
from noregret.adapters.drift_parts import find_event
from noregret.learner.model_file import pack
from noregret.learner.restart import restart
from noregret.metrics import DETECTORS
from noregret.metrics.detector import Detector, Loop, find_detector
from tests.support.cover import seeds

EAGER = "ddm:least=10,warning=0.5,alarm=1.5"


def stream(seed: int, rounds: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose labels turn over every 100 rounds."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, 4))
    u = rng.normal(size=4)
    sign = np.where(np.arange(rounds) // 100 % 2 == 0, 1.0, -1.0)
    return X, np.where(sign * (X @ u) + 0.3 * rng.normal(size=rounds) >= 0.0, 1, -1)


def play_naively(X: Any, y: Any, on_drift: str) -> tuple[list[int], list[Any]]:
    """The alarms and the predictions, as the description tells them, with the detector of DDM's own loop."""
    learner, detector, shadow = nr.make("pa1", native=False), find_detector(EAGER, DETECTORS), None
    alarms, predictions = [], []
    for t in range(len(y)):
        played = learner.play(X[t : t + 1], y[t : t + 1])
        predictions.append(played.predictions[0])
        level = detector.detect(played.mistakes)[0]
        if on_drift == "shadow":
            if level == 0:
                shadow = None
            elif shadow is None:
                shadow = nr.make("pa1", native=False)
            if shadow is not None:
                shadow.learn_one(X[t], y[t])
        if level == 2:
            learner = shadow if shadow is not None else nr.make("pa1", native=False).learn(X[t : t + 1], y[t : t + 1])
            detector, shadow = find_detector(EAGER, DETECTORS), None
            alarms.append(t + 1)
    return alarms, predictions


@seeds(8, usual=2)
@pytest.mark.parametrize("on_drift", ["reset", "shadow"])
def test_it_is_the_loop_that_its_description_tells(seed: int, on_drift: str) -> None:
    X, y = stream(seed)
    learner = nr.drift_aware(nr.make("pa1", native=False), EAGER, on_drift)
    played = learner.play(X, y)
    alarms, predictions = play_naively(X, y, on_drift)
    assert list(learner.alarms) == alarms
    assert played.predictions[1:].tolist() == predictions[1:]
    assert len(alarms) >= 2


SCRIPT = (0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 1, 2)  # a warning that ends, then one that leads to an alarm


def play_script(numbers: Any, state: Any, values: Any, levels: Any) -> None:
    """Levels by the number of rounds since the detector was started, which it never resets itself."""
    for i in range(len(values)):
        levels[i] = SCRIPT[min(int(state[0]), len(SCRIPT) - 1)]
        state[0] += 1.0
        if levels[i] == 2:
            return


class Scripted(Detector):
    """A detector that does as its script says."""

    name, about, paper, size, settings = "scripted", "", "", 1, MappingProxyType({})
    loop: ClassVar[Loop] = staticmethod(play_script)

    def is_valid(self, state: Any) -> bool:
        return True


@pytest.mark.parametrize("size", [1, 5, 60])
def test_a_shadow_is_dropped_where_its_warning_ends_and_every_learner_has_a_new_detector(size: int) -> None:
    X, y = stream(8)
    learner = nr.drift_aware(nr.make("pa1", native=False), Scripted(), "shadow")
    scores = np.concatenate([learner.play(X[at : at + size], y[at : at + size]).scores for at in range(0, 60, size)])
    assert learner.alarms == (12, 24, 36, 48, 60)
    for t in (13, 20, 27, 35, 47, 59):
        first = t // 12 * 12
        known = slice(max(first - 5, 0), t)  # the shadow began five rounds before the alarm
        own = nr.make("pa1", native=False).learn(X[known], y[known])
        assert own.scores(X[t : t + 1])[0] == scores[t]


@pytest.mark.parametrize("on_drift", ["reset", "shadow"])
def test_batches_change_no_bit_with_names_transforms_and_new_classes(on_drift: str) -> None:
    X, y = stream(3)
    words = ["a", "b", "c"]
    rows = [{f"f{j}": value for j, value in enumerate(x)} | {f"n{t // 30}": 1.0} for t, x in enumerate(X.tolist())]
    labels = [
        words[2] if t > 140 and x[0] > 0.8 else words[int(k > 0)] for t, (x, k) in enumerate(zip(X, y, strict=True))
    ]

    def make() -> DriftAware:
        return nr.drift_aware(nr.make("arow", scale=True, bias=True, native=False), EAGER, on_drift)

    whole = make()
    expected = whole.play(rows, labels)
    for size in (1, 17, 150):
        parts = make()
        played = [parts.play(rows[at : at + size], labels[at : at + size]) for at in range(0, 300, size)]
        assert pack(parts) == pack(whole)
        assert [one for part in played for one in part.predictions.tolist()] == expected.predictions.tolist()
        assert [one for part in played for one in part.losses.tolist()] == expected.losses.tolist()
    assert expected.scores.shape == (300, 3)
    assert whole.task == "multiclass"
    assert len(whole.alarms) >= 2


def test_scores_mean_the_same_before_and_after_an_alarm() -> None:
    X, y = stream(1)
    labels = np.where(y > 0, "good", "bad").tolist()
    learner = nr.drift_aware(nr.make("pa1", native=False), EAGER)
    played = learner.play(X, labels)
    order = learner.classes
    assert len(learner.alarms) >= 2
    known = np.arange(300) > labels.index(order[1])  # before, there is only one class
    says = np.where(played.scores >= 0.0, order[1], order[0])
    np.testing.assert_array_equal(says[known], played.predictions[known])


def test_a_learner_that_starts_again_keeps_what_it_knows_of_rows() -> None:
    X, y = stream(2)
    old = nr.make("arow", scale=True, native=False).learn(X, y)
    before = pack(old)
    new = restart(old)
    assert pack(old) == before
    assert (new.rounds, new.mistakes, new.updates) == (0, 0, 0)
    assert new.classes == old.classes
    assert not np.asarray(list(new.weights.values())).any()
    np.testing.assert_array_equal(new.model.transforms[-1].arrays["mean"], old.model.transforms[-1].arrays["mean"])
    new.learn(X, y)
    assert new.rounds == 300
    assert restart(nr.make("pa1", native=False)).learn(X, y).rounds == 300  # also before any round


@pytest.mark.parametrize("on_drift", ["reset", "shadow"])
def test_it_makes_fewer_mistakes_where_the_labels_turn_over(on_drift: str) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(3000, 5))
    y = np.where((np.where(np.arange(3000) < 1500, 1.0, -1.0) * X[:, 0]) >= 0.0, 1, -1)
    plain = nr.make("arow", native=False).learn(X, y)
    aware = nr.drift_aware(nr.make("arow", native=False), "adwin", on_drift).learn(X, y)
    assert len(aware.alarms) >= 1
    assert 1500 < aware.alarms[0] < 1600
    assert aware.mistakes < plain.mistakes / 3


def test_a_window_is_two_learners_that_take_turns() -> None:
    X, y = stream(6)
    learner = nr.drift_aware(nr.make("pa1", native=False), "window:size=80", "shadow")
    played = learner.play(X, y)
    assert learner.alarms == tuple(range(40, 301, 40))
    for t in (100, 121, 239, 240, 299):
        first = max(t // 40 * 40 - 40, 0)
        own = nr.make("pa1", native=False).learn(X[first:t], y[first:t])
        assert own.scores(X[t : t + 1])[0] == played.scores[t]
    assert learner.learner.rounds <= 80


def test_events_are_alarms_and_warnings_without_a_shadow() -> None:
    def event(*levels: int, shadow: bool = False, shadows: bool = True) -> int | None:
        return find_event(np.array(levels, np.uint8), shadow, shadows)

    assert event(0, 0, 1, 2) == 2
    assert event(0, 0, 1, 2, shadows=False) == 3
    assert event(1, 1, 1, shadow=True) is None
    assert event(1, 1, 2, shadow=True) == 2
    assert event(1, 0, 0, 1, shadow=True) == 3
    assert event(0, 0, 0) is None
    assert event() is None
    assert event(1, 1, shadows=False) is None


def test_an_error_late_in_a_call_leaves_all_as_it_was() -> None:
    X, y = stream(4)
    learner = nr.drift_aware(nr.make("pa1", native=False), EAGER, "shadow").learn(X[:50], y[:50])
    before = pack(learner)
    bad = X.copy()
    bad[290, 1] = np.nan
    with pytest.raises(nr.BadValue, match="row 240"):
        learner.play(bad[50:], y[50:])
    assert pack(learner) == before
    learner.learn(X[50:], y[50:])
    assert pack(learner) == pack(nr.drift_aware(nr.make("pa1", native=False), EAGER, "shadow").learn(X, y))


def test_an_interrupt_at_any_call_leaves_all_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    from noregret.adapters import drift_parts

    X, y = stream(4)
    learner = nr.drift_aware(nr.make("pa1", native=False), EAGER, "shadow").learn(X[:50], y[:50])
    before, calls = pack(learner), 0
    accept = drift_parts.Parts.accept

    def interrupted(self: Any, *arguments: Any) -> Any:
        nonlocal calls
        found = accept(self, *arguments)
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(drift_parts.Parts, "accept", interrupted)
    with pytest.raises(KeyboardInterrupt):
        learner.learn(X[50:], y[50:])
    assert pack(learner) == before


def test_made_by_name_raced_and_reported(tmp_path: Path) -> None:
    learner: Any = nr.make("drift_aware", learner="pa1", detector="page_hinkley:threshold=5", on_drift="shadow")
    assert learner.params["detector"]["threshold"] == 5.0
    board = nr.race(stream(0), [nr.drift_aware(nr.make("pa1", native=False), EAGER), nr.make("pa1", native=False)])
    drift = board["drift_aware"].drift
    assert drift is not None
    assert drift["alarms"] == list(board["drift_aware"].learner.alarms)  # type: ignore[attr-defined]
    assert board["pa1"].drift is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"on_drift": "panic"}, "drift_aware: on_drift must be one of reset, shadow, not 'panic'"),
        ({"detector": "adwim"}, "there is no detector 'adwim'; did you mean adwin?"),
        ({"detector": "adwin:delta=7"}, "adwin: delta must be"),
        ({"detector": "window:size=1"}, "window: size must be a whole number of at least 2"),
        ({"learner": nr.make("pa1", task="ranking")}, "drift_aware takes rows one by one"),
        ({"learner": 3}, "learner must be a learner, or the name of one"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(nr.BadValue) as refused:
        nr.make("drift_aware", **options)
    assert words in str(refused.value)


def test_rows_without_labels_are_refused() -> None:
    with pytest.raises(nr.BadValue, match="drift_aware needs labels"):
        nr.drift_aware("pa1").play(np.zeros((2, 3)))


@pytest.mark.parametrize("detector", ["adwin", EAGER, "page_hinkley"])
def test_copies_after_single_rows_share_nothing(detector: str) -> None:
    X, y = stream(0, 60)
    learner = nr.drift_aware(nr.make("pa1"), detector)
    for x, label in zip(X[:30], y[:30], strict=True):
        learner.learn_one(x, label)
    copied = learner.copy()
    before = pack(copied)
    for x, label in zip(X[30:], y[30:], strict=True):
        learner.learn_one(x, label)
    assert pack(copied) == before != pack(learner)
    for x, label in zip(X[30:], y[30:], strict=True):
        copied.learn_one(x, label)
    assert pack(copied) == pack(learner)
